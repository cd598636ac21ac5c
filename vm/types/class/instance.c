/* instance.c: operators, comparison, subscripts, ... of instances through special methods
 * (instance.h), and the type `object`. */
#include "types/class/instance.h"

#include "core/native.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/class/descriptor.h"
#include "types/class/directory.h"
#include "types/exception/exception.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/binary/bytes.h"
#include "types/class/getter.h"
#include "types/class/instance_dict.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/class/lookup.h"
#include "types/class/metaclass.h"
#include "types/text/str.h"

/* Calling special methods -----------------------------------------------------------------------
 */

static dv_global_cell *special_cell(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_instance(self))
        return dv_class_special_again(vm, dv_shape_at(vm, dv_as_object(self)->shape)->class_, name);
    if (dv_is_class(self)) return dv_metaclass_special(dv_as_class(self), name);
    return dv_is_foreign(self) ? dv_class_special(dv_class_of(vm, self), name) : NULL;
}

bool dv_has_special(dv_vm *vm, dv_value self, dv_value name) {
    dv_global_cell *cell = special_cell(vm, self, name);
    return cell && !dv_is_none(cell->value);
}

bool dv_defines_special(dv_vm *vm, dv_value self, dv_value name) {
    return special_cell(vm, self, name) != NULL;
}

dv_value dv_call_in_front(dv_vm *vm, dv_value callee, dv_value first, const dv_value *args,
                          uint32_t count, dv_value keywords) {
    dv_value few[6], *all = few;
    size_t size = (count + 1) * sizeof *all;
    if (count + 1 > 6 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    all[0] = first;
    if (count) memcpy(all + 1, args, count * sizeof *args);
    dv_value result = dv_call(vm, callee, all, count + 1, keywords);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    return result;
}

dv_value dv_call_with_self(dv_vm *vm, dv_value function, dv_value self, const dv_value *args,
                           uint32_t count, dv_value keywords) {
    if (dv_is_function(function) || dv_is_method(function))
        return dv_call_in_front(vm, function, self, args, count, keywords);
    dv_value bound = dv_bind(vm, function, self, dv_class_of(vm, self));
    if (dv_is_empty(bound)) return DV_EMPTY;
    dv_value result = dv_call(vm, bound, args, count, keywords);
    dv_release(vm, bound);
    return result;
}

/* None in place of these methods says that there is none; of others it is called, and raises. */
static bool may_be_none(const dv_vm *vm, dv_value name) {
    return dv_same(name, vm->known.hash) || dv_same(name, vm->known.iter) ||
           dv_same(name, vm->known.contains);
}

/* Where a descriptor does not give these methods but raises, CPython forgets what it raised: there
 * is none. */
static bool may_fail(const dv_vm *vm, dv_value name) {
    bool compares = false;
    for (int op = DV_LT; op <= DV_NE; op++)
        compares |= dv_same(name, dv_comparison_name(vm, (dv_compare_op)op));
    return compares || dv_same(name, vm->known.hash) || dv_same(name, vm->known.iter) ||
           dv_same(name, vm->known.repr);
}

/* The same of what has to be bound first. */
static dv_value bind_and_call(dv_vm *vm, dv_value function, dv_value self, dv_value name,
                              const dv_value *args, uint32_t count, bool *found) {
    dv_value bound = dv_bind(vm, function, self, dv_class_of(vm, self));
    if (dv_is_empty(bound)) {
        *found = !may_fail(vm, name);
        if (!*found) dv_error_clear(vm);
        return DV_EMPTY;
    }
    dv_value result = dv_call(vm, bound, args, count, DV_EMPTY);
    dv_release(vm, bound);
    return result;
}

dv_value dv_special_call(dv_vm *vm, dv_value self, dv_value name, const dv_value *args,
                         uint32_t count, bool *found) {
    dv_global_cell *cell = special_cell(vm, self, name);
    *found = cell && !(dv_is_none(cell->value) && may_be_none(vm, name));
    if (!*found) return DV_EMPTY;
    if (DV_LIKELY(dv_is_function(cell->value) && count <= 1)) { /* the frame keeps it */
        dv_value all[2] = {self, count ? args[0] : DV_EMPTY};
        return dv_call(vm, cell->value, all, count + 1, DV_EMPTY);
    }
    dv_value function = dv_retain(cell->value);
    dv_value result = dv_is_function(function) || dv_is_method(function)
                          ? dv_call_in_front(vm, function, self, args, count, DV_EMPTY)
                          : bind_and_call(vm, function, self, name, args, count, found);
    dv_release(vm, function);
    return result;
}

/* The built-in type that the instance's class derives from; NULL: none but `object`. */
static const dv_type *layout_of(dv_vm *vm, dv_value self) {
    return dv_is_subclass_instance(self) ? vm->types[dv_type_of(vm, self)] : NULL;
}

/* Text and hash ---------------------------------------------------------------------------------
 */

dv_value dv_default_repr(dv_vm *vm, dv_value self) {
    dv_value name = dv_class_qualified_name(vm, dv_class_of(vm, self));
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value text = dv_str_printf(vm, "<%S object at 0x%llx>", name, dv_identity(vm, self));
    dv_release(vm, name);
    return text;
}

/* Calls the method `name`; what is wrong with its result is said of `blamed`. */
static dv_value special_text(dv_vm *vm, dv_value self, dv_value name, dv_value blamed,
                             bool *found) {
    dv_value text = dv_special_call(vm, self, name, NULL, 0, found);
    if (dv_is_empty(text) || dv_is_str(text)) return text;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S returned non-string (type %T)", blamed, text);
    dv_release(vm, text);
    return DV_EMPTY;
}

dv_value dv_special_text(dv_vm *vm, dv_value self, dv_value name, bool *found) {
    return special_text(vm, self, name, name, found);
}

static dv_value inherited_repr(dv_vm *vm, dv_value self) {
    const dv_type *layout = layout_of(vm, self);
    return layout && layout->repr ? layout->repr(vm, dv_number_of(self))
                                  : dv_default_repr(vm, self);
}

static dv_value object_repr(dv_vm *vm, dv_value self) {
    bool found;
    dv_value text = dv_special_text(vm, self, vm->known.repr, &found);
    if (found || !dv_defines_special(vm, self, vm->known.repr))
        return found ? text : inherited_repr(vm, self);
    return dv_str_printf(vm, "<%T object at 0x%llx>", self, dv_identity(vm, self));
}

/* A str is its own text, and bytes have a __str__; other built-in types leave str() to repr(). */
static dv_value inherited_str(dv_vm *vm, dv_value self) {
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->str) return layout->str(vm, self);
    if (dv_is_bytes_like(self)) return layout->repr(vm, self);
    bool found;
    dv_value text = special_text(vm, self, vm->known.repr, vm->known.str, &found);
    return found ? text : inherited_repr(vm, self);
}

static dv_value object_str(dv_vm *vm, dv_value self) {
    bool found;
    dv_value text = dv_special_text(vm, self, vm->known.str, &found);
    return found ? text : inherited_str(vm, self);
}

int64_t dv_default_hash(const dv_vm *vm, dv_value self) {
    return dv_hash_address(dv_identity(vm, self));
}

/* __hash__; an __hash__ that is None makes unhashable. */
static bool special_hash(dv_vm *vm, dv_value self, int64_t *hash, bool *found) {
    dv_global_cell *cell = special_cell(vm, self, vm->known.hash);
    *found = cell != NULL;
    if (!cell) return true;
    if (dv_is_none(cell->value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
        return false;
    }
    dv_value v = dv_is_function(cell->value) /* the frame keeps it */
                     ? dv_call(vm, cell->value, &self, 1, DV_EMPTY)
                     : dv_special_call(vm, self, vm->known.hash, NULL, 0, found);
    if (!*found) return dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self), false;
    if (dv_is_empty(v)) return false;
    if (!dv_is_any_int(v) && !dv_is_bool(v)) {
        dv_release(vm, v);
        dv_raise(vm, DV_E_TYPE_ERROR, "__hash__ method should return an integer");
        return false;
    }
    bool done = dv_int_to_int64(v, hash) || dv_hash(vm, v, hash);
    if (*hash == -1) *hash = -2;
    dv_release(vm, v);
    return done;
}

bool dv_object_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    bool found;
    if (!special_hash(vm, self, hash, &found)) return false;
    if (found) return true;
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->hash) return layout->hash(vm, dv_number_of(self), hash);
    *hash = dv_default_hash(vm, self);
    if (dv_is_plain_instance(self)) /* asked so that it is known from now on */
        dv_class_unequal(vm, dv_shape_at(vm, dv_as_object(self)->shape)->class_);
    return true;
}

dv_value dv_object_format(dv_vm *vm, dv_value self, dv_value spec) {
    bool found;
    dv_value text = dv_special_call(vm, self, vm->known.format, &spec, 1, &found);
    if (!found) {
        if (dv_as_str(spec)->length == 0) return dv_to_str(vm, self);
        const dv_type *layout = layout_of(vm, self);
        if (layout && layout->format) return layout->format(vm, self, spec);
        return dv_raise(vm, DV_E_TYPE_ERROR, "unsupported format string passed to %T.__format__",
                        self);
    }
    if (dv_is_empty(text) || dv_is_str(text)) return text;
    dv_raise(vm, DV_E_TYPE_ERROR, "__format__ must return a str, not %T", text);
    dv_release(vm, text);
    return DV_EMPTY;
}

/* Operators -------------------------------------------------------------------------------------
 */

static dv_value special_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b, bool *found) {
    dv_value result = dv_special_call(vm, a, dv_comparison_name(vm, op), &b, 1, found);
    if (*found || op != DV_NE) return result;
    /* Without __ne__, != is the opposite of __eq__. */
    result = dv_special_call(vm, a, vm->known.eq, &b, 1, found);
    if (!*found || dv_is_empty(result) || dv_same(result, DV_NOTIMPLEMENTED)) return result;
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth < 0 ? DV_EMPTY : dv_bool(!truth);
}

dv_value dv_object_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    bool found;
    const dv_type *layout = layout_of(vm, a);
    if (!layout || !layout->compare) {
        dv_value result = special_compare(vm, op, a, b, &found);
        return found ? result : DV_NOTIMPLEMENTED;
    }
    /* Built-in types have all six methods: != is not made from a class's __eq__. */
    dv_value result = dv_special_call(vm, a, dv_comparison_name(vm, op), &b, 1, &found);
    return found ? result : layout->compare(vm, op, dv_number_of(a), dv_number_of(b));
}

dv_value dv_object_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    dv_value name = op == DV_UNARY_NEG   ? vm->known.neg
                    : op == DV_UNARY_POS ? vm->known.pos
                                         : vm->known.invert;
    bool found;
    dv_value result = dv_special_call(vm, a, name, NULL, 0, &found);
    if (found) return result;
    const dv_type *layout = layout_of(vm, a);
    return layout && layout->unary ? layout->unary(vm, op, dv_number_of(a)) : DV_NOTIMPLEMENTED;
}

/* Containers ------------------------------------------------------------------------------------
 */

static bool length_from(dv_vm *vm, dv_value v, int64_t *length) {
    if (!dv_is_any_int(v) || dv_int_to_int64(v, length)) return dv_as_index(vm, v, length);
    dv_raise(vm, dv_int_sign(v) < 0 ? DV_E_VALUE_ERROR : DV_E_OVERFLOW_ERROR,
             dv_int_sign(v) < 0 ? "__len__() should return >= 0"
                                : "cannot fit 'int' into an index-sized integer");
    return false;
}

int64_t dv_length_returned(dv_vm *vm, dv_value result) {
    int64_t length = -1;
    bool known = length_from(vm, result, &length);
    if (known && length < 0) dv_raise(vm, DV_E_VALUE_ERROR, "__len__() should return >= 0");
    dv_release(vm, result);
    return known && length >= 0 ? length : -1;
}

int dv_truth_returned(dv_vm *vm, dv_value result) {
    if (dv_is_bool(result)) return dv_same(result, DV_TRUE);
    dv_raise(vm, DV_E_TYPE_ERROR, "__bool__ should return bool, returned %T", result);
    dv_release(vm, result);
    return -1;
}

int64_t dv_object_length(dv_vm *vm, dv_value self) {
    bool found;
    dv_value v = dv_special_call(vm, self, vm->known.len, NULL, 0, &found);
    if (found) return dv_is_empty(v) ? -1 : dv_length_returned(vm, v);
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->length) return layout->length(vm, self);
    dv_raise(vm, DV_E_TYPE_ERROR, "object of type '%T' has no len()", self);
    return -1;
}

static dv_value object_get_item(dv_vm *vm, dv_value self, dv_value key) {
    bool found;
    dv_value v = dv_special_call(vm, self, vm->known.getitem, &key, 1, &found);
    if (found) return v;
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->get_item) return layout->get_item(vm, self, key);
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not subscriptable", self);
}

bool dv_object_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    bool found, deletes = dv_is_empty(value);
    dv_value args[2] = {key, value};
    dv_value result = dv_special_call(vm, self, deletes ? vm->known.delitem : vm->known.setitem,
                                      args, deletes ? 1 : 2, &found);
    const dv_type *layout = found ? NULL : layout_of(vm, self);
    if (layout && layout->set_item) return layout->set_item(vm, self, key, value);
    if (!found && dv_has_special(vm, self, deletes ? vm->known.setitem : vm->known.delitem)) {
        /* Storing and deleting are one slot of CPython's, which the class has. */
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, deletes ? "__delitem__" : "__setitem__");
        return false;
    }
    if (!found)
        return dv_refuse_item(vm, self, key, deletes,
                              !dv_is_class(self) || dv_as_class(self)->metaclass);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

int dv_object_contains(dv_vm *vm, dv_value self, dv_value item) {
    bool found;
    dv_value v = dv_special_call(vm, self, vm->known.contains, &item, 1, &found);
    if (found) {
        int truth = dv_is_empty(v) ? -1 : dv_truth(vm, v);
        dv_release(vm, v);
        return truth;
    }
    if (special_cell(vm, self, vm->known.contains)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not a container", self);
        return -1;
    }
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->contains) return layout->contains(vm, self, item);
    if ((layout && layout->iterate) || dv_has_special(vm, self, vm->known.iter) ||
        dv_has_special(vm, self, vm->known.getitem))
        return dv_contains_by_iteration(vm, self, item);
    dv_raise(vm, DV_E_TYPE_ERROR, "argument of type '%T' is not iterable", self);
    return -1;
}

static bool is_iterator(dv_vm *vm, dv_value v) {
    if (dv_has_methods(v) && dv_defines_special(vm, v, vm->known.next))
        return dv_has_special(vm, v, vm->known.next);
    if (dv_is_plain_instance(v)) return false;
    const dv_type *type = vm->types[dv_type_of(vm, v)];
    return type && type->next;
}

dv_value dv_iterator_returned(dv_vm *vm, dv_value result) {
    if (is_iterator(vm, result)) return result;
    dv_raise(vm, DV_E_TYPE_ERROR, "iter() returned non-iterator of type '%T'", result);
    dv_release(vm, result);
    return DV_EMPTY;
}

dv_value dv_object_iterate(dv_vm *vm, dv_value self) {
    bool found;
    dv_value v = dv_special_call(vm, self, vm->known.iter, NULL, 0, &found);
    if (!found) {
        const dv_type *layout = layout_of(vm, self);
        const dv_global_cell *own = special_cell(vm, self, vm->known.iter);
        bool none = own && dv_is_none(own->value);
        if (!own && layout && layout->iterate) return layout->iterate(vm, self);
        if (!none && dv_has_special(vm, self, vm->known.getitem)) return dv_iterator_new(vm, self);
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not iterable", self);
    }
    return dv_is_empty(v) ? v : dv_iterator_returned(vm, v);
}

dv_value dv_object_next(dv_vm *vm, dv_value self) {
    bool found;
    dv_value v = dv_special_call(vm, self, vm->known.next, NULL, 0, &found);
    if (!found) {
        const dv_type *layout = layout_of(vm, self);
        if (layout && layout->next && !dv_defines_special(vm, self, vm->known.next))
            return layout->next(vm, self);
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not an iterator", self);
    }
    if (dv_is_empty(v) && dv_error_is(vm, DV_E_STOP_ITERATION)) dv_error_clear(vm);
    return v;
}

/* Attributes, calls, the end --------------------------------------------------------------------
 */

/* Attributes that the built-in base computes cannot be set in instances. */
static bool is_computed(dv_vm *vm, dv_value self, dv_value name, const dv_type *layout) {
    if (!layout->get_attribute) return false;
    const dv_global_cell *cell = dv_class_find(vm, dv_class_of(vm, self), name);
    if (!cell || !dv_is_getter(cell->value)) return !dv_is_empty(vm->error);
    dv_getter_refuse(vm, cell->value);
    return true;
}

static bool object_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (!dv_is_instance(self) && dv_same(name, vm->known.class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, DV_CLASS_IS_FIXED);
        return false;
    }
    if (!dv_is_instance(self)) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'object' object has no attribute '%S'", name);
        return false;
    }
    const dv_type *layout = layout_of(vm, self);
    if (layout && layout->set_attribute) return layout->set_attribute(vm, self, name, value);
    if (layout && is_computed(vm, self, name, layout)) return false;
    return dv_instance_set_attribute(vm, self, name, value);
}

static dv_value object_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    dv_global_cell *cell = special_cell(vm, self, vm->known.call);
    const dv_type *layout = cell ? NULL : layout_of(vm, self);
    if (layout && layout->call) return layout->call(vm, self, args, count, keywords);
    if (!cell) return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not callable", self);
    dv_value function = dv_retain(cell->value);
    dv_value result = dv_call_with_self(vm, function, self, args, count, keywords);
    dv_release(vm, function);
    return result;
}

/* Only for instances of exactly `object`; those of dl classes: dv_instance_release. */
static void object_release(dv_vm *vm, dv_object *object) {
    dv_heap_free(&vm->heap, object, sizeof *object);
}

static dv_value object_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    (void)args, (void)keywords;
    if (count) return dv_raise(vm, DV_E_TYPE_ERROR, "object() takes no arguments");
    dv_object *object = dv_object_new(vm, sizeof *object, DV_T_OBJECT);
    return object ? dv_object_value(object) : DV_EMPTY;
}

/* Methods of `object`, whatever the class of self overrides. */

static dv_value method_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_default_repr(vm, args[0]);
}

static dv_value method_str(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_repr(vm, args[0]);
}

static dv_value method_hash(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_int_from_int64(vm, dv_default_hash(vm, args[0]));
}

static dv_value method_compare(dv_compare_op op, const dv_value *args) {
    return dv_same(args[0], args[1]) ? dv_bool(op == DV_EQ) : DV_NOTIMPLEMENTED;
}

static dv_value method_eq(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return method_compare(DV_EQ, args);
}

/* The opposite of __eq__. */
static dv_value method_ne(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    bool found;
    dv_value result = special_compare(vm, DV_EQ, args[0], args[1], &found);
    if (!found) return method_compare(DV_NE, args);
    if (dv_is_empty(result) || dv_same(result, DV_NOTIMPLEMENTED)) return result;
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth < 0 ? DV_EMPTY : dv_bool(!truth);
}

/* object.__subclasshook__ */
static dv_value method_subclasshook(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)args, (void)count;
    return DV_NOTIMPLEMENTED;
}

/* Objects as such have no order. */
static dv_value method_order(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)args, (void)count;
    return DV_NOTIMPLEMENTED;
}

static dv_value method_format(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "__format__() argument", "str", args[1]);
    if (dv_as_str(args[1])->length == 0) return dv_to_str(vm, args[0]);
    return dv_raise(vm, DV_E_TYPE_ERROR, "unsupported format string passed to %T.__format__",
                    args[0]);
}

static dv_value raise_name(dv_vm *vm, dv_value name) {
    return dv_raise(vm, DV_E_TYPE_ERROR, "attribute name must be string, not '%T'", name);
}

static dv_value method_getattribute(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1])) return raise_name(vm, args[1]);
    dv_value name = dv_str_intern_value(vm, args[1]);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value result = dv_object_get_attribute(vm, args[0], name);
    dv_release(vm, name);
    return result;
}

/* __setattr__ and __delattr__ */
static dv_value method_setattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_is_str(args[1])) return raise_name(vm, args[1]);
    dv_value name = dv_str_intern_value(vm, args[1]);
    if (dv_is_empty(name)) return DV_EMPTY;
    bool done = dv_object_set_attribute(vm, args[0], name, count == 3 ? args[2] : DV_EMPTY);
    dv_release(vm, name);
    return done ? DV_NONE : DV_EMPTY;
}

#define ATTRIBUTE_HOOKS                                                     \
    {.name = "__getattribute__",                                            \
     .entry = method_getattribute,                                          \
     .min = 2,                                                              \
     .max = 2,                                                              \
     .flags = DV_CFUNCTION_WRAPPER},                                        \
        {.name = "__setattr__",                                             \
         .entry = method_setattr,                                           \
         .min = 3,                                                          \
         .max = 3,                                                          \
         .flags = DV_CFUNCTION_WRAPPER},                                    \
    {                                                                       \
        .name = "__delattr__", .entry = method_setattr, .min = 2, .max = 2, \
        .flags = DV_CFUNCTION_WRAPPER                                       \
    }

const dv_cfunction_def dv_object_attribute_hooks[3] = {ATTRIBUTE_HOOKS};

static const dv_cfunction_def object_methods[] = {
    {.name = "__new__",
     .keyword_entry = dv_object_new_of,
     .min = 0,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_STATIC},
    {.name = "__init__",
     .keyword_entry = dv_object_init,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__init_subclass__",
     .keyword_entry = dv_object_init_subclass,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_CLASS},
    {.name = "__subclasshook__",
     .entry = method_subclasshook,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_CLASS},
    ATTRIBUTE_HOOKS,
    {.name = "__repr__", .entry = method_repr, .min = 1, .max = 1, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__str__", .entry = method_str, .min = 1, .max = 1, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__hash__", .entry = method_hash, .min = 1, .max = 1, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__eq__", .entry = method_eq, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__ne__", .entry = method_ne, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__lt__", .entry = method_order, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__le__", .entry = method_order, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__gt__", .entry = method_order, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__ge__", .entry = method_order, .min = 2, .max = 2, .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__format__", .entry = method_format, .min = 2, .max = 2},
    {.name = "__dir__", .entry = dv_object_dir, .min = 1, .max = 1},
    {.name = NULL}};

const dv_type dv_object_type = {
    .name = "object",
    .id = DV_T_OBJECT,
    .release = object_release,
    .repr = object_repr,
    .str = object_str,
    .hash = dv_object_hash,
    .compare = dv_object_compare,
    .unary = dv_object_unary,
    .length = dv_object_length,
    .get_item = object_get_item,
    .set_item = dv_object_set_item,
    .contains = dv_object_contains,
    .iterate = dv_object_iterate,
    .next = dv_object_next,
    .set_attribute = object_set_attribute,
    .call = object_call,
    .format = dv_object_format,
    .construct = object_construct,
    .methods = object_methods,
};
