/* split.h: split, rsplit and splitlines, which str, bytes and bytearray share.
 *
 * Where to cut is the same for all of them; what a piece is, and which characters are spaces and
 * ends of lines, is the subject's. */
#ifndef DV_TYPES_SPLIT_H
#define DV_TYPES_SPLIT_H

#include "types/text/str.h"

/* What is cut; all borrowed. */
typedef struct dv_split_subject {
    dv_value self;
    const dv_str *text; /* its contents */
    bool unicode;       /* spaces and ends of lines as in str, otherwise as in bytes */
    dv_value (*piece)(dv_vm *vm, dv_value self, int64_t start, int64_t stop); /* new */
} dv_split_subject;

/* Is it white space in bytes, or in str (`unicode`)? */
bool dv_split_is_space(uint32_t c, bool unicode);

/* Sorts the arguments of split(sep=None, maxsplit=-1), self not among them.  *separator: borrowed,
 * None where there is none; *limit: of cuts, INT64_MAX for no limit.  False: raised. */
bool dv_split_arguments(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                        bool from_right, dv_value *separator, int64_t *limit);

/* A new list of the pieces between the separators (NULL: runs of white space), after at most
 * `limit` cuts.  EMPTY: raised; an empty separator is a ValueError. */
dv_value dv_split(dv_vm *vm, const dv_split_subject *subject, const dv_str *separator,
                  int64_t limit, bool from_right);

/* The argument of splitlines(keepends=False), self not among the arguments.  False: raised. */
bool dv_split_lines_arguments(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                              bool *keep_ends);

/* A new list of the lines.  EMPTY: raised. */
dv_value dv_split_lines(dv_vm *vm, const dv_split_subject *subject, bool keep_ends);

#endif
