/* int_bytes.c: int.to_bytes and int.from_bytes. */
#include "types/number/int_bytes.h"

#include <stdio.h>
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/binary/bytes.h"
#include "types/number/int_arith.h"
#include "types/sequence/sequence.h"
#include "types/class/subclass.h"

/* byteorder (EMPTY: big) and signed. */
static bool read_options(dv_vm *vm, const char *function, dv_value order, dv_value sign, bool *big,
                         bool *is_signed) {
    *big = true;
    *is_signed = false;
    if (!dv_is_empty(order)) {
        if (!dv_is_str(order)) {
            char what[48];
            snprintf(what, sizeof what, "%s() argument 'byteorder'", function);
            dv_arguments_refuse(vm, what, "str", order);
            return false;
        }
        *big = dv_str_is(order, "big");
        if (!*big && !dv_str_is(order, "little")) {
            dv_raise(vm, DV_E_VALUE_ERROR, "byteorder must be either 'little' or 'big'");
            return false;
        }
    }
    int truth = dv_is_empty(sign) ? 0 : dv_truth(vm, sign);
    *is_signed = truth == 1;
    return truth >= 0;
}

/* Byte number i, from the lowest, of the number in two's complement. */
static uint8_t byte_at(const dv_int_view *view, int64_t i, bool *carry) {
    uint8_t byte = i / 8 < view->count ? (uint8_t)(view->limbs[i / 8] >> (i % 8 * 8)) : 0;
    if (!view->negative) return byte;
    byte = (uint8_t)(~byte + *carry);
    *carry = *carry && byte == 0;
    return byte;
}

static bool fits(const dv_int_view *view, int64_t length, bool is_signed) {
    uint64_t bits = dv_int_view_bits(view), room = (uint64_t)length * 8;
    if (!is_signed) return bits <= room;
    /* CPython lets -1 have no bytes at all. */
    if (length == 0) return bits == 0 || (view->negative && bits == 1);
    if (bits < room || view->count == 0) return true;
    if (!view->negative || bits > room) return false;
    /* -2^(room - 1) is the one number with so many bits that fits. */
    for (int64_t i = 0; i < view->count - 1; i++)
        if (view->limbs[i]) return false;
    uint64_t top = view->limbs[view->count - 1];
    return (top & (top - 1)) == 0;
}

dv_value dv_int_to_bytes(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"length", "byteorder", "signed"};
    static const dv_parameters parameters = {"to_bytes", names, 3, 2, 0};
    dv_value out[3];
    int64_t length = 1;
    bool big, is_signed;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    if (!dv_is_empty(out[0]) && !dv_size_argument(vm, out[0], &length)) return DV_EMPTY;
    if (!read_options(vm, "to_bytes", out[1], out[2], &big, &is_signed)) return DV_EMPTY;
    if (length < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "length argument must be non-negative");
    dv_int_view view;
    dv_int_look(args[0], &view);
    if (view.negative && !is_signed)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    if (!fits(&view, length, is_signed))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "int too big to convert");
    if (!dv_work(vm, 8 + length / 4)) return DV_EMPTY;
    dv_str *s = dv_bytes_alloc(vm, length);
    if (!s) return DV_EMPTY;
    bool carry = true;
    for (int64_t i = 0; i < length; i++)
        s->data[big ? length - 1 - i : i] = (char)byte_at(&view, i, &carry);
    return dv_object_value(s);
}

static dv_value from_data(dv_vm *vm, const dv_str *s, bool big, bool is_signed) {
    int64_t length = s->length, limbs = (length + 7) / 8;
    if (length == 0) return dv_int(0);
    bool negative = is_signed && (s->data[big ? 0 : length - 1] & 0x80), carry = true;
    dv_bigint *b = dv_work(vm, 8 + length / 4) ? dv_bigint_new(vm, limbs) : NULL;
    if (!b) return DV_EMPTY;
    memset(b->limbs, 0, (size_t)limbs * sizeof *b->limbs);
    for (int64_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)s->data[big ? length - 1 - i : i];
        if (negative) {
            byte = (uint8_t)(~byte + carry);
            carry = carry && byte == 0;
        }
        b->limbs[i / 8] |= (uint64_t)byte << (i % 8 * 8);
    }
    return dv_bigint_finish(vm, b, limbs, negative);
}

dv_value dv_int_from_bytes(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"bytes", "byteorder", "signed"};
    static const dv_parameters parameters = {"from_bytes", names, 3, 2, 1};
    dv_value out[3];
    bool big, is_signed;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    if (!read_options(vm, "from_bytes", out[1], out[2], &big, &is_signed)) return DV_EMPTY;
    dv_value bytes = dv_bytes_from(vm, out[0], "bytes");
    if (dv_is_empty(bytes)) return DV_EMPTY;
    dv_value result = from_data(vm, dv_as_str(bytes), big, is_signed);
    dv_release(vm, bytes);
    return dv_subclass_of_exact(vm, args[0], result);
}
