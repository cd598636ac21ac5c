/* raw.h: C functions that regions call with numbers as C has them, without boxing
 * ("Dr Wenowdis", arXiv 2403.02420, does the same for a JIT; ext/SITES.md says how to offer some).
 *
 * A signature is a text like "d(dd)": the result, then the arguments.
 *
 *     d double     q int64_t     i int32_t     b bool (result only)     v nothing (result only)
 *     p void *, the payload of an object (methods of extensions' types only): of the method's own
 *       type, exactly
 *
 * Invariants
 *  1. For arguments of these types, entry gives what the function itself gives, wherever `defined`
 *     says so.  Where a function has one signature, an int does for a d what its double does; where
 * it has several (abs), kinds are matched exactly.  An int beyond the range of i fits nothing.
 *  2. Only pure functions have a `defined`: where it says no, the function is called again with
 * boxed arguments, and raises.  A double that is finite is defined without being asked about.
 *  3. Functions that are not pure are called exactly once. */
#ifndef DV_CORE_RAW_H
#define DV_CORE_RAW_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*dv_raw_entry)(void); /* of the type that the signature says */

typedef union dv_raw_value {
    int64_t i;
    double d;
} dv_raw_value;

typedef struct dv_raw {
    const char *signature; /* NULL ends a list of them */
    dv_raw_entry entry;
    bool pure;
    bool (*defined)(const dv_raw_value *arguments, dv_raw_value result); /* NULL: always */
    int *error_number; /* errno is set to this before the call, and kept here after it; NULL: it
                          does not matter */
} dv_raw;

/* Where the payload of an extension's object begins (plugin/type.h). */
enum { DV_PAYLOAD_OFFSET = 16 };

#endif
