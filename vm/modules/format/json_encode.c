/* json_encode.c: writing JSON (json_parts.h).
 *
 * Invariants
 *  1. A link is a container around what is being written; they are a chain on the C stack.
 *  2. default(), and items() of subclasses of dict, run dl code, which may change what is being
 *     written: items are retained, counts read again. */
#include <math.h>
#include <string.h>

#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "modules/format/json_parts.h"
#include "types/mapping/dict.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

/* What an encoder consists of, in the tuple that json.dl passes. */
enum {
    DEFAULT,
    ENSURE_ASCII,
    INDENT,
    KEY_SEPARATOR,
    ITEM_SEPARATOR,
    SORT_KEYS,
    SKIP_KEYS,
    ALLOW_NAN,
    CHECK_CIRCULAR,
    SETTINGS
};

typedef struct link {
    dv_value container;
    const struct link *next;
    int64_t level; /* of indentation, of what is in it */
} link;

typedef struct writer {
    dv_vm *vm;
    dv_builder b;
    const dv_value *settings;
    bool ascii, sort, skip, allow_nan, check;
} writer;

static bool write_value(writer *w, dv_value v, const link *outer);

/* ---- Strings ----------------------------------------------------------------------------------*/

static bool is_plain(uint32_t c, bool ascii) {
    return c >= 0x20 && c != '"' && c != '\\' && (!ascii || c < 0x7f);
}

static void write_unit(dv_builder *b, uint32_t unit) {
    static const char digits[] = "0123456789abcdef";
    char text[6] = {'\\', 'u'};
    for (int i = 0; i < 4; i++) text[2 + i] = digits[unit >> (12 - 4 * i) & 15];
    dv_builder_text(b, text, sizeof text);
}

static void write_special(dv_builder *b, uint32_t c) {
    static const char characters[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *place = c && c < 128 ? strchr(characters, (int)c) : NULL;
    if (place) {
        dv_builder_char(b, '\\');
        dv_builder_char(b, (uint8_t)letters[place - characters]);
    } else if (c >= 0x10000) {
        write_unit(b, 0xD800 + ((c - 0x10000) >> 10));
        write_unit(b, 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
        write_unit(b, c);
    }
}

static void write_string(dv_builder *b, dv_value text, bool ascii) {
    const dv_str *s = dv_as_str(text);
    dv_builder_char(b, '"');
    for (int64_t i = 0, start = 0; i <= s->length; i++) {
        if (i < s->length && is_plain(dv_str_at(s, i), ascii)) continue;
        if (i > start) dv_builder_slice(b, text, start, i);
        if (i < s->length) write_special(b, dv_str_at(s, i));
        start = i + 1;
    }
    dv_builder_char(b, '"');
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

/* `v` is the number as the program has it. */
static bool write_double(writer *w, double d, dv_value v) {
    char text[32];
    if (isfinite(d)) {
        dv_builder_text(&w->b, text, dv_float_repr(d, text));
        return true;
    }
    if (!w->allow_nan) {
        bool indented = !dv_is_none(w->settings[INDENT]);
        if (indented)
            dv_raise(w->vm, DV_E_VALUE_ERROR,
                     "Out of range float values are not JSON compliant: %V", v);
        else
            dv_raise(w->vm, DV_E_VALUE_ERROR, "Out of range float values are not JSON compliant");
        return false;
    }
    dv_builder_z(&w->b, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
    return true;
}

static bool write_int(writer *w, dv_value v) {
    dv_value text = dv_int_to_str(w->vm, v, 10, false);
    if (dv_is_empty(text)) return false;
    dv_builder_str(&w->b, text);
    dv_release(w->vm, text);
    return true;
}

/* None, bools and numbers; *done: it was one of them. */
static bool write_scalar(writer *w, dv_value v, bool *done) {
    *done = true;
    dv_value number = dv_number_of(v);
    if (dv_is_float(number)) return write_double(w, dv_as_float(number), v);
    if (dv_is_any_int(v)) return write_int(w, v);
    if (dv_is_none(v) || dv_is_bool(v)) {
        dv_builder_z(&w->b, dv_is_none(v) ? "null" : dv_same(v, DV_TRUE) ? "true" : "false");
        return true;
    }
    *done = false;
    return true;
}

/* ---- Containers -------------------------------------------------------------------------------*/

/* A container (or what default() is asked about) begins; false: raised. */
static bool enter(writer *w, const link *outer, dv_value container) {
    for (; w->check && outer; outer = outer->next)
        if (dv_same(outer->container, container)) {
            dv_raise(w->vm, DV_E_VALUE_ERROR, "Circular reference detected");
            return false;
        }
    return dv_enter_native_for(w->vm, " while encoding a JSON object");
}

static void new_line(writer *w, int64_t level) {
    if (dv_is_none(w->settings[INDENT])) return;
    dv_builder_char(&w->b, '\n');
    for (int64_t i = 0; i < level; i++) dv_builder_str(&w->b, w->settings[INDENT]);
}

static void separate(writer *w, bool first, int64_t level) {
    if (first) return;
    dv_builder_str(&w->b, w->settings[ITEM_SEPARATOR]);
    new_line(w, level);
}

static bool write_list(writer *w, dv_value list, const link *l) {
    int64_t count;
    dv_items_of(list, &count);
    if (count == 0) return dv_builder_z(&w->b, "[]"), true;
    dv_builder_char(&w->b, '[');
    new_line(w, l->level);
    for (int64_t i = 0;; i++) {
        const dv_value *items = dv_items_of(list, &count);
        if (i >= count) break;
        separate(w, i == 0, l->level);
        dv_value item = dv_retain(items[i]);
        bool good = dv_work(w->vm, 4) && write_value(w, item, l);
        dv_release(w->vm, item);
        if (!good) return false;
    }
    new_line(w, l->level - 1);
    dv_builder_char(&w->b, ']');
    return true;
}

/* A key with its quotes; *skipped: it is none, and that is allowed. */
static bool write_key(writer *w, dv_value key, bool *skipped) {
    *skipped = false;
    if (dv_is_str(key)) return write_string(&w->b, key, w->ascii), true;
    bool number = dv_is_none(key) || dv_is_integral(key) || dv_is_float(dv_number_of(key)), done;
    if (number) {
        dv_builder_char(&w->b, '"');
        if (!write_scalar(w, key, &done)) return false;
        dv_builder_char(&w->b, '"');
        return true;
    }
    *skipped = w->skip;
    if (!w->skip)
        dv_raise(w->vm, DV_E_TYPE_ERROR, "keys must be str, int, float, bool or None, not %T", key);
    return w->skip;
}

static bool can_be_key(dv_value key) {
    return dv_is_str(key) || dv_is_none(key) || dv_is_integral(key) ||
           dv_is_float(dv_number_of(key));
}

static bool write_pair(writer *w, dv_value key, dv_value value, const link *l, bool *first) {
    bool skipped;
    if (w->skip && !can_be_key(key)) return true;
    separate(w, *first, l->level);
    *first = false;
    if (!write_key(w, key, &skipped)) return false;
    dv_builder_str(&w->b, w->settings[KEY_SEPARATOR]);
    return write_value(w, value, l);
}

/* The pairs of a dict as a list: of a subclass what its items() says. */
static dv_value pairs_of(writer *w, dv_value dict) {
    dv_vm *vm = w->vm;
    dv_value name = dv_str_intern(vm, "items", 5), method = DV_EMPTY, view = DV_EMPTY;
    if (!dv_is_empty(name)) method = dv_get_attribute(vm, dict, name);
    dv_release(vm, name);
    if (!dv_is_empty(method)) view = dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    if (dv_is_empty(view)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list) && dv_list_extend(vm, list, view) &&
                (!w->sort || dv_list_sort(vm, list, DV_EMPTY, false));
    dv_release(vm, view);
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static bool write_listed(writer *w, dv_value pairs, const link *l, bool *first) {
    for (int64_t i = 0; i < dv_as_list(pairs)->count; i++) {
        dv_value pair = dv_as_list(pairs)->items[i];
        if (!dv_is_tuple(pair) || dv_as_tuple(pair)->count != 2) {
            dv_raise(w->vm, DV_E_VALUE_ERROR, "items must return 2-tuples");
            return false;
        }
        const dv_value *items = dv_as_tuple(pair)->items;
        if (!write_pair(w, items[0], items[1], l, first)) return false;
    }
    return true;
}

static bool write_walking(writer *w, dv_value dict, const link *l, bool *first) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(dict, &position, &key, &value)) {
        dv_retain(key);
        dv_retain(value);
        bool good = dv_work(w->vm, 4) && write_pair(w, key, value, l, first);
        dv_release(w->vm, key);
        dv_release(w->vm, value);
        if (!good) return false;
    }
    return true;
}

static bool write_dict(writer *w, dv_value dict, const link *l) {
    if (dv_as_dict(dict)->count == 0) return dv_builder_z(&w->b, "{}"), true;
    bool first = true, good;
    dv_builder_char(&w->b, '{');
    new_line(w, l->level);
    if (dv_is_shape(dict, DV_T_DICT) && !w->sort) {
        good = write_walking(w, dict, l, &first);
    } else {
        dv_value pairs = pairs_of(w, dict);
        good = !dv_is_empty(pairs) && write_listed(w, pairs, l, &first);
        dv_release(w->vm, pairs);
    }
    new_line(w, l->level - 1);
    dv_builder_char(&w->b, '}');
    return good;
}

static bool write_default(writer *w, dv_value v, const link *l) {
    dv_value other = dv_call(w->vm, w->settings[DEFAULT], &v, 1, DV_EMPTY);
    if (dv_is_empty(other)) return false;
    bool good = write_value(w, other, l);
    dv_release(w->vm, other);
    return good;
}

static bool write_value(writer *w, dv_value v, const link *outer) {
    bool done, good;
    if (dv_is_str(v)) return write_string(&w->b, v, w->ascii), true;
    good = write_scalar(w, v, &done);
    if (done) return good;
    if (!enter(w, outer, v)) return false;
    int64_t level = outer ? outer->level : 0;
    bool sequence = dv_is_list(v) || dv_is_tuple(v);
    link l = {v, outer, sequence || dv_is_dict(v) ? level + 1 : level};
    if (sequence)
        good = write_list(w, v, &l);
    else
        good = dv_is_dict(v) ? write_dict(w, v, &l) : write_default(w, v, &l);
    dv_leave_native(w->vm);
    return good;
}

/* ---- Functions --------------------------------------------------------------------------------*/

static bool flag(writer *w, int which, bool *out) {
    int truth = dv_truth(w->vm, w->settings[which]);
    *out = truth == 1;
    return truth >= 0;
}

dv_value dv_json_encode(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_tuple(args[0]) || dv_as_tuple(args[0])->count != SETTINGS)
        return dv_raise(vm, DV_E_TYPE_ERROR, "encode() needs the settings of an encoder");
    writer w = {.vm = vm, .settings = dv_as_tuple(args[0])->items};
    for (int i = KEY_SEPARATOR; i <= ITEM_SEPARATOR; i++)
        if (!dv_is_str(w.settings[i]))
            return dv_raise(vm, DV_E_TYPE_ERROR, "make_encoder() argument %d must be str, not %T",
                            i + 2, w.settings[i]);
    if (!flag(&w, ENSURE_ASCII, &w.ascii) || !flag(&w, SORT_KEYS, &w.sort) ||
        !flag(&w, SKIP_KEYS, &w.skip) || !flag(&w, ALLOW_NAN, &w.allow_nan) ||
        !flag(&w, CHECK_CIRCULAR, &w.check))
        return DV_EMPTY;
    dv_builder_init(&w.b, vm);
    if (write_value(&w, args[1], NULL)) return dv_builder_finish(&w.b);
    dv_builder_discard(&w.b);
    return DV_EMPTY;
}

dv_value dv_json_quote(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "first argument must be a string, not %T", args[0]);
    dv_builder b;
    dv_builder_init(&b, vm);
    write_string(&b, args[0], dv_same(args[1], DV_TRUE));
    return dv_builder_finish(&b);
}
