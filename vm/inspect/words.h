/* words.h: instructions in words: one line of a listing, operands, and what inline caches hold. */
#ifndef DV_INSPECT_WORDS_H
#define DV_INSPECT_WORDS_H

#include "inspect/page.h"
#include "inspect/profile.h"
#include "inspect/page.h"
#include "inspect/profile.h"

/* The operands of the generic instruction at pc. */
void dv_words_operands(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc);

/* What the site at pc has become: the derivative's name, its cache, and its counters.  Writes
 * nothing if the instruction is still the generic one. */
void dv_words_site(dv_vm *vm, dv_line *line, const dv_thread *thread, uint32_t pc);

/* What a profile remembers of an operand: a type, or which callee. */
void dv_words_key(dv_vm *vm, dv_line *line, dv_operand_key key);
/* Of all operands, as "int, str". */
void dv_words_operand_types(dv_vm *vm, dv_line *line, const dv_operands *operands);

/* Instances of this shape: a built-in type by its name, or "C with 2 attributes". */
void dv_words_shape(dv_vm *vm, dv_line *line, uint32_t shape);

#endif
