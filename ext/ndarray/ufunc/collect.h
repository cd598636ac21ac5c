/* collect.h: walks whose rows are short: many rows are collected into buffers, and done as one.
 *
 * Invariants
 *  1. The row function gets the same elements in the same order as from walk_run, in longer rows;
 *     an operand is where it is, or in a buffer.
 *  2. The last operand is the output, the others are not written.  An input that shares memory with
 *     the output is the output, element for element. */
#ifndef ND_COLLECT_H
#define ND_COLLECT_H

#include "ufunc/walk.h"

/* Does it pay?  After walk_plan. */
bool collect_pays(const nd_walk *walk);
/* walk_run in rows of some hundred elements; sizes: of the operands' elements, powers of 2 up to
 * 16. */
bool collect_run(dvx_vm *vm, const nd_walk *walk, const int64_t *sizes, nd_row row, void *context);

/* Copies rows of elements of this size to where they are not. */
void collect_rows(int64_t size, char *to, int64_t to_row, int64_t to_step, const char *from,
                  int64_t from_row, int64_t from_step, int64_t rows, int64_t columns);

#endif
