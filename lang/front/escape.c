/* escape.c: escapes of string literals (escape.h). */
#include "lang/front/escape.h"

#include "base/character.h"
#include "lang/front/chars.h"

#include <stdio.h>
#include <string.h>

bool dv_escape_append(dv_front *front, dv_escape_buffer *buffer, const char *data, uint32_t size) {
    while (buffer->capacity - buffer->size < size) {
        void *grown = buffer->data;
        if (!dv_front_reserve(front, &grown, buffer->capacity, &buffer->capacity, 1)) return false;
        buffer->data = grown;
    }
    if (size != 0) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

typedef struct decoder {
    dv_front *front;
    dv_escape_buffer *buffer;
    dv_escape_kind kind;
    const char *begin, *at, *end;
    char *problem;
} decoder;

static bool append_point(decoder *d, uint32_t point) {
    char bytes[4];
    if (d->kind == DV_ESCAPE_BYTES) {
        bytes[0] = (char)point;
        return dv_escape_append(d->front, d->buffer, bytes, 1);
    }
    return dv_escape_append(d->front, d->buffer, bytes, (uint32_t)dv_chars_encode(point, bytes));
}

/* Where `at` is for CPython, which decodes a copy that holds \UXXXXXXXX for each code point beyond
 * ASCII. */
static unsigned position_of(const decoder *d, const char *at) {
    unsigned position = 0;
    for (const char *c = d->begin; c < at; c++) {
        unsigned char byte = (unsigned char)*c;
        position += byte < 0x80 ? 1 : byte >= 0xC0 ? 10 : 0;
    }
    return position;
}

static bool fail_escape(decoder *d, const char *backslash, const char *last, const char *what) {
    snprintf(d->problem, 128,
             "(unicode error) 'unicodeescape' codec can't decode bytes in position %u-%u: %s",
             position_of(d, backslash), position_of(d, last), what);
    return false;
}

/* \xXX, \uXXXX, \UXXXXXXXX; `at` is behind the letter */
static bool decode_hexadecimal(decoder *d, const char *backslash, unsigned digits) {
    uint32_t point = 0;
    for (unsigned i = 0; i < digits; i++, d->at++) {
        unsigned digit = d->at < d->end ? dv_chars_digit(*d->at) : 99;
        if (digit < 16) {
            point = point << 4 | digit;
            continue;
        }
        if (d->kind == DV_ESCAPE_BYTES) {
            snprintf(d->problem, 128, "(value error) invalid \\x escape at position %u",
                     position_of(d, backslash));
            return false;
        }
        return fail_escape(d, backslash, d->at - 1,
                           digits == 2   ? "truncated \\xXX escape"
                           : digits == 4 ? "truncated \\uXXXX escape"
                                         : "truncated \\UXXXXXXXX escape");
    }
    if (point > 0x10FFFF) return fail_escape(d, backslash, d->at - 1, "illegal Unicode character");
    return append_point(d, point);
}

static bool decode_octal(decoder *d, uint32_t value) {
    for (int i = 0; i < 2 && d->at < d->end && *d->at >= '0' && *d->at <= '7'; i++)
        value = value * 8 + (uint32_t)(*d->at++ - '0');
    return append_point(d, value);
}

/* \N{...} */
static bool decode_named(decoder *d, const char *backslash) {
    const char *name = d->at + 1;
    uint32_t point;
    if (d->at < d->end && *d->at == '{')
        while (d->at < d->end && *d->at != '}') d->at++;
    if (d->at == d->end || d->at <= name)
        return fail_escape(d, backslash, d->at - 1, "malformed \\N character escape");
    d->at++;
    if (dv_character_find(name, (size_t)(d->at - 1 - name), &point)) return append_point(d, point);
    return fail_escape(d, backslash, d->at - 1, "unknown Unicode character name");
}

static bool decode_escape(decoder *d) {
    const char *backslash = d->at++;
    char c = *d->at++;
    bool text = d->kind == DV_ESCAPE_TEXT;
    switch (c) {
    case '\n': return true;
    case '\\':
    case '\'':
    case '"': return append_point(d, (unsigned char)c);
    case 'a': return append_point(d, '\a');
    case 'b': return append_point(d, '\b');
    case 'f': return append_point(d, '\f');
    case 'n': return append_point(d, '\n');
    case 'r': return append_point(d, '\r');
    case 't': return append_point(d, '\t');
    case 'v': return append_point(d, '\v');
    case 'x': return decode_hexadecimal(d, backslash, 2);
    default: break;
    }
    if (c >= '0' && c <= '7') return decode_octal(d, (uint32_t)(c - '0'));
    if (text && c == 'u') return decode_hexadecimal(d, backslash, 4);
    if (text && c == 'U') return decode_hexadecimal(d, backslash, 8);
    if (text && c == 'N') return decode_named(d, backslash);
    /* an unknown escape stands for itself; what follows the backslash may be a multi-byte character
     */
    d->at = backslash + 1;
    return dv_escape_append(d->front, d->buffer, backslash, 1);
}

bool dv_escape_decode(dv_front *front, dv_escape_buffer *buffer, dv_escape_kind kind,
                      const char *at, const char *end, char problem[128]) {
    problem[0] = '\0';
    if (kind == DV_ESCAPE_RAW) return dv_escape_append(front, buffer, at, (uint32_t)(end - at));
    decoder d = {front, buffer, kind, at, at, end, problem};
    while (d.at < d.end) {
        const char *backslash = memchr(d.at, '\\', (size_t)(d.end - d.at));
        const char *plain_end = backslash == NULL ? d.end : backslash;
        if (!dv_escape_append(front, buffer, d.at, (uint32_t)(plain_end - d.at))) return false;
        d.at = plain_end;
        if (backslash != NULL && backslash + 1 >= d.end)
            return dv_escape_append(front, buffer, backslash, 1);
        if (backslash != NULL && !decode_escape(&d)) return false;
    }
    return true;
}
