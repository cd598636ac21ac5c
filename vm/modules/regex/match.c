/* match.c: re.Match, and replacements with groups. */
#include "core/upcall.h"
#include "modules/regex/regex.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/mapping/dict.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

dv_value dv_match_new(dv_vm *vm, dv_pattern *pattern, const dv_subject *subject, int64_t from,
                      int64_t to, const size_t *spans) {
    const size_t count = 2 * ((size_t)pattern->groups + 1);
    dv_match *m = dv_object_new(vm, sizeof *m + count * sizeof *m->spans, DV_T_MATCH);
    if (!m) return DV_EMPTY;
    m->pattern = dv_retain(dv_object_value(pattern));
    m->string = dv_retain(subject->given);
    m->text = dv_retain(subject->string);
    m->from = from;
    m->to = to;
    for (size_t i = 0; i < count; i++) m->spans[i] = (int64_t)spans[i]; /* SIZE_MAX becomes -1 */
    return dv_object_value(m);
}

static void match_release(dv_vm *vm, dv_object *object) {
    dv_match *m = (dv_match *)object;
    const size_t count = 2 * ((size_t)dv_as_pattern(m->pattern)->groups + 1);
    dv_release(vm, m->string);
    dv_release(vm, m->text);
    dv_release(vm, m->pattern);
    dv_heap_free(&vm->heap, m, sizeof *m + count * sizeof *m->spans);
}

/* ---- Groups ----------------------------------------------------------------------------------*/

/* New: the text of a group, or `other` where it took no part. */
static dv_value text_of(dv_vm *vm, const dv_match *m, int64_t group, dv_value other) {
    const int64_t start = m->spans[2 * group];
    if (start < 0) return dv_retain(other);
    return dv_subject_part(vm, m->text, start, m->spans[2 * group + 1]);
}

/* The number of a group that is named by number or name; -1: raised. */
static int64_t group_of(dv_vm *vm, const dv_match *m, dv_value name) {
    const dv_pattern *pattern = dv_as_pattern(m->pattern);
    int64_t number = -1;
    if (dv_is_index(vm, name)) {
        if (!dv_as_index(vm, name, &number)) dv_error_clear(vm);
    } else {
        dv_value found = dv_get_item(vm, pattern->names, name);
        if (dv_is_empty(found))
            dv_error_clear(vm);
        else
            number = dv_as_int(found);
        dv_release(vm, found);
    }
    if (number >= 0 && number <= pattern->groups) return number;
    dv_raise(vm, DV_E_INDEX_ERROR, "no such group");
    return -1;
}

static dv_value named(dv_vm *vm, const dv_match *m, dv_value name) {
    const int64_t group = group_of(vm, m, name);
    return group < 0 ? DV_EMPTY : text_of(vm, m, group, DV_NONE);
}

static dv_value match_get_item(dv_vm *vm, dv_value self, dv_value key) {
    return named(vm, dv_as_match(self), key);
}

static dv_value match_group(dv_vm *vm, const dv_value *args, uint32_t count) {
    const dv_match *m = dv_as_match(args[0]);
    if (count == 1) return text_of(vm, m, 0, DV_NONE);
    if (count == 2) return named(vm, m, args[1]);
    dv_tuple *result = dv_tuple_alloc(vm, count - 1);
    if (!result) return DV_EMPTY;
    for (uint32_t i = 1; i < count; i++) {
        result->items[i - 1] = named(vm, m, args[i]);
        if (!dv_is_empty(result->items[i - 1])) continue;
        for (; i < count; i++) result->items[i - 1] = DV_NONE;
        dv_release(vm, dv_object_value(result));
        return DV_EMPTY;
    }
    return dv_object_value(result);
}

static const char *const default_name[] = {"default"};

static dv_value match_groups(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const dv_parameters parameters = {"groups", default_name, 1, 1, 0};
    const dv_match *m = dv_as_match(args[0]);
    const int64_t groups = dv_as_pattern(m->pattern)->groups;
    dv_value other;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, &other)) return DV_EMPTY;
    dv_tuple *result = dv_tuple_alloc(vm, groups);
    if (!result) return DV_EMPTY;
    for (int64_t i = 0; i < groups; i++) result->items[i] = DV_NONE;
    for (int64_t i = 0; i < groups; i++) {
        dv_value text = text_of(vm, m, i + 1, dv_is_empty(other) ? DV_NONE : other);
        if (dv_is_empty(text)) {
            dv_release(vm, dv_object_value(result));
            return DV_EMPTY;
        }
        result->items[i] = text;
    }
    return dv_object_value(result);
}

static dv_value match_groupdict(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const dv_parameters parameters = {"groupdict", default_name, 1, 1, 0};
    const dv_match *m = dv_as_match(args[0]);
    dv_value other;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, &other)) return DV_EMPTY;
    dv_value result = dv_dict_new(vm);
    dv_value names =
        dv_is_empty(result) ? DV_EMPTY : dv_iterate(vm, dv_as_pattern(m->pattern)->names);
    bool good = !dv_is_empty(names);
    while (good) {
        dv_value name = dv_next(vm, names);
        if (dv_is_empty(name)) break;
        const int64_t group = group_of(vm, m, name);
        dv_value text =
            group < 0 ? DV_EMPTY : text_of(vm, m, group, dv_is_empty(other) ? DV_NONE : other);
        good = !dv_is_empty(text) && dv_dict_set(vm, result, name, text);
        dv_release(vm, text);
        dv_release(vm, name);
    }
    dv_release(vm, names);
    if (dv_is_empty(vm->error)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static int64_t group_argument(dv_vm *vm, const dv_value *args, uint32_t count) {
    return count > 1 ? group_of(vm, dv_as_match(args[0]), args[1]) : 0;
}

static dv_value match_start(dv_vm *vm, const dv_value *args, uint32_t count) {
    const int64_t group = group_argument(vm, args, count);
    if (group < 0) return DV_EMPTY;
    return dv_int_from_int64(vm, dv_as_match(args[0])->spans[2 * group]);
}

static dv_value match_end(dv_vm *vm, const dv_value *args, uint32_t count) {
    const int64_t group = group_argument(vm, args, count);
    if (group < 0) return DV_EMPTY;
    return dv_int_from_int64(vm, dv_as_match(args[0])->spans[2 * group + 1]);
}

static dv_value pair(dv_vm *vm, const int64_t *span) {
    const dv_value items[] = {dv_int_from_int64(vm, span[0]), dv_int_from_int64(vm, span[1])};
    return dv_tuple_take(vm, items, 2); /* indices are no objects */
}

static dv_value match_span(dv_vm *vm, const dv_value *args, uint32_t count) {
    const int64_t group = group_argument(vm, args, count);
    return group < 0 ? DV_EMPTY : pair(vm, &dv_as_match(args[0])->spans[2 * group]);
}

/* The group that ended last, as the spans show it: of those that end at one place, the outermost;
 * 0: none took part. */
static int64_t last_group(const dv_match *m) {
    const dv_tuple *closed = dv_as_tuple(dv_as_pattern(m->pattern)->closed);
    int64_t last = 0, end = -1;
    for (int64_t i = 0; i < closed->count; i++) {
        const int64_t group = dv_as_int(closed->items[i]);
        if (m->spans[2 * group + 1] >= end && m->spans[2 * group] >= 0)
            last = group, end = m->spans[2 * group + 1];
    }
    return last;
}

static dv_value all_spans(dv_vm *vm, const dv_match *m) {
    const int64_t count = (int64_t)dv_as_pattern(m->pattern)->groups + 1;
    dv_tuple *result = dv_tuple_alloc(vm, count);
    if (!result) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) result->items[i] = DV_NONE;
    for (int64_t i = 0; i < count; i++) {
        dv_value span = pair(vm, &m->spans[2 * i]);
        if (dv_is_empty(span)) {
            dv_release(vm, dv_object_value(result));
            return DV_EMPTY;
        }
        result->items[i] = span;
    }
    return dv_object_value(result);
}

static dv_value match_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_match *m = dv_as_match(self);
    if (dv_str_is(name, "string")) return dv_retain(m->string);
    if (dv_str_is(name, "re")) return dv_retain(m->pattern);
    if (dv_str_is(name, "pos")) return dv_int_from_int64(vm, m->from);
    if (dv_str_is(name, "endpos")) return dv_int_from_int64(vm, m->to);
    if (dv_str_is(name, "lastgroup"))
        return dv_retain(
            dv_as_tuple(dv_as_pattern(m->pattern)->names_by_number)->items[last_group(m)]);
    if (dv_str_is(name, "regs")) return all_spans(vm, m);
    if (!dv_str_is(name, "lastindex")) return DV_EMPTY;
    const int64_t last = last_group(m);
    return last ? dv_int_from_int64(vm, last) : DV_NONE;
}

static dv_value match_self(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return dv_retain(args[0]);
}

static dv_value match_repr(dv_vm *vm, dv_value self) {
    enum { SHOWN = 50 };
    const dv_match *m = dv_as_match(self);
    dv_value whole = text_of(vm, m, 0, DV_NONE);
    dv_value shown = dv_is_empty(whole) ? DV_EMPTY : dv_repr(vm, whole);
    dv_release(vm, whole);
    if (dv_is_empty(shown)) return DV_EMPTY;
    const int64_t length = dv_as_str(shown)->length;
    dv_value text = dv_str_slice(vm, shown, 0, length < SHOWN ? length : SHOWN);
    dv_release(vm, shown);
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value result = dv_str_printf(vm, "<re.Match object; span=(%lld, %lld), match=%S>",
                                    (long long)m->spans[0], (long long)m->spans[1], text);
    dv_release(vm, text);
    return result;
}

/* ---- Replacements ----------------------------------------------------------------------------*/

bool dv_regex_append(dv_vm *vm, const dv_pattern *pattern, dv_builder *out, int64_t number,
                     dv_value part) {
    const bool text = dv_is_str(pattern->source);
    if (text ? dv_is_str(part) : dv_is_bytes_like(part)) {
        dv_value string = text ? part : dv_bytes_of(part);
        dv_builder_slice(out, string, 0, dv_as_str(string)->length);
        return !out->failed;
    }
    dv_raise(vm, DV_E_TYPE_ERROR,
             text ? "sequence item %lld: expected str instance, %T found"
                  : "sequence item %lld: expected a bytes-like object, %T found",
             (long long)number, part);
    return false;
}

dv_value dv_regex_finish(const dv_pattern *pattern, dv_builder *out) {
    return dv_is_str(pattern->source) ? dv_builder_finish(out) : dv_bytes_finish(out);
}

bool dv_match_expand(dv_vm *vm, dv_value template, dv_value string, const int64_t *spans,
                     dv_builder *out) {
    (void)vm;
    const dv_tuple *parts = dv_as_tuple(template);
    for (int64_t i = 0; i < parts->count && !out->failed; i++) {
        dv_value part = parts->items[i];
        if (i % 2 == 0) {
            dv_builder_slice(out, part, 0, dv_as_str(part)->length);
        } else if (spans[2 * dv_as_int(part)] >= 0) {
            const dv_value text = dv_is_str(string) ? string : dv_bytes_of(string);
            const int64_t group = dv_as_int(part), length = dv_as_str(text)->length;
            const int64_t end = spans[2 * group + 1];
            dv_builder_slice(out, text, spans[2 * group], end < length ? end : length);
        }
    }
    return !out->failed;
}

dv_value dv_pattern_template(dv_vm *vm, dv_pattern *pattern, dv_value text) {
    if (dv_same(pattern->template_of, text)) return pattern->template;
    const dv_value args[] = {dv_object_value(pattern), text};
    dv_value template = dv_library_call(vm, "_re_parser", "template", args, 2);
    if (dv_is_empty(template)) return DV_EMPTY;
    dv_value old = pattern->template_of, meant = pattern->template;
    pattern->template_of = dv_retain(text);
    pattern->template = template;
    dv_release(vm, old);
    dv_release(vm, meant);
    return template;
}

static dv_value match_expand(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_match *m = dv_as_match(args[0]);
    dv_pattern *pattern = dv_as_pattern(m->pattern);
    if (!dv_is_str(args[1]) && !dv_is_bytes_like(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "decoding to str: need a bytes-like object, %T found",
                        args[1]);
    dv_value template = dv_pattern_template(vm, pattern, args[1]);
    if (dv_is_empty(template)) return DV_EMPTY;
    dv_builder out;
    dv_builder_init(&out, vm);
    dv_retain(template);
    const bool good = dv_regex_append(vm, pattern, &out, 0, dv_as_tuple(template)->items[0]) &&
                      (out.length = 0, dv_match_expand(vm, template, m->text, m->spans, &out));
    dv_release(vm, template);
    if (good) return dv_regex_finish(pattern, &out);
    dv_builder_discard(&out);
    return DV_EMPTY;
}

static const dv_cfunction_def methods[] = {
    {.name = "group", .entry = match_group, .min = 1, .max = UINT32_MAX},
    {.name = "groups", .keyword_entry = match_groups, .min = 1, .max = UINT32_MAX},
    {.name = "groupdict", .keyword_entry = match_groupdict, .min = 1, .max = UINT32_MAX},
    {.name = "start", .entry = match_start, .min = 1, .max = 2},
    {.name = "end", .entry = match_end, .min = 1, .max = 2},
    {.name = "span", .entry = match_span, .min = 1, .max = 2},
    {.name = "expand", .entry = match_expand, .min = 2, .max = 2},
    {.name = "__copy__", .entry = match_self, .min = 1, .max = 1},
    {.name = "__deepcopy__", .entry = match_self, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_match_type = {
    .name = "re.Match",
    .id = DV_T_MATCH,
    .release = match_release,
    .repr = match_repr,
    .get_item = match_get_item,
    .get_attribute = match_get_attribute,
    .methods = methods,
};
