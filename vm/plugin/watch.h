/* watch.h: what the two watching tables have in common: the call trace (trace.h) and the debug
 * table (debug.h) write lines of text that say what an extension does, and where.
 *
 * Invariants
 *  1. To show a value runs no dl code, raises nothing and allocates nothing.
 *  2. A line that is too long is cut; it never fails. */
#ifndef DV_PLUGIN_WATCH_H
#define DV_PLUGIN_WATCH_H

#include "plugin/extension.h"

/* What dv_vm.watch_extensions may have. */
enum { DV_WATCH_DEBUG = 1, DV_WATCH_TRACE = 2 };

typedef struct dv_watch_line {
    size_t size;
    char text[600];
} dv_watch_line;

/* A place in the program: the instruction that runs. */
typedef struct dv_watch_place {
    dv_text file; /* data NULL: no dl code runs.  Lives as long as the code. */
    uint32_t line;
} dv_watch_place;

dv_watch_place dv_watch_here(dv_vm *vm);

void dv_watch_put(dv_watch_line *line, const char *text);
void dv_watch_put_some(dv_watch_line *line, const char *text, size_t size);
/* As printf; the text is short. */
void dv_watch_put_format(dv_watch_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, a short str, None and the like as they are; of others the type: <list>. */
void dv_watch_put_value(dv_vm *vm, dv_watch_line *line, dv_value v);
/* Bytes in quotes, what is not ASCII as escapes, cut after some. */
void dv_watch_put_text(dv_watch_line *line, const char *text, size_t size);
void dv_watch_put_double(dv_watch_line *line, double d);
/* Name of the value's type. */
void dv_watch_put_type(dv_vm *vm, dv_watch_line *line, dv_value v);

/* Hands the line and a newline to the embedder. */
void dv_watch_write(dv_vm *vm, dv_watch_line *line);

#endif
