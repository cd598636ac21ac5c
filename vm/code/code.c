/* code.c: lookups in the tables of a code object (code.h). */
#include "code/code.h"

const dv_position *dv_code_position(const dv_code *code, uint32_t pc) {
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
