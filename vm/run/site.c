/* site.c: docstrings and builtins that are dl code (site.h). */
#include "run/site.h"

#include "core/upcall.h"
#include "types/file/module.h"
#include "types/text/str.h"

const char *const dv_site_names[] = {"copyright", "credits", "exit", "help",
                                     "license",   "quit",    NULL};

/* An attribute of a helper module: new; EMPTY: raised. */
static dv_value from_helper(dv_vm *vm, const char *module, dv_value name) {
    dv_value text = dv_str_intern(vm, module, strlen(module));
    dv_value helper = dv_is_empty(text) ? DV_EMPTY : dv_import_helper(vm, text);
    dv_value v = dv_is_empty(helper) ? DV_EMPTY : dv_get_attribute(vm, helper, name);
    dv_release(vm, helper);
    dv_release(vm, text);
    return v;
}

dv_value dv_site_find(dv_vm *vm, dv_value name) {
    const char *const *known = dv_site_names;
    while (*known && !dv_str_is(name, *known)) known++;
    if (!*known || vm->sys.flags[DV_FLAG_NO_SITE]) return DV_EMPTY;
    const dv_global_cell *cell = dv_namespace_find(&vm->builtins, name);
    if (cell && !dv_is_empty(cell->value)) return cell->value;
    dv_value v = from_helper(vm, "_site", name);
    return !dv_is_empty(v) && dv_namespace_set(vm, &vm->builtins, *known, v) ? v : DV_EMPTY;
}

bool dv_site_complete(dv_vm *vm) {
    for (const char *const *known = dv_site_names; *known; known++) {
        dv_value name = dv_str_intern(vm, *known, strlen(*known));
        if (!dv_is_empty(name)) (void)dv_site_find(vm, name);
        dv_release(vm, name);
        if (!dv_is_empty(vm->error)) return false;
    }
    return true;
}

dv_value dv_builtin_doc(dv_vm *vm, dv_value name) {
    dv_value text = dv_str_intern(vm, "doc", 3);
    dv_value find =
        dv_is_empty(text) || dv_is_empty(name) ? DV_EMPTY : from_helper(vm, "_help", text);
    dv_value doc = dv_is_empty(find) ? DV_EMPTY : dv_call(vm, find, &name, 1, DV_EMPTY);
    dv_release(vm, find);
    dv_release(vm, text);
    dv_release(vm, name);
    return doc;
}
