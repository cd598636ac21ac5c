/* region_check.c: what is proved of a region that somebody has written (region_text.h).
 *
 * A forward data flow over its instructions: for each slot what is in it, from what entries say and
 * what instructions read and put (gen/isa/region_facts.py).  README.md, "Regions by hand", says
 * what is checked and what is trusted.
 *
 * Invariants
 *  1. Values that frames hold are in home slots, and nothing else is: what is left in a local's
 * home slot can be released.  So IN_INT, IN_DOUBLE and IN_RANGE are in shadow slots alone.
 *  2. Of the stack's slots that hold one counted reference together (R_BORROW copies bits alone)
 * one is IN_OWNED and covers the others; which one is a matter of this file (`take`).
 *  3. States only lose knowledge where ways meet (a lattice three high), so this ends. */
#include <stdio.h>

#include "code/liveness.h"
#include "inspect/region_text.h"

/* Counted: IN_UNSET and IN_OWNED; nothing may be put over them. */
typedef enum what {
    IN_NOTHING, /* nothing that may be read; nothing counted */
    IN_INT,
    IN_DOUBLE,
    IN_RANGE,    /* piece `kind` of the three slots of a range */
    IN_PLAIN,    /* a value that is no object */
    IN_BORROWED, /* a value that slot `from` covers, or a constant (CONSTANT) */
    IN_BLANK,    /* of a local: no object, or unassigned */
    IN_UNSET,    /* of a local: any value, or unassigned */
    IN_OWNED
} what;

enum { CONSTANT = -1 };

/* `kind`: of IN_OWNED and IN_BORROWED the place (dv_place) that it is known to be good for;
 * ITERATOR: the iterator of a range, or no object. */
typedef struct fact {
    uint8_t what, kind;
    int16_t from;
} fact;

enum { ITERATOR = 255 };

typedef struct checker {
    dv_region_reader *reader;
    const dv_code *code;
    const dv_written_region *region;
    const dv_region_lines *lines;
    uint32_t slots, locals, stack_base;
    fact *states; /* `width` for each instruction: its slots, then r and d */
    uint32_t width;
    bool *reached, *queued;
    uint32_t *work, work_count;
    fact *now, *other; /* the state that is computed; one for exits */
    uint64_t *live;
    uint8_t *seen; /* pcs, for way_exists */
    uint32_t *pcs;
    uint32_t line;
} checker;

#define fail(c, ...) dv_region_fail((c)->reader, (c)->line, __VA_ARGS__)
#define failed(c)    ((c)->reader->failed)

static bool is_counted(fact f) { return f.what >= IN_UNSET; }
static bool is_value(fact f) {
    return f.what == IN_PLAIN || f.what == IN_BORROWED || f.what == IN_OWNED;
}
static bool is_same(fact a, fact b) {
    return a.what == b.what && a.kind == b.kind && a.from == b.from;
}
static fact just(what w) { return (fact){(uint8_t)w, 0, 0}; }
static fact owned(uint32_t place) { return (fact){IN_OWNED, (uint8_t)place, 0}; }

/* A slot as the text calls it. */
typedef struct slot_name {
    char text[64];
} slot_name;

static slot_name name_of(const checker *c, int32_t slot) {
    slot_name name;
    const bool shadow = slot >= (int32_t)c->locals;
    const uint32_t local = (uint32_t)(shadow ? slot - (int32_t)c->locals : slot);
    if (local >= c->locals) {
        snprintf(name.text, sizeof name.text, "s%d", slot);
    } else {
        const dv_text text = c->code->local_names[local];
        snprintf(name.text, sizeof name.text, "%.*s%s", (int)(text.size > 50 ? 50 : text.size),
                 text.data, shadow ? "'" : "");
    }
    return name;
}

/* ---- Code: pcs and locals ---- */

static uint32_t length_of(const dv_code *code, uint32_t pc) {
    const uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return n > 1 ? n : 1;
}

static bool names_local(const dv_code *code, uint32_t pc, uint32_t local) {
    const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
    return info->operand_count && info->operands[0] == DV_OPERAND_LOCAL &&
           code->words[pc] >> 8 == local;
}

static bool is_plain_load(const dv_code *code, uint32_t pc) {
    const uint32_t op = code->words[pc] & 0xFF;
    return op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B;
}

/* Is there a way from pc `from`, on which the local is not stored to, to pc `to`; or, if that is
 * DV_NO_PC, to an instruction that loads the local and that the verifier has let?  Then the local
 * is assigned at `from` if it is at the end of the way. */
static bool way_exists(checker *c, uint32_t from, uint32_t to, uint32_t local) {
    const dv_code *code = c->code;
    uint32_t count = 0;
    memset(c->seen, 0, code->word_count);
    c->pcs[count++] = from, c->seen[from] = 1;
    while (count) {
        const uint32_t pc = c->pcs[--count];
        const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
        if (pc == to) return true;
        if (names_local(code, pc, local)) {
            if (to == DV_NO_PC && is_plain_load(code, pc)) return true;
            if (!is_plain_load(code, pc)) continue; /* perhaps it stores */
        }
        uint32_t next[4], n = 0;
        if (!info->ends) next[n++] = pc + length_of(code, pc);
        for (uint32_t i = 0; i < info->operand_count; i++)
            if (info->operands[i] == DV_OPERAND_JUMP)
                next[n++] = i ? code->words[pc + i] : code->words[pc] >> 8;
        while (n--) {
            if (next[n] >= code->word_count || c->seen[next[n]]) continue;
            c->seen[next[n]] = 1;
            c->pcs[count++] = next[n];
        }
    }
    return false;
}

static bool is_instruction(const checker *c, uint32_t pc) {
    return pc < c->code->word_count && c->code->state_at[pc] != DV_NO_STATE;
}

/* The verifier's state of entry i of the operand stack at the pc. */
static dv_stack_state entry_at(const checker *c, uint32_t pc, uint32_t i) {
    uint32_t state = c->code->state_at[pc];
    while (c->code->states[state].depth > i + 1) state = c->code->states[state].below;
    return c->code->states[state];
}

static uint32_t depth_at(const checker *c, uint32_t pc) {
    return c->code->states[c->code->state_at[pc]].depth;
}

/* ---- States ---- */

/* What both ways agree on; an object on one way only is an error. */
static fact join(checker *c, fact a, fact b, int32_t slot) {
    if (is_same(a, b)) return a;
    if (a.what > b.what) {
        const fact t = a;
        a = b, b = t;
    }
    const bool value = is_value(a) || a.what == IN_BLANK || a.what == IN_UNSET;
    if (is_counted(b)) {
        if (!value || a.what == IN_BORROWED)
            fail(c, "ways meet here: %s holds an object on one of them only",
                 name_of(c, slot).text);
        if (a.what == IN_BLANK || a.what == IN_UNSET || b.what == IN_UNSET) return just(IN_UNSET);
        if (b.kind == ITERATOR && a.what == IN_PLAIN) return b;
        return owned(DV_PLACE_VALUE);
    }
    if (b.what == IN_BLANK && a.what == IN_PLAIN) return b;
    if (b.what == IN_BORROWED && a.what == IN_PLAIN)
        return (fact){IN_BORROWED, DV_PLACE_VALUE, b.from};
    if (b.what == IN_BORROWED && a.what == IN_BORROWED && a.from == b.from)
        return (fact){IN_BORROWED, DV_PLACE_VALUE, b.from};
    return just(IN_NOTHING);
}

/* Control may go on at the instruction with this state. */
static void flow(checker *c, uint32_t to, const fact *state) {
    if (failed(c)) return;
    fact *at = c->states + (size_t)to * c->width;
    bool changed = !c->reached[to];
    c->line = c->lines->ops[to];
    if (!c->reached[to]) {
        memcpy(at, state, c->width * sizeof *at);
        c->reached[to] = true;
    } else {
        for (uint32_t s = 0; s < c->width; s++) {
            const fact met = join(c, at[s], state[s], (int32_t)s);
            if (is_same(met, at[s])) continue;
            at[s] = met;
            changed = true;
        }
    }
    if (!changed || c->queued[to]) return;
    c->queued[to] = true;
    c->work[c->work_count++] = to;
}

/* What slot s covered is covered no more. */
static void uncover(checker *c, int16_t s) {
    for (uint32_t i = 0; i < c->slots; i++)
        if (c->now[i].what == IN_BORROWED && c->now[i].from == s) c->now[i] = just(IN_NOTHING);
}

/* Slot s is to own what it has borrowed from another slot of the operand stack, which owns it: that
 * one then borrows it from s.  A local keeps what is its own. */
static void take(const checker *c, fact *state, int16_t s) {
    const int16_t owner = state[s].from;
    if (state[s].what != IN_BORROWED || owner < (int32_t)c->stack_base || (uint32_t)s < c->locals ||
        state[owner].what != IN_OWNED)
        return;
    state[s] = owned(state[owner].kind);
    state[owner] = (fact){IN_BORROWED, state[s].kind, s};
    for (uint32_t i = c->stack_base; i < c->slots; i++)
        if (state[i].what == IN_BORROWED && state[i].from == owner) state[i].from = s;
}

/* Something is put over what slot s owns: a slot that borrows from it is to own that. */
static void hand_over(const checker *c, fact *state, int16_t s) {
    for (uint32_t i = c->stack_base; i < c->slots && state[s].what == IN_OWNED; i++)
        if (state[i].what == IN_BORROWED && state[i].from == s) take(c, state, (int16_t)i);
}

/* Puts something into a slot, over nothing that is counted. */
static void put(checker *c, int16_t slot, fact f) {
    hand_over(c, c->now, slot);
    if (is_counted(c->now[slot]))
        fail(c, "%s holds an object, which would be lost", name_of(c, slot).text);
    uncover(c, slot);
    c->now[slot] = f;
}

static bool is_range(const fact *state, int16_t slot) {
    for (int i = 0; i < 3; i++)
        if (state[slot + i].what != IN_RANGE || state[slot + i].kind != i) return false;
    return true;
}

/* Is what is in the slot good for an operand that wants this? */
static bool fits(const fact *state, int16_t slot, uint32_t place) {
    const fact f = state[slot];
    switch (place) {
    case DV_PLACE_NOTHING: return true;
    case DV_PLACE_INT: return f.what == IN_INT;
    case DV_PLACE_DOUBLE: return f.what == IN_DOUBLE;
    case DV_PLACE_RAW: return f.what == IN_INT || f.what == IN_DOUBLE || f.what == IN_RANGE;
    case DV_PLACE_RANGE: return is_range(state, slot);
    case DV_PLACE_VALUE: return is_value(f);
    case DV_PLACE_ARRAY:
        return (f.what == IN_OWNED || f.what == IN_BORROWED) && f.kind >= DV_PLACE_ARRAY &&
               f.kind != ITERATOR;
    default: return (f.what == IN_OWNED || f.what == IN_BORROWED) && f.kind == place;
    }
}

static const char *describe(uint32_t place) {
    static const char *const words[] = {
        [DV_PLACE_INT] = "a raw int",        [DV_PLACE_DOUBLE] = "a raw double",
        [DV_PLACE_RAW] = "a raw value",      [DV_PLACE_RANGE] = "a range",
        [DV_PLACE_VALUE] = "a value",        [DV_PLACE_LIST] = "a list",
        [DV_PLACE_TUPLE] = "a tuple",        [DV_PLACE_BYTES] = "a bytes",
        [DV_PLACE_BYTEARRAY] = "a bytearray"};
    return place >= DV_PLACE_ARRAY ? "an array of these elements" : words[place];
}

/* ---- Entries ---- */

static uint32_t place_of_kind(uint32_t kind) {
    switch (kind) {
    case DV_K_LIST: return DV_PLACE_LIST;
    case DV_K_TUPLE: return DV_PLACE_TUPLE;
    case DV_K_BYTES: return DV_PLACE_BYTES;
    case DV_K_BYTEARRAY: return DV_PLACE_BYTEARRAY;
    default:
        return kind >= DV_K_ARRAY && kind < DV_K_CONSTANT ? DV_PLACE_ARRAY + 1 + (kind - DV_K_ARRAY)
                                                          : DV_PLACE_VALUE;
    }
}

/* What a frame may hold at the loop's head: of locals any value, if they are assigned there. */
static void begin_frame(checker *c, uint32_t head) {
    for (uint32_t s = 0; s < c->width; s++) c->now[s] = just(IN_NOTHING);
    for (uint32_t i = 0; i < c->locals; i++)
        c->now[i] = way_exists(c, head, DV_NO_PC, i) ? owned(DV_PLACE_VALUE) : just(IN_UNSET);
    for (uint32_t i = 0; i < depth_at(c, head); i++) {
        const dv_stack_state entry = entry_at(c, head, i);
        if (entry.kind == DV_SLOT_RESERVED) fail(c, "the loop runs while a call is being prepared");
        const int16_t from = entry.local == DV_NO_LOCAL ? CONSTANT : (int16_t)entry.local;
        c->now[c->stack_base + i] = entry.kind == DV_SLOT_BORROWED
                                        ? (fact){IN_BORROWED, DV_PLACE_VALUE, from}
                                        : owned(DV_PLACE_VALUE);
    }
}

static void enter_item(checker *c, const dv_entry_item *item, uint32_t depth) {
    const bool local = (uint32_t)item->home < c->locals;
    if (!local && (uint32_t)item->home >= c->stack_base + depth) {
        fail(c, "%s is above the operand stack", name_of(c, item->home).text);
        return;
    }
    fact *home = &c->now[item->home];
    const bool borrowed = home->what == IN_BORROWED;
    switch ((dv_kind)item->kind) {
    case DV_K_NOTHING: *home = just(IN_UNSET); break;
    case DV_K_INT:
    case DV_K_BOOL:
    case DV_K_FLOAT:
        *home = just(item->dead ? IN_BLANK : IN_PLAIN);
        c->now[item->raw] = just(item->dead                 ? IN_NOTHING
                                 : item->kind == DV_K_FLOAT ? IN_DOUBLE
                                                            : IN_INT);
        break;
    case DV_K_RANGE:
        if (borrowed) fail(c, "%s is borrowed", name_of(c, item->home).text);
        *home = owned(ITERATOR);
        for (int i = 0; i < 3; i++) c->now[item->raw + i] = (fact){IN_RANGE, (uint8_t)i, 0};
        break;
    default:
        if (item->dead)
            *home = just(IN_UNSET);
        else if (borrowed)
            home->kind = (uint8_t)place_of_kind(item->kind);
        else
            *home = owned(place_of_kind(item->kind));
    }
}

static void begin_entry(checker *c, uint32_t number) {
    const dv_written_entry *e = &c->region->entries[number];
    c->line = c->lines->entries[number];
    if (!is_instruction(c, e->back) || (c->code->words[e->back] & 0xFF) != DV_OP_JUMP_BACK ||
        e->back < c->region->head || e->back > c->region->back) {
        fail(c, "an entry is from a JUMP_BACK of the loop");
        return;
    }
    const uint32_t head = c->code->words[e->back] >> 8, depth = depth_at(c, head);
    begin_frame(c, head);
    for (uint32_t i = 0; i < e->item_count && !failed(c); i++) {
        const dv_entry_item *item = &c->region->entry_items[e->first_item + i];
        for (uint32_t k = 0; k < i; k++) {
            const dv_entry_item *other = &c->region->entry_items[e->first_item + k];
            const bool raw = dv_kind_is_raw((dv_kind)item->kind) || item->kind == DV_K_RANGE;
            const bool also = dv_kind_is_raw((dv_kind)other->kind) || other->kind == DV_K_RANGE;
            if (other->home == item->home ||
                (raw && also && other->raw <= item->raw + 2 && item->raw <= other->raw + 2 &&
                 (other->raw == item->raw || other->kind == DV_K_RANGE ||
                  item->kind == DV_K_RANGE)))
                fail(c, "%s uses slots of another item", name_of(c, item->home).text);
        }
        enter_item(c, item, depth);
    }
    for (uint32_t k = 0; k < number; k++)
        if (c->region->entries[k].back == e->back) fail(c, "there are two entries from there");
    flow(c, e->op, c->now);
}

/* ---- Exits ---- */

static fact exit_value(checker *c, const dv_exit_item *item, fact *state, bool registers) {
    const int16_t from = item->from;
    const fact *r = &state[c->slots], *d = &state[c->slots + 1];
    bool good = true;
    fact result = just(IN_PLAIN);
    switch ((dv_exit_action)item->action) {
    case DV_EXIT_INT:
    case DV_EXIT_BOOL: good = fits(state, from, DV_PLACE_INT); break;
    case DV_EXIT_FLOAT: good = fits(state, from, DV_PLACE_DOUBLE); break;
    case DV_EXIT_INT_R:
    case DV_EXIT_BOOL_R: good = registers && r->what == IN_INT; break;
    case DV_EXIT_FLOAT_D: good = registers && d->what == IN_DOUBLE; break;
    case DV_EXIT_COPY:
    case DV_EXIT_COPY_B:
    case DV_EXIT_FUNCTION: /* (of what is inlined, which has no text) */
        good = is_value(state[from]);
        if (item->action == DV_EXIT_COPY)
            result = owned(state[from].kind == ITERATOR ? DV_PLACE_VALUE : state[from].kind);
        else if (state[from].what != IN_PLAIN)
            result = (fact){IN_BORROWED, DV_PLACE_VALUE,
                            state[from].what == IN_BORROWED ? state[from].from : from};
        break;
    case DV_EXIT_RANGE: good = is_range(state, from); break;
    default: break;
    }
    if (!good)
        fail(c, "the exit of this instruction takes for %s what is not there",
             name_of(c, item->to).text);
    return result;
}

static void check_item(checker *c, const dv_exit_item *item, fact *state, bool registers,
                       uint32_t depth) {
    const fact value = exit_value(c, item, state, registers);
    fact *to = &state[item->to];
    const bool range =
        item->action == DV_EXIT_RANGE && to->what == IN_OWNED && to->kind == ITERATOR;
    if ((uint32_t)item->to >= c->stack_base + depth)
        fail(c, "the exit of this instruction fills %s, above the operand stack",
             name_of(c, item->to).text);
    if (!range) hand_over(c, state, item->to);
    if (is_counted(*to) && !range)
        fail(c, "the exit of this instruction fills %s, which holds an object",
             name_of(c, item->to).text);
    *to = value;
}

/* Is local i, which may be unassigned here, assigned where the exit goes to and read there? */
static bool is_missed(checker *c, uint32_t pc, uint32_t i) {
    if (!dv_is_live(c->live[pc], i)) return false;
    for (uint32_t k = 0; k < c->region->entry_count; k++) {
        const uint32_t head = c->code->words[c->region->entries[k].back] >> 8;
        if (way_exists(c, head, pc, i)) return false;
    }
    return true;
}

static void check_stack_entry(checker *c, fact *state, uint32_t pc, uint32_t i) {
    const dv_stack_state entry = entry_at(c, pc, i);
    const int32_t slot = (int32_t)(c->stack_base + i);
    if (entry.kind == DV_SLOT_OWNED) take(c, state, (int16_t)slot);
    const fact f = state[slot];
    if (entry.kind == DV_SLOT_RESERVED) {
        if (is_counted(f)) fail(c, "at the exit %s holds an object", name_of(c, slot).text);
    } else if (entry.kind == DV_SLOT_OWNED) {
        if (f.what != IN_PLAIN && f.what != IN_OWNED)
            fail(c, "at the exit of this instruction %s must hold a value of its own",
                 name_of(c, slot).text);
    } else {
        const int16_t from = entry.local == DV_NO_LOCAL ? CONSTANT : (int16_t)entry.local;
        if (f.what != IN_PLAIN && (f.what != IN_BORROWED || f.from != from))
            fail(c, "at the exit of this instruction %s must hold what %s covers",
                 name_of(c, slot).text, from == CONSTANT ? "a constant" : name_of(c, from).text);
    }
}

/* Leaving by the exit with the state of c->other, which is changed. */
static void check_exit(checker *c, uint32_t number, uint32_t op, bool registers) {
    const dv_written_exit *x = &c->region->exits[number];
    fact *state = c->other;
    const uint32_t depth = depth_at(c, x->pc);
    c->line = c->lines->ops[op];
    for (uint32_t i = 0; i < x->item_count && !failed(c); i++)
        check_item(c, &c->region->items[x->first_item + i], state, registers, depth);
    for (uint32_t i = 0; i < c->locals && !failed(c); i++) {
        const fact f = state[i];
        if (f.what == IN_PLAIN || f.what == IN_OWNED) continue;
        if ((f.what != IN_UNSET && f.what != IN_BLANK) || is_missed(c, x->pc, i))
            fail(c, "at the exit of this instruction %s has no value", name_of(c, (int)i).text);
    }
    for (uint32_t i = 0; i < depth && !failed(c); i++) check_stack_entry(c, state, x->pc, i);
    for (uint32_t s = c->stack_base + depth; s < c->slots && !failed(c); s++)
        if (is_counted(state[s]))
            fail(c, "at the exit of this instruction %s holds an object, which would be lost",
                 name_of(c, (int)s).text);
}

static void leave(checker *c, const dv_written_op *op, uint32_t number, bool registers) {
    if (failed(c)) return;
    memcpy(c->other, c->now, c->width * sizeof *c->other);
    check_exit(c, op->exit, number, registers);
}

/* ---- Instructions ---- */

static void read_operands(checker *c, const dv_written_op *op, const dv_region_facts *facts) {
    /* Of instructions that move objects a alone is read: what b or c holds is looked at there. */
    for (uint32_t n = 0; n < (facts->homes ? 1 : 4); n++)
        if (facts->homes != DV_HOMES_RELEASE && !fits(c->now, op->slots[n], facts->reads[n]))
            fail(c, "%s does not hold %s here", name_of(c, op->slots[n]).text,
                 describe(facts->reads[n]));
    if (facts->read_registers & DV_REGISTER_R && c->now[c->slots].what != IN_INT)
        fail(c, "register r holds nothing here");
    if (facts->read_registers & DV_REGISTER_D && c->now[c->slots + 1].what != IN_DOUBLE)
        fail(c, "register d holds nothing here");
}

static bool is_own(fact f) { return f.what == IN_PLAIN || f.what == IN_OWNED; }

/* A local may be unassigned when it is stored to. */
static bool may_go(fact f) { return is_own(f) || f.what == IN_BLANK || f.what == IN_UNSET; }

/* Instructions that move objects. */
static void move_objects(checker *c, const dv_written_op *op, const dv_region_facts *facts) {
    const int16_t a = op->slots[0], b = op->slots[1], to = op->slots[2];
    if (facts->homes == DV_HOMES_MOVE || facts->homes == DV_HOMES_RELEASE) take(c, c->now, a);
    const fact f = c->now[a];
    switch ((dv_homes)facts->homes) {
    case DV_HOMES_COPY:
        put(c, b, f.what == IN_PLAIN ? f : owned(f.kind == ITERATOR ? DV_PLACE_VALUE : f.kind));
        break;
    case DV_HOMES_BORROW:
        if ((uint32_t)b < c->locals) fail(c, "a local cannot borrow");
        put(c, b,
            f.what == IN_PLAIN ? f
                               : (fact){IN_BORROWED, f.kind == ITERATOR ? DV_PLACE_VALUE : f.kind,
                                        f.what == IN_BORROWED ? f.from : a});
        break;
    case DV_HOMES_MOVE:
        if (!is_own(f) || !may_go(c->now[to]))
            fail(c, "%s holds no value of its own", name_of(c, is_own(f) ? to : a).text);
        if ((uint32_t)a < c->locals) fail(c, "a local keeps its value");
        uncover(c, to);
        uncover(c, a);
        c->now[to] = f;
        c->now[a] = just(IN_NOTHING);
        break;
    case DV_HOMES_EXCHANGE:
        if (!is_own(f) || !is_own(c->now[b]))
            fail(c, "%s holds no value of its own", name_of(c, is_own(f) ? b : a).text);
        uncover(c, a);
        uncover(c, b);
        c->now[a] = c->now[b];
        c->now[b] = f;
        break;
    case DV_HOMES_RELEASE:
        if (!may_go(f)) fail(c, "%s holds no value of its own", name_of(c, a).text);
        uncover(c, a);
        c->now[a] = just(IN_PLAIN);
        break;
    case DV_HOMES_BOX: put(c, b, facts->raises ? owned(DV_PLACE_VALUE) : just(IN_PLAIN)); break;
    case DV_HOMES_CONSTANT:
    case DV_HOMES_CONSTANT_B: put(c, a, just(IN_PLAIN)); break;
    case DV_HOMES_NOTHING: break;
    }
}

static void put_slots(checker *c, const dv_written_op *op, const dv_region_facts *facts) {
    const fact moved = c->now[op->slots[0]];
    for (uint32_t n = 0; n < 4 && !facts->homes; n++) {
        const int16_t slot = op->slots[n];
        switch (facts->puts[n]) {
        case DV_PLACE_NOTHING: break;
        case DV_PLACE_INT: put(c, slot, just(IN_INT)); break;
        case DV_PLACE_DOUBLE: put(c, slot, just(IN_DOUBLE)); break;
        case DV_PLACE_RAW: /* R_CONST or R_MOVE */
            put(c, slot, facts->constant ? just(op->slots[1] ? IN_DOUBLE : IN_INT) : moved);
            break;
        case DV_PLACE_RANGE:
            for (int i = 0; i < 3; i++)
                put(c, (int16_t)(slot + i), (fact){IN_RANGE, (uint8_t)i, 0});
            break;
        case DV_PLACE_NONE: put(c, slot, just(IN_PLAIN)); break;
        default: put(c, slot, owned(facts->puts[n]));
        }
    }
}

static void put_registers(checker *c, const dv_region_facts *facts) {
    if (facts->put_registers & DV_REGISTER_R) c->now[c->slots] = just(IN_INT);
    if (facts->put_registers & DV_REGISTER_D) c->now[c->slots + 1] = just(IN_DOUBLE);
}

/* The guard of slot a held. */
static void learn(checker *c, const dv_written_op *op, const dv_region_facts *facts) {
    fact *f = &c->now[op->slots[0]];
    if (!facts->guards || (f->what != IN_OWNED && f->what != IN_BORROWED)) return;
    f->kind = facts->guards;
    if (facts->guards == DV_PLACE_ARRAY)
        f->kind = (uint8_t)(DV_PLACE_ARRAY + 1 + (uint32_t)op->constant.i);
}

/* Jumps to what `cells` say, taken before anything is put, or when all has been. */
static void jump(checker *c, const dv_written_op *op, uint32_t cells) {
    for (uint32_t k = 0; k < 2; k++)
        if (cells >> k & 1) flow(c, op->targets[k], c->now);
}

static void check_op(checker *c, uint32_t number) {
    const dv_written_op *op = &c->region->ops[number];
    const dv_region_facts *facts = dv_region_facts_for(op->op);
    c->line = c->lines->ops[number];
    memcpy(c->now, c->states + (size_t)number * c->width, c->width * sizeof *c->now);
    if (op->op == DV_OP_R_EXIT) {
        leave(c, op, number, true);
        return;
    }
    read_operands(c, op, facts);
    if (op->exit != DV_NO_EXIT) leave(c, op, number, false);
    jump(c, op, facts->exits & DV_CELL_3);
    if (facts->exits & DV_CELL_4) { /* the first of two has put its int */
        c->now[c->slots] = just(IN_INT);
        jump(c, op, DV_CELL_4);
    }
    jump(c, op, facts->jumps & ~facts->late);
    c->line = c->lines->ops[number];
    move_objects(c, op, facts);
    put_slots(c, op, facts);
    put_registers(c, facts);
    learn(c, op, facts);
    jump(c, op, facts->late);
    if (!facts->goes_on) return;
    if (number + 1 < c->region->op_count)
        flow(c, number + 1, c->now);
    else
        fail(c, "control falls off the end of the region");
}

/* ---- All of it ---- */

static void check_tables(checker *c) {
    const dv_written_region *w = c->region;
    const uint32_t jump = is_instruction(c, w->back) ? c->code->words[w->back] : 0;
    if ((jump & 0xFF) != DV_OP_JUMP_BACK || jump >> 8 != w->head)
        fail(c, "a region is from the head of a loop to its JUMP_BACK");
    for (const dv_written_region *r = c->code->written; r; r = r->next)
        if (r->back == w->back) fail(c, "the loop has a region already");
    for (uint32_t i = 0; i < w->exit_count; i++) {
        c->line = c->lines->exits[i];
        if (!is_instruction(c, w->exits[i].pc)) fail(c, "control never comes to where it goes");
    }
}

static void run(checker *c) {
    check_tables(c);
    for (uint32_t i = 0; i < c->region->entry_count && !failed(c); i++) begin_entry(c, i);
    while (c->work_count && !failed(c)) {
        const uint32_t number = c->work[--c->work_count];
        c->queued[number] = false;
        check_op(c, number);
    }
}

enum { MOST_FACTS = 8000000 };

void dv_region_check(dv_region_reader *reader, const dv_written_region *region,
                     const dv_region_lines *lines) {
    const dv_code *code = reader->code;
    checker c = {.reader = reader, .code = code, .region = region, .lines = lines};
    c.locals = code->local_count;
    c.stack_base = dv_code_stack_base(code);
    c.slots = c.stack_base + code->max_stack;
    c.width = c.slots + 2;
    c.line = lines->entries[0];
    const size_t ops = region->op_count, words = code->word_count + 1;
    if ((ops + 2) * c.width > MOST_FACTS) {
        fail(&c, "the region is too large for its frame");
        return;
    }
    const size_t sizes[] = {(ops + 2) * c.width * sizeof *c.states,
                            words * sizeof *c.live,
                            words * sizeof *c.pcs,
                            ops * sizeof *c.work,
                            ops,
                            ops,
                            words};
    size_t whole = 0;
    for (int i = 0; i < 7; i++) whole += (sizes[i] + 7) & ~(size_t)7;
    char *memory = dv_heap_alloc(&reader->vm->heap, whole);
    if (!memory) {
        reader->failed = reader->no_memory = true;
        return;
    }
    memset(memory, 0, whole);
    char *part[7], *at = memory;
    for (int i = 0; i < 7; i++) part[i] = at, at += (sizes[i] + 7) & ~(size_t)7;
    c.states = (fact *)(void *)part[0];
    c.now = c.states + ops * c.width;
    c.other = c.now + c.width;
    c.live = (uint64_t *)(void *)part[1];
    c.pcs = (uint32_t *)(void *)part[2];
    c.work = (uint32_t *)(void *)part[3];
    c.reached = (bool *)part[4];
    c.queued = (bool *)part[5];
    c.seen = (uint8_t *)part[6];
    dv_code_liveness(code, c.live);
    run(&c);
    dv_heap_free(&reader->vm->heap, memory, whole);
}
