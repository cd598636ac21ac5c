/* import.h: the import statements.
 *
 * Invariants
 *  1. sys.modules and sys.path are looked at each time: a program may change them.
 *  2. A module is in sys.modules while its code runs, and no longer if that fails.
 *  3. Names in IMPORT_... instructions are absolute ("a.b"), or begin with one dot for each level
 * of a relative import ("..p"). */
#ifndef DV_IMPORT_IMPORT_H
#define DV_IMPORT_IMPORT_H

#include "core/upcall.h"
#include "core/vm.h"

/* import a.b.c: imports all three; a. */
dv_value dv_import_name(dv_vm *vm, dv_value name);
/* import a.b.c as x: c. */
dv_value dv_import_as(dv_vm *vm, dv_value name);
/* from a.b import ...: b, after its submodules among `names` (a tuple) have been imported. */
dv_value dv_import_module(dv_vm *vm, dv_value name, dv_value names);
/* One of these names: an attribute of the module, or a submodule; ImportError. */
dv_value dv_import_from(dv_vm *vm, dv_value module, dv_value name);
/* from m import *: into the globals of the running module. */
bool dv_import_star(dv_vm *vm, dv_value module) DV_MUST_CHECK;

/* The file of the code that `-m name` runs as __main__, whose __package__ it sets: a new str; None:
 * it is a library module in dl; raised as "No module named ..." */
dv_value dv_import_main(dv_vm *vm, dv_value name);

/* dv_import of types/file/module.h: the module of an absolute name, with its parents. */

/* Runs a unit as the code of `module`, which is called `name` in sys.modules already; the module
 * that is there afterwards: new.  Without the module in sys.modules if the code raises. */
dv_value dv_import_run(dv_vm *vm, dv_value name, dv_value module, dv_unit *unit);

#endif
