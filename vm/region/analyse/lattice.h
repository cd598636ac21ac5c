/* lattice.h: what the abstract interpreter knows about a value.
 *
 *                    ANY
 *      /    /    |     |      \        \
 *    INT FLOAT BOOL  LIST  CONSTANT  VIRTUAL  (unset: ANY that may be EMPTY)
 *      \    \    |     |      /
 *                 NOTHING
 *
 * INT, FLOAT and BOOL are raw in regions, and so is CHAR, a str of one character of Latin-1, as the
 * number of that (text.h); so is COMPLEX, in two slots (complex.h).  All others are values in their
 * home slots.  Beside LIST there are TUPLE, STR, BYTES, BYTEARRAY, and an ARRAY for each kind of
 * element: *containers*, of exactly that type.  VIRTUAL is an instance that has not been made
 * (virtual.h); WALK, an iterator that has not been made, becomes ANY elsewhere, and then it is made
 * from the beginning (walk.c).  RANGE (an iterator whose state is raw), RESERVED (entries of a call
 * being prepared), RAISED and HANDLED (exceptions that have not been made, raised.h) join only with
 * themselves. */
#ifndef DV_REGION_LATTICE_H
#define DV_REGION_LATTICE_H

#include "types/binary/array.h"

typedef enum dv_kind {
    DV_K_NOTHING,
    DV_K_INT,
    DV_K_FLOAT,
    DV_K_BOOL,
    DV_K_CHAR,
    DV_K_COMPLEX,
    DV_K_LIST,
    DV_K_TUPLE,
    DV_K_STR,
    DV_K_BYTES,
    DV_K_BYTEARRAY,
    DV_K_ARRAY,                               /* of UINT8, and so on: + dv_element */
    DV_K_CONSTANT = DV_K_ARRAY + DV_ELEMENTS, /* exactly this object */
    DV_K_VIRTUAL,                             /* nowhere; `slot` is the number of its record */
    DV_K_ANY,
    DV_K_UNSET, /* a local that may be unassigned */
    DV_K_WALK,  /* the iterator of a list or tuple: what it walks is at home, the index raw */
    DV_K_RANGE,
    DV_K_RESERVED,
    DV_K_RAISED,  /* an exception that has not been made */
    DV_K_HANDLED, /* what was handled before it is, by which the place is taken */
    DV_K_CONFLICT /* no common representation: the region is given up */
} dv_kind;

/* In one slot or a register. */
static inline bool dv_kind_is_raw(dv_kind k) { return k >= DV_K_INT && k <= DV_K_CHAR; }

static inline bool dv_kind_is_container(dv_kind k) { return k >= DV_K_LIST && k < DV_K_CONSTANT; }

/* Which container v is; NOTHING: none. */
static inline dv_kind dv_kind_of_container(dv_value v) {
    if (!dv_is_object(v)) return DV_K_NOTHING;
    switch (dv_as_object(v)->shape) {
    case DV_T_LIST: return DV_K_LIST;
    case DV_T_TUPLE: return DV_K_TUPLE;
    case DV_T_STR: return DV_K_STR;
    case DV_T_BYTES: return DV_K_BYTES;
    case DV_T_BYTEARRAY: return DV_K_BYTEARRAY;
    case DV_T_ARRAY:
        return dv_as_array(v)->element < DV_ELEMENTS
                   ? (dv_kind)(DV_K_ARRAY + dv_as_array(v)->element)
                   : DV_K_NOTHING;
    default: return DV_K_NOTHING;
    }
}

/* What is known of a local or an entry that has v, whatever becomes of it. */
static inline dv_kind dv_kind_of(dv_value v) {
    const dv_kind container = dv_kind_of_container(v);
    return container        ? container
           : dv_is_int(v)   ? DV_K_INT
           : dv_is_float(v) ? DV_K_FLOAT
           : dv_is_bool(v)  ? DV_K_BOOL
           : dv_is_empty(v) ? DV_K_UNSET
                            : DV_K_ANY;
}

/* Least upper bound (CONSTANT with CONSTANT: of different objects). */
static inline dv_kind dv_kind_join(dv_kind a, dv_kind b) {
    if (a == b) return a == DV_K_CONSTANT ? DV_K_ANY : a;
    if (a == DV_K_NOTHING) return b;
    if (b == DV_K_NOTHING) return a;
    if (a >= DV_K_RANGE || b >= DV_K_RANGE) return DV_K_CONFLICT;
    if (a == DV_K_WALK || b == DV_K_WALK) return DV_K_ANY;
    return a == DV_K_UNSET || b == DV_K_UNSET ? DV_K_UNSET : DV_K_ANY;
}

#endif
