/* einsum.c: np.einsum (einsum.h): sums of products by subscripts, as products of matrices.
 *
 * Each operand becomes a *term*: a view with one axis for each of its labels.  What no other term
 * and not the result has is summed first; then terms are joined, from left to right: by a product
 * of matrices where labels are summed, else element by element.
 *
 * Invariants
 *  1. The labels of a term are different, and so many as its array has axes.
 *  2. An axis of one element whose label has more elsewhere is no axis of its term: it is
 *     broadcast. */
#include "linear/einsum.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "array/compose.h"
#include "ufunc/error.h"
#include "linear/matmul.h"
#include "array/methods.h"
#include "ufunc/reduce.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

enum { MOST_TERMS = 12, MOST_TEXT = 500, MOST_LABELS = 128, REST = 1 };

/* Labels are characters; the axes that an ellipsis stands for are REST, REST + 1, ..., so that
 * they come before all letters. */
typedef struct term {
    dvx_value held;
    int ndim;
    uint8_t labels[ND_MOST];
} term;

typedef struct sum {
    int count, rest; /* terms; axes that the ellipsis stands for */
    term terms[MOST_TERMS + 1];
    int ndim; /* of the result */
    uint8_t labels[MOST_LABELS];
    int times[MOST_LABELS];     /* that a label occurs in the operands */
    int64_t sizes[MOST_LABELS]; /* -1: there is no such label */
} sum;

static nd_array *array_in(dvx_vm *vm, const term *t) { return array_of(vm, t->held); }

static int find_label(const term *t, int label) {
    for (int i = 0; i < t->ndim; i++)
        if (t->labels[i] == label) return i;
    return -1;
}

static bool in_result(const sum *s, int label) {
    return memchr(s->labels, label, (size_t)s->ndim) != NULL;
}

/* ---- Subscripts ---- */

static bool raise_letter(dvx_vm *vm, char letter) {
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "invalid subscript '%c' in einstein sum subscripts string, subscripts must be "
                   "letters",
                   letter);
}

/* The letters of one operand; *dots: before so many of them is the ellipsis, or -1. */
static bool read_letters(dvx_vm *vm, const char *text, size_t length, int operand, int most,
                         int *dots, char *letters, int *count) {
    *dots = -1;
    *count = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (isalpha((unsigned char)c)) {
            if (*count >= most)
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "einstein sum subscripts string contains too many subscripts for "
                               "operand %d",
                               operand);
            letters[(*count)++] = c;
        } else if (c == '.') {
            if (*dots >= 0 || i + 2 >= length || text[i + 1] != '.' || text[i + 2] != '.')
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "einstein sum subscripts string contains a '.' that is not part of "
                               "an ellipsis ('...') in operand %d",
                               operand);
            *dots = *count;
            i += 2;
        } else if (c != ' ') {
            return raise_letter(vm, c);
        }
    }
    return true;
}

/* The axes of one operand, of which those with the same letter become one. */
static bool read_term(dvx_vm *vm, sum *s, int operand, const char *letters, int count, int dots,
                      term *t) {
    const nd_array *a = array_in(vm, t);
    nd_array *view;
    dvx_axis axes[ND_MOST];
    const int rest = a->ndim - count;
    t->ndim = 0;
    for (int i = 0; i < a->ndim; i++) {
        const bool dotted = dots >= 0 && i >= dots && i < dots + rest;
        const int letter = dots >= 0 && i >= dots + rest ? i - rest : i;
        const int label =
            dotted ? REST + s->rest - rest + i - dots : (int)(unsigned char)letters[letter];
        const int at = find_label(t, label);
        const dvx_axis own = a->axes[i];
        if (at < 0) {
            axes[t->ndim] = own;
            t->labels[t->ndim++] = (uint8_t)label;
        } else if (axes[at].count == 1) {
            axes[at] = own;
        } else if (own.count == axes[at].count) {
            axes[at].stride += own.stride;
        } else if (own.count != 1) {
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "dimensions in operand %d for collapsing index '%c' don't match (%lld "
                           "!= %lld)",
                           operand, label, (long long)axes[at].count, (long long)own.count);
        }
    }
    t->held = compose_first(vm, array_view(vm, t->held, a, a->data, t->ndim, axes, &view), t->held);
    return !dvx_failed(t->held);
}

static bool read_result(dvx_vm *vm, sum *s, const char *text) {
    bool dots = false;
    s->ndim = 0;
    for (; *text; text++) {
        const int label = (unsigned char)*text;
        if (isalpha(label)) {
            if (in_result(s, label))
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "einstein sum subscripts string includes output subscript '%c' "
                               "multiple times",
                               label);
            if (label >= MOST_LABELS || !s->times[label])
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "einstein sum subscripts string included output subscript '%c' "
                               "which never appeared in an input",
                               label);
            s->labels[s->ndim++] = (uint8_t)label;
        } else if (label == '.') {
            if (dots || text[1] != '.' || text[2] != '.')
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "einstein sum subscripts string contains a '.' that is not part of "
                               "an ellipsis ('...') in the output");
            dots = true;
            text += 2;
            for (int i = 0; i < s->rest; i++) s->labels[s->ndim++] = (uint8_t)(REST + i);
        } else if (label != ' ') {
            return raise_letter(vm, *text);
        }
    }
    if (!dots && s->rest)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "output has more dimensions than subscripts given in einstein sum, but no "
                       "'...' ellipsis provided to broadcast the extra dimensions.");
    return true;
}

static bool read_subscripts(dvx_vm *vm, sum *s, const char *text) {
    char letters[MOST_TERMS][ND_MOST];
    int counts[MOST_TERMS], dots[MOST_TERMS];
    for (int i = 0; i < s->count; i++) {
        const size_t length = strcspn(text, ",-");
        if (i == s->count - 1 && text[length] == ',')
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "more operands provided to einstein sum function than specified in the "
                           "subscripts string");
        if (i < s->count - 1 && text[length] != ',')
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "fewer operands provided to einstein sum function than specified in "
                           "the subscripts string");
        const int ndim = array_in(vm, &s->terms[i])->ndim;
        if (!read_letters(vm, text, length, i, ndim, &dots[i], letters[i], &counts[i]))
            return false;
        if (dots[i] < 0 && counts[i] != ndim)
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "operand has more dimensions than subscripts given in einstein sum, but "
                           "no '...' ellipsis provided to broadcast the extra dimensions.");
        for (int k = 0; k < counts[i]; k++) s->times[(unsigned char)letters[i][k]]++;
        if (ndim - counts[i] > s->rest) s->rest = ndim - counts[i];
        text += length + (i < s->count - 1);
    }
    if (!*text) {
        for (int i = 0; i < s->rest; i++) s->labels[s->ndim++] = (uint8_t)(REST + i);
        for (int label = 'A'; label <= 'z'; label++)
            if (s->times[label] == 1) s->labels[s->ndim++] = (uint8_t)label;
    } else if (text[0] != '-' || text[1] != '>') {
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "einstein sum subscript string does not contain proper '->' output "
                       "specified");
    } else if (!read_result(vm, s, text + 2)) {
        return false;
    }
    int all = s->rest;
    for (int label = 'A'; label <= 'z'; label++) all += s->times[label] > 0;
    if (s->ndim > ND_MOST)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "einstein sum subscript string has too many distinct labels");
    if (all > ND_MOST) return nd_fail(vm, DVX_VALUE_ERROR, "too many subscripts in einsum");
    for (int i = 0; i < s->count; i++)
        if (!read_term(vm, s, i, letters[i], counts[i], dots[i], &s->terms[i])) return false;
    return true;
}

/* ---- Sizes ---- */

/* "(2,3)->(2,newaxis,3) ": the shape of a term as it is, and by the labels of the whole. */
static void describe(dvx_vm *vm, const term *t, const uint8_t *all, int count, char *to,
                     size_t room) {
    char text[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    const nd_array *a = array_in(vm, t);
    array_shape(a, shape);
    size_t used = strlen(to);
    used += (size_t)snprintf(to + used, room - used, "%s->(",
                             array_shape_text(a->ndim, shape, false, text));
    int written = 0;
    for (int i = 0; i < count && used < room; i++) {
        const int at = find_label(t, all[i]);
        if (at < 0 && !written) continue;
        const char *comma = written++ ? "," : "";
        used += (size_t)(at < 0 ? snprintf(to + used, room - used, "%snewaxis", comma)
                                : snprintf(to + used, room - used, "%s%lld", comma,
                                           (long long)shape[at]));
    }
    if (used < room) snprintf(to + used, room - used, count == 1 ? ",) " : ") ");
}

/* args: so many terms, the last of which may be the output. */
static bool find_sizes(dvx_vm *vm, sum *s, int count) {
    bool good = true;
    for (int i = 0; i < MOST_LABELS; i++) s->sizes[i] = -1;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < s->terms[i].ndim; k++) {
            int64_t *size = &s->sizes[s->terms[i].labels[k]];
            const int64_t own = array_in(vm, &s->terms[i])->axes[k].count;
            /* (The output is not broadcast.) */
            if (*size < 0 || (*size == 1 && i < s->count))
                *size = own;
            else
                good = good && (own == *size || (own == 1 && i < s->count));
        }
    if (good) return true;
    uint8_t all[MOST_LABELS];
    char text[1900] = "";
    int used = s->ndim;
    memcpy(all, s->labels, (size_t)s->ndim);
    for (int label = 0; label < MOST_LABELS; label++)
        if (s->sizes[label] >= 0 && !in_result(s, label)) all[used++] = (uint8_t)label;
    for (int i = 0; i < count; i++) describe(vm, &s->terms[i], all, used, text, sizeof text);
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "operands could not be broadcast together with remapped shapes "
                   "[original->remapped]: %s",
                   text);
}

/* The term with these of its axes, in this order; takes its array. */
static bool keep_axes(dvx_vm *vm, term *t, const uint8_t *labels, int count) {
    const nd_array *a = array_in(vm, t);
    nd_array *view;
    dvx_axis axes[ND_MOST];
    for (int i = 0; i < count; i++) axes[i] = a->axes[find_label(t, labels[i])];
    t->held = compose_first(vm, array_view(vm, t->held, a, a->data, count, axes, &view), t->held);
    t->ndim = count;
    memmove(t->labels, labels, (size_t)count);
    return !dvx_failed(t->held);
}

/* Drops axes that are broadcast. */
static bool drop_broadcast(dvx_vm *vm, const sum *s, term *t) {
    uint8_t kept[ND_MOST];
    int used = 0;
    for (int i = 0; i < t->ndim; i++)
        if (array_in(vm, t)->axes[i].count == s->sizes[t->labels[i]]) kept[used++] = t->labels[i];
    return used == t->ndim || keep_axes(vm, t, kept, used);
}

/* ---- Sums ---- */

/* Sums over the labels that neither the result nor another term of those from `first` on has. */
static bool sum_alone(dvx_vm *vm, sum *s, term *t, int first) {
    uint32_t mask = 0;
    uint8_t kept[ND_MOST];
    int used = 0;
    nd_array *a = array_in(vm, t), *made;
    for (int i = 0; i < t->ndim; i++) {
        bool needed = in_result(s, t->labels[i]);
        for (int k = first; k < s->count; k++)
            needed |= &s->terms[k] != t && find_label(&s->terms[k], t->labels[i]) >= 0;
        if (needed)
            kept[used++] = t->labels[i];
        else
            mask |= 1u << i;
    }
    if (!mask) return true;
    t->held = compose_first(
        vm, reduce_array(vm, ND_UFUNC_add, a, mask, a->dtype->num, false, NULL, &made), t->held);
    t->ndim = used;
    memcpy(t->labels, kept, (size_t)used);
    return !dvx_failed(t->held);
}

/* Labels of two terms by what becomes of them. */
typedef struct shared {
    uint8_t both[ND_MOST], summed[ND_MOST], own[2][ND_MOST];
    int both_count, summed_count, own_count[2];
} shared;

static void compare_labels(const sum *s, const term *a, const term *b, int next, shared *h) {
    memset(h, 0, sizeof *h);
    for (int i = 0; i < a->ndim; i++) {
        const int label = a->labels[i];
        if (find_label(b, label) < 0) {
            h->own[0][h->own_count[0]++] = (uint8_t)label;
            continue;
        }
        bool needed = in_result(s, label);
        for (int k = next; k < s->count; k++) needed |= find_label(&s->terms[k], label) >= 0;
        if (needed)
            h->both[h->both_count++] = (uint8_t)label;
        else
            h->summed[h->summed_count++] = (uint8_t)label;
    }
    for (int i = 0; i < b->ndim; i++)
        if (find_label(a, b->labels[i]) < 0) h->own[1][h->own_count[1]++] = b->labels[i];
}

static int64_t count_of(const sum *s, const uint8_t *labels, int count) {
    int64_t n = 1;
    for (int i = 0; i < count; i++) n *= s->sizes[labels[i]];
    return n;
}

/* The term as a stack of matrices of rows x columns, or without the stack, or as a vector. */
static dvx_value as_matrix(dvx_vm *vm, const sum *s, term *t, const shared *h, int side) {
    uint8_t order[ND_MOST];
    int64_t shape[3];
    int used = 0, ndim = 0;
    const int64_t inner = count_of(s, h->summed, h->summed_count);
    const int64_t outer = count_of(s, h->own[side], h->own_count[side]);
    memcpy(order, h->both, (size_t)h->both_count);
    used = h->both_count;
    for (int part = 0; part < 2; part++) {
        const bool summed = part != side;
        const uint8_t *labels = summed ? h->summed : h->own[side];
        const int count = summed ? h->summed_count : h->own_count[side];
        memcpy(order + used, labels, (size_t)count);
        used += count;
    }
    if (!keep_axes(vm, t, order, used)) return DVX_FAILED;
    if (h->both_count) shape[ndim++] = count_of(s, h->both, h->both_count);
    if (side == 0 && (h->both_count || h->own_count[0])) shape[ndim++] = outer;
    shape[ndim++] = inner;
    if (side == 1 && (h->both_count || h->own_count[1])) shape[ndim++] = outer;
    return shape_reshape(vm, t->held, ndim, shape);
}

static dvx_value multiply_matrices(dvx_vm *vm, const sum *s, term *a, term *b, const shared *h) {
    int64_t shape[ND_MOST];
    int ndim = 0;
    dvx_value x = as_matrix(vm, s, a, h, 0), y, made;
    if (dvx_failed(x)) return x;
    y = as_matrix(vm, s, b, h, 1);
    made = dvx_failed(y) ? y : matmul_values(vm, x, y, DVX_FAILED);
    vm->api->release(vm, x);
    vm->api->release(vm, y);
    made = compose_array(vm, made, array_in(vm, a)->dtype);
    if (dvx_failed(made)) return made;
    for (int i = 0; i < h->both_count; i++) shape[ndim++] = s->sizes[h->both[i]];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < h->own_count[side]; i++) shape[ndim++] = s->sizes[h->own[side][i]];
    return compose_first(vm, shape_reshape(vm, made, ndim, shape), made);
}

/* Element by element: a's labels, then those that only b has. */
static dvx_value multiply_elements(dvx_vm *vm, term *a, term *b, const shared *h) {
    nd_array *x, *y, *made;
    dvx_axis axes[2][ND_MOST];
    int order[ND_MOST], ndim = 0;
    const nd_array *of[2] = {array_in(vm, a), array_in(vm, b)};
    for (int i = 0; i < h->both_count; i++) order[ndim++] = h->both[i];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < h->own_count[side]; i++) order[ndim++] = h->own[side][i];
    for (int i = 0; i < ndim; i++) {
        const int at[2] = {find_label(a, order[i]), find_label(b, order[i])};
        for (int k = 0; k < 2; k++) axes[k][i] = at[k] < 0 ? (dvx_axis){1, 0} : of[k]->axes[at[k]];
    }
    dvx_value left = array_view(vm, a->held, of[0], of[0]->data, ndim, axes[0], &x), right;
    if (dvx_failed(left)) return left;
    right = array_view(vm, b->held, of[1], of[1]->data, ndim, axes[1], &y);
    dvx_value product =
        dvx_failed(right) ? right : ufunc_arrays(vm, ND_UFUNC_multiply, x, y, &made);
    vm->api->release(vm, left);
    vm->api->release(vm, right);
    return product;
}

/* The product of the first term and term `next`, as the first one. */
static bool join(dvx_vm *vm, sum *s, int next) {
    term *a = &s->terms[0], *b = &s->terms[next];
    shared h;
    compare_labels(s, a, b, next + 1, &h);
    if (h.both_count + h.own_count[0] + h.own_count[1] > ND_MOST)
        return nd_fail(vm, DVX_VALUE_ERROR, "too many subscripts in einsum");
    /* Rows times rows are no product of matrices: all products, then their sums. */
    const bool rows = h.both_count && !h.own_count[0] && !h.own_count[1];
    if (rows) {
        memcpy(h.both + h.both_count, h.summed, (size_t)h.summed_count);
        h.both_count += h.summed_count;
    }
    dvx_value made = h.summed_count && !rows ? multiply_matrices(vm, s, a, b, &h)
                                             : multiply_elements(vm, a, b, &h);
    vm->api->release(vm, a->held);
    a->held = made;
    a->ndim = 0;
    for (int i = 0; i < h.both_count; i++) a->labels[a->ndim++] = h.both[i];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < h.own_count[side]; i++) a->labels[a->ndim++] = h.own[side][i];
    return !dvx_failed(made) && (!rows || sum_alone(vm, s, a, next + 1));
}

/* The only term that is left is the result, whose axes are put in order. */
static bool join_all(dvx_vm *vm, sum *s) {
    for (int i = 0; i < s->count; i++)
        if (!drop_broadcast(vm, s, &s->terms[i])) return false;
    for (int i = 0; i < s->count; i++)
        if (!sum_alone(vm, s, &s->terms[i], 0)) return false;
    for (int i = 1; i < s->count; i++)
        if (!join(vm, s, i)) return false;
    /* (What is in order already needs no view, and later no copy.) */
    const term *t = &s->terms[0];
    return (t->ndim == s->ndim && !memcmp(t->labels, s->labels, (size_t)s->ndim)) ||
           keep_axes(vm, &s->terms[0], s->labels, s->ndim);
}

/* ---- Calls ---- */

static bool check_casts(dvx_vm *vm, const sum *s, const nd_dtype *dtype, const char *casting) {
    for (int i = 0; i < s->count; i++) {
        const nd_dtype *from = array_in(vm, &s->terms[i])->dtype;
        const bool good = !strcmp(casting, "unsafe")      ? true
                          : !strcmp(casting, "same_kind") ? dtype_is_same_kind(from, dtype)
                                                          : dtype_is_safe(from, dtype);
        if (!good)
            return nd_fail(vm, DVX_TYPE_ERROR,
                           "Iterator operand %d dtype could not be cast from dtype('%s') to "
                           "dtype('%s') according to the rule '%s'",
                           i, from->name, dtype->name, casting);
    }
    return true;
}

/* The output as a term behind the others, for its shape. */
static bool read_out(dvx_vm *vm, sum *s, dvx_value out, const nd_dtype *dtype,
                     const char *casting) {
    nd_array *a = vm->api->payload(vm, out, &array_type);
    if (!a) return nd_fail(vm, DVX_TYPE_ERROR, "'out' must be an array");
    if (a->ndim != s->ndim)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "out parameter does not have the correct number of dimensions, has %d but "
                       "should have %d",
                       (int)a->ndim, s->ndim);
    if (strcmp(casting, "unsafe") && !dtype_is_safe(dtype, a->dtype))
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "Iterator requested dtype could not be cast from dtype('%s') to "
                       "dtype('%s'), the operand %d dtype, according to the rule '%s'",
                       dtype->name, a->dtype->name, s->count, casting);
    term *t = &s->terms[s->count];
    t->held = vm->api->retain(vm, out);
    t->ndim = s->ndim;
    memcpy(t->labels, s->labels, (size_t)s->ndim);
    return true;
}

static dvx_value compute(dvx_vm *vm, sum *s, dvx_value out, const nd_dtype *dtype, bool view) {
    uint8_t kept[ND_FLOAT_ERRORS];
    nd_state *state = nd_state_of(vm);
    /* (NumPy's does not look at floating point flags.) */
    memcpy(kept, state->float_errors, sizeof kept);
    error_ignore_all(vm);
    bool good = true;
    for (int i = 0; good && i < s->count; i++) {
        s->terms[i].held = compose_array(vm, s->terms[i].held, dtype);
        good = !dvx_failed(s->terms[i].held);
    }
    good = good && join_all(vm, s);
    memcpy(state->float_errors, kept, sizeof kept);
    if (!good) return DVX_FAILED;
    dvx_value made = s->terms[0].held;
    s->terms[0].held = DVX_FAILED;
    const nd_array *a = array_of(vm, made);
    if (!dvx_failed(out)) {
        good = array_writable(vm, array_of(vm, out)) && array_assign(vm, array_of(vm, out), a);
        vm->api->release(vm, made);
        return good ? vm->api->retain(vm, out) : DVX_FAILED;
    }
    if (!view && (a->flags & (ND_HAS_BASE | ND_C_CONTIGUOUS)) != ND_C_CONTIGUOUS)
        made = compose_first(vm, array_copy(vm, a, a->dtype, 'C'), made);
    return dvx_failed(made) || view ? made : array_result(vm, made);
}

enum { OUT = MOST_TERMS + 1, DTYPE, ORDER, CASTING, OPTIMIZE };

static dvx_value einsum(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    enum { READING = 64 }; /* the subscripts, as work */
    sum s;
    char text[MOST_TEXT], casting[32] = "safe", order[32] = "K";
    size_t length;
    const nd_dtype *dtype = NULL;
    int given = 0;
    (void)count;
    while (given <= MOST_TERMS && !dvx_failed(args[given])) given++;
    if (given < 2)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        given ? "must specify the einstein sum subscripts string and at least one "
                                "operand"
                              : "must specify the einstein sum subscripts string and at least one "
                                "operand, or at least one operand and its corresponding "
                                "subscripts list");
    if (vm->api->kind(vm, args[0]) != DVX_STR)
        return nd_raise(vm, DVX_TYPE_ERROR, "einsum by lists of axes is not part of ndarray");
    if (!vm->api->read_str(vm, args[0], text, sizeof text, &length)) return DVX_FAILED;
    if (length >= sizeof text)
        return nd_raise(vm, DVX_VALUE_ERROR, "too many subscripts in einsum");
    if (nd_is_given(vm, args[CASTING])) nd_word(vm, args[CASTING], casting);
    if (nd_is_given(vm, args[ORDER])) nd_word(vm, args[ORDER], order);
    if (strcmp(order, "K") && strcmp(order, "C") && strcmp(order, "A"))
        return nd_raise(vm, DVX_TYPE_ERROR, "einsum(order='%s') is not part of ndarray", order);
    if (!nd_work(vm, READING)) return DVX_FAILED;
    memset(&s, 0, sizeof s);
    for (int i = 0; i <= MOST_TERMS; i++) s.terms[i].held = DVX_FAILED;
    s.count = given - 1;
    nd_array *a;
    const nd_dtype *common = NULL;
    dvx_value made = DVX_FAILED;
    bool good = true;
    for (int i = 0; good && i < s.count; i++) {
        s.terms[i].held = array_operand(vm, args[1 + i], NULL, &a);
        good = !dvx_failed(s.terms[i].held);
        if (good) common = common ? dtype_promote(common, a->dtype) : a->dtype;
    }
    good =
        good && dtype_read_given(vm, args[DTYPE], common, &dtype) && read_subscripts(vm, &s, text);
    const bool has_out = good && nd_is_given(vm, args[OUT]);
    /* One operand of which nothing is summed: a view of it, whatever dtype is asked for. */
    const bool view = good && s.count == 1 && !has_out && s.ndim == s.terms[0].ndim && s.ndim > 0;
    if (view) dtype = common;
    good = good && check_casts(vm, &s, dtype, casting);
    if (good && has_out) good = read_out(vm, &s, args[OUT], dtype, casting);
    if (good && find_sizes(vm, &s, s.count + has_out))
        made = compute(vm, &s, has_out ? args[OUT] : DVX_FAILED, dtype, view);
    for (int i = 0; i <= MOST_TERMS; i++) vm->api->release(vm, s.terms[i].held);
    return made;
}

/* ---- Tables ---- */

static const char *const einsum_names[] = {".0",  ".1",  ".2",    ".3",    ".4",      ".5",
                                           ".6",  ".7",  ".8",    ".9",    ".10",     ".11",
                                           ".12", "out", "dtype", "order", "casting", "optimize"};
static const dvx_parameters of_einsum = {sizeof(dvx_parameters), einsum_names,
                                         LENGTH_OF(einsum_names), MOST_TERMS + 1, 0};

static const dvx_function functions[] = {ND_NAMED("einsum", einsum, of_einsum)};

bool einsum_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
