/* program.h: what a fused expression does: loops over blocks of elements that stay in the
 * first-level cache, in the order in which the expression's operations are executed.
 *
 * Invariants
 *  1. An operation computes in the type that ufunc.c would choose for the same operands, with the
 *     same loop: the elements of the result are the same, bit for bit.
 *  2. Nothing is written but the result and the block's own buffers.
 *  3. Each operand and each result is used once. */
#ifndef ND_PROGRAM_H
#define ND_PROGRAM_H

#include "loops/cast.h"
#include "ufunc/ufunc.h"

enum {
    ND_LEAVES = DVX_MOST_OPERANDS,
    ND_NODES = 32,
    ND_BUFFERS = 8,
    ND_STEPS = 3 * ND_NODES + 1, /* operations with a cast of two inputs, and one of the result */
    ND_ARGS = 4,                 /* of a step */
    ND_BLOCK_BYTES = 4096,       /* of a buffer */
    ND_OUT = ND_LEAVES,          /* places: leaves, the result, buffers */
    ND_FIRST_BUFFER = ND_OUT + 1,
    ND_PLACES = ND_FIRST_BUFFER + ND_BUFFERS
};

/* An operation of the expression: a ufunc, or where(), of leaves i and results of operations ~i. */
enum { ND_CHOICE = ND_UFUNCS };
typedef struct nd_node {
    uint8_t number; /* of the ufunc, or ND_CHOICE */
    uint8_t site;   /* which node of the expression it is */
    bool called;    /* by name: powers are powers */
    int8_t inputs[3];
} nd_node;

/* NONE: an operand that is not computed with: where a result is stored. */
typedef enum nd_leaf_kind { ND_LEAF_ARRAY, ND_LEAF_INT, ND_LEAF_FLOAT, ND_LEAF_NONE } nd_leaf_kind;
typedef struct nd_leaf {
    nd_leaf_kind kind;
    nd_type type;  /* of the array; of a number: that it is converted to */
    bool constant; /* a number that is always the same: this one */
    bool bound;    /* of clip: no nan */
    double number;
} nd_leaf;

/* How a step's floating point flags count. */
typedef enum nd_flags { ND_FLAGS_COUNT, ND_FLAGS_NOT, ND_FLAGS_INEXACT } nd_flags;

typedef struct nd_step {
    nd_loop loop; /* NULL: a cast */
    nd_cast cast;
    /* Inputs, then the output; of fewer inputs the last ones are the output.  Of where(): yes, no,
     * the output, and the condition. */
    uint8_t places[ND_ARGS];
    uint8_t strides[ND_ARGS]; /* 0: as the place says */
    /* Of elements in rows, where each number is one: the strides, in bytes. */
    int64_t in_rows[ND_ARGS];
    uint8_t flags;
    uint8_t site, number; /* which node's step it is, and its ufunc */
    bool looks;           /* at the flags, behind it and the steps before */
    bool single;          /* its results are float32 (ND_FLAGS_INEXACT) */
} nd_step;

/* The dtypes that a result is cast to. */
typedef enum nd_result_cast { ND_CAST_NONE, ND_CAST_SAME_KIND, ND_CAST_ANY } nd_result_cast;

typedef struct nd_program {
    uint8_t leaf_count, node_count, step_count, buffer_count;
    nd_node nodes[ND_NODES];
    nd_leaf leaves[ND_LEAVES];
    nd_step steps[ND_STEPS];
    const nd_dtype *result;
    /* Where the result goes to what is there, the dtype of that, to which it is cast; NULL: to a
     * new array.  Then the flags of each step are kept. */
    const nd_dtype *into;
    nd_result_cast casts_result; /* may it be of another dtype than `into`? */
    bool inexact;                /* flags of some step may have no reason */
    int32_t block;               /* elements */
    bool planned;
} nd_program;

static inline int program_inputs(int number) {
    return number == ND_CHOICE ? 3 : loops_facts[number].inputs;
}

/* Makes the steps for the leaves' types.  False: there is a node that ufunc.c would refuse, or that
 * is not for here; nothing is raised. */
bool program_plan(dvx_vm *vm, nd_program *p);

/* Where leaves, result and buffers are: pointers and strides in bytes. */
typedef struct nd_places {
    char *data[ND_PLACES];
    int64_t strides[ND_PLACES];
    int64_t steps[ND_STEPS][ND_ARGS]; /* the strides of each step (program_place) */
    unsigned flags[ND_STEPS];         /* of the steps, if they are kept */
} nd_places;

/* Behind program_plan, and when the strides of leaves or result are others. */
void program_place(const nd_program *p, nd_places *at);

/* `count` elements, the pointers move behind them.  Returns the flags that count. */
unsigned program_run(const nd_program *p, nd_places *at, int64_t count);

/* Short rows of an expression all of whose arrays have them equally far apart. */
typedef struct nd_rows {
    int64_t count, columns; /* rows, elements of each */
    int64_t pitch;          /* elements from one to the next, in each array and buffer */
    int64_t out_pitch;      /* bytes from one to the next of the result */
} nd_rows;

/* All rows at once, with what lies between them, as if it were a single row; of the result the rows
 * alone are written.  All that has to fit into a block.  False: a flag is up, perhaps for what lies
 * between; nothing has been written. */
bool program_rows(const nd_program *p, nd_places *at, const nd_rows *rows, unsigned *flags);

#endif
