/* json.c: the module _json: reading JSON.  Writing is in json_encode.c; what programs import is
 * lang/lib/json.dl.
 *
 * Invariants
 *  1. Positions are those of CPython's scanner; errors are instances of the class that the settings
 *     name, called with message, document and position.
 *  2. The document is a str that does not change; hooks may run dl code, but reach nothing of the
 *     reader. */
#include <math.h>
#include <string.h>

#include "base/dtoa.h"
#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "modules/format/json_parts.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define KEYS       64 /* that are remembered, so that equal keys are one object */
#define KEY_LENGTH 40
#define FEW_CHARS  64

/* What a decoder consists of, in the tuple that json.dl passes. */
enum {
    STRICT,
    OBJECT_HOOK,
    PAIRS_HOOK,
    PARSE_FLOAT,
    PARSE_INT,
    PARSE_CONSTANT,
    ERROR_CLASS,
    SETTINGS
};

typedef struct reader {
    dv_vm *vm;
    dv_value document;
    const dv_str *s;
    int64_t length, at;
    const dv_value *settings;
    bool strict;
    dv_value keys[KEYS]; /* retained; EMPTY: free */
} reader;

static inline uint32_t peek(const reader *r, int64_t i) {
    return i < r->length ? dv_str_at(r->s, i) : UINT32_MAX;
}

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

static inline void skip_space(reader *r) {
    for (; r->at < r->length; r->at++) {
        uint32_t c = dv_str_at(r->s, r->at);
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    }
}

static dv_value fail(reader *r, const char *message, int64_t position) {
    dv_vm *vm = r->vm;
    dv_value args[3] = {dv_str_z(vm, message), r->document, dv_int(position)};
    if (dv_is_empty(args[0])) return DV_EMPTY;
    dv_value error = dv_call(vm, r->settings[ERROR_CLASS], args, 3, DV_EMPTY);
    dv_release(vm, args[0]);
    if (!dv_is_empty(error)) dv_exception_raise(vm, error, DV_EMPTY);
    dv_release(vm, error);
    return DV_EMPTY;
}

static dv_value slice(reader *r, int64_t start, int64_t stop) {
    return dv_str_slice(r->vm, r->document, start, stop);
}

/* ---- Strings ----------------------------------------------------------------------------------*/

/* Four hexadecimal digits at `i`; -1: there are none. */
static int64_t four_digits(const reader *r, int64_t i) {
    int64_t value = 0;
    for (int64_t end = i + 4; i < end; i++) {
        uint32_t c = peek(r, i);
        uint32_t lower = c | 0x20;
        if (is_digit(c))
            value = value * 16 + (c - '0');
        else if (c < 128 && lower >= 'a' && lower <= 'f')
            value = value * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* \uXXXX at r->at, which is behind the u; two of them where they are a pair. */
static bool read_unicode(reader *r, dv_builder *b) {
    int64_t i = r->at;
    int64_t c = i + 4 >= r->length ? -1 : four_digits(r, i);
    if (c < 0) {
        fail(r, "Invalid \\uXXXX escape", i - 1);
        return false;
    }
    r->at = i + 4;
    if (c >= 0xD800 && c < 0xDC00 && r->at + 6 < r->length && peek(r, r->at) == '\\' &&
        peek(r, r->at + 1) == 'u') {
        int64_t low = four_digits(r, r->at + 2);
        if (low < 0) {
            fail(r, "Invalid \\uXXXX escape", r->at + 1);
            return false;
        }
        if (low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            r->at += 6;
        }
    }
    dv_builder_char(b, (uint32_t)c);
    return true;
}

static bool read_escape(reader *r, dv_builder *b) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    uint32_t c = dv_str_at(r->s, r->at++);
    if (c == 'u') return read_unicode(r, b);
    const char *place = c && c < 128 ? strchr(names, (int)c) : NULL;
    if (!place) {
        fail(r, "Invalid \\escape", r->at - 2);
        return false;
    }
    dv_builder_char(b, (uint8_t)values[place - names]);
    return true;
}

/* The end of a run without anything special. */
static int64_t plain_end(const reader *r, int64_t i) {
    if (r->s->kind == 1) {
        const uint8_t *data = (const uint8_t *)r->s->data;
        while (i < r->length && data[i] != '"' && data[i] != '\\' && data[i] > 0x1f) i++;
        return i;
    }
    for (; i < r->length; i++) {
        uint32_t c = dv_str_at(r->s, i);
        if (c == '"' || c == '\\' || c <= 0x1f) break;
    }
    return i;
}

static bool read_pieces(reader *r, dv_builder *b, int64_t begin) {
    for (;;) {
        int64_t end = plain_end(r, r->at);
        if (end > r->at) dv_builder_slice(b, r->document, r->at, end);
        r->at = end;
        uint32_t c = peek(r, end);
        if (c == '"') {
            r->at++;
            return true;
        }
        if (c == UINT32_MAX || (c == '\\' && end + 1 == r->length)) {
            fail(r, "Unterminated string starting at", begin);
            return false;
        }
        if (c != '\\' && r->strict) {
            fail(r, "Invalid control character at", end);
            return false;
        }
        r->at++;
        if (c != '\\')
            dv_builder_char(b, c);
        else if (!read_escape(r, b))
            return false;
    }
}

/* A string whose first character is at r->at. */
static dv_value read_string(reader *r) {
    int64_t begin = r->at, end = plain_end(r, begin);
    if (DV_LIKELY(peek(r, end) == '"')) {
        r->at = end + 1;
        return slice(r, begin, end);
    }
    dv_builder b;
    dv_builder_init(&b, r->vm);
    if (read_pieces(r, &b, begin - 1)) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

/* The same for a key: one that was met lately is taken again. */
static dv_value read_key(reader *r) {
    int64_t begin = r->at, end = plain_end(r, begin), length = end - begin;
    if (peek(r, end) != '"' || length == 0 || length > KEY_LENGTH || r->s->kind != 1)
        return read_string(r);
    const uint8_t *data = (const uint8_t *)r->s->data + begin;
    dv_value *place =
        &r->keys[((uint64_t)length * 31 + data[0] * 7u + data[length / 2] * 3u + data[length - 1]) %
                 KEYS];
    if (dv_is_object(*place)) {
        const dv_str *key = dv_as_str(*place);
        if (key->length == length && !memcmp(key->data, data, (size_t)length)) {
            r->at = end + 1;
            return dv_retain(*place);
        }
    }
    dv_value key = read_string(r);
    if (dv_is_empty(key)) return DV_EMPTY;
    dv_release(r->vm, *place);
    *place = dv_retain(key);
    return key;
}

/* ---- Numbers and constants --------------------------------------------------------------------*/

static int64_t skip_digits(const reader *r, int64_t i) {
    while (is_digit(peek(r, i))) i++;
    return i;
}

/* The end of the number that begins at `start`, or `start`: there is none. */
static int64_t number_end(const reader *r, int64_t start, bool *is_float) {
    int64_t i = start + (peek(r, start) == '-');
    *is_float = false;
    if (!is_digit(peek(r, i))) return start;
    i = peek(r, i) == '0' ? i + 1 : skip_digits(r, i);
    if (peek(r, i) == '.' && is_digit(peek(r, i + 1))) {
        *is_float = true;
        i = skip_digits(r, i + 1);
    }
    if (peek(r, i) == 'e' || peek(r, i) == 'E') {
        int64_t digits = i + 1 + (peek(r, i + 1) == '-' || peek(r, i + 1) == '+');
        if (is_digit(peek(r, digits))) {
            *is_float = true;
            i = skip_digits(r, digits);
        }
    }
    return i;
}

static dv_value call_with(reader *r, dv_value function, dv_value argument) {
    if (dv_is_empty(argument)) return DV_EMPTY;
    dv_value result = dv_call(r->vm, function, &argument, 1, DV_EMPTY);
    dv_release(r->vm, argument);
    return result;
}

static dv_value convert(dv_vm *vm, const char *text, size_t size, bool is_float) {
    bool valid; /* it is a literal */
    if (!is_float) return dv_int_from_text(vm, text, size, 10, &valid);
    bool negative = text[0] == '-';
    double d = 0.0;
    if (!dv_dtoa_parse(text + negative, size - negative, &d)) d = NAN; /* it is a literal */
    return dv_float_foreign(negative ? -d : d);
}

static dv_value read_number(reader *r) {
    bool is_float;
    int64_t start = r->at, end = number_end(r, start, &is_float), length = end - start;
    if (length == 0) return fail(r, "Expecting value", start);
    r->at = end;
    dv_value parse = r->settings[is_float ? PARSE_FLOAT : PARSE_INT];
    if (!dv_is_none(parse)) return call_with(r, parse, slice(r, start, end));
    if (!is_float && length < 15) { /* no digit of these needs more than 48 bits */
        int64_t value = 0;
        bool negative = peek(r, start) == '-';
        for (int64_t i = start + negative; i < end; i++)
            value = value * 10 + (dv_str_at(r->s, i) - '0');
        return dv_int_from_int64(r->vm, negative ? -value : value);
    }
    if (r->s->kind == 1) return convert(r->vm, r->s->data + start, (size_t)length, is_float);
    char few[FEW_CHARS] = {0}, *text = few;
    if (length > FEW_CHARS && !(text = dv_heap_alloc(&r->vm->heap, (size_t)length)))
        return dv_raise_memory(r->vm);
    for (int64_t i = 0; i < length; i++) text[i] = (char)dv_str_at(r->s, start + i);
    dv_value result = convert(r->vm, text, (size_t)length, is_float);
    if (text != few) dv_heap_free(&r->vm->heap, text, (size_t)length);
    return result;
}

/* Is this word at r->at?  If so, it is read. */
static bool read_word(reader *r, const char *word) {
    int64_t length = (int64_t)strlen(word);
    for (int64_t i = 0; i < length; i++)
        if (peek(r, r->at + i) != (uint8_t)word[i]) return false;
    r->at += length;
    return true;
}

static dv_value constant(reader *r, const char *word, double value) {
    dv_value parse = r->settings[PARSE_CONSTANT];
    return dv_is_none(parse) ? dv_float_foreign(value) : call_with(r, parse, dv_str_z(r->vm, word));
}

/* ---- Containers -------------------------------------------------------------------------------*/

static dv_value read_value(reader *r);

static bool read_items(reader *r, dv_value list) {
    skip_space(r);
    if (peek(r, r->at) == ']') {
        r->at++;
        return true;
    }
    for (;;) {
        dv_value item = read_value(r);
        if (dv_is_empty(item) || !dv_list_push(r->vm, list, item)) return false;
        skip_space(r);
        uint32_t c = peek(r, r->at);
        if (c != ',' && c != ']') {
            fail(r, "Expecting ',' delimiter", r->at);
            return false;
        }
        r->at++;
        if (c == ']') return true;
        skip_space(r);
    }
}

static dv_value read_array(reader *r) {
    dv_value list = dv_list_new(r->vm, NULL, 0);
    if (dv_is_empty(list) || read_items(r, list)) return list;
    dv_release(r->vm, list);
    return DV_EMPTY;
}

/* A key and its value go to a dict, or as a tuple to a list. */
static bool add_pair(dv_vm *vm, dv_value to, dv_value key, dv_value value) {
    if (dv_is_dict(to)) return dv_dict_set(vm, to, key, value);
    dv_value pair = dv_tuple_new(vm, (dv_value[]){key, value}, 2);
    return !dv_is_empty(pair) && dv_list_push(vm, to, pair);
}

static bool read_pair(reader *r, dv_value to) {
    if (peek(r, r->at) != '"') {
        fail(r, "Expecting property name enclosed in double quotes", r->at);
        return false;
    }
    r->at++;
    dv_value key = read_key(r), value = DV_EMPTY;
    if (dv_is_empty(key)) return false;
    skip_space(r);
    if (peek(r, r->at) == ':') {
        r->at++;
        skip_space(r);
        value = read_value(r);
    } else {
        fail(r, "Expecting ':' delimiter", r->at);
    }
    bool good = !dv_is_empty(value) && add_pair(r->vm, to, key, value);
    dv_release(r->vm, key);
    dv_release(r->vm, value);
    return good;
}

static bool read_pairs(reader *r, dv_value to) {
    skip_space(r);
    if (peek(r, r->at) == '}') {
        r->at++;
        return true;
    }
    for (;;) {
        if (!read_pair(r, to)) return false;
        skip_space(r);
        uint32_t c = peek(r, r->at);
        if (c != ',' && c != '}') {
            fail(r, "Expecting ',' delimiter", r->at);
            return false;
        }
        r->at++;
        if (c == '}') return true;
        skip_space(r);
    }
}

static dv_value read_object(reader *r) {
    dv_vm *vm = r->vm;
    dv_value pairs_hook = r->settings[PAIRS_HOOK], hook = r->settings[OBJECT_HOOK];
    dv_value to = dv_is_none(pairs_hook) ? dv_dict_new(vm) : dv_list_new(vm, NULL, 0);
    if (dv_is_empty(to)) return DV_EMPTY;
    if (!read_pairs(r, to)) {
        dv_release(vm, to);
        return DV_EMPTY;
    }
    if (!dv_is_none(pairs_hook)) return call_with(r, pairs_hook, to);
    return dv_is_none(hook) ? to : call_with(r, hook, to);
}

static dv_value read_container(reader *r, bool object) {
    const char *doing = object ? " while decoding a JSON object from a unicode string"
                               : " while decoding a JSON array from a unicode string";
    if (!dv_enter_native_for(r->vm, doing)) return DV_EMPTY;
    r->at++;
    dv_value result = object ? read_object(r) : read_array(r);
    dv_leave_native(r->vm);
    return result;
}

static dv_value read_value(reader *r) {
    if (!dv_work(r->vm, 6)) return DV_EMPTY;
    switch (peek(r, r->at)) {
    case '"': r->at++; return read_string(r);
    case '{': return read_container(r, true);
    case '[': return read_container(r, false);
    case 'n':
        if (read_word(r, "null")) return DV_NONE;
        break;
    case 't':
        if (read_word(r, "true")) return DV_TRUE;
        break;
    case 'f':
        if (read_word(r, "false")) return DV_FALSE;
        break;
    case 'N':
        if (read_word(r, "NaN")) return constant(r, "NaN", NAN);
        break;
    case 'I':
        if (read_word(r, "Infinity")) return constant(r, "Infinity", INFINITY);
        break;
    case '-':
        if (read_word(r, "-Infinity")) return constant(r, "-Infinity", -INFINITY);
        break;
    default: break;
    }
    return read_number(r);
}

/* ---- The module -------------------------------------------------------------------------------*/

static bool begin(dv_vm *vm, reader *r, const dv_value *args) {
    if (!dv_is_tuple(args[0]) || dv_as_tuple(args[0])->count != SETTINGS || !dv_is_str(args[1])) {
        dv_raise(vm, DV_E_TYPE_ERROR, "first argument must be a string, not %T", args[1]);
        return false;
    }
    r->vm = vm;
    r->document = args[1];
    r->s = dv_as_str(args[1]);
    r->length = r->s->length;
    r->settings = dv_as_tuple(args[0])->items;
    r->at = 0;
    int strict = dv_truth(vm, r->settings[STRICT]);
    r->strict = strict == 1;
    for (int i = 0; i < KEYS; i++) r->keys[i] = DV_EMPTY;
    return strict >= 0;
}

static void end(reader *r) {
    for (int i = 0; i < KEYS; i++) dv_release(r->vm, r->keys[i]);
}

/* decode(settings, text): the whole text is one value. */
static dv_value decode(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    reader r;
    if (!begin(vm, &r, args)) return DV_EMPTY;
    skip_space(&r);
    dv_value result = read_value(&r);
    skip_space(&r);
    if (!dv_is_empty(result) && r.at < r.length) {
        dv_release(vm, result);
        result = fail(&r, "Extra data", r.at);
    }
    end(&r);
    return result;
}

/* scan(settings, text, start): (value, end) */
static dv_value scan(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    reader r;
    int64_t start;
    if (!dv_size_argument(vm, args[2], &start)) return DV_EMPTY;
    if (start < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "idx cannot be negative");
    if (!begin(vm, &r, args)) return DV_EMPTY;
    r.at = start;
    dv_value value = read_value(&r);
    end(&r);
    if (dv_is_empty(value)) return DV_EMPTY;
    return dv_tuple_take(vm, (dv_value[]){value, dv_int(r.at)}, 2);
}

static const dv_cfunction_def functions[] = {
    {.name = "decode", .entry = decode, .min = 2, .max = 2},
    {.name = "scan", .entry = scan, .min = 3, .max = 3},
    {.name = "encode", .entry = dv_json_encode, .min = 2, .max = 2},
    {.name = "quote", .entry = dv_json_quote, .min = 2, .max = 2},
    {.name = NULL}};

bool dv_json_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
