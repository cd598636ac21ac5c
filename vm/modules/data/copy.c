/* copy.c: the module _copy: what lang/lib/copy.dl copies without asking an object for its __dict__,
 * which would be there for good and make every use of its attributes slower.
 *
 * Invariant 1: an object is only copied here if its class leaves copying to `object`. */
#include "core/upcall.h"
#include "modules/modules.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/class/slots.h"
#include "types/class/subclass.h"
#include "types/mapping/dict_view.h"
#include "types/mapping/set.h"
#include "types/number/range.h"
#include "types/sequence/iterator.h"
#include "types/sequence/tuple.h"

/* Does no class of dl that the object is of define one of these names? */
static bool defines_none(dv_vm *vm, const dv_class *class_, const dv_tuple *names) {
    for (int64_t i = 0; i < names->count; i++)
        if (dv_class_special_again(vm, class_, names->items[i])) return false;
    return true;
}

/* The same attributes with the same values for another object of the class. */
static bool copy_slots(dv_vm *vm, dv_object *to, dv_object *from, const dv_shape *shape) {
    size_t size = (shape->count + 1) * sizeof(dv_value);
    dv_value *names = dv_heap_alloc(&vm->heap, size);
    if (!names) return dv_raise_memory(vm), false;
    bool good = true;
    dv_shape_names(shape, names);
    for (uint32_t i = 0; i < shape->count && good; i++)
        good = dv_instance_store(vm, to, names[i], *dv_attribute_slot(from, i));
    dv_heap_free(&vm->heap, names, size);
    return good;
}

/* The instance's shape if it keeps its attributes in slots and its class has none of these names;
 * else NULL. */
static dv_shape *plain_shape(dv_vm *vm, dv_value x, dv_value names) {
    if (!dv_is_plain_instance(x)) return NULL;
    dv_shape *shape = dv_shape_at(vm, dv_as_object(x)->shape);
    bool plain = !shape->dictionary && defines_none(vm, shape->class_, dv_as_tuple(names));
    for (const dv_shape *s = shape; s->parent && plain; s = s->parent)
        plain = !dv_slot_is_hidden(s->name);
    return plain ? shape : NULL;
}

/* plain(x, names): a shallow copy of such an instance, or None. */
static dv_value copy_plain(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_shape *shape = plain_shape(vm, args[0], args[1]);
    if (!shape) return DV_NONE;
    dv_value made = dv_instance_new(vm, shape->class_);
    if (dv_is_empty(made)) return DV_EMPTY;
    if (copy_slots(vm, dv_as_object(made), dv_as_object(args[0]), shape)) return made;
    dv_release(vm, made);
    return DV_EMPTY;
}

/* attributes(x, names): what the __dict__ of such an instance would be, or None. */
static dv_value copy_attributes(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_shape *shape = plain_shape(vm, args[0], args[1]);
    if (!shape) return DV_NONE;
    size_t size = (shape->count + 1) * sizeof(dv_value);
    dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict)) return DV_EMPTY;
    dv_value *names = dv_heap_alloc(&vm->heap, size);
    if (!names) {
        dv_release(vm, dict);
        return dv_raise_memory(vm);
    }
    bool good = true;
    dv_shape_names(shape, names);
    for (uint32_t i = 0; i < shape->count && good; i++)
        good = dv_dict_set(vm, dict, names[i], *dv_attribute_slot(dv_as_object(args[0]), i));
    dv_heap_free(&vm->heap, names, size);
    if (good) return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

/* iterator(x): another iterator that goes on from where this one is, and takes from the same ones;
 * None: x is none that can be copied. */
static dv_value copy_iterator(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_object(args[0]) || dv_is_instance(args[0])) return DV_NONE;
    const dv_type_id shape = dv_as_object(args[0])->shape;
    const dv_range_iterator *range = (const dv_range_iterator *)dv_as_object(args[0]);
    dv_class *class_ = vm->classes[shape];
    switch (shape) {
    case DV_T_RANGE_ITERATOR:
        return dv_range_iterator_new(vm, range->next, range->step, range->remaining);
    case DV_T_ITERATOR: return dv_subclass_share(vm, class_, args[0], sizeof(dv_iterator));
    case DV_T_CALL_ITERATOR:
    case DV_T_REVERSED: /* also what a __reversed__ has made */
        return dv_subclass_share(vm, class_, args[0], sizeof(dv_pair_iterator));
    case DV_T_SET_ITERATOR: return dv_subclass_share(vm, class_, args[0], sizeof(dv_set_iterator));
    case DV_T_DICT_ITERATOR:
        return dv_subclass_share(vm, class_, args[0], sizeof(dv_dict_iterator));
    case DV_T_PAIRWISE: return DV_NONE;
    default: break;
    }
    const dv_type *type = vm->types[shape];
    return type->next && type->adopt && type->traverse ? type->adopt(vm, class_, args[0]) : DV_NONE;
}

static const dv_cfunction_def functions[] = {
    {.name = "iterator", .entry = copy_iterator, .min = 1, .max = 1},
    {.name = "plain", .entry = copy_plain, .min = 2, .max = 2},
    {.name = "attributes", .entry = copy_attributes, .min = 2, .max = 2},
    {.name = NULL}};

bool dv_copy_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
