/* lattice.h: what the abstract interpreter knows about a value.
 *
 *                    ANY
 *      /    /    |     |      \        \
 *    INT FLOAT BOOL  LIST  CONSTANT  (unset: ANY that may be EMPTY)
 *      \    \    |     |      /
 *                 NOTHING
 *
 * INT, FLOAT and BOOL are raw in regions; all others are values in their home slots.  RANGE (an
 * iterator whose state is raw) and RESERVED (entries of a call being prepared) join only with
 * themselves. */
#ifndef DV_REGION_LATTICE_H
#define DV_REGION_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dv_kind {
    DV_K_NOTHING,
    DV_K_INT,
    DV_K_FLOAT,
    DV_K_BOOL,
    DV_K_LIST,
    DV_K_CONSTANT, /* exactly this object */
    DV_K_ANY,
    DV_K_UNSET, /* a local that may be unassigned */
    DV_K_RANGE,
    DV_K_RESERVED,
    DV_K_CONFLICT /* no common representation: the region is given up */
} dv_kind;

static inline bool dv_kind_is_raw(dv_kind k) { return k >= DV_K_INT && k <= DV_K_BOOL; }

/* Least upper bound (CONSTANT with CONSTANT: of different objects). */
static inline dv_kind dv_kind_join(dv_kind a, dv_kind b) {
    if (a == b) return a == DV_K_CONSTANT ? DV_K_ANY : a;
    if (a == DV_K_NOTHING) return b;
    if (b == DV_K_NOTHING) return a;
    if (a >= DV_K_RANGE || b >= DV_K_RANGE) return DV_K_CONFLICT;
    return a == DV_K_UNSET || b == DV_K_UNSET ? DV_K_UNSET : DV_K_ANY;
}

#endif
