/* str_type.c: the type str: operators, slots, and the table of its methods. */
#include "core/upcall.h"
#include "core/work.h"
#include "types/binary/buffer.h"
#include "types/callable/arguments.h"
#include "types/binary/bytes.h"
#include "types/text/format.h"
#include "types/sequence/iterator.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str_case.h"
#include "types/text/str_methods.h"
#include "types/text/str_search.h"
#include "types/text/str_split.h"
#include "types/text/str_text.h"
#include "types/class/subclass.h"

static dv_value str_str(dv_vm *vm, dv_value self) { return dv_plain(vm, self); }

static bool str_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    *hash = dv_str_hash(vm, self);
    return true;
}

/* Counts what may be compared of long texts. */
static inline bool count_order(dv_vm *vm, dv_value a, dv_value b) {
    const int64_t x = dv_as_str(a)->length, y = dv_as_str(b)->length, shorter = x < y ? x : y;
    return DV_LIKELY(dv_str_order_is_short(a, b)) || dv_work(vm, shorter / 64);
}

static dv_value str_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_str(a) || !dv_is_str(b)) return DV_NOTIMPLEMENTED;
    if (op != DV_EQ && op != DV_NE && !count_order(vm, a, b)) return DV_EMPTY;
    switch (op) {
    case DV_EQ: return dv_bool(dv_str_equal_counted(vm, a, b));
    case DV_NE: return dv_bool(!dv_str_equal_counted(vm, a, b));
    case DV_LT: return dv_bool(dv_str_order(a, b) < 0);
    case DV_LE: return dv_bool(dv_str_order(a, b) <= 0);
    case DV_GT: return dv_bool(dv_str_order(a, b) > 0);
    default: return dv_bool(dv_str_order(a, b) >= 0);
    }
}

static dv_value str_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && dv_is_str(a))
        return dv_is_str(b) ? dv_str_concat(vm, a, b) : dv_concat_refuse(vm, "str", b);
    if (op == DV_BINARY_MOD && dv_is_str(a)) return dv_format_percent(vm, a, b);
    if (op == DV_BINARY_MUL) {
        dv_value s;
        int64_t times;
        if (!dv_repeat_operands(vm, DV_T_STR, a, b, &s, &times)) return DV_EMPTY;
        return dv_str_repeat(vm, s, times);
    }
    return DV_NOTIMPLEMENTED;
}

static dv_value str_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && dv_is_str(a) && dv_is_str(b)) return dv_str_extend(vm, a, b);
    return str_binary(vm, op, a, b);
}

static int64_t str_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_str(self)->length;
}

static dv_value slice_stepped(dv_vm *vm, const dv_str *s, int64_t start, int64_t step,
                              int64_t count) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < count && s->kind > 1; i++) {
        uint32_t c = dv_str_at(s, start + i * step);
        if (c > largest) largest = c;
    }
    dv_str *out = dv_str_alloc(vm, count, dv_str_kind_of(largest));
    if (!out) return DV_EMPTY;
    dv_work_owe(vm, count / 16);
    for (int64_t i = 0; i < count; i++) dv_str_put(out, i, dv_str_at(s, start + i * step));
    return dv_object_value(out);
}

static dv_value str_slice(dv_vm *vm, dv_value self, dv_value slice) {
    int64_t start, stop, step, count;
    if (!dv_slice_indices(vm, slice, dv_as_str(self)->length, &start, &stop, &step, &count))
        return DV_EMPTY;
    if (count == 0) return dv_str_empty(vm);
    if (step == 1 || count == 1) return dv_str_slice(vm, self, start, start + count);
    return slice_stepped(vm, dv_as_str(self), start, step, count);
}

static dv_value str_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_str *s = dv_as_str(self);
    int64_t index;
    if (dv_is_shape(key, DV_T_SLICE)) return str_slice(vm, self, key);
    if (!dv_sequence_index(vm, key, "string indices must be integers, not '%T'", &index))
        return DV_EMPTY;
    if (index < 0) index += s->length;
    if ((uint64_t)index >= (uint64_t)s->length)
        return dv_raise(vm, DV_E_INDEX_ERROR, "string index out of range");
    return dv_str_char(vm, dv_str_at(s, index));
}

static int str_contains(dv_vm *vm, dv_value self, dv_value part) {
    if (!dv_is_str(part)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'in <string>' requires string as left operand, not %T",
                 part);
        return -1;
    }
    const dv_str *s = dv_as_str(self);
    int64_t hit;
    return dv_str_seek(vm, s, dv_as_str(part), 0, s->length, &hit) ? hit >= 0 : -1;
}

static dv_value str_format_method(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    return dv_format_method(vm, args[0], args + 1, count - 1, keywords);
}

static dv_value str_format_map(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_format_map(vm, args[0], args[1]);
}

/* str(object, encoding, errors) */
static dv_value str_decode(dv_vm *vm, const dv_value out[3]) {
    static const char *const names[] = {"str() argument 'encoding'", "str() argument 'errors'"};
    for (int i = 0; i < 2; i++)
        if (!dv_is_empty(out[i + 1]) && !dv_is_str(out[i + 1]))
            return dv_arguments_refuse(vm, names[i], "str", out[i + 1]);
    if (dv_is_empty(out[0])) return dv_str_empty(vm);
    if (dv_is_str(out[0])) return dv_raise(vm, DV_E_TYPE_ERROR, "decoding str is not supported");
    if (dv_is_bytes_like(out[0])) return dv_decode(vm, dv_bytes_of(out[0]), out[1], out[2]);
    if (dv_lends(vm, out[0])) {
        dv_value bytes = dv_bytes_contents(vm, out[0]);
        dv_value text = dv_is_empty(bytes) ? DV_EMPTY : dv_decode(vm, bytes, out[1], out[2]);
        dv_release(vm, bytes);
        return text;
    }
    return dv_raise(vm, DV_E_TYPE_ERROR, "decoding to str: need a bytes-like object, %T found",
                    out[0]);
}

static dv_value str_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"object", "encoding", "errors"};
    static const dv_parameters parameters = {"str", names, 3, 3, 0};
    dv_value out[3];
    if (count == 1 && dv_is_empty(keywords)) return dv_to_str(vm, args[0]);
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    bool decodes = !dv_is_empty(out[1]) || !dv_is_empty(out[2]);
    if (decodes) return str_decode(vm, out);
    return dv_is_empty(out[0]) ? dv_str_empty(vm) : dv_to_str(vm, out[0]);
}

static const dv_cfunction_def str_methods[] = {
    {.name = "upper", .entry = dv_str_upper, .min = 1, .max = 1},
    {.name = "lower", .entry = dv_str_lower, .min = 1, .max = 1},
    {.name = "title", .entry = dv_str_title, .min = 1, .max = 1},
    {.name = "capitalize", .entry = dv_str_capitalize, .min = 1, .max = 1},
    {.name = "casefold", .entry = dv_str_casefold, .min = 1, .max = 1},
    {.name = "swapcase", .entry = dv_str_swapcase, .min = 1, .max = 1},
    {.name = "isalpha", .entry = dv_str_isalpha, .min = 1, .max = 1},
    {.name = "isalnum", .entry = dv_str_isalnum, .min = 1, .max = 1},
    {.name = "isdecimal", .entry = dv_str_isdecimal, .min = 1, .max = 1},
    {.name = "isdigit", .entry = dv_str_isdigit, .min = 1, .max = 1},
    {.name = "isnumeric", .entry = dv_str_isnumeric, .min = 1, .max = 1},
    {.name = "isspace", .entry = dv_str_isspace, .min = 1, .max = 1},
    {.name = "isprintable", .entry = dv_str_isprintable, .min = 1, .max = 1},
    {.name = "isascii", .entry = dv_str_isascii, .min = 1, .max = 1},
    {.name = "isidentifier", .entry = dv_str_isidentifier, .min = 1, .max = 1},
    {.name = "islower", .entry = dv_str_islower, .min = 1, .max = 1},
    {.name = "isupper", .entry = dv_str_isupper, .min = 1, .max = 1},
    {.name = "istitle", .entry = dv_str_istitle, .min = 1, .max = 1},
    {.name = "split", .keyword_entry = dv_str_split, .min = 1, .max = UINT32_MAX},
    {.name = "rsplit", .keyword_entry = dv_str_rsplit, .min = 1, .max = UINT32_MAX},
    {.name = "splitlines", .keyword_entry = dv_str_splitlines, .min = 1, .max = UINT32_MAX},
    {.name = "partition", .entry = dv_str_partition, .min = 2, .max = 2},
    {.name = "rpartition", .entry = dv_str_rpartition, .min = 2, .max = 2},
    {.name = "join", .entry = dv_str_join_method, .min = 2, .max = 2, .inlined = DV_INLINED_JOIN},
    {.name = "replace", .entry = dv_str_replace, .min = 3, .max = 4},
    {.name = "strip", .entry = dv_str_strip, .min = 1, .max = 2},
    {.name = "lstrip", .entry = dv_str_lstrip, .min = 1, .max = 2},
    {.name = "rstrip", .entry = dv_str_rstrip, .min = 1, .max = 2},
    {.name = "removeprefix", .entry = dv_str_removeprefix, .min = 2, .max = 2},
    {.name = "removesuffix", .entry = dv_str_removesuffix, .min = 2, .max = 2},
    {.name = "find", .entry = dv_str_find_method, .min = 1, .max = UINT32_MAX},
    {.name = "rfind", .entry = dv_str_rfind_method, .min = 1, .max = UINT32_MAX},
    {.name = "index",
     .entry = dv_str_index_method,
     .min = 1,
     .max = UINT32_MAX,
     .raises = &dv_str_index_raises},
    {.name = "rindex",
     .entry = dv_str_rindex_method,
     .min = 1,
     .max = UINT32_MAX,
     .raises = &dv_str_index_raises},
    {.name = "count", .entry = dv_str_count_method, .min = 1, .max = UINT32_MAX},
    {.name = "startswith", .entry = dv_str_startswith, .min = 1, .max = UINT32_MAX},
    {.name = "endswith", .entry = dv_str_endswith, .min = 1, .max = UINT32_MAX},
    {.name = "center", .entry = dv_str_center, .min = 2, .max = 3},
    {.name = "ljust", .entry = dv_str_ljust, .min = 2, .max = 3},
    {.name = "rjust", .entry = dv_str_rjust, .min = 2, .max = 3},
    {.name = "zfill", .entry = dv_str_zfill, .min = 2, .max = 2},
    {.name = "encode", .keyword_entry = dv_encode_method, .min = 1, .max = UINT32_MAX},
    {.name = "expandtabs", .keyword_entry = dv_str_expandtabs, .min = 1, .max = UINT32_MAX},
    {.name = "translate", .entry = dv_str_translate, .min = 2, .max = 2},
    {.name = "maketrans",
     .entry = dv_str_maketrans,
     .min = 1,
     .max = 3,
     .flags = DV_CFUNCTION_STATIC},
    {.name = "format", .keyword_entry = str_format_method, .min = 1, .max = UINT32_MAX},
    {.name = "format_map", .entry = str_format_map, .min = 2, .max = 2},
    {.name = NULL},
};

const dv_type dv_str_type = {
    .name = "str",
    .id = DV_T_STR,
    .release = dv_str_release,
    .repr = dv_str_repr,
    .str = str_str,
    .hash = str_hash,
    .compare = str_compare,
    .binary = str_binary,
    .inplace = str_inplace,
    .length = str_length,
    .get_item = str_get_item,
    .contains = str_contains,
    .iterate = dv_iterator_new,
    .format = dv_format_str,
    .construct = str_construct,
    .adopt = dv_str_adopt,
    .methods = str_methods,
};
