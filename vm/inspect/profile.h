/* profile.h: counting what a VM executes, site by site.
 *
 * A VM that counts runs in trampoline form: every handler comes back to its caller, and that is the
 * profile, which looks at the site before and at where control went after.  So no handler knows of
 * counting, and a VM that does not count runs the same code as if there were none.
 *
 * A *step* is one run of one handler.  An *execution* is that of one instruction of a code object:
 * the step of a fusion makes several of them, and a step in which an adaptive site only chose a
 * derivative, or a back edge only polled, none.
 *
 * Invariants
 *  1. Of every site: executions = hits + misses + generic.  (A *hit* is an execution by a
 *     derivative whose guard held; a *miss* one whose guard failed, so that the generic instruction
 *     did the work; each is counted where it happens, none as what the others leave.)
 *  2. Of all sites together: executions - inside + repeated + entered + region + machine = steps.
 *  3. The steps of all forms of instructions add up to all steps.
 *  4. Counting changes nothing that a program can see, but its speed and its use of memory.
 *  5. A profile, and its log of what happened (trace.h), hold the units of the code that it has
 * seen, and no value of the program: what it knows of values are their types as numbers.  What
 * loops blame is of their function's unit. */
#ifndef DV_INSPECT_PROFILE_H
#define DV_INSPECT_PROFILE_H

#include "dv_ops.h"
#include "inspect/objects.h"

enum {
    DV_PROFILE_OPERANDS = 3, /* that are looked at, at most */
    DV_PROFILE_TYPES = 4,    /* combinations of types that a site remembers */
    DV_PROFILE_EXITS = 24    /* places behind exits that a loop remembers */
};

/* What is known of an operand: a kind in the top byte, below it what makes it this one. */
typedef uint64_t dv_operand_key;
enum {
    DV_KEY_NONE,   /* there is no such operand */
    DV_KEY_TYPE,   /* a shape (core/object.h): a built-in type, or instances of one layout */
    DV_KEY_LONG,   /* an int beyond 48 bits */
    DV_KEY_CODE,   /* a callee: a dl function with this dv_code */
    DV_KEY_C,      /* a callee: a C function with this dv_cfunction_def */
    DV_KEY_CLASS,  /* a callee: a class of dl, by the shape that its instances begin with */
    DV_KEY_BUILTIN /* a callee: the class of this built-in type */
};
#define DV_KEY_SHIFT 56
static inline unsigned dv_key_kind(dv_operand_key key) { return (unsigned)(key >> DV_KEY_SHIFT); }
static inline uint64_t dv_key_rest(dv_operand_key key) {
    return key & ((UINT64_C(1) << DV_KEY_SHIFT) - 1);
}

typedef struct dv_operands {
    dv_operand_key keys[DV_PROFILE_OPERANDS]; /* the first ones, the others are DV_KEY_NONE */
} dv_operands;

typedef struct dv_types_seen {
    dv_operands last;
    struct {
        dv_operands operands;
        uint64_t executions; /* 0: this entry and those behind are free */
    } entries[DV_PROFILE_TYPES];
    uint64_t others; /* executions with operands that found no entry free */
} dv_types_seen;

typedef struct dv_site_counts {
    uint64_t executions;      /* of the instruction, by whatever form */
    uint64_t hits;            /* by a derivative whose guard held */
    uint64_t misses;          /* by the generic instruction, because a derivative's guard failed */
    uint64_t generic;         /* by the generic instruction, and no derivative was there */
    uint64_t inside;          /* executions in the step of another instruction: of a fusion ... */
    uint64_t unguarded;       /* ... and those of them that are hits: the guard is the other's */
    uint64_t in_regions;      /* how often regions began its work; no executions of it */
    uint64_t deoptimisations; /* how often a derivative was given up */
    uint64_t typed;           /* executions before which types of operands were looked at ... */
    uint64_t same;            /* ... and were those of the execution before */
    uint64_t quickened;       /* how often it took a derivative */
    uint64_t backed;          /* how often it was adaptive again, and waited */
    dv_types_seen *types;     /* NULL: none was looked at */
    const char *foreign;      /* name of the extension's instruction that stood there last */
    uint16_t form;            /* dv_op that stood there last; DV_OP_COUNT: an extension's */
    uint8_t reason;           /* dv_reason of the last generic execution */
} dv_site_counts;

/* A loop that was so hot that a region was tried (level nama).  Entries and exits are those of the
 * region whose outermost loop it is. */
typedef struct dv_loop_counts {
    struct dv_loop_counts *next;
    uint32_t back;     /* pc of its JUMP_BACK; 0: it is the whole function */
    uint32_t region;   /* likewise, of the region that it is in; DV_NO_PC: it is in none */
    uint32_t removed;  /* its instructions that would make an object, and need not in it */
    dv_refusal why;    /* why it is in none */
    const dv_code *in; /* the instruction to blame for that; NULL: none in particular ... */
    uint32_t pc;       /* ... or its pc */
    uint64_t refused;  /* how often no region could be made */
    uint64_t lost;     /* how often one was given up */
    uint64_t made;     /* how often it was in a new one */
    uint64_t entries;  /* into the region */
    uint64_t exits;    /* out of it */
    uint64_t guards;   /* exits where a guard failed, or to a way that was new */
    uint64_t raised;   /* exits where an exception was raised */
    struct {
        const dv_code *in;
        uint32_t pc;
        bool failed;    /* a guard did, or the way was new */
        uint64_t exits; /* 0: this entry and those behind are free */
    } left[DV_PROFILE_EXITS];
} dv_loop_counts;

typedef struct dv_function_counts {
    struct dv_function_counts *next; /* in the order of first execution */
    const dv_code *code;             /* its unit is counted */
    uint32_t *pc_of_cell;
    uint32_t cell_count;
    uint64_t region_steps;   /* of its regions' instructions */
    uint64_t region_entries; /* into them */
    uint64_t region_exits;   /* out of them */
    dv_loop_counts *loops;
    dv_site_counts sites[]; /* by pc; those of operand words are empty */
} dv_function_counts;

/* Why a region was left. */
typedef enum dv_exited {
    DV_EXITED_AT_END,       /* the program leaves the loop, or the function returns */
    DV_EXITED_BY_GUARD,     /* one failed */
    DV_EXITED_TO_NEW,       /* to a way that the program had not gone before */
    DV_EXITED_RETIRED,      /* it was given up while it ran */
    DV_EXITED_AT_SAFEPOINT, /* a collection, or a stress mode */
    DV_EXITED_RAISING,      /* an exception was raised */
    DV_EXITED_REASONS
} dv_exited;

typedef struct dv_profile {
    dv_function_counts *functions, **end;
    uint64_t steps;    /* runs of handlers */
    uint64_t repeated; /* steps after which the same instruction was to be executed again */
    uint64_t entered;  /* steps of ENTER, which belongs to no pc */
    uint64_t region;   /* steps of region code */
    uint64_t machine;  /* steps of cells that belong to no function */
    uint64_t entries;  /* of regions */
    uint64_t exits[DV_EXITED_REASONS]; /* from them, by reason (dv_exited) */
    uint64_t guards;        /* executed in regions: of their own, and of derivatives in them */
    uint64_t guards_failed; /* of these */
    dv_objects objects;     /* made, and removed, by kind (objects.h) */
    uint64_t forms[DV_OP_COUNT + 1]; /* steps by opcode; the last: extensions' and the machine's */
    struct dv_trace *trace;          /* what happened, in its order (trace.h) */
    struct dv_steps *recorded;       /* of one function (window/steps.h); NULL: none are */
    bool missed;                     /* the guard of the running step failed */
    bool incomplete;                 /* memory was short: some functions are not counted */
} dv_profile;

/* The VM counts from now on: it is in trampoline form and has run nothing yet.  False: no memory
 * (nothing is raised). */
bool dv_profile_start(dv_vm *vm);
/* NULL: the VM does not count. */
const dv_profile *dv_profile_of(const dv_vm *vm);
void dv_profile_free(dv_vm *vm);

/* The thread whose code has this cell of INCA code; NULL: none. */
const struct dv_thread *dv_profile_owner(const dv_vm *vm, const dv_cell *cell);

/* NULL: no region was tried for the loop that ends at pc. */
const dv_loop_counts *dv_profile_loop(const dv_function_counts *function, uint32_t pc);

/* Instructions with derivatives that are chosen by what the operands are. */
static inline bool dv_profile_quickens(uint32_t generic) {
    return dv_op_infos[generic].adaptive != generic && generic != DV_OP_JUMP_BACK;
}

/* What all sites of a function, or of an instruction, come to. */
typedef struct dv_totals {
    uint64_t executions, hits, misses, generic, inside, unguarded, deoptimisations, typed, same;
    uint64_t firsts; /* sites with `typed`: their first execution has no predecessor */
} dv_totals;
void dv_totals_add(dv_totals *totals, const dv_site_counts *site);

#endif
