/* caret.h: which part of an expression a traceback's carets point at (PEP 657). */
#ifndef DV_REPORT_CARET_H
#define DV_REPORT_CARET_H

#include "core/vm.h"

/* The text of one expression: if its outermost operation is a binary operator or a subscript, the
 * byte offsets of the operator or of the subscript's brackets, exactly as CPython 3.11 marks them
 * (its quirks with parentheses included); false: there is nothing to mark. */
bool dv_caret_anchors(dv_vm *vm, const char *segment, size_t size, size_t *left, size_t *right);

#endif
