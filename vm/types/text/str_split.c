/* str_split.c: methods of str that take text apart, put it together, or replace parts of it. */
#include "types/text/str_split.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/sequence/sequence.h"
#include "types/text/split.h"
#include "types/text/str_search.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

/* ---- split ------------------------------------------------------------------------------------*/

static dv_split_subject subject_of(dv_value v) {
    return (dv_split_subject){v, dv_as_str(v), true, dv_str_slice};
}

static dv_value split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                      bool from_right) {
    dv_value separator;
    int64_t limit;
    if (!dv_split_arguments(vm, args + 1, count - 1, keywords, from_right, &separator, &limit))
        return DV_EMPTY;
    bool spaces = dv_is_none(separator);
    if (!spaces && !dv_is_str(separator))
        return dv_raise(vm, DV_E_TYPE_ERROR, "must be str or None, not %T", separator);
    const dv_split_subject subject = subject_of(args[0]);
    return dv_split(vm, &subject, spaces ? NULL : dv_as_str(separator), limit, from_right);
}

dv_value dv_str_split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return split(vm, args, count, keywords, false);
}

dv_value dv_str_rsplit(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return split(vm, args, count, keywords, true);
}

dv_value dv_str_splitlines(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    bool keep_ends;
    if (!dv_split_lines_arguments(vm, args + 1, count - 1, keywords, &keep_ends)) return DV_EMPTY;
    const dv_split_subject subject = subject_of(args[0]);
    return dv_split_lines(vm, &subject, keep_ends);
}

/* ---- partition ---------------------------------------------------------------------------------
 */

static dv_value partition(dv_vm *vm, dv_value v, dv_value separator, bool from_right) {
    if (!dv_is_str(separator))
        return dv_raise(vm, DV_E_TYPE_ERROR, "must be str, not %T", separator);
    const dv_str *s = dv_as_str(v), *part = dv_as_str(separator);
    if (part->length == 0) return dv_raise(vm, DV_E_VALUE_ERROR, "empty separator");
    int64_t hit;
    if (!(from_right ? dv_str_seek_last : dv_str_seek)(vm, s, part, 0, s->length, &hit))
        return DV_EMPTY;
    dv_value parts[3];
    if (hit < 0) {
        dv_value empty = dv_str_empty(vm);
        if (dv_is_empty(empty)) return DV_EMPTY;
        parts[0] = parts[1] = parts[2] = empty;
        parts[from_right ? 2 : 0] = v;
        dv_value tuple = dv_tuple_new(vm, parts, 3);
        dv_release(vm, empty);
        return tuple;
    }
    parts[0] = dv_str_slice(vm, v, 0, hit);
    parts[1] = dv_retain(separator);
    parts[2] = dv_str_slice(vm, v, hit + part->length, s->length);
    if (!dv_is_empty(parts[0]) && !dv_is_empty(parts[2])) return dv_tuple_take(vm, parts, 3);
    for (int i = 0; i < 3; i++) dv_release(vm, parts[i]);
    return DV_EMPTY;
}

dv_value dv_str_partition(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return partition(vm, args[0], args[1], false);
}

dv_value dv_str_rpartition(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return partition(vm, args[0], args[1], true);
}

/* ---- join --------------------------------------------------------------------------------------
 */

static dv_value join_items(dv_vm *vm, dv_value separator, const dv_value *items, int64_t count) {
    if (!dv_work(vm, count / 2)) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++)
        if (!dv_is_str(items[i]))
            return dv_raise(vm, DV_E_TYPE_ERROR,
                            "sequence item %lld: expected str instance, %T found", (long long)i,
                            items[i]);
    return dv_str_join(vm, separator, items, count);
}

dv_value dv_str_join_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_shape(args[1], DV_T_LIST) || dv_is_shape(args[1], DV_T_TUPLE)) {
        int64_t length;
        const dv_value *direct = dv_items_of(args[1], &length);
        return join_items(vm, args[0], direct, length);
    }
    dv_value iterator = dv_iterate(vm, args[1]);
    if (dv_is_empty(iterator)) {
        if (!dv_error_is(vm, DV_E_TYPE_ERROR)) return DV_EMPTY;
        dv_error_clear(vm);
        return dv_raise(vm, DV_E_TYPE_ERROR, "can only join an iterable");
    }
    dv_items items;
    bool good = dv_items_collect(vm, iterator, &items);
    dv_release(vm, iterator);
    if (!good) return DV_EMPTY;
    dv_value joined = join_items(vm, args[0], items.data, items.count);
    dv_items_discard(vm, &items);
    return joined;
}

/* ---- replace -----------------------------------------------------------------------------------
 */

/* Puts `with` before each of the first code points, and at the end. */
static void insert_everywhere(dv_builder *b, dv_value v, dv_value with, int64_t times) {
    const dv_str *s = dv_as_str(v);
    int64_t at = 0;
    for (; times > 0 && !b->failed; times--) {
        dv_builder_str(b, with);
        if (at < s->length) dv_builder_char(b, dv_str_at(s, at++));
    }
    dv_builder_slice(b, v, at, s->length);
}

static void replace_hits(dv_builder *b, dv_value v, const dv_str *part, dv_value with,
                         int64_t limit) {
    const dv_str *s = dv_as_str(v);
    int64_t at = 0;
    while (limit-- != 0 && !b->failed) {
        int64_t hit;
        if (!dv_str_seek(b->vm, s, part, at, s->length, &hit)) {
            dv_builder_discard(b);
            b->failed = true;
            return;
        }
        if (hit < 0) break;
        dv_builder_slice(b, v, at, hit);
        dv_builder_str(b, with);
        at = hit + part->length;
    }
    dv_builder_slice(b, v, at, s->length);
}

/* Are all of one byte a code point, a single one replaced by one or none? */
static bool replaces_byte(const dv_str *s, const dv_str *part, const dv_str *with) {
    return part->length == 1 && with->length <= 1 && s->kind + part->kind + with->kind == 3;
}

/* That, where the first one is at `hit`. */
static dv_value replace_byte(dv_vm *vm, const dv_str *s, char byte, const dv_str *with, int64_t hit,
                             int64_t limit) {
    int64_t left = s->length;
    if (with->length == 0)
        for (int64_t i = hit, n = limit; i < s->length && n > 0; i++)
            if (s->data[i] == byte) left--, n--;
    if (left <= 1) { /* these strs are kept */
        char last = with->length ? with->data[0] : 0;
        for (int64_t i = 0; !with->length && i < s->length; i++)
            if (s->data[i] != byte || limit-- <= 0) last = s->data[i];
        return dv_str_points(vm, &last, 1, left);
    }
    dv_str *result = dv_str_alloc(vm, left, 1);
    if (!result) return DV_EMPTY;
    char *to = result->data + hit;
    memcpy(result->data, s->data, (size_t)hit);
    for (int64_t i = hit; i < s->length; i++) {
        const bool hits = s->data[i] == byte && limit > 0;
        if (!hits)
            *to++ = s->data[i];
        else if (limit--, with->length)
            *to++ = with->data[0];
    }
    return dv_object_value(result);
}

dv_value dv_str_replace(dv_vm *vm, const dv_value *args, uint32_t count) {
    for (int i = 1; i <= 2; i++)
        if (!dv_is_str(args[i]))
            return dv_arguments_refuse(vm, i == 1 ? "replace() argument 1" : "replace() argument 2",
                                       "str", args[i]);
    int64_t limit = -1;
    if (count > 3 && !dv_size_argument(vm, args[3], &limit)) return DV_EMPTY;
    if (limit < 0) limit = INT64_MAX;
    const dv_str *s = dv_as_str(args[0]), *part = dv_as_str(args[1]);
    int64_t hit = -1;
    if (limit != 0 && !dv_str_seek(vm, s, part, 0, s->length, &hit)) return DV_EMPTY;
    if (hit < 0) return dv_plain(vm, args[0]);
    const dv_str *with = dv_as_str(args[2]);
    if (!dv_work(vm, s->length / 16)) return DV_EMPTY;
    if (replaces_byte(s, part, with)) return replace_byte(vm, s, part->data[0], with, hit, limit);
    dv_builder b;
    dv_builder_init(&b, vm);
    if (part->length == 0)
        insert_everywhere(&b, args[0], args[2], limit > s->length ? s->length + 1 : limit);
    else
        replace_hits(&b, args[0], part, args[2], limit);
    return dv_builder_finish(&b);
}

/* ---- strip -------------------------------------------------------------------------------------
 */

static bool strips(uint32_t c, const dv_str *set) {
    return set ? dv_str_find_char(set, c, 0, set->length) >= 0 : dv_split_is_space(c, true);
}

static dv_value strip(dv_vm *vm, const dv_value *args, uint32_t count, const char *name, bool left,
                      bool right) {
    const dv_str *s = dv_as_str(args[0]), *set = NULL;
    if (count > 1 && !dv_is_none(args[1])) {
        if (!dv_is_str(args[1]))
            return dv_raise(vm, DV_E_TYPE_ERROR, "%s arg must be None or str", name);
        set = dv_as_str(args[1]);
    }
    int64_t start = 0, stop = s->length;
    while (left && start < stop && strips(dv_str_at(s, start), set)) start++;
    while (right && stop > start && strips(dv_str_at(s, stop - 1), set)) stop--;
    if (!dv_work(vm, (s->length - (stop - start)) / 4)) return DV_EMPTY;
    return dv_str_slice(vm, args[0], start, stop);
}

dv_value dv_str_strip(dv_vm *vm, const dv_value *args, uint32_t count) {
    return strip(vm, args, count, "strip", true, true);
}

dv_value dv_str_lstrip(dv_vm *vm, const dv_value *args, uint32_t count) {
    return strip(vm, args, count, "lstrip", true, false);
}

dv_value dv_str_rstrip(dv_vm *vm, const dv_value *args, uint32_t count) {
    return strip(vm, args, count, "rstrip", false, true);
}

dv_value dv_str_removeprefix(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "removeprefix() argument", "str", args[1]);
    const dv_str *s = dv_as_str(args[0]), *part = dv_as_str(args[1]);
    if (!dv_str_matches(s, part, 0)) return dv_plain(vm, args[0]);
    return dv_str_slice(vm, args[0], part->length, s->length);
}

dv_value dv_str_removesuffix(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "removesuffix() argument", "str", args[1]);
    const dv_str *s = dv_as_str(args[0]), *part = dv_as_str(args[1]);
    if (!dv_str_matches(s, part, s->length - part->length)) return dv_plain(vm, args[0]);
    return dv_str_slice(vm, args[0], 0, s->length - part->length);
}
