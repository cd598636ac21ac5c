/* split.c: split, rsplit and splitlines, which str, bytes and bytearray share.
 *
 * Invariant 1: nothing here runs dl code between looking at the subject's contents and making the
 * last piece, so a bytearray can't change meanwhile; arguments are converted before.
 * Invariant 2: `limit` is the number of cuts that may still be made. */
#include "types/text/split.h"
#include "core/work.h"

#include "types/callable/arguments.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str_search.h"
#include "types/text/str_unicode.h"

enum { FIRST_PIECES = 12 }; /* a list of pieces has room for so many at first, as in CPython */

/* White space below 256: what it is white space in. */
enum { IN_BYTES = 1, IN_STR = 2, IN_BOTH = 3 };
static const uint8_t spaces[256] = {
    ['\t'] = IN_BOTH, ['\n'] = IN_BOTH, ['\v'] = IN_BOTH, ['\f'] = IN_BOTH,
    ['\r'] = IN_BOTH, [' '] = IN_BOTH,  [0x1C] = IN_STR,  [0x1D] = IN_STR,
    [0x1E] = IN_STR,  [0x1F] = IN_STR,  [0x85] = IN_STR,  [0xA0] = IN_STR,
};

static inline bool is_space(uint32_t c, bool unicode) {
    if (c < 256) return spaces[c] & (unicode ? IN_STR : IN_BYTES);
    return dv_unicode_is(c, DV_UNICODE_SPACE);
}

bool dv_split_is_space(uint32_t c, bool unicode) { return is_space(c, unicode); }

static inline bool is_line_break(uint32_t c, bool unicode) {
    return unicode ? dv_unicode_is(c, DV_UNICODE_LINE_BREAK) : c == '\n' || c == '\r';
}

static inline bool add_piece(dv_vm *vm, dv_value list, const dv_split_subject *s, int64_t start,
                             int64_t stop) {
    dv_value piece = dv_work(vm, 4) ? s->piece(vm, s->self, start, stop) : DV_EMPTY;
    dv_list *pieces = dv_as_list(list);
    if (DV_UNLIKELY(dv_is_empty(piece))) return false;
    if (DV_UNLIKELY(pieces->count == pieces->capacity)) return dv_list_push(vm, list, piece);
    pieces->items[pieces->count++] = piece;
    return true;
}

static void reverse_list(dv_list *list) {
    for (int64_t i = 0, k = list->count - 1; i < k; i++, k--) {
        dv_value item = list->items[i];
        list->items[i] = list->items[k];
        list->items[k] = item;
    }
}

/* Position of the first character from `at` on that is white space (or is none). */
static int64_t skip_until(const dv_split_subject *subject, int64_t at, bool space) {
    const dv_str *s = subject->text;
    while (at < s->length && is_space(dv_str_at(s, at), subject->unicode) != space) at++;
    return at;
}

/* The same to the left: position behind the character. */
static int64_t skip_back_until(const dv_split_subject *subject, int64_t at, bool space) {
    const dv_str *s = subject->text;
    while (at > 0 && is_space(dv_str_at(s, at - 1), subject->unicode) != space) at--;
    return at;
}

/* split_spaces of characters that are bytes. */
static bool split_narrow_spaces(dv_vm *vm, dv_value list, const dv_split_subject *s,
                                int64_t limit) {
    const uint8_t *text = (const uint8_t *)s->text->data;
    const uint8_t where = s->unicode ? IN_STR : IN_BYTES;
    const int64_t length = s->text->length;
    for (int64_t at = 0;;) {
        while (at < length && spaces[text[at]] & where) at++;
        if (at == length) return true;
        int64_t start = at;
        if (limit-- == 0) return add_piece(vm, list, s, start, length);
        while (at < length && !(spaces[text[at]] & where)) at++;
        if (!add_piece(vm, list, s, start, at)) return false;
    }
}

static bool split_spaces(dv_vm *vm, dv_value list, const dv_split_subject *s, int64_t limit) {
    if (s->text->kind == 1) return split_narrow_spaces(vm, list, s, limit);
    for (int64_t at = 0;;) {
        at = skip_until(s, at, false);
        if (at == s->text->length) return true;
        int64_t start = at;
        if (limit-- == 0) return add_piece(vm, list, s, start, s->text->length);
        at = skip_until(s, at, true);
        if (!add_piece(vm, list, s, start, at)) return false;
    }
}

/* From the right; the pieces come in reverse order, also below. */
static bool rsplit_spaces(dv_vm *vm, dv_value list, const dv_split_subject *s, int64_t limit) {
    for (int64_t at = s->text->length;;) {
        at = skip_back_until(s, at, false);
        if (at == 0) return true;
        int64_t stop = at;
        if (limit-- == 0) return add_piece(vm, list, s, 0, stop);
        at = skip_back_until(s, at, true);
        if (!add_piece(vm, list, s, at, stop)) return false;
    }
}

static bool split_parts(dv_vm *vm, dv_value list, const dv_split_subject *s,
                        const dv_str *separator, int64_t limit) {
    int64_t at = 0;
    while (limit-- != 0) {
        int64_t hit;
        if (!dv_str_seek(vm, s->text, separator, at, s->text->length, &hit)) return false;
        if (hit < 0) break;
        if (!add_piece(vm, list, s, at, hit)) return false;
        at = hit + separator->length;
    }
    return add_piece(vm, list, s, at, s->text->length);
}

static bool rsplit_parts(dv_vm *vm, dv_value list, const dv_split_subject *s,
                         const dv_str *separator, int64_t limit) {
    int64_t at = s->text->length;
    while (limit-- != 0) {
        int64_t hit;
        if (!dv_str_seek_last(vm, s->text, separator, 0, at, &hit)) return false;
        if (hit < 0) break;
        if (!add_piece(vm, list, s, hit + separator->length, at)) return false;
        at = hit;
    }
    return add_piece(vm, list, s, 0, at);
}

bool dv_split_arguments(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                        bool from_right, dv_value *separator, int64_t *limit) {
    static const char *const names[] = {"sep", "maxsplit"};
    const dv_parameters parameters = {from_right ? "rsplit" : "split", names, 2, 2, 0};
    dv_value out[2];
    *limit = -1;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return false;
    if (!dv_is_empty(out[1]) && !dv_size_argument(vm, out[1], limit)) return false;
    if (*limit < 0) *limit = INT64_MAX;
    *separator = dv_is_empty(out[0]) ? DV_NONE : out[0];
    return true;
}

dv_value dv_split(dv_vm *vm, const dv_split_subject *subject, const dv_str *separator,
                  int64_t limit, bool from_right) {
    if (separator && separator->length == 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "empty separator");
    if (!dv_work(vm, subject->text->length / 32)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list)) return DV_EMPTY;
    bool good = dv_list_reserve(vm, dv_as_list(list), FIRST_PIECES);
    if (good && separator)
        good = from_right ? rsplit_parts(vm, list, subject, separator, limit)
                          : split_parts(vm, list, subject, separator, limit);
    else if (good)
        good = from_right ? rsplit_spaces(vm, list, subject, limit)
                          : split_spaces(vm, list, subject, limit);
    if (good) {
        if (from_right) reverse_list(dv_as_list(list));
        return list;
    }
    dv_release(vm, list);
    return DV_EMPTY;
}

static bool cut_lines(dv_vm *vm, dv_value list, const dv_split_subject *subject, bool keep_ends) {
    const dv_str *s = subject->text;
    for (int64_t at = 0; at < s->length;) {
        int64_t start = at;
        while (at < s->length && !is_line_break(dv_str_at(s, at), subject->unicode)) at++;
        int64_t stop = at;
        if (at < s->length) {
            bool pair =
                dv_str_at(s, at) == '\r' && at + 1 < s->length && dv_str_at(s, at + 1) == '\n';
            at += pair ? 2 : 1;
        }
        if (!add_piece(vm, list, subject, start, keep_ends ? at : stop)) return false;
    }
    return true;
}

bool dv_split_lines_arguments(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                              bool *keep_ends) {
    static const char *const names[] = {"keepends"};
    static const dv_parameters parameters = {"splitlines", names, 1, 1, 0};
    dv_value keep;
    int64_t given = 0;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &keep)) return false;
    if (!dv_is_empty(keep) && !dv_int_argument(vm, keep, &given)) return false;
    *keep_ends = given != 0;
    return true;
}

dv_value dv_split_lines(dv_vm *vm, const dv_split_subject *subject, bool keep_ends) {
    if (!dv_work(vm, subject->text->length / 16)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list) || cut_lines(vm, list, subject, keep_ends)) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}
