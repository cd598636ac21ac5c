/* pattern.c: patterns of match statements (pattern.h). */
#include "types/class/pattern.h"

#include <string.h>

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/mapping/set.h"
#include "types/sequence/list.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

/* What is found may run dl code, which uses the stack from vm->sp on, where the results will be:
 * they wait elsewhere. */
typedef struct results {
    dv_value few[16], *items;
    int64_t count, left; /* still to be found */
} results;

static bool begin_results(dv_vm *vm, results *r, int64_t n) {
    r->count = r->left = n;
    r->items = n > 16 ? dv_heap_alloc(&vm->heap, (size_t)n * sizeof *r->items) : r->few;
    if (r->items) return true;
    dv_raise_memory(vm);
    return false;
}

/* 1: all are there and go to `out`; 0: they become None; -1: there is an error. */
static int end_results(dv_vm *vm, results *r, dv_value *out) {
    const bool failed = !dv_is_empty(vm->error);
    for (int64_t i = r->left; r->left > 0 && i < r->count; i++) dv_release(vm, r->items[i]);
    for (int64_t i = 0; !failed && i < r->count; i++) out[i] = r->left ? DV_NONE : r->items[i];
    if (r->items != r->few) dv_heap_free(&vm->heap, r->items, (size_t)r->count * sizeof *r->items);
    return failed ? -1 : r->left == 0;
}

/* Sequences and mappings ------------------------------------------------------------------------
 */

int dv_pattern_sequence(dv_vm *vm, dv_value v, int64_t n) {
    int64_t length;
    if (dv_class_of(vm, v)->collection != DV_COLLECTION_SEQUENCE) return 0;
    if (n == 1) return 1;
    length = dv_length(vm, v);
    if (length < 0) return -1;
    return n & 1 ? length >= n >> 1 : length == n >> 1;
}

dv_value dv_pattern_item(dv_vm *vm, dv_value v, int64_t n) {
    const int64_t length = dv_length(vm, v);
    return length < 0 ? DV_EMPTY : dv_get_item(vm, v, dv_int(length - n));
}

int dv_pattern_mapping(dv_vm *vm, dv_value v, int64_t n) {
    if (dv_class_of(vm, v)->collection != DV_COLLECTION_MAPPING) return 0;
    if (n == 0) return 1;
    int64_t length = dv_length(vm, v);
    return length < 0 ? -1 : length >= n;
}

/* Keys ------------------------------------------------------------------------------------------
 */

/* How the values are got: from a dict, or by its method `get`. */
typedef struct source {
    dv_value mapping, get, nothing; /* get: EMPTY for a dict */
    dv_value seen;                  /* the keys so far, or EMPTY: they differ */
} source;

static bool begin(dv_vm *vm, source *s, bool literals) {
    if (!literals) {
        s->seen = dv_set_new(vm);
        if (dv_is_empty(s->seen)) return false;
    }
    if (dv_is_shape(s->mapping, DV_T_DICT)) return true;
    s->get = dv_get_named(vm, s->mapping, "get");
    if (dv_is_empty(s->get)) return false;
    s->nothing = dv_call(vm, dv_object_value(vm->classes[DV_T_OBJECT]), NULL, 0, DV_EMPTY);
    return !dv_is_empty(s->nothing);
}

/* False: raised. */
static bool check_key(dv_vm *vm, const source *s, dv_value key) {
    if (dv_is_empty(s->seen)) return true;
    int known = dv_set_contains(vm, s->seen, key);
    if (known > 0) dv_raise(vm, DV_E_VALUE_ERROR, "mapping pattern checks duplicate key (%V)", key);
    return known == 0 && dv_set_add(vm, s->seen, key);
}

/* EMPTY without vm->error: it is not there. */
static dv_value get_value(dv_vm *vm, const source *s, dv_value key) {
    if (dv_is_empty(s->get)) return dv_retain(dv_dict_get(vm, s->mapping, key));
    const dv_value args[] = {key, s->nothing};
    dv_value v = dv_call(vm, s->get, args, 2, DV_EMPTY);
    if (!dv_same(v, s->nothing)) return v;
    dv_release(vm, v);
    return DV_EMPTY;
}

int dv_pattern_keys(dv_vm *vm, dv_value mapping, const dv_value *keys, int64_t n, bool literals,
                    dv_value *out) {
    source s = {mapping, DV_EMPTY, DV_EMPTY, DV_EMPTY};
    results r;
    if (!begin_results(vm, &r, n)) return -1;
    for (bool good = begin(vm, &s, literals); good && r.left > 0; r.left--) {
        const dv_value key = keys[n - r.left];
        const dv_value v = check_key(vm, &s, key) ? get_value(vm, &s, key) : DV_EMPTY;
        if (dv_is_empty(v)) break;
        r.items[r.left - 1] = v;
    }
    dv_release(vm, s.seen);
    dv_release(vm, s.get);
    dv_release(vm, s.nothing);
    return end_results(vm, &r, out);
}

/* Classes ---------------------------------------------------------------------------------------
 */

/* Its name in messages, new: with the module, where it is a type of C in a module. */
static dv_value name_of(dv_vm *vm, const dv_class *class_) {
    const bool of_module = class_->descriptor && strchr(class_->descriptor->name, '.');
    return of_module ? dv_str_z(vm, class_->descriptor->name) : dv_retain(class_->name);
}

/* Does a positional pattern of such a class match the subject itself? */
static bool matches_itself(const dv_class *class_) {
    switch (class_->type) {
    case DV_T_BOOL:
    case DV_T_FLOAT:
    case DV_T_INT:
    case DV_T_STR:
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_DICT:
    case DV_T_SET:
    case DV_T_FROZENSET:
    case DV_T_BYTES:
    case DV_T_BYTEARRAY: return true;
    default: return false;
    }
}

static int raise_accepts(dv_vm *vm, const dv_class *class_, int64_t allowed, int64_t given) {
    dv_value name = name_of(vm, class_);
    if (!dv_is_empty(name))
        dv_raise(vm, DV_E_TYPE_ERROR, "%S() accepts %d positional sub-pattern%s (%d given)", name,
                 (int)allowed, allowed == 1 ? "" : "s", (int)given);
    dv_release(vm, name);
    return -1;
}

/* __match_args__ of a class as most have it: in a cell, and no descriptor; EMPTY: look again. */
static dv_value plain_names(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *cell =
        class_->metaclass ? NULL : dv_class_find(vm, class_, vm->known.match_args);
    return cell && dv_is_shape(cell->value, DV_T_TUPLE) ? dv_retain(cell->value) : DV_EMPTY;
}

/* The names of the first n patterns: 1, with a new tuple; 0: the first is the subject itself; -1
 * raised. */
static int positional_names(dv_vm *vm, dv_value class_, int64_t n, dv_value *names) {
    const dv_class *c = dv_as_class(class_);
    *names = plain_names(vm, dv_as_class(class_));
    if (dv_is_empty(*names)) *names = dv_find_attribute(vm, class_, vm->known.match_args);
    if (dv_is_empty(*names)) {
        if (!dv_is_empty(vm->error)) return -1;
        const int64_t allowed = matches_itself(c);
        if (n > allowed) return raise_accepts(vm, c, allowed, n);
        return 0;
    }
    if (!dv_is_shape(*names, DV_T_TUPLE)) {
        dv_value name = name_of(vm, c);
        if (!dv_is_empty(name))
            dv_raise(vm, DV_E_TYPE_ERROR, "%S.__match_args__ must be a tuple (got %T)", name,
                     *names);
        dv_release(vm, name);
    } else if (dv_as_tuple(*names)->count < n) {
        raise_accepts(vm, c, dv_as_tuple(*names)->count, n);
    } else {
        return 1;
    }
    dv_release(vm, *names);
    *names = DV_EMPTY;
    return -1;
}

/* What a class pattern looks at. */
typedef struct looked {
    dv_value subject, class_;
    const dv_value *first, *last; /* names: of the first ones, NULL: the subject itself */
    int64_t first_count;
} looked;

static dv_value name_at(const looked *l, int64_t i) {
    return i < l->first_count ? l->first[i] : l->last[i - l->first_count];
}

static bool raise_repeated(dv_vm *vm, const looked *l, dv_value attribute) {
    dv_value name = name_of(vm, dv_as_class(l->class_));
    if (!dv_is_empty(name))
        dv_raise(vm, DV_E_TYPE_ERROR, "%S() got multiple sub-patterns for attribute %V", name,
                 attribute);
    dv_release(vm, name);
    return false;
}

/* Is the name of number i a str, and none before it the same? */
static bool check_name(dv_vm *vm, const looked *l, int64_t i) {
    const dv_value name = name_at(l, i);
    if (!dv_is_shape(name, DV_T_STR)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__match_args__ elements must be strings (got %T)", name);
        return false;
    }
    for (int64_t k = l->first ? 0 : l->first_count; k < i; k++)
        if (dv_str_equal(name_at(l, k), name)) return raise_repeated(vm, l, name);
    return true;
}

/* EMPTY without vm->error: there is no such attribute. */
static dv_value attribute_at(dv_vm *vm, const looked *l, int64_t i) {
    if (i < l->first_count && !l->first) return dv_retain(l->subject);
    if (!check_name(vm, l, i)) return DV_EMPTY;
    dv_value name = dv_str_intern_value(vm, name_at(l, i));
    dv_value v = dv_is_empty(name) ? DV_EMPTY : dv_find_attribute(vm, l->subject, name);
    dv_release(vm, name);
    return v;
}

/* Finds the attributes of an instance of the class. */
static void look(dv_vm *vm, looked *l, results *r) {
    dv_value first = DV_EMPTY;
    if (l->first_count > 0) {
        const int status = positional_names(vm, l->class_, l->first_count, &first);
        if (status < 0) return;
        if (status > 0) l->first = dv_as_tuple(first)->items;
    }
    for (; r->left > 0; r->left--) {
        const dv_value v = attribute_at(vm, l, r->count - r->left);
        if (dv_is_empty(v)) break;
        r->items[r->left - 1] = v;
    }
    dv_release(vm, first);
}

int dv_pattern_class(dv_vm *vm, dv_value subject, dv_value class_, int64_t n, dv_value names,
                     dv_value *out) {
    looked l = {subject, class_, NULL, dv_as_tuple(names)->items, n - dv_as_tuple(names)->count};
    int status = 1;
    if (!dv_is_class(class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "called match pattern must be a type");
        return -1;
    }
    if (dv_class_of(vm, subject) != dv_as_class(class_))
        status = dv_is_instance_of(vm, subject, class_);
    if (status < 0) return -1;
    if (status == 0)
        for (int64_t i = 0; i < n; i++) out[i] = DV_NONE;
    if (status <= 0) return status;
    results r;
    if (!begin_results(vm, &r, n)) return -1;
    look(vm, &l, &r);
    return end_results(vm, &r, out);
}
