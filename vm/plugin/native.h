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

/* What native handlers call, at the beginning of struct dv_plugins. */
typedef struct dv_native {
    dv_handler miss_call, miss_call_method; /* a miss for the site, and the ordinary call */
    void (*dispose)(dv_vm *vm, dv_object *object);
} dv_native;

#define DVX_TABLE ((const dv_native *)(const void *)vm->plugins)

/* Is the callee of the site at ip still the function that the site was specialised for? */
static inline bool dvx_is_callee(const dv_cell *ip, dv_value callee) {
    return dv_is_shape(callee, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)(const void *)dv_as_object(callee))->def == ip[3].p;
}

static inline void dvx_drop(dv_vm *vm, dv_value v) {
    if (dv_is_object(v) && --dv_as_object(v)->references == 0)
        DVX_TABLE->dispose(vm, dv_as_object(v));
}

/* Two handlers, name_call and name_call_method, of
 *     static inline dvx_value function(const dvx_value *args)
 * for calls with exactly `count` arguments. */
#define DVX_HANDLERS(name, function, count)                 \
    DVX_HANDLER(name##_call, function, count, 0, miss_call) \
    DVX_HANDLER(name##_call_method, function, count, 1, miss_call_method)

/* The operand stack holds the callee, two reserved entries, for CALL_METHOD a self that must be
 * EMPTY, and the arguments. */
#define DVX_HANDLER(name, function, count, selves, miss)                                     \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                      \
        enum { LEN = 4, N = (count), DEPTH = N + 3 + (selves) };                             \
        BEGIN();                                                                             \
        const dv_value callee = sp[-DEPTH];                                                  \
        if (DV_UNLIKELY(!dvx_is_callee(ip, callee) || GUARD_FAILS())) TAIL(DVX_TABLE->miss); \
        if ((selves) && DV_UNLIKELY(!dv_is_empty(sp[-N - 1]))) TAIL(DVX_TABLE->miss);        \
        const dv_value result = (function)(sp - N);                                          \
        if (DV_UNLIKELY(dv_is_empty(result))) TAIL(DVX_TABLE->miss);                         \
        PUBLISH();                                                                           \
        for (int i = 1; i <= N; i++) dvx_drop(vm, sp[-i]);                                   \
        sp -= DEPTH - 1;                                                                     \
        sp[-1] = result;                                                                     \
        dvx_drop(vm, callee);                                                                \
        NEXT();                                                                              \
    }

#endif
