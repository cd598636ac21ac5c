/* str.h: immutable strings with code-point semantics.
 *
 * Invariants
 *  1. `kind` is the number of bytes of each code point, the smallest of 1, 2, 4 that all fit in
 *     (1: up to U+00FF), so equal strings have equal kind and bytes.
 *  2. `hash` is -1 until computed; SipHash-1-3 with the VM's key over the data as CPython 3.11
 * does.
 *  3. Interned strings are unique by content in their VM, so identity decides; names in code are
 * interned.
 *  4. `capacity` (bytes of data that fit) may exceed the need, so that `s += x` with the only
 * reference grows in place.  It is never below DV_STR_WORD: a short text is read as one word, of
 * which only the bytes of the text count. */
#ifndef DV_TYPES_STR_H
#define DV_TYPES_STR_H

#include <stdarg.h>
#include <string.h>
#include "core/vm.h"

#define DV_STR_CHARS      256 /* strings of one code point that are kept: vm->interned[0 .. 255] */
#define DV_STR_WORD       8   /* bytes of data that every string has room for */
#define DV_STR_LENGTH_MAX ((int64_t)1 << 46) /* code points; more is MemoryError at once */

typedef struct dv_str {
    dv_object header;
    int64_t hash;
    int64_t length; /* code points */
    uint32_t kind;
    uint8_t interned;
    uint8_t misses;  /* of hints */
    uint16_t hint;   /* number of the entry where a dict had it last (key.h); means nothing else */
    size_t capacity; /* bytes behind the struct */
    char data[];
} dv_str;

/* Values of `interned`; the second is for those that dv_name_is_mentioned. */
enum { DV_STR_NOT_INTERNED, DV_STR_INTERNED, DV_STR_MENTIONED };

extern const dv_type dv_str_type;

static inline bool dv_is_str(dv_value v) { return dv_has_layout(v, DV_T_STR); }
static inline dv_str *dv_as_str(dv_value v) { return (dv_str *)dv_as_object(v); }
/* False: their texts differ, as is seen without reading them. */
static inline bool dv_str_may_equal(const dv_str *a, const dv_str *b) {
    if (a->length != b->length || a->kind != b->kind || (a->interned && b->interned)) return false;
    return a->hash == b->hash || a->hash == -1 || b->hash == -1;
}
static inline uint32_t dv_str_at(const dv_str *s, int64_t i) {
    return s->kind == 1   ? (uint8_t)s->data[i]
           : s->kind == 2 ? ((const uint16_t *)(const void *)s->data)[i]
                          : ((const uint32_t *)(const void *)s->data)[i];
}

/* A word of a text, and what is left of one that stands at its end: of a text of up to
 * DV_STR_WORD bytes, none at all included, its bytes alone.  (Two shifts: one by 64 is not
 * defined.) */
static inline uint64_t dv_text_word(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}
static inline uint64_t dv_text_part(uint64_t word, size_t size) {
    const size_t half = 4 * (DV_STR_WORD - size);
    return word << half << half;
}
/* Room for a text of so many bytes (invariant 4). */
static inline size_t dv_text_room(size_t size) { return size < DV_STR_WORD ? DV_STR_WORD : size; }

/* Has a word a byte that is 0?  Its highest bits say so: the lowest one of those set is that of the
 * first such byte. */
static inline uint64_t dv_word_zeros(uint64_t word) {
    return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}
/* Is a byte in the text of a str of up to four words?  Without a call or a loop: those words are
 * looked at that begin and end the text, which may overlap. */
static inline bool dv_text_has(const char *text, size_t size, char byte) {
    const uint64_t everywhere = (uint8_t)byte * UINT64_C(0x0101010101010101);
    uint64_t zeros = dv_word_zeros(dv_text_word(text) ^ everywhere);
    if (size <= DV_STR_WORD) return dv_text_part(zeros, size) != 0;
    zeros |= dv_word_zeros(dv_text_word(text + size - 8) ^ everywhere);
    if (size > 16)
        zeros |= dv_word_zeros(dv_text_word(text + 8) ^ everywhere) |
                 dv_word_zeros(dv_text_word(text + size - 16) ^ everywhere);
    return zeros != 0;
}
/* Are the texts of two strs, both of so many bytes, the same?  In the same way. */
static inline bool dv_texts_same(const char *a, const char *b, size_t size) {
    uint64_t differ = dv_text_word(a) ^ dv_text_word(b);
    if (size <= DV_STR_WORD) return dv_text_part(differ, size) == 0;
    differ |= dv_text_word(a + size - 8) ^ dv_text_word(b + size - 8);
    if (size > 16)
        differ |= (dv_text_word(a + 8) ^ dv_text_word(b + 8)) |
                  (dv_text_word(a + size - 16) ^ dv_text_word(b + size - 16));
    return differ == 0;
}

static inline void dv_str_put(dv_str *s, int64_t i, uint32_t c) {
    if (s->kind == 1)
        s->data[i] = (char)c;
    else if (s->kind == 2)
        ((uint16_t *)(void *)s->data)[i] = (uint16_t)c;
    else
        ((uint32_t *)(void *)s->data)[i] = c;
}
static inline uint32_t dv_str_kind_of(uint32_t code_point) {
    return code_point <= 0xFF ? 1 : code_point <= 0xFFFF ? 2 : 4;
}

/* A string whose data the caller fills in before anybody else sees it (invariant 1); NULL: raised.
 */
dv_str *dv_str_alloc(dv_vm *vm, int64_t length, uint32_t kind);
dv_value dv_str_adopt(dv_vm *vm, dv_class *class_, dv_value exact); /* dv_type.adopt */
/* Copies code points from one kind to another that can hold them. */
void dv_str_copy(char *to, uint32_t to_kind, const char *from, uint32_t from_kind, int64_t length);
/* A string of these code points, in the smallest kind. */
dv_value dv_str_points(dv_vm *vm, const char *data, uint32_t kind, int64_t length);
dv_value dv_str_empty(dv_vm *vm);
dv_value dv_str_new(dv_vm *vm, const char *utf8,
                    size_t size);               /* valid UTF-8 (surrogates allowed) */
dv_value dv_str_z(dv_vm *vm, const char *utf8); /* zero-terminated */
dv_value dv_str_intern(dv_vm *vm, const char *utf8, size_t size);
dv_value dv_str_intern_name(dv_vm *vm, const char *utf8, size_t size); /* mentioned from now on */
dv_value dv_str_intern_value(dv_vm *vm, dv_value s);  /* new reference to the interned equal */
dv_value dv_str_char(dv_vm *vm, uint32_t code_point); /* cached for U+0000..U+00FF */
dv_value dv_str_printf(dv_vm *vm, const char *format, ...); /* with dv_raise's additions */
dv_value dv_str_vprintf(dv_vm *vm, const char *format, va_list arguments);
dv_value dv_str_concat(dv_vm *vm, dv_value a, dv_value b);
/* a += b where a is owned by the caller: consumes a, grows in place if it is the only reference. */
dv_value dv_str_append(dv_vm *vm, dv_value a, dv_value b);
/* a += b where a is borrowed and the result takes the place of what covers it (a local): if that is
 * a's only reference, a grows in place where it has room, and gets room for more where it has not.
 */
dv_value dv_str_extend(dv_vm *vm, dv_value a, dv_value b);
dv_value dv_str_slice(dv_vm *vm, dv_value s, int64_t start,
                      int64_t stop); /* clipped by the caller */
dv_value dv_str_join(dv_vm *vm, dv_value separator, const dv_value *items,
                     int64_t count); /* items all str */
dv_value dv_str_repeat(dv_vm *vm, dv_value s, int64_t count);
dv_value dv_str_repr(dv_vm *vm, dv_value s);
/* s with what is not ASCII escaped, as ascii() does; s itself if all is. */
dv_value dv_str_ascii(dv_vm *vm, dv_value s);
bool dv_str_equal(dv_value a, dv_value b);
bool dv_str_equal_counted(dv_vm *vm, dv_value a, dv_value b); /* the same; a long walk is counted */
int dv_str_order(dv_value a, dv_value b);                     /* <0, 0, >0 by code points */
/* Is that so little work that nobody need count it? */
static inline bool dv_str_order_is_short(dv_value a, dv_value b) {
    return dv_as_str(a)->length < 6400 || dv_as_str(b)->length < 6400;
}
int64_t dv_str_hash(dv_vm *vm, dv_value s);
/* UTF-8 text; the block is on the VM's heap (free with dv_heap_free(size + 1)), zero-terminated;
 * NULL: raised. */
char *dv_str_utf8(dv_vm *vm, dv_value s, size_t *size);
bool dv_str_is(dv_value s, const char *ascii); /* equal to this ASCII text? */

/* Growing text, for building strings in C.  Appending to a failed builder does nothing; finish
 * reports the failure (EMPTY, raised). */
typedef struct dv_builder {
    dv_vm *vm;
    char *data; /* kind bytes per code point */
    int64_t length, capacity;
    int64_t window; /* so long it may become before its work is counted; at most the capacity */
    uint32_t kind;
    bool failed;
} dv_builder;

void dv_builder_init(dv_builder *b, dv_vm *vm);
void dv_builder_text(dv_builder *b, const char *utf8, size_t size);
void dv_builder_z(dv_builder *b, const char *utf8);
void dv_builder_char(dv_builder *b, uint32_t code_point);
void dv_builder_str(dv_builder *b, dv_value s);
void dv_builder_slice(dv_builder *b, dv_value s, int64_t start, int64_t stop);
void dv_builder_repeat(dv_builder *b, uint32_t code_point, int64_t count);
void dv_builder_quoted(dv_builder *b, dv_value s); /* repr of a str */
bool dv_builder_repr(dv_builder *b,
                     dv_value v) DV_MUST_CHECK; /* false: it raised, or has failed before */
bool dv_builder_to_str(dv_builder *b, dv_value v) DV_MUST_CHECK;
dv_value dv_builder_finish(dv_builder *b);
void dv_builder_discard(dv_builder *b);

#endif
