/* builtins.c: filling the namespace of builtins (builtins.h). */
#include "builtins/builtins.h"

#include <string.h>

#include "types/callable/function.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

dv_value dv_keyword_argument(const dv_value *args, uint32_t positional, dv_value keywords,
                             const char *name) {
    if (dv_is_empty(keywords)) return DV_EMPTY;
    const dv_tuple *names = dv_as_tuple(keywords);
    for (int64_t i = 0; i < names->count; i++)
        if (dv_str_is(names->items[i], name)) return args[positional + i];
    return DV_EMPTY;
}

bool dv_check_keywords(dv_vm *vm, dv_value keywords, const char *const *names,
                       const char *function) {
    if (dv_is_empty(keywords)) return true;
    const dv_tuple *given = dv_as_tuple(keywords);
    for (int64_t i = 0; i < given->count; i++) {
        const char *const *name = names;
        while (*name && !dv_str_is(given->items[i], *name)) name++;
        if (*name) continue;
        dv_raise(vm, DV_E_TYPE_ERROR, "'%S' is an invalid keyword argument for %s()",
                 given->items[i], function);
        return false;
    }
    return true;
}

static const dv_type_id classes[] = {
    DV_T_OBJECT, DV_T_CLASS,      DV_T_INT,     DV_T_FLOAT,    DV_T_BOOL,         DV_T_STR,
    DV_T_TUPLE,  DV_T_LIST,       DV_T_DICT,    DV_T_RANGE,    DV_T_SLICE,        DV_T_ENUMERATE,
    DV_T_ZIP,    DV_T_MAP,        DV_T_FILTER,  DV_T_REVERSED, DV_T_SET,          DV_T_FROZENSET,
    DV_T_BYTES,  DV_T_BYTEARRAY,  DV_T_COMPLEX, DV_T_PROPERTY, DV_T_STATICMETHOD, DV_T_CLASSMETHOD,
    DV_T_SUPER,  DV_T_MEMORYVIEW,
};

static bool add_classes(dv_vm *vm) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        dv_value class_ = dv_object_value(vm->classes[classes[i]]);
        if (!dv_namespace_set(vm, &vm->builtins, vm->types[classes[i]]->name, dv_retain(class_)))
            return false;
    }
    return true;
}

static bool add_functions(dv_vm *vm, const dv_cfunction_def *def) {
    for (; def->name; def++) {
        dv_value function = dv_cfunction_new(vm, def, DV_EMPTY, DV_EMPTY);
        if (dv_is_empty(function) || !dv_namespace_set(vm, &vm->builtins, def->name, function))
            return false;
    }
    return true;
}

/* What generator expressions in place ask for (JUMP_IF_BUILTIN). */
static bool know_consumers(dv_vm *vm) {
    for (int i = DV_CONSUMER_NONE + 1; i < DV_CONSUMERS; i++) {
        const dv_value name = dv_str_intern(vm, dv_consumer_names[i], strlen(dv_consumer_names[i]));
        if (dv_is_empty(name)) return false;
        const dv_global_cell *cell = dv_namespace_find(&vm->builtins, name);
        vm->known.consumers[i] = dv_retain(cell->value);
        dv_release(vm, name);
    }
    return true;
}

bool dv_builtins_setup(dv_vm *vm) {
    return add_classes(vm) && add_functions(vm, dv_builtin_output) &&
           add_functions(vm, dv_builtin_numbers) && add_functions(vm, dv_builtin_objects) &&
           know_consumers(vm) &&
           dv_namespace_set(vm, &vm->builtins, "NotImplemented", DV_NOTIMPLEMENTED) &&
           dv_namespace_set(vm, &vm->builtins, "Ellipsis", DV_ELLIPSIS) &&
           dv_namespace_set(vm, &vm->builtins, "__debug__",
                            vm->sys.flags[DV_FLAG_OPTIMIZE] ? DV_FALSE : DV_TRUE);
}
