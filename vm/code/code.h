/* code.h: code objects, the contract between the compiler (lang/) and the machine (vm/).
 *
 * A code object is what `dynvm dis` shows at the generic level: plain, immutable C data that holds
 * no VM value, so that one code object may be used by any number of VMs in any number of threads
 * and may be frozen into the binary.  A VM *threads* a code object at its first call
 * (run/thread.c): it makes the constants into values, interns the names and expands the words to
 * cells.
 *
 * Invariants
 *  1. Nothing in a dv_code changes once its unit is built and verified; but the tables of functions
 * in a library module are read when dv_code_complete asks for them, and their positions when
 * dv_code_find_positions does, by the one VM that has the module.
 *  2. Every table speaks of the pc, the index of an instruction's first word in `words`.
 *  3. A word holds the opcode in its low 8 bits and operand `a` in the upper 24; an instruction
 * with more operands is followed by one word for each.  The number of operands is fixed for each
 * opcode (dv_op_info in dv_ops.h, generated from gen/ops).
 *  4. Jump operands are absolute pcs.
 *  5. A local that functions share holds a cell, from the prologue on: the MAKE_CELL and COPY_FREE
 * instructions that the code begins with (code/verify.c).
 *  6. Every pointer points into the unit's arena, which lives until the unit's last reference goes.
 *
 * This header includes no header of the VM (vm/README.md, "direction of includes"). */
#ifndef DV_CODE_H
#define DV_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dv_code dv_code;
typedef struct dv_unit dv_unit;

/* Text is UTF-8 with an explicit length; it may contain zero bytes. */
typedef struct dv_text {
    const char *data;
    uint32_t size;
} dv_text;

typedef enum dv_const_kind {
    DV_CONST_NONE,
    DV_CONST_FALSE,
    DV_CONST_TRUE,
    DV_CONST_ELLIPSIS,
    DV_CONST_INT,     /* as.integer */
    DV_CONST_BIGINT,  /* as.text: hexadecimal digits, with a leading '-' for a negative number */
    DV_CONST_FLOAT,   /* as.real */
    DV_CONST_COMPLEX, /* as.real is the imaginary part (literals have no real part) */
    DV_CONST_STR,   /* as.text; lone surrogates are encoded in 3 bytes (as "surrogatepass" does) */
    DV_CONST_BYTES, /* as.text */
    DV_CONST_TUPLE, /* as.tuple: indices of other constants of the same code object, smaller than
                       its own */
    DV_CONST_FROZENSET, /* as.tuple likewise: the items in the order of the source */
    DV_CONST_CODE       /* as.code: the body of a function, lambda, class or comprehension */
} dv_const_kind;

typedef struct dv_const {
    dv_const_kind kind;
    union {
        int64_t integer;
        double real;
        dv_text text;
        struct {
            const uint32_t *items;
            uint32_t count;
        } tuple;
        const dv_code *code;
    } as;
} dv_const;

/* Source range of the instruction at pc (and of all that follow, until the next entry); entries are
 * sorted by pc.  Lines count from 1, columns are byte offsets from 0; line 0: no line of its own.
 * Same meaning as CPython 3.11's co_positions(), from which carets in tracebacks are drawn. */
#define DV_NO_PC UINT32_MAX /* in place of a pc: none */
typedef struct dv_position {
    uint32_t pc;
    uint32_t line, end_line;
    uint16_t column, end_column;
} dv_position;

/* An exception raised by an instruction with begin <= pc < end goes to `handler` with the operand
 * stack cut to `depth` entries and the exception pushed.  The first matching entry counts: inner
 * before outer. */
typedef struct dv_exception_entry {
    uint32_t begin, end;
    uint32_t handler;
    uint32_t depth;
} dv_exception_entry;

typedef enum dv_comprehension {
    DV_COMPREHENSION_LIST,
    DV_COMPREHENSION_SET,
    DV_COMPREHENSION_DICT,
    DV_COMPREHENSION_GENERATOR
} dv_comprehension;

/* Builtins that take all that a generator expression yields (JUMP_IF_BUILTIN): what each does with
 * an item may be compiled in place.  Of a str that is written down, `join` needs no question. */
typedef enum dv_consumer {
    DV_CONSUMER_NONE,
    DV_CONSUMER_SUM,
    DV_CONSUMER_ANY,
    DV_CONSUMER_ALL,
    DV_CONSUMER_LIST,
    DV_CONSUMER_TUPLE,
    DV_CONSUMER_SET,
    DV_CONSUMER_DICT,
    DV_CONSUMER_SORTED,
    DV_CONSUMER_MIN,
    DV_CONSUMER_MAX,
    DV_CONSUMER_NEXT, /* with a default value: the first item */
    DV_CONSUMER_JOIN
} dv_consumer;
#define DV_CONSUMERS DV_CONSUMER_JOIN /* so many are found by their names, DV_CONSUMER_NONE too */

/* Their names; the first is empty. */
extern const char *const dv_consumer_names[DV_CONSUMERS];

/* A comprehension or generator expression that is a function to the program, but a loop in the
 * function around it to the machine: the instructions with begin <= pc < end.  What is raised there
 * passes through a frame of its own in tracebacks, which the instruction at `call` has called, and
 * leaves its variables, locals from `first_local` on, unassigned.  Those with
 * taking <= pc < taken are the work of the builtin that takes the items: what they raise does not
 * pass through that frame (taking is DV_NO_TAKING if there are none).  Inner ones come before outer
 * ones. */
#define DV_NO_TAKING  UINT32_MAX
#define DV_FREE_VALUE ((uint32_t)1 << 31)
typedef struct dv_inlined_code {
    uint32_t begin, end;
    uint32_t call;
    uint32_t taking, taken;
    uint32_t kind; /* dv_comprehension */
    uint32_t first_local, local_count;
} dv_inlined_code;

enum {
    DV_CODE_MODULE = 1,  /* top level of a module: names are globals */
    DV_CODE_CLASS = 2,   /* class body, or evaluated text: local 0 is the namespace (LOAD_NAME) */
    DV_CODE_VARARGS = 4, /* has *args, after the positional and keyword-only parameters */
    DV_CODE_VARKEYWORDS = 8, /* has **kwargs, the last parameter */
    DV_CODE_GENERATOR = 16,
    DV_CODE_HAS_LOOP = 32,   /* contains a JUMP_BACK; frames reserve shadow slots */
    DV_CODE_HOT_CALLS = 64,  /* calls may be worth a region: it calls itself, or computes much (the
                              * verifier finds it); frames reserve some shadow slots */
    DV_CODE_SEES_FRAME = 128 /* names locals, eval or the like: a local is theirs */
};

/* What the operand stack holds before an instruction, found and proved by the verifier
 * (code/verify.h).  States form a tree: an entry is what is on top, and `below` is the state under
 * it; equal stacks are the same entry.  Entry 0 is the empty stack. */
typedef enum dv_slot_kind {
    DV_SLOT_OWNED,    /* a counted reference (or EMPTY) */
    DV_SLOT_BORROWED, /* uncounted, covered by local `local`, or by the constants if local is
                         DV_NO_LOCAL */
    DV_SLOT_RESERVED  /* link or caller's fp of a call being prepared: raw, not a value */
} dv_slot_kind;

#define DV_NO_LOCAL UINT32_MAX
#define DV_NO_STATE UINT32_MAX

typedef struct dv_stack_state {
    uint32_t below;
    uint32_t local;
    uint16_t depth;
    uint8_t kind; /* dv_slot_kind */
} dv_stack_state;

struct dv_code {
    dv_unit *unit;
    dv_text name;     /* `f`, `<module>`, `<lambda>` */
    dv_text qualname; /* `C.f.<locals>.g` */
    dv_text doc;      /* of a function: its docstring; data is NULL if it has none */
    uint32_t flags;
    uint32_t first_line;

    uint32_t positional_count;      /* parameters that can be given by position */
    uint32_t positional_only_count; /* of these, before '/' */
    uint32_t keyword_only_count;    /* after the positional ones, in order */
    uint32_t local_count;           /* parameters first, *args, **kwargs, then the other locals */
    uint32_t max_stack;             /* deepest operand stack, filled in by the verifier */

    /* Where the tables below are still packed (code/pack.h); NULL: they are there.  The counts, the
     * names of locals and free_from are always there. */
    const uint8_t *packed;
    uint32_t packed_size;
    uint32_t packed_positions; /* in unit->positions, until dv_code_find_positions */

    const uint32_t *words;
    uint32_t word_count;
    const dv_const *constants;
    uint32_t constant_count;
    const dv_text *names; /* globals, attributes, modules: operands called `name` */
    uint32_t name_count;
    const dv_text *local_names;
    /* Free variables: the last free_count locals.  Each gets the cell that local free_from[i] of
     * the enclosing function holds where the function is made; of one with DV_FREE_VALUE added, a
     * new cell with the local's value (MAKE_CLOSURE_BY_VALUE). */
    const uint32_t *free_from;
    uint32_t free_count;
    const dv_position *positions;
    uint32_t position_count;
    const dv_exception_entry *exceptions;
    uint32_t exception_count;
    const dv_inlined_code *inlined;
    uint32_t inlined_count;

    /* Regions of its loops that somebody has written (region/emit/written.h): the only ones that it
     * gets; NULL: it gets what the machine finds. */
    const struct dv_written_region *written;

    /* Filled in by the verifier. */
    const dv_stack_state *states;
    uint32_t state_count;
    const uint32_t
        *state_at; /* per pc: index into states; DV_NO_STATE in operand words and dead code */
};

/* A unit is one compiled file (or -c text, or REPL line): the arena of its code objects, its name,
 * and the source text, which tracebacks and `dis` quote. */
struct dv_unit {
    dv_text filename; /* as tracebacks print it: "script.dl", "<string>" */
    dv_text source;   /* empty where the text must not be quoted (-c) */
    /* Of a library module: the positions of all its code, packed, and squeezed (NULL: of another
     * unit); restored when one is asked for. */
    const uint8_t *squeezed_positions, *positions;
    uint32_t positions_size;
    const dv_code *code;
    uint32_t references;                         /* used by one VM only */
    void *arena;                                 /* owner of everything in the unit */
    void *(*allocate)(void *arena, size_t size); /* aligned memory of the arena; NULL: none left */
    void (*release_arena)(void *context, void *arena); /* called when `references` becomes 0 */
    void *context;
};

/* The entry of `code->positions` for an instruction; NULL if the code has none. */
const dv_position *dv_code_position(const dv_code *code, uint32_t pc);

/* Are they the same text? */
bool dv_text_is_same(dv_text a, dv_text b);

/* Can one constant of a code object stand for both? */
bool dv_const_is_same(const dv_const *a, const dv_const *b);

/* The exception entry that catches what the instruction at pc raises; NULL if none does. */
const dv_exception_entry *dv_code_handler(const dv_code *code, uint32_t pc);

/* Does what takes its items do what the instruction at pc does? */
static inline bool dv_inlined_takes(const dv_inlined_code *inlined, uint32_t pc) {
    return inlined->taking <= pc && pc < inlined->taken;
}

/* The innermost inlined comprehension that the instruction at pc is in; NULL if it is in none. */
const dv_inlined_code *dv_code_inlined(const dv_code *code, uint32_t pc);

/* `<listcomp>` and so on. */
dv_text dv_comprehension_name(dv_comprehension kind);

/* What tracebacks call the function that the instruction at pc is in. */
dv_text dv_code_name_at(const dv_code *code, uint32_t pc);

/* Adds the names of the attributes that the function stores on its first parameter (`self.x = ...`)
 * to `names`, which holds `count` different ones and has room for `limit`; returns how many there
 * are now. */
uint32_t dv_code_stored_attributes(const dv_code *code, dv_text *names, uint32_t count,
                                   uint32_t limit);

#endif
