/* trace.h: the call trace: a table that prints every call of the stable table, and what it gave.
 *
 * The table itself is generated (gen/templates/extension_trace.c.mako); this is what it is made of.
 * A call is one line, "name(arguments) -> result".  Where other calls of the table happen
 * meanwhile, the line is printed before them, they are indented, and the result follows on a line
 * of its own.
 *
 * Invariant 1: calls in progress are a chain on the C stack, plugins->tracing is the innermost. */
#ifndef DV_PLUGIN_TRACE_H
#define DV_PLUGIN_TRACE_H

#include "plugin/watch.h"

typedef struct dv_trace {
    struct dv_trace *outer;
    const char *name;
    uint32_t depth, arguments;
    bool printed; /* the line, because something happens in the call */
    bool raised;  /* an error was pending before it */
    dv_watch_line line;
} dv_trace;

/* Generated: calls plugins->traced. */
extern const dvx_api dv_trace_api;

void dv_trace_begin(dv_vm *vm, dv_trace *t, const char *name);
/* The next argument, or the first results where `ready` has been called. */
void dv_trace_value(dv_vm *vm, dv_trace *t, dv_value v);
void dv_trace_values(dv_vm *vm, dv_trace *t, const dv_value *values, size_t count);
void dv_trace_bool(dv_trace *t, bool b);
void dv_trace_int(dv_trace *t, int64_t i);
void dv_trace_uint(dv_trace *t, uint64_t i);
void dv_trace_double(dv_trace *t, double d);
void dv_trace_text(dv_trace *t, const char *text, size_t size);
void dv_trace_name(dv_trace *t, const char *name); /* or NULL */
void dv_trace_pointer(dv_trace *t, const void *pointer);
/* That were the arguments. */
void dv_trace_ready(dv_vm *vm, dv_trace *t);
/* That was the call; what it gave has been added since `back`. */
void dv_trace_back(dv_trace *t);
void dv_trace_end(dv_vm *vm, dv_trace *t);

#endif
