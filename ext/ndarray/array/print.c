/* print.c: str and repr of arrays: brackets, lines, summaries; the elements are element.c's
 * (print.h).
 *
 * Invariants
 *  1. What is left out of a summary is not looked at, neither for the width of the elements.
 *  2. Lines are broken as NumPy's _formatArray does it, in characters: all text is ASCII but for
 *     separators of the program, which may not be longer than a line. */
#include "array/print.h"

#include <stdio.h>

#include "array/convert.h"
#include "array/element.h"
#include "array/methods.h"
#include "array/text.h"

/* What is being printed. */
typedef struct printing {
    dvx_vm *vm;
    const nd_array *a;
    nd_text *text;
    const char *separator;
    int64_t line_width, indent; /* of the lines behind the first */
    nd_print options;
    bool summary;
    element_format format;
} printing;

/* ---- What is shown ---- */

enum { ELEMENT = 300 }; /* steps of nd_work */

/* Is the index, between edges, left out? */
static bool is_cut(const printing *p, int axis) {
    return p->summary && 2 * p->options.edge_items < p->a->axes[axis].count;
}

/* Shows the format all elements that will be seen. */
static bool survey(printing *p, int axis, const char *at) {
    if (axis == p->a->ndim) return nd_work(p->vm, ELEMENT) && element_see(p->vm, &p->format, at);
    const dvx_axis *x = &p->a->axes[axis];
    for (int64_t i = 0; i < x->count; i++) {
        if (is_cut(p, axis) && i == p->options.edge_items) i = x->count - p->options.edge_items;
        if (i < x->count && !survey(p, axis + 1, at + i * x->stride)) return false;
    }
    return true;
}

/* ---- Lines ---- */

/* The line that is being written begins at `start` of the text. */
static int64_t length_of_line(const printing *p, size_t start) {
    return (int64_t)(p->text->size - start);
}

/* Adds a word, on a new line if it does not fit into this one. */
static void add_word(printing *p, size_t *start, const char *word, size_t size, int64_t width,
                     int64_t indent) {
    int64_t line = length_of_line(p, *start);
    if (line + (int64_t)size > width && line > indent) {
        while (p->text->size > *start && p->text->data[p->text->size - 1] == ' ') p->text->size--;
        text_words(p->vm, p->text, "\n");
        *start = p->text->size;
        text_spaces(p->vm, p->text, indent);
    }
    text_add(p->vm, p->text, word, size);
}

static bool add_element(printing *p, size_t *start, const char *at, int64_t width, int64_t indent) {
    nd_text word = {0};
    bool good = element_write(p->vm, &p->format, at, &word) && !word.failed;
    if (good) add_word(p, start, word.data, word.size, width, indent);
    text_drop(p->vm, &word);
    return good;
}

/* The elements of a last axis. */
static bool write_row(printing *p, int axis, const char *at, int64_t indent, int64_t width) {
    const dvx_axis *x = &p->a->axes[axis];
    size_t separator = strlen(p->separator), bare = separator;
    while (bare && p->separator[bare - 1] == ' ') bare--;
    width -= bare > 1 ? (int64_t)bare : 1;
    /* The indent stands in front of the text already, or is the bracket's place. */
    size_t start = p->text->size - (size_t)indent;
    for (int64_t i = 0; i < x->count; i++) {
        if (is_cut(p, axis) && i == p->options.edge_items) {
            add_word(p, &start, "...", 3, width, indent);
            text_add(p->vm, p->text, p->separator, separator);
            i = x->count - p->options.edge_items;
        }
        if (i >= x->count) break;
        if (!add_element(p, &start, at + i * x->stride, width, indent) || !nd_work(p->vm, ELEMENT))
            return false;
        if (i + 1 < x->count) text_add(p->vm, p->text, p->separator, separator);
    }
    return true;
}

static bool write_axes(printing *p, int axis, const char *at, int64_t indent, int64_t width);

/* Between two parts of an axis that is not the last one. */
static void end_part(printing *p, int left, int64_t indent) {
    size_t bare = strlen(p->separator);
    while (bare && p->separator[bare - 1] == ' ') bare--;
    text_add(p->vm, p->text, p->separator, bare);
    for (int i = 1; i < left; i++) text_words(p->vm, p->text, "\n");
    text_spaces(p->vm, p->text, indent);
}

static bool write_parts(printing *p, int axis, const char *at, int64_t indent, int64_t width) {
    const dvx_axis *x = &p->a->axes[axis];
    int left = p->a->ndim - axis;
    for (int64_t i = 0; i < x->count; i++) {
        if (is_cut(p, axis) && i == p->options.edge_items) {
            text_words(p->vm, p->text, "...");
            end_part(p, left, indent);
            i = x->count - p->options.edge_items;
        }
        if (i >= x->count) break;
        if (!write_axes(p, axis + 1, at + i * x->stride, indent + 1, width - 1)) return false;
        if (i + 1 < x->count) end_part(p, left, indent);
    }
    return true;
}

/* `indent` is that of lines inside the brackets, whose first stands where the text ends. */
static bool write_axes(printing *p, int axis, const char *at, int64_t indent, int64_t width) {
    if (axis == p->a->ndim) return element_write(p->vm, &p->format, at, p->text);
    text_words(p->vm, p->text, "[");
    bool good = axis == p->a->ndim - 1 ? write_row(p, axis, at, indent, width)
                                       : write_parts(p, axis, at, indent, width);
    text_words(p->vm, p->text, "]");
    return good;
}

/* The elements in brackets; `prefix` characters stand in front of the first line, `suffix` behind
 * the last one. */
static bool write_array(dvx_vm *vm, nd_text *t, const nd_array *a, const nd_print *options,
                        const char *separator, int64_t prefix, int64_t suffix) {
    printing p = {.vm = vm, .a = a, .separator = separator, .options = *options};
    if (a->size == 0) return text_words(vm, t, "[]"), true;
    nd_text inner = {0};
    p.text = &inner;
    p.line_width = options->line_width - suffix;
    p.summary = a->size > options->threshold;
    element_begin(&p.format, a->dtype, options, a->ndim == 0);
    /* Lines are measured from their beginning: the prefix is written, and taken out again. */
    text_spaces(vm, &inner, prefix);
    bool good = survey(&p, 0, a->data);
    element_ready(&p.format);
    good = good && write_axes(&p, 0, a->data, prefix + 1, p.line_width);
    if (inner.failed) t->failed = true;
    if (good && !t->failed) text_add(vm, t, inner.data + prefix, inner.size - (size_t)prefix);
    text_drop(vm, &inner);
    return good;
}

/* ---- str, repr, format ---- */

/* What is left of a text when its making failed. */
static dvx_value finish(dvx_vm *vm, nd_text *t, bool good) {
    if (good) return text_finish(vm, t);
    text_drop(vm, t);
    return DVX_FAILED;
}

static dvx_value element_str(dvx_vm *vm, const nd_array *a) {
    nd_text t = {0};
    return finish(vm, &t, element_plain(vm, a->dtype, a->data, &t));
}

static dvx_value write_str(dvx_vm *vm, const nd_array *a, const nd_print *options) {
    nd_text t = {0};
    if (a->ndim == 0) return element_str(vm, a);
    return finish(vm, &t, write_array(vm, &t, a, options, " ", 0, 0));
}

static bool is_implied(const nd_dtype *d) {
    return d->num == ND_BOOL || d->num == ND_INT64 || d->num == ND_FLOAT64 ||
           d->num == ND_COMPLEX128;
}

static int64_t last_line(const nd_text *t) {
    size_t at = t->size;
    while (at > 0 && t->data[at - 1] != '\n') at--;
    return (int64_t)(t->size - at);
}

static dvx_value write_repr(dvx_vm *vm, const nd_array *a, const nd_print *options) {
    char shape[ND_SHAPE_TEXT], type[40];
    int64_t counts[ND_MOST];
    nd_text t = {0};
    bool implied = is_implied(a->dtype) && a->size > 0, good = true;
    text_words(vm, &t, "array(");
    if (a->size > 0 || a->ndim == 1) {
        good = write_array(vm, &t, a, options, ", ", 6, 1);
    } else {
        array_shape(a, counts);
        text_words(vm, &t, "[], shape=");
        text_words(vm, &t, array_shape_text(a->ndim, counts, true, shape));
    }
    text_words(vm, &t, implied ? ")" : ",");
    if (implied || !good || t.failed) return finish(vm, &t, good);
    int size = snprintf(type, sizeof type, "dtype=%s)", a->dtype->name);
    text_words(vm, &t, last_line(&t) + size + 1 > options->line_width ? "\n      " : " ");
    text_words(vm, &t, type);
    return finish(vm, &t, true);
}

dvx_value print_array_str(dvx_vm *vm, dvx_value self) {
    return write_str(vm, array_self(vm, self), &nd_state_of(vm)->print);
}

dvx_value print_array_repr(dvx_vm *vm, dvx_value self) {
    return write_repr(vm, array_self(vm, self), &nd_state_of(vm)->print);
}

dvx_value print_scalar(dvx_vm *vm, dvx_value self) { return element_str(vm, array_self(vm, self)); }

dvx_value print_scalar_format(dvx_vm *vm, dvx_value self, dvx_value spec) {
    char word[32];
    size_t size;
    const nd_array *a = array_self(vm, self);
    if (!vm->api->read_str(vm, spec, word, sizeof word, &size)) return DVX_FAILED;
    if (size == 0 && a->ndim) return print_array_str(vm, self);
    if (size >= sizeof word) return nd_raise(vm, DVX_VALUE_ERROR, "Invalid format specifier");
    dvx_value number = convert_to_list(vm, a), text = vm->api->format(vm, number, word);
    vm->api->release(vm, number);
    return text;
}

dvx_value print_array_format(dvx_vm *vm, dvx_value self, dvx_value spec) {
    size_t size;
    char word[32];
    const nd_array *a = array_self(vm, self);
    if (!vm->api->read_str(vm, spec, word, sizeof word, &size)) return DVX_FAILED;
    if (a->ndim == 0 || size == 0) return print_scalar_format(vm, self, spec);
    return nd_raise(vm, DVX_TYPE_ERROR,
                    "unsupported format string passed to numpy.ndarray.__format__");
}

/* ---- What lib/printing.dl does with it ---- */

/* _print_options(precision, threshold, edgeitems, linewidth, suppress): what there was before. */
static dvx_value print_options(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_print *o = &nd_state_of(vm)->print;
    const int64_t old[] = {o->precision, o->threshold, o->edge_items, o->line_width, o->suppress};
    int64_t given[LENGTH_OF(old)];
    for (uint32_t i = 0; i < count; i++)
        if (!vm->api->read_index(vm, args[i], &given[i])) return DVX_FAILED;
    if (count == LENGTH_OF(old)) {
        if (given[0] < 0 || given[0] > 300 || given[2] < 0)
            return nd_raise(vm, DVX_VALUE_ERROR, "print options of this size are not part of dl");
        *o = (nd_print){given[0], given[1], given[2], given[3], given[4] != 0};
    }
    return array_ints(vm, old, LENGTH_OF(old));
}

/* _array_text(a, separator, prefix) */
static dvx_value array_text(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    nd_text t = {0};
    char separator[32];
    size_t size, prefix;
    (void)count;
    if (!vm->api->read_str(vm, args[1], separator, sizeof separator, &size) ||
        !vm->api->read_str(vm, args[2], NULL, 0, &prefix))
        return DVX_FAILED;
    if (size >= sizeof separator)
        return nd_raise(vm, DVX_VALUE_ERROR, "separators of this size are not part of dl");
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    const bool good =
        write_array(vm, &t, a, &nd_state_of(vm)->print, separator, (int64_t)prefix, 0);
    vm->api->release(vm, array);
    return finish(vm, &t, good);
}

static const dvx_function functions[] = {
    ND_PLAIN("_print_options", print_options, 0, 5),
    ND_PLAIN("_array_text", array_text, 3, 3),
};

bool print_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
