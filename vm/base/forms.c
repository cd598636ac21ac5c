/* forms.c: what characters consist of (forms.h): they are decomposed, their marks sorted, and what
 * composes is composed again; gen/tables/unicode_forms.py makes the tables. */
#include "base/forms.h"

#include <stddef.h>

/* Below these, characters consist of nothing else, and are no marks. */
enum { FIRST = 0xA0, FIRST_MARK = 0x300 };

/* ---- Hangul -----------------------------------------------------------------------------------*/

/* A syllable is a leading consonant, a vowel and perhaps a trailing consonant; number 0 of the last
 * is none. */
enum {
    SYLLABLE = 0xAC00,
    LEADING = 0x1100,
    VOWEL = 0x1161,
    TRAILING = 0x11A7,
    LEADING_COUNT = 19,
    VOWEL_COUNT = 21,
    TRAILING_COUNT = 28,
    SYLLABLE_COUNT = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT
};

static uint32_t decompose_hangul(uint32_t number, uint32_t *out) {
    out[0] = LEADING + number / (VOWEL_COUNT * TRAILING_COUNT);
    out[1] = VOWEL + number / TRAILING_COUNT % VOWEL_COUNT;
    out[2] = TRAILING + number % TRAILING_COUNT;
    return out[2] == TRAILING ? 2 : 3;
}

/* 0: they do not compose. */
static uint32_t compose_hangul(uint32_t a, uint32_t b) {
    if (a - LEADING < LEADING_COUNT && b - VOWEL < VOWEL_COUNT)
        return SYLLABLE + ((a - LEADING) * VOWEL_COUNT + (b - VOWEL)) * TRAILING_COUNT;
    bool open = a - SYLLABLE < SYLLABLE_COUNT && (a - SYLLABLE) % TRAILING_COUNT == 0;
    return open && b > TRAILING && b - TRAILING < TRAILING_COUNT ? a + (b - TRAILING) : 0;
}

/* ---- Tables -----------------------------------------------------------------------------------*/

const uint32_t *dv_forms_step(uint32_t point, uint32_t *count, const char **tag) {
    uint32_t low = 0, high = DV_FORMS_DECOMPOSITIONS;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (dv_forms_decompositions[middle] >> 10 < point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == DV_FORMS_DECOMPOSITIONS || dv_forms_decompositions[low] >> 10 != point) return NULL;
    *count = dv_forms_decompositions[low] & 31;
    *tag = dv_forms_tags[dv_forms_decompositions[low] >> 5 & 31];
    return dv_forms_points + dv_forms_at[low];
}

/* (No character takes more than four steps.) */
uint32_t dv_forms_decompose(uint32_t point, bool compatible, uint32_t *out) {
    if (point - SYLLABLE < SYLLABLE_COUNT) return decompose_hangul(point - SYLLABLE, out);
    uint32_t parts, count = 0;
    const char *tag;
    const uint32_t *part = point < FIRST ? NULL : dv_forms_step(point, &parts, &tag);
    if (!part || (!compatible && *tag == '<')) {
        out[0] = point;
        return 1;
    }
    for (uint32_t i = 0; i < parts; i++)
        count += dv_forms_decompose(part[i], compatible, out + count);
    return count;
}

uint32_t dv_forms_class(uint32_t point) {
    if (point < FIRST_MARK) return 0;
    uint32_t low = 0, high = DV_FORMS_CLASSES;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (dv_forms_classes[middle][1] < point)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < DV_FORMS_CLASSES && dv_forms_classes[low][0] <= point;
    return found ? dv_forms_classes[low][2] : 0;
}

/* 0: they do not compose. */
static uint32_t compose(uint32_t a, uint32_t b) {
    uint32_t low = 0, high = DV_FORMS_PAIRS;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const uint32_t *pair = dv_forms_pairs[middle];
        if (pair[0] < a || (pair[0] == a && pair[1] < b))
            low = middle + 1;
        else
            high = middle;
    }
    const uint32_t *pair = dv_forms_pairs[low];
    if (low < DV_FORMS_PAIRS && pair[0] == a && pair[1] == b) return pair[2];
    return compose_hangul(a, b);
}

/* ---- The form ---------------------------------------------------------------------------------*/

/* Those of a run, by counting: texts may have very many marks in a row. */
static void sort_run(uint32_t *points, uint32_t count, uint32_t *scratch) {
    uint32_t starts[257] = {0};
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = points[i];
        starts[dv_forms_class(points[i]) + 1]++;
    }
    for (uint32_t kind = 0; kind < 256; kind++) starts[kind + 1] += starts[kind];
    for (uint32_t i = 0; i < count; i++) points[starts[dv_forms_class(scratch[i])]++] = scratch[i];
}

void dv_forms_sort(uint32_t *points, uint32_t count, uint32_t *scratch) {
    for (uint32_t i = 0; i < count;) {
        const uint32_t begin = i++;
        if (dv_forms_class(points[begin]) == 0) continue;
        while (i < count && dv_forms_class(points[i]) != 0) i++;
        if (i - begin > 1) sort_run(points + begin, i - begin, scratch);
    }
}

/* A mark composes with the last character that is none, unless another one of its class stands
 * between. */
uint32_t dv_forms_compose(uint32_t *points, uint32_t count) {
    uint32_t used = 0, base = 0, between = 0; /* the class of the mark before */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = dv_forms_class(points[i]);
        bool free = i > 0 && (used == base + 1 || (between && between < kind));
        uint32_t composed = free ? compose(points[base], points[i]) : 0;
        if (composed) {
            points[base] = composed;
            continue;
        }
        points[used] = points[i];
        if (kind == 0) base = used;
        between = kind;
        used++;
    }
    return used;
}
