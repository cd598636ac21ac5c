/* str_builder.c: growing text, printf, and the repr of strings.
 *
 * Invariants
 *  1. `data` lies in a block that begins with room for a dv_str, so that finishing needs no copy:
 *     the block becomes the string.  data is NULL while capacity is 0.
 *  2. `kind` is the smallest that holds all code points so far.
 *  3. After a failure nothing is appended any more, data is NULL, and vm->error is set. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/text/str_text.h"
#include "types/text/str_unicode.h"

#define FIRST_CAPACITY 56 /* with the header of dv_str 96 bytes */
#define WINDOW         16384
#define SPARE_LIMIT    64 /* unused bytes from which on a finished block is cut */

static size_t block_size(int64_t capacity, uint32_t kind) {
    return sizeof(dv_str) + (size_t)capacity * kind;
}

static void *block_of(const dv_builder *b) { return b->data ? b->data - sizeof(dv_str) : NULL; }

static void builder_free(dv_builder *b) {
    if (b->data) dv_heap_free(&b->vm->heap, block_of(b), block_size(b->capacity, b->kind));
    b->data = NULL;
    b->capacity = b->length = b->window = 0;
}

static bool builder_fail(dv_builder *b) {
    builder_free(b);
    b->failed = true;
    dv_raise_memory(b->vm);
    return false;
}

/* Copies what there is into a block for wider code points. */
static bool builder_widen(dv_builder *b, uint32_t kind, int64_t capacity) {
    char *block = dv_heap_alloc(&b->vm->heap, block_size(capacity, kind));
    if (!block) return builder_fail(b);
    int64_t length = b->length;
    char *data = block + sizeof(dv_str);
    if (length > 0) dv_str_copy(data, kind, b->data, b->kind, length);
    builder_free(b);
    b->data = data;
    b->kind = kind;
    b->length = length;
    b->capacity = capacity;
    return true;
}

static bool builder_grow(dv_builder *b, int64_t capacity) {
    void *old = block_of(b);
    size_t old_size = old ? block_size(b->capacity, b->kind) : 0;
    char *block = dv_heap_resize(&b->vm->heap, old, old_size, block_size(capacity, b->kind));
    if (!block) return builder_fail(b);
    b->data = block + sizeof(dv_str);
    b->capacity = capacity;
    return true;
}

/* Counts what was put together since the last time, in pieces.  (Who is stopped is still told why.)
 */
static bool builder_work(dv_builder *b) {
    if (b->length < WINDOW || !dv_is_empty(b->vm->error) || dv_is_stopped(b->vm)) return true;
    if (dv_work(b->vm, WINDOW / 3)) return true;
    builder_free(b);
    b->failed = true;
    return false;
}

static bool builder_room_slow(dv_builder *b, int64_t more, uint32_t kind) {
    if (b->failed || !builder_work(b)) return false;
    if (more > DV_STR_LENGTH_MAX - b->length) return builder_fail(b);
    int64_t needed = b->length + more, capacity = b->capacity;
    if (needed > capacity) {
        capacity += capacity / 2 + FIRST_CAPACITY;
        if (capacity < needed) capacity = needed;
    }
    if (kind > b->kind ? !builder_widen(b, kind, capacity)
                       : needed > b->capacity && !builder_grow(b, capacity))
        return false;
    b->window = b->capacity - needed > WINDOW ? needed + WINDOW : b->capacity;
    return true;
}

/* Room for `more` code points of at most this kind. */
static inline bool builder_room(dv_builder *b, int64_t more, uint32_t kind) {
    return DV_LIKELY(kind <= b->kind && more <= b->window - b->length && !b->failed) ||
           builder_room_slow(b, more, kind);
}

void dv_builder_init(dv_builder *b, dv_vm *vm) {
    *b = (dv_builder){.vm = vm, .data = NULL, .length = 0, .capacity = 0, .kind = 1};
}

static void builder_put(dv_builder *b, uint32_t c) {
    if (b->kind == 1)
        b->data[b->length] = (char)c;
    else if (b->kind == 2)
        ((uint16_t *)(void *)b->data)[b->length] = (uint16_t)c;
    else
        ((uint32_t *)(void *)b->data)[b->length] = c;
    b->length++;
}

void dv_builder_char(dv_builder *b, uint32_t c) {
    if (builder_room(b, 1, dv_str_kind_of(c))) builder_put(b, c);
}

/* Text of code points below U+0100, one byte each. */
static void builder_latin(dv_builder *b, const char *text, size_t size) {
    if (!builder_room(b, (int64_t)size, 1)) return;
    dv_str_copy(b->data + b->length * b->kind, b->kind, text, 1, (int64_t)size);
    b->length += (int64_t)size;
}

void dv_builder_text(dv_builder *b, const char *utf8, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t plain = at;
        while (plain < size && !(utf8[plain] & 0x80)) plain++;
        if (plain > at) {
            builder_latin(b, utf8 + at, plain - at);
            at = plain;
        } else {
            dv_builder_char(b, dv_utf8_next(utf8, size, &at));
        }
    }
}

void dv_builder_z(dv_builder *b, const char *utf8) { dv_builder_text(b, utf8, strlen(utf8)); }

void dv_builder_str(dv_builder *b, dv_value v) {
    const dv_str *s = dv_as_str(v);
    if (s->length == 0 || !builder_room(b, s->length, s->kind)) return;
    dv_str_copy(b->data + b->length * b->kind, b->kind, s->data, s->kind, s->length);
    b->length += s->length;
}

void dv_builder_slice(dv_builder *b, dv_value v, int64_t start, int64_t stop) {
    const dv_str *s = dv_as_str(v);
    if (start >= stop) return;
    if (s->kind <= b->kind) {
        if (!builder_room(b, stop - start, s->kind)) return;
        dv_str_copy(b->data + b->length * b->kind, b->kind, s->data + start * s->kind, s->kind,
                    stop - start);
        b->length += stop - start;
    } else { /* the slice need not hold the wide code points that s has */
        for (int64_t i = start; i < stop; i++) dv_builder_char(b, dv_str_at(s, i));
    }
}

void dv_builder_repeat(dv_builder *b, uint32_t c, int64_t count) {
    if (count <= 0 || !builder_room(b, count, dv_str_kind_of(c))) return;
    if (DV_UNLIKELY(count > WINDOW)) dv_work_owe(b->vm, count / 32);
    if (b->kind == 1) {
        memset(b->data + b->length, (int)c, (size_t)count);
        b->length += count;
    } else {
        for (int64_t i = 0; i < count; i++) builder_put(b, c);
    }
}

dv_value dv_builder_finish(dv_builder *b) {
    if (b->failed) { /* what was put together since may have failed as well, and been forgiven */
        if (dv_is_empty(b->vm->error)) dv_raise_memory(b->vm);
        return DV_EMPTY;
    }
    if (b->length <= 1) {
        dv_value result =
            b->length ? dv_str_points(b->vm, b->data, b->kind, 1) : dv_str_empty(b->vm);
        builder_free(b);
        return result;
    }
    const size_t text = (size_t)b->length * b->kind, needed = sizeof(dv_str) + dv_text_room(text);
    size_t size = block_size(b->capacity, b->kind);
    dv_str *s = block_of(b);
    if (size - needed > SPARE_LIMIT) {
        dv_str *cut = dv_heap_resize(&b->vm->heap, s, size, needed);
        if (cut) {
            s = cut;
            size = needed;
        }
    }
    s->header.references = 1;
    s->header.shape = DV_T_STR;
    s->hash = -1;
    s->length = b->length;
    s->kind = b->kind;
    s->interned = s->misses = 0;
    s->hint = 0;
    s->capacity = size - sizeof(dv_str);
    b->data = NULL;
    b->length = b->capacity = b->window = 0;
    return dv_object_value(s);
}

void dv_builder_discard(dv_builder *b) { builder_free(b); }

/* ---- repr and str of values --------------------------------------------------------------------
 */

static void builder_hex(dv_builder *b, char letter, uint32_t c, int digits) {
    dv_builder_char(b, '\\');
    dv_builder_char(b, (uint8_t)letter);
    while (digits-- > 0) dv_builder_char(b, (uint8_t) "0123456789abcdef"[c >> (4 * digits) & 15]);
}

/* \x.., \u.... or \U........ */
static void builder_escape(dv_builder *b, uint32_t c) {
    if (c <= 0xFF)
        builder_hex(b, 'x', c, 2);
    else if (c <= 0xFFFF)
        builder_hex(b, 'u', c, 4);
    else
        builder_hex(b, 'U', c, 8);
}

static void builder_quoted_char(dv_builder *b, uint32_t c, uint32_t quote) {
    if (c == quote || c == '\\') {
        dv_builder_char(b, '\\');
        dv_builder_char(b, c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
        dv_builder_char(b, '\\');
        dv_builder_char(b, c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    } else if (c < ' ' || c == 0x7F || (c > 0x7F && !dv_unicode_is(c, DV_UNICODE_PRINTABLE))) {
        builder_escape(b, c);
    } else {
        dv_builder_char(b, c);
    }
}

/* ASCII that stands for itself between these quotes. */
static bool is_plain(uint32_t c, uint32_t quote) {
    return c >= ' ' && c < 0x7F && c != quote && c != '\\';
}

void dv_builder_quoted(dv_builder *b, dv_value v) {
    const dv_str *s = dv_as_str(v);
    bool single = false, twice = false;
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        single |= c == '\'';
        twice |= c == '"';
    }
    uint32_t quote = single && !twice ? '"' : '\'';
    dv_builder_char(b, quote);
    for (int64_t i = 0; i < s->length && !b->failed;) {
        int64_t plain = i;
        if (s->kind == 1)
            while (plain < s->length && is_plain((uint8_t)s->data[plain], quote)) plain++;
        if (plain > i) {
            builder_latin(b, s->data + i, (size_t)(plain - i));
            i = plain;
        } else {
            builder_quoted_char(b, dv_str_at(s, i++), quote);
        }
    }
    dv_builder_char(b, quote);
}

dv_value dv_str_repr(dv_vm *vm, dv_value s) {
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_quoted(&b, s);
    return dv_builder_finish(&b);
}

dv_value dv_str_ascii(dv_vm *vm, dv_value v) {
    const dv_str *s = dv_as_str(v);
    int64_t plain = 0;
    while (plain < s->length && dv_str_at(s, plain) < 0x80) plain++;
    if (plain == s->length) return dv_retain(v); /* itself, of whatever subclass */
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_slice(&b, v, 0, plain);
    for (int64_t i = plain; i < s->length && !b.failed; i++) {
        uint32_t c = dv_str_at(s, i);
        if (c < 0x80)
            dv_builder_char(&b, c);
        else
            builder_escape(&b, c);
    }
    return dv_builder_finish(&b);
}

/* Appends a text that was made for it; false if making it raised. */
static bool builder_take(dv_builder *b, dv_value text) {
    if (dv_is_empty(text)) return false;
    dv_builder_str(b, text);
    dv_release(b->vm, text);
    return true;
}

bool dv_builder_repr(dv_builder *b, dv_value v) {
    if (b->failed) return false; /* nothing is called with an exception */
    if (!dv_is_shape(v, DV_T_STR)) return builder_take(b, dv_repr(b->vm, v));
    dv_builder_quoted(b, v);
    return true;
}

bool dv_builder_to_str(dv_builder *b, dv_value v) {
    if (b->failed) return false;
    if (!dv_is_shape(v, DV_T_STR)) return builder_take(b, dv_to_str(b->vm, v));
    dv_builder_str(b, v);
    return true;
}

/* ---- printf ------------------------------------------------------------------------------------
 */

/* Name of the type of v, as in CPython's messages. */
static void builder_class_name(dv_builder *b, const dv_class *class_) {
    const dv_global_cell *cell = NULL;
    if (class_->flags & DV_CLASS_FULL_NAME)
        cell = dv_namespace_find(&class_->attributes, b->vm->known.module);
    if (cell && dv_is_str(cell->value)) {
        dv_builder_str(b, cell->value);
        dv_builder_char(b, '.');
    }
    dv_builder_str(b, class_->name);
}

static void builder_type_name(dv_builder *b, dv_value v) {
    dv_type_id type = dv_type_of(b->vm, v);
    bool own_class = dv_is_instance(v) || type == DV_T_EXCEPTION || type == DV_T_CLASS;
    const dv_type *shown = b->vm->types[type];
    if (!own_class && shown)
        dv_builder_z(b, shown->face ? b->vm->types[shown->face(v)]->name : shown->name);
    else
        builder_class_name(b, dv_class_of(b->vm, v));
}

/* A conversion that the C library does.  `directive` is its text up to the letter. */
static void builder_c_conversion(dv_builder *b, const char *directive, size_t size,
                                 va_list *arguments) {
    char format[16], text[64];
    char letter = directive[size - 1];
    if (size >= sizeof format) size = sizeof format - 1;
    memcpy(format, directive, size);
    format[size] = 0;
    bool size_type = strchr(format, 'z'), longs = strchr(format, 'l');
    int written;
    if (letter == 'p')
        written = snprintf(text, sizeof text, format, va_arg(*arguments, void *));
    else if (size_type)
        written = snprintf(text, sizeof text, format, va_arg(*arguments, size_t));
    else if (longs) /* long and long long have one size here */
        written = snprintf(text, sizeof text, format, va_arg(*arguments, long));
    else
        written = snprintf(text, sizeof text, format, va_arg(*arguments, int));
    if (written > 0)
        builder_latin(b, text, (size_t)written < sizeof text ? (size_t)written : sizeof text - 1);
}

/* %s, %.*s and %.<number>s */
static void builder_c_string(dv_builder *b, const char *directive, va_list *arguments) {
    size_t limit = SIZE_MAX;
    const char *point = strchr(directive, '.');
    if (point && point < strchr(directive, 's')) {
        limit = 0;
        if (point[1] == '*')
            limit = (size_t)va_arg(*arguments, int);
        else
            for (const char *p = point + 1; *p >= '0' && *p <= '9'; p++)
                limit = limit * 10 + (size_t)(*p - '0');
    }
    const char *text = va_arg(*arguments, const char *);
    dv_builder_text(b, text, strnlen(text, limit));
}

/* %d alone, without the C library. */
static void builder_int(dv_builder *b, int number) {
    char digits[12];
    char *first = digits + sizeof digits;
    unsigned rest = number < 0 ? 0 - (unsigned)number : (unsigned)number;
    do *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) *--first = '-';
    builder_latin(b, first, (size_t)(digits + sizeof digits - first));
}

/* One directive, from its '%' to its letter; false: raised. */
static bool builder_directive(dv_builder *b, const char *directive, size_t size,
                              va_list *arguments) {
    switch (directive[size - 1]) {
    case '%': dv_builder_char(b, '%'); return true;
    case 'c': dv_builder_char(b, (uint32_t)va_arg(*arguments, int)); return true;
    case 's': builder_c_string(b, directive, arguments); return true;
    case 'V': return dv_builder_repr(b, va_arg(*arguments, dv_value));
    case 'S': return dv_builder_to_str(b, va_arg(*arguments, dv_value));
    case 'T': builder_type_name(b, va_arg(*arguments, dv_value)); return true;
    case 'd':
        if (size == 2) {
            builder_int(b, va_arg(*arguments, int));
            return true;
        } /* falls through */
    default: builder_c_conversion(b, directive, size, arguments); return true;
    }
}

dv_value dv_str_vprintf(dv_vm *vm, const char *format, va_list arguments) {
    dv_builder b;
    dv_builder_init(&b, vm);
    va_list list;
    va_copy(list, arguments);
    bool good = true;
    while (good && *format) {
        size_t plain = 0;
        while (format[plain] && format[plain] != '%') plain++;
        dv_builder_text(&b, format, plain);
        format += plain;
        if (b.failed || !*format) break; /* nothing is called with an exception */
        size_t size = 1;                 /* nothing but a letter, most often */
        if (!isalpha((unsigned char)format[1]) || strchr("lhz", format[1]))
            size += strspn(format + 1, "0123456789+-# .*lhz");
        if (!format[size]) break;
        good = builder_directive(&b, format, size + 1, &list);
        format += size + 1;
    }
    va_end(list);
    if (!good) {
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    return dv_builder_finish(&b);
}

dv_value dv_str_printf(dv_vm *vm, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dv_value result = dv_str_vprintf(vm, format, arguments);
    va_end(arguments);
    return result;
}
