/* getter.c: attributes that built-in types compute, as descriptors (getter.h). */
#include "types/class/getter.h"

#include <assert.h>

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/text/str.h"

#define GETTER(type_, name_)                                                 \
    {                                                                        \
        .type = type_, .def = {.name = name_, .flags = DV_CFUNCTION_GETTER } \
    }
#define FIELD(type_, name_)                                                                       \
    {                                                                                             \
        .type = type_, .def = {.name = name_, .flags = DV_CFUNCTION_GETTER | DV_CFUNCTION_FIELD } \
    }

/* Without __doc__, __module__ and __dict__ of instances, which classes have otherwise. */
typedef struct getter {
    dv_type_id type;
    dv_cfunction_def def;
} getter;

static const getter getters[] = {
    GETTER(DV_T_INT, "real"),
    GETTER(DV_T_INT, "imag"),
    GETTER(DV_T_INT, "numerator"),
    GETTER(DV_T_INT, "denominator"),
    GETTER(DV_T_FLOAT, "real"),
    GETTER(DV_T_FLOAT, "imag"),
    FIELD(DV_T_COMPLEX, "real"),
    FIELD(DV_T_COMPLEX, "imag"),
    GETTER(DV_T_MEMORYVIEW, "obj"),
    GETTER(DV_T_MEMORYVIEW, "nbytes"),
    GETTER(DV_T_MEMORYVIEW, "readonly"),
    GETTER(DV_T_MEMORYVIEW, "itemsize"),
    GETTER(DV_T_MEMORYVIEW, "format"),
    GETTER(DV_T_MEMORYVIEW, "ndim"),
    GETTER(DV_T_MEMORYVIEW, "shape"),
    GETTER(DV_T_MEMORYVIEW, "strides"),
    GETTER(DV_T_MEMORYVIEW, "suboffsets"),
    GETTER(DV_T_MEMORYVIEW, "c_contiguous"),
    GETTER(DV_T_MEMORYVIEW, "f_contiguous"),
    GETTER(DV_T_MEMORYVIEW, "contiguous"),
    FIELD(DV_T_RANGE, "start"),
    FIELD(DV_T_RANGE, "stop"),
    FIELD(DV_T_RANGE, "step"),
    FIELD(DV_T_SLICE, "start"),
    FIELD(DV_T_SLICE, "stop"),
    FIELD(DV_T_SLICE, "step"),
    GETTER(DV_T_FUNCTION, "__name__"),
    GETTER(DV_T_FUNCTION, "__qualname__"),
    GETTER(DV_T_FUNCTION, "__code__"),
    GETTER(DV_T_FUNCTION, "__defaults__"),
    GETTER(DV_T_FUNCTION, "__kwdefaults__"),
    GETTER(DV_T_FUNCTION, "__annotations__"),
    FIELD(DV_T_FUNCTION, "__closure__"),
    FIELD(DV_T_FUNCTION, "__globals__"),
    FIELD(DV_T_FUNCTION, "__builtins__"),
    FIELD(DV_T_METHOD, "__func__"),
    FIELD(DV_T_METHOD, "__self__"),
    GETTER(DV_T_CFUNCTION, "__name__"),
    GETTER(DV_T_CFUNCTION, "__qualname__"),
    GETTER(DV_T_CFUNCTION, "__self__"),
    FIELD(DV_T_WRAPPER_DESCRIPTOR, "__name__"),
    FIELD(DV_T_WRAPPER_DESCRIPTOR, "__objclass__"),
    GETTER(DV_T_WRAPPER_DESCRIPTOR, "__qualname__"),
    FIELD(DV_T_METHOD_DESCRIPTOR, "__name__"),
    FIELD(DV_T_METHOD_DESCRIPTOR, "__objclass__"),
    GETTER(DV_T_METHOD_DESCRIPTOR, "__qualname__"),
    FIELD(DV_T_GETSET_DESCRIPTOR, "__name__"),
    FIELD(DV_T_GETSET_DESCRIPTOR, "__objclass__"),
    GETTER(DV_T_GETSET_DESCRIPTOR, "__qualname__"),
    GETTER(DV_T_METHOD_WRAPPER, "__name__"),
    GETTER(DV_T_METHOD_WRAPPER, "__qualname__"),
    GETTER(DV_T_METHOD_WRAPPER, "__objclass__"),
    FIELD(DV_T_METHOD_WRAPPER, "__self__"),
    FIELD(DV_T_CODE, "co_argcount"),
    FIELD(DV_T_CODE, "co_posonlyargcount"),
    FIELD(DV_T_CODE, "co_kwonlyargcount"),
    FIELD(DV_T_CODE, "co_filename"),
    FIELD(DV_T_CODE, "co_firstlineno"),
    FIELD(DV_T_CODE, "co_flags"),
    FIELD(DV_T_CODE, "co_name"),
    FIELD(DV_T_CODE, "co_nlocals"),
    FIELD(DV_T_CODE, "co_qualname"),
    GETTER(DV_T_CODE, "co_cellvars"),
    GETTER(DV_T_CODE, "co_freevars"),
    GETTER(DV_T_CODE, "co_varnames"),
    GETTER(DV_T_CELL, "cell_contents"),
    GETTER(DV_T_GENERATOR, "__name__"),
    GETTER(DV_T_GENERATOR, "__qualname__"),
    FIELD(DV_T_GENERATOR, "gi_code"),
    GETTER(DV_T_GENERATOR, "gi_frame"),
    GETTER(DV_T_GENERATOR, "gi_running"),
    GETTER(DV_T_GENERATOR, "gi_suspended"),
    GETTER(DV_T_GENERATOR, "gi_yieldfrom"),
    GETTER(DV_T_FRAME, "f_back"),
    FIELD(DV_T_FRAME, "f_code"),
    GETTER(DV_T_FRAME, "f_globals"),
    GETTER(DV_T_FRAME, "f_locals"),
    GETTER(DV_T_FRAME, "f_lineno"),
    FIELD(DV_T_TRACEBACK, "tb_frame"),
    GETTER(DV_T_TRACEBACK, "tb_lineno"),
    GETTER(DV_T_TRACEBACK, "tb_next"),
    GETTER(DV_T_EXCEPTION, "args"),
    GETTER(DV_T_EXCEPTION, "__cause__"),
    GETTER(DV_T_EXCEPTION, "__context__"),
    FIELD(DV_T_EXCEPTION, "__suppress_context__"),
    GETTER(DV_T_EXCEPTION, "__traceback__"),
    FIELD(DV_T_PROPERTY, "fget"),
    FIELD(DV_T_PROPERTY, "fset"),
    FIELD(DV_T_PROPERTY, "fdel"),
    FIELD(DV_T_STATICMETHOD, "__func__"),
    FIELD(DV_T_STATICMETHOD, "__wrapped__"),
    FIELD(DV_T_CLASSMETHOD, "__func__"),
    FIELD(DV_T_CLASSMETHOD, "__wrapped__"),
    FIELD(DV_T_SUPER, "__self__"),
    FIELD(DV_T_SUPER, "__self_class__"),
    FIELD(DV_T_SUPER, "__thisclass__"),
};

/* The same of types whose classes are made when a module is imported: a start does not look at
 * them. */
static const getter module_getters[] = {
    GETTER(DV_T_DEQUE, "maxlen"),    FIELD(DV_T_WEAK, "__callback__"),
    FIELD(DV_T_PATTERN, "pattern"),  FIELD(DV_T_PATTERN, "flags"),
    FIELD(DV_T_PATTERN, "groups"),   GETTER(DV_T_PATTERN, "groupindex"),
    FIELD(DV_T_MATCH, "string"),     FIELD(DV_T_MATCH, "re"),
    FIELD(DV_T_MATCH, "pos"),        FIELD(DV_T_MATCH, "endpos"),
    GETTER(DV_T_MATCH, "lastindex"), GETTER(DV_T_MATCH, "lastgroup"),
    GETTER(DV_T_MATCH, "regs"),      FIELD(DV_T_REGEX_SCANNER, "pattern"),
};

static bool add(dv_vm *vm, dv_class *class_, const dv_cfunction_def *def) {
    dv_value getter = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(class_));
    return !dv_is_empty(getter) && dv_namespace_set(vm, &class_->attributes, def->name, getter);
}

bool dv_getters_add(dv_vm *vm, dv_class *class_, bool underscored) {
    const dv_type *type = class_->descriptor;
    if (class_->base && class_->base->descriptor == type) return true; /* of its base */
    const bool of_module = type->id >= DV_T_COUNTER && type->id <= DV_T_REGEX_SCANNER;
    const getter *table = of_module ? module_getters : getters;
    const size_t count = of_module ? sizeof module_getters / sizeof *module_getters
                                   : sizeof getters / sizeof *getters;
    for (size_t i = 0; i < count; i++)
        if (table[i].type == type->id && (table[i].def.name[0] == '_') == underscored &&
            !add(vm, class_, &table[i].def))
            return false;
    return true;
}

dv_value dv_getter_read(dv_vm *vm, dv_value getter, dv_value self) {
    const char *text = ((const dv_cfunction *)dv_as_object(getter))->def->name;
    dv_value name = dv_str_intern(vm, text, strlen(text));
    if (dv_is_empty(name)) return DV_EMPTY;
    /* Each type knows its getters, classes of dl that of __weakref__. */
    const dv_class *owner = dv_as_class(((const dv_cfunction *)dv_as_object(getter))->owner);
    dv_value result = owner->descriptor
                          ? vm->types[dv_type_of(vm, self)]->get_attribute(vm, self, name)
                          : dv_get_attribute(vm, self, name);
    assert(!dv_is_empty(result) || !dv_is_empty(vm->error));
    dv_release(vm, name);
    return result;
}

void dv_getter_refuse(dv_vm *vm, dv_value getter) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(getter);
    const dv_class *owner = dv_as_class(function->owner);
    if (function->def->flags & DV_CFUNCTION_FIELD)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute");
    else if (owner->descriptor)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "attribute '%s' of '%s' objects is not writable",
                 function->def->name, owner->descriptor->name);
    else
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "attribute '%s' of '%S' objects is not writable",
                 function->def->name, owner->name);
}
