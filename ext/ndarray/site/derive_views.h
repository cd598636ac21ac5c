/* derive_views.h: views that sites keep, so that native twins can hand them out.
 *
 * Invariants
 *  1. A *kept* view is an array of a site, with a base.  Where the site's reference to it is the
 *     only one, it is as good as new, and becomes the next view.
 *  2. It holds its base, perhaps longer than the program does.  So each view is accounted for with
 *     so many bytes as its first base has, up to VIEWS_MOST, and takes no larger one; all together
 *     have VIEWS_ALL in a VM; and a site that sees temporaries keeps none. */
#ifndef ND_DERIVE_VIEWS_H
#define ND_DERIVE_VIEWS_H

#include "array/array.h"

enum { VIEWS_KEPT = 2, VIEWS_MOST = 1 << 20, VIEWS_ALL = 8 << 20 };

/* What a view is made of: an array with these axes and this dtype, and the view, that begins so
 * many bytes behind its elements.  (Of `of` and `view` the axes count, and what follows from
 * them.) */
typedef struct view_model {
    nd_array of, view; /* of.ndim -1: nothing yet */
    int64_t offset;
} view_model;

typedef struct kept_views {
    dvx_value views[VIEWS_KEPT]; /* DVX_FAILED: none */
    size_t bytes;                /* that each is accounted for with */
} kept_views;

/* Is the array laid out as the one that the model was made of? */
static inline bool views_is_known(const view_model *m, const nd_array *a) {
    if (a->ndim != m->of.ndim || a->dtype != m->of.dtype) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != m->of.few[i].count || a->axes[i].stride != m->of.few[i].stride)
            return false;
    return true;
}

/* Of a view of `a`, which has up to ND_FEW axes. */
void views_learn(view_model *m, const nd_array *a, const nd_array *view);
/* May views of the array that is operand o be kept? */
bool views_may_keep(dvx_vm *vm, const dvx_operand *o);
/* Views to be kept, like this one; false: none. */
bool views_keep(dvx_vm *vm, kept_views *kept, dvx_value of, const nd_array *a,
                const nd_array *view);
void views_release(dvx_vm *vm, kept_views *kept);

#ifdef DVX_NATIVE
/* The array whose elements those of a view of `of` are. */
static inline dvx_value views_owner(dvx_value of) {
    const nd_array *a = dvx_payload_of(of);
    return a->flags & ND_HAS_BASE ? a->base : of;
}

/* A kept view that nobody else has, with the right base and otherwise as it was; NULL: none. */
static inline nd_array *views_find(const kept_views *kept, dvx_value of, dvx_value *found) {
    const dvx_value owner = views_owner(of);
    const nd_array *memory = dvx_payload_of(owner);
    for (int i = 0; i < VIEWS_KEPT; i++) {
        const dvx_value v = kept->views[i];
        if (dv_is_empty(v) || dv_as_object(v)->references != 1) continue;
        nd_array *view = dvx_payload_of(v);
        if (view->axes != view->few || view->exports) continue;
        if (!dv_same(view->base, owner)) {
            /* (The last reference to an array goes where it can be released.) */
            if (dv_as_object(view->base)->references == 1 || memory->memory_size > kept->bytes)
                continue;
            dv_as_object(view->base)->references--;
            dv_as_object(owner)->references++;
            view->base = owner;
        }
        *found = v;
        return view;
    }
    return NULL;
}

/* It is handed out with a reference of its own. */
static inline dvx_value views_hand_out(dvx_value v) {
    dv_as_object(v)->references++;
    return v;
}

/* The view by the model, of an array that is known; DVX_FAILED: none is kept. */
static inline dvx_value views_again(const kept_views *kept, const view_model *m, dvx_value of) {
    const nd_array *a = dvx_payload_of(of), *model = &m->view;
    dvx_value found = DVX_FAILED;
    nd_array *view = views_find(kept, of, &found);
    if (!view) return DVX_FAILED;
    view->data = a->data + m->offset;
    view->element = model->element;
    view->dimensions = model->dimensions;
    view->read_only = a->read_only;
    for (int i = 0; i < ND_FEW; i++) view->few[i] = model->few[i];
    view->dtype = model->dtype;
    view->size = model->size;
    view->ndim = model->ndim;
    view->flags = model->flags;
    return views_hand_out(found);
}
#endif

#endif
