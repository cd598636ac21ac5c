/* trace.c: the lines of the call trace (trace.h). */
#include "plugin/trace.h"

enum { MOST_SHOWN = 6, DEEPEST = 24 };

static void indent(dv_trace *t) {
    for (uint32_t i = 0; i < t->depth && i < DEEPEST; i++) dv_watch_put(&t->line, "  ");
}

/* Prints a call that is in progress, because something happens in it. */
static void print_outer(dv_vm *vm, dv_trace *t) {
    if (!t || t->printed) return;
    print_outer(vm, t->outer);
    t->printed = true;
    dv_watch_write(vm, &t->line);
}

void dv_trace_begin(dv_vm *vm, dv_trace *t, const char *name) {
    t->outer = vm->extensions.plugins->tracing;
    t->name = name;
    t->depth = t->outer ? t->outer->depth + 1 : 0;
    t->arguments = 0;
    t->printed = false;
    t->raised = !dv_is_empty(vm->error);
    t->line.size = 0;
    indent(t);
    dv_watch_put(&t->line, name);
    dv_watch_put(&t->line, "(");
}

/* In front of each argument or result. */
static void separate(dv_trace *t) {
    if (t->arguments++) dv_watch_put(&t->line, ", ");
}

void dv_trace_value(dv_vm *vm, dv_trace *t, dv_value v) {
    separate(t);
    dv_watch_put_value(vm, &t->line, v);
}

void dv_trace_values(dv_vm *vm, dv_trace *t, const dv_value *values, size_t count) {
    separate(t);
    dv_watch_put(&t->line, "[");
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        if (i) dv_watch_put(&t->line, ", ");
        dv_watch_put_value(vm, &t->line, values[i]);
    }
    dv_watch_put(&t->line, count > MOST_SHOWN ? ", ...]" : "]");
}

void dv_trace_bool(dv_trace *t, bool b) {
    separate(t);
    dv_watch_put(&t->line, b ? "true" : "false");
}

void dv_trace_int(dv_trace *t, int64_t i) {
    separate(t);
    dv_watch_put_format(&t->line, "%lld", (long long)i);
}

void dv_trace_uint(dv_trace *t, uint64_t i) {
    separate(t);
    dv_watch_put_format(&t->line, "%llu", (unsigned long long)i);
}

void dv_trace_double(dv_trace *t, double d) {
    separate(t);
    dv_watch_put_double(&t->line, d);
}

void dv_trace_text(dv_trace *t, const char *text, size_t size) {
    separate(t);
    dv_watch_put_text(&t->line, text, size);
}

void dv_trace_name(dv_trace *t, const char *name) {
    separate(t);
    dv_watch_put(&t->line, name ? name : "NULL");
}

/* Where something lies differs from run to run. */
void dv_trace_pointer(dv_trace *t, const void *pointer) {
    separate(t);
    dv_watch_put(&t->line, pointer ? "pointer" : "NULL");
}

void dv_trace_ready(dv_vm *vm, dv_trace *t) {
    dv_watch_put(&t->line, ")");
    print_outer(vm, t->outer);
    vm->extensions.plugins->tracing = t;
}

void dv_trace_back(dv_trace *t) {
    if (t->printed) indent(t);
    dv_watch_put(&t->line, t->printed ? t->name : "");
    dv_watch_put(&t->line, " -> ");
    t->arguments = 0;
}

void dv_trace_end(dv_vm *vm, dv_trace *t) {
    vm->extensions.plugins->tracing = t->outer;
    if (!t->arguments) dv_watch_put(&t->line, "done");
    if (!t->raised && !dv_is_empty(vm->error)) {
        dv_watch_put(&t->line, ", raised ");
        dv_watch_put_type(vm, &t->line, vm->error);
    }
    dv_watch_write(vm, &t->line);
}
