/* bytes_methods.c: the methods that bytes and bytearray share.
 *
 * Invariant 1: a method converts its arguments first, which may run dl code and change a bytearray,
 * and looks at the contents only then; where the contents are needed before, they are retained. */
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/buffer.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/sequence/sequence.h"
#include "types/text/split.h"
#include "types/text/str_search.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

static bool is_space(uint8_t c) { return dv_split_is_space(c, false); }
static bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_alpha(uint8_t c) { return is_upper(c) || is_lower(c); }
static bool is_alnum(uint8_t c) { return is_alpha(c) || is_digit(c); }
static uint8_t at(const dv_str *s, int64_t i) { return (uint8_t)s->data[i]; }

/* s[start:stop] of the contents of self, as an object of self's type. */
static dv_value piece(dv_vm *vm, dv_value self, int64_t start, int64_t stop) {
    return dv_bytes_as(vm, self, dv_bytes_part(vm, self, start, stop));
}

static dv_value finish(dv_builder *b, dv_value like) {
    return dv_bytes_as(b->vm, like, dv_bytes_finish(b));
}

static bool need_bytes(dv_vm *vm, dv_value v) {
    if (dv_is_bytes_like(v)) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
    return false;
}

/* What takes bytes takes whatever lends elements: the method is called again with their contents.
 */

static bool are_lent(const dv_vm *vm, const dv_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (!dv_is_bytes_like(args[i]) && dv_lends(vm, args[i])) return true;
    return false;
}

enum { LENT_MAX = 4 };
typedef dv_value method(dv_vm *vm, const dv_value *args, uint32_t count);

static dv_value with_contents(dv_vm *vm, method *called, const dv_value *args, uint32_t count) {
    dv_value all[LENT_MAX] = {args[0], DV_EMPTY, DV_EMPTY, DV_EMPTY}, result = DV_EMPTY;
    bool good = true;
    for (uint32_t i = 1; good && i < count && i < LENT_MAX; i++) {
        const bool lent = are_lent(vm, args + i - 1, 2);
        all[i] = lent ? dv_bytes_contents(vm, args[i]) : dv_retain(args[i]);
        good = !dv_is_empty(all[i]);
    }
    if (good) result = called(vm, all, count);
    for (uint32_t i = 1; i < LENT_MAX; i++) dv_release(vm, all[i]);
    return result;
}

/* ---- Searching ---------------------------------------------------------------------------------
 */

typedef struct search {
    dv_value contents, part; /* owned */
    int64_t start, stop;
} search;

static bool count_fits(dv_vm *vm, const char *name, uint32_t count) {
    if (count >= 2 && count <= 4) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes at %s argument%s (%d given)", name,
             count < 2 ? "least 1" : "most 3", count < 2 ? "" : "s", (int)count - 1);
    return false;
}

/* What is searched for: bytes, or an int for one byte. */
static dv_value search_part(dv_vm *vm, dv_value v) {
    uint8_t byte;
    if (dv_lends(vm, v)) return dv_bytes_contents(vm, v);
    if (!dv_is_index(vm, v))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "argument should be integer or bytes-like object, not '%T'", v);
    if (!dv_byte_of(vm, v, "byte must be in range(0, 256)", &byte)) return DV_EMPTY;
    return dv_bytes_new(vm, (const char *)&byte, 1);
}

static bool search_begin(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                         search *q) {
    if (!count_fits(vm, name, count)) return false;
    q->contents = dv_retain(dv_bytes_of(args[0]));
    q->part = DV_EMPTY;
    if (dv_search_bounds(vm, args + 2, count - 2, dv_as_str(q->contents)->length, true, &q->start,
                         &q->stop))
        q->part = search_part(vm, args[1]);
    if (!dv_is_empty(q->part)) return true;
    dv_release(vm, q->part);
    dv_release(vm, q->contents);
    return false;
}

static void search_end(dv_vm *vm, search *q) {
    dv_release(vm, q->contents);
    dv_release(vm, q->part);
}

static dv_value find(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                     bool from_right, bool must_be_there) {
    search q;
    if (!search_begin(vm, name, args, count, &q)) return DV_EMPTY;
    const dv_str *s = dv_as_str(q.contents), *part = dv_as_str(q.part);
    int64_t hit;
    const bool good =
        (from_right ? dv_str_seek_last : dv_str_seek)(vm, s, part, q.start, q.stop, &hit);
    search_end(vm, &q);
    if (!good) return DV_EMPTY;
    if (hit < 0 && must_be_there) return dv_raise(vm, DV_E_VALUE_ERROR, "subsection not found");
    return dv_int(hit);
}

static dv_value bytes_find(dv_vm *vm, const dv_value *args, uint32_t count) {
    return find(vm, "find", args, count, false, false);
}
static dv_value bytes_rfind(dv_vm *vm, const dv_value *args, uint32_t count) {
    return find(vm, "rfind", args, count, true, false);
}
static dv_value bytes_index(dv_vm *vm, const dv_value *args, uint32_t count) {
    return find(vm, "index", args, count, false, true);
}
static dv_value bytes_rindex(dv_vm *vm, const dv_value *args, uint32_t count) {
    return find(vm, "rindex", args, count, true, true);
}

static dv_value bytes_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    if (!search_begin(vm, "count", args, count, &q)) return DV_EMPTY;
    int64_t found;
    const bool good =
        dv_str_count(vm, dv_as_str(q.contents), dv_as_str(q.part), q.start, q.stop, &found);
    search_end(vm, &q);
    return good ? dv_int(found) : DV_EMPTY;
}

static bool tail_matches(const dv_str *s, dv_value v, int64_t start, int64_t stop, bool at_end) {
    const dv_str *part = dv_as_bytes(v);
    if (stop - part->length < start) return false;
    return dv_str_matches(s, part, at_end ? stop - part->length : start);
}

static dv_value tail_any(dv_vm *vm, const char *name, const dv_str *s, dv_value what, int64_t start,
                         int64_t stop, bool at_end) {
    if (dv_is_bytes_like(what)) return dv_bool(tail_matches(s, what, start, stop, at_end));
    if (!dv_is_tuple(what))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "%s first arg must be bytes or a tuple of bytes, not %T", name, what);
    const dv_tuple *parts = dv_as_tuple(what);
    for (int64_t i = 0; i < parts->count; i++) {
        const dv_value part = dv_bytes_contents(vm, parts->items[i]);
        if (dv_is_empty(part)) return DV_EMPTY;
        const bool matches = tail_matches(s, part, start, stop, at_end);
        dv_release(vm, part);
        if (matches) return DV_TRUE;
    }
    return DV_FALSE;
}

static method bytes_startswith, bytes_endswith;

static dv_value tail(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                     bool at_end) {
    int64_t start, stop;
    if (!count_fits(vm, name, count)) return DV_EMPTY;
    if (are_lent(vm, args, 2))
        return with_contents(vm, at_end ? bytes_endswith : bytes_startswith, args, count);
    dv_value contents = dv_retain(dv_bytes_of(args[0])), result = DV_EMPTY;
    const dv_str *s = dv_as_str(contents);
    if (dv_search_bounds(vm, args + 2, count - 2, s->length, true, &start, &stop))
        result = tail_any(vm, name, s, args[1], start, stop, at_end);
    dv_release(vm, contents);
    return result;
}

static dv_value bytes_startswith(dv_vm *vm, const dv_value *args, uint32_t count) {
    return tail(vm, "startswith", args, count, false);
}
static dv_value bytes_endswith(dv_vm *vm, const dv_value *args, uint32_t count) {
    return tail(vm, "endswith", args, count, true);
}

/* ---- Splitting --------------------------------------------------------------------------------*/

static dv_split_subject subject_of(dv_value v) {
    return (dv_split_subject){v, dv_as_bytes(v), false, piece};
}

static dv_value split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                      bool from_right) {
    dv_value separator;
    int64_t limit;
    if (!dv_split_arguments(vm, args + 1, count - 1, keywords, from_right, &separator, &limit))
        return DV_EMPTY;
    bool spaces = dv_is_none(separator);
    const dv_value part = spaces ? DV_NONE : dv_bytes_contents(vm, separator);
    if (dv_is_empty(part)) return DV_EMPTY;
    const dv_split_subject subject = subject_of(args[0]);
    dv_value parts = dv_split(vm, &subject, spaces ? NULL : dv_as_bytes(part), limit, from_right);
    dv_release(vm, part);
    return parts;
}

static dv_value bytes_split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return split(vm, args, count, keywords, false);
}
static dv_value bytes_rsplit(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return split(vm, args, count, keywords, true);
}

static dv_value bytes_splitlines(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    bool keep_ends;
    if (!dv_split_lines_arguments(vm, args + 1, count - 1, keywords, &keep_ends)) return DV_EMPTY;
    const dv_split_subject subject = subject_of(args[0]);
    return dv_split_lines(vm, &subject, keep_ends);
}

static dv_value partition(dv_vm *vm, dv_value self, dv_value separator, bool from_right) {
    if (!need_bytes(vm, separator)) return DV_EMPTY;
    const dv_str *s = dv_as_bytes(self), *part = dv_as_bytes(separator);
    if (part->length == 0) return dv_raise(vm, DV_E_VALUE_ERROR, "empty separator");
    int64_t hit;
    if (!(from_right ? dv_str_seek_last : dv_str_seek)(vm, s, part, 0, s->length, &hit))
        return DV_EMPTY;
    int64_t first = hit >= 0 ? hit : from_right ? 0 : s->length;
    int64_t last = hit >= 0 ? hit + part->length : first;
    /* Bytes are not copied: the separator, and what has none, are themselves. */
    bool shared = !dv_is_bytearray(self);
    dv_value parts[3];
    parts[0] = shared && hit < 0 && !from_right ? dv_retain(self) : piece(vm, self, 0, first);
    parts[1] = hit < 0  ? piece(vm, self, 0, 0)
               : shared ? dv_retain(separator)
                        : dv_bytes_as(vm, self, dv_bytes_shared(vm, separator));
    parts[2] = shared && hit < 0 && from_right ? dv_retain(self) : piece(vm, self, last, s->length);
    if (!dv_is_empty(parts[0]) && !dv_is_empty(parts[1]) && !dv_is_empty(parts[2]))
        return dv_tuple_take(vm, parts, 3);
    for (int i = 0; i < 3; i++) dv_release(vm, parts[i]);
    return DV_EMPTY;
}

/* Of bytes, what was given as the separator is in the middle. */
static dv_value partition_by(dv_vm *vm, const dv_value *args, bool from_right) {
    if (!are_lent(vm, args, 2)) return partition(vm, args[0], args[1], from_right);
    const dv_value bytes = dv_bytes_contents(vm, args[1]);
    dv_value parts = dv_is_empty(bytes) ? DV_EMPTY : partition(vm, args[0], bytes, from_right);
    dv_value *middle = dv_is_empty(parts) ? NULL : &dv_as_tuple(parts)->items[1];
    if (middle && dv_same(*middle, bytes)) {
        *middle = dv_retain(args[1]);
        dv_release(vm, bytes);
    }
    dv_release(vm, bytes);
    return parts;
}

static dv_value bytes_partition(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return partition_by(vm, args, false);
}
static dv_value bytes_rpartition(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return partition_by(vm, args, true);
}

static dv_value strip(dv_vm *vm, const dv_value *args, uint32_t count, bool left, bool right) {
    const dv_str *s = dv_as_bytes(args[0]), *set = NULL;
    if (count > 1 && !dv_is_none(args[1])) {
        if (!need_bytes(vm, args[1])) return DV_EMPTY;
        set = dv_as_bytes(args[1]);
    }
    bool gone[256];
    if (set) memset(gone, false, sizeof gone);
    for (int64_t i = 0; set && i < set->length; i++) gone[at(set, i)] = true;
#define IS_GONE(i) (set ? gone[at(s, i)] : is_space(at(s, i)))
    int64_t start = 0, stop = s->length;
    while (left && start < stop && IS_GONE(start)) start++;
    while (right && stop > start && IS_GONE(stop - 1)) stop--;
#undef IS_GONE
    return piece(vm, args[0], start, stop);
}

static dv_value bytes_strip(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (are_lent(vm, args, count)) return with_contents(vm, bytes_strip, args, count);
    return strip(vm, args, count, true, true);
}
static dv_value bytes_lstrip(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (are_lent(vm, args, count)) return with_contents(vm, bytes_lstrip, args, count);
    return strip(vm, args, count, true, false);
}
static dv_value bytes_rstrip(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (are_lent(vm, args, count)) return with_contents(vm, bytes_rstrip, args, count);
    return strip(vm, args, count, false, true);
}

static dv_value bytes_removeprefix(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (are_lent(vm, args, count)) return with_contents(vm, bytes_removeprefix, args, count);
    if (!need_bytes(vm, args[1])) return DV_EMPTY;
    int64_t length = dv_as_bytes(args[0])->length;
    bool there = tail_matches(dv_as_bytes(args[0]), args[1], 0, length, false);
    return piece(vm, args[0], there ? dv_as_bytes(args[1])->length : 0, length);
}

static dv_value bytes_removesuffix(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (are_lent(vm, args, count)) return with_contents(vm, bytes_removesuffix, args, count);
    if (!need_bytes(vm, args[1])) return DV_EMPTY;
    int64_t length = dv_as_bytes(args[0])->length;
    bool there = tail_matches(dv_as_bytes(args[0]), args[1], 0, length, true);
    return piece(vm, args[0], 0, there ? length - dv_as_bytes(args[1])->length : length);
}

/* ---- Joining and replacing ---------------------------------------------------------------------
 */

static bool raise_item(dv_vm *vm, dv_value item, int64_t number) {
    dv_raise(vm, DV_E_TYPE_ERROR, "sequence item %lld: expected a bytes-like object, %T found",
             (long long)number, item);
    return false;
}

/* false: raised. */
static bool join_item(dv_builder *b, dv_value item, int64_t number) {
    if (DV_LIKELY(dv_is_bytes_like(item))) {
        dv_builder_str(b, dv_bytes_of(item));
    } else if (dv_lends(b->vm, item)) {
        dv_value bytes = dv_bytes_contents(b->vm, item);
        if (dv_is_empty(bytes)) {
            if (dv_error_is(b->vm, DV_E_MEMORY_ERROR)) return false;
            dv_error_clear(b->vm);
            return raise_item(b->vm, item, number);
        }
        dv_builder_str(b, bytes);
        dv_release(b->vm, bytes);
    } else {
        return raise_item(b->vm, item, number);
    }
    return true;
}

static dv_value join_items(dv_vm *vm, dv_value self, const dv_items *items) {
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < items->count; i++) {
        if (i > 0) dv_builder_str(&b, dv_bytes_of(self));
        if (join_item(&b, items->data[i], i)) continue;
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    return finish(&b, self);
}

static dv_value bytes_join(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_items items;
    dv_value iterator = dv_iterate(vm, args[1]);
    if (dv_is_empty(iterator)) {
        if (!dv_error_is(vm, DV_E_TYPE_ERROR)) return DV_EMPTY;
        dv_error_clear(vm);
        return dv_raise(vm, DV_E_TYPE_ERROR, "can only join an iterable");
    }
    bool good = dv_items_collect(vm, iterator, &items);
    dv_release(vm, iterator);
    if (!good) return DV_EMPTY;
    dv_value joined = join_items(vm, args[0], &items);
    dv_items_discard(vm, &items);
    return joined;
}

static dv_value bytes_replace(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t limit = -1;
    if (are_lent(vm, args, 3)) return with_contents(vm, bytes_replace, args, count);
    if (!need_bytes(vm, args[1]) || !need_bytes(vm, args[2])) return DV_EMPTY;
    if (count > 3 && !dv_size_argument(vm, args[3], &limit)) return DV_EMPTY;
    if (limit < 0) limit = INT64_MAX;
    dv_value self = dv_bytes_of(args[0]), with = dv_bytes_of(args[2]);
    const dv_str *s = dv_as_str(self), *part = dv_as_bytes(args[1]);
    int64_t start = 0, hit;
    dv_builder b;
    dv_builder_init(&b, vm);
    while (!b.failed && limit-- > 0) {
        if (!dv_str_seek(vm, s, part, start, s->length, &hit)) {
            dv_builder_discard(&b);
            return DV_EMPTY;
        }
        if (hit < 0) break;
        dv_builder_slice(&b, self, start, hit);
        dv_builder_str(&b, with);
        start = hit + part->length;
        if (part->length > 0) continue;
        if (hit == s->length) break;
        dv_builder_char(&b, at(s, hit));
        start++;
    }
    dv_builder_slice(&b, self, start, s->length);
    return finish(&b, args[0]);
}

/* ---- Each byte ---------------------------------------------------------------------------------
 */

typedef enum dv_case { UPPER, LOWER, SWAP, TITLE, CAPITALIZE } dv_case;

static dv_value change_case(dv_vm *vm, dv_value self, dv_case how) {
    const dv_str *s = dv_as_bytes(self);
    dv_str *out = dv_work(vm, s->length / 4) ? dv_bytes_alloc(vm, s->length) : NULL;
    if (!out) return DV_EMPTY;
    bool inside = false; /* a word, or for CAPITALIZE behind the first byte */
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = at(s, i);
        bool up = how == UPPER || (how == SWAP && is_lower(c)) || (how >= TITLE && !inside);
        if (is_alpha(c)) c = up ? c & 0xDF : c | 0x20;
        inside = how == CAPITALIZE || is_alpha(c);
        out->data[i] = (char)c;
    }
    return dv_bytes_as(vm, self, dv_object_value(out));
}

#define CASE_METHOD(name, how)                                              \
    static dv_value name(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                        \
        return change_case(vm, args[0], how);                               \
    }
CASE_METHOD(bytes_upper, UPPER)
CASE_METHOD(bytes_lower, LOWER)
CASE_METHOD(bytes_swapcase, SWAP)
CASE_METHOD(bytes_title, TITLE)
CASE_METHOD(bytes_capitalize, CAPITALIZE)

static dv_value all_are(dv_vm *vm, dv_value self, bool (*test)(uint8_t)) {
    const dv_str *s = dv_as_bytes(self);
    dv_work_owe(vm, s->length / 4);
    for (int64_t i = 0; i < s->length; i++)
        if (!test(at(s, i))) return DV_FALSE;
    return dv_bool(s->length > 0);
}

/* Some of the one case, and none of the other. */
static dv_value all_cased(dv_vm *vm, dv_value self, bool (*good)(uint8_t), bool (*bad)(uint8_t)) {
    const dv_str *s = dv_as_bytes(self);
    dv_work_owe(vm, s->length / 4);
    bool seen = false;
    for (int64_t i = 0; i < s->length; i++) {
        if (bad(at(s, i))) return DV_FALSE;
        seen |= good(at(s, i));
    }
    return dv_bool(seen);
}

#define TEST_METHOD(name, result)                                           \
    static dv_value name(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                        \
        return result;                                                      \
    }
TEST_METHOD(bytes_isalnum, all_are(vm, args[0], is_alnum))
TEST_METHOD(bytes_isalpha, all_are(vm, args[0], is_alpha))
TEST_METHOD(bytes_isdigit, all_are(vm, args[0], is_digit))
TEST_METHOD(bytes_isspace, all_are(vm, args[0], is_space))
TEST_METHOD(bytes_islower, all_cased(vm, args[0], is_lower, is_upper))
TEST_METHOD(bytes_isupper, all_cased(vm, args[0], is_upper, is_lower))

static dv_value bytes_isascii(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_bytes(args[0]);
    dv_work_owe(vm, s->length / 8);
    for (int64_t i = 0; i < s->length; i++)
        if (at(s, i) >= 0x80) return DV_FALSE;
    return DV_TRUE;
}

static dv_value bytes_istitle(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_bytes(args[0]);
    dv_work_owe(vm, s->length / 4);
    bool seen = false, inside = false;
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = at(s, i);
        if ((is_upper(c) && inside) || (is_lower(c) && !inside)) return DV_FALSE;
        inside = is_alpha(c);
        seen |= inside;
    }
    return dv_bool(seen);
}

static dv_value bytes_translate(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"", "delete"};
    static const dv_parameters parameters = {"translate", names, 2, 2, 1};
    dv_value out[2];
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count == 1 + named)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "translate() takes at least 1 positional argument (0 given)");
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    const dv_str *table = NULL;
    if (!dv_is_none(out[0])) {
        if (!need_bytes(vm, out[0])) return DV_EMPTY;
        table = dv_as_bytes(out[0]);
        if (table->length != 256)
            return dv_raise(vm, DV_E_VALUE_ERROR, "translation table must be 256 characters long");
    }
    if (!dv_is_empty(out[1]) && !need_bytes(vm, out[1])) return DV_EMPTY;
    bool gone[256] = {false};
    const dv_str *s = dv_as_bytes(args[0]), *set = dv_is_empty(out[1]) ? NULL : dv_as_bytes(out[1]);
    for (int64_t i = 0; set && i < set->length; i++) gone[at(set, i)] = true;
    int64_t kept = 0;
    for (int64_t i = 0; i < s->length; i++) kept += !gone[at(s, i)];
    dv_work_owe(vm, s->length / 4);
    dv_str *result = dv_bytes_alloc(vm, kept);
    if (!result) return DV_EMPTY;
    char *to = result->data;
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = at(s, i);
        if (!gone[c]) *to++ = (char)(table ? at(table, c) : c);
    }
    return dv_bytes_as(vm, args[0], dv_object_value(result));
}

static dv_value bytes_maketrans(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!need_bytes(vm, args[0]) || !need_bytes(vm, args[1])) return DV_EMPTY;
    const dv_str *from = dv_as_bytes(args[0]), *to = dv_as_bytes(args[1]);
    if (from->length != to->length)
        return dv_raise(vm, DV_E_VALUE_ERROR, "maketrans arguments must have same length");
    dv_str *table = dv_bytes_alloc(vm, 256);
    if (!table) return DV_EMPTY;
    for (int c = 0; c < 256; c++) table->data[c] = (char)c;
    for (int64_t i = 0; i < from->length; i++) table->data[at(from, i)] = to->data[i];
    return dv_object_value(table);
}

/* ---- Aligning ----------------------------------------------------------------------------------
 */

static dv_value pad(dv_vm *vm, dv_value self, int64_t left, int64_t right, uint8_t fill) {
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_repeat(&b, fill, left);
    dv_builder_str(&b, dv_bytes_of(self));
    dv_builder_repeat(&b, fill, right);
    return finish(&b, self);
}

static dv_value align(dv_vm *vm, const char *name, const dv_value *args, uint32_t count) {
    int64_t width;
    uint8_t fill = ' ';
    if (!dv_size_argument(vm, args[1], &width)) return DV_EMPTY;
    if (count > 2) {
        if (!dv_is_bytes_like(args[2]) || dv_as_bytes(args[2])->length != 1)
            return dv_raise(vm, DV_E_TYPE_ERROR,
                            "%s() argument 2 must be a byte string of length 1, not %T", name,
                            args[2]);
        fill = at(dv_as_bytes(args[2]), 0);
    }
    int64_t length = dv_as_bytes(args[0])->length, missing = width > length ? width - length : 0;
    if (missing == 0) return piece(vm, args[0], 0, length);
    int64_t left = *name == 'l' ? 0 : *name == 'r' ? missing : missing / 2 + (missing & width & 1);
    return pad(vm, args[0], left, missing - left, fill);
}

static dv_value bytes_center(dv_vm *vm, const dv_value *args, uint32_t count) {
    return align(vm, "center", args, count);
}
static dv_value bytes_ljust(dv_vm *vm, const dv_value *args, uint32_t count) {
    return align(vm, "ljust", args, count);
}
static dv_value bytes_rjust(dv_vm *vm, const dv_value *args, uint32_t count) {
    return align(vm, "rjust", args, count);
}

static dv_value bytes_zfill(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t width;
    if (!dv_size_argument(vm, args[1], &width)) return DV_EMPTY;
    dv_value self = dv_bytes_of(args[0]);
    const dv_str *s = dv_as_str(self);
    if (width <= s->length) return piece(vm, args[0], 0, s->length);
    bool sign = s->length > 0 && (at(s, 0) == '+' || at(s, 0) == '-');
    dv_builder b;
    dv_builder_init(&b, vm);
    if (sign) dv_builder_char(&b, at(s, 0));
    dv_builder_repeat(&b, '0', width - s->length);
    dv_builder_slice(&b, self, sign, s->length);
    return finish(&b, args[0]);
}

static dv_value bytes_expandtabs(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    static const char *const names[] = {"tabsize"};
    static const dv_parameters parameters = {"expandtabs", names, 1, 1, 0};
    dv_value given;
    int64_t size = 8, column = 0;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, &given)) return DV_EMPTY;
    if (!dv_is_empty(given) && !dv_int_argument(vm, given, &size)) return DV_EMPTY;
    const dv_str *s = dv_as_bytes(args[0]);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = at(s, i);
        int64_t spaces = size > 0 ? size - column % size : 0;
        if (c != '\t') dv_builder_char(&b, c);
        if (c == '\t') dv_builder_repeat(&b, ' ', spaces);
        column = c == '\n' || c == '\r' ? 0 : column + (c == '\t' ? spaces : 1);
    }
    return finish(&b, args[0]);
}

/* ---- Hexadecimal -------------------------------------------------------------------------------
 */

static bool hex_separator(dv_vm *vm, dv_value v, uint8_t *out) {
    int64_t length = dv_length(vm, v);
    if (length < 0) return false;
    if (length != 1) {
        dv_raise(vm, DV_E_VALUE_ERROR, "sep must be length 1.");
        return false;
    }
    if (!dv_is_str(v) && !dv_is_bytes(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "sep must be str or bytes.");
        return false;
    }
    uint32_t c = dv_str_at(dv_as_str(v), 0);
    *out = (uint8_t)c;
    if (c < 0x80) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "sep must be ASCII.");
    return false;
}

dv_value dv_bytes_hex(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"sep", "bytes_per_sep"};
    static const dv_parameters parameters = {"hex", names, 2, 2, 0};
    dv_value out[2];
    int64_t group = 1;
    uint8_t separator = 0;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    if (!dv_is_empty(out[1]) && !dv_int_argument(vm, out[1], &group)) return DV_EMPTY;
    if (dv_is_empty(out[0]))
        group = 0;
    else if (!hex_separator(vm, out[0], &separator))
        return DV_EMPTY;
    const dv_str *s = dv_as_bytes(args[0]);
    dv_work_owe(vm, s->length / 8);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        static const char digits[] = "0123456789abcdef";
        /* Groups are counted from the right, or for a negative size from the left. */
        int64_t place = group > 0 ? s->length - i : i;
        if (group != 0 && i > 0 && place % group == 0) dv_builder_char(&b, separator);
        dv_builder_char(&b, (uint8_t)digits[at(s, i) >> 4]);
        dv_builder_char(&b, (uint8_t)digits[at(s, i) & 15]);
    }
    return dv_builder_finish(&b);
}

static int hex_digit(const dv_str *s, int64_t i) {
    uint32_t c = i < s->length ? dv_str_at(s, i) : 0;
    if (c >= '0' && c <= '9') return (int)c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (int)c - 'a' + 10 : -1;
}

/* args[0] is the class. */
static dv_value bytes_fromhex(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value text = args[count - 1];
    if (!dv_is_str(text)) return dv_arguments_refuse(vm, "fromhex() argument", "str", text);
    const dv_str *s = dv_as_str(text);
    dv_work_owe(vm, s->length / 16);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length;) {
        uint32_t c = dv_str_at(s, i);
        if (c < 0x80 && is_space((uint8_t)c)) {
            i++;
            continue;
        }
        int high = hex_digit(s, i), low = high < 0 ? -1 : hex_digit(s, i + 1);
        if (low < 0) {
            dv_builder_discard(&b);
            return dv_raise(vm, DV_E_VALUE_ERROR,
                            "non-hexadecimal number found in fromhex() arg at position %lld",
                            (long long)(high < 0 ? i : i + 1));
        }
        dv_builder_char(&b, (uint32_t)(high << 4 | low));
        i += 2;
    }
    bool array = dv_as_class(args[0])->type == DV_T_BYTEARRAY;
    dv_value bytes = dv_bytes_finish(&b);
    if (array) bytes = dv_bytearray_take(vm, bytes);
    return dv_subclass_of_exact(vm, args[0], bytes);
}

/* clang-format off */
#define SHARED_METHODS \
    {.name = "capitalize", .entry = bytes_capitalize, .min = 1, .max = 1}, \
    {.name = "center", .entry = bytes_center, .min = 2, .max = 3}, \
    {.name = "count", .entry = bytes_count, .min = 1, .max = UINT32_MAX}, \
    {.name = "decode", .keyword_entry = dv_decode_method, .min = 1, .max = UINT32_MAX}, \
    {.name = "endswith", .entry = bytes_endswith, .min = 1, .max = UINT32_MAX}, \
    {.name = "expandtabs", .keyword_entry = bytes_expandtabs, .min = 1, .max = UINT32_MAX}, \
    {.name = "find", .entry = bytes_find, .min = 1, .max = UINT32_MAX}, \
    {.name = "fromhex", .entry = bytes_fromhex, .min = 2, .max = 2, .flags = DV_CFUNCTION_CLASS}, \
    {.name = "hex", .keyword_entry = dv_bytes_hex, .min = 1, .max = UINT32_MAX}, \
    {.name = "index", .entry = bytes_index, .min = 1, .max = UINT32_MAX}, \
    {.name = "isalnum", .entry = bytes_isalnum, .min = 1, .max = 1}, \
    {.name = "isalpha", .entry = bytes_isalpha, .min = 1, .max = 1}, \
    {.name = "isascii", .entry = bytes_isascii, .min = 1, .max = 1}, \
    {.name = "isdigit", .entry = bytes_isdigit, .min = 1, .max = 1}, \
    {.name = "islower", .entry = bytes_islower, .min = 1, .max = 1}, \
    {.name = "isspace", .entry = bytes_isspace, .min = 1, .max = 1}, \
    {.name = "istitle", .entry = bytes_istitle, .min = 1, .max = 1}, \
    {.name = "isupper", .entry = bytes_isupper, .min = 1, .max = 1}, \
    {.name = "join", .entry = bytes_join, .min = 2, .max = 2}, \
    {.name = "ljust", .entry = bytes_ljust, .min = 2, .max = 3}, \
    {.name = "lower", .entry = bytes_lower, .min = 1, .max = 1}, \
    {.name = "lstrip", .entry = bytes_lstrip, .min = 1, .max = 2}, \
    {.name = "maketrans", .entry = bytes_maketrans, .min = 2, .max = 2, .flags = DV_CFUNCTION_STATIC}, \
    {.name = "partition", .entry = bytes_partition, .min = 2, .max = 2}, \
    {.name = "removeprefix", .entry = bytes_removeprefix, .min = 2, .max = 2}, \
    {.name = "removesuffix", .entry = bytes_removesuffix, .min = 2, .max = 2}, \
    {.name = "replace", .entry = bytes_replace, .min = 3, .max = 4}, \
    {.name = "rfind", .entry = bytes_rfind, .min = 1, .max = UINT32_MAX}, \
    {.name = "rindex", .entry = bytes_rindex, .min = 1, .max = UINT32_MAX}, \
    {.name = "rjust", .entry = bytes_rjust, .min = 2, .max = 3}, \
    {.name = "rpartition", .entry = bytes_rpartition, .min = 2, .max = 2}, \
    {.name = "rsplit", .keyword_entry = bytes_rsplit, .min = 1, .max = UINT32_MAX}, \
    {.name = "rstrip", .entry = bytes_rstrip, .min = 1, .max = 2}, \
    {.name = "split", .keyword_entry = bytes_split, .min = 1, .max = UINT32_MAX}, \
    {.name = "splitlines", .keyword_entry = bytes_splitlines, .min = 1, .max = UINT32_MAX}, \
    {.name = "startswith", .entry = bytes_startswith, .min = 1, .max = UINT32_MAX}, \
    {.name = "strip", .entry = bytes_strip, .min = 1, .max = 2}, \
    {.name = "swapcase", .entry = bytes_swapcase, .min = 1, .max = 1}, \
    {.name = "title", .entry = bytes_title, .min = 1, .max = 1}, \
    {.name = "translate", .keyword_entry = bytes_translate, .min = 1, .max = UINT32_MAX}, \
    {.name = "upper", .entry = bytes_upper, .min = 1, .max = 1}, \
    {.name = "zfill", .entry = bytes_zfill, .min = 2, .max = 2}
/* clang-format on */

const dv_cfunction_def dv_bytes_methods[] = {
    SHARED_METHODS,
    {.name = NULL},
};

const dv_cfunction_def dv_bytearray_methods[] = {
    SHARED_METHODS,
    {.name = "append", .entry = dv_bytearray_append, .min = 2, .max = 2},
    {.name = "clear", .entry = dv_bytearray_clear, .min = 1, .max = 1},
    {.name = "copy", .entry = dv_bytearray_copy, .min = 1, .max = 1},
    {.name = "extend", .entry = dv_bytearray_extend, .min = 2, .max = 2},
    {.name = "insert", .entry = dv_bytearray_insert, .min = 3, .max = 3},
    {.name = "pop", .entry = dv_bytearray_pop, .min = 1, .max = 2},
    {.name = "remove", .entry = dv_bytearray_remove, .min = 2, .max = 2},
    {.name = "reverse", .entry = dv_bytearray_reverse, .min = 1, .max = 1},
    {.name = NULL},
};
