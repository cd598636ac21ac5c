/* exception.h: exception objects and their classes.
 *
 * Invariants
 *  1. An exception's layout is the same for all classes; class_ tells them apart.  Instances of dl
 *     classes are instances of subclasses as those of other types are (types/class/subclass.h).
 *  2. The traceback is a list of (code, pc) pairs, innermost first as they were added, followed
 * inwards by `traceback`, a chain of traceback objects (types/exception/traceback.h): what the
 * pairs became when a program asked for them.  Frames do not outlive their calls. */
#ifndef DV_TYPES_EXCEPTION_H
#define DV_TYPES_EXCEPTION_H

#include "core/upcall.h"
#include "core/vm.h"

typedef struct dv_trace_entry {
    dv_object *code; /* dv_thread, counted */
    uint32_t pc;
} dv_trace_entry;

typedef struct dv_exception {
    dv_object header;
    dv_class *class_;        /* counted */
    dv_value args;           /* tuple */
    dv_value cause, context; /* exception, None or EMPTY */
    dv_value attributes;     /* dict or EMPTY; that of dl classes is elsewhere */
    dv_value fields; /* dict, EMPTY, or a tuple of `name` and `obj` alone: exception_field.h */
    bool suppress_context;
    bool settled;       /* the arguments say nothing of the fields */
    dv_value traceback; /* traceback object or EMPTY */
    dv_trace_entry *trace;
    uint32_t trace_count, trace_capacity;
} dv_exception;

extern const dv_type dv_exception_type;

static inline bool dv_is_exception(dv_value v) { return dv_has_layout(v, DV_T_EXCEPTION); }
static inline dv_exception *dv_as_exception(dv_value v) { return (dv_exception *)dv_as_object(v); }

/* Makes the exception classes of the VM and the builtins that name them. */
bool dv_exception_setup(dv_vm *vm) DV_MUST_CHECK;
dv_class *dv_exception_class(dv_vm *vm, dv_error_class error);         /* borrowed */
dv_value dv_exception_new(dv_vm *vm, dv_class *class_, dv_value args); /* args: tuple, retained */
/* The same of a class with dv_exception_constructor from its arguments; takes over their references
 * and one to the class, unless it fails. */
dv_value dv_exception_take(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count);
bool dv_exception_is(dv_vm *vm, const dv_exception *exception, dv_error_class error);
/* BaseException.__new__: keywords are left to __init__. */
dv_value dv_exception_make(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                           dv_value keywords);
/* After it: would __init__ do nothing that it has not done? */
bool dv_exception_is_made(dv_vm *vm, dv_value self, dv_value keywords);
/* BaseException.__init__, and what certain classes add to it. */
bool dv_exception_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                             dv_value keywords) DV_MUST_CHECK;

/* RAISE: exc is an exception, or an exception class which is instantiated; cause EMPTY if not
 * given. Sets vm->error (and __context__ from vm->handled).  TypeError otherwise. */
void dv_exception_raise(dv_vm *vm, dv_value exc, dv_value cause);

/* The exception that throw(given, value) means, new; EMPTY: TypeError. */
dv_value dv_exception_of(dv_vm *vm, dv_value given, dv_value value);

/* Appends a traceback entry to an exception; false, and nothing raised: no memory. */
bool dv_exception_trace(dv_vm *vm, dv_value exception, dv_object *code, uint32_t pc) DV_MUST_CHECK;

static inline bool dv_exception_has_trace(const dv_exception *exception) {
    return exception->trace_count > 0 || !dv_is_empty(exception->traceback);
}

/* __traceback__: a traceback object or None, new; EMPTY: raised.  set takes either. */
dv_value dv_exception_traceback(dv_vm *vm, dv_value exception);
void dv_exception_set_traceback(dv_vm *vm, dv_value exception, dv_value traceback);

/* Fields as they are stored (exception_field.h): `name` and `obj` for suggestions.  The result of
 * get is borrowed; EMPTY: there is none; it never fails. */
bool dv_exception_set(dv_vm *vm, dv_value exception, const char *name,
                      dv_value value) DV_MUST_CHECK;
dv_value dv_exception_get(dv_value exception, const char *name);
/* `name` and `obj` of an AttributeError. */
bool dv_exception_set_missing(dv_vm *vm, dv_value exception, dv_value name,
                              dv_value obj) DV_MUST_CHECK;

/* MATCH_EXCEPTION: 1, 0, -1 raised (catching what is no exception class). */
int dv_exception_match(dv_vm *vm, dv_value exception, dv_value type);

/* The text that CPython writes to stderr for an uncaught exception, chains included. */
dv_value dv_exception_text(dv_vm *vm, dv_value exception);
/* The same for one that is ignored: without chain, suggestion, notes and the place of an error of
 * syntax. */
dv_value dv_exception_bare_text(dv_vm *vm, dv_value exception);

#endif
