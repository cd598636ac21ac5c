/* chars.c: UTF-8 and the classes of code points (chars.h), from the tables of
 * gen/tables/unicode.py. */
#include "lang/front/chars.h"

#include "unicode_tables.h"

size_t dv_chars_decode(const char *at, const char *end, uint32_t *point) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*at;
    size_t size = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size == 0 || lead > 0xF4 || (size_t)(end - at) < size) return 0;
    uint32_t value = size == 1 ? lead : lead & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        unsigned char next = (unsigned char)at[i];
        if ((next & 0xC0) != 0x80) return 0;
        value = value << 6 | (next & 0x3F);
    }
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least[size] || value > 0x10FFFF || surrogate) return 0;
    *point = value;
    return size;
}

size_t dv_chars_encode(uint32_t point, char out[4]) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xC0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

static bool has_flag(uint32_t point, uint32_t flag) {
    const uint32_t block = dv_unicode_blocks[point >> DV_UNICODE_SHIFT];
    const uint32_t offset = point & ((1u << DV_UNICODE_SHIFT) - 1);
    return (dv_unicode_records[dv_unicode_index[(block << DV_UNICODE_SHIFT) + offset]].flags &
            flag) != 0;
}

bool dv_chars_is_identifier_part(uint32_t point) { return has_flag(point, DV_UNICODE_ID_CONTINUE); }

bool dv_chars_is_identifier_start(uint32_t point) { return has_flag(point, DV_UNICODE_ID_START); }
bool dv_chars_is_printable(uint32_t point) { return has_flag(point, DV_UNICODE_PRINTABLE); }

unsigned dv_chars_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? (unsigned)(lower - 'a') + 10 : 99;
}
