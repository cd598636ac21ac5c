/* base.h: what every file of the extension needs: the table's macros, raising, the state of a VM.
 *
 * Invariants
 *  1. Nothing here or elsewhere in the extension is global and mutable; what belongs to a VM is in
 *     its nd_state.
 *  2. Code of dl that runs while a function reads its arguments (__index__, __float__, __getitem__)
 *     cannot change the shape of an array: nd_state.busy.  (It cannot change anything else that
 *     would matter: data does not move, and who is at work holds a reference.)
 *  3. A function that returns a dvx_value fails with DVX_FAILED, one that returns a pointer with
 *     NULL, one that returns bool with false; the error has then been raised.  Other ways are said
 *     at their places. */
#ifndef ND_BASE_H
#define ND_BASE_H

#include <dynvm_ext.h>

#include <string.h>

#define LENGTH_OF(array)       (sizeof(array) / sizeof *(array))
#define FORMATTED(first, rest) __attribute__((format(printf, first, rest)))
#define LIKELY(x)              __builtin_expect(!!(x), 1)
#define UNLIKELY(x)            __builtin_expect(!!(x), 0)

enum {
    ND_MOST = 32,        /* dimensions */
    ND_TYPES = 14,       /* dtypes */
    ND_FLOAT_ERRORS = 4, /* kinds of floating point errors (error.c) */
    ND_HEAVY = 8192,     /* elements on which work takes longer than to quicken a function */
    ND_POLL = 4096       /* loops over that many steps of more than a few ns poll now and then */
};

extern const struct dvx_extension dvx_extension;

/* Blocks of elements that no array has any more (memory.h), the oldest first. */
enum { ND_KEPT = 16, ND_KEPT_ALWAYS = 1 << 24, ND_KEPT_MOST = 1 << 26 };
typedef struct nd_kept {
    uint32_t count;
    size_t bytes, alive; /* of the kept ones, and of those that arrays have */
    bool foreign;        /* the last one that was taken was not kept: anything may be in it */
    struct {
        char *data;
        size_t size;
    } blocks[ND_KEPT];
} nd_kept;

/* What belongs to a VM; filled by module.c, but for what is said otherwise. */
typedef struct nd_state {
    dvx_value float_, int_, bool_, complex_; /* dl's classes */
    dvx_value type_error, overflow_error;    /* classes, for error_matches */
    dvx_value axis_error;                    /* the class AxisError */
    dvx_value truths[2];                     /* array.c: np.False_, np.True_ */
    dvx_value dtypes[ND_TYPES],
        classes[ND_TYPES]; /* dtype.c: the objects dtype("float64"), ..., np.float64, ... */
    const struct nd_kernels *kernels;      /* ufunc.h: the loops of this machine */
    const struct nd_tiles *tiles;          /* matmul.c: of matrix products */
    dvx_value linalg_error;                /* linalg.c: the class LinAlgError */
    dvx_value ufunc_error;                 /* error.c: the class UFuncTypeError */
    uint8_t float_errors[ND_FLOAT_ERRORS]; /* error.c: what becomes of them */
    dvx_assumption *no_underflow;          /* error.c: nobody wants to know of underflow */
    /* So many functions are at work that read axes, and meanwhile call what may be code of dl:
     * shapes cannot be set. */
    uint32_t busy;
    nd_kept kept;      /* memory.h */
    size_t views_held; /* derive_views.h: bytes that views kept by sites are accounted for with */
    uint8_t blas;      /* blas.c: has this VM asked for OpenBLAS, and got it? */
    char *buffers;     /* fuse.c: of fused expressions, while none is at work; or NULL */
} nd_state;

static inline nd_state *nd_state_of(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }

/* Raises error with a text like printf's, cut after some 2000 bytes; false and DVX_FAILED. */
bool nd_fail(dvx_vm *vm, dvx_error error, const char *format, ...) FORMATTED(3, 4);
dvx_value nd_raise(dvx_vm *vm, dvx_error error, const char *format, ...) FORMATTED(3, 4);

/* A DeprecationWarning; false: it is an error. */
bool nd_deprecated(dvx_vm *vm, const char *text);

/* The name of v's class, cut to the buffer. */
enum { ND_NAME = 200 };
const char *nd_class_name(dvx_vm *vm, dvx_value v, char buffer[ND_NAME]);

static inline dvx_value nd_none(dvx_vm *vm) { return vm->api->make_none(vm); }
static inline dvx_value nd_str(dvx_vm *vm, const char *text) {
    return vm->api->make_str(vm, text, strlen(text));
}
static inline bool nd_is_none(dvx_vm *vm, dvx_value v) { return vm->api->kind(vm, v) == DVX_NONE; }
/* Is the argument there, and not None? */
static inline bool nd_is_given(dvx_vm *vm, dvx_value v) {
    return !dvx_failed(v) && !nd_is_none(vm, v);
}
/* The truth of an argument that may be missing: 1, 0, -1. */
static inline int nd_flag(dvx_vm *vm, dvx_value v, bool otherwise) {
    return dvx_failed(v) ? otherwise : vm->api->truth(vm, v);
}
/* An argument that is a str of at most 31 bytes; else "". */
const char *nd_word(dvx_vm *vm, dvx_value v, char buffer[32]);

/* Like the functions of the table, but shapes stay as they are: for the arguments of functions that
 * have looked at an array, or will. */
bool nd_read_index(dvx_vm *vm, dvx_value v, int64_t *out);
dvx_value nd_call(dvx_vm *vm, dvx_value callee, dvx_value argument);

/* A function of a file in lib/, called with the arguments that are given: one by position for each
 * of `before`, then those of the parameters, of which the optional ones go by their names. */
dvx_value nd_library(dvx_vm *vm, const char *module, const char *name,
                     const dvx_parameters *parameters, const dvx_value *args, uint32_t before);
/* The function of this name in lib/wider.dl: a function leaves to it what is rare. */
static inline dvx_value nd_wider(dvx_vm *vm, const char *name, const dvx_parameters *parameters,
                                 const dvx_value *args) {
    return nd_library(vm, "_ndarray.wider", name, parameters, args, 0);
}
/* A function of a file in lib/, called. */
dvx_value nd_call_library(dvx_vm *vm, const char *module, const char *name, const dvx_value *args,
                          uint32_t count);

/* Counts what a loop has done: `steps` of about 1 ns.  It costs a few instructions, so that all
 * loops over elements do so, those that may go on for more than some ms every few ms, with their
 * references in order: false: raised (interrupted, or a limit). */
static inline bool nd_work(dvx_vm *vm, int64_t steps) {
    return LIKELY(dvx_work(vm, (int64_t)((uint64_t)steps / 8)));
}
/* Room for `count` items of `size` bytes: none where their product does not fit, either. */
void *nd_room(dvx_vm *vm, int64_t count, size_t size);
static inline void nd_give_back(dvx_vm *vm, void *room, int64_t count, size_t size) {
    vm->api->deallocate(vm, room, (size_t)count * size);
}

/* The same of loops that go through neighbours, several elements in a nanosecond. */
static inline bool nd_quick_work(dvx_vm *vm, int64_t elements) { return nd_work(vm, elements / 8); }
/* Blocks of a long row: `for (nd_blocks b = {.total = n}; nd_next_block(vm, &b);)` goes through
 * b.count elements from b.at on, and counts them; then b.stopped: raised before the end. */
typedef struct nd_blocks {
    int64_t total, at, count;
    bool stopped, quick; /* quick: as nd_quick_work counts */
} nd_blocks;
bool nd_next_block(dvx_vm *vm, nd_blocks *b);
/* Zeros. */
bool nd_clear(dvx_vm *vm, char *data, size_t bytes);

/* An axis of something with ndim dimensions, negative from the end: AxisError. */
bool nd_axis(dvx_vm *vm, int64_t axis, int ndim, int *out);
/* The same of a dl int: TypeError.  `what` ("source: ") stands in front of the error. */
bool nd_axis_of(dvx_vm *vm, dvx_value axis, int ndim, int *out);
/* The same for those functions of NumPy that take no bool as an axis. */
bool nd_axis_no_bool(dvx_vm *vm, dvx_value axis, int ndim, int *out);
/* An int that is no bool: TypeError. */
bool nd_read_int_no_bool(dvx_vm *vm, dvx_value v, int64_t *out);
bool nd_axis_named(dvx_vm *vm, int64_t axis, int ndim, const char *what, int *out);

#endif
