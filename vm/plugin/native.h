/* native.h: the native tier of extensions: handlers that are instructions like the VM's own.
 *
 * An extension that defines DVX_NATIVE gets this through dynvm_ext.h: the layout of values and
 * objects (core/, types/), the engine's macros (run/engine.h), and DVX_HANDLERS, which makes two
 * handlers of one inline function.  They are compiled against one build of the VM, whose
 * fingerprint the extension carries (dv_fingerprint.h, generated); any other VM runs the portable
 * twins.
 *
 * Invariants
 *  1. A handler links no symbol of the VM: what is not inline here it reaches through
 * vm->extensions.plugins.
 *  2. A site with a native handler has the length, layout and cache of CALL_C (CALL_METHOD_C): the
 *     cache cell holds the dv_cfunction_def of the callee.
 *  3. The inline function has no effect and calls nothing; it computes a value or says DVX_FAILED,
 *     and then the ordinary call is made (and raises what there is to raise).  That of DVX_CALL_OUT
 *     may do what a portable twin may. */
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
#include "types/callable/function.h"
#include "types/number/range.h"
#include "types/sequence/tuple.h"

#define DVX_FINGERPRINT DV_FINGERPRINT

typedef dv_value dvx_value;
typedef dv_vm dvx_vm;
typedef dv_handler dvx_handler;

/* Where native handlers go when it gets slow, at the beginning of struct dv_plugins.  One of each
 * for CALL and for CALL_METHOD. */
typedef struct dv_native {
    dv_handler miss[2];   /* a miss for the site, and the ordinary call */
    dv_handler finish[2]; /* r: bits of the result; releases arguments and callee */
    /* The same for sites that a type's `specialise` was asked about. */
    dv_handler site_miss, site_finish, site_raise;
} dv_native;

/* What a handler looks at in such a site.  Operands are compared by keys: one word says which type
 * a value is of.  What `run` may see in place of an operand, or what it looks at itself, has mask
 * 0. */
enum { DV_MOST_OPERANDS = 20 };
typedef struct dv_occurrence {
    uint32_t keys[DV_MOST_OPERANDS], masks[DV_MOST_OPERANDS];
    uint64_t callee; /* METHOD: address of its definition; CALL of a class: its bits; else 0 */
    uint32_t length; /* cells of the instruction */
    uint32_t count;
    uint32_t meta;                    /* operands whose flag must hold ... */
    uint32_t flags[DV_MOST_OPERANDS]; /* ... and where it is in these objects */
    void *cache;
} dv_occurrence;

enum {
    DV_OPERAND_IS_INT = (int)0xFFFF0000u,
    DV_OPERAND_IS_FLOAT = (int)0xFFFE0000u,
    DV_OPERAND_IS_SPECIAL = (int)0xFFFD0000u,
    DV_OPERAND_IS_NOTHING = (int)0xFFFC0000u /* of no value */
};
/* Shapes are smaller than these.  (Of the special values, True and False have one key.) */
static inline uint32_t dv_operand_key_of(dv_value v) {
    uint32_t tag = (uint32_t)(v.bits >> 48), low = (uint32_t)v.bits & 7;
    if (DV_LIKELY(tag == DV_TAG_OBJECT >> 48)) return dv_as_object(v)->shape;
    if (tag < DV_TAG_FIRST >> 48) return (uint32_t)DV_OPERAND_IS_FLOAT;
    if (tag == DV_TAG_INT >> 48) return (uint32_t)DV_OPERAND_IS_INT;
    return (uint32_t)DV_OPERAND_IS_SPECIAL | low | (low >> 1 & 1 & ~(low >> 2));
}

static inline bool dv_occurrence_fits(const dv_occurrence *o, const dv_value *operands,
                                      uint32_t count) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < count; i++)
        differs |= (dv_operand_key_of(operands[i]) ^ o->keys[i]) & o->masks[i];
    return !differs;
}

static inline bool dv_occurrence_flags(const dv_occurrence *o, const dv_value *operands) {
    for (uint32_t i = 0; o->meta >> i; i++)
        if (o->meta >> i & 1 && !((const char *)dv_as_object(operands[i]))[o->flags[i]])
            return false;
    return true;
}

#define DVX_TABLE ((const dv_native *)(const void *)vm->extensions.plugins)
/* In the cell itself: between it and the keys there is nothing to load. */
#define DVX_OCCURRENCE ((const dv_occurrence *)(uintptr_t)ip[1].extended.occurrence)

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

/* ---- Sites of a type's `specialise` ---- */

/* The struct of an extension's type that lies in an object of exactly that type. */
static inline void *dvx_payload_of(dv_value v) { return (char *)dv_as_object(v) + 16; }

/* How many of the owned operands are this object? */
static inline uint32_t dvx_times(const dv_value *operands, int count, uint8_t own, dv_value v) {
    uint32_t times = 0;
    for (int i = 0; i < count; i++) times += own >> i & 1 && dv_same(operands[i], v);
    return times;
}

/* Is one of the owned operands an object that dies when they are released? */
static inline bool dvx_any_dies(const dv_value *operands, int count, uint8_t own) {
    for (int i = 0; i < count; i++) {
        if (!(own >> i & 1) || !dv_is_object(operands[i])) continue;
        uint64_t references = dv_as_object(operands[i])->references;
        if (references == 1) return true;
        if (count > 1 && references <= (uint64_t)count &&
            references == dvx_times(operands, count, own, operands[i]))
            return true;
    }
    return false;
}

static inline void dvx_drop(const dv_value *operands, int count, uint8_t own) {
    for (int i = 0; i < count; i++)
        if (own >> i & 1 && dv_is_object(operands[i])) dv_as_object(operands[i])->references--;
}

/* Cells of the instructions.  (Read from the occurrence, the length would put the table's latency
 * between any two instructions: measured 3 ns.) */
enum { DV_OPERATOR_LENGTH = 2, DV_ATTRIBUTE_LENGTH = 5, DV_CALL_LENGTH = 4 };

/* What handlers of operators do less often stands out of line, so that it costs them no register,
 * and one test of the site cell: flags to be looked at, and operands that are owned. */
#define DVX_LESS_OFTEN(name, type, function, count, outputs, length, failed, of_result) \
    static DV_OUT_OF_LINE const dv_cell *name##_less_often(DV_HANDLER_PARAMETERS) {     \
        enum { N = (count), OUT = (outputs) };                                          \
        BEGIN();                                                                        \
        const dv_occurrence *o = DVX_OCCURRENCE;                                        \
        const uint8_t own = ip[1].extended.own;                                         \
        if (o->meta && !dv_occurrence_flags(o, sp - N)) DVX_SITE_MISS();                \
        const type result = (function)(sp - N, o->cache);                               \
        if (DV_UNLIKELY(failed)) DVX_SITE_MISS();                                       \
        if (DV_UNLIKELY(dvx_any_dies(sp - N, N, own))) {                                \
            r = (int64_t)(of_result).bits;                                              \
            TAIL(DVX_TABLE->site_finish);                                               \
        }                                                                               \
        dvx_drop(sp - N, N, own);                                                       \
        ip += (length);                                                                 \
        sp -= N - OUT;                                                                  \
        if (OUT) sp[-1] = of_result;                                                    \
        DEAD();                                                                         \
        GO();                                                                           \
    }

#define DVX_SIMPLE(name, type, function, count, outputs, length, failed, of_result)           \
    DVX_LESS_OFTEN(name, type, function, count, outputs, length, failed, of_result)           \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                       \
        enum { N = (count), OUT = (outputs) };                                                \
        BEGIN();                                                                              \
        const dv_occurrence *o = DVX_OCCURRENCE;                                              \
        if (DV_UNLIKELY(!dv_occurrence_fits(o, sp - N, N) || GUARD_FAILS())) DVX_SITE_MISS(); \
        if (DV_UNLIKELY(ip[1].site.own)) TAIL(name##_less_often);                             \
        const type result = (function)(sp - N, o->cache);                                     \
        if (DV_UNLIKELY(failed)) DVX_SITE_MISS();                                             \
        ip += (length);                                                                       \
        sp -= N - OUT;                                                                        \
        if (OUT) sp[-1] = of_result;                                                          \
        DEAD();                                                                               \
        GO();                                                                                 \
    }

/* A handler of
 *     static inline dvx_value function(const dvx_value *operands, void *cache)
 * for sites with `count` operands of the families from BINARY to GET_ITEM. */
#define DVX_OPERATOR(name, function, count) \
    DVX_SIMPLE(name, dvx_value, function, count, 1, DV_OPERATOR_LENGTH, dv_is_empty(result), result)
/* The same for ATTRIBUTE. */
#define DVX_ATTRIBUTE(name, function) \
    DVX_SIMPLE(name, dvx_value, function, 1, 1, DV_ATTRIBUTE_LENGTH, dv_is_empty(result), result)

/* A handler of
 *     static inline bool function(const dvx_value *operands, void *cache)
 * for SET_ITEM (value, container, key): false, before any effect, where it does not fit. */
#define DVX_STORE(name, function) \
    DVX_SIMPLE(name, bool, function, 3, 0, DV_OPERATOR_LENGTH, !result, DV_NONE)

/* A handler of
 *     static inline dvx_value function(const dvx_value *operands, void *cache)
 * for METHOD with `count` operands, self among them. */
#define DVX_METHOD_CALL(name, function, count)                                          \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                 \
        enum { N = (count) };                                                           \
        BEGIN();                                                                        \
        const dv_occurrence *o = DVX_OCCURRENCE;                                        \
        const dv_value *operands = sp - N;                                              \
        const dv_value callee = operands[-3];                                           \
        if (DV_UNLIKELY(!dvx_is_method(o, callee) || GUARD_FAILS())) DVX_SITE_MISS();   \
        if (DV_UNLIKELY(!dv_occurrence_fits(o, operands, N))) DVX_SITE_MISS();          \
        if (DV_UNLIKELY(o->meta && !dv_occurrence_flags(o, operands))) DVX_SITE_MISS(); \
        const dv_value result = (function)(operands, o->cache);                         \
        if (DV_UNLIKELY(dv_is_empty(result))) DVX_SITE_MISS();                          \
        if (DV_UNLIKELY(dvx_any_dies(operands, N, 0xFF) ||                              \
                        dv_as_object(callee)->references == 1)) {                       \
            r = (int64_t)result.bits;                                                   \
            TAIL(DVX_TABLE->site_finish);                                               \
        }                                                                               \
        dvx_drop(operands, N, 0xFF);                                                    \
        dv_as_object(callee)->references--;                                             \
        ip += DV_CALL_LENGTH;                                                           \
        sp -= N + 2;                                                                    \
        sp[-1] = result;                                                                \
        DEAD();                                                                         \
        GO();                                                                           \
    }

/* Two handlers, name and name_method (for `native` and `native_method`), of
 *     static inline dvx_value function(const dvx_value *arguments, dvx_value callee, void *cache)
 * for CALL with `count` arguments, of f(...) and module.f(...).  The callee is EMPTY if it is
 * dropped.  Flags of operands (`meta`) are not looked at: such derivatives are portable. */
#define DVX_CALL(name, function, count)   \
    DVX_CALL_OF(name, function, count, 0) \
    DVX_CALL_OF(name##_method, function, count, 1)

/* The operand stack holds the callee, two reserved entries, for CALL_METHOD a self that must be
 * EMPTY, and the arguments. */
#define DVX_CALL_OF(name, function, count, method)                                          \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                     \
        enum { N = (count), DEPTH = N + 3 + (method) };                                     \
        BEGIN();                                                                            \
        const dv_occurrence *o = DVX_OCCURRENCE;                                            \
        const dv_value *arguments = sp - N;                                                 \
        const dv_value callee = sp[-DEPTH];                                                 \
        if (DV_UNLIKELY(!dvx_call_fits(o, callee, arguments, N) || GUARD_FAILS()))          \
            DVX_SITE_MISS();                                                                \
        if ((method) && DV_UNLIKELY(!dv_is_empty(arguments[-1]))) DVX_SITE_MISS();          \
        const dv_value result = (function)(arguments, callee, o->cache);                    \
        if (DV_UNLIKELY(dv_is_empty(result))) DVX_SITE_MISS();                              \
        if (DV_UNLIKELY(dvx_any_dies(arguments, N, 0xFF) ||                                 \
                        (dv_is_object(callee) && dv_as_object(callee)->references == 1))) { \
            r = (int64_t)result.bits;                                                       \
            TAIL(DVX_TABLE->site_finish);                                                   \
        }                                                                                   \
        dvx_drop(arguments, N, 0xFF);                                                       \
        if (dv_is_object(callee)) dv_as_object(callee)->references--;                       \
        ip += DV_CALL_LENGTH;                                                               \
        sp -= DEPTH - 1;                                                                    \
        sp[-1] = result;                                                                    \
        DEAD();                                                                             \
        GO();                                                                               \
    }

/* Two handlers, name and name_method, of
 *     static inline dvx_value function(dvx_vm *vm, const dvx_value *arguments, dvx_value callee,
 *                                      void *cache)
 * for CALL with any number of arguments, that may have effects and call out, also to dl code.
 * DVX_FAILED is raised if there is an error, and comes before any effect if there is none.  Only
 * the callee's type is compared: it looks at the arguments itself. */
#define DVX_CALL_OUT(name, function)                                                        \
    /* r: how far the callee is below the arguments. */                                     \
    static const dv_cell *name##_any(DV_HANDLER_PARAMETERS) {                               \
        BEGIN();                                                                            \
        const dv_occurrence *o = DVX_OCCURRENCE;                                            \
        dv_value *arguments = sp - o->count + 1;                                            \
        dv_value *place = arguments - r;                                                    \
        const dv_value callee = *place;                                                     \
        if (DV_UNLIKELY(!dvx_call_fits(o, callee, arguments, 0) || GUARD_FAILS()))          \
            DVX_SITE_MISS();                                                                \
        if (DV_UNLIKELY(r == 4 && !dv_is_empty(arguments[-1]))) DVX_SITE_MISS();            \
        PUBLISH();                                                                          \
        const dv_value result = (function)(vm, arguments, callee, o->cache);                \
        if (DV_UNLIKELY(dv_is_empty(result))) {                                             \
            if (dv_is_empty(vm->error)) DVX_SITE_MISS();                                    \
            DEAD();                                                                         \
            TAIL(DVX_TABLE->site_raise);                                                    \
        }                                                                                   \
        if (DV_UNLIKELY(!dvx_let_go(arguments, sp) ||                                       \
                        (dv_is_object(callee) && dv_as_object(callee)->references == 1))) { \
            r = (int64_t)result.bits;                                                       \
            TAIL(DVX_TABLE->site_finish);                                                   \
        }                                                                                   \
        if (dv_is_object(callee)) dv_as_object(callee)->references--;                       \
        ip += DV_CALL_LENGTH;                                                               \
        *place = result;                                                                    \
        sp = place + 1;                                                                     \
        DEAD();                                                                             \
        GO();                                                                               \
    }                                                                                       \
    static const dv_cell *name(DV_HANDLER_PARAMETERS) {                                     \
        r = 3;                                                                              \
        TAIL(name##_any);                                                                   \
    }                                                                                       \
    static const dv_cell *name##_method(DV_HANDLER_PARAMETERS) {                            \
        r = 4;                                                                              \
        TAIL(name##_any);                                                                   \
    }

/* Releases values, up to one that dies: false; then None stands where an object was released. */
static inline bool dvx_let_go(dv_value *v, const dv_value *end) {
    for (; v < end; v++) {
        if (!dv_is_object(*v)) continue;
        if (DV_UNLIKELY(dv_as_object(*v)->references == 1)) return false;
        dv_as_object(*v)->references--;
        *v = DV_NONE;
    }
    return true;
}

/* Are callee (operand 0) and arguments as the site has seen them? */
static inline bool dvx_call_fits(const dv_occurrence *o, dv_value callee, const dv_value *arguments,
                                 uint32_t count) {
    uint32_t differs = (dv_operand_key_of(callee) ^ o->keys[0]) & o->masks[0];
    for (uint32_t i = 0; i < count; i++)
        differs |= (dv_operand_key_of(arguments[i]) ^ o->keys[i + 1]) & o->masks[i + 1];
    return !differs && (!o->callee || dv_is_empty(callee) || callee.bits == o->callee);
}

/* Is the callee the method that the site was specialised for? */
static inline bool dvx_is_method(const dv_occurrence *o, dv_value callee) {
    return dv_is_shape(callee, DV_T_CFUNCTION) &&
           (uintptr_t)((const dv_cfunction *)(const void *)dv_as_object(callee))->def ==
               o->callee &&
           dv_is_empty(((const dv_cfunction *)(const void *)dv_as_object(callee))->self);
}

#define DVX_SITE_MISS()             \
    do {                            \
        DEAD();                     \
        TAIL(DVX_TABLE->site_miss); \
    } while (0)

/* ---- Calls of functions ---- */

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
