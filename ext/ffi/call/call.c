/* call.c: calling C functions (call.h). */
#include "call/call.h"

#include <errno.h>
#include <stdlib.h>

#include "data/convert.h"
#include "data/lend.h"
#include "call/plan.h"

enum { FEW_BYTES = 384, MOST_ARGUMENTS = DVX_MOST_PARAMETERS };

/* One call: its memory, and what lists and texts became. */
typedef struct call {
    ctype *function;
    struct call_plan *plan;
    char *memory; /* the result, then the arguments */
    void *values[MOST_ARGUMENTS];
    cdata_block *temporaries[MOST_ARGUMENTS];
    uint32_t temporary_count;
    _Alignas(16) char few[FEW_BYTES];
} call;

/* ---- Arguments ---- */

/* Arrays and whatever else has a buffer are lent to a `void *` for the call. */
static bool put_lent(dvx_vm *vm, call *c, ctype *type, char *to, dvx_value v) {
    dvx_view view;
    int64_t size;
    dvx_kind kind = vm->api->kind(vm, v);
    bool may = ctype_is_void_pointer(type) && (kind == DVX_ANY || kind == DVX_BYTEARRAY);
    if (!may) return convert_write(vm, type, to, v);
    dvx_value no_buffer = vm->api->error_class(vm, DVX_TYPE_ERROR);
    bool got = lend_get(vm, v, false, &view, &size);
    bool refused = !got && !vm->api->error_matches(vm, no_buffer); /* its memory cannot be lent */
    vm->api->release(vm, no_buffer);
    if (refused) return false;
    if (!got) return vm->api->clear_error(vm), convert_write(vm, type, to, v);
    cdata_block *block = cdata_lent_block(vm, &view, (size_t)size);
    if (!block) return vm->api->buffer_release(vm, &view), false;
    c->temporaries[c->temporary_count++] = block;
    memcpy(to, &block->data, sizeof block->data);
    return true;
}

/* Lists, tuples, bytes and str become arrays that live during the call. */
static bool put_temporary(dvx_vm *vm, call *c, ctype *type, char *to, dvx_value v) {
    int64_t length = 0, size = convert_temporary_size(vm, type, v, &length);
    if (size < 0) return false;
    if (size == 0) return put_lent(vm, c, type, to, v);
    cdata_block *block = cdata_new_block(vm, (size_t)size);
    if (!block) return false;
    c->temporaries[c->temporary_count++] = block;
    char *data = block->data;
    memcpy(to, &data, sizeof data);
    if (type->item->kind != CTYPE_VOID)
        return convert_write_array(vm, type->item, type, length, data, v);
    size_t count;
    return vm->api->read_bytes(vm, v, data, (size_t)size, &count);
}

static bool put_argument(dvx_vm *vm, call *c, ctype *type, char *to, dvx_value v) {
    if (type->kind != CTYPE_POINTER) return convert_write(vm, type, to, v);
    const cdata *given = cdata_of(vm, v);
    if (!given) return put_temporary(vm, c, type, to, v);
    if (given->type != type) return convert_write(vm, type, to, v);
    memcpy(to, &given->data, sizeof given->data);
    return true;
}

/* ---- The call ---- */

static bool prepare(dvx_vm *vm, call *c, struct call_plan *plan) {
    c->plan = plan;
    c->temporary_count = 0;
    c->memory = plan->size <= FEW_BYTES ? c->few : vm->api->allocate(vm, plan->size);
    if (!c->memory) return false;
    for (uint32_t i = 0; i < plan->count; i++) c->values[i] = c->memory + plan->offsets[i];
    return true;
}

static void finish(dvx_vm *vm, call *c) {
    for (uint32_t i = 0; i < c->temporary_count; i++) cdata_drop_block(vm, c->temporaries[i]);
    if (c->memory && c->memory != c->few) vm->api->deallocate(vm, c->memory, c->plan->size);
}

static void invoke(ffi_state *state, call *c, void *address) {
    errno = state->saved_errno;
    if (c->plan->trampoline)
        c->plan->trampoline(address, c->memory + PLAN_STRIDE, c->memory);
    else
        ffi_call(&c->plan->cif, (void (*)(void))address, c->memory, c->values);
    state->saved_errno = errno;
}

/* A pointer into what an argument became keeps that. */
static dvx_value pointer_result(dvx_vm *vm, const call *c, ctype *type) {
    char *data;
    memcpy(&data, c->memory, sizeof data);
    for (uint32_t i = 0; i < c->temporary_count; i++) {
        cdata_block *block = c->temporaries[i];
        if (data >= block->data && data <= block->data + block->size)
            return cdata_make(vm, type, data, block);
    }
    return cdata_make(vm, type, data, NULL);
}

static dvx_value record_result(dvx_vm *vm, const call *c, ctype *type) {
    cdata_block *block = cdata_new_block(vm, (size_t)type->size);
    if (!block) return DVX_FAILED;
    memcpy(block->data, c->memory, (size_t)type->size);
    cdata *made;
    dvx_value v = cdata_make_at(vm, type, block->data, block, &made);
    if (!dvx_failed(v)) made->role = CDATA_OWNING;
    cdata_drop_block(vm, block);
    return v;
}

static dvx_value result(dvx_vm *vm, const call *c) {
    ctype *type = c->function->item;
    if (type->kind == CTYPE_VOID) return ffi_none(vm);
    if (ctype_is_pointer(type)) return pointer_result(vm, c, type);
    if (ctype_is_record(type)) return record_result(vm, c, type);
    return convert_read(vm, type, c->memory, NULL);
}

static dvx_value call_fixed(dvx_vm *vm, ctype *function, void *address, const dvx_value *args) {
    struct call_plan *plan = plan_of(vm, function);
    call c;
    c.function = function;
    if (!plan || !prepare(vm, &c, plan)) return DVX_FAILED;
    bool good = true;
    for (uint32_t i = 0; i < plan->count && good; i++)
        good = put_argument(vm, &c, function->parameters[i], c.values[i], args[i]);
    if (good) invoke(function->state, &c, address);
    dvx_value made = good ? result(vm, &c) : DVX_FAILED;
    finish(vm, &c);
    return made;
}

/* ---- Variadic functions ---- */

/* The type that an argument behind `...` is passed as; NULL: raised. */
static ctype *promoted(dvx_vm *vm, dvx_value v, uint32_t number) {
    char name[FFI_NAME];
    const cdata *c = cdata_of(vm, v);
    if (!c) {
        ffi_fail(vm, DVX_TYPE_ERROR,
                 "argument %u passed in the variadic part needs to be a cdata object (got %s)",
                 number, ffi_class_name(vm, v, name));
        return NULL;
    }
    ctype *type = c->type;
    if (type->kind == CTYPE_ARRAY) return type->item->pointer;
    bool small = type->size < (int64_t)sizeof(int);
    if ((ctype_is_integer(type) || type->kind == CTYPE_CHAR) && small) return type->state->int_type;
    if (type->kind == CTYPE_FLOAT) return type->state->double_type;
    return type;
}

/* An argument behind `...`: a cdata, whose value keeps its kind. */
static bool put_variadic(dvx_vm *vm, ctype *type, char *to, dvx_value v) {
    cdata *c = cdata_of(vm, v);
    if (c->type == type) {
        memcpy(to, cdata_bytes(c), (size_t)type->size);
        return true;
    }
    if (type == type->state->int_type) {
        int value = c->type->is_signed ? (int)convert_load_signed(c->bytes, c->type->size)
                                       : (int)convert_load_unsigned(c->bytes, c->type->size);
        memcpy(to, &value, sizeof value);
        return true;
    }
    return convert_write(vm, type, to, v);
}

static bool put_all(dvx_vm *vm, call *c, ctype *const *types, const dvx_value *args) {
    uint32_t fixed = c->function->parameter_count;
    for (uint32_t i = 0; i < c->plan->count; i++) {
        bool good = i < fixed ? put_argument(vm, c, types[i], c->values[i], args[i])
                              : put_variadic(vm, types[i], c->values[i], args[i]);
        if (!good) return false;
    }
    return true;
}

static dvx_value call_variadic(dvx_vm *vm, ctype *function, void *address, const dvx_value *args,
                               uint32_t count) {
    ctype *types[MOST_ARGUMENTS];
    uint32_t fixed = function->parameter_count;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = i < fixed ? function->parameters[i] : promoted(vm, args[i], i + 1);
        if (!types[i]) return DVX_FAILED;
    }
    call c = {.function = function, .plan = plan_variadic(vm, function, types, count)};
    if (!c.plan) return DVX_FAILED;
    bool good = prepare(vm, &c, c.plan) && put_all(vm, &c, types, args);
    if (good) invoke(function->state, &c, address);
    dvx_value made = good ? result(vm, &c) : DVX_FAILED;
    finish(vm, &c);
    call_plan_free(vm, c.plan);
    return made;
}

/* ---- From regions ---- */

struct call_raw {
    char signature[16];
    dvx_raw list[2]; /* the second ends it */
};

/* The letter of dvx_raw for a type; 0: regions do not pass it. */
static char raw_letter(const ctype *type) {
    if (type->kind == CTYPE_VOID) return 'v';
    if (type->kind == CTYPE_FLOAT) return type->size == sizeof(double) ? 'd' : 0;
    if (type->kind != CTYPE_SIGNED) return 0;
    return type->size == 8 ? 'q' : type->size == 4 ? 'i' : 0;
}

static bool put_signature(const ctype *function, char *to, size_t size) {
    uint32_t count = function->parameter_count;
    if (function->ellipsis || count + 4 > size) return false;
    *to++ = raw_letter(function->item);
    *to++ = '(';
    for (uint32_t i = 0; i < count; i++) *to++ = raw_letter(function->parameters[i]);
    memcpy(to, ")", 2);
    return strlen(to - count - 2) == count + 3;
}

static bool has_raw(const cdata *c) {
    return c->role == CDATA_PLAIN && c->type->kind == CTYPE_FUNCTION_POINTER && c->data;
}

const dvx_raw *call_raw_of(dvx_vm *vm, cdata *c) {
    if (!has_raw(c)) return NULL;
    if (c->raw) return c->raw->list;
    char signature[sizeof c->raw->signature];
    if (!put_signature(c->type->item, signature, sizeof signature)) return NULL;
    c->raw = vm->api->allocate(vm, sizeof *c->raw);
    if (!c->raw) {
        vm->api->clear_error(vm);
        return NULL;
    }
    memset(c->raw, 0, sizeof *c->raw);
    memcpy(c->raw->signature, signature, sizeof signature);
    c->raw->list[0] = (dvx_raw){.signature = c->raw->signature,
                                .entry = (void (*)(void))(uintptr_t)c->data,
                                .error_number = &c->type->state->saved_errno};
    return c->raw->list;
}

void call_raw_free(dvx_vm *vm, cdata *c) {
    if (!has_raw(c) || !c->raw) return;
    vm->api->deallocate(vm, c->raw, sizeof *c->raw);
    c->raw = NULL;
}

dvx_value call_function(dvx_vm *vm, cdata *c, const dvx_value *args, uint32_t count) {
    ctype *function = c->type->item;
    uint32_t declared = function->parameter_count;
    if (!c->data)
        return ffi_raise(vm, DVX_RUNTIME_ERROR, "cannot call null pointer pointer from cdata '%s'",
                         c->type->name);
    if (!function->ellipsis && count == declared) return call_fixed(vm, function, c->data, args);
    if (function->ellipsis && count >= declared)
        return call_variadic(vm, function, c->data, args, count);
    return ffi_raise(vm, DVX_TYPE_ERROR,
                     function->ellipsis ? "'%s' expects at least %u arguments, got %u"
                                        : "'%s' expects %u arguments, got %u",
                     c->type->name, declared, count);
}
