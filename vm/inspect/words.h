/* words.h: instructions in words: one line of a listing, operands, and what inline caches hold. */
#ifndef DV_INSPECT_WORDS_H
#define DV_INSPECT_WORDS_H

#include "run/thread.h"

/* A line that is being written; what does not fit is dropped. */
typedef struct dv_line {
    size_t size;
    uint32_t width; /* code points */
    char text[1024];
} dv_line;

void dv_line_put(dv_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dv_line_text(dv_line *line, const char *utf8, size_t size);
/* Spaces up to a column; at least two if the line has come as far already. */
void dv_line_column(dv_line *line, uint32_t column);

/* The operands of the generic instruction at pc. */
void dv_words_operands(dv_vm *vm, dv_line *line, const dv_code *code, uint32_t pc);

/* What the site at pc has become: the derivative's name, its cache, and its counters.  Writes
 * nothing if the instruction is still the generic one. */
void dv_words_site(dv_vm *vm, dv_line *line, const dv_thread *thread, uint32_t pc);

#endif
