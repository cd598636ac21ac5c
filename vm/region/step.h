/* step.h: the transfer function of instructions (step.c) and what it needs from the builder. */
#ifndef DV_REGION_STEP_H
#define DV_REGION_STEP_H

#include "region/build.h"

/* Raw form of an int or bool constant. */
static inline int64_t dv_raw_int(dv_value v) {
    return dv_is_int(v) ? dv_as_int(v) : v.bits == DV_TRUE.bits;
}

uint32_t dv_word_operand(const dv_build *b, uint32_t pc, uint32_t i);
const dv_cell *dv_site_cell(const dv_build *b, uint32_t pc);
/* Raw entry q into r or d. */
void dv_load_register(dv_build *b, int32_t q);
/* The n topmost entries become RESERVED. */
void dv_mark_reserved(dv_build *b, int32_t n);

#endif
