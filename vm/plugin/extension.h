/* extension.h: what a VM knows of the extensions that it has loaded.
 *
 * Invariants
 *  1. A dv_extension stays until dv_plugin_discard: functions of it may outlive their module.
 *  2. The definition of a C function is the first member of its dv_extension_function, and every
 *     cfunction of an extension leads to one. */
#ifndef DV_PLUGIN_EXTENSION_H
#define DV_PLUGIN_EXTENSION_H

#define DVX_NATIVE     "plugin/native.h"
#define DVX_TRAMPOLINE /* for the handlers of this room */
#include "dynvm_ext.h"

#include "core/vm.h"

typedef struct dv_extension_function dv_extension_function;
typedef struct dv_extension dv_extension;

/* The cache of a site that runs a portable twin. */
typedef struct dv_extension_case {
    const dv_cfunction_def *def;
    const dvx_derivative *derivative;
} dv_extension_case;

struct dv_extension_function {
    dv_cfunction_def def;
    const dvx_function *descriptor;
    dvx_function described; /* with what the extension's ABI does not have yet as zeros */
    dvx_parameters parameters;
    const char *owner; /* the extension's name, or that of the type: "module.Type" */
    dv_extension_function *next;
    dv_extension_case cases[]; /* one for each derivative */
};

struct dv_extension {
    const struct dvx_extension *descriptor;
    struct dvx_extension described;  /* a copy, with zeros as above */
    void *library;                   /* of dlopen; NULL: it is the host's */
    const struct dv_frozen *modules; /* its package in dl (modules/frozen.h), or NULL */
    bool native;                     /* its handlers were compiled against this build */
    dv_extension_function *functions;
    struct dv_extension_type *types; /* plugin/type.h */
    void *state;                     /* described.state_size bytes, or NULL */
    dv_extension *next;
};

/* An extension that is part of the host (dynvm_add_extension), imported or not. */
typedef struct dv_host_extension {
    struct dv_host_extension *next;
    struct dvx_extension descriptor;
    char name[];
} dv_host_extension;

typedef struct dv_plugins {
    dv_native native; /* first: plugin/native.h */
    dv_extension *extensions;
    dv_host_extension *hosted;
    dv_extension *loading; /* whose `init` is running, or NULL */
    /* The type that an extension has named last; NULL: none since one was added. */
    const struct dv_extension_type *named;
    /* Tables that watch (watch.h): vm->api may be the debug table, which calls `checked`, and that
     * the call trace, which calls `traced`. */
    const dvx_api *checked, *traced;
    struct dv_trace *tracing;
    struct dv_debug *debug; /* NULL: extensions are not checked */

    /* Sites that extensions were asked about (plugin/occurrence.h). */
    struct dv_extension_site **by_cell;     /* chains by hash */
    struct dv_extension_site **occurrences; /* all, by number */
    uint32_t chains;                        /* a power of 2 */
    uint32_t numbers, next_number;          /* of `occurrences`: how many fit, where to look */
    uint32_t occurrence_count;
    uint64_t effects; /* counts what the table has done that can be seen from outside */
    dvx_assumption *assumptions;
    const struct dv_asking *asking; /* the site that a type is being asked about, or NULL */
    struct dv_origins *origins;     /* of the code that was asked about last (plugin/origin.h) */
} dv_plugins;

/* table.c: the stable table. */
extern const dvx_api dv_extension_api;

/* Copies a struct that begins with its size, and that an older header may have made shorter:
 * `least` is what it had in ABI 1.0.  False: it is shorter than that. */
bool dv_extension_copy(void *to, size_t size, const void *from, size_t least) DV_MUST_CHECK;
/* The size of a struct whose last member is this one. */
#define DV_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* function.c: functions, and methods of types.  NULL: raised. */
dv_extension_function *dv_extension_describe(dv_vm *vm, dv_extension *extension,
                                             const dvx_function *function, bool method);
/* Copies parameters (NULL: none); false: malformed. */
bool dv_extension_copy_parameters(dvx_parameters *to, const dvx_parameters *given) DV_MUST_CHECK;
/* Sorts a call's arguments into sorted[0 .. count-1] of the parameters. */
bool dv_extension_sort(dv_vm *vm, const char *name, const dvx_parameters *p, const dv_value *args,
                       uint32_t count, dv_value keywords, dv_value *sorted) DV_MUST_CHECK;
void dv_extension_free_functions(dv_vm *vm, dv_extension_function *functions);
/* What a function of an extension gave, where that is in keeping with vm->error; else EMPTY and
 * SystemError.  `name` is the function's. */
const struct dv_raw *dv_extension_raw(const dvx_raw *raw); /* the same list */
dv_value dv_extension_check(dv_vm *vm, const char *name, dv_value result);
/* The same for what says only whether it raised: does it agree with vm->error?  If not, SystemError
 * is raised, and the result is false as well. */
bool dv_extension_check_done(dv_vm *vm, const char *name, bool done);

/* oint.c: the optimisation interface. */
void dv_oint_setup(dv_vm *vm);

#endif
