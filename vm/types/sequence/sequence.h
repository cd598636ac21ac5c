/* sequence.h: the rules that str, list, tuple and range share: indices, bounds, repetition,
 * concatenation; and comparing, searching and printing the items of lists and tuples. */
#ifndef DV_TYPES_SEQUENCE_H
#define DV_TYPES_SEQUENCE_H

#include "core/upcall.h"
#include "core/vm.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* A key as an index.  `refusal` is the TypeError for what is no index, with one %T for the key. */
bool dv_sequence_index(dv_vm *vm, dv_value key, const char *refusal, int64_t *index) DV_MUST_CHECK;

/* An argument that is a size or a count: an int within int64, or else TypeError or OverflowError.
 */
bool dv_size_argument(dv_vm *vm, dv_value v, int64_t *size) DV_MUST_CHECK;

/* A size where None was possible, too (and was seen to by the caller): other messages. */
bool dv_optional_size_argument(dv_vm *vm, dv_value v, int64_t *size) DV_MUST_CHECK;

/* The same as dv_size_argument for what is an int in CPython: within int32. */
bool dv_int_argument(dv_vm *vm, dv_value v, int64_t *number) DV_MUST_CHECK;

/* Does the value count as an index: int, bool, or an instance with __index__? */
bool dv_is_index(dv_vm *vm, dv_value v);

/* A bound of a slice, or a start or stop argument: ints of any size are clipped to int64.
 * `none_allowed` says which of CPython's two messages TypeError has; None itself is the caller's.
 */
bool dv_slice_bound(dv_vm *vm, dv_value v, bool none_allowed, int64_t *bound) DV_MUST_CHECK;

/* Optional start and stop among method arguments, clipped to 0 .. length. */
bool dv_search_bounds(dv_vm *vm, const dv_value *args, uint32_t count, int64_t length,
                      bool none_allowed, int64_t *start, int64_t *stop) DV_MUST_CHECK;

/* For sequence * n and n * sequence: *sequence and *times; TypeError for what is no number.  (An
 * instance with __rmul__ has been asked before, see run/protocol.c.) */
bool dv_repeat_operands(dv_vm *vm, dv_type_id type, dv_value a, dv_value b, dv_value *sequence,
                        int64_t *times) DV_MUST_CHECK;

/* What a + b is where a is a sequence named `name` and b is none: TypeError 'can only concatenate
 * ...'. */
dv_value dv_concat_refuse(dv_vm *vm, const char *name, dv_value b);

/* operator.length_hint: how many items v says it has, or `otherwise`; -1: raised. */
int64_t dv_length_hint(dv_vm *vm, dv_value v, int64_t otherwise);

/* Items of a list or tuple, as they are now. */
const dv_value *dv_items_of(dv_value sequence, int64_t *count);
/* The same of any value, perhaps an iterator of one: that may be none, and then *count is 0.
 * (iterator.c) */
const dv_value *dv_items_within(dv_value v, int64_t *count);
/* The iterator of a list or a tuple, which it takes, from the index on; EMPTY: raised, not taken.
 * And is it such a one that nobody else has, not exhausted?  It ends: what it walks, which is the
 * caller's, and the index. */
dv_value dv_walk_begin(dv_vm *vm, dv_value sequence, int64_t index);
bool dv_walk_is_own(dv_value iterator);
int64_t dv_walk_index(dv_value iterator);
dv_value dv_walk_end(dv_vm *vm, dv_value iterator);
/* Is v, or does it walk, perhaps through an enumerate, a str with characters beyond Latin-1? */
bool dv_is_wide_text(dv_value v);

/* Rich comparison of two lists or two tuples. */
dv_value dv_items_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);

/* The same of two tuples of `count` items each, which are not made where the program could not
 * tell: those of b stand behind those of a. */
dv_value dv_compare_displays(dv_vm *vm, dv_compare_op op, const dv_value *a, int64_t count);

/* Position of the first equal item in [start, stop), which may lie beyond the end; -1: none; -2:
 * raised. */
int64_t dv_items_find(dv_vm *vm, dv_value sequence, dv_value item, int64_t start, int64_t stop);
int64_t dv_items_count(dv_vm *vm, dv_value sequence, dv_value item); /* -1: raised */

/* dv_equal of values whose comparison runs no code of the program; -1: of others. */
static inline int dv_equal_plainly(dv_value a, dv_value b) {
    if (dv_same(a, b)) return 1;
    if (dv_are_ints(a, b)) return 0;
    if (dv_is_float(a) && dv_is_float(b)) return dv_as_float(a) == dv_as_float(b);
    return dv_is_shape(a, DV_T_STR) && dv_is_shape(b, DV_T_STR) ? dv_str_equal(a, b) : -1;
}
/* The same for tuples, item by item. */
static inline int dv_tuples_equal_plainly(const dv_tuple *a, const dv_tuple *b) {
    for (int64_t i = 0; i < a->count && i < b->count; i++) {
        const dv_value x = a->items[i], y = b->items[i];
        if (dv_same(x, y)) continue;
        const int equal = dv_equal_plainly(x, y);
        if (equal != 1) return equal;
    }
    return a->count == b->count;
}
/* Is it among the items of the list, tuple or range?  -1: one must be asked, or there are many. */
int dv_sequence_has_at_once(dv_vm *vm, dv_value sequence, dv_value v);
/* a < b of tuples whose first items that differ are ints, floats or strs; -1: of others. */
int dv_tuples_less_plainly(const dv_tuple *a, const dv_tuple *b);
/* The same for any operator, and short tuples. */
int dv_tuples_compare_plainly(dv_compare_op op, const dv_tuple *a, const dv_tuple *b);
/* dv_equal with the common cases inline. */
int dv_items_equal(dv_vm *vm, dv_value a, dv_value b);

/* "[1, 2]": `close` goes in front of the closing bracket ("," for a tuple of one item). */
dv_value dv_items_repr(dv_vm *vm, dv_value sequence, const char *open, const char *close,
                       const char *recursive);

/* Is the repr of this object being made further out?  If not, the guard is entered. */
bool dv_repr_enter(dv_vm *vm, struct dv_repr_guard *guard, dv_value v);
void dv_repr_leave(dv_vm *vm);

/* The items of any iterable, collected in order to an array on the VM's heap (capacity *room); the
 * caller owns the items.  False: raised. */
typedef struct dv_items {
    dv_value *data;
    int64_t count, room;
} dv_items;
bool dv_items_collect(dv_vm *vm, dv_value iterable, dv_items *out) DV_MUST_CHECK;
/* The same, but it is the iterator that is asked how many there are (CPython's PySequence_Fast). */
bool dv_items_iterate(dv_vm *vm, dv_value iterable, dv_items *out) DV_MUST_CHECK;
/* The same with what an iterator still has. */
bool dv_items_drain(dv_vm *vm, dv_value iterator, dv_items *out) DV_MUST_CHECK;
/* Calls __len__ or else __length_hint__ where that may be dl code, as CPython does before it
 * makes a list or tuple of its items; what they raise, but for a TypeError, is raised. */
bool dv_ask_length(dv_vm *vm, dv_value iterable) DV_MUST_CHECK;
void dv_items_discard(dv_vm *vm, dv_items *items);

#endif
