/* native.h: the native tier of extensions: handlers that are instructions like the VM's own.
 *
 * An extension that defines DVX_NATIVE gets this through dynvm_ext.h: the layout of values and
 * objects (core/, types/), the engine's macros (run/engine.h), and DVX_HANDLERS, which makes two
 * handlers of one inline function.  They are compiled against one build of the VM, whose
 * fingerprint the extension carries (dv_fingerprint.h, generated); any other VM runs the portable
 * twins.
 *
 * Invariants
 *  1. A handler links no symbol of the VM: what is not inline here it reaches through vm->plugins.
 *  2. A site with a native handler has the length, layout and cache of CALL_C (CALL_METHOD_C): the
 *     cache cell holds the dv_cfunction_def of the callee.
 *  3. The inline function has no effect and calls nothing; it computes a value or says DVX_FAILED,
 *     and then the ordinary call is made (and raises what there is to raise). */
#ifndef DV_PLUGIN_NATIVE_H
#define DV_PLUGIN_NATIVE_H

/* Which form the extension's handlers have: sibling calls are only sure in optimised code without
 * instrumentation.  Both forms may stand in one stream. */
#ifndef DV_TRAMPOLINE
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(DVX_TRAMPOLINE)
#define DV_TRAMPOLINE 0
#else
#define DV_TRAMPOLINE 1
#endif
#endif

#include "dv_fingerprint.h"
#include "run/engine.h"
#include "types/function.h"

#define DVX_FINGERPRINT DV_FINGERPRINT

typedef dv_value dvx_value;
typedef dv_vm dvx_vm;
typedef dv_handler dvx_handler;

/* Where native handlers go when it gets slow, at the beginning of struct dv_plugins.  One of each
 * for CALL and for CALL_METHOD. */
typedef struct dv_native {
    dv_handler miss[2];   /* a miss for the site, and the ordinary call */
    dv_handler finish[2]; /* r: bits of the result; releases arguments and callee */
} dv_native;

#define DVX_TABLE ((const dv_native *)(const void *)vm->plugins)

/* Is the callee of the site at ip still the function that the site was specialised for? */
static inline bool dvx_is_callee(const dv_cell *ip, dv_value callee) {
    return dv_is_shape(callee, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)(const void *)dv_as_object(callee))->def == ip[3].p;
}

/* Is any of the last n entries below sp an object?  (Folds to false after a guard that proved all
 * of them immediate.) */
static inline bool dvx_any_object(const dv_value *sp, int n) {
    return (n > 0 && dv_is_object(sp[-1])) || (n > 1 && dv_is_object(sp[-2])) ||
           (n > 2 && dv_is_object(sp[-3])) || (n > 3 && dv_is_object(sp[-4])) ||
           (n > 4 && dv_is_object(sp[-5])) || (n > 5 && dv_is_object(sp[-6])) || n > 6;
}

/* Two handlers, name_call and name_call_method, of
 *     static inline dvx_value function(const dvx_value *args)
 * for calls with exactly `count` arguments. */
#define DVX_HANDLERS(name, function, count)      \
    DVX_HANDLER(name##_call, function, count, 0) \
    DVX_HANDLER(name##_call_method, function, count, 1)

#define DVX_MISS(method)               \
    do {                               \
        DEAD();                        \
        TAIL(DVX_TABLE->miss[method]); \
    } while (0)

/* The operand stack holds the callee, two reserved entries, for CALL_METHOD a self that must be
 * EMPTY, and the arguments. */
#define DVX_HANDLER(name, function, count, method)                                         \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                    \
        enum { LEN = 4, N = (count), DEPTH = N + 3 + (method) };                           \
        BEGIN();                                                                           \
        const dv_value callee = sp[-DEPTH];                                                \
        if (DV_UNLIKELY(!dvx_is_callee(ip, callee) || GUARD_FAILS())) DVX_MISS(method);    \
        if ((method) && DV_UNLIKELY(!dv_is_empty(sp[-N - 1]))) DVX_MISS(method);           \
        const dv_value result = (function)(sp - N);                                        \
        if (DV_UNLIKELY(dv_is_empty(result))) DVX_MISS(method);                            \
        if (DV_UNLIKELY(dv_as_object(callee)->references == 1) || dvx_any_object(sp, N)) { \
            r = (int64_t)result.bits;                                                      \
            TAIL(DVX_TABLE->finish[method]);                                               \
        }                                                                                  \
        dv_as_object(callee)->references--;                                                \
        sp -= DEPTH - 1;                                                                   \
        sp[-1] = result;                                                                   \
        NEXT();                                                                            \
    }

#endif
