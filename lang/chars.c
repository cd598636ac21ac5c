/* chars.c: UTF-8 and the classes of code points (chars.h).
 *
 * Which code points outside ASCII may stand in an identifier is approximated by the blocks that
 * hold no letters: everything else counts as a letter. */
#include "lang/chars.h"

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

typedef struct block {
    uint32_t first, last;
} block;

static bool contains(const block *blocks, size_t count, uint32_t point) {
    for (size_t i = 0; i < count; i++)
        if (blocks[i].first <= point && point <= blocks[i].last) return true;
    return false;
}

static bool is_symbol(uint32_t point) {
    static const block symbols[] = {
        {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB6},       {0xB8, 0xB9},
        {0xBB, 0xBF},       {0xD7, 0xD7},       {0xF7, 0xF7},       {0x2C2, 0x2C5},
        {0x2D2, 0x2DF},     {0x37E, 0x37E},     {0x55A, 0x55F},     {0x5BE, 0x5BE},
        {0x60C, 0x60D},     {0x61B, 0x61F},     {0x66A, 0x66D},     {0x964, 0x965},
        {0xE3F, 0xE3F},     {0x1680, 0x1680},   {0x2000, 0x203E},   {0x2041, 0x2053},
        {0x2055, 0x2070},   {0x2074, 0x207E},   {0x2080, 0x208E},   {0x20A0, 0x20CF},
        {0x2100, 0x2101},   {0x2103, 0x2106},   {0x2116, 0x2117},   {0x211E, 0x2123},
        {0x2140, 0x2144},   {0x2150, 0x215F},   {0x2190, 0x2BFF},   {0x2CF9, 0x2CFF},
        {0x2E00, 0x2E2E},   {0x2E30, 0x3004},   {0x3008, 0x3020},   {0x3030, 0x3030},
        {0x303D, 0x3040},   {0xD800, 0xF8FF},   {0xFD3E, 0xFD3F},   {0xFE10, 0xFE1F},
        {0xFE30, 0xFE32},   {0xFE35, 0xFE4C},   {0xFE50, 0xFE6F},   {0xFEFF, 0xFF0F},
        {0xFF1A, 0xFF20},   {0xFF3B, 0xFF3E},   {0xFF40, 0xFF40},   {0xFF5B, 0xFF65},
        {0xFFE0, 0xFFFF},   {0x1D000, 0x1D164}, {0x1F000, 0x1FBEF}, {0xE0000, 0xE00FF},
        {0xE01F0, 0x10FFFF}};
    return contains(symbols, sizeof symbols / sizeof *symbols, point);
}

/* Marks and digits may continue an identifier but not start one: the common ones. */
static bool is_continuation_only(uint32_t point) {
    static const block marks[] = {
        {0xB7, 0xB7},     {0x300, 0x36F},   {0x387, 0x387},    {0x483, 0x487},   {0x591, 0x5BD},
        {0x64B, 0x669},   {0x6F0, 0x6F9},   {0x93E, 0x94D},    {0x966, 0x96F},   {0x1AB0, 0x1AFF},
        {0x1DC0, 0x1DFF}, {0x203F, 0x2040}, {0x2054, 0x2054},  {0x20D0, 0x20F0}, {0xFE00, 0xFE0F},
        {0xFE20, 0xFE2F}, {0xFF10, 0xFF19}, {0xE0100, 0xE01EF}};
    return contains(marks, sizeof marks / sizeof *marks, point);
}

bool dv_chars_is_identifier_part(uint32_t point) {
    if (point < 0x80) {
        uint32_t lower = point | 0x20;
        return (lower >= 'a' && lower <= 'z') || (point >= '0' && point <= '9') || point == '_';
    }
    return !is_symbol(point);
}

bool dv_chars_is_identifier_start(uint32_t point) {
    if (point >= '0' && point <= '9') return false;
    return dv_chars_is_identifier_part(point) && !is_continuation_only(point);
}

bool dv_chars_is_printable(uint32_t point) {
    static const block invisible[] = {
        {0, 0x1F},        {0x7F, 0xA0},     {0xAD, 0xAD},       {0x61C, 0x61C},
        {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F},   {0x2028, 0x202F},
        {0x205F, 0x206F}, {0x3000, 0x3000}, {0xD800, 0xF8FF},   {0xFEFF, 0xFEFF},
        {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE00FF}, {0xE01F0, 0x10FFFF}};
    return !contains(invisible, sizeof invisible / sizeof *invisible, point);
}

unsigned dv_chars_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? (unsigned)(lower - 'a') + 10 : 99;
}
