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
 * reference grows in place. */
#ifndef DV_TYPES_STR_H
#define DV_TYPES_STR_H

#include "core/vm.h"

typedef struct dv_str {
    dv_object header;
    int64_t hash;
    int64_t length; /* code points */
    uint32_t kind;
    uint32_t interned;
    size_t capacity; /* bytes behind the struct */
    char data[];
} dv_str;

extern const dv_type dv_str_type;

static inline bool dv_is_str(dv_value v) { return dv_is_shape(v, DV_T_STR); }
static inline dv_str *dv_as_str(dv_value v) { return (dv_str *)dv_as_object(v); }
static inline uint32_t dv_str_at(const dv_str *s, int64_t i) {
    return s->kind == 1   ? (uint8_t)s->data[i]
           : s->kind == 2 ? ((const uint16_t *)(const void *)s->data)[i]
                          : ((const uint32_t *)(const void *)s->data)[i];
}

dv_value dv_str_new(dv_vm *vm, const char *utf8,
                    size_t size);               /* valid UTF-8 (surrogates allowed) */
dv_value dv_str_z(dv_vm *vm, const char *utf8); /* zero-terminated */
dv_value dv_str_intern(dv_vm *vm, const char *utf8, size_t size);
dv_value dv_str_intern_value(dv_vm *vm, dv_value s);  /* new reference to the interned equal */
dv_value dv_str_char(dv_vm *vm, uint32_t code_point); /* cached for U+0000..U+00FF */
dv_value dv_str_printf(dv_vm *vm, const char *format, ...); /* with dv_raise's additions */
dv_value dv_str_concat(dv_vm *vm, dv_value a, dv_value b);
/* a += b where a is owned by the caller: consumes a, grows in place if it is the only reference. */
dv_value dv_str_append(dv_vm *vm, dv_value a, dv_value b);
dv_value dv_str_slice(dv_vm *vm, dv_value s, int64_t start,
                      int64_t stop); /* clipped by the caller */
dv_value dv_str_join(dv_vm *vm, dv_value separator, const dv_value *items,
                     int64_t count); /* items all str */
bool dv_str_equal(dv_value a, dv_value b);
int dv_str_order(dv_value a, dv_value b); /* <0, 0, >0 by code points */
int64_t dv_str_hash(dv_vm *vm, dv_value s);
/* UTF-8 text; the block is on the VM's heap (free with dv_heap_free(size + 1)), zero-terminated;
 * NULL: raised. */
char *dv_str_utf8(dv_vm *vm, dv_value s, size_t *size);
bool dv_str_is(dv_value s, const char *ascii); /* equal to this ASCII text? */
void dv_str_release_interned(dv_vm *vm);       /* at VM end: frees the table */

/* Growing text, for building strings in C.  Appending to a failed builder does nothing; finish
 * reports the failure (EMPTY, raised). */
typedef struct dv_builder {
    dv_vm *vm;
    char *data; /* kind bytes per code point */
    int64_t length, capacity;
    uint32_t kind;
    bool failed;
} dv_builder;

void dv_builder_init(dv_builder *b, dv_vm *vm);
void dv_builder_text(dv_builder *b, const char *utf8, size_t size);
void dv_builder_z(dv_builder *b, const char *utf8);
void dv_builder_char(dv_builder *b, uint32_t code_point);
void dv_builder_str(dv_builder *b, dv_value s);
void dv_builder_repeat(dv_builder *b, uint32_t code_point, int64_t count);
bool dv_builder_repr(dv_builder *b, dv_value v) DV_MUST_CHECK; /* false: repr raised */
bool dv_builder_to_str(dv_builder *b, dv_value v) DV_MUST_CHECK;
dv_value dv_builder_finish(dv_builder *b);
void dv_builder_discard(dv_builder *b);

#endif
