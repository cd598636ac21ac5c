/* derive_views.c: making and releasing kept views (derive_views.h). */
#include "site/derive_views.h"

void views_learn(view_model *m, const nd_array *a, const nd_array *view) {
    m->of.ndim = a->ndim;
    m->of.dtype = a->dtype;
    memcpy(m->of.few, a->axes, (size_t)a->ndim * sizeof *a->axes);
    m->view = *view;
    m->offset = view->data - a->data;
}

/* The array whose memory a view of `a` is in; NULL: it is a scalar's. */
static const nd_array *owner_of(dvx_vm *vm, const nd_array *a) {
    return a->flags & ND_HAS_BASE ? vm->api->payload(vm, a->base, &array_type) : a;
}

bool views_may_keep(dvx_vm *vm, const dvx_operand *o) {
    const nd_array *a = vm->api->payload(vm, o->value, &array_type), *owner = owner_of(vm, a);
    return !o->temporary && a->ndim <= ND_FEW && owner && owner->memory_size <= VIEWS_MOST &&
           nd_state_of(vm)->views_held + VIEWS_KEPT * owner->memory_size <= VIEWS_ALL;
}

bool views_keep(dvx_vm *vm, kept_views *kept, dvx_value of, const nd_array *a,
                const nd_array *view) {
    nd_array *made;
    kept->bytes = owner_of(vm, a)->memory_size;
    nd_state_of(vm)->views_held += VIEWS_KEPT * kept->bytes;
    for (int i = 0; i < VIEWS_KEPT; i++) kept->views[i] = DVX_FAILED;
    for (int i = 0; i < VIEWS_KEPT; i++) {
        kept->views[i] = array_view(vm, of, a, view->data, view->ndim, view->axes, &made);
        if (!dvx_failed(kept->views[i])) continue;
        vm->api->clear_error(vm);
        views_release(vm, kept);
        return false;
    }
    return true;
}

void views_release(dvx_vm *vm, kept_views *kept) {
    nd_state_of(vm)->views_held -= VIEWS_KEPT * kept->bytes;
    kept->bytes = 0;
    for (int i = 0; i < VIEWS_KEPT; i++) {
        dvx_value view = kept->views[i];
        kept->views[i] = DVX_FAILED;
        vm->api->release(vm, view);
    }
}
