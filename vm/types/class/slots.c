/* slots.c: __slots__ and their descriptors (slots.h). */
#include "types/class/slots.h"

#include "core/mro.h"
#include "core/upcall.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/class/getter.h"
#include "types/text/str.h"
#include "types/text/str_case.h"
#include "types/sequence/tuple.h"

typedef struct dv_member {
    dv_object header;
    dv_value name;
    dv_value key;   /* what the shapes of instances call it; see slots.h, invariant 2 */
    dv_value owner; /* class; EMPTY once the collector has cleared it */
} dv_member;

static bool is_member(dv_value v) { return dv_is_shape(v, DV_T_MEMBER); }
static dv_member *as_member(dv_value v) { return (dv_member *)dv_as_object(v); }

/* The descriptor that the class's instances have under the name; NULL: it is something else. */
static dv_member *member_of(const dv_class *class_, dv_value name) {
    if (!(class_->flags & DV_CLASS_SLOTS)) return NULL;
    for (uint32_t i = 0; i < class_->mro_count; i++) {
        const dv_global_cell *cell = dv_namespace_find(&class_->mro[i]->attributes, name);
        if (cell && !dv_is_empty(cell->value))
            return is_member(cell->value) ? as_member(cell->value) : NULL;
    }
    return NULL;
}

bool dv_slot_is_hidden(dv_value name) { return !dv_as_str(name)->interned; }

bool dv_class_has_slot(dv_class *class_, dv_value name) {
    return dv_slot_is_hidden(name) || member_of(class_, name);
}

bool dv_is_hidden_member(dv_value v) {
    return is_member(v) && !dv_same(as_member(v)->name, as_member(v)->key);
}

/* Is what the cell of the class has the descriptor of a slot of this name, of its own? */
static bool is_own(const dv_class *class_, const dv_global_cell *cell) {
    return is_member(cell->value) && dv_same(as_member(cell->value)->name, cell->name) &&
           dv_same(as_member(cell->value)->owner, dv_object_value(class_));
}

static uint32_t count_members(const dv_class *class_) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < class_->attributes.count; i++)
        count += is_own(class_, class_->attributes.cells[i]);
    return count;
}

bool dv_class_same_slots(dv_vm *vm, const dv_class *a, const dv_class *b) {
    (void)vm;
    for (uint32_t i = 0; i < a->attributes.count; i++) {
        const dv_global_cell *cell = a->attributes.cells[i];
        if (!is_own(a, cell)) continue;
        const dv_global_cell *other = dv_namespace_find(&b->attributes, cell->name);
        if (!other || !is_member(other->value)) return false;
    }
    return count_members(a) == count_members(b);
}

dv_value dv_slot_key(const dv_class *to, const dv_class *from, dv_value key) {
    for (uint32_t i = 0; i < from->attributes.count; i++) {
        dv_value v = from->attributes.cells[i]->value;
        if (!is_member(v) || !dv_same(as_member(v)->key, key)) continue;
        const dv_global_cell *other = dv_namespace_find(&to->attributes, as_member(v)->name);
        return other && is_member(other->value) ? as_member(other->value)->key : key;
    }
    return key;
}

/* Hiding them ----------------------------------------------------------------------------------
 */

/* Renames a slot in a shape, which looks for its names anew. */
static void rename(dv_vm *vm, dv_shape *shape, dv_value from, dv_value to) {
    if (dv_same(shape->name, from)) {
        shape->name = dv_retain(to);
        dv_release(vm, from);
    }
    if (!shape->index) return;
    dv_heap_free(&vm->heap, shape->index, shape->index_capacity * sizeof *shape->index);
    shape->index = NULL;
    shape->lookups = 0;
}

/* From now on only the descriptor knows where its values are. */
static bool hide(dv_vm *vm, dv_member *member) {
    if (!dv_same(member->name, member->key) || !dv_is_class(member->owner)) return true;
    dv_value key = dv_str_printf(vm, "%S ", member->name); /* that nobody interns */
    if (dv_is_empty(key)) return false;
    dv_class *owner = dv_as_class(member->owner);
    dv_class_flag(owner, DV_CLASS_DATA);
    for (uint32_t i = 0; i < vm->shape_count; i++)
        if (vm->shapes[i] && dv_class_is_subclass(vm->shapes[i]->class_, owner))
            rename(vm, vm->shapes[i], member->name, key);
    dv_release(vm, member->key);
    member->key = key;
    dv_class_touch(vm, owner);
    return true;
}

/* Hides what is a slot of this name in the class or one below it. */
static bool hide_below(dv_vm *vm, dv_class *class_, dv_value name) {
    const bool late = class_->has_subclasses && class_->flags & DV_CLASS_READY;
    for (dv_class *c = class_; c; c = late ? c->next : NULL) {
        dv_member *member = dv_class_is_subclass(c, class_) ? member_of(c, name) : NULL;
        if (member && !hide(vm, member)) return false;
    }
    return true;
}

bool dv_slots_store(dv_vm *vm, dv_class *class_, const dv_global_cell *cell, dv_value value) {
    if (dv_same(cell->value, value)) return true;
    bool changes = dv_is_empty(cell->value) ? !dv_is_empty(value) : is_member(cell->value);
    if (changes && !hide_below(vm, class_, cell->name)) return false;
    if (!is_member(value)) return true;
    dv_member *member = as_member(value);
    bool new = dv_same(member->owner, dv_object_value(class_)) && dv_same(member->name, cell->name);
    return new || hide(vm, member);
}

/* With several bases, a class may find something else before what is a slot of one of them. */
static bool hide_bases(dv_vm *vm, const dv_class *class_) {
    for (uint32_t i = 1; i < class_->mro_count && class_->base_count > 1; i++) {
        const dv_namespace *names = &class_->mro[i]->attributes;
        for (uint32_t k = 0; k < names->count && class_->flags & DV_CLASS_SLOTS; k++) {
            dv_value v = names->cells[k]->value;
            bool hidden = is_member(v) && member_of(class_, names->cells[k]->name) != as_member(v);
            if (hidden && !hide(vm, as_member(v))) return false;
        }
    }
    return true;
}

/* Making them ----------------------------------------------------------------------------------
 */

/* __x in class C is _C__x; a new, interned name. */
static dv_value mangle(dv_vm *vm, const dv_class *class_, dv_value name) {
    const dv_str *text = dv_as_str(name), *of = dv_as_str(class_->name);
    uint32_t skip = 0, n = (uint32_t)text->length;
    while (skip < of->length && dv_str_at(of, skip) == '_') skip++;
    bool private = n > 2 && dv_str_at(text, 0) == '_' && dv_str_at(text, 1) == '_' &&
                   !(dv_str_at(text, n - 1) == '_' && dv_str_at(text, n - 2) == '_');
    if (!private || skip == of->length) return dv_str_intern_value(vm, name);
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_char(&b, '_');
    for (uint32_t i = skip; i < of->length; i++) dv_builder_char(&b, dv_str_at(of, i));
    dv_builder_str(&b, name);
    dv_value mangled = dv_builder_finish(&b);
    if (dv_is_empty(mangled)) return DV_EMPTY;
    dv_value result = dv_str_intern_value(vm, mangled);
    dv_release(vm, mangled);
    return result;
}

static bool refuse(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_TYPE_ERROR, "%s", message);
    return false;
}

static bool check_name(dv_vm *vm, dv_value name) {
    if (!dv_is_str(name)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__slots__ items must be strings, not '%T'", name);
        return false;
    }
    dv_value good = dv_str_isidentifier(vm, &name, 1);
    if (dv_is_empty(good)) return false;
    return dv_same(good, DV_TRUE) || refuse(vm, "__slots__ must be identifiers");
}

static bool add_member(dv_vm *vm, dv_class *class_, dv_value name) {
    dv_member *member = dv_container_new(vm, sizeof *member, DV_T_MEMBER);
    if (!member) return false;
    member->name = dv_retain(name);
    member->key = dv_retain(name);
    member->owner = dv_retain(dv_object_value(class_));
    return dv_class_store(vm, class_, name, dv_object_value(member));
}

/* One item of __slots__ that is no special name. */
static bool add_slot(dv_vm *vm, dv_class *class_, dv_value item, dv_value namespace) {
    dv_value name = mangle(vm, class_, item);
    if (dv_is_empty(name)) return false;
    bool conflict = !dv_is_empty(dv_dict_get(vm, namespace, name));
    if (conflict)
        dv_raise(vm, DV_E_VALUE_ERROR, "%V in __slots__ conflicts with class variable", name);
    bool done = !conflict && dv_is_empty(vm->error) && add_member(vm, class_, name);
    dv_release(vm, name);
    return done;
}

/* Do instances have a __dict__ without the class's doing? */
static bool inherits_dict(const dv_class *class_) {
    for (uint32_t i = 0; i < class_->base_count; i++) {
        const dv_class *base = class_->bases[i];
        bool has =
            base->descriptor ? base->type == DV_T_EXCEPTION : !(base->flags & DV_CLASS_NO_DICT);
        if (has) return true;
    }
    return false;
}

/* Does one of the bases give instances weak references? */
static bool inherits_weakref(const dv_class *class_) {
    for (uint32_t i = 0; i < class_->base_count; i++)
        if (class_->bases[i]->weak) return true;
    return false;
}

/* Objects of these types are of various sizes, so that in CPython nothing can be added to them. */
static bool is_variable_sized(const dv_class *class_) {
    return class_->type == DV_T_INT || class_->type == DV_T_TUPLE || class_->type == DV_T_BYTES;
}

static bool add_items(dv_vm *vm, dv_class *class_, const dv_tuple *items, dv_value namespace) {
    bool has_dict = inherits_dict(class_), dict = false, weak = false;
    if (items->count && is_variable_sized(class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "nonempty __slots__ not supported for subtype of '%S'",
                 class_->base->name);
        return false;
    }
    uint32_t members = 0;
    for (int64_t i = 0; i < items->count; i++)
        if (!check_name(vm, items->items[i])) return false;
    for (int64_t i = 0; i < items->count; i++) {
        dv_value item = items->items[i];
        if (dv_str_is(item, "__dict__")) {
            if (has_dict || dict) return refuse(vm, "__dict__ slot disallowed: we already got one");
            dict = true;
        } else if (dv_str_is(item, "__weakref__")) {
            if (weak || class_->weak)
                return refuse(vm, "__weakref__ slot disallowed: either we already got one, or "
                                  "__itemsize__ != 0");
            weak = true;
        } else if (!add_slot(vm, class_, item, namespace)) {
            return false;
        } else {
            members++;
        }
    }
    if (!has_dict && !dict) class_->flags |= DV_CLASS_NO_DICT;
    class_->weak |= weak || (inherits_weakref(class_) && !is_variable_sized(class_));
    if (members) class_->flags |= DV_CLASS_SOLID | DV_CLASS_SLOTS;
    return true;
}

bool dv_slots_add(dv_vm *vm, dv_class *class_, dv_value namespace) {
    dv_value slots = dv_dict_get(vm, namespace, vm->known.slots);
    if (dv_is_empty(slots)) {
        class_->weak |= !is_variable_sized(class_);
        return dv_is_empty(vm->error) && hide_bases(vm, class_);
    }
    dv_value items = dv_is_str(slots) ? dv_tuple_new(vm, &slots, 1) : dv_tuple_from(vm, slots);
    bool done = !dv_is_empty(items) && add_items(vm, class_, dv_as_tuple(items), namespace);
    dv_release(vm, items);
    return done && hide_bases(vm, class_);
}

uint32_t dv_slots_named(const dv_class *class_) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < class_->mro_count; i++)
        if (class_->mro[i]->flags & DV_CLASS_SLOTS) count += count_members(class_->mro[i]);
    return count;
}

/* The descriptors ------------------------------------------------------------------------------
 */

static bool check_object(dv_vm *vm, dv_value v, dv_value self) {
    dv_value owner = as_member(v)->owner;
    if (dv_is_class(owner) && dv_class_is_subclass(dv_class_of(vm, self), dv_as_class(owner)))
        return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "descriptor %V for '%S' objects doesn't apply to a '%T' object",
             as_member(v)->name,
             dv_is_class(owner) ? dv_as_class(owner)->name : vm->known.empty_str, self);
    return false;
}

dv_value dv_member_read(dv_vm *vm, dv_value v, dv_value self) {
    if (!check_object(vm, v, self)) return DV_EMPTY;
    dv_object *object = dv_as_object(self);
    int32_t slot = dv_shape_find(vm, dv_shape_at(vm, object->shape), as_member(v)->key);
    if (slot >= 0) return dv_retain(*dv_attribute_slot(object, (uint32_t)slot));
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self,
                    as_member(v)->name);
}

static dv_value member_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (dv_is_getter(args[0])) return dv_descriptor_get(vm, args, count);
    if (!dv_is_none(args[1])) return dv_member_read(vm, args[0], args[1]);
    if (count > 2 && !dv_is_none(args[2])) return dv_retain(args[0]);
    return dv_raise(vm, DV_E_TYPE_ERROR, "__get__(None, None) is invalid");
}

bool dv_member_store(dv_vm *vm, dv_value v, dv_value self, dv_value value) {
    if (!check_object(vm, v, self)) return false;
    const dv_member *member = as_member(v);
    if (!dv_is_empty(value)) return dv_instance_store(vm, dv_as_object(self), member->key, value);
    bool found;
    if (!dv_instance_delete(vm, dv_as_object(self), member->key, &found)) return false;
    if (!found) dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%S", member->name);
    return found;
}

/* __set__ and __delete__ */
static dv_value member_set(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (dv_is_getter(args[0])) {
        dv_getter_refuse(vm, args[0]);
        return DV_EMPTY;
    }
    dv_value value = count == 3 ? args[2] : DV_EMPTY;
    return dv_member_store(vm, args[0], args[1], value) ? DV_NONE : DV_EMPTY;
}

static dv_value owner_name(dv_vm *vm, dv_value v) {
    dv_value owner = as_member(v)->owner;
    return dv_is_class(owner) ? dv_class_name(dv_as_class(owner)) : vm->known.empty_str;
}

static dv_value member_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_member *member = as_member(self);
    if (dv_same(name, vm->known.name)) return dv_retain(member->name);
    if (dv_str_is(name, "__objclass__") && dv_is_class(member->owner))
        return dv_retain(member->owner);
    if (dv_same(name, vm->known.qualname))
        return dv_str_printf(vm, "%S.%S", owner_name(vm, self), member->name);
    return DV_EMPTY;
}

static dv_value member_repr(dv_vm *vm, dv_value self) {
    dv_value owner = as_member(self)->owner;
    return dv_str_printf(vm, "<member %V of '%S' objects>", as_member(self)->name,
                         dv_is_class(owner) ? dv_as_class(owner)->name : vm->known.empty_str);
}

static void member_release(dv_vm *vm, dv_object *object) {
    dv_member *member = (dv_member *)object;
    dv_release(vm, member->name);
    dv_release(vm, member->key);
    dv_release(vm, member->owner);
    dv_container_free(vm, member, sizeof *member);
}

static void member_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_member *member = (const dv_member *)object;
    visit(vm, member->name, context);
    visit(vm, member->owner, context);
}

static void member_clear(dv_vm *vm, dv_object *object) {
    dv_value owner = ((dv_member *)object)->owner;
    ((dv_member *)object)->owner = DV_EMPTY;
    dv_release(vm, owner);
}

static const dv_cfunction_def member_methods[] = {
    {.name = "__get__", .entry = member_get, .min = 2, .max = 3},
    {.name = "__set__", .entry = member_set, .min = 3, .max = 3},
    {.name = "__delete__", .entry = member_set, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_member_type = {
    .name = "member_descriptor",
    .id = DV_T_MEMBER,
    .release = member_release,
    .traverse = member_traverse,
    .clear = member_clear,
    .repr = member_repr,
    .get_attribute = member_attribute,
    .methods = member_methods,
};
