/* compile_pattern.h: code for patterns, which tests a value and says where the parts are that it
 * binds.
 *
 * Invariants
 *  1. `height` is the number of entries on the operand stack that belong to the match statement.
 *     What a pattern has taken apart stays there until all of it has matched, and is addressed by
 *     its place: nothing is bound before, as in CPython, and little is moved.
 *  2. A mismatch jumps to the label of the height at which it happens (dv_mismatch); the code
 * behind these labels pops what stands above `base`.
 *  3. A value in a local is read again instead of copied: no pattern or guard of the statement
 * binds that local.
 *  4. `at` is where CPython's compiler is: it shows in messages and tracebacks. */
#ifndef DV_LANG_COMPILE_PATTERN_H
#define DV_LANG_COMPILE_PATTERN_H

#include "lang/compile/compile.h"

typedef enum dv_subject_kind {
    DV_SUBJECT_ENTRY, /* of the operand stack */
    DV_SUBJECT_LOCAL,
    DV_SUBJECT_ITEMS /* a tuple that is not made: its items */
} dv_subject_kind;

/* Where a value is that a pattern looks at. */
typedef struct dv_subject {
    dv_subject_kind kind;
    bool dies; /* an entry that nothing looks at behind the pattern */
    uint32_t entry;
    uint32_t count;
    const dv_expr *name;
    const struct dv_subject *items;
} dv_subject;

typedef struct dv_mismatch {
    uint32_t base;
    uint32_t count, capacity;
    dv_label *labels; /* by height above the base */
} dv_mismatch;

typedef struct dv_capture {
    const dv_expr *name;
    dv_subject from;
} dv_capture;

typedef struct dv_captures {
    dv_capture *items;
    uint32_t count, capacity;
} dv_captures;

typedef struct dv_matcher {
    dv_compiler *c;
    dv_range at;
    uint32_t height;
    dv_mismatch *mismatch;
    dv_captures captures;
    bool irrefutable; /* may the pattern match everything? */
} dv_matcher;

/* Falls through where the subject matches. */
bool dv_compile_pattern(dv_matcher *m, const dv_pattern *pattern, dv_subject subject);

/* Pushes the value, owned. */
void dv_matcher_load(dv_matcher *m, dv_subject subject);
/* Pops entries until so many are left. */
void dv_matcher_pop(dv_matcher *m, uint32_t height);
/* Where a mismatch at the current height goes. */
dv_label dv_matcher_label(dv_matcher *m);
/* The code behind the labels; the height is the base then. */
void dv_matcher_place(dv_matcher *m, dv_mismatch *mismatch);

#endif
