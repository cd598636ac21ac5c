/* assembler.c: reading code objects from text (assembly.h).
 *
 * Everything, what is only needed meanwhile included, comes from the unit's arena.
 *
 * Invariants
 *  1. After a failure (`failed`) nothing that was read counts; whoever loops looks at it.
 *  2. Code objects form a tree: each but the first is a constant of one that stands before it. */
#include "inspect/assembly.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "code/verify.h"
#include "base/dtoa.h"
#include "core/unit.h"
#include "dv_ops.h"
#include "inspect/region_text.h"

enum { DEEPEST_TUPLE = 50 };

/* ---- What is being read ---- */

#define VECTOR(type)              \
    struct {                      \
        type *data;               \
        uint32_t count, capacity; \
    }

typedef struct label {
    dv_text name;
    uint32_t pc;
} label;

/* Where the pc of a label goes: into a word, in the upper bits or as a whole, or into a table. */
typedef enum use_kind { IN_WORD, IS_WORD, IN_EXCEPTIONS, IN_INLINED } use_kind;

typedef struct use {
    dv_text name;
    uint32_t line;
    use_kind kind;
    uint32_t at; /* the word; in tables: three times the entry, and which of its pcs */
} use;

/* The text of a region, `region` to `end`: some of the code object's region_lines. */
typedef struct region_text {
    uint32_t first, count;
} region_text;

/* A code object, its tables as they grow. */
typedef struct building {
    dv_text id;
    dv_code *code;
    uint32_t line;   /* of its header */
    uint32_t parent; /* which has it as a constant; its own number: nobody so far */
    VECTOR(uint32_t) words;
    VECTOR(uint32_t) lines; /* of the text, by pc */
    VECTOR(dv_const) constants;
    VECTOR(dv_text) names;
    VECTOR(dv_text) locals;
    VECTOR(uint32_t) free;
    VECTOR(dv_position) positions;
    VECTOR(dv_exception_entry) exceptions;
    VECTOR(dv_inlined_code) inlined;
    VECTOR(label) labels;
    VECTOR(use) uses;
    VECTOR(region_text) regions;
    VECTOR(dv_region_line) region_lines; /* read when the code is verified */
} building;

/* A constant that is a code object, by its id. */
typedef struct reference {
    dv_text id;
    uint32_t line, by, constant;
} reference;

typedef struct assembler {
    dv_vm *vm;
    dv_unit *unit;
    const char *at, *end; /* what is not yet read of the line */
    uint32_t line;
    bool failed, no_memory;
    uint32_t failed_line;
    char message[200];
    building *now; /* NULL: before the first */
    bool in_region;
    VECTOR(building *) codes;
    VECTOR(reference) references;
} assembler;

__attribute__((format(printf, 3, 4))) static void fail_at(assembler *a, uint32_t line,
                                                          const char *format, ...) {
    if (a->failed) return;
    a->failed = true;
    a->failed_line = line;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->message, sizeof a->message, format, arguments);
    va_end(arguments);
}

#define fail(a, ...) fail_at(a, (a)->line, __VA_ARGS__)

static void *get(assembler *a, size_t size) {
    void *memory = a->unit->allocate(a->unit->arena, size ? size : 1);
    if (memory) return memset(memory, 0, size);
    a->failed = a->no_memory = true;
    return NULL;
}

static bool grow(assembler *a, void *vector, size_t size) {
    VECTOR(char) *v = vector;
    const uint32_t capacity = v->capacity ? v->capacity * 2 : 8;
    char *data = get(a, capacity * size);
    if (!data) return false;
    if (v->count) memcpy(data, v->data, v->count * size);
    v->data = data;
    v->capacity = capacity;
    return true;
}

#define PUSH(a, v, ...)                                          \
    ((v).count < (v).capacity || grow(a, &(v), sizeof *(v).data) \
         ? ((v).data[(v).count++] = (__VA_ARGS__), true)         \
         : false)

/* ---- Words of a line ---- */

static bool is_word(dv_text text, const char *word) {
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Is something left of the line? */
static bool skip_blanks(assembler *a) {
    while (a->at < a->end && is_blank(*a->at)) a->at++;
    return a->at < a->end && *a->at != '#';
}

/* Up to a blank or what separates constants. */
static dv_text take_word(assembler *a) {
    skip_blanks(a);
    const char *begin = a->at;
    while (a->at < a->end && !is_blank(*a->at) && !strchr(",(){}\"#", *a->at)) a->at++;
    return (dv_text){begin, (uint32_t)(a->at - begin)};
}

static bool take_character(assembler *a, char c) {
    if (!skip_blanks(a) || *a->at != c) return false;
    a->at++;
    return true;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* What stands behind a backslash; -1: nothing that is known. */
static int take_escape(assembler *a) {
    if (a->at == a->end) return -1;
    const char c = *a->at++;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == '"' || c == '\\') return c;
    if (c != 'x' || a->end - a->at < 2 || hex_digit(a->at[0]) < 0 || hex_digit(a->at[1]) < 0)
        return -1;
    a->at += 2;
    return hex_digit(a->at[-2]) * 16 + hex_digit(a->at[-1]);
}

/* Text in quotes; at the opening one. */
static dv_text take_quoted(assembler *a) {
    if (!take_character(a, '"')) {
        fail(a, "text in quotes is expected");
        return (dv_text){"", 0};
    }
    char *data = get(a, (size_t)(a->end - a->at) + 1);
    uint32_t size = 0;
    while (data && a->at < a->end && *a->at != '"') {
        int c = (unsigned char)*a->at++;
        if (c == '\\') c = take_escape(a);
        if (c < 0)
            fail(a, "a backslash stands before n, t, x and two digits, a quote or a backslash");
        data[size++] = (char)c;
    }
    if (!a->failed && !take_character(a, '"')) fail(a, "the closing quote is missing");
    return (dv_text){data ? data : "", size};
}

static dv_text take_name(assembler *a) {
    if (skip_blanks(a) && *a->at == '"') return take_quoted(a);
    const dv_text name = take_word(a);
    if (!dv_assembly_is_bare(name)) fail(a, "a name is expected");
    return name;
}

static uint32_t take_number(assembler *a, uint32_t most) {
    const dv_text word = take_word(a);
    uint64_t number = 0;
    for (uint32_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') number = UINT64_MAX;
        if (number <= most) number = number * 10 + (uint64_t)(word.data[i] - '0');
    }
    if (word.size && number <= most) return (uint32_t)number;
    fail(a, "a number up to %u is expected, not '%.*s'", most, (int)word.size, word.data);
    return 0;
}

/* ---- Constants ---- */

/* The index of a constant in the code object's table. */
static uint32_t add_constant(assembler *a, dv_const constant) {
    building *b = a->now;
    for (uint32_t i = 0; constant.kind != DV_CONST_CODE && i < b->constants.count; i++)
        if (dv_const_is_same(&b->constants.data[i], &constant)) return i;
    PUSH(a, b->constants, constant);
    return b->constants.count - 1;
}

static bool parse_int(dv_text word, dv_const *out) {
    const bool negative = word.size && word.data[0] == '-';
    if (word.size == negative) return false;
    uint64_t number = 0, most = (uint64_t)INT64_MAX + negative;
    for (uint32_t i = negative; i < word.size; i++) {
        const unsigned digit = (unsigned)(word.data[i] - '0');
        if (digit > 9 || number > (most - digit) / 10) return false;
        number = number * 10 + digit;
    }
    out->kind = DV_CONST_INT;
    out->as.integer = (int64_t)(negative ? 0 - number : number);
    return true;
}

/* "-0x1F": ints of any size. */
static bool parse_hex(assembler *a, dv_text word, dv_const *out) {
    const bool negative = word.size && word.data[0] == '-';
    const uint32_t begin = negative + 2u;
    if (word.size <= begin || memcmp(word.data + negative, "0x", 2) != 0) return false;
    for (uint32_t i = begin; i < word.size; i++)
        if (hex_digit(word.data[i]) < 0) return false;
    char *text = get(a, word.size);
    if (!text) return true;
    if (negative) text[0] = '-';
    memcpy(text + negative, word.data + begin, word.size - begin);
    out->kind = DV_CONST_BIGINT;
    out->as.text = (dv_text){text, word.size - 2};
    return true;
}

static bool parse_float(dv_text word, dv_const *out) {
    const bool imaginary = word.size > 1 && word.data[word.size - 1] == 'j';
    const bool negative = word.size > 1 && word.data[0] == '-';
    const dv_text digits = {word.data + negative, word.size - negative - imaginary};
    double d;
    if (is_word(digits, "inf"))
        d = (double)INFINITY;
    else if (!digits.size || !dv_dtoa_parse(digits.data, digits.size, &d))
        return false;
    out->kind = imaginary ? DV_CONST_COMPLEX : DV_CONST_FLOAT;
    out->as.real = negative ? -d : d;
    return true;
}

static bool parse_word(dv_text word, dv_const *out) {
    static const struct {
        const char *word;
        dv_const_kind kind;
    } words[] = {{"None", DV_CONST_NONE},
                 {"False", DV_CONST_FALSE},
                 {"True", DV_CONST_TRUE},
                 {"Ellipsis", DV_CONST_ELLIPSIS}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(word, words[i].word)) return out->kind = words[i].kind, true;
    return false;
}

bool dv_assembly_number(dv_text word, dv_const *out) {
    return parse_word(word, out) || parse_int(word, out) || parse_float(word, out);
}

static uint32_t take_constant(assembler *a, int depth);

/* Behind the opening bracket. */
static uint32_t take_items(assembler *a, dv_const_kind kind, char closing, int depth) {
    VECTOR(uint32_t) items = {0};
    if (depth > DEEPEST_TUPLE) fail(a, "tuples within tuples: more than %d", DEEPEST_TUPLE);
    while (!a->failed && !take_character(a, closing)) {
        PUSH(a, items, take_constant(a, depth + 1));
        if (!a->failed && !take_character(a, ',') && skip_blanks(a) && *a->at != closing)
            fail(a, "a comma or '%c' is expected", closing);
        if (!a->failed && !skip_blanks(a)) fail(a, "'%c' is missing", closing);
    }
    const dv_const tuple = {.kind = kind, .as.tuple = {items.data, items.count}};
    return a->failed ? 0 : add_constant(a, tuple);
}

/* The code object is found when all of them are there. */
static uint32_t take_code(assembler *a, dv_text id) {
    const uint32_t by = a->codes.count - 1;
    for (uint32_t i = 0; i < a->references.count; i++)
        if (a->references.data[i].by == by && dv_text_is_same(a->references.data[i].id, id))
            return a->references.data[i].constant;
    const uint32_t constant = add_constant(a, (dv_const){.kind = DV_CONST_CODE});
    PUSH(a, a->references, (reference){id, a->line, by, constant});
    return constant;
}

static uint32_t take_constant(assembler *a, int depth) {
    dv_const constant = {.kind = DV_CONST_NONE};
    if (take_character(a, '(')) return take_items(a, DV_CONST_TUPLE, ')', depth);
    if (take_character(a, '{')) return take_items(a, DV_CONST_FROZENSET, '}', depth);
    if (skip_blanks(a) && *a->at == '"') {
        constant.kind = DV_CONST_STR;
        constant.as.text = take_quoted(a);
        return a->failed ? 0 : add_constant(a, constant);
    }
    const dv_text word = take_word(a);
    if (is_word(word, "b") && a->at < a->end && *a->at == '"') {
        constant.kind = DV_CONST_BYTES;
        constant.as.text = take_quoted(a);
    } else if (word.size > 1 && word.data[0] == '@') {
        return take_code(a, word);
    } else if (!parse_word(word, &constant) && !parse_int(word, &constant) &&
               !parse_hex(a, word, &constant) && !parse_float(word, &constant)) {
        fail(a, "a constant is expected, not '%.*s'", (int)word.size, word.data);
    }
    return a->failed ? 0 : add_constant(a, constant);
}

/* ---- Operands ---- */

static uint32_t take_local(assembler *a) {
    const building *b = a->now;
    if (skip_blanks(a) && *a->at == '$') {
        a->at++;
        return take_number(a, UINT32_MAX >> 8);
    }
    const dv_text name = take_name(a);
    for (uint32_t i = 0; i < b->locals.count; i++)
        if (dv_text_is_same(b->locals.data[i], name)) return i;
    fail(a, "there is no local '%.*s'", (int)name.size, name.data);
    return 0;
}

static uint32_t take_global(assembler *a) {
    building *b = a->now;
    const dv_text name = take_name(a);
    for (uint32_t i = 0; i < b->names.count; i++)
        if (dv_text_is_same(b->names.data[i], name)) return i;
    PUSH(a, b->names, name);
    return b->names.count - 1;
}

/* `own=ac`, `inplace`, both or nothing. */
static uint32_t take_own(assembler *a) {
    uint32_t mask = 0;
    while (skip_blanks(a)) {
        const dv_text word = take_word(a);
        if (is_word(word, "inplace")) return mask | DV_OWN_INPLACE;
        bool good = word.size > 4 && memcmp(word.data, "own=", 4) == 0 && !mask;
        for (uint32_t i = 4; good && i < word.size; i++) {
            good = word.data[i] >= 'a' && word.data[i] < 'a' + 24;
            if (good) mask |= UINT32_C(1) << (word.data[i] - 'a');
        }
        if (!good) fail(a, "own= and letters are expected, not '%.*s'", (int)word.size, word.data);
        if (!good) break;
    }
    return mask;
}

static dv_text take_label(assembler *a) {
    const dv_text name = take_word(a);
    if (!dv_assembly_is_bare(name)) fail(a, "a label is expected");
    return name;
}

static uint32_t take_operand(assembler *a, uint32_t kind, uint32_t word, bool whole) {
    switch (kind) {
    case DV_OPERAND_OWN: return take_own(a);
    case DV_OPERAND_CONST:
    case DV_OPERAND_CODE: return take_constant(a, 0);
    case DV_OPERAND_LOCAL: return take_local(a);
    case DV_OPERAND_NAME: return take_global(a);
    case DV_OPERAND_JUMP:
        PUSH(a, a->now->uses, (use){take_label(a), a->line, whole ? IS_WORD : IN_WORD, word});
        return 0;
    default: return take_number(a, UINT32_MAX >> 8);
    }
}

static uint32_t find_instruction(dv_text name) {
    for (uint32_t op = 0; op < DV_OP_GENERIC_COUNT; op++)
        if (is_word(name, dv_op_name(op))) return op;
    return DV_OP_COUNT;
}

static void read_instruction(assembler *a, dv_text name) {
    const uint32_t op = find_instruction(name);
    building *b = a->now;
    if (op == DV_OP_COUNT) {
        fail(a, "there is no instruction '%.*s'", (int)name.size, name.data);
        return;
    }
    const dv_op_info *info = &dv_op_infos[op];
    const uint32_t pc = b->words.count, words = info->operand_count > 1 ? info->operand_count : 1;
    uint32_t operands[3] = {0};
    for (uint32_t i = 0; i < words; i++) {
        PUSH(a, b->words, 0);
        PUSH(a, b->lines, a->line);
    }
    for (uint32_t i = 0; i < info->operand_count && !a->failed; i++)
        operands[i] = take_operand(a, info->operands[i], pc + i, i > 0);
    if (a->failed) return;
    if (operands[0] > UINT32_MAX >> 8) fail(a, "the operand is too large");
    b->words.data[pc] = op | operands[0] << 8;
    for (uint32_t i = 1; i < words; i++) b->words.data[pc + i] = operands[i];
    if (op == DV_OP_JUMP_BACK) b->code->flags |= DV_CODE_HAS_LOOP;
}

/* ---- Lines ---- */

/* `code @id "qualified name"` */
static void read_code(assembler *a) {
    building *b = get(a, sizeof *b);
    dv_code *code = get(a, sizeof *code);
    if (!b || !code) return;
    b->id = take_word(a);
    b->line = a->line;
    b->code = code;
    b->parent = a->codes.count;
    if (b->id.size < 2 || b->id.data[0] != '@') fail(a, "an id is expected, as @f");
    for (uint32_t i = 0; i < a->codes.count; i++)
        if (dv_text_is_same(a->codes.data[i]->id, b->id))
            fail(a, "there is a code object %.*s already", (int)b->id.size, b->id.data);
    code->unit = a->unit;
    code->name = code->qualname = take_quoted(a);
    PUSH(a, a->codes, b);
    a->now = b;
}

static void read_flags(assembler *a) {
    while (!a->failed && skip_blanks(a)) {
        const dv_text word = take_word(a);
        uint32_t flag = 0;
        while (flag < DV_ASSEMBLY_FLAGS && !is_word(word, dv_assembly_flags[flag])) flag++;
        if (flag == DV_ASSEMBLY_FLAGS)
            fail(a, "there is no flag '%.*s'", (int)word.size, word.data);
        a->now->code->flags |= UINT32_C(1) << flag;
    }
}

/* `parameters positional positional-only keyword-only` */
static void read_parameters(assembler *a) {
    dv_code *code = a->now->code;
    code->positional_count = take_number(a, UINT16_MAX);
    code->positional_only_count = take_number(a, code->positional_count);
    code->keyword_only_count = take_number(a, UINT16_MAX);
}

static void take_mark(assembler *a, char c) {
    if (!a->failed && !take_character(a, c)) fail(a, "'%c' is expected", c);
}

/* A number of `at`, which ends before ':' or '-'. */
static uint32_t take_digits(assembler *a) {
    uint64_t number = 0;
    const char *begin = a->at;
    for (; a->at < a->end && *a->at >= '0' && *a->at <= '9'; a->at++)
        if (number <= UINT32_MAX) number = number * 10 + (uint64_t)(*a->at - '0');
    if (begin == a->at || number > UINT32_MAX) fail(a, "a line or column is expected");
    return (uint32_t)number;
}

/* `at line:column-line:column`: where what follows is in the source. */
static void read_position(assembler *a) {
    dv_position p = {.pc = a->now->words.count};
    skip_blanks(a);
    p.line = take_digits(a);
    take_mark(a, ':');
    p.column = (uint16_t)take_digits(a);
    take_mark(a, '-');
    p.end_line = take_digits(a);
    take_mark(a, ':');
    p.end_column = (uint16_t)take_digits(a);
    PUSH(a, a->now->positions, p);
}

static void expect_word(assembler *a, const char *expected) {
    const dv_text word = take_word(a);
    if (!is_word(word, expected)) fail(a, "'%s' is expected", expected);
}

/* One of up to five pcs of the table's next entry; they come when all labels are known. */
static void take_pc(assembler *a, use_kind table, uint32_t entry, uint32_t which) {
    PUSH(a, a->now->uses, (use){take_label(a), a->line, table, entry * 5 + which});
}

/* `catch begin end to handler depth n` */
static void read_catch(assembler *a) {
    const uint32_t entry = a->now->exceptions.count;
    dv_exception_entry e = {0};
    take_pc(a, IN_EXCEPTIONS, entry, 0);
    take_pc(a, IN_EXCEPTIONS, entry, 1);
    expect_word(a, "to");
    take_pc(a, IN_EXCEPTIONS, entry, 2);
    expect_word(a, "depth");
    e.depth = take_number(a, UINT16_MAX);
    PUSH(a, a->now->exceptions, e);
}

/* `inlined begin end by call listcomp locals first count [taking from to]` */
static void read_inlined(assembler *a) {
    const uint32_t entry = a->now->inlined.count;
    dv_inlined_code place = {.taking = DV_NO_TAKING};
    take_pc(a, IN_INLINED, entry, 0);
    take_pc(a, IN_INLINED, entry, 1);
    expect_word(a, "by");
    take_pc(a, IN_INLINED, entry, 2);
    const dv_text kind = take_word(a);
    while (place.kind <= DV_COMPREHENSION_GENERATOR &&
           !is_word(kind, dv_assembly_comprehensions[place.kind]))
        place.kind++;
    if (place.kind > DV_COMPREHENSION_GENERATOR)
        fail(a, "there is no comprehension '%.*s'", (int)kind.size, kind.data);
    expect_word(a, "locals");
    place.first_local = take_number(a, UINT32_MAX >> 8);
    place.local_count = take_number(a, UINT32_MAX >> 8);
    if (!a->failed && skip_blanks(a)) {
        expect_word(a, "taking");
        take_pc(a, IN_INLINED, entry, 3);
        take_pc(a, IN_INLINED, entry, 4);
    }
    PUSH(a, a->now->inlined, place);
}

static void read_locals(assembler *a) {
    while (!a->failed && skip_blanks(a)) PUSH(a, a->now->locals, take_name(a));
}

static void read_free(assembler *a) {
    while (!a->failed && skip_blanks(a)) {
        const bool value = *a->at == '='; /* a new cell with the local's value */
        a->at += value;
        const uint32_t from = take_number(a, UINT32_MAX >> 8);
        PUSH(a, a->now->free, value ? from | DV_FREE_VALUE : from);
    }
}

/* What is left of the line belongs to the region; `end` ends it. */
static void read_region_line(assembler *a) {
    building *b = a->now;
    const char *begin = a->at;
    if (skip_blanks(a) && is_word(take_word(a), "end") && !skip_blanks(a)) {
        a->in_region = false;
        return;
    }
    PUSH(a, b->region_lines, (dv_region_line){begin, a->end, a->line});
    b->regions.data[b->regions.count - 1].count++;
    a->at = a->end;
}

static void read_statement(assembler *a, dv_text word) {
    if (is_word(word, "file")) {
        a->unit->filename = take_quoted(a);
    } else if (is_word(word, "code")) {
        read_code(a);
    } else if (!a->now) {
        fail(a, "'code' is expected, not '%.*s'", (int)word.size, word.data);
    } else if (is_word(word, "name")) {
        a->now->code->name = take_quoted(a);
    } else if (is_word(word, "doc")) {
        a->now->code->doc = take_quoted(a);
    } else if (is_word(word, "line")) {
        a->now->code->first_line = take_number(a, INT32_MAX);
    } else if (is_word(word, "flags")) {
        read_flags(a);
    } else if (is_word(word, "parameters")) {
        read_parameters(a);
    } else if (is_word(word, "locals")) {
        read_locals(a);
    } else if (is_word(word, "free")) {
        read_free(a);
    } else if (is_word(word, "at")) {
        read_position(a);
    } else if (is_word(word, "catch")) {
        read_catch(a);
    } else if (is_word(word, "inlined")) {
        read_inlined(a);
    } else if (is_word(word, "region")) {
        PUSH(a, a->now->regions, (region_text){a->now->region_lines.count, 0});
        a->in_region = true;
        read_region_line(a);
    } else {
        read_instruction(a, word);
    }
}

static void read_label(assembler *a, dv_text word) {
    const dv_text name = {word.data, word.size - 1};
    if (!a->now || !dv_assembly_is_bare(name)) {
        fail(a, "a label stands where no code is, or is no name");
        return;
    }
    for (uint32_t i = 0; i < a->now->labels.count; i++)
        if (dv_text_is_same(a->now->labels.data[i].name, name))
            fail(a, "there is a label '%.*s' already", (int)name.size, name.data);
    PUSH(a, a->now->labels, (label){name, a->now->words.count});
}

static void read_line(assembler *a) {
    while (!a->failed && skip_blanks(a)) {
        const dv_text word = take_word(a);
        if (word.size > 1 && word.data[word.size - 1] == ':') {
            read_label(a, word);
            continue;
        }
        read_statement(a, word);
        if (!a->failed && skip_blanks(a))
            fail(a, "something is left on the line: '%.*s'", (int)(a->end - a->at), a->at);
    }
}

static void read_lines(assembler *a, const char *text, size_t size) {
    const char *end = text + size;
    for (a->line = 1; text < end && !a->failed; a->line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end, *next = newline ? newline + 1 : end;
        a->at = text, a->end = stop;
        if (!a->in_region && skip_blanks(a) && is_word(take_word(a), "source") && !skip_blanks(a)) {
            a->unit->source = (dv_text){next, (uint32_t)(end - next)};
            return;
        }
        a->at = text;
        if (a->in_region)
            read_region_line(a);
        else
            read_line(a);
        text = next;
    }
    if (!a->failed && a->in_region) fail(a, "'end' of the region is missing");
}

/* ---- Putting it together ---- */

static void set_label(building *b, const use *u, uint32_t pc) {
    uint32_t *const words = b->words.data;
    if (u->kind == IN_EXCEPTIONS) {
        dv_exception_entry *e = &b->exceptions.data[u->at / 5];
        *(u->at % 5 == 0 ? &e->begin : u->at % 5 == 1 ? &e->end : &e->handler) = pc;
    } else if (u->kind == IN_INLINED) {
        dv_inlined_code *e = &b->inlined.data[u->at / 5];
        *(u->at % 5 == 0   ? &e->begin
          : u->at % 5 == 1 ? &e->end
          : u->at % 5 == 2 ? &e->call
          : u->at % 5 == 3 ? &e->taking
                           : &e->taken) = pc;
    } else {
        words[u->at] |= u->kind == IS_WORD ? pc : pc << 8;
    }
}

static void set_labels(assembler *a, building *b) {
    for (uint32_t i = 0; i < b->uses.count && !a->failed; i++) {
        const use *u = &b->uses.data[i];
        uint32_t k = 0;
        while (k < b->labels.count && !dv_text_is_same(b->labels.data[k].name, u->name)) k++;
        if (k == b->labels.count) {
            fail_at(a, u->line, "there is no label '%.*s'", (int)u->name.size, u->name.data);
            return;
        }
        set_label(b, u, b->labels.data[k].pc);
    }
}

static void set_tables(building *b) {
    dv_code *code = b->code;
    code->words = b->words.data, code->word_count = b->words.count;
    code->constants = b->constants.data, code->constant_count = b->constants.count;
    code->names = b->names.data, code->name_count = b->names.count;
    code->local_names = b->locals.data, code->local_count = b->locals.count;
    code->free_from = b->free.data, code->free_count = b->free.count;
    code->positions = b->positions.data, code->position_count = b->positions.count;
    code->exceptions = b->exceptions.data, code->exception_count = b->exceptions.count;
    code->inlined = b->inlined.data, code->inlined_count = b->inlined.count;
}

static void set_references(assembler *a) {
    for (uint32_t i = 0; i < a->references.count && !a->failed; i++) {
        const reference *r = &a->references.data[i];
        uint32_t k = 0;
        while (k < a->codes.count && !dv_text_is_same(a->codes.data[k]->id, r->id)) k++;
        if (k == a->codes.count)
            fail_at(a, r->line, "there is no code object %.*s", (int)r->id.size, r->id.data);
        else if (k <= r->by || a->codes.data[k]->parent != k)
            fail_at(a, r->line, "%.*s is used before, or does not stand behind this code object",
                    (int)r->id.size, r->id.data);
        if (a->failed) return;
        a->codes.data[k]->parent = r->by;
        a->codes.data[r->by]->constants.data[r->constant].as.code = a->codes.data[k]->code;
    }
    for (uint32_t k = 1; k < a->codes.count && !a->failed; k++)
        if (a->codes.data[k]->parent == k)
            fail_at(a, a->codes.data[k]->line, "nobody uses %.*s", (int)a->codes.data[k]->id.size,
                    a->codes.data[k]->id.data);
}

/* The line of an instruction, or of its code object. */
static uint32_t line_of(const assembler *a, const dv_code *code, uint32_t pc) {
    for (uint32_t i = 0; i < a->codes.count; i++) {
        const building *b = a->codes.data[i];
        if (b->code == code) return pc < b->lines.count ? b->lines.data[pc] : b->line;
    }
    return 1;
}

static void verify(assembler *a) {
    char message[160];
    dv_code_fault fault = {NULL, 0};
    if (dv_code_verify_at(a->unit, message, sizeof message, &fault)) return;
    if (strcmp(message, "out of memory") == 0)
        a->failed = a->no_memory = true;
    else
        fail_at(a, line_of(a, fault.code, fault.pc), "the verifier refuses it: %s", message);
}

static bool find_label(void *context, dv_text name, uint32_t *pc) {
    const building *b = context;
    uint32_t k = 0;
    while (k < b->labels.count && !dv_text_is_same(b->labels.data[k].name, name)) k++;
    if (k == b->labels.count) return false;
    *pc = b->labels.data[k].pc;
    return true;
}

/* The regions of a code object that the verifier has let. */
static void read_regions(assembler *a, building *b) {
    for (uint32_t i = 0; i < b->regions.count && !a->failed; i++) {
        dv_region_reader reader = {
            .vm = a->vm, .code = b->code, .find_label = find_label, .context = b};
        const region_text *text = &b->regions.data[i];
        dv_written_region *region =
            dv_region_text_read(&reader, b->region_lines.data + text->first, text->count);
        if (!region) {
            a->failed = true, a->no_memory = reader.no_memory;
            a->failed_line = reader.failed_line;
            memcpy(a->message, reader.message, sizeof a->message);
            return;
        }
        region->next = b->code->written;
        b->code->written = region;
    }
}

static void read_unit(assembler *a, const char *text, size_t size) {
    read_lines(a, text, size);
    if (!a->failed && !a->now) fail(a, "there is no code");
    for (uint32_t i = 0; i < a->codes.count && !a->failed; i++) {
        set_labels(a, a->codes.data[i]);
        set_tables(a->codes.data[i]);
    }
    if (!a->failed) set_references(a);
    if (a->failed) return;
    a->unit->code = a->codes.data[0]->code;
    verify(a);
    for (uint32_t i = 0; i < a->codes.count && !a->failed; i++) read_regions(a, a->codes.data[i]);
}

dv_unit *dv_assembly_read(dv_vm *vm, const char *text, size_t size, const char *path) {
    dv_unit *unit = dv_unit_new(&vm->heap);
    assembler a = {.vm = vm, .unit = unit, .no_memory = !unit, .failed = !unit};
    /* Names and constants point into the text: the unit has its own. */
    const size_t path_size = strlen(path);
    char *own = unit ? get(&a, size + path_size + 1) : NULL;
    if (own) {
        memcpy(own, text, size);
        memcpy(own + size, path, path_size);
        unit->filename = (dv_text){own + size, (uint32_t)path_size};
        if (size >= UINT32_MAX)
            fail_at(&a, 1, "the text is too long");
        else
            read_unit(&a, own, size);
    }
    if (!a.failed) return unit;
    if (unit) dv_unit_release(unit);
    if (a.no_memory)
        dv_raise_memory(vm);
    else
        dv_raise(vm, DV_E_SYNTAX_ERROR, "%s:%u: %s", path, a.failed_line, a.message);
    return NULL;
}
