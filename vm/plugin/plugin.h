/* plugin.h: extensions: loading them, their functions, their derivatives.
 *
 * api/ calls these two; everything else happens through vm->api and the hooks in vm->hooks. */
#ifndef DV_PLUGIN_PLUGIN_H
#define DV_PLUGIN_PLUGIN_H

#include "core/vm.h"

/* Makes `import` look for extensions; false: out of memory (nothing is raised). */
bool dv_plugin_setup(dv_vm *vm) DV_MUST_CHECK;

/* The embedder's own extension: from now on `import name` calls `init`, which comes from
 * dynvm_ext.h (a dvx_vm and a dvx_value), with a new module, and looks for no file.  The name is
 * copied.  False: raised; ValueError: there is one of this name. */
typedef bool dv_plugin_init(dv_vm *vm, dv_value module);
bool dv_plugin_add(dv_vm *vm, const char *name, dv_plugin_init *init) DV_MUST_CHECK;

/* Unloads all extensions; nothing of them may be in use any more: called after the last object of
 * the VM has gone, and before dv_vm_free. */
void dv_plugin_discard(dv_vm *vm);

#endif
