/* codec_escape.c: the codecs unicode-escape (what stands between quotes in a program) and
 * raw-unicode-escape (the same with \u and \U alone).  Bytes that are no escape are Latin-1. */
#include "types/binary/codec_parts.h"

#include "core/upcall.h"
#include "types/text/str_text.h"

/* ---- Encoding ----------------------------------------------------------------------------------
 */

static void put_escaped(dv_builder *b, uint32_t c) {
    if (c == '\\' || c == '\t' || c == '\n' || c == '\r') {
        dv_builder_char(b, '\\');
        dv_builder_char(b, c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\');
    } else if (c >= ' ' && c < 0x7F) {
        dv_builder_char(b, c);
    } else {
        dv_codec_put_escape(b, c);
    }
}

dv_value dv_codec_escape_encode(dv_vm *vm, dv_value v, dv_codec codec) {
    const dv_str *s = dv_as_str(v);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        if (codec == DV_UNICODE_ESCAPE)
            put_escaped(&b, c);
        else if (c > 0xFF)
            dv_codec_put_escape(&b, c);
        else
            dv_builder_char(&b, c);
    }
    return dv_bytes_finish(&b);
}

/* ---- Decoding ----------------------------------------------------------------------------------
 */

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The escape that s->data[at] begins: its code point to *c and its length; 0: *bad bytes from `at`
 * on are wrong for *reason. */
static int64_t read_hex(const dv_str *s, int64_t at, uint32_t *c, int64_t *bad,
                        const char **reason) {
    char kind = s->data[at + 1];
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8, i = 0;
    *c = 0;
    for (; i < digits && at + 2 + i < s->length; i++) {
        int value = hex_value(s->data[at + 2 + i]);
        if (value < 0) break;
        *c = *c << 4 | (uint32_t)value;
    }
    *bad = 2 + i;
    *reason = kind == 'x'   ? "truncated \\xXX escape"
              : kind == 'u' ? "truncated \\uXXXX escape"
                            : "truncated \\UXXXXXXXX escape";
    if (i < digits) return 0;
    *reason = "illegal Unicode character";
    return *c <= 0x10FFFF ? 2 + digits : 0;
}

static int64_t read_octal(const dv_str *s, int64_t at, uint32_t *c) {
    int64_t i = 1;
    *c = 0;
    for (; i <= 3 && at + i < s->length; i++) {
        char digit = s->data[at + i];
        if (digit < '0' || digit > '7') break;
        *c = *c << 3 | (uint32_t)(digit - '0');
    }
    return i;
}

/* The character that a letter behind a backslash means; 0: none. */
static uint32_t simple_escape(char letter) {
    static const char letters[] = "\\'\"abfnrtv", meanings[] = "\\'\"\a\b\f\n\r\t\v";
    for (int i = 0; letters[i]; i++)
        if (letters[i] == letter) return (uint8_t)meanings[i];
    return 0;
}

/* What the backslash at `at` begins, as above.  -1: nothing, the line goes on. */
static int64_t read_escape(const dv_str *s, int64_t at, uint32_t *c, int64_t *bad,
                           const char **reason) {
    *bad = 1;
    *reason = "\\ at end of string";
    if (at + 1 == s->length) return 0;
    char letter = s->data[at + 1];
    if (letter == '\n') return -1;
    if (letter == 'x' || letter == 'u' || letter == 'U') return read_hex(s, at, c, bad, reason);
    if (letter >= '0' && letter <= '7') return read_octal(s, at, c);
    *c = simple_escape(letter);
    if (*c) return 2;
    *c = '\\'; /* unknown ones mean themselves */
    return 1;
}

/* The same for raw-unicode-escape, where only \u and \U behind an even number of backslashes mean
 * something. */
static int64_t read_raw(const dv_str *s, int64_t at, uint32_t *c, int64_t *bad,
                        const char **reason) {
    *c = '\\';
    if (at + 1 == s->length) return 1;
    char letter = s->data[at + 1];
    if (letter != 'u' && letter != 'U') return 1;
    int64_t length = read_hex(s, at, c, bad, reason);
    if (length == 0 && *bad == 10) *reason = "\\Uxxxxxxxx out of range";
    return length;
}

/* Copies a run of backslashes but for the last, if that is one too many to pair up. */
static int64_t copy_backslashes(dv_builder *b, const dv_str *s, int64_t at) {
    int64_t end = at;
    while (end < s->length && s->data[end] == '\\') end++;
    int64_t count = (end - at) & ~(int64_t)1;
    for (int64_t i = 0; i < count; i++) dv_builder_char(b, '\\');
    return at + count;
}

dv_value dv_codec_escape_decode(dv_vm *vm, dv_value bytes, dv_codec codec, dv_value errors) {
    const dv_str *s = dv_as_str(bytes);
    bool raw = codec == DV_RAW_UNICODE_ESCAPE;
    /* An escape begins with a byte that surrogateescape does not take. */
    if (!dv_is_empty(errors) && dv_str_is(errors, "surrogateescape")) errors = DV_EMPTY;
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t at = 0; at < s->length;) {
        uint32_t c;
        int64_t bad = 1;
        const char *reason = NULL;
        if (raw) at = copy_backslashes(&b, s, at);
        if (at == s->length) break;
        if (s->data[at] != '\\') {
            dv_builder_char(&b, (uint8_t)s->data[at++]);
            continue;
        }
        if (!raw && at + 1 < s->length && s->data[at + 1] == 'N') {
            dv_builder_discard(&b);
            return dv_raise(vm, DV_E_VALUE_ERROR,
                            "\\N{...} in the codec unicode-escape is not part of dl");
        }
        int64_t length =
            raw ? read_raw(s, at, &c, &bad, &reason) : read_escape(s, at, &c, &bad, &reason);
        if (length > 0) dv_builder_char(&b, c);
        if (length == 0 && !dv_codec_decode_error(&b, codec, bytes, at, at + bad, reason, errors)) {
            dv_builder_discard(&b);
            return DV_EMPTY;
        }
        at += length > 0 ? length : length < 0 ? 2 : bad;
    }
    return dv_builder_finish(&b);
}
