/* str_methods.c: methods of str that search, align and translate. */
#include "types/text/str_methods.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/mapping/dict.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str_search.h"
#include "types/text/str_text.h"
#include "types/text/str_unicode.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

/* ---- Searching ---------------------------------------------------------------------------------
 */

/* These methods count their arguments themselves, as CPython words it differently for them. */
static bool check_search_count(dv_vm *vm, const char *name, uint32_t count) {
    if (count >= 2 && count <= 4) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes at %s argument%s (%d given)", name,
             count < 2 ? "least 1" : "most 3", count < 2 ? "" : "s", (int)count - 1);
    return false;
}

typedef struct search {
    const dv_str *s, *part;
    int64_t start, stop;
} search;

static bool search_arguments(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                             search *out) {
    if (!check_search_count(vm, name, count)) return false;
    out->s = dv_as_str(args[0]);
    if (!dv_search_bounds(vm, args + 2, count - 2, out->s->length, true, &out->start, &out->stop))
        return false;
    if (!dv_is_str(args[1])) {
        dv_raise(vm, DV_E_TYPE_ERROR, "must be str, not %T", args[1]);
        return false;
    }
    out->part = dv_as_str(args[1]);
    return true;
}

static bool seek(dv_vm *vm, const search *q, int64_t *hit) {
    return dv_str_seek(vm, q->s, q->part, q->start, q->stop, hit);
}

static bool seek_last(dv_vm *vm, const search *q, int64_t *hit) {
    return dv_str_seek_last(vm, q->s, q->part, q->start, q->stop, hit);
}

dv_value dv_str_find_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    int64_t hit;
    if (!search_arguments(vm, "find", args, count, &q) || !seek(vm, &q, &hit)) return DV_EMPTY;
    return dv_int(hit);
}

dv_value dv_str_rfind_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    int64_t hit;
    if (!search_arguments(vm, "rfind", args, count, &q) || !seek_last(vm, &q, &hit))
        return DV_EMPTY;
    return dv_int(hit);
}

const dv_declared dv_str_index_raises = {DV_E_VALUE_ERROR, 0, "substring not found"};

static dv_value found_index(dv_vm *vm, int64_t at) {
    return at < 0 ? dv_raise_declared(vm, &dv_str_index_raises, DV_EMPTY) : dv_int(at);
}

dv_value dv_str_index_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    int64_t hit;
    if (!search_arguments(vm, "index", args, count, &q) || !seek(vm, &q, &hit)) return DV_EMPTY;
    return found_index(vm, hit);
}

dv_value dv_str_rindex_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    int64_t hit;
    if (!search_arguments(vm, "rindex", args, count, &q) || !seek_last(vm, &q, &hit))
        return DV_EMPTY;
    return found_index(vm, hit);
}

dv_value dv_str_count_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    search q;
    int64_t found;
    if (!search_arguments(vm, "count", args, count, &q)) return DV_EMPTY;
    const bool good = dv_str_count(vm, q.s, q.part, q.start, q.stop, &found);
    return good ? dv_int(found) : DV_EMPTY;
}

/* Does `part` stand at the start (or end) of s[start:stop]? */
static bool tail_matches(const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                         bool at_end) {
    if (stop - part->length < start) return false;
    return dv_str_matches(s, part, at_end ? stop - part->length : start);
}

static dv_value tail_match(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                           bool at_end) {
    int64_t start, stop;
    if (!check_search_count(vm, name, count)) return DV_EMPTY;
    const dv_str *s = dv_as_str(args[0]);
    if (!dv_search_bounds(vm, args + 2, count - 2, s->length, true, &start, &stop)) return DV_EMPTY;
    if (!dv_work(vm, dv_is_str(args[1]) ? dv_as_str(args[1])->length / 128 : 1)) return DV_EMPTY;
    if (dv_is_str(args[1]))
        return dv_bool(tail_matches(s, dv_as_str(args[1]), start, stop, at_end));
    if (!dv_is_tuple(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s first arg must be str or a tuple of str, not %T",
                        name, args[1]);
    const dv_tuple *parts = dv_as_tuple(args[1]);
    for (int64_t i = 0; i < parts->count; i++) {
        if (!dv_is_str(parts->items[i]))
            return dv_raise(vm, DV_E_TYPE_ERROR, "tuple for %s must only contain str, not %T", name,
                            parts->items[i]);
        if (tail_matches(s, dv_as_str(parts->items[i]), start, stop, at_end)) return DV_TRUE;
    }
    return DV_FALSE;
}

dv_value dv_str_startswith(dv_vm *vm, const dv_value *args, uint32_t count) {
    return tail_match(vm, "startswith", args, count, false);
}

dv_value dv_str_endswith(dv_vm *vm, const dv_value *args, uint32_t count) {
    return tail_match(vm, "endswith", args, count, true);
}

/* ---- Aligning ----------------------------------------------------------------------------------
 */

static dv_value pad(dv_vm *vm, dv_value v, int64_t left, int64_t right, uint32_t fill) {
    if (left <= 0 && right <= 0) return dv_plain(vm, v);
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_repeat(&b, fill, left);
    dv_builder_str(&b, v);
    dv_builder_repeat(&b, fill, right);
    return dv_builder_finish(&b);
}

/* Arguments width and fill character; *missing is what s is too short. */
static bool pad_arguments(dv_vm *vm, const dv_value *args, uint32_t count, int64_t *width,
                          int64_t *missing, uint32_t *fill) {
    if (!dv_size_argument(vm, args[1], width)) return false;
    *fill = ' ';
    if (count > 2) {
        if (!dv_is_str(args[2])) {
            dv_raise(vm, DV_E_TYPE_ERROR, "The fill character must be a unicode character, not %T",
                     args[2]);
            return false;
        }
        if (dv_as_str(args[2])->length != 1) {
            dv_raise(vm, DV_E_TYPE_ERROR, "The fill character must be exactly one character long");
            return false;
        }
        *fill = dv_str_at(dv_as_str(args[2]), 0);
    }
    int64_t length = dv_as_str(args[0])->length;
    *missing = *width > length ? *width - length : 0;
    return true;
}

dv_value dv_str_center(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t width, missing;
    uint32_t fill;
    if (!pad_arguments(vm, args, count, &width, &missing, &fill)) return DV_EMPTY;
    int64_t left = missing / 2 + (missing & width & 1);
    return pad(vm, args[0], left, missing - left, fill);
}

dv_value dv_str_ljust(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t width, missing;
    uint32_t fill;
    if (!pad_arguments(vm, args, count, &width, &missing, &fill)) return DV_EMPTY;
    return pad(vm, args[0], 0, missing, fill);
}

dv_value dv_str_rjust(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t width, missing;
    uint32_t fill;
    if (!pad_arguments(vm, args, count, &width, &missing, &fill)) return DV_EMPTY;
    return pad(vm, args[0], missing, 0, fill);
}

dv_value dv_str_zfill(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    int64_t width;
    if (!dv_size_argument(vm, args[1], &width)) return DV_EMPTY;
    if (width <= s->length) return dv_plain(vm, args[0]);
    uint32_t first = s->length > 0 ? dv_str_at(s, 0) : 0;
    bool sign = first == '+' || first == '-';
    dv_builder b;
    dv_builder_init(&b, vm);
    if (sign) dv_builder_char(&b, first);
    dv_builder_repeat(&b, '0', width - s->length);
    dv_builder_slice(&b, args[0], sign, s->length);
    return dv_builder_finish(&b);
}

dv_value dv_str_expandtabs(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"tabsize"};
    static const dv_parameters parameters = {"expandtabs", names, 1, 1, 0};
    dv_value given;
    int64_t size = 8, column = 0;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, &given)) return DV_EMPTY;
    if (!dv_is_empty(given) && !dv_int_argument(vm, given, &size)) return DV_EMPTY;
    const dv_str *s = dv_as_str(args[0]);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length && !b.failed; i++) {
        uint32_t c = dv_str_at(s, i);
        if (c == '\t') {
            int64_t spaces = size > 0 ? size - column % size : 0;
            dv_builder_repeat(&b, ' ', spaces);
            column += spaces;
        } else {
            dv_builder_char(&b, c);
            column = c == '\n' || c == '\r' ? 0 : column + 1;
        }
    }
    return dv_builder_finish(&b);
}

/* ---- Translating -------------------------------------------------------------------------------
 */

/* What the table has for c: a str, an int in range, None; or EMPTY, which was raised unless there
 * is nothing. */
static dv_value table_item(dv_vm *vm, dv_value table, uint32_t c) {
    dv_value to = dv_get_item(vm, table, dv_int(c));
    int64_t point;
    if (dv_is_empty(to)) {
        if (dv_error_is(vm, DV_E_LOOKUP_ERROR)) dv_error_clear(vm);
        return DV_EMPTY;
    }
    if (dv_is_str(to) || dv_is_none(to)) return to;
    if (!dv_is_any_int(to) && !dv_is_bool(to))
        dv_raise(vm, DV_E_TYPE_ERROR, "character mapping must return integer, None or str");
    else if (!dv_int_to_int64(to, &point) || point < 0 || point > DV_UNICODE_MAX)
        dv_raise(vm, DV_E_VALUE_ERROR, "character mapping must be in range(0x%x)",
                 (int)DV_UNICODE_MAX + 1);
    else
        return to;
    dv_release(vm, to);
    return DV_EMPTY;
}

/* 1, 0: the character goes, -1: raised. */
static int translate_char(dv_builder *b, dv_value table, uint32_t c) {
    dv_value to = table_item(b->vm, table, c);
    int64_t point;
    if (dv_is_none(to)) return 0;
    if (dv_is_empty(to)) {
        if (!dv_is_empty(b->vm->error)) return -1;
        dv_builder_char(b, c);
    } else if (dv_is_str(to)) {
        dv_builder_str(b, to);
    } else if (dv_int_to_int64(to, &point)) {
        dv_builder_char(b, (uint32_t)point);
    }
    dv_release(b->vm, to);
    return 1;
}

/* From s[*at], which goes, to the first character that stays.  Like CPython it asks for that one
 * here, and its caller again, which a table with a __getitem__ sees; false: raised. */
static bool skip_gone(dv_vm *vm, dv_value table, const dv_str *s, int64_t *at) {
    for (++*at; *at < s->length; ++*at) {
        dv_value to = table_item(vm, table, dv_str_at(s, *at));
        bool gone = dv_is_none(to);
        dv_release(vm, to);
        if (!gone) break;
    }
    return dv_is_empty(vm->error);
}

static bool translate_from(dv_builder *b, dv_value table, const dv_str *s, int64_t at) {
    while (at < s->length && !b->failed) {
        int stays = translate_char(b, table, dv_str_at(s, at));
        if (stays < 0 || (stays == 0 && !skip_gone(b->vm, table, s, &at))) return false;
        at += stays;
    }
    return true;
}

/* Beside what an ASCII character becomes. */
enum { UNKNOWN = 128, GONE, OTHER };

/* What an ASCII character becomes, where that is one ASCII character or nothing; OTHER, also if it
 * was raised. */
static uint8_t ascii_for(dv_vm *vm, dv_value table, uint32_t c) {
    dv_value to = table_item(vm, table, c);
    if (dv_is_empty(to)) return dv_is_empty(vm->error) ? (uint8_t)c : OTHER;
    int64_t point = OTHER;
    if (dv_is_none(to))
        point = GONE;
    else if (!dv_is_str(to))
        point = dv_int_to_int64(to, &point) && point < UNKNOWN ? point : OTHER;
    else if (dv_as_str(to)->length == 1 && dv_str_at(dv_as_str(to), 0) < UNKNOWN)
        point = dv_str_at(dv_as_str(to), 0);
    dv_release(vm, to);
    return (uint8_t)point;
}

/* Translates ASCII as far as it becomes ASCII, asking the table once for each character, as CPython
 * does and a table with a __getitem__ sees.  Returns how far. */
static int64_t translate_ascii(dv_builder *b, dv_value table, const dv_str *s) {
    uint8_t known[UNKNOWN];
    memset(known, UNKNOWN, sizeof known);
    int64_t at = 0;
    for (; at < s->length && !b->failed; at++) {
        uint8_t *to = &known[(uint8_t)s->data[at]];
        if (*to == UNKNOWN) *to = ascii_for(b->vm, table, (uint8_t)s->data[at]);
        if (*to == OTHER) break;
        if (*to != GONE) dv_builder_char(b, *to);
    }
    return at;
}

dv_value dv_str_translate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    dv_builder b;
    dv_builder_init(&b, vm);
    bool ascii = s->kind == 1 && dv_utf8_is_ascii(s->data, (size_t)s->length);
    int64_t at = ascii ? translate_ascii(&b, args[1], s) : 0;
    if (dv_is_empty(vm->error) && translate_from(&b, args[1], s, at)) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

/* maketrans(dict): keys become code points. */
static bool table_from_dict(dv_vm *vm, dv_value table, dv_value from) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(from, &position, &key, &value)) {
        if (dv_is_str(key)) {
            if (dv_as_str(key)->length != 1) {
                dv_raise(vm, DV_E_VALUE_ERROR,
                         "string keys in translate table must be of length 1");
                return false;
            }
            key = dv_int(dv_str_at(dv_as_str(key), 0));
        } else if (!dv_is_any_int(key) && !dv_is_bool(key)) {
            dv_raise(vm, DV_E_TYPE_ERROR, "keys in translate table must be strings or integers");
            return false;
        }
        if (!dv_dict_set(vm, table, key, value)) return false;
    }
    return true;
}

static bool table_from_strings(dv_vm *vm, dv_value table, const dv_value *args, uint32_t count) {
    if (!dv_is_str(args[0])) {
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "first maketrans argument must be a string if there is a second argument");
        return false;
    }
    const dv_str *from = dv_as_str(args[0]), *to = dv_as_str(args[1]);
    if (from->length != to->length) {
        dv_raise(vm, DV_E_VALUE_ERROR, "the first two maketrans arguments must have equal length");
        return false;
    }
    for (int64_t i = 0; i < from->length; i++)
        if (!dv_dict_set(vm, table, dv_int(dv_str_at(from, i)), dv_int(dv_str_at(to, i))))
            return false;
    const dv_str *gone = count > 2 ? dv_as_str(args[2]) : NULL;
    for (int64_t i = 0; gone && i < gone->length; i++)
        if (!dv_dict_set(vm, table, dv_int(dv_str_at(gone, i)), DV_NONE)) return false;
    return true;
}

dv_value dv_str_maketrans(dv_vm *vm, const dv_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (!dv_is_str(args[i]))
            return dv_arguments_refuse(
                vm, i == 1 ? "maketrans() argument 2" : "maketrans() argument 3", "str", args[i]);
    if (count == 1 && !dv_is_dict(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "if you give only one argument to maketrans it must be a dict");
    dv_value table = dv_dict_new(vm);
    if (dv_is_empty(table)) return DV_EMPTY;
    if (count == 1 ? table_from_dict(vm, table, args[0])
                   : table_from_strings(vm, table, args, count))
        return table;
    dv_release(vm, table);
    return DV_EMPTY;
}
