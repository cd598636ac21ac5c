/* type.h: types of extensions: a dvx_type as a dv_type and a class of one VM.
 *
 * Invariants
 *  1. `type` is the first member, vm->types[type.id] points to it, and every object whose layout
 *     has that number is a dv_extension_object of it.
 *  2. A type stays until dv_plugin_discard, like the functions of its extension.
 *  3. What a slot gives is checked (dv_extension_check) before the machine sees it. */
#ifndef DV_PLUGIN_TYPE_H
#define DV_PLUGIN_TYPE_H

#include "core/raw.h"
#include "plugin/extension.h"

typedef struct dv_extension_type dv_extension_type;

typedef struct dv_extension_attribute {
    dv_value name; /* interned */
    dvx_attribute described;
    dv_cfunction_def getter; /* as whose descriptor it shows itself in the class */
} dv_extension_attribute;

struct dv_extension_type {
    dv_type type;
    const dvx_type *descriptor; /* by which the extension names it */
    dvx_type described;         /* a copy, with zeros for what its ABI does not have */
    dvx_parameters parameters, call_parameters;
    dv_class *class_; /* borrowed from vm->classes */
    char *name;       /* "module.Type" */
    dv_extension_type *next;
    dv_extension_attribute attributes[];
};

typedef struct dv_extension_object {
    dv_object header;
    const dv_extension_type *type;
    char payload[];
} dv_extension_object;

_Static_assert(offsetof(dv_extension_object, payload) == DV_PAYLOAD_OFFSET &&
                   DV_PAYLOAD_OFFSET % 16 == 0,
               "payloads are aligned, and where regions look for them");

static inline const dv_extension_type *dv_extension_type_of(const dv_vm *vm, dv_value v) {
    return (const dv_extension_type *)(const void *)vm->types[dv_type_of(vm, v)];
}

/* slots.c: the functions of the dv_type, by which slots the extension has. */
void dv_extension_fill_slots(dv_extension_type *type);

/* Where the type's own objects are in the heap: the collector, or dv_extension_release_all, must
 * find those that hold something. */
static inline dv_heap_part_id dv_extension_part(const dv_extension_type *type) {
    return type->described.traverse  ? DV_HEAP_OBJECTS
           : type->described.release ? DV_HEAP_KEPT
                                     : DV_HEAP_PLAIN;
}
/* Has each object that is still alive release what it holds: the VM ends. */
void dv_extension_release_all(dv_vm *vm);

void dv_extension_free_types(dv_vm *vm, dv_extension_type *types);

#endif
