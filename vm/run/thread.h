/* thread.h: threaded code: what a code object becomes in a VM.
 *
 * A dv_thread belongs to one code object in one VM and one module.  It is made with its function
 * and expanded to cells at the first call (`entry` leads to the expanding cell until then).
 *
 * Invariants
 *  1. cell_at[pc] is the first cell of the instruction at pc; cells[0] is DV_OP_ENTER, which
 * belongs to no pc and counts calls until the function is warm.
 *  2. constants are counted by the thread, so LOAD_CONST_B may borrow them while the function runs.
 *  3. A frame of the function needs frame_size values from local 0 on: locals, shadow slots,
 * operand stack, and room for the frame header of a callee. */
#ifndef DV_RUN_THREAD_H
#define DV_RUN_THREAD_H

#include "run/engine.h"
#include "types/callable/function.h"
#include "types/file/module.h"

typedef struct dv_region dv_region;
typedef struct dv_callable dv_callable;

/* Memory that belongs to a site because its cache is too small; starts each such block. */
typedef struct dv_site_block {
    struct dv_site_block *next;
    size_t size;
    const dv_cell *site; /* the one that uses it again when it chooses anew; or NULL */
    /* Releases what the block refers to, before its memory goes; or NULL. */
    void (*release)(dv_vm *vm, struct dv_site_block *block);
} dv_site_block;

typedef struct dv_thread {
    dv_object header;
    const dv_cell *entry;    /* where calls begin: dv_thread_enter_at sets it */
    const dv_cell *counted;  /* where they go on, if that is dv_count_cell */
    uint64_t serial;         /* which of the VM's threads it is: never used again */
    uint32_t argument_count; /* parameters of all kinds */
    int64_t exact_arguments; /* argument_count if nothing else is special about calls, or -1 */
    /* As an __init__: how many arguments a call of its class passes, or -1: CALL_CLASS leaves it
     * alone. */
    int64_t init_arguments;
    bool warm, hastened;
    uint8_t disturbed; /* how often a shared variable changed that a region of it held */
    uint32_t local_count, stack_base, frame_size; /* in values; stack_base: locals + shadow */
    const dv_code *code;
    dv_module *module; /* counted */
    dv_cell *cells;    /* NULL until expanded */
    uint32_t cell_count;
    uint32_t *cell_at;
    dv_value *constants;
    dv_value *names;
    uint64_t *live;                     /* code/liveness.h, by pc; NULL until somebody asks */
    uint32_t *pc_of;                    /* by cell; NULL until dv_thread_find_pc is asked */
    dv_value *parameters;               /* their names, interned; NULL until somebody asks */
    dv_value name, qualname;            /* of the functions made from it; EMPTY before the first */
    dv_site_block *blocks;              /* freed with the thread */
    dv_region *regions;                 /* list, region/region.h */
    dv_callable *callable;              /* region/run/function.h; NULL: no region is to call it */
    struct dv_function_counts *counts;  /* inspect/profile.h; NULL: nothing is counted */
    struct dv_thread *next, **previous; /* all threads of the VM, for inspection */
} dv_thread;

extern const dv_type dv_code_type;

/* Cells that belong to no function: they end a call of a class, an operator, a call of an instance,
 * a step of a consumed generator, end dv_run, expand a thread, count a call. */
extern const dv_cell dv_construct_cell[]; /* gen/templates/dv_ops.c.mako */
extern const dv_cell dv_operate_cell[];   /* likewise; run/operate.h */
extern const dv_cell dv_instance_cell[];  /* likewise; call.c */
extern const dv_cell dv_consume_cell[];   /* likewise; run/consume.h */
extern const dv_cell dv_halt_cell[];      /* two: behind the second one the program polls */
extern const dv_cell dv_expand_cell[];
extern const dv_cell dv_count_cell[];

/* Shadow slots of a frame whose code has loops, or is long: raw locals, raw temporaries, what
 * inlining may use, attributes of instances that are not made, and where a raw result goes.  Short
 * functions without loops whose calls may be hot have fewer: they call themselves, so many frames
 * are there. */
#define DV_SHADOW_EXTRA 91
#define DV_SHADOW_CALLS 28 /* of such functions */

/* So many of these has a frame of the code. */
uint32_t dv_code_shadow(const dv_code *code);
/* Where the operand stack of a frame begins. */
uint32_t dv_code_stack_base(const dv_code *code);

dv_thread *dv_thread_new(dv_vm *vm, const dv_code *code, dv_module *module);
/* Expands to cells; false: out of memory (raised). */
bool dv_thread_expand(dv_vm *vm, dv_thread *thread) DV_MUST_CHECK;
/* Its next call, or the next iteration of a loop of its own, makes it warm. */
void dv_thread_hasten(dv_thread *thread);
/* Sees to name and qualname; false: out of memory (raised). */
bool dv_thread_know_name(dv_vm *vm, dv_thread *thread) DV_MUST_CHECK;
/* Sees to `parameters`; false: out of memory (raised). */
bool dv_thread_know_parameters(dv_vm *vm, dv_thread *thread) DV_MUST_CHECK;
/* Which locals are live, by pc (code/liveness.h); NULL: there is no memory to find out (nothing is
 * raised): all of them may be. */
const uint64_t *dv_thread_live(dv_vm *vm, dv_thread *thread);
const dv_code *dv_thread_code(const dv_object *thread);

/* What the cell, whose operands are there, is threaded as if it is to be `op`: the first variant of
 * it that may stand at pc (gen/README.md), which is that op to everybody else, dv_op_of included.
 * `thread` NULL: it is not known whose cell this is; those that depend on that are passed over, and
 * so are those that do the work of what is behind them while somebody counts what is executed. */
uint32_t dv_op_variant(const dv_vm *vm, const dv_thread *thread, uint32_t pc, const dv_cell *at,
                       uint32_t op);
/* The pc of the instruction behind the one at pc. */
uint32_t dv_thread_next(const dv_thread *thread, uint32_t pc);

/* The pc of the instruction that a cell belongs to; DV_NO_PC for ENTER and cells of other code. */
uint32_t dv_thread_pc(const dv_thread *thread, const dv_cell *cell);
/* The same for who asks again and again: the first time for warm code makes a table. */
uint32_t dv_thread_find_pc(dv_vm *vm, dv_thread *thread, const dv_cell *cell);

static inline bool dv_thread_owns(const dv_thread *thread, const dv_cell *cell) {
    return cell >= thread->cells && cell < thread->cells + thread->cell_count;
}
/* Does a frame with this link return to C? */
static inline bool dv_is_halt(const dv_cell *link) {
    return (uintptr_t)link - (uintptr_t)dv_halt_cell <= sizeof *link;
}

/* Code of so many cells is a unit of work: few rounds or calls do all that is there. */
enum { DV_CELLS_OF_UNIT = 32 };

/* Calls are to begin at the cell, once they have been counted. */
static inline void dv_thread_enter_at(const dv_vm *vm, dv_thread *thread, const dv_cell *cell) {
    thread->counted = cell;
    thread->entry = vm->work.counts_calls ? dv_count_cell : cell;
}
static inline dv_thread *dv_function_thread(const dv_function *function) {
    return (dv_thread *)function->code;
}

/* The thread of the running frame. */
static inline dv_thread *dv_frame_thread(const dv_value *fp) {
    return dv_function_thread(dv_as_function(fp[-3]));
}

#endif
