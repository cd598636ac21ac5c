/* str_search.c: finding text in text.
 *
 * Texts of one byte per code point use the C library's memchr, memrchr and memmem, which are
 * linear and vectorised.  The others look for the first code point and compare from there, with
 * the horizon of a Sunday shift: after a mismatch the code point behind the window tells how far
 * to go on.  That is quadratic in the worst case, so long parts use the two-way algorithm of
 * memmem over the bytes and skip hits that do not lie on a code point's boundary. */
#define _GNU_SOURCE /* memmem */
#include "types/text/str_search.h"

#include <string.h>
#include "core/work.h"

#define LONG_PART 32 /* code points from which on memmem pays for wide texts */

static const char *position(const dv_str *s, int64_t i) { return s->data + i * s->kind; }

/* Can s hold the code points of part at all? */
static bool may_contain(const dv_str *s, const dv_str *part, int64_t start, int64_t stop) {
    return part->kind <= s->kind && part->length <= stop - start;
}

bool dv_str_matches(const dv_str *s, const dv_str *part, int64_t at) {
    if (at < 0 || part->length > s->length - at || part->kind > s->kind) return false;
    if (s->kind == part->kind)
        return memcmp(position(s, at), part->data, (size_t)(part->length * part->kind)) == 0;
    for (int64_t i = 0; i < part->length; i++)
        if (dv_str_at(s, at + i) != dv_str_at(part, i)) return false;
    return true;
}

int64_t dv_str_find_char(const dv_str *s, uint32_t c, int64_t start, int64_t stop) {
    if (start >= stop) return -1;
    if (s->kind == 1) {
        if (c > 0xFF) return -1;
        const char *hit = memchr(s->data + start, (int)c, (size_t)(stop - start));
        return hit ? hit - s->data : -1;
    }
    if (s->kind == 2) {
        const uint16_t *data = (const uint16_t *)(const void *)s->data;
        for (int64_t i = start; i < stop; i++)
            if (data[i] == c) return i;
        return -1;
    }
    const uint32_t *data = (const uint32_t *)(const void *)s->data;
    for (int64_t i = start; i < stop; i++)
        if (data[i] == c) return i;
    return -1;
}

/* memmem over the bytes of the window; hits inside a code point are passed over. */
static int64_t find_bytes(const dv_str *s, const dv_str *part, int64_t start, int64_t stop) {
    const char *at = position(s, start), *end = position(s, stop);
    size_t size = (size_t)(part->length * part->kind);
    for (;;) {
        const char *hit = memmem(at, (size_t)(end - at), part->data, size);
        if (!hit) return -1;
        if ((hit - s->data) % s->kind == 0) return (hit - s->data) / s->kind;
        at = hit + 1;
    }
}

/* Sunday's shift with a bloom mask: where the code point behind the window is certainly not in
 * part, the next window begins behind it. */
static int64_t find_short(const dv_str *s, const dv_str *part, int64_t start, int64_t stop) {
    uint64_t mask = 0;
    for (int64_t i = 0; i < part->length; i++) mask |= (uint64_t)1 << (dv_str_at(part, i) & 63);
    uint32_t first = dv_str_at(part, 0);
    int64_t last = stop - part->length;
    for (int64_t i = start; i <= last; i++) {
        if (dv_str_at(s, i) == first && dv_str_matches(s, part, i)) return i;
        if (i < last && !(mask >> (dv_str_at(s, i + part->length) & 63) & 1)) i += part->length;
    }
    return -1;
}

int64_t dv_str_find(const dv_str *s, const dv_str *part, int64_t start, int64_t stop) {
    if (start > stop || !may_contain(s, part, start, stop)) return -1;
    if (part->length == 0) return start;
    if (part->length == 1) return dv_str_find_char(s, dv_str_at(part, 0), start, stop);
    if (s->kind == part->kind && (s->kind == 1 || part->length >= LONG_PART))
        return find_bytes(s, part, start, stop);
    return find_short(s, part, start, stop);
}

static bool begins_alike(const dv_str *s, const dv_str *part, int64_t at) {
    enum { BEGINNING = 8 };
    for (int64_t i = 1; i < BEGINNING && i < part->length; i++)
        if (dv_str_at(s, at + i) != dv_str_at(part, i)) return false;
    return true;
}

/* (Comparing with a long part may take as long each time, if more than the beginning is alike.) */
bool dv_str_seek_last(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                      int64_t *hit) {
    enum { WINDOW = 1 << 16, AT_ONCE = 8, COMPARED = 48, CALL = 12 };
    *hit = -1;
    if (start > stop || !may_contain(s, part, start, stop)) return true;
    *hit = stop;
    if (part->length == 0) return true;
    const uint32_t first = dv_str_at(part, 0);
    int64_t i = stop - part->length, steps = 0;
    for (; i >= start; i--) {
        if (dv_str_at(s, i) == first) {
            if (dv_str_matches(s, part, i)) break;
            steps += begins_alike(s, part, i) ? part->length / COMPARED : CALL;
        }
        if (++steps < WINDOW) continue;
        if (!dv_work(vm, steps / AT_ONCE)) return false;
        steps = 0;
    }
    *hit = i >= start ? i : -1;
    return dv_work(vm, steps / AT_ONCE);
}

bool dv_str_seek_long(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                      int64_t *hit) {
    enum { WINDOW = 1 << 21 };
    for (;;) {
        const bool last = stop - start <= WINDOW + part->length;
        const int64_t end = last ? stop : start + WINDOW + part->length;
        *hit = dv_str_find(s, part, start, end);
        const int64_t passed = *hit >= 0 ? *hit - start : end - start;
        /* (A part is looked through first.) */
        const int64_t units = part->length == 1 && s->kind == 1 ? passed / 256 : passed * 7 / 32;
        if (!dv_work(vm, units + part->length / 4)) return false;
        if (*hit >= 0 || last) return true;
        start = end - part->length + 1;
    }
}

/* How often one code point is in s[start:stop]. */
static int64_t count_char(const dv_str *s, uint32_t c, int64_t start, int64_t stop) {
    int64_t count = 0;
    if (s->kind == 1) {
        if (c > 0xFF) return 0;
        for (int64_t i = start; i < stop; i++) count += (uint8_t)s->data[i] == c;
        return count;
    }
    while ((start = dv_str_find_char(s, c, start, stop)) >= 0) count++, start++;
    return count;
}

bool dv_str_count(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                  int64_t *count) {
    *count = 0;
    if (part->length <= 1) {
        if (start > stop) return true;
        *count = part->length ? count_char(s, dv_str_at(part, 0), start, stop) : stop - start + 1;
        return dv_work(vm, (stop - start) / 16);
    }
    for (int64_t hit; dv_str_seek(vm, s, part, start, stop, &hit); start = hit + part->length) {
        if (hit < 0) return true;
        ++*count;
    }
    return false;
}
