/* engine.h: how instructions run: cells, handlers, and the macros that handler bodies are written
 * in.
 *
 * A threaded function is an array of cells: each instruction is a cell with the address of its
 * handler, a site cell if it has one, its operands, and its inline cache.  All derivatives of an
 * instruction have its length, so that quickening only rewrites cells in place.
 *
 * A handler comes in two forms with one signature.  *Tail form* ends in a sibling call of the next
 * handler; *trampoline form* saves the machine's registers in the vm and returns the next ip.
 * Whoever enters the machine runs `while (ip) ip = ip->h(ip, vm->sp, ...)`, so both forms mix in
 * one stream and the C stack stays constant (vm/run/README.md, "Cells").
 *
 * Invariants
 *  1. When control passes between handlers, sp points behind the topmost entry of the operand stack
 * and fp to local 0 of the running frame; fp[-1] is the caller's fp, fp[-2] the caller's next ip
 * (raw pointers), fp[-3] the callee (a function, owned).
 *  2. r and d mean something only between two instructions of a region.
 *  3. A handler that raises leaves its inputs on the stack, with sp as it was at its start, or with
 * the topmost of them already gone; the unwinder releases what lies below vm->sp (run/unwind.c).
 *  4. A handler never reads its own cells after it has called out: the site may have changed.
 *  5. A guard comes before every side effect of its handler (checked by gen/isa/isa.py).
 *  6. A handler in tail form may leave other values in the registers that C functions keep for
 * their callers: nobody calls one but the loops that enter the machine, and these say
 * DV_REGISTERS_CHANGED() behind each call.  So handlers have more registers to work in, and need
 * not save any where they do not call. */
#ifndef DV_RUN_ENGINE_H
#define DV_RUN_ENGINE_H

#include "core/machine.h"
#include "core/upcall.h"
#include "core/vm.h"
#include "types/sequence/tuple.h"

typedef const dv_cell *(*dv_handler)(const dv_cell *ip, dv_value *sp, dv_value *fp, dv_vm *vm,
                                     int64_t r, double d);

/* State of a site: an instruction that can be quickened or releases operands. */
typedef struct dv_site {
    uint8_t own;    /* bit i: the i-th input is owned (static, from the code object) */
    uint8_t misses; /* left until the derivative is given up */
    union {
        uint8_t backoff; /* times it was given up: the next attempt waits 2^backoff times as long */
        uint8_t tries;   /* JUMP_BACK: regions of the loop that were given up */
    };
    uint8_t reason;    /* dv_reason: why it stayed generic */
    uint16_t wait;     /* executions until the adaptive form tries again, or something is hot */
    union {            /* evidence for regions, from when a derivative was chosen; by its family: */
        uint16_t seen; /* DV_SEEN_...: results (of STORE_SUBSCR: what is stored; of operators:
                          operands, where one was a bool) */
        struct {
            uint8_t second, first; /* likewise: FOR_ITER whose pairs are taken apart */
        } items;
        uint16_t met;    /* an operator with a method of dl: DV_MET_... (quicken/site.h) */
        uint16_t looked; /* JUMP_BACK: which looks it had (region/run/entry.c) */
    };
} dv_site;
_Static_assert(sizeof(dv_site) == 8, "a site is a cell");

/* The same while an extension's derivative of operands stands there (plugin/occurrence.h). */
typedef struct dv_extended_site {
    uint64_t own : 7;
    uint64_t flagged : 1; /* operands have flags that must hold */
    uint64_t misses : 8;
    uint64_t occurrence : 48; /* address of a dv_occurrence */
} dv_extended_site;

union dv_cell {
    dv_handler h;
    dv_site site;
    dv_extended_site extended;
    dv_value v;
    const dv_cell *target;
    void *p;
    int64_t i;
    double d;
    struct {
        int32_t a, b;
    } s;
    struct {
        int16_t a, b, c, d;
    } o; /* regions: slot numbers from fp */
};

/* The handlers of each form by opcode; NULL tables where a form is not built. */
extern const dv_handler dv_handlers_tail[], dv_handlers_trampoline[];

#define DV_HANDLER_PARAMETERS \
    const dv_cell *ip, dv_value *sp, dv_value *fp, dv_vm *vm, int64_t r, double d

/* Out-of-line parts of handlers; all in trampoline form (they save sp, fp in the vm and return the
 * next ip). */
const dv_cell *dv_slow_raise(DV_HANDLER_PARAMETERS); /* vm->error is set: unwind */
const dv_cell *dv_slow_call(
    DV_HANDLER_PARAMETERS); /* r: number of arguments (self included), sp behind them */
const dv_cell *dv_slow_call_keywords(DV_HANDLER_PARAMETERS); /* the same; vm->handover: names */
/* The callee is a dl function: its arguments, named by vm->keywords, are bound. */
const dv_cell *dv_slow_enter_keywords(DV_HANDLER_PARAMETERS);
/* The callee is a class with a __new__ of dl (dv_call_new_of). */
const dv_cell *dv_slow_enter_new(DV_HANDLER_PARAMETERS);
const dv_cell *dv_slow_call_ex(DV_HANDLER_PARAMETERS);   /* CALL_EX; r: is there a mapping? */
const dv_cell *dv_slow_safepoint(DV_HANDLER_PARAMETERS); /* polls; ip: where to continue */

const dv_cell *dv_slow_operated(DV_HANDLER_PARAMETERS); /* OPERATED of the rarer kinds */

const dv_cell *
    dv_slow_warm(DV_HANDLER_PARAMETERS); /* ENTER or JUMP_BACK at ip: its function is warm now */

/* The site's derivative was given up after too many misses, or may be: bookkeeping of a failed
 * guard. */
void dv_site_missed(dv_vm *vm, dv_cell *ip, uint32_t adaptive_op);
/* The handler of an opcode in the form that this VM runs (in mixed form: by the parity of the
 * cell's address). */
dv_handler dv_handler_of(const dv_vm *vm, const dv_cell *at, uint32_t op);
/* The opcode of a cell; DV_OP_COUNT if it holds a foreign handler. */
uint32_t dv_op_of(dv_vm *vm, dv_handler handler);

#ifdef DV_TRAMPOLINE /* only generated handler files define it, as 0 or 1 */

#if DV_TRAMPOLINE
#define DV_H(name) dv_ht_##name
#define GO()                                            \
    do {                                                \
        vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d; \
        return ip;                                      \
    } while (0)
#define TAIL(function) return function(ip, sp, fp, vm, r, d)
/* Stress mode: every n-th guard fails.  Compiled into this form alone, so that it costs the other
 * nothing. */
#define GUARD_FAILS() \
    (DV_UNLIKELY(--vm->stress.guards == 0) && (vm->stress.guards = vm->stress.fail_guard, true))
#define EXIT_TAKEN() \
    (DV_UNLIKELY(--vm->stress.exits == 0) && (vm->stress.exits = vm->stress.take_exit, true))
#else
#if defined(__clang__)
#define DV_MUSTTAIL __attribute__((musttail))
#else
#define DV_MUSTTAIL
#endif
#define DV_H(name) dv_h_##name
/* The compiler may not look through ip: otherwise gcc computes the next cell's address twice, once
 * to load the handler and once to hand it on, and moves ip to another register for that (measured:
 * 2 to 5 of an instruction's 11 to 27). */
#define GO()                                            \
    do {                                                \
        __asm__("" : "+r"(ip));                         \
        DV_MUSTTAIL return ip->h(ip, sp, fp, vm, r, d); \
    } while (0)
#define TAIL(function) DV_MUSTTAIL return function(ip, sp, fp, vm, r, d)
#define GUARD_FAILS()  false
#define EXIT_TAKEN()   false
#endif

/* Out of line whatever the compiler thinks: inlined, its call makes every execution of the handler
 * save registers (measured: 8 to 10 instructions of a float addition's 27). */
#define DV_COLD        __attribute__((noinline, cold))
#define DV_OUT_OF_LINE __attribute__((noinline))

#define OP(name) const dv_cell *DV_H(name)(DV_HANDLER_PARAMETERS)
/* Every handler begins with this; generated code follows it with the named inputs. */
#define BEGIN() \
    (void)ip;   \
    (void)sp;   \
    (void)fp;   \
    (void)vm;   \
    (void)r;    \
    (void)d

/* Outside regions r and d are dead: telling the compiler so saves it from keeping them across C
 * calls (8 to 20 % of a generic handler, as the first prototype showed). */
#define DEAD() __asm__("" : "=r"(r), "=" DV_FLOAT_REGISTER(d))
/* The same where r is handed on. */
#define DEAD_FLOAT() __asm__("" : "=" DV_FLOAT_REGISTER(d))

#define PUBLISH() (vm->ip = ip, vm->sp = sp, vm->fp = fp)
#define CELL(n)   (ip[n])
#define SITE      (ip[1].site)
#define LOCAL(n)  (*(dv_value *)(void *)((char *)fp + ip[n].i))

/* Ways out of a handler.  LEN, IN and OUT are constants of the instruction. */
#define NEXT()     \
    do {           \
        DEAD();    \
        ip += LEN; \
        GO();      \
    } while (0)
#define JUMP(to)   \
    do {           \
        DEAD();    \
        ip = (to); \
        GO();      \
    } while (0)
#define DONE(result)                     \
    do {                                 \
        const dv_value done_ = (result); \
        sp += OUT - IN;                  \
        sp[-1] = done_;                  \
        NEXT();                          \
    } while (0)
/* An input that is owned, where it is handed on; in a fusion with the LOAD_LOCAL in front it is
 * only now that it is (gen/isa/isa.py). */
#define OWNED(input) (input)
/* Goes on at ip, behind the instruction's last effect: the release of a value that it has taken out
 * of reach.  What dies is disposed of out of line, so that those that live cost no saved register.
 */
#define GO_RELEASING(value)                                                  \
    do {                                                                     \
        const dv_value gone_ = (value);                                      \
        if (dv_is_object(gone_) && --dv_as_object(gone_)->references == 0) { \
            r = (int64_t)gone_.bits;                                         \
            DEAD_FLOAT();                                                    \
            TAIL(DV_H(dispose));                                             \
        }                                                                    \
        DEAD();                                                              \
        GO();                                                                \
    } while (0)
#define NEXT_RELEASING(value)           \
    do {                                \
        const dv_value left_ = (value); \
        ip += LEN;                      \
        GO_RELEASING(left_);            \
    } while (0)
/* DONE, and if `owned`, NEXT_RELEASING of an input. */
#define DONE_RELEASING(result, owned, value) \
    do {                                     \
        const dv_value done_ = (result);     \
        const bool owned_ = (owned);         \
        sp += OUT - IN;                      \
        sp[-1] = done_;                      \
        if (owned_) NEXT_RELEASING(value);   \
        NEXT();                              \
    } while (0)
/* DONE of a fusion that stores: into the local that the STORE_LOCAL behind the instruction names.
 */
#define DONE_STORING(result)                                         \
    do {                                                             \
        const dv_value done_ = (result), replaced_ = LOCAL(LEN + 1); \
        LOCAL(LEN + 1) = done_;                                      \
        sp -= IN;                                                    \
        ip += LEN + 2;                                               \
        GO_RELEASING(replaced_);                                     \
    } while (0)
#define DONE0()   \
    do {          \
        sp -= IN; \
        NEXT();   \
    } while (0)
#define RAISE()              \
    do {                     \
        DEAD();              \
        TAIL(dv_slow_raise); \
    } while (0)
/* Regions: slots by number, raw or boxed (home); exits; the next instruction with r and d alive. */
#define HOME(x)     (fp[ip[1].o.x])
#define SLOT_I(x)   (*(int64_t *)(void *)&fp[ip[1].o.x])
#define SLOT_D(x)   dv_as_float(fp[ip[1].o.x])
#define SET_D(x, y) (fp[ip[1].o.x] = dv_float(y))
#define RANGE(x)    (&fp[ip[1].o.x])
/* The imaginary part of a complex number is behind its real part, in the next slot. */
#define SLOT_IM(x)   dv_as_float(RANGE(x)[1])
#define SET_IM(x, y) (RANGE(x)[1] = dv_float(y))
/* Regions do not keep sp: what calls out says where the operand stack ends (a slot number). */
#define PUBLISH_AT(x) (vm->ip = ip, vm->sp = fp + ip[1].o.x, vm->fp = fp)
#define REGION_NEXT() \
    do {              \
        ip += LEN;    \
        GO();         \
    } while (0)
#define REGION_BRANCH(taken)                      \
    do {                                          \
        ip = (taken) ? CELL(3).target : ip + LEN; \
        GO();                                     \
    } while (0)
/* The same where the next instruction is in the same handler (gen/ops/region_pairs.mako). */
#define REGION_THEN(next) \
    do {                  \
        ip += LEN;        \
        goto next;        \
    } while (0)
#define REGION_BRANCH_THEN(next, taken) \
    do {                                \
        if (taken) {                    \
            ip = CELL(3).target;        \
            GO();                       \
        }                               \
        REGION_THEN(next);              \
    } while (0)
#define EXIT()               \
    do {                     \
        ip = CELL(3).target; \
        GO();                \
    } while (0)
/* The same for the second of two instructions in one (region/emit/fuse.h). */
#define EXIT_SECOND()        \
    do {                     \
        ip = CELL(4).target; \
        GO();                \
    } while (0)
/* At a back edge, before anything has happened: polls, and comes back to the same instruction.
 * (Below 0, not at 0: so that the subtraction from memory is the test, too.) */
#define SAFEPOINT()                                                    \
    do {                                                               \
        if (DV_UNLIKELY(--vm->countdown < 0)) TAIL(dv_slow_safepoint); \
    } while (0)
#define REGION_SAFEPOINT()                         \
    do {                                           \
        SAFEPOINT();                               \
        if (EXIT_TAKEN()) TAIL(dv_region_retired); \
    } while (0)
#ifndef DVX_NATIVE /* which link nothing, used or not: plugin/native.h, invariant 1 */
__attribute__((unused)) static DV_OUT_OF_LINE OP(dispose_any) {
    PUBLISH();
    dv_object_end(vm, dv_as_object((dv_value){(uint64_t)r}));
    DEAD();
    GO();
}
__attribute__((unused)) static DV_OUT_OF_LINE OP(dispose_tuple) {
    if (!dv_tuple_free_alone(vm, dv_as_tuple((dv_value){(uint64_t)r}))) TAIL(DV_H(dispose_any));
    DEAD();
    GO();
}
/* GO_RELEASING: r is a dead object, ip the next instruction.  Tuples die most often, and mostly
 * nothing with them: then it takes no call. */
__attribute__((unused)) static DV_OUT_OF_LINE OP(dispose) {
    if (dv_as_object((dv_value){(uint64_t)r})->shape == DV_T_TUPLE) TAIL(DV_H(dispose_tuple));
    PUBLISH();
    dv_object_end(vm, dv_as_object((dv_value){(uint64_t)r}));
    DEAD();
    GO();
}
#endif

#define I2D(i) dv_i2d(i)
/* Of an immediate int or a float. */
#define DV_AS_DOUBLE(v) (dv_is_int(v) ? I2D(dv_as_int(v)) : dv_as_float(v))
#define DV_IS_NUMBER(v) (dv_is_int(v) || dv_is_float(v))
/* Of one, or a bool, which counts as an int. */
#define DV_COUNTS(v)     (DV_IS_NUMBER(v) || dv_is_bool(v))
#define DV_AS_COUNTED(v) (dv_is_bool(v) ? dv_int(dv_same(v, DV_TRUE)) : (v))
/* Releases the owned ones of two inputs. */
#define DISPOSE1(own, a)                        \
    do {                                        \
        if ((own)&1) dv_release_outer(vm, (a)); \
    } while (0)
#define DISPOSE2(own, a, b)                     \
    do {                                        \
        if ((own)&1) dv_release_outer(vm, (a)); \
        if ((own)&2) dv_release_outer(vm, (b)); \
    } while (0)
#endif

#endif
