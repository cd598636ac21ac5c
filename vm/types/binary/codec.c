/* codec.c: str to bytes and back: the names of all codecs; utf-8, ascii and latin-1 (the others are
 * in codec_wide.c and codec_escape.c), with CPython's error handlers and the ranges that its errors
 * name.
 *
 * Invariant 1: what an error handler does with a range is decided in one place for each direction;
 * the codecs only find the ranges. */
#include <string.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/bytes.h"
#include "types/binary/codec_parts.h"
#include "types/exception/exception.h"
#include "types/text/str_text.h"
#include "types/sequence/tuple.h"

/* Names as CPython normalises them: lower case, underscores for what separates. */
dv_codec dv_codec_named(dv_value name) {
    static const struct {
        const char *name;
        dv_codec codec;
    } names[] = {
        {"utf_8", DV_UTF8},
        {"utf8", DV_UTF8},
        {"u8", DV_UTF8},
        {"utf", DV_UTF8},
        {"utf8_ucs2", DV_UTF8},
        {"utf8_ucs4", DV_UTF8},
        {"cp65001", DV_UTF8},
        {"ascii", DV_ASCII},
        {"us_ascii", DV_ASCII},
        {"646", DV_ASCII},
        {"latin_1", DV_LATIN1},
        {"latin1", DV_LATIN1},
        {"iso_8859_1", DV_LATIN1},
        {"iso8859_1", DV_LATIN1},
        {"l1", DV_LATIN1},
        {"latin", DV_LATIN1},
        {"iso8859", DV_LATIN1},
        {"8859", DV_LATIN1},
        {"cp819", DV_LATIN1},
        {"utf_16", DV_UTF16},
        {"utf16", DV_UTF16},
        {"u16", DV_UTF16},
        {"utf_16_le", DV_UTF16_LE},
        {"utf_16le", DV_UTF16_LE},
        {"unicodelittleunmarked", DV_UTF16_LE},
        {"utf_16_be", DV_UTF16_BE},
        {"utf_16be", DV_UTF16_BE},
        {"unicodebigunmarked", DV_UTF16_BE},
        {"utf_32", DV_UTF32},
        {"utf32", DV_UTF32},
        {"u32", DV_UTF32},
        {"utf_32_le", DV_UTF32_LE},
        {"utf_32le", DV_UTF32_LE},
        {"utf_32_be", DV_UTF32_BE},
        {"utf_32be", DV_UTF32_BE},
        {"unicode_escape", DV_UNICODE_ESCAPE},
        {"unicodeescape", DV_UNICODE_ESCAPE},
        {"raw_unicode_escape", DV_RAW_UNICODE_ESCAPE},
        {"rawunicodeescape", DV_RAW_UNICODE_ESCAPE},
        {"utf_8_sig", DV_UTF8_SIG},
    };
    if (dv_is_empty(name)) return DV_UTF8;
    char text[32];
    const dv_str *s = dv_as_str(name);
    if (s->kind != 1 || s->length >= (int64_t)sizeof text) return DV_CODEC_UNKNOWN;
    for (int64_t i = 0; i < s->length; i++) {
        char c = s->data[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '-' || c == ' ' ? '_' : c;
    }
    text[s->length] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) return names[i].codec;
    return DV_CODEC_UNKNOWN;
}

static const char *const codec_names[] = {
    "utf-8",  "ascii",     "latin-1",   "utf-16",        "utf-16-le",        "utf-16-be",
    "utf-32", "utf-32-le", "utf-32-be", "unicodeescape", "rawunicodeescape", "utf-8"};

static bool raise_unicode(dv_vm *vm, dv_error_class error, dv_codec codec, dv_value object,
                          int64_t start, int64_t stop, const char *reason) {
    dv_value items[5] = {dv_str_z(vm, codec_names[codec]), dv_retain(object), dv_int(start),
                         dv_int(stop), dv_str_z(vm, reason)};
    dv_value args = DV_EMPTY, exception = DV_EMPTY;
    if (dv_is_empty(items[0]) || dv_is_empty(items[4])) {
        for (int i = 0; i < 5; i++) dv_release(vm, items[i]);
        return false;
    }
    args = dv_tuple_take(vm, items, 5);
    if (!dv_is_empty(args)) exception = dv_exception_new(vm, vm->error_classes[error], args);
    dv_release(vm, args);
    if (!dv_is_empty(exception)) dv_exception_raise(vm, exception, DV_EMPTY);
    dv_release(vm, exception);
    return false;
}

static bool handler_is(dv_value errors, const char *name) {
    if (dv_is_empty(errors)) return strcmp(name, "strict") == 0;
    return dv_str_is(errors, name);
}

static bool raise_handler(dv_vm *vm, dv_value errors) {
    dv_raise(vm, DV_E_LOOKUP_ERROR, "unknown error handler name '%S'", errors);
    return false;
}

static dv_value raise_encoding(dv_vm *vm, dv_value encoding) {
    return dv_raise(vm, DV_E_LOOKUP_ERROR, "unknown encoding: %S", encoding);
}

/* ---- Encoding ----------------------------------------------------------------------------------
 */

static void put_hex(dv_builder *b, uint32_t c, int digits) {
    while (digits-- > 0) dv_builder_char(b, (uint8_t) "0123456789abcdef"[c >> (4 * digits) & 15]);
}

void dv_codec_put_escape(dv_builder *b, uint32_t c) {
    int digits = c <= 0xFF ? 2 : c <= 0xFFFF ? 4 : 8;
    dv_builder_char(b, '\\');
    dv_builder_char(b, digits == 2 ? 'x' : digits == 4 ? 'u' : 'U');
    put_hex(b, c, digits);
}

static void put_reference(dv_builder *b, uint32_t c) {
    char text[8];
    int at = sizeof text;
    for (; c > 0; c /= 10) text[--at] = (char)('0' + c % 10);
    dv_builder_text(b, "&#", 2);
    dv_builder_text(b, text + at, sizeof text - (size_t)at);
    dv_builder_char(b, ';');
}

static void put_utf8(dv_builder *b, uint32_t c) {
    char text[4];
    size_t size = dv_utf8_put(c, text);
    for (size_t i = 0; i < size; i++) dv_builder_char(b, (uint8_t)text[i]);
}

/* s[start:stop] cannot be encoded. */
bool dv_codec_encode_error(dv_builder *b, dv_codec codec, dv_value s, int64_t start, int64_t stop,
                           dv_value errors) {
    const char *reason = codec == DV_ASCII    ? "ordinal not in range(128)"
                         : codec == DV_LATIN1 ? "ordinal not in range(256)"
                                              : "surrogates not allowed";
    dv_vm *vm = b->vm;
    bool strict = handler_is(errors, "strict");
    bool escape = handler_is(errors, "surrogateescape");
    bool pass = handler_is(errors, "surrogatepass");
    for (int64_t i = start; i < stop && !strict; i++) {
        uint32_t c = dv_str_at(dv_as_str(s), i);
        if (handler_is(errors, "ignore")) continue;
        if (handler_is(errors, "replace"))
            dv_builder_char(b, '?');
        else if (handler_is(errors, "backslashreplace"))
            dv_codec_put_escape(b, c);
        else if (handler_is(errors, "xmlcharrefreplace"))
            put_reference(b, c);
        else if (escape && c >= 0xDC80 && c <= 0xDCFF)
            dv_builder_char(b, c - 0xDC00);
        else if (pass && codec == DV_UTF8)
            put_utf8(b, c);
        else if (escape || pass)
            return raise_unicode(vm, DV_E_UNICODE_ENCODE_ERROR, codec, s, start, stop, reason);
        else
            return raise_handler(vm, errors);
    }
    if (!strict) return true;
    return raise_unicode(vm, DV_E_UNICODE_ENCODE_ERROR, codec, s, start, stop, reason);
}

static bool can_encode(dv_codec codec, uint32_t c) {
    return codec == DV_UTF8 ? c < 0xD800 || c > 0xDFFF : c < (codec == DV_ASCII ? 0x80u : 0x100u);
}

static bool is_wide(dv_codec codec) { return codec >= DV_UTF16 && codec <= DV_UTF32_BE; }
static bool is_escape(dv_codec codec) {
    return codec == DV_UNICODE_ESCAPE || codec == DV_RAW_UNICODE_ESCAPE;
}

static dv_value encode(dv_vm *vm, dv_value v, dv_codec codec, dv_value errors) {
    const dv_str *s = dv_as_str(v);
    if (is_wide(codec)) return dv_codec_wide_encode(vm, v, codec, errors);
    if (is_escape(codec)) return dv_codec_escape_encode(vm, v, codec);
    bool plain =
        s->kind == 1 && (codec == DV_LATIN1 || dv_utf8_is_ascii(s->data, (size_t)s->length));
    if (plain) return dv_bytes_new(vm, s->data, s->length);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length;) {
        uint32_t c = dv_str_at(s, i);
        if (can_encode(codec, c)) {
            if (codec == DV_UTF8 && c >= 0x80)
                put_utf8(&b, c);
            else
                dv_builder_char(&b, c);
            i++;
            continue;
        }
        int64_t start = i;
        while (i < s->length && !can_encode(codec, dv_str_at(s, i))) i++;
        if (dv_codec_encode_error(&b, codec, v, start, i, errors)) continue;
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    return dv_bytes_finish(&b);
}

/* utf-8-sig: the mark is written first, and skipped where it is read. */
static const char mark[3] = {'\xEF', '\xBB', '\xBF'};

static dv_value encode_marked(dv_vm *vm, dv_value s, dv_value errors) {
    dv_value bytes = encode(vm, s, DV_UTF8, errors);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    int64_t length = dv_as_str(bytes)->length;
    dv_str *result = dv_bytes_alloc(vm, length + (int64_t)sizeof mark);
    if (result) {
        memcpy(result->data, mark, sizeof mark);
        memcpy(result->data + sizeof mark, dv_as_str(bytes)->data, (size_t)length);
    }
    dv_release(vm, bytes);
    return result ? dv_object_value(result) : DV_EMPTY;
}

dv_value dv_encode(dv_vm *vm, dv_value s, dv_value encoding, dv_value errors) {
    dv_codec codec = dv_codec_named(encoding);
    if (codec == DV_UTF8_SIG) return encode_marked(vm, s, errors);
    return codec == DV_CODEC_UNKNOWN ? raise_encoding(vm, encoding) : encode(vm, s, codec, errors);
}

/* ---- Decoding ----------------------------------------------------------------------------------
 */

/* bytes[start:stop] mean nothing. */
bool dv_codec_decode_error(dv_builder *b, dv_codec codec, dv_value bytes, int64_t start,
                           int64_t stop, const char *reason, dv_value errors) {
    const dv_str *s = dv_as_str(bytes);
    if (handler_is(errors, "strict") || handler_is(errors, "surrogatepass"))
        return raise_unicode(b->vm, DV_E_UNICODE_DECODE_ERROR, codec, bytes, start, stop, reason);
    if (handler_is(errors, "ignore")) return true;
    if (handler_is(errors, "replace")) {
        dv_builder_char(b, 0xFFFD);
        return true;
    }
    bool escape = handler_is(errors, "surrogateescape");
    if (!escape && !handler_is(errors, "backslashreplace")) return raise_handler(b->vm, errors);
    for (int64_t i = start; i < stop; i++) {
        if (escape)
            dv_builder_char(b, 0xDC00u + (uint8_t)s->data[i]);
        else
            dv_codec_put_escape(b, (uint8_t)s->data[i]);
    }
    return true;
}

static bool continues(const dv_str *s, int64_t at) { return (s->data[at] & 0xC0) == 0x80; }

/* Is the second byte one that may follow the first?  (No overlong forms, surrogates, or code
 * points beyond U+10FFFF.) */
static bool second_fits(uint8_t first, uint8_t second) {
    if ((second & 0xC0) != 0x80) return false;
    switch (first) {
    case 0xE0: return second >= 0xA0;
    case 0xED: return second < 0xA0;
    case 0xF0: return second >= 0x90;
    case 0xF4: return second < 0x90;
    default: return true;
    }
}

/* Length of the sequence at `at`, or 0: *bad bytes are wrong for *reason. */
static int64_t sequence_length(const dv_str *s, int64_t at, int64_t *bad, const char **reason) {
    uint8_t first = (uint8_t)s->data[at];
    int64_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    *bad = 1;
    *reason = "invalid start byte";
    if (first < 0xC2 || first > 0xF4) return 0;
    *reason = "invalid continuation byte";
    for (int64_t i = 1; i < length; i++) {
        *bad = i;
        if (at + i == s->length) {
            *reason = "unexpected end of data";
            return 0;
        }
        if (i == 1 ? !second_fits(first, (uint8_t)s->data[at + 1]) : !continues(s, at + i))
            return 0;
    }
    return length;
}

/* A surrogate as three bytes at `at`, which the error handler surrogatepass lets through. */
static bool is_passed(const dv_str *s, int64_t at, dv_codec codec, dv_value errors) {
    return codec == DV_UTF8 && handler_is(errors, "surrogatepass") && at + 2 < s->length &&
           (uint8_t)s->data[at] == 0xED && (uint8_t)s->data[at + 1] >= 0xA0 &&
           continues(s, at + 1) && continues(s, at + 2);
}

static dv_value decode(dv_vm *vm, dv_value bytes, dv_codec codec, dv_value errors) {
    const dv_str *s = dv_as_str(bytes);
    if (is_wide(codec)) return dv_codec_wide_decode(vm, bytes, codec, errors);
    if (is_escape(codec)) return dv_codec_escape_decode(vm, bytes, codec, errors);
    if (codec == DV_LATIN1 || dv_utf8_is_ascii(s->data, (size_t)s->length))
        return dv_str_points(vm, s->data, 1, s->length);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length;) {
        int64_t bad = 1, length = 0;
        const char *reason = "ordinal not in range(128)";
        if (!(s->data[i] & 0x80)) {
            dv_builder_char(&b, (uint8_t)s->data[i++]);
            continue;
        }
        if (codec == DV_UTF8) length = sequence_length(s, i, &bad, &reason);
        if (length == 0 && is_passed(s, i, codec, errors)) {
            dv_builder_char(&b, 0xD000u | ((uint32_t)s->data[i + 1] & 0x3F) << 6 |
                                    ((uint32_t)s->data[i + 2] & 0x3F));
            i += 3;
            continue;
        }
        if (length > 0) {
            size_t at = (size_t)i;
            dv_builder_char(&b, dv_utf8_next(s->data, (size_t)s->length, &at));
            i += length;
            continue;
        }
        if (!dv_codec_decode_error(&b, codec, bytes, i, i + bad, reason, errors)) {
            dv_builder_discard(&b);
            return DV_EMPTY;
        }
        i += bad;
    }
    return dv_builder_finish(&b);
}

static dv_value decode_marked(dv_vm *vm, dv_value bytes, dv_value errors) {
    const dv_str *s = dv_as_str(bytes);
    size_t skipped = sizeof mark;
    if (s->length < (int64_t)skipped || memcmp(s->data, mark, skipped) != 0)
        return decode(vm, bytes, DV_UTF8, errors);
    dv_value rest = dv_bytes_new(vm, s->data + skipped, s->length - (int64_t)skipped);
    dv_value text = dv_is_empty(rest) ? DV_EMPTY : decode(vm, rest, DV_UTF8, errors);
    dv_release(vm, rest);
    return text;
}

dv_value dv_decode(dv_vm *vm, dv_value bytes, dv_value encoding, dv_value errors) {
    dv_codec codec = dv_codec_named(encoding);
    if (codec == DV_UTF8_SIG) return decode_marked(vm, bytes, errors);
    return codec == DV_CODEC_UNKNOWN ? raise_encoding(vm, encoding)
                                     : decode(vm, bytes, codec, errors);
}

/* ---- Methods -----------------------------------------------------------------------------------
 */

static bool codec_arguments(dv_vm *vm, const char *function, const dv_value *args, uint32_t count,
                            dv_value keywords, dv_value out[2]) {
    static const char *const names[] = {"encoding", "errors"};
    const dv_parameters parameters = {function, names, 2, 2, 0};
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return false;
    for (int i = 0; i < 2; i++) {
        if (dv_is_empty(out[i]) || dv_is_str(out[i])) continue;
        if (dv_is_none(out[i]))
            dv_raise(vm, DV_E_TYPE_ERROR, "%s() argument '%s' must be str, not None", function,
                     names[i]);
        else
            dv_raise(vm, DV_E_TYPE_ERROR, "%s() argument '%s' must be str, not %T", function,
                     names[i], out[i]);
        return false;
    }
    return true;
}

dv_value dv_encode_method(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    dv_value out[2];
    if (!codec_arguments(vm, "encode", args, count, keywords, out)) return DV_EMPTY;
    return dv_encode(vm, args[0], out[0], out[1]);
}

dv_value dv_decode_method(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    dv_value out[2];
    if (!codec_arguments(vm, "decode", args, count, keywords, out)) return DV_EMPTY;
    return dv_decode(vm, dv_bytes_of(args[0]), out[0], out[1]);
}
