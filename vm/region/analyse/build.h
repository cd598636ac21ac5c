/* build.h: the region builder: abstract interpretation and emission of one loop (internal to
 * region/).
 *
 * The builder runs over the loop twice with the same transfer function (step.c): first to the fixed
 * point, recording at each leader what is known there; then once more, emitting cells.
 *
 * All frames of the region (the loop's function and what is inlined) share one row of *entries*:
 * locals, then the operand stack, and on it, where the arguments of an inlined call lie, the
 * callee's locals and stack, exactly as frames lie in memory.  Entry q has the home slot dv_home(q)
 * and the shadow slot dv_shadow(q).  Where the loop walks a generator that is part of the region
 * (producer.h), that one's frame is among them, and the operand stack of the loop's body begins
 * where that of the generator ends.
 *
 * Invariants
 *  1. At leaders entries are canonical: raw kinds in their own shadow slot (COMPLEX: in their own
 * two slots), CONSTANT and RESERVED nowhere, RANGE in its triple, all others in their home slot.
 *  2. A slot that an entry refers to is its own shadow, the shadow of a local, that of an
 * argument's former place (virtual.c), or one of those for attributes; whoever changes a local
 * first moves what refers to it (claim in emit.c).
 *  3. At most one entry is in r and one in d. */
#ifndef DV_REGION_BUILD_H
#define DV_REGION_BUILD_H

#include "dv_ops.h"
#include "quicken/site.h"
#include "region/region.h"
#include "run/frame.h"

/* Of a round, in machine instructions: what a typed instruction saves, and what an instruction on
 * objects costs beside the same in INCA code, or a value that goes into a box or comes out. */
enum { DV_TYPED_SAVES = 16, DV_BOXED_COSTS = 14 };

/* What a yield weighs, in boxed instructions: the region is left there with all values in boxes,
 * and entered again behind it. */
enum { DV_YIELD_WEIGHS = 16 };
/* Likewise a round whose item a generator yields: its code runs in between. */
enum { DV_RESUMING_WEIGHS = 4 };
static inline bool dv_op_yields(uint32_t op) { return dv_op_infos[op].region == DV_REGION_YIELDS; }

typedef struct dv_known_value {
    uint8_t kind;  /* dv_kind */
    uint8_t where; /* dv_where */
    /* AT_SLOT: slot number; AT_ALIAS: entry number of the local, or its own: borrowed from an
     * attribute; RANGE: first slot of the triple; WALK: the slot of the index; VIRTUAL, and what
     * has faded: number of the record
     */
    int16_t slot;
    /* AT_VALUE; WALK: the address of the snapshot of its GET_ITER, EMPTY: the frame has it; ANY at
     * home: its shape, if that is known, as an int; or FADED, also VIRTUAL */
    dv_value value;
} dv_known_value;

typedef struct dv_virtual dv_virtual; /* virtual.h */

typedef struct dv_snapshot {
    dv_known_value *entries; /* NULL: not reached */
    int32_t top;
    dv_virtual *records; /* of its virtual instances, which name them by their place here */
    uint32_t record_count;
    uint64_t kept;   /* locals in which nothing may have faded here */
    int32_t label;   /* cell, or -1 */
    int32_t body;    /* FOR_ITER heads: cell behind R_FOR_RANGE, or -1 */
    int16_t item;    /* the slot that R_FOR_RANGE puts its int into */
    uint16_t weight; /* of an instruction here: 8 for each loop around it */
    bool leader, queued;
    bool head;      /* of a loop: a JUMP_BACK leads here */
    bool disturbed; /* a call of a class, or a tuple is built: something can leave before the store
                       of the result */
    bool needed;    /* a tuple is built, or an iterator made, as something needs it */
    uint32_t typed, boxed; /* work between here and the next leaders, weighted by loop depth */
    uint32_t converted;    /* values put into boxes there, or taken out, likewise */
} dv_snapshot;

/* What enters an inlined function: that says what lies below its locals. */
typedef enum dv_entering {
    DV_ENTERS_CALL,       /* callee R R */
    DV_ENTERS_GETTER,     /* the load of a property: the same, where the object was */
    DV_ENTERS_INIT,       /* a call of its class, whose __init__ it is (virtual.h) */
    DV_ENTERS_OPERATOR,   /* an operator of dl classes (operator.h) */
    DV_ENTERS_COMPARISON, /* the same, which counts as a call of its own */
    DV_ENTERS_NEW,        /* a call of its class, whose __new__ it is; likewise */
} dv_entering;

typedef struct dv_context {
    dv_thread *thread;
    struct dv_context *parent, *siblings, *inlined;
    uint32_t call_pc, return_pc; /* in the parent */
    int32_t base;                /* entry of local 0 */
    uint32_t begin, end;         /* pcs */
    dv_snapshot *at;             /* by pc - begin */
    bool branches;               /* its blocks are emitted one by one, and its return is a jump */
    dv_entering entering;
    int16_t
        method; /* home slot of the bound method that was called; its callee is the code object */
    bool emitted,
        made; /* an __init__: it was emitted; an instance is made in the region after all */
    int depth;
    /* A branch by shape or kind (dv_build_branch): where control goes on at its end, and the choice
     * at its beginning; NULL: it is none. */
    struct dv_context *joins;
    uint32_t choice;
    const dv_snapshot *origin; /* the leader of the block with the test: one alone has it */
} dv_context;

/* A jump whose target is patched at the end, through a stub if entries must be converted on the
 * way. */
typedef struct dv_edge {
    uint32_t cell;
    dv_context *context;
    uint32_t pc;
    dv_known_value *entries; /* NULL: already as the target expects */
    int32_t top;
    bool resumes;    /* the jump called out: a resume point stands on the way */
    int32_t release; /* entry whose home slot the stub releases (an exhausted iterator), or -1 */
    const struct dv_raising *raising; /* the jump raises what this says (raised.h), or NULL */
} dv_edge;

typedef struct dv_raising dv_raising;

enum {
    DV_CAUGHT_FORMS = 32,
    DV_CAUGHT_TYPES = 16,   /* of a clause */
    DV_SHOWN_IN_CLAUSE = 1, /* exceptions are made once a clause has caught them, or before; ... */
    DV_SHOWN_AT_ONCE = 2    /* ... where the handler is entered */
};

/* A handler to which exceptions come that are raised in the region, in these forms: those of a form
 * have the same class and the same kinds of arguments, but where it is vague. */
typedef struct dv_caught {
    const dv_context *context;
    uint32_t pc;
    uint32_t count;
    uint32_t vague; /* set of forms */
    dv_source *forms[DV_CAUGHT_FORMS];
    uint8_t shown; /* DV_SHOWN_ */
    bool objects;  /* some have objects among their arguments */
    bool entered;  /* its code has been interpreted */
} dv_caught;

/* Memory of the builder: handed out from the front, freed at the end. */
typedef struct dv_block {
    struct dv_block *next;
    size_t size, used; /* both with this header */
} dv_block;

/* What the loop does with a local of its function. */
enum {
    DV_LOCAL_USED = 1,    /* some instruction names it */
    DV_LOCAL_STORED = 2,  /* it may change */
    DV_LOCAL_CHECKED = 4, /* it may be unassigned where it is loaded */
};

#define DV_VECTOR(type)           \
    struct {                      \
        type *data;               \
        uint32_t count, capacity; \
    }

/* All arguments but the last of a raw call, which has at most three; attributes of virtual
 * instances, and those with DV_SHADOW_CALLS.
 */
enum { DV_SCRATCH_SLOTS = 2, DV_ATTRIBUTE_SLOTS = 24, DV_ATTRIBUTE_CALLS = 4 };

/* Entries below the locals of an __init__ that a call of its class enters:
 * self | next ip | __init__ R R (gen/ops/call.mako).  Those of operators' methods begin likewise.
 */
enum { DV_BELOW_INIT = 5 };

/* Of the largest function that is inlined, and of the largest loop. */
enum { DV_INLINE_WORDS = 120, DV_MOST_WORDS = 4000 };

typedef struct dv_build {
    dv_vm *vm;
    dv_region *region;
    dv_context *root, *context;
    struct {
        dv_context *context; /* of the generator that the loop walks (producer.h), or NULL */
        uint32_t at;         /* pc of the YIELD where it waits while the loop's body runs */
        int16_t twin;        /* as dv_producer's */
        int32_t base, floor; /* entries: its local 0; behind what its operand stack keeps then */
    } producer;
    int32_t gap_at;    /* the entry from which on home slots lie ... */
    int32_t gap;       /* ... so much further up: the shadow slots of the producer's frame */
    dv_known_value *e; /* the current entries */
    int32_t top, entry_limit, locals, stack_base, triples, triple_limit;
    int16_t scratch; /* the first of DV_SCRATCH_SLOTS raw slots for one instruction's operands */
    int16_t attribute_slots; /* the first of attribute_count */
    int32_t attribute_count;
    int16_t return_slot;              /* of a function's region: where its raw result goes */
    int16_t extent;                   /* slots that calls from the region write to */
    dv_gate *gate;                    /* of the region's function, made before emission */
    dv_thread *wanted;                /* functions without a region that it had rather entered */
    uint8_t *parameters;              /* their kinds, by local; NULL: it is a loop's region */
    uint8_t result;                   /* kind of the function's result, on the ways seen so far */
    bool result_used, result_changed; /* by a call of itself; since the fixed point was begun */
    int16_t *twin_of; /* by entry, a range that the frame holds: dv_entry_item's twin */
    int16_t *triple_of, *complex_of; /* first slot, by entry; 0: it has none yet */
    uint8_t *local_uses;             /* DV_LOCAL_, by local of the loop's function */
    uint8_t *first_items;            /* by entry: dv_entry_item's `first` */
    const dv_value *frame; /* what it holds now is evidence for locals that are only read */
    const uint64_t *live;  /* locals of the loop's function, by pc; NULL: all may be */
    uint32_t pc;           /* of the instruction being interpreted, in context */
    bool emitting, ended;
    bool charged;      /* inlined functions count as calls now (dv_charge) */
    bool again;        /* the fixed point is to be found anew: something turned out otherwise */
    dv_refusal failed; /* NOT: so far it has not */
    const dv_code *failed_in; /* the instruction to blame, or NULL */
    uint32_t failed_pc;
    dv_block *blocks;
    int32_t sp;           /* entry number that sp is known to stand at while emitting, or -1 */
    uint32_t last_result; /* cell of the instruction that put its result into r or d just now, if it
                             has a form that puts it into a slot; else DV_NO_CELL */
    int32_t last_entry;   /* that result's entry */
    uint32_t version;     /* changes with every change of the entries */
    struct {
        uint32_t pc, version, exit;
        dv_context *context;
    } last_exit;
    dv_snapshot *quiet; /* of a call of a class: nothing leaves until its result is stored */
    uint64_t faded;     /* locals in which an instance fades somewhere */
    bool nests;         /* an instance has been an attribute of another one */
    dv_shape *built; /* what virtual tuples and lists have as shapes, by number of items, or NULL */
    dv_shape *named; /* likewise of tuples of classes of dl, as siblings */
    int32_t begun;   /* slots of attributes that instances have which the frame holds */
    dv_snapshot *block; /* the leader from which instructions are interpreted, and ... */
    uint32_t weight;    /* ... what each of them weighs: 8 for each loop around it */
    uint32_t heaviest;  /* weight of the boxed instruction at heaviest_pc, which weighs most */
    const dv_code *heaviest_in;
    uint32_t heaviest_pc;
    uint32_t work_count;
    uint32_t branches;     /* by shape or kind, that there are */
    uint32_t learns;       /* of the next exits */
    dv_context *otherwise; /* where control goes if the next guard fails; NULL: it leaves */
    DV_VECTOR(dv_cell) cells;
    DV_VECTOR(dv_exit) exits;
    DV_VECTOR(dv_exit_item) items;
    DV_VECTOR(dv_exit_frame) frames;
    DV_VECTOR(dv_point) points;
    DV_VECTOR(dv_edge) edges;
    DV_VECTOR(dv_caught) handlers;
    DV_VECTOR(dv_source) sources;
    uint32_t clause_catches; /* forms that the except clause catches that was looked at last */
    DV_VECTOR(dv_virtual) virtuals; /* records of virtual instances */
    DV_VECTOR(dv_entry) entries;
    DV_VECTOR(dv_entry_item) entry_items;
    DV_VECTOR(dv_mark) marks;
    DV_VECTOR(dv_origin) origins;
    DV_VECTOR(dv_placed) known;
    DV_VECTOR(dv_held) held; /* globals that the loop stores to; found before it is interpreted */
    DV_VECTOR(uint32_t) exit_uses;  /* cells whose target is the number of an exit, to be patched */
    DV_VECTOR(uint32_t) label_uses; /* cells whose target is the number of a cell, to be patched */
    DV_VECTOR(uint32_t)
    starts; /* cells that begin an instruction and hold its opcode, to be patched */
    struct {
        dv_context *context;
        uint32_t pc;
    } work[512]; /* the last field: it is not cleared */
} dv_build;

/* build.c */
void *dv_build_get(dv_build *b, size_t size); /* zeroed; NULL and b->failed when memory runs out */
void dv_build_fail(dv_build *b, dv_refusal why);
bool dv_build_grow(dv_build *b, void *vector, size_t size); /* room for twice as many */
/* Room for `more` items. */
#define DV_ROOM(b, vector, more)                                            \
    (!(b)->failed && ((b)->vector.count + (more) <= (b)->vector.capacity || \
                      dv_build_grow(b, &(b)->vector, sizeof *(b)->vector.data)))
#define DV_PUSH(b, vector, ...) \
    (DV_ROOM(b, vector, 1) ? ((b)->vector.data[(b)->vector.count++] = (__VA_ARGS__), true) : false)
/* The context to which pc belongs: a branch ends soon. */
static inline dv_context *dv_context_at(dv_context *context, uint32_t pc) {
    while (context->joins && (pc < context->begin || pc >= context->end)) context = context->joins;
    return context;
}
/* The same of a pc that control comes to: where a branch begins it comes from the test alone, and a
 * loop whose head is there goes round to the head itself. */
static inline dv_context *dv_context_to(dv_context *context, uint32_t pc) {
    while (context->joins && (pc <= context->begin || pc >= context->end)) context = context->joins;
    return context;
}
/* NULL: outside the region */
static inline dv_snapshot *dv_snapshot_at(dv_context *context, uint32_t pc) {
    context = dv_context_at(context, pc);
    return pc >= context->begin && pc < context->end ? &context->at[pc - context->begin] : NULL;
}
void dv_build_flow(dv_build *b, dv_context *context,
                   uint32_t pc); /* control goes on at pc; ends the block */
void dv_build_reach(dv_build *b, dv_context *context,
                    uint32_t pc);                      /* control may go on at pc as well */
void dv_build_range(dv_build *b, dv_context *context); /* emits all reached blocks of a context */
/* An object of the kind is not made in front of the next cell.  (A place that the listing tells is
 * counted in the region's `removed`, too.) */
void dv_build_mark(dv_build *b, dv_made kind);
bool dv_build_is_marked(const dv_build *b, uint32_t cell);
/* Takes the cells from `at` on back, the last ones. */
void dv_build_cut(dv_build *b, uint32_t at);
/* What the items of the list or tuple are that entry q is, or walks, of which INCA code `saw` some:
 * where the frame has it for as long as the region runs, it knows better: the region is for such
 * items alone, or there are numbers among them. */
uint16_t dv_build_items(dv_build *b, int32_t q, uint16_t saw);
/* The value that entry q, or the local of which it is an alias, has as long as the region runs, as
 * the frame has it now; EMPTY: it may change. */
dv_value dv_build_lasting(const dv_build *b, int32_t q);
/* Has the str that entry q is, or walks, characters beyond Latin-1, as the frame has it, or did the
 * site see such a one? */
bool dv_build_is_wide(const dv_build *b, int32_t q);
/* Is the entry of the operand stack, `k` from its bottom, reserved for a call around that of pc? */
bool dv_build_is_reserved(const dv_code *code, uint32_t pc, uint32_t k);
/* Which of the locals, dead by these live ones, has v; -1: none does. */
int16_t dv_build_twin(const dv_value *locals, uint32_t count, const uint64_t *live, dv_value v);
/* Is v, entry q, the iterator of a range that nobody else can reach, `twin` apart? */
bool dv_build_is_own_range(dv_build *b, int32_t q, dv_value v, int32_t twin);
bool dv_build_may_inline(dv_build *b, const dv_thread *callee, uint32_t arguments);
/* Is entry q a local of the loop's function that nobody reads from pc on before it is stored to?
 * (The second one: pc is in the context.) */
bool dv_build_is_dead(const dv_build *b, uint32_t pc, int32_t q);
bool dv_build_is_dead_in(const dv_build *b, const dv_context *context, uint32_t pc, int32_t q);
dv_context *dv_build_inline(dv_build *b,
                            dv_thread *callee); /* context of the call at b->pc, made if needed */
/* With what of that which the site at b->pc saw the instruction is to go on: the number of a shape,
 * and from DV_CHOICE_KIND on one of kinds (kind.h).  And the branch that goes on with another
 * choice, from here to where control may come together; NULL: there is no room for one, or all is
 * to be begun anew.  Its beginning is reached by jumps from `test` alone, which change nothing, so
 * entries may be anywhere there. */
enum { DV_CHOICE_KIND = 4 };
static inline uint32_t dv_build_choice(const dv_build *b) {
    return b->context->joins && b->context->begin == b->pc ? b->context->choice : 0;
}
dv_context *dv_build_branch(dv_build *b, uint32_t choice);
void dv_build_branch_off(dv_build *b, uint32_t test, dv_context *branch);
/* false: b->failed, for emission must find all as interpretation has found it. */
bool dv_build_depends(dv_build *b, dv_assumption *assumption);

/* What was emitted as a region: copies it, gives cells their handlers and targets. */
void dv_build_finish(dv_build *b);
void dv_build_end(dv_build *b); /* frees what dv_build_get has handed out */

/* step.c: one instruction; returns the pc of the next one in b->context, unless b->ended. */
uint32_t dv_step(dv_build *b);

/* emit.c */
static inline int16_t dv_home(const dv_build *b, int32_t q) {
    if (q < b->locals) return (int16_t)q;
    return (int16_t)(b->stack_base + (q - b->locals) + (q >= b->gap_at ? b->gap : 0));
}
static inline int16_t dv_shadow(const dv_build *b, int32_t q) { return (int16_t)(b->locals + q); }
static inline dv_known_value *dv_top(dv_build *b, int32_t n) {
    return &b->e[b->top - n];
} /* 1: the top */
int16_t dv_triple(dv_build *b, int32_t q);

uint32_t dv_region_emit(dv_build *b, uint32_t op, int32_t oa, int32_t ob,
                        int32_t oc); /* index of its first cell */
uint32_t dv_region_emit_guard(dv_build *b, uint32_t op, int32_t oa, int32_t ob,
                              int32_t oc); /* with an exit before b->pc */
void dv_region_emit_constant(dv_build *b, uint32_t cell, dv_cell constant); /* its cell 2 */
/* R_CONST to the slot; operand b tells those who list it that the constant is a double. */
static inline uint32_t dv_emit_const(dv_build *b, int16_t slot, dv_kind kind) {
    return dv_region_emit(b, DV_OP_R_CONST, slot, kind == DV_K_FLOAT, 0);
}
uint32_t dv_exit_make(dv_build *b, dv_context *context, uint32_t pc, bool counts);
void dv_region_emit_exit(dv_build *b, dv_context *context, uint32_t pc,
                         bool counts); /* leave here */
/* At a cell behind which foreign code may have run (`resumes`) no shape is known any more. */
void dv_point_add(dv_build *b, uint32_t cell, uint32_t exit, bool raises, bool resumes,
                  bool keeps_sp);
static inline bool dv_has_known_shape(const dv_known_value *e) {
    return e->kind == DV_K_ANY && e->where == DV_AT_HOME && dv_is_int(e->value);
}
void dv_forget_shapes(dv_build *b);
void dv_push_known(dv_build *b, dv_kind kind, dv_where where, int32_t slot, dv_value value);
void dv_pop(dv_build *b, int32_t n);
void dv_spill(dv_build *b, bool doubles,
              int32_t keep); /* entries in r (or d) to their slots, but not those from `keep` on */
void dv_store_register(dv_build *b, int32_t q, int16_t slot); /* raw entry in r or d to a slot */
void dv_to_slot(dv_build *b, int32_t q);                      /* raw entry: into some slot */
void dv_to_shadow(dv_build *b, int32_t q);                    /* into its own */
void dv_materialize(dv_build *b, int32_t q);                  /* into its home slot */
void dv_box(dv_build *b, dv_kind kind, int16_t slot, int16_t home); /* raw, as a value */
void dv_claim(dv_build *b, int32_t local);     /* nothing else refers to the local any more */
void dv_claim_slot(dv_build *b, int16_t slot); /* no entry refers to the slot, a global's */
bool dv_owned(dv_build *b, dv_context *context, uint32_t pc,
              int32_t q); /* does INCA code at pc expect q owned? */
void dv_convert(dv_build *b, const dv_snapshot *to);
bool dv_conversion_needed(dv_build *b, const dv_known_value *entries, int32_t top,
                          const dv_snapshot *to);
/* While a call that is not analysed inline goes on, the inlined functions around it count for the
 * depth of recursion, and exits do not count them again. */
void dv_charge(dv_build *b, bool charged);
/* What the inlined function and those around it count as. */
int32_t dv_inlined_calls(const dv_context *context);
void dv_embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc);
/* The same for an instruction that jumps; the result is the cell with its target. */
uint32_t dv_embed_jump(dv_build *b, int32_t inputs, int32_t outputs, uint32_t target_cell,
                       uint32_t next_pc);
void dv_edge_add(dv_build *b, uint32_t cell, dv_context *context, uint32_t pc, int32_t release);
static inline void dv_edge_resumes(dv_build *b) {
    if (b->emitting && !b->failed) b->edges.data[b->edges.count - 1].resumes = true;
}

/* walk.c: the iterator, a WALK, is needed: it is made from now on. */
void dv_walk_need(dv_build *b, const dv_known_value *walk);

/* virtual.c */
/* Is it a local, dead or waiting, whose instance may not have been made? */
static inline bool dv_is_faded(const dv_known_value *e) {
    return e->kind == DV_K_ANY && e->where == DV_AT_HOME && dv_same(e->value, DV_FADED);
}
/* A local whose virtual instance may be the object that it has at home, since the loop's head. */
static inline bool dv_is_carried(const dv_known_value *e) {
    return e->kind == DV_K_VIRTUAL && dv_same(e->value, DV_FADED);
}
/* Is it virtual, or has it faded? */
static inline bool dv_has_record(const dv_known_value *e) {
    return e->kind == DV_K_VIRTUAL || dv_is_faded(e);
}
/* An exit, or a way to elsewhere: what was to be quiet is not. */
void dv_virtual_disturb(dv_build *b);
/* The next local has the object where the region begins, at `head`: may the loop carry it as a
 * virtual instance?  Then it is pushed; false: it may not. */
bool dv_virtual_begin(dv_build *b, dv_value object, uint32_t head);
/* Local q of the loop's function is about to be stored to, or deleted: what it carries, and others
 * hold, too, is carried by one of these, or made. */
void dv_virtual_part(dv_build *b, int32_t q);
/* Local q, in which an instance waits, is read: where it has been made, or never was one, a branch
 * goes on; without room for one it is made.  False: all is to be begun anew. */
bool dv_virtual_resolve(dv_build *b, int32_t q);
/* Makes the virtual instance with this record, for all entries that hold it. */
void dv_virtual_make(dv_build *b, int32_t record);
/* Entry q, which is virtual, as an item of an exit to pc. */
void dv_virtual_exit(dv_build *b, dv_context *context, uint32_t pc, int32_t q);
/* May entry q, which is virtual, fade if execution goes on at pc? */
bool dv_virtual_may_fade(dv_build *b, const dv_context *context, uint32_t pc, int32_t q);
/* Calls in the context whose virtual instances are made nowhere but at exits. */
uint32_t dv_virtual_count(const dv_context *context);

/* virtual_join.c */
/* The first way to a leader at pc, or another one: which instances stay virtual there.  The second
 * one says whether that are fewer than before, or less is known of them. */
void dv_virtual_arrive(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at);
bool dv_virtual_join(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at);
/* At b->pc control meets: what may not have faded there is made; then, when all else is where it
 * belongs, attributes go to where the leader has them. */
void dv_virtual_restore(dv_build *b, const dv_snapshot *to);
void dv_virtual_convert(dv_build *b, const dv_snapshot *to);
/* Is entry q left alone until then? */
bool dv_virtual_stays(dv_build *b, const dv_snapshot *to, int32_t q);
bool dv_virtual_conversion_needed(const dv_build *b, const dv_known_value *e, const dv_snapshot *to,
                                  const dv_known_value *t);
/* The entries are those of the leader. */
void dv_virtual_load(dv_build *b, const dv_snapshot *at);

#endif
