/* module.h: modules: a name and a namespace of cells.
 *
 * Invariant 1: `serial` is that of no other module of the VM, before or after: sites know modules
 * by it, as another one may come to lie where one was. */
#ifndef DV_TYPES_MODULE_H
#define DV_TYPES_MODULE_H

#include "core/cell.h"
#include "core/vm.h"

typedef struct dv_module {
    dv_object header;
    dv_value name;
    dv_namespace names; /* empty, if there is `dict` */
    dv_value dict;      /* that eval or exec got as globals; else EMPTY */
    dv_value view;      /* what globals() gives in it (lang/lib/_globals.dl); EMPTY before */
    uint64_t serial;
    bool initializing; /* its code is running for the first time */
    bool builtins;     /* it shows vm->builtins, which take what is stored in it */
    bool frozen;       /* of the library, and Python in CPython's binary too, or dl in this one */
    bool made;         /* by a call of its type, not by an import */
} dv_module;

extern const dv_type dv_module_type;

static inline bool dv_is_module(dv_value v) { return dv_is_shape(v, DV_T_MODULE); }
static inline dv_module *dv_as_module(dv_value v) { return (dv_module *)dv_as_object(v); }

dv_value dv_module_new(dv_vm *vm,
                       const char *name); /* with __name__ set; not registered in vm->modules */
dv_value dv_module_named(dv_vm *vm, dv_value name); /* the same */
/* The attributes that all modules have; takes __package__. */
bool dv_module_set_plain(dv_vm *vm, dv_module *module, dv_value package) DV_MUST_CHECK;
/* The module of an absolute name, from sys.modules or newly imported, with its parents
 * (import/import.c); ModuleNotFoundError. */
dv_value dv_import(dv_vm *vm, dv_value name);
/* The same for who got the name as a value, as __import__ does: no helper, and the host is asked,
 * also if library code calls, as it calls what programs give it. */
dv_value dv_import_asked(dv_vm *vm, dv_value name);
/* A module of the library whose name begins with one '_': only the library imports it. */
dv_value dv_import_helper(dv_vm *vm, dv_value name);
/* What sys has under this name, without its __getattr__: borrowed; EMPTY: nothing, or the program
 * has not imported sys.  It does not raise. */
dv_value dv_sys_get(dv_vm *vm, const char *name);
/* Compiles text and runs it as the code of the module (import/import.c).  None, or EMPTY. */
dv_value dv_module_run(dv_vm *vm, dv_value module, const char *text, size_t size,
                       const char *filename, unsigned how);

#endif
