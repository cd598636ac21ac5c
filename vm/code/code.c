/* code.c: lookups in the tables of a code object (code.h). */
#include "code/code.h"

#include <string.h>

#include "code/pack.h"
#include "dv_ops.h"

const dv_position *dv_code_position(const dv_code *code, uint32_t pc) {
    if (!code->positions && !dv_code_find_positions(code)) return NULL;
    uint32_t low = 0, high = code->position_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (code->positions[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &code->positions[low - 1];
}

const dv_exception_entry *dv_code_handler(const dv_code *code, uint32_t pc) {
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *entry = &code->exceptions[i];
        if (entry->begin <= pc && pc < entry->end) return entry;
    }
    return NULL;
}

const char *const dv_consumer_names[DV_CONSUMERS] = {
    "", "sum", "any", "all", "list", "tuple", "set", "dict", "sorted", "min", "max", "next"};

const dv_inlined_code *dv_code_inlined(const dv_code *code, uint32_t pc) {
    for (uint32_t i = 0; i < code->inlined_count; i++)
        if (code->inlined[i].begin <= pc && pc < code->inlined[i].end) return &code->inlined[i];
    return NULL;
}

dv_text dv_comprehension_name(dv_comprehension kind) {
    static const dv_text names[] = {
        {"<listcomp>", 10}, {"<setcomp>", 9}, {"<dictcomp>", 10}, {"<genexpr>", 9}};
    return names[kind];
}

dv_text dv_code_name_at(const dv_code *code, uint32_t pc) {
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *inlined = &code->inlined[i];
        if (inlined->begin <= pc && pc < inlined->end && !dv_inlined_takes(inlined, pc))
            return dv_comprehension_name((dv_comprehension)inlined->kind);
    }
    return code->name;
}

bool dv_text_is_same(dv_text a, dv_text b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool dv_const_is_same(const dv_const *a, const dv_const *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case DV_CONST_INT: return a->as.integer == b->as.integer;
    case DV_CONST_FLOAT:
    case DV_CONST_COMPLEX: return memcmp(&a->as.real, &b->as.real, sizeof a->as.real) == 0;
    case DV_CONST_BIGINT:
    case DV_CONST_STR:
    case DV_CONST_BYTES: return dv_text_is_same(a->as.text, b->as.text);
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET:
        return a->as.tuple.count == b->as.tuple.count &&
               (a->as.tuple.count == 0 || memcmp(a->as.tuple.items, b->as.tuple.items,
                                                 a->as.tuple.count * sizeof(uint32_t)) == 0);
    case DV_CONST_CODE: return a->as.code == b->as.code;
    default: return true;
    }
}

static bool is_among(dv_text name, const dv_text *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (dv_text_is_same(names[i], name)) return true;
    return false;
}

/* The object that is stored to is loaded last, so it stands directly before STORE_ATTR. */
uint32_t dv_code_stored_attributes(const dv_code *code, dv_text *names, uint32_t count,
                                   uint32_t limit) {
    if (!dv_code_complete(code)) return count;
    bool self = false;
    for (uint32_t pc = 0; pc < code->word_count && count < limit;) {
        uint32_t op = code->words[pc] & 0xFF, operand = code->words[pc] >> 8;
        if (op == DV_OP_STORE_ATTR && self && !is_among(code->names[operand], names, count))
            names[count++] = code->names[operand];
        self = operand == 0 && (op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B);
        pc += dv_op_infos[op].operand_count > 1 ? dv_op_infos[op].operand_count : 1;
    }
    return count;
}
