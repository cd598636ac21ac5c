/* struct_format.c: the formats of the module struct (struct_parts.h). */
#include "core/upcall.h"
#include "modules/format/struct_parts.h"
#include "types/text/str.h"

typedef struct row {
    char format;
    uint8_t kind, native_size, standard_size; /* 0: not among the standard ones */
} row;

static const row rows[] = {
    {'x', 0, 1, 1},
    {'b', DV_STRUCT_SIGNED, 1, 1},
    {'B', DV_STRUCT_UNSIGNED, 1, 1},
    {'c', DV_STRUCT_CHAR, 1, 1},
    {'s', DV_STRUCT_STRING, 1, 1},
    {'p', DV_STRUCT_PASCAL, 1, 1},
    {'h', DV_STRUCT_SIGNED, 2, 2},
    {'H', DV_STRUCT_UNSIGNED, 2, 2},
    {'i', DV_STRUCT_SIGNED, 4, 4},
    {'I', DV_STRUCT_UNSIGNED, 4, 4},
    {'l', DV_STRUCT_SIGNED, 8, 4},
    {'L', DV_STRUCT_UNSIGNED, 8, 4},
    {'q', DV_STRUCT_SIGNED, 8, 8},
    {'Q', DV_STRUCT_UNSIGNED, 8, 8},
    {'n', DV_STRUCT_SIGNED, 8, 0},
    {'N', DV_STRUCT_UNSIGNED, 8, 0},
    {'P', DV_STRUCT_POINTER, 8, 0},
    {'?', DV_STRUCT_BOOL, 1, 1},
    {'e', DV_STRUCT_FLOAT, 2, 2},
    {'f', DV_STRUCT_FLOAT, 4, 4},
    {'d', DV_STRUCT_FLOAT, 8, 8},
};

/* A format while it is read. */
typedef struct reader {
    dv_vm *vm;
    const char *text;
    int64_t length, position;
    bool native, big;
    int64_t size; /* of what has been read */
} reader;

static bool fail(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_STRUCT_ERROR, "%s", message);
    return false;
}

static bool fail_long(dv_vm *vm) { return fail(vm, "total struct size too long"); }

static void read_order(reader *r) {
    char c = r->length ? r->text[0] : 0;
    r->native = true;
    r->big = c == '>' || c == '!';
    if (c == '@' || c == '=' || c == '<' || r->big) {
        r->native = c == '@';
        r->position = 1;
    }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool read_repeat(reader *r, int64_t *repeat) {
    *repeat = 1;
    if (!is_digit(r->text[r->position])) return true;
    int64_t n = 0;
    for (; r->position < r->length && is_digit(r->text[r->position]); r->position++)
        if (__builtin_mul_overflow(n, (int64_t)10, &n) ||
            __builtin_add_overflow(n, (int64_t)(r->text[r->position] - '0'), &n))
            return fail_long(r->vm);
    *repeat = n;
    return r->position < r->length || fail(r->vm, "repeat count given without format specifier");
}

static const row *find_row(const reader *r, char c) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == c && (r->native || rows[i].standard_size)) return &rows[i];
    return NULL;
}

/* Items begin at multiples of their size in native formats. */
static bool align(reader *r, int64_t size) {
    if (!r->native || r->size == 0) return true;
    return !__builtin_add_overflow(r->size, size - 1, &r->size) &&
           (r->size -= r->size % size, true);
}

/* Reads a code; false: raised, or, where *done, at the end. */
static bool read_code(reader *r, dv_struct_code *code, bool *done) {
    while (r->position < r->length && is_space(r->text[r->position])) r->position++;
    *done = r->position >= r->length;
    int64_t repeat, bytes;
    if (*done || !read_repeat(r, &repeat)) return false;
    const row *row = find_row(r, r->text[r->position++]);
    if (!row) return fail(r->vm, "bad char in struct format");
    int64_t size = r->native ? row->native_size : row->standard_size;
    if (!align(r, size)) return fail_long(r->vm);
    bool string = row->kind == DV_STRUCT_STRING || row->kind == DV_STRUCT_PASCAL;
    bool counts = row->format != 'x' && (string || repeat > 0);
    *code = (dv_struct_code){.format = row->format,
                             .kind = row->kind,
                             .big = r->big,
                             .native = r->native || (!r->big && size == row->native_size &&
                                                     row->kind != DV_STRUCT_FLOAT),
                             .size = string ? repeat : size,
                             .offset = r->size,
                             .repeat = !counts  ? 0
                                       : string ? 1
                                                : repeat};
    if (__builtin_mul_overflow(repeat, size, &bytes) ||
        __builtin_add_overflow(r->size, bytes, &r->size))
        return fail_long(r->vm);
    return true;
}

/* Counts items and codes, and writes the codes where `codes` is not NULL. */
static bool read_all(reader *r, dv_struct_code *codes, int64_t *code_count, int64_t *count) {
    dv_struct_code code;
    bool done;
    *code_count = *count = r->size = r->position = 0;
    read_order(r);
    while (read_code(r, &code, &done)) {
        if (code.repeat == 0) continue;
        if (codes) codes[*code_count] = code;
        ++*code_count;
        if (__builtin_add_overflow(*count, code.repeat, count)) return fail_long(r->vm);
    }
    return done;
}

dv_value dv_struct_parse(dv_vm *vm, dv_value format) {
    const dv_str *text = dv_as_str(format);
    reader r = {.vm = vm, .text = text->data, .length = text->length};
    int64_t codes, count;
    if (memchr(text->data, 0, (size_t)text->length)) {
        fail(vm, "embedded null character");
        return DV_EMPTY;
    }
    if (!read_all(&r, NULL, &codes, &count)) return DV_EMPTY;
    dv_struct *s = dv_object_new(vm, sizeof *s + (size_t)codes * sizeof *s->codes, DV_T_STRUCT);
    if (!s) return DV_EMPTY;
    s->format = dv_retain(format);
    s->code_count = codes;
    if (!read_all(&r, s->codes, &codes, &s->count)) {
        dv_release_object(vm, &s->header);
        return DV_EMPTY;
    }
    s->size = r.size;
    return dv_object_value(s);
}
