/* upcall.h: what core and types need from above: the generic protocols (run/) and raising
 * (types/exception/exception.c).
 *
 * These are the only upward calls; everything is defined in run/ or types/. */
#ifndef DV_CORE_UPCALL_H
#define DV_CORE_UPCALL_H

#include "core/object.h"

/* Raising.  The exception class is named by its C name (types/exception/exception.h: DV_E_...). All
 * return EMPTY, so that `return dv_raise(...)` is idiomatic; the message is formatted like printf
 * with the additions %V (repr of a dv_value), %S (str of a dv_value), %T (name of a dv_value's
 * type, CPython's tp_name). */
typedef enum dv_error_class {
    DV_E_BASE_EXCEPTION,
    DV_E_EXCEPTION,
    DV_E_TYPE_ERROR,
    DV_E_VALUE_ERROR,
    DV_E_LOOKUP_ERROR,
    DV_E_INDEX_ERROR,
    DV_E_KEY_ERROR,
    DV_E_ATTRIBUTE_ERROR,
    DV_E_NAME_ERROR,
    DV_E_UNBOUND_LOCAL_ERROR,
    DV_E_ARITHMETIC_ERROR,
    DV_E_ZERO_DIVISION_ERROR,
    DV_E_OVERFLOW_ERROR,
    DV_E_FLOATING_POINT_ERROR,
    DV_E_RUNTIME_ERROR,
    DV_E_RECURSION_ERROR,
    DV_E_NOT_IMPLEMENTED_ERROR,
    DV_E_MEMORY_ERROR,
    DV_E_STOP_ITERATION,
    DV_E_ASSERTION_ERROR,
    DV_E_IMPORT_ERROR,
    DV_E_MODULE_NOT_FOUND_ERROR,
    DV_E_OS_ERROR,
    DV_E_EOF_ERROR,
    DV_E_SYNTAX_ERROR,
    DV_E_INDENTATION_ERROR,
    DV_E_TAB_ERROR,
    DV_E_SYSTEM_EXIT,
    DV_E_KEYBOARD_INTERRUPT,
    DV_E_GENERATOR_EXIT,
    DV_E_UNICODE_ERROR,
    DV_E_UNICODE_DECODE_ERROR,
    DV_E_UNICODE_ENCODE_ERROR,
    DV_E_SYSTEM_ERROR,
    DV_E_FILE_NOT_FOUND_ERROR,
    DV_E_PERMISSION_ERROR,
    DV_E_BUFFER_ERROR,
    DV_E_WARNING,
    DV_E_BLOCKING_IO_ERROR,
    DV_E_CHILD_PROCESS_ERROR,
    DV_E_CONNECTION_ERROR,
    DV_E_BROKEN_PIPE_ERROR,
    DV_E_CONNECTION_ABORTED_ERROR,
    DV_E_CONNECTION_REFUSED_ERROR,
    DV_E_CONNECTION_RESET_ERROR,
    DV_E_FILE_EXISTS_ERROR,
    DV_E_INTERRUPTED_ERROR,
    DV_E_IS_A_DIRECTORY_ERROR,
    DV_E_NOT_A_DIRECTORY_ERROR,
    DV_E_PROCESS_LOOKUP_ERROR,
    DV_E_TIMEOUT_ERROR,
    DV_E_REFERENCE_ERROR,
    DV_E_STOP_ASYNC_ITERATION,
    DV_E_UNICODE_TRANSLATE_ERROR,
    DV_E_USER_WARNING,
    DV_E_DEPRECATION_WARNING,
    DV_E_PENDING_DEPRECATION_WARNING,
    DV_E_SYNTAX_WARNING,
    DV_E_RUNTIME_WARNING,
    DV_E_FUTURE_WARNING,
    DV_E_IMPORT_WARNING,
    DV_E_UNICODE_WARNING,
    DV_E_BYTES_WARNING,
    DV_E_RESOURCE_WARNING,
    DV_E_ENCODING_WARNING,
    /* Of modules: NULL in vm->error_classes until the module is imported. */
    DV_E_STRUCT_ERROR,
    DV_E_COUNT,
    DV_E_BUILTIN_COUNT = DV_E_STRUCT_ERROR /* those before it are builtins */
} dv_error_class;

dv_value dv_raise(dv_vm *vm, dv_error_class error, const char *format, ...);
/* Where the text of the message could not be made (vm->error): as in CPython, a repr that fails
 * leaves the error without a message. */
dv_value dv_raise_bare(dv_vm *vm, dv_error_class error);
dv_value dv_raise_value(dv_vm *vm, dv_error_class error,
                        dv_value argument); /* args = (argument,) */
/* What a C function, or the construct of a type, says that it raises as the last thing that it
 * does, where nothing in C looks at it any more.  A region that catches that may go on without it
 * (region/step/raised.h). */
typedef struct dv_declared {
    dv_error_class error;
    uint8_t argument; /* of the call, from 1, that it is about; 0: of none */
    const char *text; /* with the argument as its %V; NULL: args is the argument, or empty */
} dv_declared;
dv_value dv_raise_declared(dv_vm *vm, const dv_declared *declared, dv_value about);
/* Can the region do without it?  (run/unwind.c) */
bool dv_leaves_unmade(dv_vm *vm, dv_value about);
bool dv_error_is(dv_vm *vm, dv_error_class error); /* is vm->error an instance of the class? */
void dv_error_clear(dv_vm *vm);                    /* forgets vm->error */

/* Generic protocols (run/protocol.c, run/attribute.c, run/call.c), for values of any type. */
dv_value dv_repr(dv_vm *vm, dv_value v);
dv_value dv_to_str(dv_vm *vm, dv_value v);
dv_value dv_format(dv_vm *vm, dv_value v, dv_value spec); /* spec: str or EMPTY */
bool dv_hash(dv_vm *vm, dv_value v, int64_t *hash) DV_MUST_CHECK;
dv_value dv_compare(dv_vm *vm, dv_compare_op op, dv_value a,
                    dv_value b);                 /* any value (rich comparison) */
int dv_equal(dv_vm *vm, dv_value a, dv_value b); /* 1, 0, -1 failed; identity counts as equal */
int dv_less(dv_vm *vm, dv_value a, dv_value b);  /* a < b: 1, 0, -1 failed */
int dv_truth(dv_vm *vm, dv_value v);             /* 1, 0, -1 failed */
int64_t dv_length(dv_vm *vm, dv_value v);        /* -1 failed */
dv_value dv_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
dv_value dv_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
/* The rest of them, and of dv_compare, when the method of a has said NotImplemented: see
 * dv_instance_binary_rest. */
dv_value dv_binary_rest(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace,
                        bool asked);
/* TypeError: nobody knows what a op b is. */
dv_value dv_binary_refuse(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
dv_value dv_compare_reflected(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
dv_value dv_unary(dv_vm *vm, dv_unary_op op, dv_value a);
dv_value dv_get_item(dv_vm *vm, dv_value container, dv_value key);
/* Raises that the container's items cannot be set or deleted; false.  `sequence`: it is one in
 * CPython's eyes, which is asked by number. */
bool dv_refuse_item(dv_vm *vm, dv_value container, dv_value key, bool deletes, bool sequence);
bool dv_set_item(dv_vm *vm, dv_value container, dv_value key,
                 dv_value value) DV_MUST_CHECK;                /* EMPTY deletes */
int dv_contains(dv_vm *vm, dv_value container, dv_value item); /* 1, 0, -1 failed */
/* `in` for what can only be iterated over. */
int dv_contains_by_iteration(dv_vm *vm, dv_value container, dv_value item); /* 1, 0, -1 failed */
dv_value dv_iterate(dv_vm *vm, dv_value v);
/* The same for a search: any TypeError becomes "argument of type '%T' is not iterable". */
dv_value dv_iterate_searched(dv_vm *vm, dv_value container);
dv_value dv_next(dv_vm *vm, dv_value iterator); /* EMPTY without vm->error: exhausted */
dv_value dv_get_attribute(dv_vm *vm, dv_value v, dv_value name);
/* What an extension says that a number's attribute is, which its class does not have; EMPTY without
 * vm->error: nothing, or v is no number. */
dv_value dv_number_attribute(dv_vm *vm, dv_value v, dv_value name);
bool dv_set_attribute(dv_vm *vm, dv_value v, dv_value name,
                      dv_value value) DV_MUST_CHECK; /* EMPTY deletes */
/* keywords: EMPTY, or tuple of the names of the last arguments. */
/* A call of a dl function with two arguments, which is what most special methods get. */
dv_value dv_call_pair(dv_vm *vm, dv_value function, dv_value a, dv_value b);
dv_value dv_call(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                 dv_value keywords);

/* Generators (run/generator.c).  1: it yielded *result (new), 0: it returned it, -1: raised. */
int dv_generator_send(dv_vm *vm, dv_value generator, dv_value sent, dv_value *result);
/* The same of anything with `send`, or for None of any iterator, whose StopIteration is a return.
 */
int dv_send(dv_vm *vm, dv_value receiver, dv_value sent, dv_value *result);
dv_value dv_generator_next(dv_vm *vm, dv_value generator); /* dv_next of one */
int dv_generator_throw(dv_vm *vm, dv_value generator, dv_value exception,
                       dv_value *result); /* takes the exception */
bool dv_generator_close(dv_vm *vm, dv_value generator) DV_MUST_CHECK;
/* Before it is freed: runs its finally clauses; false: it is referred to again. */
bool dv_generator_end(dv_vm *vm, dv_value generator) DV_MUST_CHECK;
/* Of an unreachable one, while what it refers to is whole: likewise, if there are any. */
void dv_generator_finalise(dv_vm *vm, dv_value generator);
bool dv_generator_has_finaliser(dv_vm *vm, dv_value generator);
uint32_t dv_generator_serial(dv_value generator); /* as dv_instance_serial */
/* After that: drops what it holds. */
void dv_generator_clear(dv_vm *vm, dv_value generator);
/* What a generator that is not running holds in its frame. */
void dv_generator_traverse(dv_vm *vm, dv_value generator, dv_visit visit, void *context);
dv_value dv_generator_receiver(dv_value generator); /* of `yield from`, or None; new */
/* Like dv_next, but StopIteration is raised at the end, with the value that a generator returns. */
dv_value dv_next_or_stop(dv_vm *vm, dv_value iterator);
extern const dv_declared dv_stop_raises;           /* StopIteration() */
dv_value dv_raise_stop(dv_vm *vm, dv_value value); /* StopIteration(value); takes it */

/* The attribute, or EMPTY without vm->error if there is none. */
dv_value dv_find_attribute(dv_vm *vm, dv_value v, dv_value name);
/* dv_get_attribute and dv_find_attribute by a name of C. */
dv_value dv_get_named(dv_vm *vm, dv_value v, const char *name);
dv_value dv_find_named(dv_vm *vm, dv_value v, const char *name);
dv_value dv_ascii(dv_vm *vm, dv_value v);
/* pow(a, b[, modulus]); modulus EMPTY or None: none. */
dv_value dv_power(dv_vm *vm, dv_value a, dv_value b, dv_value modulus);
bool dv_is_callable(dv_vm *vm, dv_value v);
bool dv_is_iterable(dv_vm *vm, dv_value v); /* can it be asked for an iterator? */
/* isinstance and issubclass: `type` is a class or a (nested) tuple of classes.  1, 0, -1 raised. */
/* class[key], and a | b where one of them is a class (NotImplemented: the other is none). */
dv_value dv_class_subscript(dv_vm *vm, dv_value class_, dv_value key);
dv_value dv_class_union(dv_vm *vm, dv_value a, dv_value b);
int dv_is_instance_of(dv_vm *vm, dv_value v, dv_value type);
int dv_is_subclass_of(dv_vm *vm, dv_value class_, dv_value type);
/* The same without asking the metaclass of the class `type`. */
int dv_is_instance_plainly(dv_vm *vm, dv_value v, dv_value type);
int dv_is_subclass_plainly(dv_vm *vm, dv_value class_, dv_value type);

/* Calls a dying object's __del__ (types/class/finalise.c).  True: nobody has a reference to it
 * still. */
bool dv_finalise(dv_vm *vm, dv_object *object, dv_value function);

/* New reference to the interned str with this text (types/text/str.c). */
dv_value dv_str_intern(dv_vm *vm, const char *utf8, size_t size);

/* What super() without arguments means in the running function: the content of its __class__ cell
 * and its first argument (borrowed); false: raised. */
bool dv_super_arguments(dv_vm *vm, dv_value *class_, dv_value *self) DV_MUST_CHECK;

/* locals(), or vars() without an argument, as `function` says (run/evaluate.c). */
dv_value dv_calling_locals(dv_vm *vm, const char *function);

/* What the text of a literal is worth; runs nothing of the program (run/evaluate.c). */
dv_value dv_evaluate_literal(dv_vm *vm, dv_value text);

/* What globals() returns in code of the module (run/evaluate.c). */
dv_value dv_module_globals(dv_vm *vm, dv_value module);
/* The same of a dv_thread. */
dv_value dv_code_globals(dv_vm *vm, const dv_object *thread);
/* A function (new) of a code object, with the dict as its globals (run/evaluate.c). */
dv_value dv_function_of(dv_vm *vm, dv_value code, dv_value globals);
/* The object of the frame so many calls out from the one that calls C, new, with those of its
 * callers; None: there are not so many (run/seen.c).  EMPTY: raised. */
dv_value dv_frame_show(dv_vm *vm, int64_t level);
/* File, line and function of the level-th frame (1: the first) that is of another unit than what
 * calls C, or of the outermost, without frame objects: a tuple, new; None: no code runs
 * (run/seen.c). */
dv_value dv_frame_caller_place(dv_vm *vm, int64_t level);

/* New: the name of the module whose code is running. */
dv_value dv_calling_module(dv_vm *vm);
/* Is the running code that of a library module in dl? */
bool dv_calling_library(const dv_vm *vm);
/* Docstring of what is built in under this name ("len", "str.split", "math.sqrt"), or None: new.
 * Takes the name (EMPTY: making it failed). */
dv_value dv_builtin_doc(dv_vm *vm, dv_value name);
/* Calls a function (or class) of a helper module of the library. */
dv_value dv_library_call(dv_vm *vm, const char *module, const char *function, const dv_value *args,
                         uint32_t count);
/* Makes what the namespace of builtins has only when it is asked for; false: raised. */
bool dv_site_complete(dv_vm *vm);

/* An index: int of any size within the machine's range, else TypeError / IndexError as CPython.
 * `what` is the message's beginning, as in "list indices must be integers or slices, not %T". */
bool dv_as_index(dv_vm *vm, dv_value v, int64_t *index) DV_MUST_CHECK;

/* What a function's code object was made from (run/thread.c). */
const struct dv_code *dv_code_source(const dv_object *code);

/* The docstring of a function's code, or None (run/thread.c). */
dv_value dv_code_doc(dv_vm *vm, const dv_object *code);

#endif
