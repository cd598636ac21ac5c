/* liveness.h: which locals a program may still read. */
#ifndef DV_CODE_LIVENESS_H
#define DV_CODE_LIVENESS_H

#include "code/code.h"

/* Locals that are told apart; all others count as live everywhere. */
#define DV_LIVENESS_LOCALS 64

/* Fills `live`, with room for `code->word_count` sets: bit i of the set at pc says that on some way
 * from the instruction there local i is read before it is stored to. */
void dv_code_liveness(const dv_code *code, uint64_t *live);

static inline bool dv_is_live(uint64_t set, uint32_t local) {
    return local >= DV_LIVENESS_LOCALS || set >> local & 1;
}

#endif
