/* setup.c: putting types, builtins and modules into a bare machine (setup.h).  This happens for
 * every VM, so it does little: methods become attributes of their class at the first lookup, and
 * modules are made when they are imported. */
#include "api/setup.h"

#include "api/compile.h"
#include "builtins/builtins.h"
#include "modules/data/heapq.h"
#include "modules/modules.h"
#include "modules/numeric/random.h"
#include "plugin/plugin.h"
#include "quicken/site.h"
#include "region/region.h"
#include "run/thread.h"
#include "types/binary/bytes.h"
#include "types/binary/memoryview.h"
#include "types/class/class.h"
#include "types/number/complex.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict_view.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/callable/generator.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/mapping/mapping_proxy.h"
#include "types/number/range.h"
#include "types/mapping/set.h"
#include "types/number/singleton.h"
#include "types/class/slots.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/class/super.h"
#include "types/exception/traceback.h"
#include "types/sequence/tuple.h"
#include "types/callable/variable.h"

static const dv_type *const types[] = {
    &dv_none_type,          &dv_bool_type,
    &dv_ellipsis_type,      &dv_notimplemented_type,
    &dv_float_type,         &dv_int_type,
    &dv_str_type,           &dv_tuple_type,
    &dv_list_type,          &dv_dict_type,
    &dv_range_type,         &dv_slice_type,
    &dv_code_type,          &dv_function_type,
    &dv_cfunction_type,     &dv_method_type,
    &dv_class_type,         &dv_object_type,
    &dv_module_type,        &dv_exception_type,
    &dv_iterator_type,      &dv_range_iterator_type,
    &dv_dict_iterator_type, &dv_dict_view_type,
    &dv_enumerate_type,     &dv_zip_type,
    &dv_map_type,           &dv_filter_type,
    &dv_reversed_type,      &dv_call_iterator_type,
    &dv_stream_type,        &dv_set_type,
    &dv_frozenset_type,     &dv_set_iterator_type,
    &dv_bytes_type,         &dv_bytearray_type,
    &dv_memoryview_type,    &dv_complex_type,
    &dv_variable_type,      &dv_heapq_merge_type,
    &dv_random_type,        &dv_property_type,
    &dv_staticmethod_type,  &dv_classmethod_type,
    &dv_super_type,         &dv_mapping_proxy_type,
    &dv_generator_type,     &dv_member_type,
    &dv_long_range_type,    &dv_long_range_iterator_type,
    &dv_traceback_type,     &dv_frame_type,
};

/* Types that objects of others show themselves as (dv_type.face). */
static const struct {
    const dv_type *first;
    size_t count;
} faces[] = {
    {dv_iterator_faces, DV_ITERATOR_FACES},
    {dv_dict_view_faces, 3},
    {dv_dict_iterator_faces, 6},
    {dv_cfunction_faces, DV_CFUNCTION_FACES},
    {&dv_list_reverse_type, 1},
};

#define KNOWN(field, text) \
    { offsetof(dv_known, field), text }

static const struct {
    size_t offset;
    const char *text;
} known_names[] = {
    KNOWN(empty_str, ""),
    KNOWN(init, "__init__"),
    KNOWN(name, "__name__"),
    KNOWN(doc, "__doc__"),
    KNOWN(annotations, "__annotations__"),
    KNOWN(module, "__module__"),
    KNOWN(qualname, "__qualname__"),
    KNOWN(dict, "__dict__"),
    KNOWN(class_, "__class__"),
    KNOWN(add, "__add__"),
    KNOWN(len, "__len__"),
    KNOWN(str, "__str__"),
    KNOWN(repr, "__repr__"),
    KNOWN(eq, "__eq__"),
    KNOWN(call, "__call__"),
    KNOWN(getitem, "__getitem__"),
    KNOWN(setitem, "__setitem__"),
    KNOWN(delitem, "__delitem__"),
    KNOWN(contains, "__contains__"),
    KNOWN(iter, "__iter__"),
    KNOWN(next, "__next__"),
    KNOWN(bool_, "__bool__"),
    KNOWN(lt, "__lt__"),
    KNOWN(le, "__le__"),
    KNOWN(gt, "__gt__"),
    KNOWN(ge, "__ge__"),
    KNOWN(ne, "__ne__"),
    KNOWN(hash, "__hash__"),
    KNOWN(main, "__main__"),
    KNOWN(delattr, "__delattr__"),
    KNOWN(dir, "__dir__"),
    KNOWN(enter, "__enter__"),
    KNOWN(default_factory, "default_factory"),
    KNOWN(exit, "__exit__"),
    KNOWN(file, "file"),
    KNOWN(format, "__format__"),
    KNOWN(getattr, "__getattr__"),
    KNOWN(index, "__index__"),
    KNOWN(invert, "__invert__"),
    KNOWN(length_hint, "__length_hint__"),
    KNOWN(missing, "__missing__"),
    KNOWN(del, "__del__"),
    KNOWN(neg, "__neg__"),
    KNOWN(obj, "obj"),
    KNOWN(pos, "__pos__"),
    KNOWN(reversed, "__reversed__"),
    KNOWN(setattr, "__setattr__"),
    KNOWN(abs, "__abs__"),
    KNOWN(bytes_, "__bytes__"),
    KNOWN(ceil, "__ceil__"),
    KNOWN(complex_, "__complex__"),
    KNOWN(float_, "__float__"),
    KNOWN(floor, "__floor__"),
    KNOWN(int_, "__int__"),
    KNOWN(trunc, "__trunc__"),
    KNOWN(abstractmethods, "__abstractmethods__"),
    KNOWN(instancecheck, "__instancecheck__"),
    KNOWN(match_args, "__match_args__"),
    KNOWN(prepare, "__prepare__"),
    KNOWN(subclasscheck, "__subclasscheck__"),
    KNOWN(subclasshook, "__subclasshook__"),
    KNOWN(base, "__base__"),
    KNOWN(bases, "__bases__"),
    KNOWN(builtins, "__builtins__"),
    KNOWN(class_cell, "__classcell__"),
    KNOWN(class_getitem, "__class_getitem__"),
    KNOWN(delete_, "__delete__"),
    KNOWN(get, "__get__"),
    KNOWN(getattribute, "__getattribute__"),
    KNOWN(init_subclass, "__init_subclass__"),
    KNOWN(mro, "__mro__"),
    KNOWN(new_, "__new__"),
    KNOWN(set, "__set__"),
    KNOWN(set_name, "__set_name__"),
    KNOWN(slots, "__slots__"),
};

/* Names of the binary operators' special methods, in the order of dv_binary_op. */
static const char *const operator_names[DV_BINARY_OPS] = {
    "add",    "sub",    "mul",    "truediv", "floordiv", "mod", "pow",
    "matmul", "lshift", "rshift", "and",     "or",       "xor", "divmod"};

static bool know(dv_vm *vm, dv_value *place, const char *text) {
    *place = dv_str_intern_name(vm, text, strlen(text));
    return !dv_is_empty(*place);
}

/* __add__, __radd__ or __iadd__ */
static bool know_operator(dv_vm *vm, dv_value *place, const char *prefix, const char *name) {
    char text[24] = "__";
    strcat(text, prefix);
    strcat(text, name);
    strcat(text, "__");
    return know(vm, place, text);
}

static bool know_names(dv_vm *vm) {
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++) {
        dv_value *place = (dv_value *)(void *)((char *)&vm->known + known_names[i].offset);
        if (!know(vm, place, known_names[i].text)) return false;
    }
    for (int op = 0; op < DV_BINARY_OPS; op++) {
        const char *name = operator_names[op];
        if (!know_operator(vm, &vm->known.binary[op], "", name) ||
            !know_operator(vm, &vm->known.reflected[op], "r", name) ||
            !know_operator(vm, &vm->known.inplace[op], "i", name))
            return false;
    }
    vm->known.empty_tuple = dv_tuple_new(vm, NULL, 0);
    return !dv_is_empty(vm->known.empty_tuple);
}

/* bool is a subclass of int, everything else of object. */
static dv_class *base_of(dv_vm *vm, dv_type_id id) {
    if (id == DV_T_OBJECT) return NULL;
    return vm->classes[id == DV_T_BOOL ? DV_T_INT : DV_T_OBJECT];
}

static bool make_class(dv_vm *vm, const dv_type *type) {
    if (vm->classes[type->id] || type->id == DV_T_EXCEPTION) return true;
    const char *dot = strrchr(type->name, '.'), *short_name = dot ? dot + 1 : type->name;
    dv_value name = dv_str_intern(vm, short_name, strlen(short_name));
    if (dv_is_empty(name)) return false;
    dv_class *class_ = dv_class_new(vm, name, base_of(vm, type->id), type->id);
    dv_release(vm, name);
    if (!class_) return false;
    class_->descriptor = type;
    class_->weak = type->weakly;
    if (type->id == DV_T_PROPERTY) class_->flags |= DV_CLASS_DESCRIPTOR | DV_CLASS_SETTER;
    if (type->id == DV_T_STATICMETHOD || type->id == DV_T_CLASSMETHOD)
        class_->flags |= DV_CLASS_DESCRIPTOR;
    vm->classes[type->id] = class_;
    return true;
}

static bool make_classes(dv_vm *vm) {
    if (!make_class(vm, &dv_object_type) || !make_class(vm, &dv_int_type)) return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!make_class(vm, types[i])) return false;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++)
        for (size_t j = 0; j < faces[i].count; j++) {
            vm->types[faces[i].first[j].id] = &faces[i].first[j];
            if (!make_class(vm, &faces[i].first[j])) return false;
        }
    return true;
}

bool dv_setup(dv_vm *vm) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) vm->types[types[i]->id] = types[i];
    dv_namespace_init(&vm->builtins);
    if (!know_names(vm) || !make_classes(vm) || !dv_exception_setup(vm) || !dv_builtins_setup(vm) ||
        !dv_modules_setup(vm) || !dv_plugin_setup(vm))
        return false;
    vm->hooks.import.compile_text = dv_compile_as;
    vm->hooks.import.compile_file = dv_compile_import;
    vm->hooks.import.evaluate_text = dv_compile_evaluated;
    if (vm->level >= DV_LEVEL_INCA) dv_quicken_setup(vm);
    if (vm->level == DV_LEVEL_NAMA) dv_region_setup(vm);
    return true;
}

/* Taking down -----------------------------------------------------------------------------------
 */

static void drop(dv_vm *vm, dv_value *place) {
    dv_value old = *place;
    *place = DV_EMPTY;
    dv_release(vm, old);
}

static void clear_names(dv_vm *vm, dv_value module) {
    if (!dv_is_module(module)) return;
    dv_retain(module);
    dv_namespace_clear(vm, &dv_as_module(module)->names);
    dv_release(vm, module);
}

static void clear_modules(dv_vm *vm, dv_value modules) {
    if (!dv_is_dict(modules)) return;
    int64_t position = 0;
    dv_value name, module;
    while (dv_dict_walk(modules, &position, &name, &module)) clear_names(vm, module);
}

/* The functions of atexit, which report what they raise themselves. */
static void run_at_exit(dv_vm *vm) {
    const dv_value function = vm->at_exit;
    vm->at_exit = DV_EMPTY;
    if (dv_is_empty(function)) return;
    dv_release(vm, dv_call(vm, function, NULL, 0, DV_EMPTY));
    dv_error_clear(vm);
    dv_release(vm, function);
}

void dv_teardown(dv_vm *vm) {
    drop(vm, &vm->handled);
    dv_error_clear(vm);
    run_at_exit(vm);
    dv_collect_finalise_all(vm);
    vm->sys.stdin_cell = vm->sys.stdout_cell = vm->sys.path_cell = NULL;
    clear_names(vm, vm->main);
    clear_modules(vm, vm->modules);
    clear_modules(vm, vm->helpers);
    drop(vm, &vm->main);
    drop(vm, &vm->sys.module);
    drop(vm, &vm->modules);
    drop(vm, &vm->helpers);
    drop(vm, &vm->sys.arguments);
    drop(vm, &vm->sys.path);
    drop(vm, &vm->sys.warn_options);
    drop(vm, &vm->sys.x_options);
    drop(vm, &vm->struct_formats);
    drop(vm, &vm->extensions.number_attributes);
    dv_regex_end(vm);
    drop(vm, &vm->memory_error); /* its traceback holds code */
    if (vm->hooks.region.discard) vm->hooks.region.discard(vm);
    if (vm->extensions.plugins) dv_plugin_discard(vm);
}
