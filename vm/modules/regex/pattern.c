/* pattern.c: the module _re: re.Pattern and its methods.
 *
 * Invariant 1: matches are found one behind the other as CPython does: one that follows an empty
 * match at the same place is not empty itself. */
#include <stdio.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "modules/regex/regex.h"
#include "types/binary/buffer.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/callable/function.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"
#include "types/text/str_search.h"

/* ---- Subjects --------------------------------------------------------------------------------*/

/* The bytes of a memoryview, an array or an extension's object: new. */
static dv_value lent_bytes(dv_vm *vm, dv_value given) {
    dv_value bytes = dv_bytes_contents(vm, given);
    if (!dv_is_empty(bytes) || dv_error_is(vm, DV_E_MEMORY_ERROR)) return bytes;
    dv_error_clear(vm);
    return dv_raise(vm, DV_E_TYPE_ERROR, "expected string or bytes-like object, got '%T'", given);
}

bool dv_subject_open(dv_vm *vm, const dv_pattern *pattern, dv_value given, dv_subject *subject) {
    const bool text = dv_is_str(given), wanted = dv_is_str(pattern->source);
    *subject = (dv_subject){.given = given, .string = given};
    if (!text && !dv_is_bytes_like(given)) subject->string = lent_bytes(vm, given);
    const dv_value string = subject->string;
    if (dv_is_empty(string)) return false;
    if (text != wanted) {
        dv_raise(vm, DV_E_TYPE_ERROR,
                 text ? "cannot use a bytes pattern on a string-like object"
                      : "cannot use a string pattern on a bytes-like object");
        if (!dv_same(string, given)) dv_release(vm, string);
        return false;
    }
    const dv_str *s = text ? dv_as_str(string) : dv_as_bytes(string);
    subject->length = s->length;
    if (dv_is_bytearray(string) && !dv_bytearray_export(vm, string)) return false;
    if (s->kind == 1 && !dv_is_none(pattern->texts[DV_NARROW])) return true;
    subject->width = DV_WIDE;
    if (s->kind == 4) return true;
    subject->copy = dv_heap_alloc(&vm->heap, (size_t)s->length * sizeof *subject->copy + 1);
    if (!subject->copy) {
        dv_subject_close(vm, subject);
        dv_raise_memory(vm);
        return false;
    }
    dv_str_copy((char *)subject->copy, sizeof *subject->copy, s->data, s->kind, s->length);
    return true;
}

void dv_subject_close(dv_vm *vm, dv_subject *subject) {
    if (dv_is_bytearray(subject->string))
        ((dv_bytearray *)dv_as_object(subject->string))->exports--;
    if (!dv_same(subject->string, subject->given)) dv_release(vm, subject->string);
    if (subject->copy)
        dv_heap_free(&vm->heap, subject->copy, (size_t)subject->length * sizeof *subject->copy + 1);
}

dv_value dv_subject_part(dv_vm *vm, dv_value string, int64_t start, int64_t end) {
    const bool text = dv_is_str(string);
    const int64_t length = text ? dv_as_str(string)->length : dv_as_bytes(string)->length;
    if (end > length) end = length; /* a bytearray that has become shorter */
    if (start > end) start = end;
    if (start == 0 && end == length &&
        (text ? dv_is_shape(string, DV_T_STR) : dv_is_shape(string, DV_T_BYTES)))
        return dv_retain(string);
    if (text) return dv_str_slice(vm, string, start, end);
    return dv_bytes_new(vm, dv_as_bytes(string)->data + start, end - start);
}

/* ---- One match -------------------------------------------------------------------------------*/

/* What search and its kin are given. */
typedef struct range {
    dv_value string;
    int64_t start, end;
} range;

/* `end` is the length of the text at most. */
static bool take_range(dv_vm *vm, const char *function, const dv_value *args, uint32_t count,
                       dv_value keywords, range *r) {
    static const char *const names[] = {"string", "pos", "endpos"};
    const dv_parameters parameters = {function, names, 3, 3, 1};
    dv_value given[3] = {DV_EMPTY, DV_EMPTY, DV_EMPTY};
    if (count == 2 && dv_is_empty(keywords))
        given[0] = args[1];
    else if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, given))
        return false;
    *r = (range){given[0], 0, INT64_MAX};
    if (!dv_is_empty(given[1]) && !dv_size_argument(vm, given[1], &r->start)) return false;
    return dv_is_empty(given[2]) || dv_size_argument(vm, given[2], &r->end);
}

static int64_t clipped(int64_t at, int64_t length) {
    return at < 0 ? 0 : at > length ? length : at;
}

static bool open_range(dv_vm *vm, const dv_pattern *pattern, range *r, dv_subject *subject) {
    if (!dv_subject_open(vm, pattern, r->string, subject)) return false;
    r->start = clipped(r->start, subject->length);
    r->end = clipped(r->end, subject->length);
    return true;
}

static dv_value find_one(dv_vm *vm, const char *function, dv_regex_mode mode, const dv_value *args,
                         uint32_t count, dv_value keywords) {
    dv_pattern *pattern = dv_as_pattern(args[0]);
    range r;
    dv_subject subject;
    if (!take_range(vm, function, args, count, keywords, &r) ||
        !open_range(vm, pattern, &r, &subject))
        return DV_EMPTY;
    const size_t *spans;
    const int found = dv_regex_find(vm, pattern, mode, &subject, r.start, r.end, false, &spans);
    dv_value result = found > 0   ? dv_match_new(vm, pattern, &subject, r.start, r.end, spans)
                      : found < 0 ? DV_EMPTY
                                  : DV_NONE;
    dv_subject_close(vm, &subject);
    return result;
}

static dv_value pattern_search(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return find_one(vm, "search", DV_SEARCH, args, count, keywords);
}

static dv_value pattern_match(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return find_one(vm, "match", DV_MATCH, args, count, keywords);
}

static dv_value pattern_fullmatch(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    return find_one(vm, "fullmatch", DV_FULLMATCH, args, count, keywords);
}

/* ---- One match behind the other --------------------------------------------------------------*/

typedef struct walk {
    dv_pattern *pattern;
    dv_subject subject;
    int64_t at, end;
    bool not_empty;
} walk;

/* 1: found, 0: there are no more, -1: raised. */
static int next_match(dv_vm *vm, walk *w, dv_regex_mode mode, const size_t **spans) {
    const int found =
        dv_regex_find(vm, w->pattern, mode, &w->subject, w->at, w->end, w->not_empty, spans);
    if (found > 0) {
        w->at = (int64_t)(*spans)[1];
        w->not_empty = (*spans)[0] == (*spans)[1];
    }
    return found;
}

static bool open_walk(dv_vm *vm, dv_value pattern, range *r, walk *w) {
    *w = (walk){.pattern = dv_as_pattern(pattern)};
    if (!open_range(vm, w->pattern, r, &w->subject)) return false;
    w->at = r->start, w->end = r->end;
    return true;
}

/* What findall has of a match. */
static dv_value item_of(dv_vm *vm, const walk *w, const size_t *spans) {
    const uint32_t groups = w->pattern->groups;
    const dv_value string = w->subject.string;
    dv_tuple *result = groups > 1 ? dv_tuple_alloc(vm, groups) : NULL;
    if (groups > 1 && !result) return DV_EMPTY;
    for (uint32_t i = 0; result && i < groups; i++) result->items[i] = DV_NONE;
    for (uint32_t i = groups > 0; i <= groups; i++) {
        const size_t *span = spans + 2 * (size_t)i;
        const bool part = span[0] != SIZE_MAX;
        dv_value text =
            dv_subject_part(vm, string, part ? (int64_t)span[0] : 0, part ? (int64_t)span[1] : 0);
        if (!result) return text;
        if (dv_is_empty(text)) {
            dv_release(vm, dv_object_value(result));
            return DV_EMPTY;
        }
        result->items[i - 1] = text;
    }
    return dv_object_value(result);
}

static dv_value pattern_findall(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    range r;
    walk w;
    if (!take_range(vm, "findall", args, count, keywords, &r) || !open_walk(vm, args[0], &r, &w))
        return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    const size_t *spans;
    int found = dv_is_empty(list) ? -1 : 1;
    while (found > 0 && (found = next_match(vm, &w, DV_SEARCH, &spans)) > 0) {
        dv_value item = item_of(vm, &w, spans);
        if (dv_is_empty(item) || !dv_list_push(vm, list, item)) found = -1;
    }
    dv_subject_close(vm, &w.subject);
    if (found == 0) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

/* Appends the groups of a match to what split gives. */
static bool push_groups(dv_vm *vm, const walk *w, const size_t *spans, dv_value list) {
    for (uint32_t i = 1; i <= w->pattern->groups; i++) {
        const size_t *span = spans + 2 * (size_t)i;
        dv_value text = span[0] == SIZE_MAX ? DV_NONE
                                            : dv_subject_part(vm, w->subject.string,
                                                              (int64_t)span[0], (int64_t)span[1]);
        if (dv_is_empty(text) || !dv_list_push(vm, list, text)) return false;
    }
    return true;
}

static bool push_part(dv_vm *vm, const walk *w, int64_t start, int64_t end, dv_value list) {
    dv_value text = dv_subject_part(vm, w->subject.string, start, end);
    return !dv_is_empty(text) && dv_list_push(vm, list, text);
}

static dv_value pattern_split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"string", "maxsplit"};
    static const dv_parameters parameters = {"split", names, 2, 2, 1};
    dv_value given[2];
    int64_t most = 0, last = 0;
    walk w;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, given) ||
        (!dv_is_empty(given[1]) && !dv_size_argument(vm, given[1], &most)))
        return DV_EMPTY;
    range r = {given[0], 0, INT64_MAX};
    if (!open_walk(vm, args[0], &r, &w)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    const size_t *spans;
    int found = dv_is_empty(list) ? -1 : 1;
    for (int64_t n = 0; found > 0 && (most == 0 || n < most); n++) {
        found = next_match(vm, &w, DV_SEARCH, &spans);
        if (found <= 0) break;
        if (!push_part(vm, &w, last, (int64_t)spans[0], list) || !push_groups(vm, &w, spans, list))
            found = -1;
        last = w.at;
    }
    if (found >= 0 && !push_part(vm, &w, last, w.end, list)) found = -1;
    dv_subject_close(vm, &w.subject);
    if (found >= 0) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

/* ---- Replacing -------------------------------------------------------------------------------*/

/* What takes the place of a match: a text, the parts of one (a tuple), or what a callable says. */
static bool take_replacement(dv_vm *vm, dv_pattern *pattern, dv_value given, dv_value *out) {
    const bool lent = !dv_is_bytes_like(given) && dv_lends(vm, given);
    *out = lent ? lent_bytes(vm, given) : dv_retain(given);
    if (dv_is_empty(*out)) return false;
    if (dv_is_str(*out) || dv_is_bytes_like(*out)) {
        const dv_str *s = dv_is_str(*out) ? dv_as_str(*out) : dv_as_bytes(*out);
        if (dv_str_find_char(s, '\\', 0, s->length) < 0) return true;
        dv_value text = *out;
        *out = dv_retain(dv_pattern_template(vm, pattern, text));
        dv_release(vm, text);
    } else if (!dv_is_callable(vm, given)) {
        dv_release(vm, given);
        *out = dv_raise(vm, DV_E_TYPE_ERROR, "decoding to str: need a bytes-like object, %T found",
                        given);
    }
    return !dv_is_empty(*out);
}

typedef struct substitution {
    dv_value replacement;
    dv_builder out;
    int64_t pieces; /* so far, as CPython counts them */
    dv_value wrong; /* the first that is no text, of which is told at the end */
    int64_t wrong_piece;
} substitution;

static bool replace(dv_vm *vm, const walk *w, const size_t *spans, substitution *s) {
    dv_value with = s->replacement;
    if (dv_is_tuple(with) && dv_is_shape(with, DV_T_TUPLE)) {
        s->pieces++;
        return dv_match_expand(vm, with, w->subject.string, (const int64_t *)spans, &s->out);
    }
    if (dv_is_str(with) || dv_is_bytes_like(with))
        return dv_regex_append(vm, w->pattern, &s->out, s->pieces++, with);
    dv_value match = dv_match_new(vm, w->pattern, &w->subject, 0, w->end, spans);
    if (dv_is_empty(match)) return false;
    dv_value text = dv_call(vm, with, &match, 1, DV_EMPTY);
    dv_release(vm, match);
    bool good = !dv_is_empty(text);
    if (good && !dv_is_none(text)) {
        const bool fits = dv_is_str(w->pattern->source) ? dv_is_str(text) : dv_is_bytes_like(text);
        if (fits)
            good = dv_regex_append(vm, w->pattern, &s->out, s->pieces, text);
        else if (dv_is_empty(s->wrong))
            s->wrong = dv_retain(text), s->wrong_piece = s->pieces;
        s->pieces++;
    }
    dv_release(vm, text);
    return good;
}

static void copy_part(const walk *w, int64_t start, int64_t end, substitution *s) {
    const dv_value string = w->subject.string;
    if (start == end) return;
    dv_builder_slice(&s->out, dv_is_str(string) ? string : dv_bytes_of(string), start, end);
    s->pieces++;
}

/* The new text, and how many matches were replaced; EMPTY: raised. */
static dv_value substitute(dv_vm *vm, const char *function, const dv_value *args, uint32_t count,
                           dv_value keywords, int64_t *replaced) {
    static const char *const names[] = {"repl", "string", "count"};
    const dv_parameters parameters = {function, names, 3, 3, 2};
    dv_value given[3];
    int64_t most = 0, last = 0, n = 0;
    walk w;
    substitution s = {.wrong = DV_EMPTY};
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, given) ||
        (!dv_is_empty(given[2]) && !dv_size_argument(vm, given[2], &most)) ||
        !take_replacement(vm, dv_as_pattern(args[0]), given[0], &s.replacement))
        return DV_EMPTY;
    range r = {given[1], 0, INT64_MAX};
    if (!open_walk(vm, args[0], &r, &w)) {
        dv_release(vm, s.replacement);
        return DV_EMPTY;
    }
    dv_builder_init(&s.out, vm);
    const size_t *spans;
    int found = 1;
    for (; found > 0 && (most == 0 || n < most); n += found > 0) {
        found = next_match(vm, &w, DV_SEARCH, &spans);
        if (found <= 0) break;
        const int64_t end = w.at;
        copy_part(&w, last, (int64_t)spans[0], &s);
        if (!replace(vm, &w, spans, &s)) found = -1;
        last = end;
    }
    dv_value result = DV_EMPTY;
    if (found >= 0 && !dv_is_empty(s.wrong) &&
        !dv_regex_append(vm, w.pattern, &s.out, s.wrong_piece, s.wrong))
        found = -1;
    dv_release(vm, s.wrong);
    if (found >= 0 && n == 0) {
        result = dv_subject_part(vm, w.subject.string, 0, w.end);
    } else if (found >= 0) {
        copy_part(&w, last, w.end, &s);
        result = dv_regex_finish(w.pattern, &s.out);
    }
    if (found < 0 || n == 0) dv_builder_discard(&s.out);
    dv_subject_close(vm, &w.subject);
    dv_release(vm, s.replacement);
    *replaced = n;
    return result;
}

static dv_value pattern_sub(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    int64_t replaced;
    return substitute(vm, "sub", args, count, keywords, &replaced);
}

static dv_value pattern_subn(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    int64_t replaced;
    dv_value text = substitute(vm, "subn", args, count, keywords, &replaced);
    if (dv_is_empty(text)) return DV_EMPTY;
    const dv_value items[] = {text, dv_int_from_int64(vm, replaced)};
    return dv_tuple_take(vm, items, 2);
}

/* ---- finditer, and the scanner that it is ----------------------------------------------------*/

typedef struct scanner {
    dv_object header;
    dv_value pattern, string;
    int64_t from;
    walk walk;
} scanner;

static dv_value new_scanner(dv_vm *vm, const char *function, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    range r;
    walk w;
    if (!take_range(vm, function, args, count, keywords, &r) || !open_walk(vm, args[0], &r, &w))
        return DV_EMPTY;
    scanner *s = dv_object_new(vm, sizeof *s, DV_T_REGEX_SCANNER);
    if (!s) {
        dv_subject_close(vm, &w.subject);
        return DV_EMPTY;
    }
    s->pattern = dv_retain(args[0]);
    s->string = dv_retain(r.string);
    s->from = r.start;
    s->walk = w;
    return dv_object_value(s);
}

static dv_value pattern_finditer(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    return new_scanner(vm, "finditer", args, count, keywords);
}

static dv_value pattern_scanner(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    return new_scanner(vm, "scanner", args, count, keywords);
}

static void scanner_release(dv_vm *vm, dv_object *object) {
    scanner *s = (scanner *)object;
    dv_subject_close(vm, &s->walk.subject);
    dv_release(vm, s->string);
    dv_release(vm, s->pattern);
    dv_heap_free(&vm->heap, s, sizeof *s);
}

/* The next match; `none` where there is no more. */
static dv_value scan(dv_vm *vm, dv_value self, dv_regex_mode mode, dv_value none) {
    scanner *s = (scanner *)dv_as_object(self);
    const size_t *spans;
    const int64_t from = s->walk.at;
    if (from > s->walk.end) return none;
    const int found = next_match(vm, &s->walk, mode, &spans);
    if (found == 0) s->walk.at = s->walk.end + 1; /* for good */
    if (found <= 0) return found ? DV_EMPTY : none;
    return dv_match_new(vm, s->walk.pattern, &s->walk.subject, s->from, s->walk.end, spans);
}

static dv_value scanner_next(dv_vm *vm, dv_value self) {
    return scan(vm, self, DV_SEARCH, DV_EMPTY);
}

static dv_value scanner_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value scanner_search(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return scan(vm, args[0], DV_SEARCH, DV_NONE);
}

static dv_value scanner_match(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return scan(vm, args[0], DV_MATCH, DV_NONE);
}

static dv_value scanner_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    return dv_str_is(name, "pattern") ? dv_retain(((scanner *)dv_as_object(self))->pattern)
                                      : DV_EMPTY;
}

static const dv_cfunction_def scanner_methods[] = {
    {.name = "match", .entry = scanner_match, .min = 1, .max = 1},
    {.name = "search", .entry = scanner_search, .min = 1, .max = 1},
    {.name = NULL}};

const dv_type dv_regex_scanner_type = {
    .name = "_sre.SRE_Scanner",
    .id = DV_T_REGEX_SCANNER,
    .release = scanner_release,
    .get_attribute = scanner_attribute,
    .iterate = scanner_iterate,
    .next = scanner_next,
    .methods = scanner_methods,
};

/* ---- re.Pattern ------------------------------------------------------------------------------*/

static void pattern_release(dv_vm *vm, dv_object *object) {
    dv_pattern *p = (dv_pattern *)object;
    dv_regex_forget(vm, p);
    const dv_value held[] = {p->source,      p->names,          p->names_by_number,
                             p->closed,      p->texts[DV_WIDE], p->texts[DV_NARROW],
                             p->template_of, p->template};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) dv_release(vm, held[i]);
    dv_heap_free(&vm->heap, p, sizeof *p);
}

static dv_value pattern_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_pattern *p = dv_as_pattern(self);
    if (dv_str_is(name, "pattern")) return dv_retain(p->source);
    if (dv_str_is(name, "flags")) return dv_int_from_int64(vm, p->flags);
    if (dv_str_is(name, "groups")) return dv_int_from_int64(vm, p->groups);
    if (dv_str_is(name, "groupindex")) return dv_retain(p->names);
    return DV_EMPTY;
}

static dv_value pattern_self(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return dv_retain(args[0]);
}

static void append_flags(const dv_pattern *p, dv_builder *b) {
    static const struct {
        int64_t flag;
        const char *name;
    } known[] = {{2, "re.IGNORECASE"}, {4, "re.LOCALE"},   {8, "re.MULTILINE"}, {16, "re.DOTALL"},
                 {32, "re.UNICODE"},   {64, "re.VERBOSE"}, {256, "re.ASCII"}};
    int64_t flags = p->flags;
    if (dv_is_str(p->source) && (flags & (4 | 32 | 256)) == 32) flags &= ~(int64_t)32;
    const char *between = ", ";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!(flags & known[i].flag)) continue;
        dv_builder_z(b, between);
        dv_builder_z(b, known[i].name);
        flags &= ~known[i].flag, between = "|";
    }
    if (!flags) return;
    char rest[32];
    snprintf(rest, sizeof rest, "%s0x%llx", between, (unsigned long long)flags);
    dv_builder_z(b, rest);
}

static dv_value pattern_repr(dv_vm *vm, dv_value self) {
    enum { SHOWN = 200 };
    const dv_pattern *p = dv_as_pattern(self);
    dv_value source = dv_repr(vm, p->source);
    if (dv_is_empty(source)) return DV_EMPTY;
    const int64_t length = dv_as_str(source)->length;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_z(&b, "re.compile(");
    dv_builder_slice(&b, source, 0, length < SHOWN ? length : SHOWN);
    append_flags(p, &b);
    dv_builder_z(&b, ")");
    dv_release(vm, source);
    return dv_builder_finish(&b);
}

static bool pattern_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    const dv_pattern *p = dv_as_pattern(self);
    if (!dv_hash(vm, p->source, hash)) return false;
    *hash ^= p->flags;
    if (*hash == -1) *hash = -2;
    return true;
}

static dv_value pattern_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if ((op != DV_EQ && op != DV_NE) || !dv_is_shape(a, DV_T_PATTERN) ||
        !dv_is_shape(b, DV_T_PATTERN))
        return DV_NOTIMPLEMENTED;
    const dv_pattern *p = dv_as_pattern(a), *q = dv_as_pattern(b);
    int same = p->flags == q->flags && dv_is_str(p->source) == dv_is_str(q->source);
    if (same) same = dv_equal(vm, p->source, q->source);
    return same < 0 ? DV_EMPTY : dv_bool(same == (op == DV_EQ));
}

#define WITH_KEYWORDS(name) \
    { #name, .keyword_entry = pattern_##name, .min = 1, .max = UINT32_MAX }

static const dv_cfunction_def methods[] = {
    WITH_KEYWORDS(search),
    WITH_KEYWORDS(match),
    WITH_KEYWORDS(fullmatch),
    WITH_KEYWORDS(findall),
    WITH_KEYWORDS(finditer),
    WITH_KEYWORDS(scanner),
    WITH_KEYWORDS(split),
    WITH_KEYWORDS(sub),
    WITH_KEYWORDS(subn),
    {.name = "__copy__", .entry = pattern_self, .min = 1, .max = 1},
    {.name = "__deepcopy__", .entry = pattern_self, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_pattern_type = {
    .name = "re.Pattern",
    .id = DV_T_PATTERN,
    .weakly = true,
    .release = pattern_release,
    .repr = pattern_repr,
    .hash = pattern_hash,
    .compare = pattern_compare,
    .get_attribute = pattern_get_attribute,
    .methods = methods,
};

/* ---- The module ------------------------------------------------------------------------------*/

/* pattern(source, flags, groupindex, names, closed, narrow, wide, by_properties), as
 * lang/lib/data/_re_parser.dl makes them. */
static dv_value make_pattern(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_pattern *p = dv_object_new(vm, sizeof *p, DV_T_PATTERN);
    if (!p) return DV_EMPTY;
    const dv_object header = p->header;
    *p = (dv_pattern){.header = header,
                      .source = dv_retain(args[0]),
                      .names = dv_retain(args[2]),
                      .closed = dv_retain(args[4]),
                      .texts = {dv_retain(args[5]), dv_retain(args[6])},
                      .template_of = DV_EMPTY,
                      .template = DV_EMPTY,
                      .flags = dv_as_int(args[1]),
                      .names_by_number = dv_retain(args[3]),
                      .groups = (uint32_t)dv_as_tuple(args[3])->count - 1,
                      .by_properties = dv_same(args[7], DV_TRUE)};
    if (dv_regex_prepare(vm, p)) return dv_object_value(p);
    dv_release(vm, dv_object_value(p));
    return DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "pattern", .entry = make_pattern, .min = 8, .max = 8}, {.name = NULL}};

bool dv_re_fill(dv_vm *vm, dv_module *module) {
    return dv_regex_load(vm) && dv_module_add_functions(vm, module, functions) &&
           dv_module_add_type(vm, module, &dv_pattern_type) &&
           dv_module_add_type(vm, module, &dv_match_type) &&
           dv_module_know_type(vm, &dv_regex_scanner_type);
}
