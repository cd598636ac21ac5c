/* dynvm_ext.h: what extensions of dynvm are written against.
 *
 * An extension is a shared object NAME.so with one exported descriptor, made by DVX_EXTENSION.
 * `import NAME` loads it, makes a module, and calls the descriptor's `init`.  Everything else goes
 * through the table `vm->api`; an extension links nothing of the VM.  ext/README.md is the guide,
 * ext/template/ an extension to copy.
 *
 * Rules
 *  1. Arguments are borrowed, results are new: whoever receives a result releases it or hands it
 * on.
 *  2. A function that makes a value returns DVX_FAILED when it failed, the others false; the error
 *     has then been raised, and the caller returns failure in turn.  What a function raises is said
 *     at its place; each that makes an object can raise MemoryError.
 *  3. A vm is used by the thread that runs it; values belong to one vm.
 *  4. Text is UTF-8.  Pointers in descriptors stay valid for as long as the extension is loaded.
 *  5. The table and the structs grow at their ends only.  A change of anything else is a new
 *     DVX_ABI_MAJOR; VM and extension must agree on it, and the VM's DVX_ABI_MINOR must not be
 * smaller than the extension's.
 *
 * With DVX_NATIVE defined before this header is included, an extension may also bring *native
 * handlers* (second half of plugin/native.h): instructions of its own, compiled against the layout
 * of one build of the VM and ignored by every other. */
#ifndef DYNVM_EXT_H
#define DYNVM_EXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DVX_ABI_MAJOR 1
#define DVX_ABI_MINOR 0

#ifdef DVX_NATIVE
#include <plugin/native.h>
#else
#define DVX_FINGERPRINT 0
/* Any dl value.  Only `api` knows what the bits mean. */
typedef struct dvx_value {
    uint64_t bits;
} dvx_value;
/* The virtual machine; what follows its first member is its own. */
typedef struct dvx_vm {
    const struct dvx_api *api;
} dvx_vm;
typedef void (*dvx_handler)(void);
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a function that failed; not a value.  (Its bits are part of the ABI.) */
#ifdef __cplusplus
#define DVX_FAILED (dvx_value{0xFFFD000000000000u})
#else
#define DVX_FAILED ((dvx_value){0xFFFD000000000000u})
#endif
static inline bool dvx_failed(dvx_value v) { return v.bits == 0xFFFD000000000000u; }

typedef enum dvx_kind {
    DVX_ANY, /* as a result: not known; of a value: none of the others */
    DVX_NONE,
    DVX_BOOL,
    DVX_INT,
    DVX_FLOAT,
    DVX_STR
} dvx_kind;

typedef enum dvx_error {
    DVX_TYPE_ERROR,
    DVX_VALUE_ERROR,
    DVX_INDEX_ERROR,
    DVX_KEY_ERROR,
    DVX_ZERO_DIVISION_ERROR,
    DVX_OVERFLOW_ERROR,
    DVX_RUNTIME_ERROR,
    DVX_OS_ERROR
} dvx_error;

/* ---- Optimisation: call derivatives ---- */

typedef enum dvx_outcome {
    DVX_DONE,       /* *result is new */
    DVX_DEOPTIMISE, /* the arguments do not fit after all, and nothing has happened: the call is
                       made in the ordinary way, and counts as a miss of the site */
    DVX_ERROR       /* raised */
} dvx_outcome;

/* What a hot call of one of the extension's functions may become: a faster way to do exactly what
 * the function does, for some kinds of arguments.  A derivative must never give another result or
 * another error than the function, and it must deoptimise before it has any effect. */
typedef struct dvx_derivative {
    size_t size;      /* sizeof(dvx_derivative) */
    const char *name; /* for listings */
    /* May a site that sees these arguments become this derivative?  Must not raise. */
    bool (*guard)(dvx_vm *vm, const dvx_value *args, uint32_t count);
    /* The portable twin: checks its arguments and does the work. */
    dvx_outcome (*run)(dvx_vm *vm, const dvx_value *args, uint32_t count, dvx_value *result);
    dvx_kind result; /* what `run` makes, for the analysis of loops */
    /* The native twin, for calls `f(...)` and `module.f(...)`: NULL, or made by DVX_HANDLERS
     * (plugin/native.h) for exactly `native_count` arguments. */
    dvx_handler native_call, native_call_method;
    uint32_t native_count;
} dvx_derivative;

/* ---- Functions and modules ---- */

/* A function of the module, with positional arguments.  The VM checks their number. */
typedef struct dvx_function {
    size_t size; /* sizeof(dvx_function) */
    const char *name;
    dvx_value (*entry)(dvx_vm *vm, const dvx_value *args, uint32_t count);
    uint32_t min, max; /* max UINT32_MAX: any number */
    uint32_t derivative_count;
    const dvx_derivative *const *derivatives; /* tried in this order */
} dvx_function;

struct dvx_api {
    size_t size; /* of this table: a later VM's is longer */

    /* ---- References ---- */
    dvx_value (*retain)(dvx_vm *vm, dvx_value v); /* v, with one more reference */
    void (*release)(dvx_vm *vm, dvx_value v);     /* DVX_FAILED is ignored */

    /* ---- Making values ---- */
    dvx_value (*make_none)(dvx_vm *vm);
    dvx_value (*make_bool)(dvx_vm *vm, bool b);
    dvx_value (*make_int)(dvx_vm *vm, int64_t i);
    dvx_value (*make_float)(dvx_vm *vm, double d);
    dvx_value (*make_str)(dvx_vm *vm, const char *utf8, size_t size); /* ValueError: not UTF-8 */

    /* ---- Reading values ---- */
    dvx_kind (*kind)(dvx_vm *vm, dvx_value v);
    /* An int or bool within 64 bits: TypeError, OverflowError. */
    bool (*read_int)(dvx_vm *vm, dvx_value v, int64_t *out);
    /* A float, int or bool: TypeError, OverflowError. */
    bool (*read_float)(dvx_vm *vm, dvx_value v, double *out);
    /* The text of a str: TypeError.  *size is its length in bytes; it is written to buffer, with a
     * zero byte behind it, if `capacity` is larger than that. */
    bool (*read_str)(dvx_vm *vm, dvx_value v, char *buffer, size_t capacity, size_t *size);
    /* Truth, as `if v` sees it: 1, 0, or -1 if that raised. */
    int (*truth)(dvx_vm *vm, dvx_value v);
    /* a < b, as dl sees it: 1, 0, or -1 if that raised. */
    int (*less)(dvx_vm *vm, dvx_value a, dvx_value b);

    /* ---- Raising ---- */
    dvx_value (*raise)(dvx_vm *vm, dvx_error error, const char *message); /* DVX_FAILED */

    /* ---- Filling a module ---- */
    bool (*add_function)(dvx_vm *vm, dvx_value module, const dvx_function *function);
    bool (*add_constant)(dvx_vm *vm, dvx_value module, const char *name, dvx_value value);
};
typedef struct dvx_api dvx_api;

/* The descriptor.  Its first three members never change, so that any VM can tell whether it may
 * look at the others. */
struct dvx_extension {
    uint32_t size; /* sizeof(struct dvx_extension) */
    uint16_t abi_major, abi_minor;
    const char *name;
    uint64_t fingerprint; /* of the build that native handlers were compiled against; 0: none */
    bool (*init)(dvx_vm *vm, dvx_value module); /* false: raised */
};

/* What an extension exports, and all that it exports. */
extern __attribute__((visibility("default"))) const struct dvx_extension dvx_extension;

/* Defines the descriptor of extension `name`, a string that is also the file's name. */
#define DVX_EXTENSION(name, init)                                             \
    const struct dvx_extension dvx_extension = {sizeof(struct dvx_extension), \
                                                DVX_ABI_MAJOR,                \
                                                DVX_ABI_MINOR,                \
                                                (name),                       \
                                                DVX_FINGERPRINT,              \
                                                (init)}

#ifdef __cplusplus
}
#endif
#endif
