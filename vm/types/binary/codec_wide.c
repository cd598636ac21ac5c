/* codec_wide.c: the codecs utf-16 and utf-32, with a byte order mark or in one of the two orders.
 *
 * Invariant 1: a codec without order in its name writes a mark and little-endian units; reading, it
 * takes the order from a mark, and is little-endian without one. */
#include "types/binary/codec_parts.h"

#include "core/upcall.h"
#include "types/text/str_text.h"

static bool is_utf16(dv_codec codec) { return codec >= DV_UTF16 && codec <= DV_UTF16_BE; }
static bool is_big(dv_codec codec) { return codec == DV_UTF16_BE || codec == DV_UTF32_BE; }
static bool is_surrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

/* ---- Encoding ----------------------------------------------------------------------------------
 */

static void put_unit(dv_builder *b, dv_codec codec, uint32_t unit) {
    int size = is_utf16(codec) ? 2 : 4;
    for (int i = 0; i < size; i++) {
        int shift = 8 * (is_big(codec) ? size - 1 - i : i);
        dv_builder_char(b, unit >> shift & 0xFF);
    }
}

static void put_point(dv_builder *b, dv_codec codec, uint32_t c) {
    if (c <= 0xFFFF || !is_utf16(codec)) {
        put_unit(b, codec, c);
        return;
    }
    put_unit(b, codec, 0xD800 + ((c - 0x10000) >> 10));
    put_unit(b, codec, 0xDC00 + ((c - 0x10000) & 0x3FF));
}

/* What stands for the surrogate v[at]. */
static bool put_substitute(dv_builder *b, dv_codec codec, dv_value v, int64_t at, dv_value errors) {
    if (!dv_is_empty(errors) && dv_str_is(errors, "surrogatepass")) {
        put_unit(b, codec, dv_str_at(dv_as_str(v), at));
        return true;
    }
    /* Single bytes of surrogateescape are no units. */
    if (!dv_is_empty(errors) && dv_str_is(errors, "surrogateescape")) errors = DV_EMPTY;
    dv_builder text;
    dv_builder_init(&text, b->vm);
    bool good = dv_codec_encode_error(&text, codec, v, at, at + 1, errors);
    dv_value substitute = good ? dv_builder_finish(&text) : DV_EMPTY;
    if (!good) dv_builder_discard(&text);
    if (dv_is_empty(substitute)) return false;
    const dv_str *s = dv_as_str(substitute);
    for (int64_t i = 0; i < s->length; i++) put_unit(b, codec, dv_str_at(s, i));
    dv_release(b->vm, substitute);
    return true;
}

dv_value dv_codec_wide_encode(dv_vm *vm, dv_value v, dv_codec codec, dv_value errors) {
    const dv_str *s = dv_as_str(v);
    dv_builder b;
    dv_builder_init(&b, vm);
    if (codec == DV_UTF16 || codec == DV_UTF32) put_unit(&b, codec, 0xFEFF);
    for (int64_t i = 0; i < s->length;) {
        uint32_t c = dv_str_at(s, i);
        if (!is_surrogate(c)) {
            put_point(&b, codec, c);
            i++;
            continue;
        }
        if (put_substitute(&b, codec, v, i++, errors)) continue;
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    return dv_bytes_finish(&b);
}

/* ---- Decoding ----------------------------------------------------------------------------------
 */

static uint32_t unit_at(const dv_str *s, int64_t at, int size, bool big) {
    uint32_t unit = 0;
    for (int i = 0; i < size; i++) {
        uint32_t byte = (uint8_t)s->data[at + i];
        unit |= byte << 8 * (big ? size - 1 - i : i);
    }
    return unit;
}

/* A unit of utf-16 at `at`, and perhaps its other half: the code point to *c and the bytes that it
 * takes; 0: *bad bytes are wrong for *reason. */
static int64_t read_utf16(const dv_str *s, int64_t at, bool big, uint32_t *c, int64_t *bad,
                          const char **reason) {
    int64_t left = s->length - at;
    *bad = left < 2 ? left : 2;
    *reason = "truncated data";
    if (left < 2) return 0;
    *c = unit_at(s, at, 2, big);
    if (!is_surrogate(*c)) return 2;
    *reason = "illegal encoding";
    if (*c >= 0xDC00) return 0;
    *reason = "unexpected end of data";
    if (left < 4) {
        *bad = left;
        return 0;
    }
    uint32_t low = unit_at(s, at + 2, 2, big);
    *reason = "illegal UTF-16 surrogate";
    if (low < 0xDC00 || low > 0xDFFF) return 0;
    *c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
    return 4;
}

static int64_t read_utf32(const dv_str *s, int64_t at, bool big, uint32_t *c, int64_t *bad,
                          const char **reason) {
    int64_t left = s->length - at;
    *bad = left < 4 ? left : 4;
    *reason = "truncated data";
    if (left < 4) return 0;
    *c = unit_at(s, at, 4, big);
    *reason = "code point in surrogate code point range(0xd800, 0xe000)";
    if (is_surrogate(*c)) return 0;
    *reason = "code point not in range(0x110000)";
    return *c <= 0x10FFFF ? 4 : 0;
}

/* Takes the byte order from a mark: the codec with that order in its name. */
static dv_codec ordered(const dv_str *s, dv_codec codec, int64_t *at) {
    int size = is_utf16(codec) ? 2 : 4;
    bool marked = codec == DV_UTF16 || codec == DV_UTF32;
    if (!marked) return codec;
    bool big = s->length >= size && unit_at(s, 0, size, true) == 0xFEFF;
    if (big || (s->length >= size && unit_at(s, 0, size, false) == 0xFEFF)) *at = size;
    if (size == 2) return big ? DV_UTF16_BE : DV_UTF16_LE;
    return big ? DV_UTF32_BE : DV_UTF32_LE;
}

/* Is a surrogate all that is wrong, and let through? */
static bool passes(const dv_str *s, int64_t at, int size, bool big, dv_value errors, uint32_t *c) {
    if (dv_is_empty(errors) || !dv_str_is(errors, "surrogatepass")) return false;
    if (s->length - at < size) return false;
    *c = unit_at(s, at, size, big);
    return is_surrogate(*c);
}

/* How many of the bytes at `at` surrogateescape can take: none below 128. */
static int64_t high_bytes(const dv_str *s, int64_t at, int64_t count) {
    int64_t high = 0;
    while (high < count && s->data[at + high] & 0x80) high++;
    return high;
}

dv_value dv_codec_wide_decode(dv_vm *vm, dv_value bytes, dv_codec codec, dv_value errors) {
    const dv_str *s = dv_as_str(bytes);
    int64_t at = 0;
    codec = ordered(s, codec, &at);
    bool big = is_big(codec);
    bool escapes = !dv_is_empty(errors) && dv_str_is(errors, "surrogateescape");
    int size = is_utf16(codec) ? 2 : 4;
    dv_builder b;
    dv_builder_init(&b, vm);
    while (at < s->length) {
        uint32_t c = 0;
        int64_t bad = 0;
        const char *reason = NULL;
        int64_t length = size == 2 ? read_utf16(s, at, big, &c, &bad, &reason)
                                   : read_utf32(s, at, big, &c, &bad, &reason);
        if (length == 0 && passes(s, at, size, big, errors, &c)) length = size;
        if (length > 0) {
            dv_builder_char(&b, c);
            at += length;
            continue;
        }
        int64_t escaped = escapes ? high_bytes(s, at, bad) : 0;
        if (escaped) bad = escaped;
        if (!dv_codec_decode_error(&b, codec, bytes, at, at + bad, reason,
                                   escapes && !escaped ? DV_EMPTY : errors)) {
            dv_builder_discard(&b);
            return DV_EMPTY;
        }
        at += bad;
    }
    return dv_builder_finish(&b);
}
