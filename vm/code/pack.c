/* pack.c: units as bytes (pack.h). */
#include "code/pack.h"

#include <string.h>

/* ---- Writing ----------------------------------------------------------------------------------*/

typedef struct writer {
    dv_pack_sink sink;
    void *context;
    dv_text source;
    size_t memory; /* that the reader needs */
} writer;

static size_t rounded(size_t size) { return (size + 7) & ~(size_t)7; }

static void put(writer *w, uint64_t number) {
    for (; number >= 0x80; number >>= 7) w->sink(w->context, (uint8_t)(number | 0x80));
    w->sink(w->context, (uint8_t)number);
}

static void put_signed(writer *w, int64_t number) {
    put(w, number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1);
}

static void put_text(writer *w, dv_text text) {
    bool quotes =
        text.size > 0 && text.data >= w->source.data && text.data < w->source.data + w->source.size;
    put(w, (uint64_t)text.size << 1 | !quotes);
    if (quotes) {
        put(w, (uint64_t)(text.data - w->source.data));
        return;
    }
    for (uint32_t i = 0; i < text.size; i++) w->sink(w->context, (uint8_t)text.data[i]);
}

static void put_array(writer *w, const uint32_t *items, uint32_t count) {
    w->memory += rounded(count * sizeof *items);
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
    w->memory += rounded(count * sizeof *texts);
    for (uint32_t i = 0; i < count; i++) put_text(w, texts[i]);
}

static void put_positions(writer *w, const dv_code *code) {
    dv_position before = {.line = code->first_line};
    w->memory += rounded(code->position_count * sizeof before);
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

static void put_states(writer *w, const dv_code *code) {
    w->memory += rounded(code->state_count * sizeof *code->states);
    for (uint32_t i = 0; i < code->state_count; i++) {
        const dv_stack_state *state = &code->states[i];
        put(w, (uint32_t)(state->below + 1));
        put(w, (uint32_t)(state->local + 1));
        put(w, state->depth);
        put(w, state->kind);
    }
    w->memory += rounded(code->word_count * sizeof *code->state_at);
    for (uint32_t i = 0; i < code->word_count; i++) put(w, (uint32_t)(code->state_at[i] + 1));
}

/* The tables behind the counts. */
static void put_tables(writer *w, const dv_code *code) {
    put_array(w, code->words, code->word_count);
    w->memory += rounded(code->constant_count * sizeof *code->constants);
    for (uint32_t i = 0; i < code->constant_count; i++) put_constant(w, &code->constants[i]);
    put_texts(w, code->names, code->name_count);
    put_texts(w, code->local_names, code->local_count);
    put_array(w, code->free_from, code->free_count);
    put_positions(w, code);
    w->memory += rounded(code->exception_count * sizeof *code->exceptions);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *entry = &code->exceptions[i];
        put(w, entry->begin);
        put(w, entry->end);
        put(w, entry->handler);
        put(w, entry->depth);
    }
    w->memory += rounded(code->inlined_count * sizeof *code->inlined);
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
    put_states(w, code);
}

#define COUNTS(code)                                                                               \
    {                                                                                              \
        &(code)->flags, &(code)->first_line, &(code)->positional_count,                            \
            &(code)->positional_only_count, &(code)->keyword_only_count, &(code)->local_count,     \
            &(code)->max_stack, &(code)->word_count, &(code)->constant_count, &(code)->name_count, \
            &(code)->free_count, &(code)->position_count, &(code)->exception_count,                \
            &(code)->inlined_count, &(code)->state_count                                           \
    }

static void put_code(writer *w, const dv_code *code) {
    const uint32_t *counts[] = COUNTS(code);
    w->memory += rounded(sizeof *code);
    put_text(w, code->name);
    put_text(w, code->qualname);
    put(w, code->doc.data != NULL);
    if (code->doc.data) put_text(w, code->doc);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) put(w, *counts[i]);
    put_tables(w, code);
}

static void drop(void *context, uint8_t byte) { (void)context, (void)byte; }

static void put_unit(writer *w, const dv_unit *unit) {
    w->memory += rounded(sizeof *unit);
    put_text(w, unit->filename);
    put_code(w, unit->code);
}

void dv_unit_pack(const dv_unit *unit, dv_pack_sink sink, void *context) {
    writer trial = {.sink = drop, .source = unit->source};
    put_unit(&trial, unit);
    writer w = {.sink = sink, .context = context, .source = unit->source};
    put(&w, trial.memory);
    put_unit(&w, unit);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

typedef struct reader {
    const uint8_t *at;
    char *memory;
    dv_unit *unit;
} reader;

static inline uint64_t get(reader *r) {
    uint64_t number = *r->at++;
    if (number < 0x80) return number;
    number &= 0x7F;
    for (int shift = 7;; shift += 7) {
        uint64_t byte = *r->at++;
        number |= (byte & 0x7F) << shift;
        if (byte < 0x80) return number;
    }
}

static inline uint32_t get32(reader *r) { return (uint32_t)get(r); }

static inline int64_t get_signed(reader *r) {
    uint64_t number = get(r);
    return number & 1 ? (int64_t) ~(number >> 1) : (int64_t)(number >> 1);
}

static void *allocate(reader *r, size_t size) {
    void *block = r->memory;
    r->memory += rounded(size);
    return block;
}

static dv_text get_text(reader *r) {
    uint64_t size = get(r);
    dv_text text = {NULL, (uint32_t)(size >> 1)};
    if (size & 1) {
        text.data = (const char *)r->at;
        r->at += text.size;
    } else {
        text.data = r->unit->source.data + get(r);
    }
    return text;
}

static uint32_t *get_array(reader *r, uint32_t count) {
    uint32_t *items = allocate(r, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++) items[i] = get32(r);
    return items;
}

static dv_code *get_code(reader *r);

static void get_constant(reader *r, dv_const *constant) {
    constant->kind = (dv_const_kind)get(r);
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
    case DV_CONST_BIGINT:
    case DV_CONST_STR:
    case DV_CONST_BYTES: constant->as.text = get_text(r); break;
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET:
        constant->as.tuple.count = get32(r);
        constant->as.tuple.items = get_array(r, constant->as.tuple.count);
        break;
    case DV_CONST_CODE: constant->as.code = get_code(r); break;
    }
}

static dv_text *get_texts(reader *r, uint32_t count) {
    dv_text *texts = allocate(r, count * sizeof *texts);
    for (uint32_t i = 0; i < count; i++) texts[i] = get_text(r);
    return texts;
}

static void get_positions(reader *r, dv_code *code) {
    dv_position p = {.line = code->first_line};
    dv_position *positions = allocate(r, code->position_count * sizeof p);
    for (uint32_t i = 0; i < code->position_count; i++) {
        p.pc += get32(r);
        p.line += (uint32_t)get_signed(r);
        p.end_line = p.line + (uint32_t)get_signed(r);
        p.column = (uint16_t)(p.column + get_signed(r));
        p.end_column = (uint16_t)(p.column + get_signed(r));
        positions[i] = p;
    }
    code->positions = positions;
}

static void get_exceptions(reader *r, dv_code *code) {
    dv_exception_entry *entries = allocate(r, code->exception_count * sizeof *entries);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        entries[i].begin = get32(r);
        entries[i].end = get32(r);
        entries[i].handler = get32(r);
        entries[i].depth = get32(r);
    }
    code->exceptions = entries;
}

static void get_inlined(reader *r, dv_code *code) {
    dv_inlined_code *inlined = allocate(r, code->inlined_count * sizeof *inlined);
    for (uint32_t i = 0; i < code->inlined_count; i++) {
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

static void get_states(reader *r, dv_code *code) {
    dv_stack_state *states = allocate(r, code->state_count * sizeof *states);
    for (uint32_t i = 0; i < code->state_count; i++) {
        states[i].below = get32(r) - 1;
        states[i].local = get32(r) - 1;
        states[i].depth = (uint16_t)get(r);
        states[i].kind = (uint8_t)get(r);
    }
    code->states = states;
    uint32_t *state_at = allocate(r, code->word_count * sizeof *state_at);
    for (uint32_t i = 0; i < code->word_count; i++) state_at[i] = get32(r) - 1;
    code->state_at = state_at;
}

static dv_code *get_code(reader *r) {
    dv_code *code = allocate(r, sizeof *code);
    uint32_t *counts[] = COUNTS(code);
    code->unit = r->unit;
    code->name = get_text(r);
    code->qualname = get_text(r);
    if (get(r)) code->doc = get_text(r);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = get32(r);
    code->words = get_array(r, code->word_count);
    dv_const *constants = allocate(r, code->constant_count * sizeof *constants);
    for (uint32_t i = 0; i < code->constant_count; i++) get_constant(r, &constants[i]);
    code->constants = constants;
    code->names = get_texts(r, code->name_count);
    code->local_names = get_texts(r, code->local_count);
    code->free_from = get_array(r, code->free_count);
    get_positions(r, code);
    get_exceptions(r, code);
    get_inlined(r, code);
    get_states(r, code);
    return code;
}

size_t dv_unit_unpack_size(const uint8_t *data) {
    reader r = {.at = data};
    return (size_t)get(&r);
}

dv_unit *dv_unit_unpack(const uint8_t *data, dv_text source, void *memory) {
    reader r = {.at = data, .memory = memory};
    (void)get(&r);
    dv_unit *unit = r.unit = allocate(&r, sizeof *unit);
    unit->source = source;
    unit->references = 1;
    unit->filename = get_text(&r);
    unit->code = get_code(&r);
    return unit;
}
