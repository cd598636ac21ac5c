/* names.c: the module _names: the names of a module, for what globals() returns
 * (lang/lib/_globals.dl). */
#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/function.h"
#include "types/file/module.h"
#include "types/sequence/list.h"
#include "types/text/str.h"

static const dv_global_cell *find(dv_vm *vm, dv_value module, dv_value key) {
    if (!dv_is_str(key)) return NULL;
    dv_value name = dv_str_intern_value(vm, key);
    if (dv_is_empty(name)) return NULL;
    const dv_global_cell *cell = dv_namespace_find(&dv_as_module(module)->names, name);
    dv_release(vm, name);
    return cell && !dv_is_empty(cell->value) ? cell : NULL;
}

static bool check_module(dv_vm *vm, dv_value v) {
    if (dv_is_module(v)) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "a module is required, not '%T'", v);
    return false;
}

/* get(module, key, default=None) */
static dv_value names_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_module(vm, args[0])) return DV_EMPTY;
    const dv_global_cell *cell = find(vm, args[0], args[1]);
    if (cell) return dv_retain(cell->value);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return count == 3 ? dv_retain(args[2]) : DV_NONE;
}

/* store(module, name, value); without a value, the name gets none. */
static dv_value names_store(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_module(vm, args[0])) return DV_EMPTY;
    if (!dv_is_str(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "names of globals() are strs in dl, not '%T'",
                        args[1]);
    dv_value name = dv_str_intern_value(vm, args[1]);
    const bool done =
        !dv_is_empty(name) && dv_set_attribute(vm, args[0], name, count == 3 ? args[2] : DV_EMPTY);
    dv_release(vm, name);
    return done ? DV_NONE : DV_EMPTY;
}

/* names(module): a list, in the order in which they were made. */
static dv_value names_names(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!check_module(vm, args[0])) return DV_EMPTY;
    const dv_namespace *names = &dv_as_module(args[0])->names;
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    for (uint32_t i = 0; good && i < names->count; i++)
        if (!dv_is_empty(names->cells[i]->value))
            good = dv_list_append(vm, list, names->cells[i]->name);
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "get", .entry = names_get, .min = 2, .max = 3},
    {.name = "store", .entry = names_store, .min = 2, .max = 3},
    {.name = "names", .entry = names_names, .min = 1, .max = 1},
    {.name = NULL}};

bool dv_names_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
