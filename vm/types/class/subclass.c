/* subclass.c: instances of dl classes that derive from built-in types (subclass.h).  What they do
 * is in instance.c. */
#include "types/class/subclass.h"

#include "core/upcall.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/number/complex.h"
#include "types/exception/exception.h"
#include "types/number/float.h"
#include "types/number/int_arith.h"
#include "types/mapping/set.h"
#include "types/sequence/tuple.h"

/* Are keyword arguments no business of the built-in type, because a dl class between has the method
 * that takes them (__init__ where the type's __new__ is called, and the other way round)? */
static bool is_meant_for(const dv_class *class_, const dv_type *type, dv_value keywords,
                         dv_value method) {
    return !dv_is_empty(keywords) && type->ignores_keywords && dv_class_special(class_, method);
}

/* How many keyword arguments are forgotten. */
static uint32_t drop_keywords(dv_value *keywords) {
    uint32_t count = (uint32_t)dv_as_tuple(*keywords)->count;
    *keywords = DV_EMPTY;
    return count;
}

/* __new__ of a type with `make`. */
static dv_value make(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                     dv_value keywords) {
    const dv_type *type = vm->types[class_->type];
    dv_value self = type->make(vm, class_);
    if (dv_is_empty(self) || !type->filled_by_new ||
        type->initialise(vm, self, args, count, keywords))
        return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

dv_value dv_subclass_new(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                         dv_value keywords) {
    const dv_type *type = vm->types[class_->type];
    bool later = type->initialise != NULL; /* what __init__ fills starts empty */
    if (later && type->make) return make(vm, class_, args, count, keywords);
    if (is_meant_for(class_, type, keywords, vm->known.init)) count -= drop_keywords(&keywords);
    dv_value exact = type->construct(vm, args, later ? 0 : count, later ? DV_EMPTY : keywords);
    if (dv_is_empty(exact)) return DV_EMPTY;
    dv_value self = type->adopt(vm, class_, exact);
    dv_release(vm, exact);
    return self;
}

bool dv_subclass_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    const dv_type *type = vm->types[dv_type_of(vm, self)];
    if (type->filled_by_new) return true;
    if (is_meant_for(dv_class_of(vm, self), type, keywords, vm->known.new_))
        count -= drop_keywords(&keywords);
    return type->initialise(vm, self, args, count, keywords);
}

static dv_value method_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return dv_subclass_initialise(vm, args[0], args + 1, count - 1, keywords) ? DV_NONE : DV_EMPTY;
}

const dv_cfunction_def dv_subclass_init = {.name = "__init__",
                                           .keyword_entry = method_init,
                                           .min = 1,
                                           .max = UINT32_MAX,
                                           .flags = DV_CFUNCTION_WRAPPER};

/* The class itself stands in args[0]; T.__new__(T, ...) is T(...). */
static dv_value method_new(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    dv_class *class_ = dv_as_class(args[0]);
    if (class_->type == DV_T_EXCEPTION)
        return dv_exception_make(vm, class_, args + 1, count - 1, keywords);
    const dv_type *type = vm->types[class_->type];
    if (!class_->descriptor) return dv_subclass_new(vm, class_, args + 1, count - 1, keywords);
    bool later = type->initialise != NULL;
    if (type->make) return make(vm, class_, args + 1, count - 1, keywords);
    return type->construct(vm, args + 1, later ? 0 : count - 1, later ? DV_EMPTY : keywords);
}

const dv_cfunction_def dv_subclass_make = {.name = "__new__",
                                           .keyword_entry = method_new,
                                           .min = 1,
                                           .max = UINT32_MAX,
                                           .flags = DV_CFUNCTION_STATIC | DV_CFUNCTION_NEW};

dv_value dv_subclass_of_exact(dv_vm *vm, dv_value class_, dv_value exact) {
    if (dv_is_empty(exact) || dv_as_class(class_) == dv_class_of(vm, exact)) return exact;
    dv_value result = dv_call(vm, class_, &exact, 1, DV_EMPTY);
    dv_release(vm, exact);
    return result;
}

static void retain_one(dv_vm *vm, dv_value value, void *context) {
    (void)vm, (void)context;
    dv_retain(value);
}

dv_value dv_subclass_share(dv_vm *vm, dv_class *class_, dv_value exact, size_t size) {
    dv_object *self = class_->descriptor ? dv_container_new(vm, size, class_->type)
                                         : dv_subclass_alloc(vm, class_, size);
    if (!self) return DV_EMPTY;
    memcpy(self + 1, dv_as_object(exact) + 1, size - sizeof *self);
    vm->types[class_->type]->traverse(vm, self, retain_one, NULL);
    return dv_object_value(self);
}

static dv_value copy_str(dv_vm *vm, dv_value v) {
    const dv_str *from = dv_as_str(v);
    dv_str *s = dv_str_alloc(vm, from->length, from->kind);
    if (!s) return DV_EMPTY;
    memcpy(s->data, from->data, (size_t)from->length * from->kind);
    return dv_object_value(s);
}

static dv_value copy_int(dv_vm *vm, dv_value v) {
    dv_int_view view, zero;
    dv_int_look(v, &view);
    dv_int_look(dv_int(0), &zero);
    return dv_int_add(vm, &view, &zero, false);
}

dv_value dv_plain_copy(dv_vm *vm, dv_value v) {
    switch (dv_type_of(vm, v)) {
    case DV_T_INT: return copy_int(vm, v);
    case DV_T_FLOAT: return dv_number_of(v);
    case DV_T_COMPLEX: return dv_complex_new(vm, dv_as_complex(v)->real, dv_as_complex(v)->imag);
    case DV_T_STR: return copy_str(vm, v);
    case DV_T_BYTES: return dv_bytes_new(vm, dv_as_str(v)->data, dv_as_str(v)->length);
    case DV_T_TUPLE: return dv_tuple_new(vm, dv_as_tuple(v)->items, dv_as_tuple(v)->count);
    case DV_T_FROZENSET: return dv_set_from(vm, DV_T_FROZENSET, v);
    default: return dv_retain(v);
    }
}
