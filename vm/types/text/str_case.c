/* str_case.c: methods of str about case and kinds of characters.
 *
 * Everything follows CPython's unicodeobject.c: full case mappings (one code point may become
 * three), and the capital sigma at the end of a word. */
#include "types/text/str_case.h"
#include "core/work.h"

#include "types/text/str_unicode.h"

#define LETTER_SIGMA      0x3A3u
#define SMALL_SIGMA       0x3C3u
#define SMALL_FINAL_SIGMA 0x3C2u

/* ---- Mappings ----------------------------------------------------------------------------------
 */

static void append_mapped(dv_builder *b, uint32_t c, int32_t mapping) {
    uint32_t out[3];
    int count = dv_unicode_map(c, mapping, out);
    for (int i = 0; i < count; i++) dv_builder_char(b, out[i]);
}

static void append_upper(dv_builder *b, const dv_str *s, int64_t i) {
    uint32_t c = dv_str_at(s, i);
    append_mapped(b, c, dv_unicode_find(c)->upper);
}

static void append_title(dv_builder *b, const dv_str *s, int64_t i) {
    uint32_t c = dv_str_at(s, i);
    append_mapped(b, c, dv_unicode_find(c)->title);
}

static void append_folded(dv_builder *b, const dv_str *s, int64_t i) {
    uint32_t c = dv_str_at(s, i);
    append_mapped(b, c, dv_unicode_find(c)->fold);
}

/* Does the capital sigma at i end a word: is the next cased letter before it near, and none behind
 * it? */
static bool is_final_sigma(const dv_str *s, int64_t i) {
    int64_t k = i - 1;
    while (k >= 0 && dv_unicode_is(dv_str_at(s, k), DV_UNICODE_CASE_IGNORABLE)) k--;
    if (k < 0 || !dv_unicode_is(dv_str_at(s, k), DV_UNICODE_CASED)) return false;
    k = i + 1;
    while (k < s->length && dv_unicode_is(dv_str_at(s, k), DV_UNICODE_CASE_IGNORABLE)) k++;
    return k == s->length || !dv_unicode_is(dv_str_at(s, k), DV_UNICODE_CASED);
}

static void append_lower(dv_builder *b, const dv_str *s, int64_t i) {
    uint32_t c = dv_str_at(s, i);
    if (c == LETTER_SIGMA)
        dv_builder_char(b, is_final_sigma(s, i) ? SMALL_FINAL_SIGMA : SMALL_SIGMA);
    else
        append_mapped(b, c, dv_unicode_find(c)->lower);
}

static void append_swapped(dv_builder *b, const dv_str *s, int64_t i) {
    uint32_t c = dv_str_at(s, i);
    const uint32_t flags = dv_unicode_flags(c);
    if (flags & DV_UNICODE_UPPER)
        append_lower(b, s, i);
    else if (flags & DV_UNICODE_LOWER)
        append_upper(b, s, i);
    else
        dv_builder_char(b, c);
}

/* `first` maps the first code point, `others` the others. */
typedef void (*mapper)(dv_builder *b, const dv_str *s, int64_t i);

static dv_value map_string(dv_vm *vm, dv_value v, mapper first, mapper others) {
    const dv_str *s = dv_as_str(v);
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_work_owe(vm, s->length * 2 / 5);
    if (s->length > 0) first(&b, s, 0);
    for (int64_t i = 1; i < s->length && !b.failed; i++) others(&b, s, i);
    return dv_builder_finish(&b);
}

/* Upper or lower case of ASCII text: the letters from `from` to from+25 change by 32; EMPTY if the
 * text is not ASCII (nothing is raised then). */
static dv_value map_ascii(dv_vm *vm, dv_value v, char from) {
    const dv_str *s = dv_as_str(v);
    if (s->kind != 1 || s->length <= 1 || !dv_work(vm, s->length / 8)) return DV_EMPTY;
    for (int64_t i = 0; i < s->length; i++)
        if (s->data[i] & 0x80) return DV_EMPTY;
    dv_str *out = dv_str_alloc(vm, s->length, 1);
    if (!out) return DV_EMPTY;
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = (uint8_t)s->data[i];
        out->data[i] = (char)((uint8_t)(c - (uint8_t)from) < 26 ? c ^ 32 : c);
    }
    return dv_object_value(out);
}

dv_value dv_str_upper(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value plain = map_ascii(vm, args[0], 'a');
    if (!dv_is_empty(plain) || !dv_is_empty(vm->error)) return plain;
    return map_string(vm, args[0], append_upper, append_upper);
}

dv_value dv_str_lower(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value plain = map_ascii(vm, args[0], 'A');
    if (!dv_is_empty(plain) || !dv_is_empty(vm->error)) return plain;
    return map_string(vm, args[0], append_lower, append_lower);
}

dv_value dv_str_capitalize(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return map_string(vm, args[0], append_title, append_lower);
}

dv_value dv_str_casefold(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return map_string(vm, args[0], append_folded, append_folded);
}

dv_value dv_str_swapcase(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return map_string(vm, args[0], append_swapped, append_swapped);
}

dv_value dv_str_title(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    bool in_word = false;
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length && !b.failed; i++) {
        if (in_word)
            append_lower(&b, s, i);
        else
            append_title(&b, s, i);
        in_word = dv_unicode_is(dv_str_at(s, i), DV_UNICODE_CASED);
    }
    return dv_builder_finish(&b);
}

/* ---- Kinds of characters -----------------------------------------------------------------------
 */

static bool all_are(dv_vm *vm, dv_value v, uint32_t flags) {
    const dv_str *s = dv_as_str(v);
    int64_t i = 0;
    while (i < s->length && dv_unicode_is(dv_str_at(s, i), flags)) i++;
    dv_work_owe(vm, i / 48);
    return i == s->length;
}

static dv_value some_and_all(dv_vm *vm, dv_value v, uint32_t flags) {
    return dv_bool(dv_as_str(v)->length > 0 && all_are(vm, v, flags));
}

dv_value dv_str_isalpha(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(vm, args[0], DV_UNICODE_ALPHA);
}

dv_value dv_str_isalnum(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(
        vm, args[0], DV_UNICODE_ALPHA | DV_UNICODE_DECIMAL | DV_UNICODE_DIGIT | DV_UNICODE_NUMERIC);
}

dv_value dv_str_isdecimal(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(vm, args[0], DV_UNICODE_DECIMAL);
}

dv_value dv_str_isdigit(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(vm, args[0], DV_UNICODE_DIGIT);
}

dv_value dv_str_isnumeric(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(vm, args[0], DV_UNICODE_NUMERIC);
}

dv_value dv_str_isspace(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return some_and_all(vm, args[0], DV_UNICODE_SPACE);
}

dv_value dv_str_isprintable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_bool(all_are(vm, args[0], DV_UNICODE_PRINTABLE));
}

dv_value dv_str_isascii(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    if (s->kind != 1) return DV_FALSE;
    dv_work_owe(vm, s->length / 16);
    for (int64_t i = 0; i < s->length; i++)
        if (s->data[i] & 0x80) return DV_FALSE;
    return DV_TRUE;
}

dv_value dv_str_isidentifier(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    if (s->length == 0 || !dv_unicode_is(dv_str_at(s, 0), DV_UNICODE_ID_START)) return DV_FALSE;
    return dv_bool(all_are(vm, args[0], DV_UNICODE_ID_CONTINUE));
}

/* Is there a letter of the case `wanted`, and none of a case in `refused`? */
static dv_value one_case(dv_vm *vm, dv_value v, uint32_t wanted, uint32_t refused) {
    const dv_str *s = dv_as_str(v);
    bool found = false;
    dv_work_owe(vm, s->length / 4);
    for (int64_t i = 0; i < s->length; i++) {
        const uint32_t flags = dv_unicode_flags(dv_str_at(s, i));
        if (flags & refused) return DV_FALSE;
        found = found || (flags & wanted);
    }
    return dv_bool(found);
}

dv_value dv_str_islower(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return one_case(vm, args[0], DV_UNICODE_LOWER, DV_UNICODE_UPPER | DV_UNICODE_TITLE);
}

dv_value dv_str_isupper(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return one_case(vm, args[0], DV_UNICODE_UPPER, DV_UNICODE_LOWER | DV_UNICODE_TITLE);
}

dv_value dv_str_istitle(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    bool found = false, in_word = false;
    dv_work_owe(vm, s->length / 4);
    for (int64_t i = 0; i < s->length; i++) {
        const uint32_t flags = dv_unicode_flags(dv_str_at(s, i));
        bool capital = flags & (DV_UNICODE_UPPER | DV_UNICODE_TITLE);
        bool small = flags & DV_UNICODE_LOWER;
        if ((capital && in_word) || (small && !capital && !in_word)) return DV_FALSE;
        in_word = capital || small;
        found = found || in_word;
    }
    return dv_bool(found);
}
