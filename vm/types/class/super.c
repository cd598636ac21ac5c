/* super.c: super objects (super.h). */
#include "types/class/super.h"

#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/callable/function.h"
#include "types/text/str.h"

typedef struct dv_super {
    dv_object header;
    dv_value start; /* the class behind which lookups begin */
    dv_value self;  /* EMPTY: unbound */
    dv_value type;  /* the class whose order counts; EMPTY: unbound */
} dv_super;

static dv_super *as_super(dv_value v) { return (dv_super *)dv_as_object(v); }

static void super_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_super *super = (const dv_super *)object;
    visit(vm, super->start, context);
    visit(vm, super->self, context);
    visit(vm, super->type, context);
}

static void super_release(dv_vm *vm, dv_object *object) {
    dv_super *super = (dv_super *)object;
    dv_release(vm, super->start);
    dv_release(vm, super->self);
    dv_release(vm, super->type);
    dv_container_free(vm, super, sizeof *super);
}

/* The class whose order counts for self, new: self, if it is a class below `start`, or its class,
 * or what it says is its __class__; EMPTY: raised. */
static dv_value type_for(dv_vm *vm, const dv_class *start, dv_value self) {
    if (dv_is_class(self) && dv_class_is_subclass(dv_as_class(self), start)) return dv_retain(self);
    dv_class *class_ = dv_class_of(vm, self);
    if (dv_class_is_subclass(class_, start)) return dv_retain(dv_object_value(class_));
    dv_value claimed = dv_find_attribute(vm, self, vm->known.class_);
    if (dv_is_empty(claimed) && !dv_is_empty(vm->error)) return DV_EMPTY;
    if (!dv_is_empty(claimed) && dv_is_class(claimed) &&
        dv_class_is_subclass(dv_as_class(claimed), start))
        return claimed;
    dv_release(vm, claimed);
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "super(type, obj): obj must be an instance or subtype of type");
}

static dv_value super_make(dv_vm *vm, dv_value start, dv_value self) {
    dv_value type = DV_EMPTY;
    if (!dv_is_empty(self)) {
        type = type_for(vm, dv_as_class(start), self);
        if (dv_is_empty(type)) return DV_EMPTY;
    }
    dv_super *super = dv_container_new(vm, sizeof *super, DV_T_SUPER);
    if (!super) {
        dv_release(vm, type);
        return DV_EMPTY;
    }
    super->start = dv_retain(start);
    super->self = dv_retain(self);
    super->type = type;
    return dv_object_value(super);
}

static dv_value super_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR, "super() takes no keyword arguments");
    if (count == 0) {
        dv_value start, self;
        if (!dv_super_arguments(vm, &start, &self)) return DV_EMPTY;
        return super_make(vm, start, dv_is_none(self) ? DV_EMPTY : self);
    }
    if (count > 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "super() expected at most 2 arguments, got %d",
                        (int)count);
    if (!dv_is_class(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "super() argument 1 must be a type, not %T", args[0]);
    return super_make(vm, args[0], count == 2 && !dv_is_none(args[1]) ? args[1] : DV_EMPTY);
}

static dv_super_found *place_of(dv_vm *vm, const dv_super *super, dv_value name) {
    const dv_super_found *place =
        dv_super_at(vm, dv_as_class(super->type), dv_as_class(super->start), name);
    return &vm->supers[place - vm->supers];
}

static dv_global_cell *find(dv_vm *vm, const dv_super *super, dv_value name) {
    if (dv_is_empty(super->type) || dv_same(name, vm->known.class_)) return NULL;
    dv_class *type = dv_as_class(super->type);
    const dv_class *start = dv_as_class(super->start);
    const dv_super_found *known = dv_super_known(vm, type, start, name);
    if (known) return known->cell;
    uint32_t i = 0;
    while (i < type->mro_count && type->mro[i] != start) i++;
    dv_global_cell *cell = dv_class_find_behind(vm, type, i + 1, name);
    if (dv_is_empty(vm->error))
        *place_of(vm, super, name) =
            (dv_super_found){type, start, name, cell, vm->names_changed, false};
    return cell;
}

/* Is it a method of a built-in type, in that type's class? */
static bool is_fixed(const dv_global_cell *cell) {
    if (!dv_is_shape(cell->value, DV_T_CFUNCTION)) return false;
    dv_value owner = ((const dv_cfunction *)dv_as_object(cell->value))->owner;
    return dv_is_class(owner) && dv_as_class(owner)->descriptor &&
           dv_namespace_find(&dv_as_class(owner)->attributes, cell->name) == cell;
}

dv_value dv_super_method(dv_vm *vm, dv_value v, dv_value name, dv_value *self) {
    const dv_super *super = as_super(v);
    const dv_global_cell *cell = find(vm, super, name);
    if (!cell || !dv_is_method(cell->value) || dv_same(super->self, super->type) ||
        !dv_method_fits(vm, cell->value, super->self))
        return DV_EMPTY;
    if (is_fixed(cell) && dv_same(dv_object_value(dv_class_of(vm, super->self)), super->type))
        place_of(vm, super, name)->fixed = true;
    *self = dv_retain(super->self);
    return dv_retain(cell->value);
}

static dv_value super_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_super *super = as_super(self);
    const dv_global_cell *cell = find(vm, super, name);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (cell) {
        bool of_class = dv_same(super->self, super->type);
        return dv_bind(vm, cell->value, of_class ? DV_EMPTY : super->self,
                       dv_as_class(super->type));
    }
    if (dv_str_is(name, "__thisclass__")) return dv_retain(super->start);
    if (dv_str_is(name, "__self__"))
        return dv_is_empty(super->self) ? DV_NONE : dv_retain(super->self);
    if (dv_str_is(name, "__self_class__"))
        return dv_is_empty(super->type) ? DV_NONE : dv_retain(super->type);
    return DV_EMPTY;
}

static dv_value super_repr(dv_vm *vm, dv_value self) {
    const dv_super *super = as_super(self);
    dv_value start = dv_as_class(super->start)->name;
    if (dv_is_empty(super->type)) return dv_str_printf(vm, "<super: <class '%S'>, NULL>", start);
    return dv_str_printf(vm, "<super: <class '%S'>, <%S object>>", start,
                         dv_as_class(super->type)->name);
}

const dv_type dv_super_type = {
    .name = "super",
    .id = DV_T_SUPER,
    .traverse = super_traverse,
    .release = super_release,
    .repr = super_repr,
    .get_attribute = super_attribute,
    .construct = super_construct,
};
