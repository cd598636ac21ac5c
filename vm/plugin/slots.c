/* slots.c: what the machine asks of a type, passed on to the slots of an extension's type, and
 * their answers checked (type.h). */
#include "core/upcall.h"
#include "plugin/debug.h"
#include "plugin/occurrence.h"
#include "plugin/type.h"
#include "types/callable/arguments.h"
#include "types/binary/buffer.h"
#include "types/class/getter.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/sequence/iterator.h"
#include "types/text/str.h"

/* A slot's answer; the name is that of the type. */
static dv_value checked(dv_vm *vm, const dv_extension_type *type, dv_value result) {
    return dv_extension_check(vm, type->name, result);
}

static bool checked_done(dv_vm *vm, const dv_extension_type *type, bool done) {
    return dv_extension_check_done(vm, type->name, done);
}

/* 1, 0, or -1 where it raised, of an answer that may be anything. */
static int checked_answer(dv_vm *vm, const dv_extension_type *type, int answer) {
    if (!checked_done(vm, type, answer >= 0)) return -1;
    return answer != 0;
}

/* ---- The object ---- */

static void *payload_of(dv_object *object) { return ((dv_extension_object *)object)->payload; }

static void foreign_release(dv_vm *vm, dv_object *object) {
    const dv_extension_type *type = ((dv_extension_object *)object)->type;
    size_t size = sizeof(dv_extension_object) + type->described.payload;
    if (type->described.release) {
        dv_value error = vm->error;
        vm->error = DV_EMPTY;
        type->described.release(vm, payload_of(object));
        dv_error_clear(vm); /* there is nobody to tell */
        vm->error = error;
    }
    if (object->shape < DV_T_COUNT)
        dv_heap_part_free(&vm->heap, dv_extension_part(type), object, size);
    else
        dv_subclass_free(vm, object, size);
}

static void foreign_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_extension_type *type = ((dv_extension_object *)object)->type;
    type->described.traverse(vm, payload_of(object), visit, context);
}

static void foreign_clear(dv_vm *vm, dv_object *object) {
    const dv_extension_type *type = ((dv_extension_object *)object)->type;
    type->described.clear(vm, payload_of(object));
}

static dv_value foreign_make(dv_vm *vm, dv_class *class_) {
    const dv_extension_type *type =
        (const dv_extension_type *)(const void *)vm->types[class_->type];
    size_t size = sizeof(dv_extension_object) + type->described.payload;
    dv_extension_object *object =
        !class_->descriptor ? dv_subclass_alloc(vm, class_, size)
                            : dv_object_make(vm, dv_extension_part(type), size, type->type.id);
    if (!object) return DV_EMPTY;
    object->type = type;
    memset(object->payload, 0, type->described.payload);
    return dv_object_value(object);
}

static dv_value foreign_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    (void)exact; /* `make` comes first */
    return foreign_make(vm, class_);
}

/* ---- Calls ---- */

/* Sorts the arguments of a constructor or a call; without parameters there are none. */
static bool sort(dv_vm *vm, const dv_extension_type *type, const dvx_parameters *p,
                 const dv_value *args, uint32_t count, dv_value keywords, dv_value *sorted) {
    if (p->size)
        return dv_extension_sort(vm, type->described.name, p, args, count, keywords, sorted);
    if (count == 0) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes no arguments", type->described.name);
    return false;
}

static bool foreign_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                               dv_value keywords) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    dv_value sorted[DVX_MOST_PARAMETERS];
    const dvx_parameters *p = &type->parameters;
    if (!sort(vm, type, p, args, count, keywords, sorted)) return false;
    return checked_done(vm, type,
                        type->described.initialise(vm, self, sorted, p->size ? p->count : 0));
}

/* A call whose arguments the extension counts. */
static dv_value call_any(dv_vm *vm, const dv_extension_type *type, dv_value self,
                         const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes no keyword arguments",
                        type->described.name);
    if (count > DVX_MOST_PARAMETERS)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "calls of %s with more than %d arguments are not part of dl",
                        type->described.name, DVX_MOST_PARAMETERS);
    return checked(vm, type, type->described.call(vm, self, args, count));
}

static dv_value foreign_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    if (type->described.call_any) return call_any(vm, type, self, args, count, keywords);
    dv_value sorted[DVX_MOST_PARAMETERS];
    const dvx_parameters *p = &type->call_parameters;
    if (!sort(vm, type, p, args, count, keywords, sorted)) return DV_EMPTY;
    return checked(vm, type, type->described.call(vm, self, sorted, p->size ? p->count : 0));
}

/* ---- Text, hash, comparison ---- */

/* What must be a str. */
static dv_value checked_text(dv_vm *vm, const dv_extension_type *type, const char *name,
                             dv_value text) {
    text = checked(vm, type, text);
    if (dv_is_empty(text) || dv_is_str(text)) return text;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s returned non-string (type %T)", name, text);
    dv_release(vm, text);
    return DV_EMPTY;
}

static dv_value foreign_repr(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    return checked_text(vm, type, "__repr__", type->described.repr(vm, self));
}

static dv_value foreign_str(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    return checked_text(vm, type, "__str__", type->described.str(vm, self));
}

static dv_value foreign_format(dv_vm *vm, dv_value self, dv_value spec) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    return checked_text(vm, type, "__format__", type->described.format(vm, self, spec));
}

static bool foreign_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    if (!checked_done(vm, type, type->described.hash(vm, self, hash))) return false;
    if (*hash == -1) *hash = -2;
    return true;
}

static bool foreign_unhashable(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value foreign_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    const dv_extension_type *type = dv_extension_type_of(vm, a);
    return checked(vm, type, type->described.compare(vm, (dvx_compare)op, a, b));
}

/* ---- Operators ---- */

/* The type that is asked: a's, or b's where a is of another kind.  (Where both are of extensions,
 * a's is asked first, then b's: by the machine, which calls this function for either.) */
static const dv_extension_type *asked(const dv_vm *vm, dv_value a, dv_value b, dv_binary_op op) {
    if (dv_is_extension_type(dv_type_of(vm, a))) {
        const dv_extension_type *type = dv_extension_type_of(vm, a);
        if (type->type.binary_operators >> op & 1) return type;
    }
    if (!dv_is_extension_type(dv_type_of(vm, b))) return NULL;
    const dv_extension_type *type = dv_extension_type_of(vm, b);
    return type->type.binary_operators >> op & 1 ? type : NULL;
}

static dv_value ask(dv_vm *vm, const dv_extension_type *type, dv_binary_op op, dv_value a,
                    dv_value b) {
    bool watched = DV_UNLIKELY(vm->extensions.plugins->debug != NULL);
    return checked(vm, type,
                   watched ? dv_debug_binary(vm, type, (dvx_binary)op, a, b)
                           : type->described.binary(vm, (dvx_binary)op, a, b));
}

/* Two types of extensions have this one function, so that it asks both.  (Where both say
 * NotImplemented, the machine asks again.) */
static dv_value foreign_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    const dv_extension_type *type = asked(vm, a, b, op);
    if (!type) return DV_NOTIMPLEMENTED;
    dv_value result = ask(vm, type, op, a, b);
    if (!dv_same(result, DV_NOTIMPLEMENTED) || !dv_is_extension_type(dv_type_of(vm, b)))
        return result;
    const dv_extension_type *other = dv_extension_type_of(vm, b);
    if (other == type || !(other->type.binary_operators >> op & 1)) return result;
    return ask(vm, other, op, a, b);
}

static dv_value foreign_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    const dv_extension_type *type = dv_extension_type_of(vm, a);
    if (!(type->type.inplace_operators >> op & 1)) return DV_NOTIMPLEMENTED;
    return checked(vm, type, type->described.inplace(vm, (dvx_binary)op, a, b));
}

static dv_value foreign_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    const dv_extension_type *type = dv_extension_type_of(vm, a);
    if (!(type->type.unary_operators >> op & 1)) return DV_NOTIMPLEMENTED;
    return checked(vm, type, type->described.unary(vm, (dvx_unary)op, a));
}

/* ---- Containers and iterators ---- */

static int foreign_decide(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    return checked_answer(vm, type, type->described.decide(vm, self));
}

static bool foreign_truth(dv_value self) {
    const dv_extension_object *object = (const dv_extension_object *)dv_as_object(self);
    return object->type->described.truth(object->payload);
}

static int64_t foreign_length(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    if (!type->described.length) return dv_buffer_length(vm, self);
    int64_t length = type->described.length(vm, self);
    return checked_done(vm, type, length >= 0) ? length : -1;
}

/* Of one whose items are the elements of its buffer. */
static dv_value refuse_key(dv_vm *vm, dv_value self) {
    return dv_raise(vm, DV_E_TYPE_ERROR, "%T indices must be integers, one for each axis", self);
}

/* Are its elements loaded and stored here, before get_item and set_item are asked? */
static bool loads_items(const dv_extension_type *type) {
    return type->type.items && !(type->described.traits & DVX_OWN_ITEMS);
}

static dv_value foreign_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    dv_value item = DV_EMPTY;
    if (loads_items(type) && dv_buffer_load(vm, self, key, &item)) return item;
    if (!type->described.get_item) return refuse_key(vm, self);
    return checked(vm, type, type->described.get_item(vm, self, key));
}

static bool foreign_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    bool deletes = dv_is_empty(value);
    int stored = loads_items(type) && !deletes ? dv_buffer_store(vm, self, key, value) : 0;
    if (stored) return stored > 0;
    if (type->type.items && !deletes && !type->described.set_item)
        return !dv_is_empty(refuse_key(vm, self));
    if (deletes ? !type->described.delete_item : !type->described.set_item)
        return dv_refuse_item(vm, self, key, deletes, false);
    bool done = deletes ? type->described.delete_item(vm, self, key)
                        : type->described.set_item(vm, self, key, value);
    return checked_done(vm, type, done);
}

static int foreign_contains(dv_vm *vm, dv_value self, dv_value item) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    return checked_answer(vm, type, type->described.contains(vm, self, item));
}

static bool is_iterator(dv_vm *vm, dv_value v) {
    return dv_is_instance(v) && !dv_is_subclass_instance(v) ? dv_has_special(vm, v, vm->known.next)
                                                            : dv_behaviour_of(vm, v)->next != NULL;
}

static dv_value foreign_iterate(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    dv_value iterator = checked(vm, type, type->described.iterate(vm, self));
    if (dv_is_empty(iterator) || is_iterator(vm, iterator)) return iterator;
    if (dv_same(iterator, self)) {
        iterator = dv_iterator_new(vm, self);
        dv_release(vm, self);
        return iterator;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "iter() returned non-iterator of type '%T'", iterator);
    dv_release(vm, iterator);
    return DV_EMPTY;
}

static dv_value foreign_next(dv_vm *vm, dv_value self) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    dv_value item = DV_EMPTY;
    int more = type->described.next(vm, self, &item);
    if (more > 0) return checked(vm, type, item);
    dv_release(vm, item);
    (void)checked_answer(vm, type, more);
    return DV_EMPTY;
}

static dv_value foreign_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

/* ---- Attributes ---- */

static const dv_extension_attribute *attribute_named(const dv_extension_type *type, dv_value name) {
    for (uint32_t i = 0; i < type->described.attribute_count; i++)
        if (dv_same(type->attributes[i].name, name)) return &type->attributes[i];
    return NULL;
}

static dv_value get(dv_vm *vm, const dv_extension_type *type,
                    const dv_extension_attribute *attribute, dv_value self) {
    if (DV_UNLIKELY(vm->extensions.plugins->debug != NULL))
        return dv_debug_get(vm, type, attribute, self);
    return attribute->described.get(vm, self);
}

static dv_value foreign_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    const dv_extension_attribute *attribute = attribute_named(type, name);
    if (attribute) return checked(vm, type, get(vm, type, attribute, self));
    if (!type->described.find_attribute) return DV_EMPTY;
    dv_value found = DV_EMPTY;
    int answer = type->described.find_attribute(vm, self, name, &found);
    if (answer > 0) return checked(vm, type, found);
    dv_release(vm, found);
    (void)checked_answer(vm, type, answer);
    return DV_EMPTY;
}

/* Under the debug table regions call nothing past it: it would not see the calls. */
static dv_value foreign_lasting_attribute(dv_vm *vm, dv_value self, dv_value name,
                                          dv_assumption **until) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    dv_value found = DV_EMPTY;
    dvx_assumption *assumption = NULL;
    if (vm->extensions.plugins->debug) return DV_EMPTY;
    bool lasts = type->described.lasting_attribute(vm, self, name, &found, &assumption);
    *until = assumption ? &assumption->assumption : NULL;
    return lasts ? found : DV_EMPTY;
}

static const struct dv_raw *foreign_raw(dv_vm *vm, dv_value self) {
    if (vm->extensions.plugins->debug) return NULL;
    return dv_extension_raw(dv_extension_type_of(vm, self)->described.raw(vm, self));
}

/* As the machine refuses it for types without attributes that can be set. */
static bool refuse_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_same(name, vm->known.class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, DV_CLASS_IS_FIXED);
        return false;
    }
    const dv_global_cell *there = dv_class_find(vm, dv_class_of(vm, self), name);
    if (dv_is_empty(vm->error))
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                 there ? "'%T' object attribute '%S' is read-only"
                       : "'%T' object has no attribute '%S'",
                 self, name);
    return false;
}

static bool store_attribute(dv_vm *vm, const dv_extension_type *type,
                            const dv_extension_attribute *attribute, dv_value self,
                            dv_value value) {
    if (!attribute->described.set || dv_is_empty(value)) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                 attribute->described.set ? "attribute '%s' of '%s' objects cannot be deleted"
                                          : "attribute '%s' of '%s' objects is not writable",
                 attribute->described.name, type->name);
        return false;
    }
    bool done = vm->extensions.plugins->debug ? dv_debug_set(vm, type, attribute, self, value)
                                              : attribute->described.set(vm, self, value);
    return checked_done(vm, type, done);
}

static bool foreign_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    const dv_extension_type *type = dv_extension_type_of(vm, self);
    const dv_extension_attribute *attribute = attribute_named(type, name);
    if (attribute) return store_attribute(vm, type, attribute, self, value);
    if (type->described.set_attribute) {
        int answer = type->described.set_attribute(vm, self, name, value);
        answer = checked_answer(vm, type, answer);
        if (answer != 0) return answer > 0;
    }
    return dv_is_instance(self) ? dv_instance_set_attribute(vm, self, name, value)
                                : refuse_attribute(vm, self, name);
}

/* ---- Filling ---- */

#define FILL(slot) t->slot = d->slot ? foreign_##slot : NULL

void dv_extension_fill_slots(dv_extension_type *type) {
    dv_type *t = &type->type;
    const dvx_type *d = &type->described;
    t->release = foreign_release;
    t->make = foreign_make;
    if (d->base) t->adopt = foreign_adopt;
    FILL(traverse);
    FILL(clear);
    FILL(initialise);
    FILL(repr);
    FILL(str);
    FILL(format);
    FILL(hash);
    FILL(compare);
    if (d->compare && !d->hash) t->hash = foreign_unhashable;
    FILL(binary);
    FILL(inplace);
    FILL(unary);
    t->binary_operators = d->binary ? (uint16_t)d->binary_operators : 0;
    t->inplace_operators = d->inplace ? (uint16_t)d->inplace_operators : 0;
    t->unary_operators = d->unary ? (uint16_t)d->unary_operators : 0;
    FILL(truth);
    FILL(decide);
    if (d->length || t->items) t->length = foreign_length;
    if (d->get_item || t->items) t->get_item = foreign_get_item;
    if (d->set_item || d->delete_item || t->items) t->set_item = foreign_set_item;
    FILL(contains);
    FILL(next);
    FILL(iterate);
    if (d->next && !d->iterate) t->iterate = foreign_self;
    /* Items by index until IndexError, as CPython iterates over a sequence. */
    if (!t->iterate && t->length && t->get_item) t->iterate = dv_iterator_new;
    FILL(call);
    if (d->attribute_count || d->find_attribute) t->get_attribute = foreign_get_attribute;
    t->set_attribute = foreign_set_attribute;
    FILL(raw);
    FILL(lasting_attribute);
}
