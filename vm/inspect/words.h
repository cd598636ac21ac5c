/* words.h: things in words: operands, constants, types, source lines. */
#ifndef DV_INSPECT_WORDS_H
#define DV_INSPECT_WORDS_H

#include "inspect/page.h"
#include "inspect/profile.h"

/* The operands of the generic instruction at pc. */
void dv_words_operands(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc);

/* The generic instruction at pc, as "ADD own=b at 12". */
void dv_words_instruction(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc);

/* A str, clipped; a question mark for anything else. */
void dv_words_name(dv_vm *vm, dv_line *line, dv_value name);

/* What a profile remembers of an operand: a type, or which callee. */
void dv_words_key(dv_vm *vm, dv_line *line, dv_operand_key key);
/* Of all operands, as "int, str". */
void dv_words_operand_types(dv_vm *vm, dv_line *line, const dv_operands *operands);

/* Instances of this shape: a built-in type by its name, or "C with 2 attributes". */
void dv_words_shape(dv_vm *vm, dv_line *line, uint32_t shape);

/* All that a site remembers, as "int, int; float, int; and others". */
void dv_words_types_seen(dv_vm *vm, dv_line *line, const dv_types_seen *types);

const char *dv_words_level(const dv_vm *vm); /* the VM's highest */

/* The text of a source line without its end; empty where the unit has none.  Takes time in
 * proportion to the lines in front of it. */
dv_text dv_words_source_line(const dv_unit *unit, uint32_t number);

#endif
