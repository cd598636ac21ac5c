/* super.h: super objects: attributes of self looked up behind a class in the order of self's class.
 */
#ifndef DV_TYPES_SUPER_H
#define DV_TYPES_SUPER_H

#include "core/vm.h"
#include "types/text/str.h"

extern const dv_type dv_super_type;

static inline bool dv_is_super(dv_value v) { return dv_is_shape(v, DV_T_SUPER); }

/* Tells most classes apart, and does not depend on addresses. */
static inline uint64_t dv_super_number(const dv_class *class_) {
    return class_->root ? class_->root->number : class_->type;
}

/* Where dv_vm.supers keeps what is found: the same place in each run, as which sites miss depends
 * on what displaces what. */
static inline const dv_super_found *dv_super_at(const dv_vm *vm, const dv_class *class_,
                                                const dv_class *start, dv_value name) {
    uint64_t key = dv_super_number(class_) + (dv_super_number(start) << 20) +
                   (uint64_t)((const dv_str *)dv_as_object(name))->hash;
    return &vm->supers[key * 0x9E3779B97F4A7C15u >> (64 - DV_SUPER_BITS)];
}

/* What is known of a lookup; NULL: nothing. */
static inline const dv_super_found *dv_super_known(const dv_vm *vm, const dv_class *class_,
                                                   const dv_class *start, dv_value name) {
    const dv_super_found *known = dv_super_at(vm, class_, start, name);
    bool fits = known->class_ == class_ && known->start == start && dv_same(known->name, name) &&
                known->names_changed == vm->names_changed;
    return fits ? known : NULL;
}

/* The method that super(start, self).name(...) of an instance passes self to; EMPTY: it is not
 * known, or there is more to be done. */
static inline dv_value dv_super_callee(const dv_vm *vm, dv_value start, dv_value self,
                                       dv_value name) {
    if (!dv_is_shape(start, DV_T_CLASS) || !dv_is_instance(self)) return DV_EMPTY;
    const dv_class *class_ = dv_shape_at(vm, dv_as_object(self)->shape)->class_;
    const dv_super_found *known =
        dv_super_known(vm, class_, (const dv_class *)dv_as_object(start), name);
    if (!known || !known->cell) return DV_EMPTY;
    bool method = known->fixed || dv_is_shape(known->cell->value, DV_T_FUNCTION);
    return method ? known->cell->value : DV_EMPTY;
}

/* If `name` of a super object is a method that self would be passed to, that (new) and *self (new);
 * else EMPTY, perhaps with vm->error. */
dv_value dv_super_method(dv_vm *vm, dv_value super, dv_value name, dv_value *self);

#endif
