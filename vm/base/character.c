/* character.c: characters by name (character.h).
 *
 * The format of the tables is told in gen/tables/unicode_names.py.  A name is looked for by its
 * words: those that are not in the list of words end the search, the others become numbers, and all
 * entries are passed with one comparison for each that begins like the name; that takes a tenth of
 * a millisecond.
 *
 * Invariant 1: `matched` words of the entry before are those of the name.  What follows them in
 * that entry is something else, or nothing. */
#include "base/character.h"

#include <string.h>

#include "unicode_names.h"

#define NO_WORD UINT32_MAX

/* ---- By rule ----------------------------------------------------------------------------------*/

static const char hangul_prefix[] = "HANGUL SYLLABLE ";
static const char chinese_prefix[] = "CJK UNIFIED IDEOGRAPH-";

#define SYLLABLES 28 /* at most, of a kind */
static const char *const leading[SYLLABLES] = {"G", "GG", "N", "D",  "DD", "R", "M",
                                               "B", "BB", "S", "SS", "",   "J", "JJ",
                                               "C", "K",  "T", "P",  "H"};
static const char *const vowels[SYLLABLES] = {"A",   "AE", "YA", "YAE", "EO", "E",  "YEO",
                                              "YE",  "O",  "WA", "WAE", "OE", "YO", "U",
                                              "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
static const char *const trailing[SYLLABLES] = {
    "",   "G",  "GG", "GS", "N",  "NJ", "NH", "D",  "L", "LG", "LM", "LB", "LS", "LT",
    "LP", "LH", "M",  "B",  "BS", "S",  "SS", "NG", "J", "C",  "K",  "T",  "P",  "H"};

/* The number of the longest text that *at begins with, which it passes; -1: none. */
static int find_syllable(const char *const *texts, int count, const char **at, const char *end) {
    int best = -1;
    size_t longest = 0;
    for (int i = 0; i < count; i++) {
        size_t size = strlen(texts[i]);
        bool fits = size <= (size_t)(end - *at) && memcmp(texts[i], *at, size) == 0;
        if (!fits || (best >= 0 && size <= longest)) continue;
        best = i;
        longest = size;
    }
    *at += longest;
    return best;
}

static bool find_hangul(const char *at, const char *end, uint32_t *point) {
    int first = find_syllable(leading, 19, &at, end);
    int second = find_syllable(vowels, 21, &at, end);
    int third = find_syllable(trailing, 28, &at, end);
    *point = 0xAC00u + (uint32_t)((first * 21 + second) * 28 + third);
    return first >= 0 && second >= 0 && third >= 0 && at == end;
}

static bool is_chinese(uint32_t point) {
    static const uint32_t ranges[][2] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0x20000, 0x2A6DF},
                                         {0x2A700, 0x2B738}, {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1},
                                         {0x2CEB0, 0x2EBE0}, {0x30000, 0x3134A}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1]) return true;
    return false;
}

/* A number of 4 or 5 hexadecimal digits, of capitals; else 0. */
static uint32_t read_number(const char *at, size_t size) {
    uint32_t number = 0;
    if (size < 4 || size > 5) return 0;
    for (size_t i = 0; i < size; i++) {
        bool digit = at[i] >= '0' && at[i] <= '9';
        if (!digit && (at[i] < 'A' || at[i] > 'F')) return 0;
        number = number << 4 | (uint32_t)(digit ? at[i] - '0' : at[i] - 'A' + 10);
    }
    return number;
}

/* ---- Words ------------------------------------------------------------------------------------*/

/* A name as the entries have it. */
typedef struct wanted {
    uint32_t words[DV_NAMES_MOST_WORDS]; /* their numbers */
    uint32_t count;
    uint32_t number; /* the last is a hyphen and this number; else 0 */
} wanted;

static int compare(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* The place of a word in the block; NO_WORD: it is not there. */
static uint32_t find_in_block(const uint8_t *at, uint32_t count, const char *word, size_t size) {
    char text[DV_NAMES_LONGEST];
    for (uint32_t i = 0; i < count; i++) {
        size_t shared = at[0], more = at[1];
        memcpy(text + shared, at + 2, more);
        if (compare(text, shared + more, word, size) == 0) return i;
        at += 2 + more;
    }
    return NO_WORD;
}

/* In one of the two lists, of `count` words from the block `first` on. */
static uint32_t find_in_list(uint32_t first, uint32_t count, const char *word, size_t size) {
    uint32_t low = 0, high = (count + DV_NAMES_BLOCK - 1) / DV_NAMES_BLOCK;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        const uint8_t *block = dv_names_words + dv_names_blocks[first + middle];
        if (compare((const char *)block + 2, block[1], word, size) <= 0)
            low = middle;
        else
            high = middle;
    }
    uint32_t begin = low * DV_NAMES_BLOCK, left = count - begin;
    uint32_t found = find_in_block(dv_names_words + dv_names_blocks[first + low],
                                   left < DV_NAMES_BLOCK ? left : DV_NAMES_BLOCK, word, size);
    return found == NO_WORD ? NO_WORD : begin + found;
}

static uint32_t find_word(const char *word, size_t size) {
    uint32_t blocks = (DV_NAMES_SHORT + DV_NAMES_BLOCK - 1) / DV_NAMES_BLOCK;
    uint32_t found = find_in_list(0, DV_NAMES_SHORT, word, size);
    if (found != NO_WORD) return found;
    found = find_in_list(blocks, DV_NAMES_WORDS - DV_NAMES_SHORT, word, size);
    return found == NO_WORD ? NO_WORD : DV_NAMES_SHORT + found;
}

/* False: there is no such word, or too many. */
static bool add_word(wanted *w, const char *word, size_t size, bool last) {
    char text[DV_NAMES_LONGEST];
    if (w->count == DV_NAMES_MOST_WORDS || size > sizeof text) return false;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 32 : word[i]);
    if (last && size > 0 && text[0] == '-') {
        w->number = read_number(text + 1, size - 1);
        if (size - 1 == 5 && w->number < 0x10000) w->number = 0;
    }
    uint32_t found = find_word(text, size);
    w->words[w->count++] = found;
    return found != NO_WORD || w->number;
}

/* Words end at spaces and before hyphens. */
static bool split(const char *name, size_t size, wanted *w) {
    *w = (wanted){.count = 0};
    for (size_t begin = 0, at = 0;;) {
        while (at < size && name[at] != ' ' && name[at] != '-') at++;
        if (!add_word(w, name + begin, at - begin, at == size)) return false;
        if (at == size) return true;
        begin = name[at] == ' ' ? at + 1 : at;
        at++;
    }
}

/* ---- Entries ----------------------------------------------------------------------------------*/

static uint32_t read_code(const uint8_t **at) {
    uint32_t first = *(*at)++;
    if (first < DV_NAMES_SHORT) return first;
    return DV_NAMES_SHORT + ((first - DV_NAMES_SHORT) << 8 | *(*at)++);
}

static bool find_entry(const wanted *w, uint32_t *point) {
    uint32_t numbered = find_word("-@", 2), matched = 0, next = 0;
    const uint8_t *at = dv_names_entries, *end = at + dv_names_size;
    for (; at < end; next++) {
        if (*at == DV_NAMES_JUMP) {
            next = (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
            at += 4;
        }
        uint32_t shared = *at >> 4, count = *at & 15;
        at++;
        if (shared < matched) matched = shared;
        for (uint32_t i = shared; i < shared + count; i++) {
            uint32_t code = read_code(&at);
            if (i != matched || i >= w->count) continue;
            bool same = code == w->words[i];
            if (code == numbered) same = i + 1 == w->count && w->number == next;
            matched += same;
        }
        if (matched == w->count && shared + count == matched) {
            *point = next;
            return true;
        }
    }
    return false;
}

bool dv_character_find(const char *name, size_t size, uint32_t *point) {
    size_t hangul = sizeof hangul_prefix - 1, chinese = sizeof chinese_prefix - 1;
    if (size >= hangul && memcmp(name, hangul_prefix, hangul) == 0)
        return find_hangul(name + hangul, name + size, point);
    if (size >= chinese && memcmp(name, chinese_prefix, chinese) == 0) {
        *point = read_number(name + chinese, size - chinese);
        return is_chinese(*point);
    }
    wanted w;
    return split(name, size, &w) && find_entry(&w, point);
}

/* ---- Names ------------------------------------------------------------------------------------*/

/* Writes the text of a word. */
static size_t spell(uint32_t word, char *text) {
    const uint32_t blocks = (DV_NAMES_SHORT + DV_NAMES_BLOCK - 1) / DV_NAMES_BLOCK;
    const bool is_short = word < DV_NAMES_SHORT;
    const uint32_t place = is_short ? word : word - DV_NAMES_SHORT;
    const uint8_t *at =
        dv_names_words + dv_names_blocks[(is_short ? 0 : blocks) + place / DV_NAMES_BLOCK];
    size_t size = 0;
    for (uint32_t i = 0; i <= place % DV_NAMES_BLOCK; i++) {
        memcpy(text + at[0], at + 2, at[1]);
        size = (size_t)at[0] + at[1];
        at += 2 + at[1];
    }
    return size;
}

static size_t write_number(uint32_t number, char *out) {
    const int digits = number > 0xFFFF ? 5 : 4;
    for (int i = 0; i < digits; i++)
        out[i] = "0123456789ABCDEF"[number >> 4 * (digits - 1 - i) & 15];
    return (size_t)digits;
}

static size_t write_words(const uint32_t *words, uint32_t count, uint32_t point, char *out) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        char text[DV_NAMES_LONGEST];
        const size_t more = spell(words[i], text);
        if (i > 0 && text[0] != '-') out[size++] = ' ';
        const bool numbered = more == 2 && text[0] == '-' && text[1] == '@';
        memcpy(out + size, text, numbered ? 1 : more);
        size += numbered ? 1 + write_number(point, out + size + 1) : more;
    }
    return size;
}

/* Names stand in the order of the points, and aliases behind all of them. */
static size_t write_entry(uint32_t point, char *out) {
    uint32_t words[DV_NAMES_MOST_WORDS], next = 0;
    const uint8_t *at = dv_names_entries, *end = at + dv_names_size;
    for (; at < end; next++) {
        if (*at == DV_NAMES_JUMP) {
            next = (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
            at += 4;
        }
        if (next > point) break;
        const uint32_t shared = *at >> 4, count = shared + (*at & 15);
        at++;
        for (uint32_t i = shared; i < count; i++) words[i] = read_code(&at);
        if (next == point) return write_words(words, count, point, out);
    }
    return 0;
}

size_t dv_character_name(uint32_t point, char out[DV_CHARACTER_LONGEST]) {
    const uint32_t number = point - 0xAC00u;
    if (number < 19 * 21 * 28) {
        const char *const parts[] = {hangul_prefix, leading[number / (21 * 28)],
                                     vowels[number / 28 % 21], trailing[number % 28]};
        size_t size = 0;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            for (const char *c = parts[i]; *c; c++) out[size++] = *c;
        return size;
    }
    if (!is_chinese(point)) return write_entry(point, out);
    memcpy(out, chinese_prefix, sizeof chinese_prefix - 1);
    return sizeof chinese_prefix - 1 + write_number(point, out + sizeof chinese_prefix - 1);
}
