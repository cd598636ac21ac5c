/* derive_key.c: reading keys, and finding what they stand for (derive_key.h). */
#include "site/derive_key.h"

/* ---- Reading keys ---- */

/* A member of a slice: an int, or None (*has is false). */
static bool read_member(dvx_vm *vm, dvx_value slice, const char *name, bool *has, int64_t *out) {
    dvx_value v = vm->api->get_attribute(vm, slice, name);
    const dvx_kind kind = dvx_failed(v) ? DVX_ANY : vm->api->kind(vm, v);
    *has = kind == DVX_INT;
    bool good = kind == DVX_NONE || (*has && vm->api->read_int(vm, v, out));
    vm->api->release(vm, v);
    if (!good) vm->api->clear_error(vm);
    return good;
}

static bool read_part(dvx_vm *vm, dvx_value v, key *out) {
    bool has_step = false;
    key_part *p;
    switch (vm->api->kind(vm, v)) {
    case DVX_NONE: return key_add(out, KEY_NEW) != NULL;
    case DVX_ELLIPSIS: return key_add(out, KEY_REST) != NULL;
    case DVX_INT:
        if (!(p = key_add(out, KEY_INT))) return false;
        if (vm->api->read_int(vm, v, &p->start)) return true;
        vm->api->clear_error(vm);
        return false;
    case DVX_SLICE:
        return (p = key_add(out, KEY_SLICE)) &&
               read_member(vm, v, "start", &p->has_start, &p->start) &&
               read_member(vm, v, "stop", &p->has_stop, &p->stop) &&
               read_member(vm, v, "step", &has_step, &p->step) && p->step != 0 &&
               p->step > -INT32_MAX && p->step < INT32_MAX;
    default: return false;
    }
}

bool key_read(dvx_vm *vm, dvx_value v, key *out) {
    *out = (key){.ints = true};
    if (vm->api->kind(vm, v) != DVX_TUPLE) return read_part(vm, v, out);
    const int64_t count = vm->api->length(vm, v);
    if (count < 0 || count > KEY_PARTS) return false;
    for (int i = 0; i < (int)count; i++) {
        dvx_value index = vm->api->make_int(vm, i), item = vm->api->get_item(vm, v, index);
        const bool good = !dvx_failed(item) && read_part(vm, item, out);
        vm->api->release(vm, item);
        vm->api->release(vm, index);
        if (!good) return false;
    }
    return true;
}

/* ---- Places ---- */

static inline int64_t clamp(int64_t i, int64_t count, int64_t low, int64_t high) {
    if (i < 0) i += count;
    return i < low ? low : i > high ? high : i;
}

/* The slice's part of an axis, as slice.indices() has it. */
static inline void take_slice(const key_part *p, const dvx_axis *axis, key_place *to) {
    const int64_t n = axis->count, low = p->step > 0 ? 0 : -1, high = p->step > 0 ? n : n - 1;
    const int64_t start = p->has_start ? clamp(p->start, n, low, high) : p->step > 0 ? low : high;
    const int64_t stop = p->has_stop ? clamp(p->stop, n, low, high) : p->step > 0 ? high : low;
    int64_t count = 0;
    if (p->step == 1)
        count = stop > start ? stop - start : 0;
    else if (p->step > 0)
        count = stop > start ? (stop - start - 1) / p->step + 1 : 0;
    else
        count = start > stop ? (start - stop - 1) / -p->step + 1 : 0;
    if (count) to->data += start * axis->stride;
    to->axes[to->ndim++] = axis_stepped(count, p->step, axis->stride);
}

bool key_find(const nd_array *a, const key *k, key_place *to) {
    const int rest = a->ndim - k->axes, taken = k->count - k->rest;
    if (a->ndim > ND_FEW || rest < 0 || rest + taken > ND_FEW) return false;
    const dvx_axis *axis = a->axes;
    to->data = a->data;
    to->ndim = 0;
    for (int i = 0; i < k->count; i++) {
        const key_part *p = &k->parts[i];
        int64_t at;
        switch (p->kind) {
        case KEY_INT:
            at = p->start < 0 ? p->start + axis->count : p->start;
            if (UNLIKELY(at < 0 || at >= axis->count)) return false;
            to->data += at * axis++->stride;
            break;
        case KEY_SLICE: take_slice(p, axis++, to); break;
        case KEY_NEW: to->axes[to->ndim++] = (dvx_axis){1, 0}; break;
        case KEY_REST:
            for (int n = 0; n < rest; n++) to->axes[to->ndim++] = *axis++;
            break;
        }
    }
    while (axis < a->axes + a->ndim) to->axes[to->ndim++] = *axis++;
    return true;
}

/* Of ints, and of slices with members that are no ints: they are read in the order of the key. */
static int find_by_reading(dvx_vm *vm, const nd_array *a, dvx_value v, key_place *to,
                           bool *slices) {
    dvx_value items[ND_FEW] = {v};
    int64_t count = 1, starts[ND_FEW], steps[ND_FEW], counts[ND_FEW];
    bool slice[ND_FEW] = {false};
    if (vm->api->kind(vm, v) == DVX_TUPLE) count = vm->api->length(vm, v);
    if (a->ndim > ND_FEW || count < 1 || count > a->ndim) return 0;
    const bool tuple = vm->api->kind(vm, v) == DVX_TUPLE;
    int got = 0, state = 1;
    for (; got < (int)count && state > 0; got++) {
        if (tuple) items[got] = vm->api->get_item(vm, v, vm->api->make_int(vm, got));
        const dvx_kind kind = vm->api->kind(vm, items[got]);
        slice[got] = kind == DVX_SLICE;
        *slices |= slice[got];
        if (slice[got]) continue;
        const int64_t n = a->axes[got].count;
        if (kind != DVX_INT || !vm->api->read_int(vm, items[got], &starts[got])) {
            vm->api->clear_error(vm);
            state = 0;
            continue;
        }
        if (starts[got] < 0) starts[got] += n;
        if (starts[got] < 0 || starts[got] >= n) state = 0;
    }
    nd_state *busy = *slices && state > 0 ? nd_state_of(vm) : NULL;
    if (busy) busy->busy++;
    for (int i = 0; busy && i < got && state > 0; i++)
        if (slice[i] &&
            !vm->api->read_slice(vm, items[i], a->axes[i].count, &starts[i], &steps[i], &counts[i]))
            state = -1;
    if (busy) busy->busy--;
    for (int i = 0; tuple && i < got; i++) vm->api->release(vm, items[i]);
    if (state <= 0) return state;
    to->data = a->data;
    to->ndim = 0;
    for (int i = 0; i < got; i++) {
        if (!slice[i] || counts[i]) to->data += starts[i] * a->axes[i].stride;
        if (slice[i]) to->axes[to->ndim++] = axis_stepped(counts[i], steps[i], a->axes[i].stride);
    }
    for (int i = got; i < a->ndim; i++) to->axes[to->ndim++] = a->axes[i];
    return 1;
}

int key_find_now(dvx_vm *vm, const nd_array *a, dvx_value v, key_place *to, bool *element) {
    bool slices = false;
#ifdef DVX_NATIVE
    key k;
    to->data = dv_is_tuple(v) ? key_element(a, v) : NULL;
    to->ndim = 0;
    if (to->data) return *element = true;
    if (key_read_natively(v, &k)) {
        *element = key_is_element(a, &k);
        return key_find(a, &k, to);
    }
#endif
    const int state = find_by_reading(vm, a, v, to, &slices);
    *element = state > 0 && to->ndim == 0 && !slices;
    return state;
}
