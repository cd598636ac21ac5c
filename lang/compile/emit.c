/* emit.c: building code objects (emit.h). */
#include "lang/compile/emit.h"

#include <string.h>

void dv_emit_begin(dv_emitter *e, dv_front *front) {
    *e = (dv_emitter){0};
    e->front = front;
    e->handler = DV_NO_HANDLER;
    e->reachable = true;
}

static bool reserve(dv_emitter *e, void **items, uint32_t count, uint32_t *capacity, size_t size) {
    return e->front->status == DV_LANG_OK &&
           dv_front_reserve(e->front, items, count, capacity, size);
}

/* ---- Instructions ---- */

static bool same_range(const dv_range *a, const dv_range *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static bool note_range(dv_emitter *e, const dv_range *at) {
    if (e->range_count > 0 && same_range(&e->ranges[e->range_count - 1], at)) return true;
    void *ranges = e->ranges;
    if (!reserve(e, &ranges, e->range_count, &e->range_capacity, sizeof(dv_range))) return false;
    e->ranges = ranges;
    e->ranges[e->range_count++] = *at;
    return true;
}

static bool ends_path(uint8_t op) {
    return op == DV_OP_JUMP || op == DV_OP_JUMP_BACK || op == DV_OP_RETURN || op == DV_OP_RAISE ||
           op == DV_OP_RERAISE || op == DV_OP_YIELD_FROM || op == DV_OP_RETURN_GENERATOR;
}

static void push(dv_emitter *e, uint8_t op, uint8_t operand_count, uint32_t a, uint32_t b,
                 dv_range at) {
    if (!e->reachable) return;
    void *items = e->items;
    if (!reserve(e, &items, e->count, &e->capacity, sizeof(dv_instruction))) return;
    e->items = items;
    if (!note_range(e, &at)) return;
    e->items[e->count++] =
        (dv_instruction){op, operand_count, a, b, e->range_count - 1, e->handler};
    if (e->handler != DV_NO_HANDLER) e->handlers[e->handler].used = true;
    if (ends_path(op)) e->reachable = false;
}

void dv_emit(dv_emitter *e, uint8_t op, dv_range at) { push(e, op, 0, 0, 0, at); }

void dv_emit_a(dv_emitter *e, uint8_t op, uint32_t a, dv_range at) { push(e, op, 1, a, 0, at); }

void dv_emit_ab(dv_emitter *e, uint8_t op, uint32_t a, uint32_t b, dv_range at) {
    push(e, op, 2, a, b, at);
}

dv_range dv_emit_last_range(const dv_emitter *e, dv_range otherwise) {
    const dv_range *last = e->count == 0 ? NULL : &e->ranges[e->items[e->count - 1].range];
    return last == NULL || last->line == 0 ? otherwise : *last;
}

/* ---- Labels ---- */

dv_label dv_emit_new_label(dv_emitter *e) {
    void *labels = e->labels, *used = e->label_used;
    if (!reserve(e, &labels, e->label_count, &e->label_capacity, sizeof(uint32_t)) ||
        !reserve(e, &used, e->label_count, &e->used_capacity, sizeof(bool)))
        return 0;
    e->labels = labels;
    e->label_used = used;
    e->labels[e->label_count] = DV_NO_INDEX;
    e->label_used[e->label_count] = false;
    return e->label_count++;
}

void dv_emit_place(dv_emitter *e, dv_label label) {
    if (e->front->status != DV_LANG_OK) return;
    e->labels[label] = e->count;
    e->reachable = e->reachable || e->label_used[label];
}

dv_label dv_emit_head(dv_emitter *e) {
    dv_label label = dv_emit_new_label(e);
    dv_emit_place(e, label);
    return label;
}

void dv_emit_branch(dv_emitter *e, uint8_t op, dv_label target, uint32_t own, dv_range at) {
    if (!e->reachable || e->front->status != DV_LANG_OK) return;
    e->label_used[target] = true;
    bool has_own = op == DV_OP_JUMP_IF_FALSE || op == DV_OP_JUMP_IF_TRUE ||
                   op == DV_OP_JUMP_IF_BUILTIN; /* of which builtin it is */
    push(e, op, has_own ? 2 : 1, target, own, at);
}

void dv_emit_jump(dv_emitter *e, uint8_t op, dv_label target, dv_range at) {
    dv_emit_branch(e, op, target, 0, at);
}

/* ---- Exception handlers ---- */

uint32_t dv_emit_new_handler(dv_emitter *e, uint32_t depth) {
    dv_label label = dv_emit_new_label(e);
    void *handlers = e->handlers;
    if (!reserve(e, &handlers, e->handler_count, &e->handler_capacity, sizeof(dv_handler_entry)))
        return DV_NO_HANDLER;
    e->handlers = handlers;
    e->handlers[e->handler_count] = (dv_handler_entry){label, depth, false};
    return e->handler_count++;
}

dv_label dv_emit_handler_label(const dv_emitter *e, uint32_t handler) {
    return handler == DV_NO_HANDLER ? 0 : e->handlers[handler].label;
}

void dv_emit_place_handler(dv_emitter *e, uint32_t handler) {
    if (e->front->status != DV_LANG_OK) return;
    dv_emit_place(e, e->handlers[handler].label);
    e->reachable = e->reachable || e->handlers[handler].used;
}

/* ---- Names ---- */

uint32_t dv_emit_name(dv_emitter *e, const dv_name *name) {
    uint32_t index = dv_index_map_get(&e->name_map, name);
    if (index != DV_NO_INDEX) return index;
    void *names = e->names;
    if (!reserve(e, &names, e->name_count, &e->name_capacity, sizeof(dv_text))) return 0;
    e->names = names;
    if (!dv_index_map_put(e->front, &e->name_map, name, e->name_count)) return 0;
    e->names[e->name_count] = name->text;
    return e->name_count++;
}

/* ---- Constants ---- */

static uint32_t hash_constant(const dv_const *constant) {
    uint32_t seed = (uint32_t)constant->kind * 0x9E3779B9u;
    switch (constant->kind) {
    case DV_CONST_INT:
        return dv_hash_bytes(&constant->as.integer, sizeof constant->as.integer, seed);
    case DV_CONST_FLOAT:
    case DV_CONST_COMPLEX: return dv_hash_bytes(&constant->as.real, sizeof(double), seed);
    case DV_CONST_BIGINT:
    case DV_CONST_STR:
    case DV_CONST_BYTES: return dv_hash_bytes(constant->as.text.data, constant->as.text.size, seed);
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET:
        return dv_hash_bytes(constant->as.tuple.items, constant->as.tuple.count * sizeof(uint32_t),
                             seed);
    case DV_CONST_CODE: return dv_hash_bytes(&constant->as.code, sizeof constant->as.code, seed);
    default: return seed;
    }
}

/* The slot of an equal constant, or the free slot for it. */
static uint32_t *find_slot(dv_constant_table *table, const dv_const *constant) {
    uint32_t mask = table->slot_count - 1, at = hash_constant(constant);
    while (table->slots[at & mask] != 0 &&
           !dv_const_is_same(&table->items[table->slots[at & mask] - 1], constant))
        at++;
    return &table->slots[at & mask];
}

static bool grow_slots(dv_emitter *e, dv_constant_table *table) {
    uint32_t count = table->slot_count == 0 ? 32 : table->slot_count * 2;
    uint32_t *slots = dv_front_scratch(e->front, count * sizeof *slots);
    if (slots == NULL) return false;
    table->slots = slots;
    table->slot_count = count;
    for (uint32_t i = 0; i < table->count; i++) *find_slot(table, &table->items[i]) = i + 1;
    return true;
}

static uint32_t add_constant(dv_emitter *e, const dv_const *constant) {
    dv_constant_table *table = &e->constants;
    if (e->front->status != DV_LANG_OK) return 0;
    if (table->count * 2 >= table->slot_count && !grow_slots(e, table)) return 0;
    uint32_t *slot = find_slot(table, constant);
    if (*slot != 0) return *slot - 1;
    void *items = table->items;
    if (!reserve(e, &items, table->count, &table->capacity, sizeof(dv_const))) return 0;
    table->items = items;
    table->items[table->count++] = *constant;
    *slot = table->count;
    return table->count - 1;
}

/* Tuples (and frozensets) of tuples nest no deeper than their source does (parser.h). */
static uint32_t add_tuple(dv_emitter *e, const dv_literal *literal) {
    uint32_t count = literal->as.tuple.count;
    uint32_t *items = dv_front_keep(e->front, count * sizeof *items);
    if (items == NULL) return 0;
    for (uint32_t i = 0; i < count; i++)
        items[i] = dv_emit_constant(e, &literal->as.tuple.items[i]);
    dv_const constant = {.kind = literal->kind};
    constant.as.tuple.items = items;
    constant.as.tuple.count = count;
    return add_constant(e, &constant);
}

uint32_t dv_emit_constant(dv_emitter *e, const dv_literal *literal) {
    if (!e->reachable) return 0;
    if (literal->kind == DV_CONST_TUPLE || literal->kind == DV_CONST_FROZENSET)
        return add_tuple(e, literal);
    dv_const constant = {.kind = literal->kind};
    if (literal->kind == DV_CONST_INT) constant.as.integer = literal->as.integer;
    if (literal->kind == DV_CONST_FLOAT || literal->kind == DV_CONST_COMPLEX)
        constant.as.real = literal->as.real;
    if (literal->kind == DV_CONST_BIGINT || literal->kind == DV_CONST_STR ||
        literal->kind == DV_CONST_BYTES)
        constant.as.text = literal->as.text;
    return add_constant(e, &constant);
}

uint32_t dv_emit_none(dv_emitter *e) {
    dv_const constant = {.kind = DV_CONST_NONE};
    return e->reachable ? add_constant(e, &constant) : 0;
}

uint32_t dv_emit_text(dv_emitter *e, dv_text text) {
    dv_const constant = {.kind = DV_CONST_STR, .as.text = text};
    return e->reachable ? add_constant(e, &constant) : 0;
}

uint32_t dv_emit_code(dv_emitter *e, const dv_code *code) {
    dv_const constant = {.kind = DV_CONST_CODE, .as.code = code};
    return e->reachable ? add_constant(e, &constant) : 0;
}

/* ---- Finishing ---- */

static bool is_jump(uint8_t op) {
    switch (op) {
    case DV_OP_JUMP:
    case DV_OP_JUMP_BACK:
    case DV_OP_JUMP_IF_FALSE:
    case DV_OP_JUMP_IF_TRUE:
    case DV_OP_JUMP_IF_BUILTIN:
    case DV_OP_JUMP_IF_FALSE_OR_POP:
    case DV_OP_JUMP_IF_TRUE_OR_POP:
    case DV_OP_FOR_ITER:
    case DV_OP_SEND:
    case DV_OP_YIELD_FROM: return true;
    default: return false;
    }
}

/* Labels become positions; jumps to jumps go to the last one's target.  Only forward jumps are
 * followed, so there is no cycle, and a jump never becomes a backward one. */
static void thread_jumps(dv_emitter *e) {
    for (uint32_t i = 0; i < e->count; i++)
        if (is_jump(e->items[i].op)) e->items[i].a = e->labels[e->items[i].a];
    for (uint32_t i = e->count; i-- > 0;) {
        dv_instruction *jump = &e->items[i];
        if (!is_jump(jump->op) || jump->op == DV_OP_JUMP_BACK) continue;
        if (e->items[jump->a].op == DV_OP_JUMP) jump->a = e->items[jump->a].a;
    }
}

typedef struct reach {
    bool *seen;
    uint32_t *stack;
    uint32_t stack_count;
} reach;

static void visit(reach *r, uint32_t index) {
    if (r->seen[index]) return;
    r->seen[index] = true;
    r->stack[r->stack_count++] = index;
}

static bool *find_reachable(dv_emitter *e) {
    reach r = {dv_front_scratch(e->front, e->count), NULL, 0};
    r.stack = dv_front_scratch(e->front, e->count * sizeof *r.stack);
    if (r.seen == NULL || r.stack == NULL) return NULL;
    visit(&r, 0);
    while (r.stack_count > 0) {
        uint32_t index = r.stack[--r.stack_count];
        const dv_instruction *item = &e->items[index];
        if (is_jump(item->op)) visit(&r, item->a);
        if (!ends_path(item->op)) visit(&r, index + 1);
        if (item->handler != DV_NO_HANDLER) visit(&r, e->labels[e->handlers[item->handler].label]);
    }
    return r.seen;
}

/* A jump to the next instruction is dropped too. */
static void drop_empty_jumps(const dv_emitter *e, bool *kept) {
    uint32_t next = e->count;
    for (uint32_t i = e->count; i-- > 0;) {
        if (!kept[i]) continue;
        if (e->items[i].op == DV_OP_JUMP && e->items[i].a == next)
            kept[i] = false;
        else
            next = i;
        if (e->items[i].op == DV_OP_JUMP && !kept[i]) e->items[i].a = next;
    }
}

/* The pc of each instruction; of a dropped one, that of the next kept. */
static uint32_t *number(dv_emitter *e, const bool *kept, uint32_t *size) {
    uint32_t *pcs = dv_front_scratch(e->front, ((size_t)e->count + 1) * sizeof *pcs);
    if (pcs == NULL) return NULL;
    uint32_t pc = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        pcs[i] = pc;
        uint32_t words = e->items[i].operand_count > 1 ? e->items[i].operand_count : 1;
        if (kept[i]) pc += words;
    }
    pcs[e->count] = pc;
    *size = pc;
    return pcs;
}

static bool fits(dv_front *front, uint32_t value) {
    if (value < 1u << 24) return true;
    dv_front_error(front, (dv_range){1, 0, 1, 0}, "the source is too large");
    return false;
}

static bool write_words(dv_emitter *e, dv_code *code, const bool *kept, const uint32_t *pcs,
                        uint32_t size) {
    uint32_t *words = dv_front_keep(e->front, size * sizeof *words);
    if (words == NULL) return false;
    for (uint32_t i = 0; i < e->count; i++) {
        const dv_instruction *item = &e->items[i];
        if (!kept[i]) continue;
        uint32_t a = is_jump(item->op) ? pcs[item->a] : item->a;
        if (!fits(e->front, a)) return false;
        words[pcs[i]] = item->op | a << 8;
        if (item->operand_count > 1) words[pcs[i] + 1] = item->b;
        e->has_loop = e->has_loop || item->op == DV_OP_JUMP_BACK;
    }
    code->words = words;
    code->word_count = size;
    return true;
}

static uint16_t narrow(uint32_t column) {
    return column > UINT16_MAX ? UINT16_MAX : (uint16_t)column;
}

static bool write_positions(dv_emitter *e, dv_code *code, const bool *kept, const uint32_t *pcs) {
    uint32_t count = 0, last = DV_NO_INDEX;
    for (uint32_t i = 0; i < e->count; i++)
        if (kept[i] && e->items[i].range != last) count++, last = e->items[i].range;
    dv_position *positions = dv_front_keep(e->front, count * sizeof *positions);
    if (positions == NULL) return false;
    code->positions = positions;
    code->position_count = count;
    last = DV_NO_INDEX;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!kept[i] || e->items[i].range == last) continue;
        last = e->items[i].range;
        const dv_range *at = &e->ranges[last];
        *positions++ = (dv_position){pcs[i], at->line, at->end_line, narrow(at->column),
                                     narrow(at->end_column)};
    }
    return true;
}

/* Calls back for each run of kept instructions with one handler; returns how many there are. */
static uint32_t handler_runs(const dv_emitter *e, const bool *kept, const uint32_t *pcs,
                             dv_exception_entry *out) {
    uint32_t count = 0, current = DV_NO_HANDLER;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!kept[i]) continue;
        uint32_t handler = e->items[i].handler;
        if (handler != current && handler != DV_NO_HANDLER) {
            const dv_handler_entry *entry = &e->handlers[handler];
            if (out != NULL)
                out[count] =
                    (dv_exception_entry){pcs[i], 0, pcs[e->labels[entry->label]], entry->depth};
            count++;
        }
        current = handler;
        uint32_t words = e->items[i].operand_count > 1 ? e->items[i].operand_count : 1;
        if (out != NULL && handler != DV_NO_HANDLER) out[count - 1].end = pcs[i] + words;
    }
    return count;
}

static bool write_exceptions(dv_emitter *e, dv_code *code, const bool *kept, const uint32_t *pcs) {
    uint32_t count = handler_runs(e, kept, pcs, NULL);
    dv_exception_entry *entries = dv_front_keep(e->front, count * sizeof *entries);
    if (entries == NULL) return false;
    handler_runs(e, kept, pcs, entries);
    code->exceptions = entries;
    code->exception_count = count;
    return true;
}

void dv_emit_inlined(dv_emitter *e, const dv_inlined_code *place) {
    if (place->begin == e->count) return; /* unreachable */
    void *items = e->inlined;
    if (!dv_front_reserve(e->front, &items, e->inlined_count, &e->inlined_capacity,
                          sizeof *e->inlined))
        return;
    e->inlined = items;
    e->inlined[e->inlined_count] = *place;
    e->inlined[e->inlined_count++].end = e->count;
}

static bool write_inlined(dv_emitter *e, dv_code *code, const uint32_t *pcs) {
    dv_inlined_code *inlined = dv_front_keep(e->front, e->inlined_count * sizeof *inlined);
    if (inlined == NULL) return false;
    for (uint32_t i = 0; i < e->inlined_count; i++) {
        dv_inlined_code place = e->inlined[i];
        place.begin = pcs[place.begin], place.end = pcs[place.end], place.call = pcs[place.call];
        if (place.taking != DV_NO_TAKING) {
            place.taking = pcs[place.taking], place.taken = pcs[place.taken];
            if (place.taking == place.taken) place.taking = DV_NO_TAKING; /* unreachable */
        }
        if (place.begin < place.end) inlined[code->inlined_count++] = place;
    }
    code->inlined = inlined;
    return true;
}

static void *keep_array(dv_emitter *e, const void *items, size_t size) {
    void *copy = dv_front_keep(e->front, size);
    if (copy != NULL && size != 0) memcpy(copy, items, size);
    return copy;
}

static bool write_tables(dv_emitter *e, dv_code *code) {
    code->constants = keep_array(e, e->constants.items, e->constants.count * sizeof(dv_const));
    code->constant_count = e->constants.count;
    code->names = keep_array(e, e->names, e->name_count * sizeof(dv_text));
    code->name_count = e->name_count;
    if (e->has_loop) code->flags |= DV_CODE_HAS_LOOP;
    return e->front->status == DV_LANG_OK;
}

bool dv_emit_finish(dv_emitter *e, dv_code *code) {
    if (e->front->status != DV_LANG_OK) return false;
    thread_jumps(e);
    bool *kept = find_reachable(e);
    if (kept == NULL) return false;
    drop_empty_jumps(e, kept);
    uint32_t size;
    uint32_t *pcs = number(e, kept, &size);
    if (pcs == NULL || !fits(e->front, size)) return false;
    return write_words(e, code, kept, pcs, size) && write_positions(e, code, kept, pcs) &&
           write_exceptions(e, code, kept, pcs) && write_inlined(e, code, pcs) &&
           write_tables(e, code);
}
