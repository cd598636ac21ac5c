/* machine.h: what a dynvm_vm is: the machine, and what belongs to its host alone. */
#ifndef DV_API_MACHINE_H
#define DV_API_MACHINE_H

#include "core/vm.h"
#include "dynvm.h"

/* A handle's value, and where it was made (check_handles). */
typedef struct dv_handle_slot {
    dv_value value;
    uint32_t serial; /* of the handle; 0: the slot is free */
    /* The line; of a free slot of kept handles 1 + the number of another free one, or 0. */
    uint32_t line;
    const char *file;
} dv_handle_slot;

/* A table of slots.  It grows, so slots have no address for long. */
typedef struct dv_handle_table {
    dv_handle_slot *slots;
    uint32_t count, capacity;
} dv_handle_table;

/* See handle.h. */
enum { DV_SCOPED, DV_KEPT };
typedef struct dv_handles {
    dv_handle_table tables[2]; /* scoped: a stack, those of the innermost scope are the topmost */
    uint32_t base;             /* where the innermost scope begins */
    uint32_t free;             /* 1 + the number of a free slot of kept handles, or 0 */
    uint32_t serial;           /* of the handle that was made last */
    uint32_t line;             /* where the next one is made ... */
    const char *file;          /* ... if the host tells */
} dv_handles;

struct dynvm_vm {
    dv_vm *vm;
    dynvm_error *error; /* of the last run, until it is taken */
    dv_value failure;   /* the exception that the last call about values failed with, or EMPTY */
    dv_handles handles;
    int check_handles; /* as configured */
    int exit_status;
    bool typed; /* sys has prompts: the host has asked for them */
    dynvm_observer observer;
    void *observer_context;
    dynvm_resize resize;
    void *resize_context;
    bool resumable;
    void *user; /* dynvm_user */
};

#endif
