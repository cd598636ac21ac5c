/* sites.c: derivatives for cdatas and libraries (sites.h). */
#include "call/sites.h"

#include <errno.h>

#include "call/call.h"
#include "data/convert.h"
#include "data/lend.h"
#include "call/library.h"
#include "call/plan.h"
#include "data/text.h"

/* ---- Numbers in memory ---- */

/* Is it a number that dl has as int or float? */
static bool is_number(const ctype *type) {
    return type->kind == CTYPE_SIGNED || type->kind == CTYPE_UNSIGNED || type->kind == CTYPE_FLOAT;
}

static dvx_value read_number(dvx_vm *vm, const ctype *type, const char *data) {
    float f;
    double d;
    if (type->kind == CTYPE_SIGNED)
        return vm->api->make_int(vm, convert_load_signed(data, type->size));
    if (type->kind == CTYPE_UNSIGNED)
        return vm->api->make_uint(vm, convert_load_unsigned(data, type->size));
    if (type->size == sizeof f) return memcpy(&f, data, sizeof f), vm->api->make_float(vm, f);
    return memcpy(&d, data, sizeof d), vm->api->make_float(vm, d);
}

/* Writes a number; false: it does not fit, and nothing has happened. */
static bool write_number(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    int64_t i;
    double d;
    float f;
    dvx_kind kind = vm->api->kind(vm, v);
    if (type->kind == CTYPE_FLOAT) {
        if ((kind != DVX_FLOAT && kind != DVX_INT) || !vm->api->read_float(vm, v, &d))
            return vm->api->clear_error(vm), false;
        f = (float)d;
        memcpy(data, type->size == sizeof f ? (void *)&f : (void *)&d, (size_t)type->size);
        return true;
    }
    if (kind != DVX_INT || !vm->api->read_int(vm, v, &i)) return vm->api->clear_error(vm), false;
    if (type->kind == CTYPE_SIGNED && type->size == 8) return memcpy(data, &i, sizeof i), true;
    int32_t small = (int32_t)i;
    if (type->kind == CTYPE_SIGNED && type->size == 4)
        return small == i && memcpy(data, &small, sizeof small) != NULL;
    char copy[8];
    convert_store(copy, type->size, (uint64_t)i);
    bool fits = type->kind == CTYPE_SIGNED
                    ? convert_load_signed(copy, type->size) == i
                    : i >= 0 && convert_load_unsigned(copy, type->size) == (uint64_t)i;
    if (fits) memcpy(data, copy, (size_t)type->size);
    return fits;
}

static dvx_outcome made(dvx_value v, dvx_value *result) {
    *result = v;
    return dvx_failed(v) ? DVX_ERROR : DVX_DONE;
}

/* ---- Calls ---- */

enum { MOST_ARGUMENTS = DVX_MOST_OPERANDS - 1 };

/* How an argument becomes one of C, by the values that the site has seen.  (The VM compares the
 * types of all operands: what was an int is one.) */
typedef enum way { WAY_ANY, WAY_INT32, WAY_INT64, WAY_CDATA, WAY_LENT } way;

typedef struct call_memory {
    ctype *type; /* of the callee */
    const ctype *result;
    ffi_state *state;
    plan_trampoline trampoline;
    uint32_t count; /* of arguments */
    bool is_int32;  /* the result is one */
    uint8_t ways[MOST_ARGUMENTS];
    const ctype *types[MOST_ARGUMENTS]; /* of cdatas that fit */
} call_memory;

typedef union slot {
    _Alignas(PLAN_STRIDE) int64_t i;
    int32_t n;
    double d;
    void *p;
} slot;
_Static_assert(sizeof(slot) == PLAN_STRIDE, "slots are what trampolines read");

/* What was lent to a call: of the few arrays that it may get. */
typedef struct lent {
    uint32_t count, held_count;
    dvx_buffer *held[MOST_ARGUMENTS]; /* where the elements lie together (buffer_in) */
    dvx_view views[2];                /* of all others */
    int64_t sizes[2];
} lent;

/* `native`: what the layout of objects says at once.  Portable twins ask the table, since that
 * which watches gives them handles. */

static inline bool read_int(dvx_vm *vm, dvx_value v, int64_t *out, bool native) {
#ifdef DVX_NATIVE
    if (native && dv_is_int(v)) return *out = dv_as_int(v), true;
#endif
    (void)native;
    return vm->api->read_int(vm, v, out) || (vm->api->clear_error(vm), false);
}

static inline dvx_value make_int32(dvx_vm *vm, int32_t i, bool native) {
#ifdef DVX_NATIVE
    if (native) return dv_int(i);
#endif
    (void)native;
    return vm->api->make_int(vm, i);
}

/* The cdata v, beside another one; NULL: it is none. */
static inline const cdata *cdata_beside(dvx_vm *vm, dvx_value v, dvx_value other, bool native) {
#ifdef DVX_NATIVE
    if (native) return dv_is_shape(v, dv_as_object(other)->shape) ? dvx_payload_of(v) : NULL;
#endif
    (void)other, (void)native;
    return cdata_of(vm, v);
}

#ifdef DVX_NATIVE
/* Do the elements lie together?  (No if there are none.) */
static inline bool is_dense(const dvx_buffer *b, uint32_t dimensions) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    int64_t stride = sizes[b->element];
    if (DV_LIKELY(dimensions == 1))
        return b->axes[0].count > 0 && (b->axes[0].stride == stride || b->axes[0].count == 1);
    for (uint32_t i = dimensions; i-- > 0;) {
        if (b->axes[i].count < 1 || (b->axes[i].count > 1 && b->axes[i].stride != stride))
            return false;
        stride *= b->axes[i].count;
    }
    return true;
}

#endif

/* The buffer in the object of an extension whose elements can be lent without a view, since they
 * lie together; NULL. */
static inline dvx_buffer *buffer_in(dvx_vm *vm, dvx_value v, bool native) {
#ifdef DVX_NATIVE
    if (!native || !dv_is_foreign(v)) return NULL;
    const dv_type *type = vm->types[dv_as_object(v)->shape];
    dvx_buffer *b = (dvx_buffer *)(void *)((char *)dv_as_object(v) + type->buffer);
    if (!type->buffer_axes || b->element > DVX_FLOAT64 || !b->data) return NULL;
    uint32_t dimensions = b->dimensions & ~DVX_OTHER_ITEMS;
    return dimensions <= type->buffer_axes && is_dense(b, dimensions) ? b : NULL;
#else
    (void)vm, (void)v, (void)native;
    return NULL;
#endif
}

static bool may_lend(dvx_kind kind) { return kind == DVX_ANY || kind == DVX_BYTEARRAY; }

/* Arrays and their like, as a `void *`; false: not this way. */
static bool put_lent(dvx_vm *vm, lent *l, const ctype *type, slot *to, dvx_value v) {
    dvx_view *view = &l->views[l->count];
    if (!ctype_is_void_pointer(type) || l->count == LENGTH_OF(l->views) ||
        !may_lend(vm->api->kind(vm, v)))
        return false;
    if (!lend_get(vm, v, false, view, &l->sizes[l->count])) return vm->api->clear_error(vm), false;
    l->count++;
    to->p = view->buffer.data;
    return true;
}

/* A pointer into what was lent keeps that. */
static dvx_value make_pointer(dvx_vm *vm, lent *l, ctype *type, char *data) {
    for (uint32_t i = 0; i < l->count; i++) {
        const char *first = l->views[i].buffer.data;
        if (data < first || data > first + l->sizes[i]) continue;
        cdata_block *block = cdata_lent_block(vm, &l->views[i], (size_t)l->sizes[i]);
        if (!block) return DVX_FAILED;
        l->views[i] = l->views[--l->count];
        dvx_value pointer = cdata_make(vm, type, data, block);
        cdata_drop_block(vm, block);
        return pointer;
    }
    return cdata_make(vm, type, data, NULL);
}

static dvx_value make_result(dvx_vm *vm, lent *l, const ctype *type, const slot *out) {
    if (type->kind == CTYPE_VOID) return ffi_none(vm);
    if (ctype_is_pointer(type)) return make_pointer(vm, l, (ctype *)type, out->p);
    return read_number(vm, type, (const char *)out);
}

/* Lends what has its elements together; while it is counted among its exports, they stay. */
static inline bool hold(dvx_vm *vm, lent *l, slot *to, dvx_value v, bool native) {
    dvx_buffer *b = buffer_in(vm, v, native);
    if (!b) return false;
    b->exports++;
    l->held[l->held_count++] = b;
    return to->p = b->data, true;
}

static inline void release_lent(dvx_vm *vm, lent *l) {
    while (l->held_count) l->held[--l->held_count]->exports--;
    while (l->count) vm->api->buffer_release(vm, &l->views[--l->count]);
}

static bool cdata_fits(const cdata *c, const ctype *type) {
    bool points = c->type->kind == CTYPE_ARRAY || ctype_is_pointer(c->type);
    return c->type == type ||
           (points && (ctype_is_void_pointer(type) || ctype_is_void_pointer(c->type))) ||
           (c->type->kind == CTYPE_ARRAY && c->type->item == type->item);
}

static bool put_any(dvx_vm *vm, lent *l, const ctype *type, slot *to, dvx_value v) {
    if (!ctype_is_pointer(type)) return write_number(vm, type, (char *)to, v);
    const cdata *c = cdata_of(vm, v);
    if (!c) return put_lent(vm, l, type, to, v);
    if (!cdata_fits(c, type)) return false;
    to->p = c->data;
    return true;
}

static inline __attribute__((always_inline)) bool put_argument(dvx_vm *vm, lent *l,
                                                               const call_memory *m, uint32_t i,
                                                               slot *to, dvx_value v,
                                                               dvx_value callee, bool native) {
    way way = m->ways[i];
    if (way == WAY_INT32) return read_int(vm, v, &to->i, native) && to->i == (int32_t)to->i;
    if (way == WAY_INT64) return read_int(vm, v, &to->i, native);
    if (way == WAY_LENT && hold(vm, l, to, v, native)) return true;
    if (way == WAY_CDATA) {
        const cdata *c = cdata_beside(vm, v, callee, native);
        if (c && c->type == m->types[i]) return to->p = c->data, true;
    }
    return put_any(vm, l, m->type->item->parameters[i], to, v);
}

static way way_of(dvx_vm *vm, const ctype *type, dvx_value v, const ctype **seen) {
    dvx_kind kind = vm->api->kind(vm, v);
    *seen = NULL;
    if (kind == DVX_INT && type->kind == CTYPE_SIGNED)
        return type->size == 4 ? WAY_INT32 : type->size == 8 ? WAY_INT64 : WAY_ANY;
    if (!ctype_is_pointer(type)) return WAY_ANY;
    const cdata *c = cdata_of(vm, v);
    if (!c) return ctype_is_void_pointer(type) && may_lend(kind) ? WAY_LENT : WAY_ANY;
    if (!cdata_fits(c, type)) return WAY_ANY;
    *seen = c->type;
    return WAY_CDATA;
}

static inline __attribute__((always_inline)) dvx_outcome call_site(dvx_vm *vm,
                                                                   const dvx_value *arguments,
                                                                   dvx_value of, void *cache,
                                                                   dvx_value *result, bool native) {
    const call_memory *m = cache;
    const cdata *callee = cdata_beside(vm, of, of, native);
    slot slots[MOST_ARGUMENTS], out;
    lent l;
    l.count = l.held_count = 0;
    if (callee->type != m->type || !callee->data) return DVX_DEOPTIMISE;
    for (uint32_t i = 0; i < m->count; i++)
        if (!put_argument(vm, &l, m, i, &slots[i], arguments[i], of, native))
            return release_lent(vm, &l), DVX_DEOPTIMISE;
    int *error = &errno, *saved = &m->state->saved_errno;
    *error = *saved;
    m->trampoline(callee->data, (const char *)slots, &out);
    *saved = *error;
    *result = m->is_int32 ? make_int32(vm, out.n, native) : make_result(vm, &l, m->result, &out);
    release_lent(vm, &l);
    return dvx_failed(*result) ? DVX_ERROR : DVX_DONE;
}

static dvx_outcome run_call(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result) {
    return call_site(vm, operands + 1, operands[0], cache, result, false);
}

#ifdef DVX_NATIVE
static inline __attribute__((always_inline)) dvx_value
native_call(dvx_vm *vm, const dvx_value *arguments, dvx_value callee, void *cache) {
    dvx_value result = DVX_FAILED;
    (void)call_site(vm, arguments, callee, cache, &result, true);
    return result;
}
DVX_CALL_OUT(call_native, native_call)
#define NATIVE_CALL .native = call_native, .native_method = call_native_method,
#else
#define NATIVE_CALL
#endif

#define CALL(id, inputs, kind)                                                                  \
    static const dvx_specialisation call_##id##_##inputs = {.size = sizeof(dvx_specialisation), \
                                                            .where = DVX_HERE,                  \
                                                            .name = "CALL_C_" #id,              \
                                                            .family = DVX_SITE_CALL,            \
                                                            .count = inputs,                    \
                                                            .run = run_call,                    \
                                                            .cache_size = sizeof(call_memory),  \
                                                            .result = kind,                     \
                                                            NATIVE_CALL};
#define CALLS(id, kind)                                                                    \
    CALL(id, 1, kind)                                                                      \
    CALL(id, 2, kind)                                                                      \
    CALL(id, 3, kind)                                                                      \
    CALL(id, 4, kind)                                                                      \
    CALL(id, 5, kind)                                                                      \
    CALL(id, 6, kind)                                                                      \
    CALL(id, 7, kind)                                                                      \
    CALL(id, 8, kind)                                                                      \
    CALL(id, 9, kind)                                                                      \
    CALL(id, 10, kind)                                                                     \
    CALL(id, 11, kind)                                                                     \
    CALL(id, 12, kind)                                                                     \
    CALL(id, 13, kind)                                                                     \
    static const dvx_specialisation *const calls_##id[] = {                                \
        &call_##id##_1,  &call_##id##_2,  &call_##id##_3, &call_##id##_4, &call_##id##_5,  \
        &call_##id##_6,  &call_##id##_7,  &call_##id##_8, &call_##id##_9, &call_##id##_10, \
        &call_##id##_11, &call_##id##_12, &call_##id##_13};
CALLS(FLOAT, DVX_FLOAT)
CALLS(INT, DVX_INT)
CALLS(OTHER, DVX_ANY)

static bool may_be_argument(const ctype *type) { return is_number(type) || ctype_is_pointer(type); }

static void specialise_call(dvx_vm *vm, dvx_site *site) {
    const cdata *c = cdata_of(vm, site->operands[0].value);
    ctype *function = c && c->type->kind == CTYPE_FUNCTION_POINTER ? c->type->item : NULL;
    struct call_plan *plan = function ? function->plan : NULL;
    uint32_t count = site->count - 1;
    bool fits = plan && plan->trampoline && !function->ellipsis &&
                function->parameter_count == count && count < LENGTH_OF(calls_INT);
    for (uint32_t i = 0; fits && i < count; i++) fits = may_be_argument(function->parameters[i]);
    if (fits) fits = function->item->kind == CTYPE_VOID || may_be_argument(function->item);
    if (!fits) {
        vm->api->decline(vm, site, "no trampoline calls C functions of this signature");
        return;
    }
    const ctype *result = function->item;
    const dvx_specialisation *const *list = result->kind == CTYPE_FLOAT ? calls_FLOAT
                                            : is_number(result)         ? calls_INT
                                                                        : calls_OTHER;
    call_memory *m = vm->api->specialise(vm, site, list[count]);
    if (!m) return;
    *m = (call_memory){.type = c->type,
                       .result = result,
                       .state = function->state,
                       .trampoline = plan->trampoline,
                       .count = count,
                       .is_int32 = result->kind == CTYPE_SIGNED && result->size == 4};
    for (uint32_t i = 0; i < count; i++)
        m->ways[i] =
            (uint8_t)way_of(vm, function->parameters[i], site->operands[i + 1].value, &m->types[i]);
    for (uint32_t i = 0; i < count && ctype_is_pointer(result); i++)
        if (m->ways[i] == WAY_LENT)
            m->ways[i] = WAY_ANY; /* with a view, which the result may keep */
}

/* ---- Items ---- */

typedef struct item_memory {
    ctype *type; /* of the array or pointer */
} item_memory;

/* Where item `key` is, or NULL. */
static char *item_of(dvx_vm *vm, const item_memory *m, dvx_value container, dvx_value key) {
    const cdata *c = cdata_of(vm, container);
    int64_t i;
    if (c->type != m->type) return NULL;
    if (!vm->api->read_int(vm, key, &i)) return vm->api->clear_error(vm), NULL;
    bool inside = c->type->kind == CTYPE_ARRAY ? (uint64_t)i < (uint64_t)cdata_length(c)
                                               : c->role != CDATA_OWNING || i == 0;
    return inside && c->data ? c->data + i * c->type->item->size : NULL;
}

static dvx_outcome run_get(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result) {
    const item_memory *m = cache;
    const char *data = item_of(vm, m, operands[0], operands[1]);
    return data ? made(read_number(vm, m->type->item, data), result) : DVX_DEOPTIMISE;
}

static dvx_outcome run_set(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result) {
    const item_memory *m = cache;
    (void)result;
    char *data = item_of(vm, m, operands[1], operands[2]);
    return data && write_number(vm, m->type->item, data, operands[0]) ? DVX_DONE : DVX_DEOPTIMISE;
}

#define ITEM(id, text, site, inputs, function, kind)                          \
    static const dvx_specialisation id = {.size = sizeof(dvx_specialisation), \
                                          .where = DVX_HERE,                  \
                                          .name = text,                       \
                                          .family = site,                     \
                                          .count = inputs,                    \
                                          .run = function,                    \
                                          .cache_size = sizeof(item_memory),  \
                                          .result = kind};
ITEM(get_int, "GET_CDATA_INT", DVX_SITE_GET_ITEM, 2, run_get, DVX_INT)
ITEM(get_float, "GET_CDATA_FLOAT", DVX_SITE_GET_ITEM, 2, run_get, DVX_FLOAT)
ITEM(set_number, "SET_CDATA_NUMBER", DVX_SITE_SET_ITEM, 3, run_set, DVX_ANY)

static void specialise_item(dvx_vm *vm, dvx_site *site, const dvx_operand *container) {
    const cdata *c = cdata_of(vm, container->value);
    bool many = c && (c->type->kind == CTYPE_ARRAY || c->type->kind == CTYPE_POINTER);
    if (!many || !is_number(c->type->item) || vm->api->kind(vm, container[1].value) != DVX_INT) {
        vm->api->decline(vm, site, "the items are no plain numbers, or the key is no int");
        return;
    }
    const dvx_specialisation *chosen = site->family == DVX_SITE_SET_ITEM    ? &set_number
                                       : c->type->item->kind == CTYPE_FLOAT ? &get_float
                                                                            : &get_int;
    item_memory *m = vm->api->specialise(vm, site, chosen);
    if (m) m->type = c->type;
}

/* ---- Fields ---- */

typedef struct field_memory {
    ctype *type; /* of the struct, or of a pointer to it */
    const ctype_field *field;
} field_memory;

static dvx_outcome run_field(dvx_vm *vm, const dvx_value *operands, void *cache,
                             dvx_value *result) {
    const field_memory *m = cache;
    const cdata *c = cdata_of(vm, operands[0]);
    if (c->type != m->type || !c->data) return DVX_DEOPTIMISE;
    if (m->field->bit_size >= 0 || !is_number(m->field->type))
        return made(convert_read_field(vm, m->field, c->data, c->block), result);
    return made(read_number(vm, m->field->type, c->data + m->field->offset), result);
}

#define FIELD(id, text, kind)                                                 \
    static const dvx_specialisation id = {.size = sizeof(dvx_specialisation), \
                                          .where = DVX_HERE,                  \
                                          .name = text,                       \
                                          .family = DVX_SITE_ATTRIBUTE,       \
                                          .count = 1,                         \
                                          .run = run_field,                   \
                                          .cache_size = sizeof(field_memory), \
                                          .result = kind};
FIELD(field_int, "FIELD_INT", DVX_INT)
FIELD(field_float, "FIELD_FLOAT", DVX_FLOAT)
FIELD(field_other, "FIELD_OTHER", DVX_ANY)

static void specialise_field(dvx_vm *vm, dvx_site *site) {
    const cdata *c = cdata_of(vm, site->operands[0].value);
    char name[64];
    size_t size;
    const ctype *type = c && c->type->kind == CTYPE_POINTER ? c->type->item : c ? c->type : NULL;
    bool named = type && ctype_is_record(type) &&
                 vm->api->read_str(vm, site->name, name, sizeof name, &size) && size < sizeof name;
    const ctype_field *field = named ? ctype_find_field(type, name, size) : NULL;
    if (!field) {
        vm->api->decline(vm, site, "a struct has no such field");
        return;
    }
    const dvx_specialisation *chosen = field->bit_size >= 0 || !is_number(field->type)
                                           ? &field_other
                                       : field->type->kind == CTYPE_FLOAT ? &field_float
                                                                          : &field_int;
    field_memory *m = vm->api->specialise(vm, site, chosen);
    if (m) *m = (field_memory){c->type, field};
}

void sites_specialise_cdata(dvx_vm *vm, dvx_site *site) {
    switch (site->family) {
    case DVX_SITE_CALL: specialise_call(vm, site); return;
    case DVX_SITE_GET_ITEM: specialise_item(vm, site, &site->operands[0]); return;
    case DVX_SITE_SET_ITEM: specialise_item(vm, site, &site->operands[1]); return;
    case DVX_SITE_ATTRIBUTE: specialise_field(vm, site); return;
    default: vm->api->decline(vm, site, "there is no derivative for this operation on cdatas");
    }
}

/* ---- Functions of libraries ---- */

typedef struct library_memory {
    uint64_t serial; /* of the library; 0: nothing is held */
    dvx_value function;
} library_memory;

static void release_function(dvx_vm *vm, void *cache) {
    const library_memory *m = cache;
    if (m->serial) vm->api->release(vm, m->function);
}

static dvx_outcome run_function(dvx_vm *vm, const dvx_value *operands, void *cache,
                                dvx_value *result) {
    const library_memory *m = cache;
    if (library_serial(vm, operands[0]) != m->serial) return DVX_DEOPTIMISE;
    return made(vm->api->retain(vm, m->function), result);
}

static const dvx_specialisation library_function = {.size = sizeof(dvx_specialisation),
                                                    .where = DVX_HERE,
                                                    .name = "LIBRARY_FUNCTION",
                                                    .family = DVX_SITE_ATTRIBUTE,
                                                    .count = 1,
                                                    .run = run_function,
                                                    .cache_size = sizeof(library_memory),
                                                    .release = release_function,
                                                    .result_type = &cdata_type};

void sites_specialise_library(dvx_vm *vm, dvx_site *site) {
    dvx_value object = site->operands[0].value, function;
    uint64_t serial = library_serial(vm, object);
    bool found = site->family == DVX_SITE_ATTRIBUTE && serial &&
                 library_kept(vm, object, site->name, &function);
    if (!found || !cdata_of(vm, function)) {
        if (found) vm->api->release(vm, function);
        vm->api->decline(vm, site, "only functions of a library stay what they are");
        return;
    }
    library_memory *m = vm->api->specialise(vm, site, &library_function);
    if (m)
        *m = (library_memory){serial, function};
    else
        vm->api->release(vm, function);
}
