/* region_read.c: reading the text of a region (region_text.h): lines, words, names to numbers. */
#include <stdarg.h>
#include <stdio.h>

#include "inspect/assembly.h"
#include "inspect/region_text.h"

enum { MOST_OPS = 4000, MOST_ITEMS = 400000, MOST_SLOTS = 8000 };

const char *const dv_region_action_names[DV_EXIT_FADED + 1] = {
    [DV_EXIT_INT] = "int",       [DV_EXIT_FLOAT] = "float",     [DV_EXIT_BOOL] = "bool",
    [DV_EXIT_INT_R] = "int",     [DV_EXIT_FLOAT_D] = "float",   [DV_EXIT_BOOL_R] = "bool",
    [DV_EXIT_VALUE] = "value",   [DV_EXIT_VALUE_B] = "value_b", [DV_EXIT_COPY] = "copy",
    [DV_EXIT_COPY_B] = "borrow", [DV_EXIT_RANGE] = "range"};

const uint8_t dv_region_slot_order[4] = {0, 1, 3, 2}; /* the result last */

void dv_region_fail(dv_region_reader *reader, uint32_t line, const char *format, ...) {
    if (reader->failed) return;
    reader->failed = true;
    reader->failed_line = line;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->message, sizeof reader->message, format, arguments);
    va_end(arguments);
}

void *dv_region_get(dv_region_reader *reader, size_t size) {
    dv_unit *unit = reader->code->unit;
    void *memory = unit->allocate(unit->arena, size ? size : 1);
    if (memory) return memset(memory, 0, size);
    reader->failed = reader->no_memory = true;
    return NULL;
}

/* Names of instructions and of exits, with the number of what they name. */
typedef struct names {
    dv_text *names;
    uint32_t *numbers;
    uint32_t count;
} names;

typedef struct reading {
    dv_region_reader *reader;
    const char *at, *end;
    uint32_t line;
    dv_written_region *region;
    dv_written_op *ops;
    dv_written_exit *exits;
    dv_written_entry *entries;
    dv_exit_item *items;
    dv_entry_item *entry_items;
    uint32_t *op_lines, *exit_lines, *entry_lines;
    names labels, exit_names;
} reading;

#define fail(r, ...) dv_region_fail((r)->reader, (r)->line, __VA_ARGS__)
#define failed(r)    ((r)->reader->failed)
#define TEXT(word)   (int)(word).size, (word).data

/* ---- Words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* A comment begins with # and a blank; what is behind another # is a constant. */
static bool skip_blanks(reading *r) {
    while (r->at < r->end && is_blank(*r->at)) r->at++;
    if (r->at == r->end) return false;
    return *r->at != '#' || (r->at + 1 < r->end && !is_blank(r->at[1]));
}

static dv_text take_word(reading *r) {
    dv_text word = {r->at, 0};
    if (!skip_blanks(r)) return word;
    word.data = r->at;
    while (r->at < r->end && !is_blank(*r->at)) r->at++;
    word.size = (uint32_t)(r->at - word.data);
    return word;
}

static bool is_word(dv_text word, const char *text) {
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

/* The next word, if it is this one. */
static bool take_given(reading *r, const char *text) {
    const char *before = r->at;
    if (is_word(take_word(r), text)) return true;
    r->at = before;
    return false;
}

static void expect(reading *r, const char *text) {
    if (!failed(r) && !take_given(r, text)) fail(r, "'%s' is expected", text);
}

/* Up to the character, which goes; the whole word, if it has none. */
static dv_text cut(dv_text *word, char c) {
    const char *found = word->size ? memchr(word->data, c, word->size) : NULL;
    dv_text first = *word;
    if (found) first.size = (uint32_t)(found - word->data);
    const uint32_t used = found ? first.size + 1 : first.size;
    *word = (dv_text){word->data + used, word->size - used};
    return first;
}

static uint32_t take_pc(reading *r) {
    const dv_text name = take_word(r);
    uint32_t pc = 0;
    if (failed(r)) return 0;
    if (!r->reader->find_label(r->reader->context, name, &pc))
        fail(r, "there is no label '%.*s' in the code", TEXT(name));
    return pc;
}

static uint32_t find(const names *n, dv_text name) {
    uint32_t i = 0;
    while (i < n->count && !dv_text_is_same(n->names[i], name)) i++;
    return i;
}

static void add_name(reading *r, names *n, dv_text name, uint32_t number, const char *what) {
    if (failed(r)) return;
    if (!dv_assembly_is_bare(name)) fail(r, "a name is expected, not '%.*s'", TEXT(name));
    if (find(n, name) < n->count) fail(r, "there is %s '%.*s' already", what, TEXT(name));
    n->names[n->count] = name;
    n->numbers[n->count++] = number;
}

static uint32_t take_label(reading *r) {
    const dv_text name = take_word(r);
    const uint32_t i = find(&r->labels, name);
    if (i < r->labels.count) return r->labels.numbers[i];
    fail(r, "there is no label '%.*s' in the region", TEXT(name));
    return 0;
}

static uint32_t take_exit(reading *r) {
    const dv_text name = take_word(r);
    const uint32_t i = find(&r->exit_names, name);
    if (i < r->exit_names.count) return r->exit_names.numbers[i];
    fail(r, "there is no exit '%.*s'", TEXT(name));
    return DV_NO_EXIT;
}

/* ---- Slots ---- */

/* Digits alone; UINT32_MAX: something else. */
static uint32_t number_of(dv_text digits) {
    uint32_t number = 0;
    if (!digits.size || digits.size > 6) return UINT32_MAX;
    for (uint32_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') return UINT32_MAX;
        number = number * 10 + (uint32_t)(digits.data[i] - '0');
    }
    return number;
}

/* `x`, `x'` for its shadow slot, `$0`, `$0'`, `s71`. */
static int16_t slot_of(reading *r, dv_text word) {
    const dv_code *code = r->reader->code;
    const bool shadow = word.size > 1 && word.data[word.size - 1] == '\'';
    const dv_text name = {word.data, word.size - shadow};
    const dv_text digits = {name.data + (name.size > 0), name.size - (name.size > 0)};
    uint32_t slot = UINT32_MAX;
    for (uint32_t i = 0; i < code->local_count; i++)
        if (dv_text_is_same(code->local_names[i], name)) slot = i;
    if (slot == UINT32_MAX && name.size > 1 && name.data[0] == '$') slot = number_of(digits);
    if (slot < code->local_count) return (int16_t)(slot + (shadow ? code->local_count : 0));
    slot = name.size > 1 && name.data[0] == 's' && !shadow ? number_of(digits) : UINT32_MAX;
    if (slot == UINT32_MAX)
        fail(r, "a slot is expected, a local's name or s and a number, not '%.*s'", TEXT(word));
    else if (slot >= dv_code_stack_base(code) + code->max_stack)
        fail(r, "slot %u is beyond the frame", slot);
    return (int16_t)slot;
}

static bool is_home(const reading *r, int16_t slot) {
    return (uint32_t)slot < r->reader->code->local_count ||
           (uint32_t)slot >= dv_code_stack_base(r->reader->code);
}

/* Values are in home slots, what is raw is in shadow slots; nothing is in both. */
static int16_t take_slot(reading *r, dv_text word, bool home, uint32_t slots) {
    const int16_t slot = slot_of(r, word);
    if (failed(r)) return 0;
    if (is_home(r, slot) != home || (!home && is_home(r, (int16_t)(slot + (int)slots - 1))))
        fail(r, home ? "'%.*s' is no home slot" : "'%.*s' is no shadow slot", TEXT(word));
    return slot;
}

/* ---- Constants ---- */

static dv_value take_value(reading *r, dv_text word) {
    dv_const c = {.kind = DV_CONST_NONE};
    if (!dv_assembly_number(word, &c)) c.kind = DV_CONST_ELLIPSIS;
    switch (c.kind) {
    case DV_CONST_NONE: return DV_NONE;
    case DV_CONST_FALSE: return DV_FALSE;
    case DV_CONST_TRUE: return DV_TRUE;
    case DV_CONST_FLOAT: return dv_float(c.as.real);
    case DV_CONST_INT:
        if (dv_fits_int(c.as.integer)) return dv_int(c.as.integer);
        break;
    default: break;
    }
    fail(r, "None, a bool, an int of 48 bits or a float is expected, not '%.*s'", TEXT(word));
    return DV_NONE;
}

/* Operand b of R_CONST says that its constant is a double. */
static void take_constant(reading *r, dv_written_op *op, uint32_t takes) {
    dv_text word = take_word(r);
    if (word.size < 2 || word.data[0] != '#') {
        fail(r, "a constant is expected, # and a number, not '%.*s'", TEXT(word));
        return;
    }
    word = (dv_text){word.data + 1, word.size - 1};
    dv_const c = {.kind = DV_CONST_NONE};
    const bool known = dv_assembly_number(word, &c);
    if (takes == DV_TAKES_VALUE) {
        op->constant.v = take_value(r, word);
    } else if (known && c.kind == DV_CONST_INT && takes != DV_TAKES_DOUBLE) {
        op->constant.i = c.as.integer;
        if (takes == DV_TAKES_ELEMENT && (uint64_t)c.as.integer >= DV_ELEMENTS)
            fail(r, "there is no kind of element with number %lld", (long long)c.as.integer);
        if (op->op == DV_OP_R_RANGE && !c.as.integer) fail(r, "a range has no step of 0");
    } else if (known && c.kind == DV_CONST_FLOAT &&
               (takes == DV_TAKES_DOUBLE || takes == DV_TAKES_RAW)) {
        op->constant.d = c.as.real;
        op->slots[1] |= takes == DV_TAKES_RAW;
    } else {
        fail(r, "%s is expected, not '%.*s'",
             takes == DV_TAKES_DOUBLE ? "a float"
             : takes == DV_TAKES_RAW  ? "an int or a float"
                                      : "an int",
             TEXT(word));
    }
}

/* ---- Items ---- */

/* `x:float`, `x:int?` for a dead local, `s98:range=s74`. */
static void read_entry_item(reading *r, dv_text word) {
    dv_entry_item item = {.twin = -1};
    const dv_text home = cut(&word, ':');
    dv_text kind = cut(&word, '=');
    if (kind.size && kind.data[kind.size - 1] == '?') item.dead = true, kind.size--;
    item.home = take_slot(r, home, true, 1);
    uint32_t k = DV_K_NOTHING;
    while (k <= DV_K_RANGE && !is_word(kind, dv_kind_names[k])) k++;
    if (k > DV_K_RANGE || k == DV_K_CHAR || k == DV_K_COMPLEX || k == DV_K_CONSTANT ||
        k == DV_K_VIRTUAL || k == DV_K_UNSET || k == DV_K_WALK)
        fail(r, "no loop can be entered with '%.*s'", TEXT(kind));
    item.kind = (uint8_t)k;
    const bool local = !failed(r) && (uint32_t)item.home < r->reader->code->local_count;
    if (item.dead && !local) fail(r, "only a local can be dead");
    if (word.size && !dv_kind_is_raw((dv_kind)k) && k != DV_K_RANGE)
        fail(r, "nothing of '%.*s' is raw", TEXT(home));
    if (word.size)
        item.raw = take_slot(r, word, false, k == DV_K_RANGE ? 3 : 1);
    else if (local)
        item.raw = (int16_t)(item.home + (int)r->reader->code->local_count);
    else if (dv_kind_is_raw((dv_kind)k) || k == DV_K_RANGE)
        fail(r, "= and a slot is expected behind '%.*s'", TEXT(kind));
    if (k == DV_K_RANGE && local) fail(r, "the iterator of a loop is on the operand stack");
    if (!failed(r)) r->entry_items[r->region->entry_item_count++] = item;
}

/* `x=int:x'`, `x=float:d`, `s97=value:None`, `s97=copy:x`, `s98=range:s74`. */
static void read_exit_item(reading *r, dv_text word) {
    dv_exit_item item = {.value = DV_EMPTY};
    const dv_text home = cut(&word, '='), action = cut(&word, ':');
    item.to = take_slot(r, home, true, 1);
    uint32_t a = 0;
    while (a <= DV_EXIT_FADED &&
           (!dv_region_action_names[a] || !is_word(action, dv_region_action_names[a])))
        a++;
    if (a > DV_EXIT_FADED) fail(r, "an exit cannot do '%.*s'", TEXT(action));
    if (failed(r)) return;
    if (a <= DV_EXIT_BOOL && is_word(word, a == DV_EXIT_FLOAT ? "d" : "r"))
        a += DV_EXIT_INT_R;
    else if (a == DV_EXIT_VALUE || a == DV_EXIT_VALUE_B)
        item.value = take_value(r, word);
    else
        item.from = take_slot(r, word, a == DV_EXIT_COPY || a == DV_EXIT_COPY_B,
                              a == DV_EXIT_RANGE ? 3 : 1);
    item.action = (uint8_t)a;
    if (!failed(r)) r->items[r->region->item_count++] = item;
}

/* ---- Lines ---- */

/* `entry label from back item ...`; the label is known when all lines have been seen. */
static void read_entry(reading *r) {
    dv_written_entry *e = &r->entries[r->region->entry_count];
    e->op = take_label(r);
    expect(r, "from");
    e->back = take_pc(r);
    e->first_item = r->region->entry_item_count;
    while (!failed(r) && skip_blanks(r)) read_entry_item(r, take_word(r));
    e->item_count = r->region->entry_item_count - e->first_item;
    r->entry_lines[r->region->entry_count++] = r->line;
}

/* `exit name to label counts item ...` */
static void read_exit(reading *r) {
    dv_written_exit *x = &r->exits[r->region->exit_count];
    take_word(r); /* its name */
    expect(r, "to");
    x->pc = take_pc(r);
    x->counts = take_given(r, "counts");
    x->first_item = r->region->item_count;
    while (!failed(r) && skip_blanks(r)) read_exit_item(r, take_word(r));
    x->item_count = r->region->item_count - x->first_item;
    r->exit_lines[r->region->exit_count++] = r->line;
}

static uint32_t find_op(reading *r, dv_text name) {
    for (uint32_t op = DV_OP_FIRST_REGION; op < DV_OP_FIRST_REGION + DV_OP_REGION_COUNT; op++)
        if (is_word(name, dv_op_name(op))) {
            if (!dv_region_facts_for(op)->by_hand)
                fail(r, "%.*s refers to what only the machine knows: it is not for texts",
                     TEXT(name));
            return op;
        }
    fail(r, "there is no instruction '%.*s' of regions", TEXT(name));
    return DV_OP_R_EXIT;
}

static void read_slots(reading *r, dv_written_op *op, const dv_region_facts *facts) {
    for (uint32_t k = 0; k < 4 && !failed(r); k++) {
        const uint32_t n = dv_region_slot_order[k];
        if (!dv_region_uses_slot(facts, n)) continue;
        const uint32_t place = facts->reads[n] ? facts->reads[n] : facts->puts[n];
        op->slots[n] =
            take_slot(r, take_word(r), place >= DV_PLACE_NONE, place == DV_PLACE_RANGE ? 3 : 1);
    }
}

static void read_op(reading *r, dv_text name) {
    dv_written_op *op = &r->ops[r->region->op_count];
    *op = (dv_written_op){.op = find_op(r, name), .exit = DV_NO_EXIT};
    r->op_lines[r->region->op_count++] = r->line;
    const dv_region_facts *facts = dv_region_facts_for(op->op);
    if (op->op == DV_OP_R_EXIT) {
        if (!failed(r)) op->exit = take_exit(r);
        op->is_new = take_given(r, "new");
        return;
    }
    read_slots(r, op, facts);
    if (!failed(r) && facts->constant != DV_TAKES_NOTHING) take_constant(r, op, facts->constant);
    if (facts->jumps | facts->exits) expect(r, "->");
    for (uint32_t k = 0; k < 2; k++)
        if (!failed(r) && (facts->jumps | facts->exits) >> k & 1) op->targets[k] = take_label(r);
    if (failed(r) || !(facts->raises || facts->polls)) return;
    expect(r, facts->polls ? "leaves" : "raises");
    if (!failed(r)) op->exit = take_exit(r);
}

static void begin_line(reading *r, const dv_region_line *line) {
    r->at = line->at, r->end = line->end, r->line = line->number;
}

/* The labels in front of what is on the line are taken. */
static void take_labels(reading *r, uint32_t op, bool add) {
    for (;;) {
        const char *before = r->at;
        dv_text word = take_word(r);
        if (word.size < 2 || word.data[word.size - 1] != ':' || failed(r)) {
            r->at = before;
            return;
        }
        word.size--;
        if (add) add_name(r, &r->labels, word, op, "a label");
    }
}

/* Names first: they may be used before they are there. */
static void find_names(reading *r, const dv_region_line *lines, uint32_t count) {
    uint32_t ops = 0, exits = 0;
    for (uint32_t i = 0; i < count && !failed(r); i++) {
        begin_line(r, &lines[i]);
        take_labels(r, ops, true);
        if (!skip_blanks(r)) continue;
        const dv_text word = take_word(r);
        if (is_word(word, "exit"))
            add_name(r, &r->exit_names, take_word(r), exits++, "an exit");
        else if (!is_word(word, "entry"))
            ops++;
    }
    for (uint32_t i = 0; i < r->labels.count && !failed(r); i++)
        if (r->labels.numbers[i] == ops)
            fail(r, "there is no instruction behind label '%.*s'", TEXT(r->labels.names[i]));
    if (!ops) fail(r, "there are no instructions");
}

static void read_line(reading *r, const dv_region_line *line) {
    begin_line(r, line);
    take_labels(r, 0, false);
    if (failed(r) || !skip_blanks(r)) return;
    const dv_text word = take_word(r);
    if (is_word(word, "entry"))
        read_entry(r);
    else if (is_word(word, "exit"))
        read_exit(r);
    else
        read_op(r, word);
    if (!failed(r) && skip_blanks(r))
        fail(r, "something is left on the line: '%.*s'", (int)(r->end - r->at), r->at);
}

static void read_header(reading *r, const dv_region_line *line) {
    begin_line(r, line);
    r->region->head = take_pc(r);
    expect(r, "to");
    r->region->back = take_pc(r);
    if (take_given(r, "removed")) {
        const dv_text word = take_word(r);
        r->region->removed = number_of(word);
        if (r->region->removed == UINT32_MAX)
            fail(r, "a number is expected, not '%.*s'", TEXT(word));
    }
    if (!failed(r) && skip_blanks(r))
        fail(r, "something is left on the line: '%.*s'", (int)(r->end - r->at), r->at);
}

/* Room for one of each thing per line, and of items as many as there are words. */
static bool get_room(reading *r, const dv_region_line *lines, uint32_t count) {
    size_t words = 0;
    for (uint32_t i = 0; i < count; i++) words += (size_t)(lines[i].end - lines[i].at) / 2 + 1;
    if (count > MOST_OPS || words > MOST_ITEMS) {
        fail(r, "a region has %d lines at most", MOST_OPS);
        return false;
    }
    r->ops = dv_region_get(r->reader, count * sizeof *r->ops);
    r->exits = dv_region_get(r->reader, count * sizeof *r->exits);
    r->entries = dv_region_get(r->reader, count * sizeof *r->entries);
    r->op_lines = dv_region_get(r->reader, count * sizeof *r->op_lines);
    r->exit_lines = dv_region_get(r->reader, count * sizeof *r->exit_lines);
    r->entry_lines = dv_region_get(r->reader, count * sizeof *r->entry_lines);
    r->items = dv_region_get(r->reader, words * sizeof *r->items);
    r->entry_items = dv_region_get(r->reader, words * sizeof *r->entry_items);
    names *all[] = {&r->labels, &r->exit_names};
    for (int i = 0; i < 2; i++) {
        all[i]->names = dv_region_get(r->reader, words * sizeof *all[i]->names);
        all[i]->numbers = dv_region_get(r->reader, words * sizeof *all[i]->numbers);
    }
    return !failed(r);
}

dv_written_region *dv_region_text_read(dv_region_reader *reader, const dv_region_line *lines,
                                       uint32_t count) {
    reading r = {.reader = reader, .line = lines[0].number};
    r.region = dv_region_get(reader, sizeof *r.region);
    if (!r.region || !get_room(&r, lines, count)) return NULL;
    if (dv_code_stack_base(reader->code) + reader->code->max_stack > MOST_SLOTS)
        fail(&r, "the function has more than %d slots", MOST_SLOTS);
    read_header(&r, &lines[0]);
    find_names(&r, lines + 1, count - 1);
    for (uint32_t i = 1; i < count && !reader->failed; i++) read_line(&r, &lines[i]);
    r.region->ops = r.ops, r.region->exits = r.exits, r.region->entries = r.entries;
    r.region->items = r.items, r.region->entry_items = r.entry_items;
    if (!reader->failed) {
        r.line = lines[0].number;
        if (!r.region->entry_count) fail(&r, "the region has no entry");
    }
    if (!reader->failed)
        dv_region_check(reader, r.region,
                        &(dv_region_lines){r.op_lines, r.exit_lines, r.entry_lines});
    return reader->failed ? NULL : r.region;
}
