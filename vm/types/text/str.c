/* str.c: making, interning, comparing and joining strings.
 *
 * Invariants (more in str.h)
 *  1. The block of vm->interned begins with DV_STR_CHARS counted references to the strings of one
 * code point up to U+00FF (NULL until needed); they are the interned strings of their content.
 *     Behind them lies the hash table: open addressing, linear probing, borrowed references.
 *  2. Deleting from the table shifts the entries behind back, so that no tombstones are needed.
 *  3. A string's block has sizeof(dv_str) + capacity bytes. */
#include "types/text/str.h"

#include <stddef.h>
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/text/str_text.h"
#include "types/class/subclass.h"

#define FIRST_TABLE  512  /* entries of the table at first */
#define LONG_TEXT    4096 /* bytes, from which on what is done with all of them is counted */
#define APPEND_SPARE 16   /* bytes that a string at least gets in reserve when it is appended to */

/* ---- Making ------------------------------------------------------------------------------------
 */

_Static_assert(sizeof(dv_str) % DV_HEAP_GRAIN + DV_STR_WORD == DV_HEAP_GRAIN, "str.h, invariant 4");
_Static_assert(offsetof(dv_str, hash) == offsetof(dv_hashed, hash), "what the core reads");

static inline dv_str *alloc(dv_vm *vm, int64_t length, uint32_t kind) {
    if (DV_UNLIKELY(length > DV_STR_LENGTH_MAX)) {
        dv_raise_memory(vm);
        return NULL;
    }
    size_t size = sizeof(dv_str) + (size_t)length * kind;
    if (size <= DV_HEAP_SMALL) /* room for a word then, too */
        size = (size + DV_HEAP_GRAIN - 1) & ~(size_t)(DV_HEAP_GRAIN - 1);
    else
        size = sizeof(dv_str) + dv_text_room(size - sizeof(dv_str));
    dv_str *s = dv_object_new(vm, size, DV_T_STR);
    if (DV_UNLIKELY(!s)) return NULL;
    s->hash = -1;
    s->length = length;
    s->kind = kind;
    s->interned = s->misses = 0;
    s->hint = 0;
    s->capacity = size - sizeof(dv_str);
    return s;
}

dv_str *dv_str_alloc(dv_vm *vm, int64_t length, uint32_t kind) { return alloc(vm, length, kind); }

dv_value dv_str_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    const dv_str *from = dv_as_str(exact);
    const size_t size = (size_t)from->length * from->kind, room = dv_text_room(size);
    dv_str *s = dv_subclass_alloc(vm, class_, sizeof(dv_str) + room);
    if (!s) return DV_EMPTY;
    s->hash = from->hash;
    s->length = from->length;
    s->kind = from->kind;
    s->interned = s->misses = 0;
    s->hint = 0;
    s->capacity = room;
    memcpy(s->data, from->data, size);
    return dv_object_value(s);
}

void dv_str_copy(char *to, uint32_t to_kind, const char *from, uint32_t from_kind, int64_t length) {
    const uint16_t *from2 = (const uint16_t *)(const void *)from;
    const uint32_t *from4 = (const uint32_t *)(const void *)from;
    uint16_t *to2 = (uint16_t *)(void *)to;
    uint32_t *to4 = (uint32_t *)(void *)to;
    if (to_kind == from_kind) {
        memcpy(to, from, (size_t)length * to_kind);
    } else if (to_kind == 1) {
        if (from_kind == 2)
            for (int64_t i = 0; i < length; i++) to[i] = (char)from2[i];
        else
            for (int64_t i = 0; i < length; i++) to[i] = (char)from4[i];
    } else if (to_kind == 2) {
        if (from_kind == 1)
            for (int64_t i = 0; i < length; i++) to2[i] = (uint8_t)from[i];
        else
            for (int64_t i = 0; i < length; i++) to2[i] = (uint16_t)from4[i];
    } else if (from_kind == 1) {
        for (int64_t i = 0; i < length; i++) to4[i] = (uint8_t)from[i];
    } else {
        for (int64_t i = 0; i < length; i++) to4[i] = from2[i];
    }
}

/* The smallest kind that holds all these code points. */
static uint32_t kind_needed(const char *data, uint32_t kind, int64_t length) {
    uint32_t all = 0;
    if (kind == 2) {
        const uint16_t *data2 = (const uint16_t *)(const void *)data;
        for (int64_t i = 0; i < length && all <= 0xFF; i++) all |= data2[i];
    } else if (kind == 4) {
        const uint32_t *data4 = (const uint32_t *)(const void *)data;
        for (int64_t i = 0; i < length && all <= 0xFFFF; i++) all |= data4[i];
    }
    return dv_str_kind_of(all);
}

dv_value dv_str_empty(dv_vm *vm) {
    if (DV_LIKELY(dv_is_object(vm->known.empty_str))) return dv_retain(vm->known.empty_str);
    dv_str *s = dv_str_alloc(vm, 0, 1);
    return s ? dv_object_value(s) : DV_EMPTY;
}

dv_value dv_str_points(dv_vm *vm, const char *data, uint32_t kind, int64_t length) {
    if (length == 0) return dv_str_empty(vm);
    uint32_t needed = kind == 1 ? 1 : kind_needed(data, kind, length);
    dv_str *s;
    if (length == 1 && needed == 1) {
        uint32_t c = kind == 1   ? (uint8_t)data[0]
                     : kind == 2 ? *(const uint16_t *)(const void *)data
                                 : *(const uint32_t *)(const void *)data;
        return dv_str_char(vm, c);
    }
    s = dv_str_alloc(vm, length, needed);
    if (!s) return DV_EMPTY;
    dv_str_copy(s->data, needed, data, kind, length);
    return dv_object_value(s);
}

bool dv_utf8_is_ascii(const char *text, size_t size) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        if (word & 0x8080808080808080u) return false;
    }
    for (; i < size; i++)
        if (text[i] & 0x80) return false;
    return true;
}

uint32_t dv_utf8_next(const char *text, size_t size, size_t *at) {
    const uint8_t *p = (const uint8_t *)text + *at;
    size_t left = size - *at;
    uint32_t c = p[0];
    int more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    if ((size_t)more >= left) more = 0;
    if (more > 0) c &= 0x3Fu >> more;
    for (int i = 1; i <= more; i++) c = c << 6 | (p[i] & 0x3Fu);
    *at += (size_t)more + 1;
    return c;
}

/* Length in code points, and the bits of all of them. */
static int64_t utf8_measure(const char *utf8, size_t size, uint32_t *largest) {
    int64_t length = 0;
    *largest = 0;
    for (size_t at = 0; at < size; length++) {
        uint32_t c = dv_utf8_next(utf8, size, &at);
        if (c > *largest) *largest = c;
    }
    return length;
}

dv_value dv_str_new(dv_vm *vm, const char *utf8, size_t size) {
    if (dv_utf8_is_ascii(utf8, size)) return dv_str_points(vm, utf8, 1, (int64_t)size);
    uint32_t largest;
    int64_t length = utf8_measure(utf8, size, &largest);
    if (length == 1) return dv_str_char(vm, largest);
    dv_str *s = dv_str_alloc(vm, length, dv_str_kind_of(largest));
    if (!s) return DV_EMPTY;
    size_t at = 0;
    for (int64_t i = 0; i < length; i++) dv_str_put(s, i, dv_utf8_next(utf8, size, &at));
    return dv_object_value(s);
}

dv_value dv_str_z(dv_vm *vm, const char *utf8) { return dv_str_new(vm, utf8, strlen(utf8)); }

/* ---- Hash --------------------------------------------------------------------------------------
 */

int64_t dv_str_hash(dv_vm *vm, dv_value v) {
    dv_str *s = dv_as_str(v);
    if (s->hash != -1) return s->hash;
    const size_t size = (size_t)s->length * s->kind;
    if (size > LONG_TEXT) dv_work_owe(vm, (int64_t)(size / 32));
    return s->hash = dv_hash_text(&vm->hash_key, s->data, size);
}

/* ---- Interning ---------------------------------------------------------------------------------
 */

static dv_object **intern_table(dv_vm *vm) { return vm->interned + DV_STR_CHARS; }

static size_t intern_bytes(uint32_t capacity) {
    return (DV_STR_CHARS + (size_t)capacity) * sizeof(dv_object *);
}

/* Makes the table twice as large (or makes it). */
static bool intern_grow(dv_vm *vm) {
    uint32_t capacity = vm->interned ? vm->interned_capacity * 2 : FIRST_TABLE;
    dv_object **block = dv_heap_alloc(&vm->heap, intern_bytes(capacity));
    if (!block) {
        dv_raise_memory(vm);
        return false;
    }
    memset(block, 0, intern_bytes(capacity));
    if (vm->interned) {
        memcpy(block, vm->interned, intern_bytes(0));
        for (uint32_t i = 0; i < vm->interned_capacity; i++) {
            dv_object *s = intern_table(vm)[i];
            if (!s) continue;
            uint32_t at = (uint32_t)((dv_str *)s)->hash & (capacity - 1);
            while (block[DV_STR_CHARS + at]) at = (at + 1) & (capacity - 1);
            block[DV_STR_CHARS + at] = s;
        }
        dv_heap_free(&vm->heap, vm->interned, intern_bytes(vm->interned_capacity));
    }
    vm->interned = block;
    vm->interned_capacity = capacity;
    return true;
}

/* The table's slot for a string with this content: its own or a free one. */
static uint32_t intern_slot(dv_vm *vm, int64_t hash, const char *data, int64_t length,
                            uint32_t kind) {
    uint32_t mask = vm->interned_capacity - 1, at = (uint32_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        const dv_str *s = (const dv_str *)intern_table(vm)[at];
        if (!s) return at;
        if (s->hash == hash && s->length == length && s->kind == kind &&
            memcmp(s->data, data, (size_t)length * kind) == 0)
            return at;
    }
}

static bool intern_room(dv_vm *vm) {
    return (vm->interned && vm->interned_count < vm->interned_capacity / 3 * 2) || intern_grow(vm);
}

dv_value dv_str_char(dv_vm *vm, uint32_t c) {
    if (DV_LIKELY(c < DV_STR_CHARS && vm->interned && vm->interned[c]))
        return dv_retain(dv_object_value(vm->interned[c]));
    dv_str *s = dv_str_alloc(vm, 1, dv_str_kind_of(c));
    if (!s) return DV_EMPTY;
    dv_str_put(s, 0, c);
    if (c < DV_STR_CHARS) {
        if (!vm->interned && !intern_grow(vm)) {
            dv_release(vm, dv_object_value(s));
            return DV_EMPTY;
        }
        s->interned = DV_STR_INTERNED;
        s->header.references++;
        vm->interned[c] = &s->header;
    }
    return dv_object_value(s);
}

dv_value dv_str_intern_value(dv_vm *vm, dv_value v) {
    dv_str *s = dv_as_str(v);
    if (s->interned) return dv_retain(v);
    if (s->length == 1 && s->kind == 1) return dv_str_char(vm, (uint8_t)s->data[0]);
    if (!intern_room(vm)) return DV_EMPTY;
    uint32_t at = intern_slot(vm, dv_str_hash(vm, v), s->data, s->length, s->kind);
    dv_object **slot = &intern_table(vm)[at];
    if (*slot) return dv_retain(dv_object_value(*slot));
    dv_value name = dv_plain(vm, v);
    if (dv_is_empty(name)) return DV_EMPTY;
    s = dv_as_str(name);
    *slot = &s->header;
    s->interned = DV_STR_INTERNED;
    vm->interned_count++;
    return name;
}

dv_value dv_str_intern(dv_vm *vm, const char *utf8, size_t size) {
    int64_t hash = -1;
    if (size > 1 && vm->interned && dv_utf8_is_ascii(utf8, size)) {
        hash = dv_hash_text(&vm->hash_key, utf8, size);
        uint32_t at = intern_slot(vm, hash, utf8, (int64_t)size, 1);
        if (intern_table(vm)[at]) return dv_retain(dv_object_value(intern_table(vm)[at]));
    }
    dv_value s = dv_str_new(vm, utf8, size);
    if (dv_is_empty(s)) return DV_EMPTY;
    if (hash != -1) dv_as_str(s)->hash = hash; /* (once is enough) */
    dv_value interned = dv_str_intern_value(vm, s);
    dv_release(vm, s);
    return interned;
}

dv_value dv_str_intern_name(dv_vm *vm, const char *utf8, size_t size) {
    dv_value name = dv_str_intern(vm, utf8, size);
    if (!dv_is_empty(name)) dv_as_str(name)->interned = DV_STR_MENTIONED;
    return name;
}

bool dv_name_is_mentioned(dv_value name) { return dv_as_str(name)->interned == DV_STR_MENTIONED; }

/* Takes a dying string out of the table and closes the gap. */
static void intern_remove(dv_vm *vm, const dv_str *s) {
    dv_object **table = intern_table(vm);
    uint32_t mask = vm->interned_capacity - 1, gap = (uint32_t)s->hash & mask;
    for (; table[gap] != &s->header; gap = (gap + 1) & mask)
        if (!table[gap]) return;
    for (uint32_t at = (gap + 1) & mask; table[at]; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)((const dv_str *)table[at])->hash & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        table[gap] = table[at];
        gap = at;
    }
    table[gap] = NULL;
    vm->interned_count--;
}

void dv_str_release(dv_vm *vm, dv_object *object) {
    dv_str *s = (dv_str *)object;
    if (s->interned) {
        intern_remove(vm, s);
        vm->names_changed++; /* its address may soon be that of another name */
    }
    dv_object_free(vm, object, sizeof(dv_str) + s->capacity);
}

/* ---- Comparing ---------------------------------------------------------------------------------
 */

bool dv_str_equal(dv_value va, dv_value vb) {
    if (dv_same(va, vb)) return true;
    const dv_str *a = dv_as_str(va), *b = dv_as_str(vb);
    return dv_str_may_equal(a, b) && memcmp(a->data, b->data, (size_t)a->length * a->kind) == 0;
}

bool dv_str_equal_counted(dv_vm *vm, dv_value va, dv_value vb) {
    if (dv_same(va, vb)) return true;
    const dv_str *a = dv_as_str(va), *b = dv_as_str(vb);
    if (!dv_str_may_equal(a, b)) return false;
    const size_t size = (size_t)a->length * a->kind;
    if (DV_UNLIKELY(size > LONG_TEXT)) dv_work_owe(vm, (int64_t)(size / 128));
    return memcmp(a->data, b->data, size) == 0;
}

int dv_str_order(dv_value va, dv_value vb) {
    const dv_str *a = dv_as_str(va), *b = dv_as_str(vb);
    int64_t shorter = a->length < b->length ? a->length : b->length;
    if (a->kind == 1 && b->kind == 1) {
        int order = memcmp(a->data, b->data, (size_t)shorter);
        if (order) return order;
    } else {
        for (int64_t i = 0; i < shorter; i++) {
            uint32_t ca = dv_str_at(a, i), cb = dv_str_at(b, i);
            if (ca != cb) return ca < cb ? -1 : 1;
        }
    }
    return (a->length > b->length) - (a->length < b->length);
}

bool dv_str_is(dv_value v, const char *ascii) {
    const dv_str *s = dv_as_str(v);
    if (s->kind != 1) return false;
    for (int64_t i = 0; i < s->length; i++) /* most differ in the first place, or are short */
        if (ascii[i] == '\0' || s->data[i] != ascii[i]) return false;
    return ascii[s->length] == '\0';
}

/* ---- Joining -----------------------------------------------------------------------------------
 */

dv_value dv_str_concat(dv_vm *vm, dv_value va, dv_value vb) {
    const dv_str *a = dv_as_str(va), *b = dv_as_str(vb);
    if (b->length == 0) return dv_plain(vm, va);
    if (a->length == 0) return dv_plain(vm, vb);
    uint32_t kind = a->kind > b->kind ? a->kind : b->kind;
    dv_str *s = dv_str_alloc(vm, a->length + b->length, kind);
    if (!s) return DV_EMPTY;
    dv_str_copy(s->data, kind, a->data, a->kind, a->length);
    dv_str_copy(s->data + a->length * kind, kind, b->data, b->kind, b->length);
    return dv_object_value(s);
}

/* Size of a block for `needed` bytes and more, such that appending is linear on the whole. */
static size_t size_to_grow(size_t needed) {
    size_t size = sizeof(dv_str) + needed + needed / 4 + APPEND_SPARE;
    if (needed < 65536) size += needed / 2;
    return (size + DV_HEAP_GRAIN - 1) & ~(size_t)(DV_HEAP_GRAIN - 1);
}

/* May b be written behind a's text?  Somebody else's a must not change, and no interned one. */
static bool can_grow(const dv_str *a, const dv_str *b) {
    return a->header.references == 1 && a->header.shape == DV_T_STR && !a->interned &&
           a->kind >= b->kind && a->length > 0 && a != b &&
           a->length + b->length <= DV_STR_LENGTH_MAX;
}

/* Writes b behind a's text, for which there is room. */
static void put_behind(dv_str *a, const dv_str *b) {
    dv_str_copy(a->data + a->length * a->kind, a->kind, b->data, b->kind, b->length);
    a->length += b->length;
    a->hash = -1;
}

dv_value dv_str_append(dv_vm *vm, dv_value va, dv_value vb) {
    dv_str *a = dv_as_str(va);
    const dv_str *b = dv_as_str(vb);
    if (!can_grow(a, b)) {
        dv_value joined = dv_str_concat(vm, va, vb);
        dv_release(vm, va);
        return joined;
    }
    size_t needed = (size_t)(a->length + b->length) * a->kind;
    if (needed > a->capacity) {
        size_t size = size_to_grow(needed);
        dv_str *grown = dv_heap_resize(&vm->heap, a, sizeof(dv_str) + a->capacity, size);
        if (!grown) {
            dv_release(vm, va);
            return dv_raise_memory(vm);
        }
        grown->capacity = size - sizeof(dv_str);
        a = grown;
    }
    put_behind(a, b);
    return dv_object_value(a);
}

dv_value dv_str_extend(dv_vm *vm, dv_value va, dv_value vb) {
    dv_str *a = dv_as_str(va);
    const dv_str *b = dv_as_str(vb);
    if (!can_grow(a, b)) return dv_str_concat(vm, va, vb);
    size_t needed = (size_t)(a->length + b->length) * a->kind;
    if (needed <= a->capacity) {
        put_behind(a, b);
        return dv_retain(va);
    }
    /* A new block, as whoever covers a holds its address. */
    size_t size = size_to_grow(needed);
    dv_str *grown = dv_object_new(vm, size, DV_T_STR);
    if (!grown) return DV_EMPTY;
    grown->length = a->length;
    grown->kind = a->kind;
    grown->interned = grown->misses = 0;
    grown->hint = 0;
    grown->capacity = size - sizeof(dv_str);
    memcpy(grown->data, a->data, (size_t)a->length * a->kind);
    put_behind(grown, b);
    return dv_object_value(grown);
}

/* memcpy of at least two bytes, without a call where they are few, as in most words. */
static inline void copy_bytes(char *to, const char *from, size_t size) {
    if (size > 16) {
        memcpy(to, from, size);
        return;
    }
    /* Two blocks, which may overlap. */
    if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, from, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else {
        memcpy(to, from, 2);
        to[size - 1] = from[size - 1];
    }
}

dv_value dv_str_slice(dv_vm *vm, dv_value v, int64_t start, int64_t stop) {
    const dv_str *s = dv_as_str(v);
    if (start >= stop) return dv_str_empty(vm);
    if (start == 0 && stop == s->length) return dv_plain(vm, v);
    if (stop - start == 1) return dv_str_char(vm, dv_str_at(s, start));
    if (DV_LIKELY(s->kind == 1)) {
        dv_str *out = alloc(vm, stop - start, 1);
        if (!out) return DV_EMPTY;
        copy_bytes(out->data, s->data + start, (size_t)(stop - start));
        return dv_object_value(out);
    }
    return dv_str_points(vm, s->data + start * s->kind, s->kind, stop - start);
}

/* Any number of bytes, before `end`.  Few are a whole word, which every text has; what is behind
 * them is written again.  (By size, it would be a branch that nobody foretells.) */
static inline char *put_bytes(char *to, const char *end, const dv_str *from) {
    const size_t size = (size_t)from->length;
    if (DV_LIKELY(size <= DV_STR_WORD && end - to >= DV_STR_WORD))
        memcpy(to, from->data, DV_STR_WORD);
    else if (size > 1)
        copy_bytes(to, from->data, size);
    else if (size > 0)
        *to = from->data[0];
    return to + size;
}

static void join_bytes(dv_str *s, const dv_str *between, const dv_value *items, int64_t count) {
    const char *end = s->data + s->length;
    char *to = put_bytes(s->data, end, dv_as_str(items[0]));
    for (int64_t i = 1; i < count; i++) {
        if (between->length > 0) to = put_bytes(to, end, between);
        to = put_bytes(to, end, dv_as_str(items[i]));
    }
}

dv_value dv_str_join(dv_vm *vm, dv_value separator, const dv_value *items, int64_t count) {
    if (count == 0) return dv_str_empty(vm);
    if (count == 1) return dv_plain(vm, items[0]);
    const dv_str *between = dv_as_str(separator);
    uint32_t kind = between->kind;
    int64_t length;
    if (__builtin_mul_overflow(between->length, count - 1, &length)) return dv_raise_memory(vm);
    for (int64_t i = 0; i < count; i++) {
        const dv_str *item = dv_as_str(items[i]);
        if (item->kind > kind) kind = item->kind;
        if (__builtin_add_overflow(length, item->length, &length)) return dv_raise_memory(vm);
    }
    if (length == 0) return dv_str_empty(vm);
    dv_str *s = dv_str_alloc(vm, length, kind);
    if (!s) return DV_EMPTY;
    if (kind == 1) {
        join_bytes(s, between, items, count);
        return dv_object_value(s);
    }
    char *to = s->data;
    for (int64_t i = 0; i < count; i++) {
        const dv_str *item = dv_as_str(items[i]);
        if (i > 0) {
            dv_str_copy(to, kind, between->data, between->kind, between->length);
            to += between->length * kind;
        }
        dv_str_copy(to, kind, item->data, item->kind, item->length);
        to += item->length * kind;
    }
    return dv_object_value(s);
}

dv_value dv_str_repeat(dv_vm *vm, dv_value v, int64_t count) {
    const dv_str *s = dv_as_str(v);
    if (count <= 0 || s->length == 0) return dv_str_empty(vm);
    if (count == 1) return dv_plain(vm, v);
    int64_t length;
    if (__builtin_mul_overflow(s->length, count, &length))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "repeated string is too long");
    dv_str *out = dv_str_alloc(vm, length, s->kind);
    if (!out) return DV_EMPTY;
    size_t unit = (size_t)s->length * s->kind, size = unit * (size_t)count;
    if (unit == 1) {
        memset(out->data, s->data[0], size);
        return dv_object_value(out);
    }
    memcpy(out->data, s->data, unit);
    for (size_t done = unit; done < size;) { /* doubles what is there */
        size_t more = done < size - done ? done : size - done;
        memcpy(out->data + done, out->data, more);
        done += more;
    }
    return dv_object_value(out);
}

/* ---- UTF-8 -------------------------------------------------------------------------------------
 */

static size_t utf8_size(const dv_str *s) {
    size_t size = 0;
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        size += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return size;
}

size_t dv_utf8_put(uint32_t c, char *out) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(c | (0xF00u >> size & 0xFF));
    return size;
}

char *dv_str_utf8(dv_vm *vm, dv_value v, size_t *size) {
    const dv_str *s = dv_as_str(v);
    bool plain = s->kind == 1 && dv_utf8_is_ascii(s->data, (size_t)s->length);
    *size = plain ? (size_t)s->length : utf8_size(s);
    char *text = dv_heap_alloc(&vm->heap, *size + 1);
    if (!text) {
        dv_raise_memory(vm);
        return NULL;
    }
    if (plain) {
        memcpy(text, s->data, *size);
    } else {
        char *to = text;
        for (int64_t i = 0; i < s->length; i++) to += dv_utf8_put(dv_str_at(s, i), to);
    }
    text[*size] = 0;
    return text;
}
