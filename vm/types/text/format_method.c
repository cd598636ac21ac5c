/* format_method.c: str.format and str.format_map.
 *
 * A template is read from left to right as CPython does, so that errors come in the same order. */
#include "core/native.h"
#include "core/upcall.h"
#include "types/text/format.h"
#include "types/text/str.h"
#include "types/text/str_unicode.h"
#include "types/sequence/tuple.h"

#define MAX_DEPTH 2 /* fields within format specifications */

typedef enum numbering { NUMBERING_UNKNOWN, NUMBERING_AUTOMATIC, NUMBERING_MANUAL } numbering;

typedef struct formatter {
    dv_vm *vm;
    dv_value source; /* the template */
    const dv_value *args;
    uint32_t count; /* of the positional ones; those of `names` follow */
    const dv_tuple *names;
    dv_value mapping; /* format_map, else EMPTY */
    numbering numbering;
    int64_t next;
    dv_value whole; /* see dv_format_whole */
} formatter;

/* A part of the template. */
typedef struct span {
    int64_t start, stop;
} span;

typedef struct field {
    span name, spec;
    uint32_t conversion;
    bool nested; /* the specification has fields itself */
} field;

static bool raise_value(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_VALUE_ERROR, "%s", message);
    return false;
}

static uint32_t at(const formatter *f, int64_t i) { return dv_str_at(dv_as_str(f->source), i); }

static dv_value text_of(formatter *f, span s) {
    return dv_str_slice(f->vm, f->source, s.start, s.stop);
}

/* The span as a number; -1: it is none.  False: raised. */
static bool number_of(formatter *f, span s, int64_t *out) {
    int64_t n = 0;
    *out = -1;
    for (int64_t i = s.start; i < s.stop; i++) {
        uint32_t c = at(f, i);
        int digit =
            c < 128 ? (c >= '0' && c <= '9' ? (int)c - '0' : -1) : dv_unicode_find(c)->decimal;
        if (digit < 0) return true;
        if (n > (INT64_MAX - digit) / 10)
            return raise_value(f->vm, "Too many decimal digits in format string");
        n = n * 10 + digit;
    }
    if (s.start < s.stop) *out = n;
    return true;
}

/* ---- Looking up -------------------------------------------------------------------------------*/

/* Numbers a field that has no number and checks that the styles are not mixed. */
static bool number_field(formatter *f, bool empty, int64_t *index) {
    if (!empty && *index < 0) return true;
    if (f->numbering == NUMBERING_UNKNOWN)
        f->numbering = empty ? NUMBERING_AUTOMATIC : NUMBERING_MANUAL;
    if (f->numbering == NUMBERING_MANUAL && empty)
        return raise_value(f->vm, "cannot switch from manual field specification to automatic "
                                  "field numbering");
    if (f->numbering == NUMBERING_AUTOMATIC && !empty)
        return raise_value(f->vm, "cannot switch from automatic field numbering to manual field "
                                  "specification");
    if (empty) *index = f->next++;
    return true;
}

static dv_value look_up_name(formatter *f, span name) {
    dv_value key = text_of(f, name), found = DV_EMPTY;
    if (dv_is_empty(key)) return key;
    if (!dv_is_empty(f->mapping)) {
        found = dv_get_item(f->vm, f->mapping, key);
    } else {
        for (int64_t i = 0; f->names && i < f->names->count && dv_is_empty(found); i++)
            if (dv_str_equal(f->names->items[i], key)) found = dv_retain(f->args[f->count + i]);
        if (dv_is_empty(found)) dv_raise_value(f->vm, DV_E_KEY_ERROR, key);
    }
    dv_release(f->vm, key);
    return found;
}

static dv_value look_up_index(formatter *f, int64_t index) {
    if (!dv_is_empty(f->mapping))
        return dv_raise(f->vm, DV_E_VALUE_ERROR, "Format string contains positional fields");
    if (index >= f->count)
        return dv_raise(f->vm, DV_E_INDEX_ERROR,
                        "Replacement index %lld out of range for positional args tuple",
                        (long long)index);
    return dv_retain(f->args[index]);
}

/* One ".name" or "[item]" behind the first part of a field's name; consumes v. */
static dv_value follow(formatter *f, dv_value v, bool attribute, span part) {
    dv_value key = DV_EMPTY, r = DV_EMPTY;
    int64_t index = -1;
    bool ok = part.start < part.stop || raise_value(f->vm, "Empty attribute in format string");
    if (ok && !attribute) ok = number_of(f, part, &index);
    if (ok) key = index < 0 ? text_of(f, part) : dv_int(index);
    if (!dv_is_empty(key)) {
        if (attribute) {
            dv_value name = dv_str_intern_value(f->vm, key);
            if (!dv_is_empty(name)) r = dv_get_attribute(f->vm, v, name);
            dv_release(f->vm, name);
        } else {
            r = dv_get_item(f->vm, v, key);
        }
    }
    dv_release(f->vm, key);
    dv_release(f->vm, v);
    return r;
}

/* The parts behind the first; consumes v. */
static dv_value follow_all(formatter *f, dv_value v, int64_t i, int64_t stop) {
    while (i < stop && !dv_is_empty(v)) {
        uint32_t c = at(f, i++);
        span part = {i, i};
        if (c == '.') {
            while (i < stop && at(f, i) != '.' && at(f, i) != '[') i++;
            part.stop = i;
        } else if (c == '[') {
            while (i < stop && at(f, i) != ']') i++;
            part.stop = i;
            if (i++ >= stop) {
                raise_value(f->vm, "Missing ']' in format string");
                break;
            }
        } else {
            raise_value(f->vm, "Only '.' or '[' may follow ']' in format field specifier");
            break;
        }
        v = follow(f, v, c == '.', part);
    }
    if (dv_is_empty(v) || dv_is_empty(f->vm->error)) return v;
    dv_release(f->vm, v);
    return DV_EMPTY;
}

static dv_value look_up(formatter *f, span name) {
    span first = {name.start, name.start};
    while (first.stop < name.stop && at(f, first.stop) != '.' && at(f, first.stop) != '[')
        first.stop++;
    int64_t index;
    bool empty = first.start == first.stop;
    if (!number_of(f, first, &index) || !number_field(f, empty, &index)) return DV_EMPTY;
    dv_value v = index < 0 ? look_up_name(f, first) : look_up_index(f, index);
    return follow_all(f, v, first.stop, name.stop);
}

/* ---- Reading the template ---------------------------------------------------------------------*/

/* The specification up to the closing brace, which is passed. */
static bool read_spec(formatter *f, int64_t *i, int64_t stop, field *out) {
    out->spec.start = *i;
    for (int depth = 1; *i < stop;) {
        uint32_t c = at(f, (*i)++);
        if (c == '{') {
            out->nested = true;
            depth++;
        } else if (c == '}' && --depth == 0) {
            out->spec.stop = *i - 1;
            return true;
        }
    }
    return raise_value(f->vm, "unmatched '{' in format spec");
}

static bool read_conversion(formatter *f, int64_t *i, int64_t stop, field *out) {
    if (*i >= stop)
        return raise_value(f->vm, "end of string while looking for conversion specifier");
    out->conversion = at(f, (*i)++);
    if (*i >= stop) return raise_value(f->vm, "unmatched '{' in format spec");
    uint32_t c = at(f, (*i)++);
    if (c == '}') return true;
    if (c != ':') return raise_value(f->vm, "expected ':' after conversion specifier");
    return read_spec(f, i, stop, out);
}

/* A field behind its opening brace. */
static bool read_field(formatter *f, int64_t *i, int64_t stop, field *out) {
    *out = (field){.name = {*i, *i}};
    while (*i < stop) {
        uint32_t c = at(f, (*i)++);
        if (c == '{') return raise_value(f->vm, "unexpected '{' in field name");
        out->name.stop = *i - 1;
        if (c == '}') return true;
        if (c == '!') return read_conversion(f, i, stop, out);
        if (c == ':') return read_spec(f, i, stop, out);
        if (c == '[')
            while (*i < stop && at(f, *i) != ']') ++*i;
    }
    return raise_value(f->vm, "expected '}' before end of string");
}

static dv_value convert(formatter *f, dv_value v, uint32_t conversion) {
    dv_value r;
    switch (conversion) {
    case 's': r = dv_to_str(f->vm, v); break;
    case 'r': r = dv_repr(f->vm, v); break;
    case 'a': r = dv_format_ascii(f->vm, v); break;
    default:
        r = DV_EMPTY;
        if (conversion > 32 && conversion < 127)
            dv_raise(f->vm, DV_E_VALUE_ERROR, "Unknown conversion specifier %c", (int)conversion);
        else
            dv_raise(f->vm, DV_E_VALUE_ERROR, "Unknown conversion specifier \\x%x",
                     (unsigned)conversion);
    }
    dv_release(f->vm, v);
    return r;
}

static dv_value build(formatter *f, span template, int depth);

/* last: nothing follows the field in its template. */
static bool write_field(formatter *f, dv_builder *b, const field *field, int depth, bool last) {
    dv_value v = look_up(f, field->name), spec, text = DV_EMPTY;
    if (!dv_is_empty(v) && field->conversion) v = convert(f, v, field->conversion);
    if (dv_is_empty(v)) return false;
    spec = field->nested ? build(f, field->spec, depth - 1) : text_of(f, field->spec);
    if (!dv_is_empty(spec)) text = dv_format(f->vm, v, spec);
    dv_release(f->vm, spec);
    dv_release(f->vm, v);
    if (dv_is_empty(text)) return false;
    if (last) dv_format_whole(b, text, dv_as_str(text)->length, &f->whole);
    dv_builder_str(b, text);
    dv_release(f->vm, text);
    return true;
}

/* Writes the plain text from *i on, up to the next field, whose brace is passed.  *has_field tells
 * whether there is one. */
static bool write_literal(formatter *f, dv_builder *b, int64_t *i, int64_t stop, bool *has_field) {
    span literal = {*i, *i};
    uint32_t c = 0;
    while (*i < stop) {
        c = at(f, (*i)++);
        if (c == '{' || c == '}') break;
    }
    bool brace = c == '{' || c == '}';
    bool doubled = brace && *i < stop && at(f, *i) == c;
    if (c == '}' && !doubled) return raise_value(f->vm, "Single '}' encountered in format string");
    if (c == '{' && *i >= stop)
        return raise_value(f->vm, "Single '{' encountered in format string");
    literal.stop = *i - (brace && !doubled);
    *i += doubled;
    *has_field = brace && !doubled;
    if (*i == stop && !*has_field)
        dv_format_whole(b, f->source, literal.stop - literal.start, &f->whole);
    dv_builder_slice(b, f->source, literal.start, literal.stop);
    return true;
}

static bool write_template(formatter *f, dv_builder *b, span template, int depth) {
    for (int64_t i = template.start; i < template.stop;) {
        bool has_field;
        field field;
        if (!write_literal(f, b, &i, template.stop, &has_field)) return false;
        if (has_field && (!read_field(f, &i, template.stop, &field) ||
                          !write_field(f, b, &field, depth, i == template.stop)))
            return false;
    }
    return true;
}

static dv_value build(formatter *f, span template, int depth) {
    if (depth <= 0) return dv_raise(f->vm, DV_E_VALUE_ERROR, "Max string recursion exceeded");
    dv_builder b;
    dv_builder_init(&b, f->vm);
    bool good = write_template(f, &b, template, depth);
    dv_value whole = f->whole;
    f->whole = DV_EMPTY;
    if (good && dv_is_empty(whole)) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    if (good) return whole;
    dv_release(f->vm, whole);
    return DV_EMPTY;
}

static dv_value run(formatter *f) {
    if (!dv_enter_native(f->vm)) return DV_EMPTY;
    dv_value r = build(f, (span){0, dv_as_str(f->source)->length}, MAX_DEPTH);
    dv_leave_native(f->vm);
    return r;
}

dv_value dv_format_method(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                          dv_value keywords) {
    formatter f = {.vm = vm,
                   .source = self,
                   .args = args,
                   .count = count,
                   .mapping = DV_EMPTY,
                   .whole = DV_EMPTY};
    if (!dv_is_empty(keywords)) {
        f.names = (const dv_tuple *)dv_as_object(keywords);
        f.count -= (uint32_t)f.names->count;
    }
    return run(&f);
}

dv_value dv_format_map(dv_vm *vm, dv_value self, dv_value mapping) {
    formatter f = {.vm = vm, .source = self, .mapping = mapping, .whole = DV_EMPTY};
    return run(&f);
}

void dv_format_whole(const dv_builder *b, dv_value s, int64_t length, dv_value *whole) {
    if (b->length == 0 && length > 0 && dv_is_instance(s) && length == dv_as_str(s)->length)
        *whole = dv_retain(s);
}

/* ---- ascii() ----------------------------------------------------------------------------------*/

dv_value dv_format_ascii(dv_vm *vm, dv_value v) {
    dv_value repr = dv_repr(vm, v);
    if (dv_is_empty(repr)) return repr;
    dv_value ascii = dv_str_ascii(vm, repr);
    dv_release(vm, repr);
    return ascii;
}
