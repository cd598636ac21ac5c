/* singleton.c: the types of None, Ellipsis and NotImplemented (singleton.h).  They are immediate
 * values, so that there is nothing to release. */
#include "types/number/singleton.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/text/str.h"

static dv_value none_repr(dv_vm *vm, dv_value self) {
    (void)self;
    return dv_str_z(vm, "None");
}

static bool none_truth(dv_value self) {
    (void)self;
    return false;
}

static dv_value none_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    (void)args, (void)keywords; /* which count as arguments */
    return count ? dv_raise(vm, DV_E_TYPE_ERROR, "NoneType takes no arguments") : DV_NONE;
}

const dv_type dv_none_type = {.name = "NoneType",
                              .id = DV_T_NONE,
                              .repr = none_repr,
                              .truth = none_truth,
                              .construct = none_construct};

static dv_value ellipsis_repr(dv_vm *vm, dv_value self) {
    (void)self;
    return dv_str_z(vm, "Ellipsis");
}

static dv_value ellipsis_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    (void)args, (void)keywords;
    return count ? dv_raise(vm, DV_E_TYPE_ERROR, "EllipsisType takes no arguments") : DV_ELLIPSIS;
}

const dv_type dv_ellipsis_type = {.name = "ellipsis",
                                  .id = DV_T_ELLIPSIS,
                                  .repr = ellipsis_repr,
                                  .construct = ellipsis_construct};

static dv_value notimplemented_repr(dv_vm *vm, dv_value self) {
    (void)self;
    return dv_str_z(vm, "NotImplemented");
}

static dv_value notimplemented_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                         dv_value keywords) {
    (void)args, (void)keywords;
    return count ? dv_raise(vm, DV_E_TYPE_ERROR, "NotImplementedType takes no arguments")
                 : DV_NOTIMPLEMENTED;
}

const dv_type dv_notimplemented_type = {.name = "NotImplementedType",
                                        .id = DV_T_NOTIMPLEMENTED,
                                        .repr = notimplemented_repr,
                                        .construct = notimplemented_construct};
