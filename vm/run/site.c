/* site.c: docstrings, builtins and generic aliases that are dl code (site.h). */
#include "run/site.h"

#include "core/upcall.h"
#include "types/callable/function.h"
#include "types/class/class.h"
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

/* Makes the builtin and says as what it is known; NULL: it is none of these. */
static const char *make_builtin(dv_vm *vm, dv_value name, dv_value *v) {
    const dv_cfunction_def *def = dv_evaluate_functions;
    while (def->name && !dv_str_is(name, def->name)) def++;
    if (def->name) {
        *v = dv_cfunction_new(vm, def, DV_EMPTY, DV_EMPTY);
        return def->name;
    }
    const char *const *known = dv_site_names;
    while (*known && !dv_str_is(name, *known)) known++;
    if (!*known || vm->sys.flags[DV_FLAG_NO_SITE]) return NULL;
    *v = from_helper(vm, "_site", name);
    return *known;
}

dv_value dv_site_find(dv_vm *vm, dv_value name) {
    const dv_global_cell *cell = dv_namespace_find(&vm->builtins, name);
    if (cell && !dv_is_empty(cell->value)) return cell->value;
    dv_value v;
    const char *known = make_builtin(vm, name, &v);
    if (!known || dv_is_empty(v)) return DV_EMPTY;
    return dv_namespace_set(vm, &vm->builtins, known, v) ? v : DV_EMPTY;
}

dv_value dv_library_call(dv_vm *vm, const char *module, const char *function, const dv_value *args,
                         uint32_t count) {
    dv_value name = dv_str_intern(vm, function, strlen(function));
    dv_value callee = dv_is_empty(name) ? DV_EMPTY : from_helper(vm, module, name);
    dv_value result = dv_is_empty(callee) ? DV_EMPTY : dv_call(vm, callee, args, count, DV_EMPTY);
    dv_release(vm, callee);
    dv_release(vm, name);
    return result;
}

static bool complete(dv_vm *vm, const char *known) {
    dv_value name = dv_str_intern(vm, known, strlen(known));
    if (!dv_is_empty(name)) (void)dv_site_find(vm, name);
    dv_release(vm, name);
    return dv_is_empty(vm->error);
}

bool dv_site_complete(dv_vm *vm) {
    bool good = true;
    for (const dv_cfunction_def *def = dv_evaluate_functions; good && def->name; def++)
        good = complete(vm, def->name);
    for (const char *const *known = dv_site_names; good && *known; known++)
        good = complete(vm, *known);
    return good;
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

/* list[int] and int | None ----------------------------------------------------------------------
 */

static dv_value make_alias(dv_vm *vm, const char *function, dv_value a, dv_value b) {
    const dv_value args[] = {a, b};
    return dv_library_call(vm, "_generic_alias", function, args, 2);
}

/* Instances of the class, or of its base, contain others. */
static bool is_generic(const dv_class *class_) {
    switch ((dv_type_id)class_->type) {
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_DICT:
    case DV_T_SET:
    case DV_T_FROZENSET:
    case DV_T_ENUMERATE:
    case DV_T_PATTERN:
    case DV_T_MATCH:
    case DV_T_WEAK:
    case DV_T_DEQUE: return true;
    case DV_T_CLASS: return class_->descriptor == &dv_class_type;
    default: return false;
    }
}

dv_value dv_class_subscript(dv_vm *vm, dv_value class_, dv_value key) {
    dv_value function = dv_find_attribute(vm, class_, vm->known.class_getitem);
    if (!dv_is_empty(function)) {
        dv_value result = dv_call(vm, function, &key, 1, DV_EMPTY);
        dv_release(vm, function);
        return result;
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (is_generic(dv_as_class(class_))) return make_alias(vm, "GenericAlias", class_, key);
    return dv_raise(vm, DV_E_TYPE_ERROR, "type '%S' is not subscriptable",
                    dv_as_class(class_)->name);
}

dv_value dv_class_union(dv_vm *vm, dv_value a, dv_value b) { return make_alias(vm, "union", a, b); }
