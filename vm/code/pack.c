/* pack.c: units as bytes (pack.h). */
#define _GNU_SOURCE /* memmem */
#include "code/pack.h"

#include <string.h>

#include "code/squeezed.h"
#include "dv_ops.h"

/* ---- Writing ----------------------------------------------------------------------------------*/

typedef struct writer {
    dv_pack_sink sink;
    void *context;
    dv_text source;  /* that texts of a frozen unit may quote */
    void *positions; /* the context for those of a frozen unit; NULL: of another one */
    uint64_t positions_size;
} writer;

static void put(writer *w, uint64_t number) {
    for (; number >= 0x80; number >>= 7) w->sink(w->context, (uint8_t)(number | 0x80));
    w->sink(w->context, (uint8_t)number);
}

static uint64_t from_signed(int64_t number) {
    return number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1;
}

static void put_signed(writer *w, int64_t number) { put(w, from_signed(number)); }

/* Where the source of a frozen unit has a text; NULL: nowhere.  Names lie in it; so do constants
 * without escapes, of which the compiler has made copies. */
static const char *find_in_source(const writer *w, dv_text text) {
    enum { LEAST = 16 };
    if (!w->positions || text.size == 0) return NULL;
    if (text.data >= w->source.data && text.data < w->source.data + w->source.size)
        return text.data;
    return text.size < LEAST ? NULL : memmem(w->source.data, w->source.size, text.data, text.size);
}

static void put_text(writer *w, dv_text text) {
    const char *found = find_in_source(w, text);
    put(w, (uint64_t)text.size << 1 | !found);
    if (found) {
        put(w, (uint64_t)(found - w->source.data));
        return;
    }
    for (uint32_t i = 0; i < text.size; i++) w->sink(w->context, (uint8_t)text.data[i]);
}

static void put_array(writer *w, const uint32_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) put(w, items[i]);
}

static void put_code(writer *w, const dv_code *code);

static void put_constant(writer *w, const dv_const *constant) {
    put(w, constant->kind);
    switch (constant->kind) {
    case DV_CONST_NONE:
    case DV_CONST_FALSE:
    case DV_CONST_TRUE:
    case DV_CONST_ELLIPSIS: break;
    case DV_CONST_INT: put_signed(w, constant->as.integer); break;
    case DV_CONST_FLOAT:
    case DV_CONST_COMPLEX: {
        uint64_t bits;
        memcpy(&bits, &constant->as.real, sizeof bits);
        put(w, bits);
        break;
    }
    case DV_CONST_BIGINT:
    case DV_CONST_STR:
    case DV_CONST_BYTES: put_text(w, constant->as.text); break;
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET:
        put(w, constant->as.tuple.count);
        put_array(w, constant->as.tuple.items, constant->as.tuple.count);
        break;
    case DV_CONST_CODE: put_code(w, constant->as.code); break;
    }
}

static void put_texts(writer *w, const dv_text *texts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) put_text(w, texts[i]);
}

static void put_positions(writer *w, const dv_code *code) {
    dv_position before = {.line = code->first_line};
    for (uint32_t i = 0; i < code->position_count; i++) {
        dv_position p = code->positions[i];
        put(w, p.pc - before.pc);
        put_signed(w, (int64_t)p.line - before.line);
        put_signed(w, (int64_t)p.end_line - p.line);
        put_signed(w, (int64_t)p.column - before.column);
        put_signed(w, (int64_t)p.end_column - p.column);
        before = p;
    }
}

static void count_byte(void *context, uint8_t byte) {
    (void)byte;
    ++*(uint64_t *)context;
}

/* Those of a frozen unit stand by themselves; here, where they begin. */
static void put_positions_apart(writer *w, const dv_code *code) {
    writer counting = {.sink = count_byte, .context = &w->positions_size}, apart = *w;
    put(w, w->positions_size);
    apart.context = w->positions;
    put_positions(&apart, code);
    put_positions(&counting, code);
}

/* Of the words after an instruction's first there is no state. */
static uint32_t words_at(const dv_code *code, uint32_t pc) {
    const uint32_t words = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return words < 1 ? 1 : words > code->word_count - pc ? code->word_count - pc : words;
}

/* An entry of the stack: in the low bits whose it is, above them how far back the one below is. */
enum { OWNED, RESERVED, OF_CONSTANTS, OF_LOCALS, MOST = 15, WHOSE_BITS = 4 };

static void put_states(writer *w, const dv_code *code) {
    for (uint32_t i = 1; i < code->state_count; i++) {
        const dv_stack_state *s = &code->states[i];
        const uint64_t whose = s->kind == DV_SLOT_OWNED      ? OWNED
                               : s->kind == DV_SLOT_RESERVED ? RESERVED
                               : s->local == DV_NO_LOCAL     ? OF_CONSTANTS
                                                             : OF_LOCALS + (uint64_t)s->local;
        put(w, (uint64_t)(i - 1 - s->below) << WHOSE_BITS | (whose < MOST ? whose : MOST));
        if (whose >= MOST) put(w, whose - MOST);
    }
    int64_t before = 0;
    for (uint32_t pc = 0; pc < code->word_count; pc += words_at(code, pc)) {
        const uint32_t now = code->state_at[pc];
        put(w, now == DV_NO_STATE ? 0 : from_signed(now - before) + 1);
        if (now != DV_NO_STATE) before = now;
    }
}

static void put_tables(writer *w, const dv_code *code) {
    put_array(w, code->words, code->word_count);
    for (uint32_t i = 0; i < code->constant_count; i++) put_constant(w, &code->constants[i]);
    put_texts(w, code->names, code->name_count);
    if (w->positions)
        put_positions_apart(w, code);
    else
        put_positions(w, code);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *entry = &code->exceptions[i];
        put(w, entry->begin);
        put(w, entry->end);
        put(w, entry->handler);
        put(w, entry->depth);
    }
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *inlined = &code->inlined[i];
        put(w, inlined->begin);
        put(w, inlined->end);
        put(w, inlined->call);
        put(w, inlined->taking);
        put(w, inlined->taken);
        put(w, inlined->kind);
        put(w, inlined->first_local);
        put(w, inlined->local_count);
    }
    if (w->positions) put_states(w, code);
}

#define COUNTS(code)                                                                               \
    {                                                                                              \
        &(code)->flags, &(code)->first_line, &(code)->positional_count,                            \
            &(code)->positional_only_count, &(code)->keyword_only_count, &(code)->local_count,     \
            &(code)->max_stack, &(code)->word_count, &(code)->constant_count, &(code)->name_count, \
            &(code)->free_count, &(code)->position_count, &(code)->exception_count,                \
            &(code)->inlined_count, &(code)->state_count                                           \
    }

/* So that a reader can pass over them. */
static uint64_t size_of_tables(const writer *w, const dv_code *code) {
    uint64_t size = 0, others = 0;
    writer counting = *w;
    counting.sink = count_byte;
    counting.context = &size;
    counting.positions = &others;
    put_tables(&counting, code);
    return size;
}

static void put_code(writer *w, const dv_code *code) {
    const uint32_t *counts[] = COUNTS(code);
    put_text(w, code->name);
    put_text(w, code->qualname);
    put(w, code->doc.data != NULL);
    if (code->doc.data) put_text(w, code->doc);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) put(w, *counts[i]);
    put_texts(w, code->local_names, code->local_count);
    put_array(w, code->free_from, code->free_count);
    if (w->positions) put(w, size_of_tables(w, code));
    put_tables(w, code);
}

void dv_unit_pack(const dv_unit *unit, dv_pack_sink sink, void *context, void *positions) {
    writer w = {.sink = sink, .context = context, .source = unit->source, .positions = positions};
    put_text(&w, unit->filename);
    put_code(&w, unit->code);
}

/* ---- Reading ----------------------------------------------------------------------------------
 * After a failure every number is 0 and every table is empty, so that only loops need to look. */

enum {
    DEEPEST_CODE = 201,      /* as the verifier's */
    DEEPEST_TUPLE = 200,     /* as the parser's */
    LARGEST_TUPLE = 1 << 24, /* items of a constant, those of its items included */
    LARGEST_PROOF = 1 << 26, /* words that the verifier may need for assigned locals */
    KNOWN_FLAGS = 2 * DV_CODE_SEES_FRAME - 1,
};

typedef struct reader {
    const uint8_t *at, *end;
    dv_unit *unit;
    bool frozen;
    uint32_t depth; /* of code objects */
    dv_unpack_status status;
} reader;

static uint64_t fail(reader *r, dv_unpack_status status) {
    if (r->status == DV_UNPACK_OK) r->status = status;
    r->at = r->end;
    return 0;
}

static bool good(const reader *r) { return r->status == DV_UNPACK_OK; }

static void expect(reader *r, bool condition) {
    if (!condition) fail(r, DV_UNPACK_MALFORMED);
}

static uint64_t get_long(reader *r, uint64_t number) {
    number &= 0x7F;
    for (int shift = 7; shift < 64 && r->at < r->end; shift += 7) {
        const uint64_t byte = *r->at++;
        number |= (byte & 0x7F) << shift;
        if (byte < 0x80) return number;
    }
    return fail(r, DV_UNPACK_MALFORMED);
}

static inline uint64_t get(reader *r) {
    if (r->at == r->end) return fail(r, DV_UNPACK_MALFORMED);
    const uint64_t number = *r->at++;
    return number < 0x80 ? number : get_long(r, number);
}

static inline uint32_t get32(reader *r) {
    const uint64_t number = get(r);
    return number <= UINT32_MAX ? (uint32_t)number : (uint32_t)fail(r, DV_UNPACK_MALFORMED);
}

static inline int64_t to_signed(uint64_t number) {
    return number & 1 ? (int64_t) ~(number >> 1) : (int64_t)(number >> 1);
}

static inline int64_t get_signed(reader *r) { return to_signed(get(r)); }

/* The number of entries of a table: each takes a byte at least. */
static uint32_t get_count(reader *r) {
    const uint64_t number = get(r);
    return number <= (size_t)(r->end - r->at) ? (uint32_t)number
                                              : (uint32_t)fail(r, DV_UNPACK_MALFORMED);
}

/* Memory for a table whose count has been checked; NULL: failed. */
static void *allocate(reader *r, uint32_t count, size_t size) {
    if (!good(r)) return NULL;
    void *block = r->unit->allocate(r->unit->arena, count ? count * size : 1);
    if (!block) fail(r, DV_UNPACK_NO_MEMORY);
    return block;
}

static dv_text get_bytes(reader *r) {
    const uint64_t both = get(r), size = both >> 1;
    const dv_text source = r->unit->source;
    if (!good(r)) return (dv_text){"", 0};
    if (both & 1 && size <= (size_t)(r->end - r->at) && size <= UINT32_MAX) {
        r->at += size;
        return (dv_text){(const char *)r->at - size, (uint32_t)size};
    }
    const uint64_t from = both & 1 || !r->frozen ? UINT64_MAX : get(r);
    if (from <= source.size && size <= source.size - from)
        return (dv_text){source.data + from, (uint32_t)size};
    fail(r, DV_UNPACK_MALFORMED);
    return (dv_text){"", 0};
}

/* The size of the character at `at`: UTF-8, lone surrogates included (code.h); 0: it is none. */
static uint32_t character_size(const uint8_t *at, const uint8_t *end) {
    const uint32_t size = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    if (size == 0 || *at > 0xF4 || (size_t)(end - at) < size) return 0;
    for (uint32_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    const bool too_long = (*at == 0xE0 && at[1] < 0xA0) || (*at == 0xF0 && at[1] < 0x90);
    return too_long || (*at == 0xF4 && at[1] > 0x8F) ? 0 : size;
}

static bool is_text(dv_text text) {
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;
    while (at < end) {
        const uint32_t size = character_size(at, end);
        if (size == 0) return false;
        at += size;
    }
    return true;
}

static dv_text get_text(reader *r) {
    const dv_text text = get_bytes(r);
    if (!r->frozen) expect(r, is_text(text));
    return text;
}

/* Hexadecimal digits, with a leading '-' or not. */
static dv_text get_digits(reader *r) {
    const dv_text text = get_bytes(r);
    const uint32_t sign = text.size > 0 && text.data[0] == '-';
    expect(r, text.size > sign);
    for (uint32_t i = sign; i < text.size; i++)
        expect(r, text.data[i] != 0 && strchr("0123456789abcdefABCDEF", text.data[i]));
    return text;
}

static uint32_t *get_array(reader *r, uint32_t count) {
    uint32_t *items = allocate(r, count, sizeof *items);
    for (uint32_t i = 0; i < count && good(r); i++) items[i] = get32(r);
    return items;
}

static dv_code *get_code(reader *r);

static void get_constant(reader *r, dv_const *constant) {
    const uint64_t kind = get(r);
    *constant = (dv_const){.kind = kind <= DV_CONST_CODE ? (dv_const_kind)kind : DV_CONST_NONE};
    expect(r, kind <= DV_CONST_CODE);
    switch (constant->kind) {
    case DV_CONST_NONE:
    case DV_CONST_FALSE:
    case DV_CONST_TRUE:
    case DV_CONST_ELLIPSIS: break;
    case DV_CONST_INT: constant->as.integer = get_signed(r); break;
    case DV_CONST_FLOAT:
    case DV_CONST_COMPLEX: {
        uint64_t bits = get(r);
        memcpy(&constant->as.real, &bits, sizeof bits);
        break;
    }
    case DV_CONST_BIGINT: constant->as.text = get_digits(r); break;
    case DV_CONST_STR: constant->as.text = get_text(r); break;
    case DV_CONST_BYTES: constant->as.text = get_bytes(r); break;
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET: {
        const uint32_t count = get_count(r);
        constant->as.tuple.items = get_array(r, count);
        constant->as.tuple.count = count;
        break;
    }
    case DV_CONST_CODE: constant->as.code = get_code(r); break;
    }
}

/* How deep a constant is, and how many items are in it. */
typedef struct extent {
    uint32_t depth, size;
} extent;

static extent extent_of(reader *r, const dv_const *constant, const extent *before, uint32_t limit) {
    extent whole = {0, 1};
    if (constant->kind != DV_CONST_TUPLE && constant->kind != DV_CONST_FROZENSET) return whole;
    for (uint32_t k = 0; k < constant->as.tuple.count && good(r); k++) {
        const uint32_t item = constant->as.tuple.items[k];
        expect(r, item < limit);
        if (!good(r)) break;
        if (before[item].depth >= whole.depth) whole.depth = before[item].depth + 1;
        whole.size += before[item].size;
        expect(r, whole.depth <= DEEPEST_TUPLE && whole.size <= LARGEST_TUPLE);
    }
    return whole;
}

/* Tuples may share items, so that a few bytes could stand for more than any memory holds. */
static void check_tuples(reader *r, const dv_const *constants, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count && good(r); i++)
        any |= constants[i].kind == DV_CONST_TUPLE || constants[i].kind == DV_CONST_FROZENSET;
    extent *extents = any ? allocate(r, count, sizeof *extents) : NULL;
    for (uint32_t i = 0; extents && i < count && good(r); i++)
        extents[i] = extent_of(r, &constants[i], extents, i);
}

static dv_const *get_constants(reader *r, uint32_t count) {
    dv_const *constants = allocate(r, count, sizeof *constants);
    for (uint32_t i = 0; i < count && good(r); i++) get_constant(r, &constants[i]);
    if (!r->frozen) check_tuples(r, constants, count);
    return constants;
}

static dv_text *get_texts(reader *r, uint32_t count) {
    dv_text *texts = allocate(r, count, sizeof *texts);
    for (uint32_t i = 0; i < count && good(r); i++) texts[i] = get_text(r);
    return texts;
}

static void get_positions(reader *r, dv_code *code) {
    dv_position p = {.line = code->first_line};
    dv_position *positions = allocate(r, code->position_count, sizeof p);
    for (uint32_t i = 0; i < code->position_count && good(r); i++) {
        const uint32_t more = get32(r);
        expect(r, more <= code->word_count - p.pc);
        p.pc += more;
        p.line += (uint32_t)get_signed(r);
        p.end_line = p.line + (uint32_t)get_signed(r);
        p.column = (uint16_t)(p.column + (uint64_t)get_signed(r));
        p.end_column = (uint16_t)(p.column + (uint64_t)get_signed(r));
        if (good(r)) positions[i] = p;
    }
    code->positions = positions;
}

static void get_exceptions(reader *r, dv_code *code) {
    dv_exception_entry *entries = allocate(r, code->exception_count, sizeof *entries);
    for (uint32_t i = 0; i < code->exception_count && good(r); i++) {
        entries[i].begin = get32(r);
        entries[i].end = get32(r);
        entries[i].handler = get32(r);
        entries[i].depth = get32(r);
    }
    code->exceptions = entries;
}

static void get_inlined(reader *r, dv_code *code) {
    dv_inlined_code *inlined = allocate(r, code->inlined_count, sizeof *inlined);
    for (uint32_t i = 0; i < code->inlined_count && good(r); i++) {
        inlined[i].begin = get32(r);
        inlined[i].end = get32(r);
        inlined[i].call = get32(r);
        inlined[i].taking = get32(r);
        inlined[i].taken = get32(r);
        inlined[i].kind = get32(r);
        inlined[i].first_local = get32(r);
        inlined[i].local_count = get32(r);
    }
    code->inlined = inlined;
}

/* Where those of frozen code begin. */
static void get_positions_apart(reader *r, dv_code *code) {
    const uint64_t from = get(r);
    expect(r, from <= r->unit->positions_size);
    code->packed_positions = (uint32_t)from;
}

static void get_states(reader *r, dv_code *code) {
    dv_stack_state *states = allocate(r, code->state_count, sizeof *states);
    if (good(r) && code->state_count) states[0] = (dv_stack_state){.local = DV_NO_LOCAL};
    for (uint32_t i = 1; i < code->state_count && good(r); i++) {
        const uint64_t both = get(r), back = both >> WHOSE_BITS;
        const uint64_t low = both & MOST, whose = low < MOST ? low : MOST + get(r);
        expect(r, back < i && whose <= UINT32_MAX);
        if (!good(r)) break;
        states[i].below = i - 1 - (uint32_t)back;
        states[i].local = whose < OF_LOCALS ? DV_NO_LOCAL : (uint32_t)(whose - OF_LOCALS);
        states[i].depth = (uint16_t)(states[states[i].below].depth + 1);
        states[i].kind = whose == OWNED      ? DV_SLOT_OWNED
                         : whose == RESERVED ? DV_SLOT_RESERVED
                                             : DV_SLOT_BORROWED;
    }
    code->states = states;
    uint32_t *state_at = allocate(r, code->word_count, sizeof *state_at), before = 0;
    for (uint32_t pc = 0; pc < code->word_count && good(r);) {
        const uint64_t now = get(r);
        if (now) before += (uint32_t)to_signed(now - 1);
        state_at[pc] = now ? before : DV_NO_STATE;
        for (const uint32_t next = pc + words_at(code, pc); ++pc < next;)
            state_at[pc] = DV_NO_STATE;
    }
    code->state_at = state_at;
}

/* Tables have no more entries than bytes are left, and numbers of locals fit each other. */
static void check_counts(reader *r, const dv_code *code) {
    const uint32_t tables[] = {code->local_count,
                               code->word_count,
                               code->constant_count,
                               code->name_count,
                               code->exception_count,
                               code->inlined_count,
                               r->frozen ? code->state_count : code->position_count};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        expect(r, tables[i] <= (size_t)(r->end - r->at));
    expect(r, code->positional_count <= code->local_count);
    expect(r, code->positional_only_count <= code->positional_count);
    expect(r, code->keyword_only_count <= code->local_count - code->positional_count);
    expect(r, code->free_count <= code->local_count);
    expect(r, (uint64_t)code->word_count * (code->local_count / 64 + 1) <= LARGEST_PROOF);
    expect(r, (code->flags & ~(uint32_t)KNOWN_FLAGS) == 0);
}

static void get_tables(reader *r, dv_code *code) {
    code->words = get_array(r, code->word_count);
    code->constants = get_constants(r, code->constant_count);
    code->names = get_texts(r, code->name_count);
    if (r->frozen)
        get_positions_apart(r, code);
    else
        get_positions(r, code);
    get_exceptions(r, code);
    get_inlined(r, code);
    if (r->frozen) get_states(r, code);
}

/* Passes over the tables of a function in a frozen module (invariant 4). */
static void leave_tables(reader *r, dv_code *code, uint32_t size) {
    code->packed = r->at;
    code->packed_size = size;
    r->at += size;
}

bool dv_code_complete(const dv_code *code) {
    if (!code->packed) return true;
    dv_code *whole = (dv_code *)code; /* code.h, invariant 1 */
    reader r = {.at = code->packed, .unit = code->unit, .frozen = true, .depth = 1};
    r.end = r.at + code->packed_size;
    get_tables(&r, whole);
    if (good(&r)) whole->packed = NULL;
    return good(&r);
}

bool dv_code_find_positions(const dv_code *code) {
    dv_unit *unit = code->unit;
    if (code->positions || !unit->squeezed_positions) return code->positions;
    if (!unit->positions) {
        uint8_t *all = unit->allocate(unit->arena, unit->positions_size + DV_SQUEEZED_SLACK);
        if (!all) return false;
        dv_squeezed_restore(unit->squeezed_positions, all, unit->positions_size);
        unit->positions = all;
    }
    reader r = {.at = unit->positions + code->packed_positions,
                .end = unit->positions + unit->positions_size,
                .unit = unit};
    get_positions(&r, (dv_code *)code); /* code.h, invariant 1 */
    return code->positions;
}

/* After a failure what it has returned is not complete. */
static dv_code *get_code(reader *r) {
    dv_code *code = r->depth < DEEPEST_CODE ? allocate(r, 1, sizeof *code) : NULL;
    expect(r, code != NULL);
    if (!good(r)) return NULL;
    *code = (dv_code){.unit = r->unit};
    uint32_t *counts[] = COUNTS(code);
    r->depth++;
    code->name = get_text(r);
    code->qualname = get_text(r);
    if (get(r)) code->doc = get_text(r);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = get32(r);
    check_counts(r, code);
    if (!good(r)) return NULL;
    code->local_names = get_texts(r, code->local_count);
    code->free_from = get_array(r, code->free_count);
    const uint32_t size = r->frozen ? get_count(r) : 0;
    if (r->frozen && r->depth > 1)
        leave_tables(r, code, size);
    else
        get_tables(r, code);
    r->depth--;
    return code;
}

/* What is run as a module takes nothing from around it. */
static bool is_module(const dv_code *code) {
    const uint32_t others =
        DV_CODE_CLASS | DV_CODE_VARARGS | DV_CODE_VARKEYWORDS | DV_CODE_GENERATOR;
    return code->flags & DV_CODE_MODULE && !(code->flags & others) && code->positional_count == 0 &&
           code->keyword_only_count == 0 && code->free_count == 0;
}

dv_unpack_status dv_unit_unpack(dv_unit *unit, bool frozen, const uint8_t *data, size_t size) {
    reader r = {.at = data, .end = data + size, .unit = unit, .frozen = frozen};
    unit->filename = get_text(&r);
    const dv_code *code = get_code(&r);
    expect(&r, r.at == r.end);
    if (good(&r)) expect(&r, is_module(code));
    unit->code = code;
    return r.status;
}
