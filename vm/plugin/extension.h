/* extension.h: what a VM knows of the extensions that it has loaded.
 *
 * Invariants
 *  1. A dv_extension stays until dv_plugin_discard: functions of it may outlive their module.
 *  2. The definition of a C function is the first member of its dv_extension_function, and every
 *     cfunction of an extension leads to one. */
#ifndef DV_PLUGIN_EXTENSION_H
#define DV_PLUGIN_EXTENSION_H

#define DVX_NATIVE
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
    const dvx_function *described;
    dv_extension_function *next;
    dv_extension_case cases[]; /* one for each derivative */
};

struct dv_extension {
    const struct dvx_extension *descriptor;
    void *library; /* of dlopen */
    bool native;   /* its handlers were compiled against this build */
    dv_extension_function *functions;
    dv_extension *next;
};

struct dv_plugins {
    dv_native native; /* first: plugin/native.h */
    dv_extension *extensions;
    dv_extension *loading; /* whose `init` is running, or NULL */
};

/* table.c: the stable table. */
extern const dvx_api dv_extension_api;

/* oint.c: the optimisation interface. */
void dv_oint_setup(dv_vm *vm);

#endif
