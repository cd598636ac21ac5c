/* values.c: values with tags, boxes with counts, and who owns what; lab 2 (lesson2.md).
 *
 * A value is one word.  If its lowest bit is 1, the others are an int; else it is the address of a
 * box with a float. A box counts its owners, and goes when the last one lets go of it.
 *
 * Invariants
 *  1. Every local that refers to a box is an owner of it.
 *  2. An entry of the operand stack is an owner, unless LOAD_BORROWED put it there: then the owner
 *     is the local that it came from, which keeps its value until the entry is gone.
 *  3. What an instruction takes from the stack it releases if the entry is an owner: `own` of ADD
 *     says which are (bit 0 the left one, bit 1 the right one).  What it puts there is an owner.
 *
 * The heap watches: a box that is used after its end, or that is alive at the end of the program,
 * is reported with the instruction (pc) that made it.
 *
 * usage: values PROGRAM N      PROGRAM: ints, floats, mixed or borrowed */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t value;

typedef struct box {
    int64_t count; /* of owners; 0: it has ended */
    double number;
    int made_at; /* the pc of the instruction */
    struct box *next;
} box;

typedef struct counts {
    int64_t made, ended, retained, released;
} counts;

static box *boxes; /* all that were made: the heap keeps dead ones, to see who uses them */
static counts heap;
static int now; /* pc of the running instruction */

/* ---- Values ---- */

static bool is_int(value v) { return v & 1; }
static value from_int(int64_t i) { return (uint64_t)i << 1 | 1; }
static int64_t as_int(value v) { return (int64_t)v >> 1; }

static box *as_box(value v) {
    box *b = (box *)(uintptr_t)v;
    if (b->count > 0) return b;
    printf("pc %d uses a box after its end; pc %d made it\n", now, b->made_at);
    exit(0);
}

/* A new box with one owner: who gets the result. */
static value from_float(double number) {
    box *b = malloc(sizeof *b);
    if (!b) exit(3);
    *b = (box){1, number, now, boxes};
    boxes = b;
    heap.made++;
    return (uint64_t)(uintptr_t)b;
}

/* One owner more. */
static value retain(value v) {
    if (is_int(v)) return v;
    as_box(v)->count++;
    heap.retained++;
    return v;
}

/* One owner less. */
static void release(value v) {
    if (is_int(v)) return;
    heap.released++;
    if (--as_box(v)->count == 0) heap.ended++;
}

static double as_number(value v) { return is_int(v) ? (double)as_int(v) : as_box(v)->number; }

/* ---- The machine ---- */

typedef enum opcode {
    CONST,
    LOAD,
    LOAD_BORROWED,
    STORE,
    ADD,
    JUMP_IF,
    RETURN,
} opcode;

typedef struct instruction {
    opcode op;
    int operand; /* of ADD: `own` */
    double number;
} instruction;

enum { N, SUM, STEP, LOCALS };
enum { NOTHING, LEFT, RIGHT, BOTH };

/* The sum: an int of two ints, else a float. */
static value sum_of(value a, value b) {
    if (is_int(a) && is_int(b)) return from_int(as_int(a) + as_int(b));
    return from_float(as_number(a) + as_number(b));
}

static value run(const instruction *program, value *locals) {
    value stack[8], *sp = stack;
    for (now = 0;; now++) {
        const instruction *i = &program[now];
        switch (i->op) {
        case CONST:
            *sp++ = i->number == (int64_t)i->number ? from_int((int64_t)i->number)
                                                    : from_float(i->number);
            break;
        case LOAD: *sp++ = retain(locals[i->operand]); break;
        case LOAD_BORROWED: *sp++ = locals[i->operand]; break;
        case STORE: {
            const value old = locals[i->operand];
            locals[i->operand] = *--sp;
            release(old);
            break;
        }
        case ADD: {
            const value right = *--sp, left = *--sp;
            *sp++ = sum_of(left, right);
            if (i->operand & LEFT) release(left);
            if (i->operand & RIGHT) release(right);
            break;
        }
        case JUMP_IF: /* takes an int, which nobody need own */
            if (as_int(*--sp)) now += i->operand - 1;
            break;
        case RETURN:
            for (int local = 0; local < LOCALS; local++) release(locals[local]);
            return *--sp;
        }
    }
}

/* ---- Programs ---- */

/* sum = 0; do { sum = sum + step; n = n + -1 } while (n); return sum */
static const instruction owned[] = {
    {CONST, 0, 0},  {STORE, SUM, 0},                                   /* 0 */
    {LOAD, SUM, 0}, {LOAD, STEP, 0},  {ADD, BOTH, 0}, {STORE, SUM, 0}, /* 2 */
    {LOAD, N, 0},   {CONST, 0, -1},   {ADD, BOTH, 0}, {STORE, N, 0},   /* 6 */
    {LOAD, N, 0},   {JUMP_IF, -9, 0}, {LOAD, SUM, 0}, {RETURN, 0, 0},  /* 10 */
};

/* The same, but what ADD takes is borrowed. */
static const instruction borrowed[] = {
    {CONST, 0, 0},           {STORE, SUM, 0},                                              /* 0 */
    {LOAD_BORROWED, SUM, 0}, {LOAD_BORROWED, STEP, 0}, {ADD, NOTHING, 0}, {STORE, SUM, 0}, /* 2 */
    {LOAD_BORROWED, N, 0},   {CONST, 0, -1},           {ADD, RIGHT, 0},   {STORE, N, 0},   /* 6 */
    {LOAD_BORROWED, N, 0},   {JUMP_IF, -9, 0},         {LOAD, SUM, 0},    {RETURN, 0, 0},  /* 10 */
};

/* sum = 0; do { sum = sum + (step + 0.5); n = n + -1 } while (n); return sum */
static const instruction nested[] = {
    {CONST, 0, 0},           {STORE, SUM, 0},                                            /* 0 */
    {LOAD_BORROWED, SUM, 0}, {LOAD_BORROWED, STEP, 0}, {CONST, 0, 0.5}, {ADD, RIGHT, 0}, /* 2 */
    {ADD, RIGHT, 0},         {STORE, SUM, 0},                                            /* 6 */
    {LOAD_BORROWED, N, 0},   {CONST, 0, -1},           {ADD, RIGHT, 0}, {STORE, N, 0},   /* 8 */
    {LOAD_BORROWED, N, 0},   {JUMP_IF, -11, 0},        {LOAD, SUM, 0},  {RETURN, 0, 0},  /* 12 */
};

int main(int argc, char **argv) {
    if (argc != 3) return fputs("usage: values PROGRAM N\n", stderr), 2;
    const bool is_ints = !strcmp(argv[1], "ints");
    const instruction *program = !strcmp(argv[1], "borrowed") ? borrowed
                                 : !strcmp(argv[1], "mixed")  ? nested
                                                              : owned;
    now = -1; /* what is made here was made before the program */
    value locals[LOCALS] = {from_int(strtoll(argv[2], NULL, 10)), from_int(0),
                            is_ints ? from_int(2) : from_float(0.25)};
    const value result = run(program, locals);
    printf("result %g ", as_number(result));
    release(result);
    printf("made %" PRId64 " ended %" PRId64 " retained %" PRId64 " released %" PRId64 "\n",
           heap.made, heap.ended, heap.retained, heap.released);
    for (const box *b = boxes; b; b = b->next)
        if (b->count > 0) {
            printf("a box made at pc %d is alive at the end; owners: %" PRId64 "\n", b->made_at,
                   b->count);
            break;
        }
    for (box *next; boxes; boxes = next) next = boxes->next, free(boxes);
    return 0;
}
