/* machine.c: a stack machine that can be read in ten minutes; lab 1 (lesson1.md).
 *
 * A program is an array of cells: the address of a handler, then its operand if it has one.  A
 * handler does its work and then hands over to the next instruction; how it does that is its
 * *form*:
 *
 *     trampoline    it returns the address of the next cell to the loop in `run`
 *     tail          it jumps to the next handler itself; `run` hears of the end alone
 *
 * usage: machine PROGRAM N      PROGRAM: sum, squares or powers */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef union cell cell;
typedef struct machine machine;
/* sp points at the topmost entry of the operand stack. */
typedef cell *handler(cell *ip, int64_t *sp, machine *m);

union cell {
    handler *h;
    int64_t number;
};

struct machine {
    int64_t *sp; /* kept here between two handlers in trampoline form */
    int64_t locals[4];
    int64_t stack[16];
    uint64_t turns;        /* how often the loop in `run` went round */
    uint64_t instructions; /* how many handlers ran, if COUNT is defined */
};

/* ---- Dispatch ---- */

#ifdef COUNT
#define COUNTED m->instructions++
#else
#define COUNTED (void)0
#endif

/* The end of each handler: go on at the cell `next`. */
#ifdef TRAMPOLINE
#define NEXT(next)             \
    do {                       \
        cell *target = (next); \
        COUNTED;               \
        m->sp = sp;            \
        return target;         \
    } while (0)
#else
/* Lab 1, task 2: jump to the handler at `next` instead.  (This is the trampoline form again.) */
#define NEXT(next)             \
    do {                       \
        cell *target = (next); \
        COUNTED;               \
        m->sp = sp;            \
        return target;         \
    } while (0)
#endif

static int64_t run(machine *m, cell *program) {
    cell *ip = program;
    m->sp = m->stack;
    while (ip) {
        m->turns++;
        ip = ip->h(ip, m->sp, m);
    }
    return *m->sp;
}

/* ---- Handlers ---- */

/* The end of the program: its result is the topmost entry. */
static cell *halt(cell *ip, int64_t *sp, machine *m) {
    (void)ip;
    m->sp = sp;
    return NULL;
}

static cell *load_number(cell *ip, int64_t *sp, machine *m) {
    *++sp = ip[1].number;
    NEXT(ip + 2);
}

static cell *load_local(cell *ip, int64_t *sp, machine *m) {
    *++sp = m->locals[ip[1].number];
    NEXT(ip + 2);
}

static cell *store_local(cell *ip, int64_t *sp, machine *m) {
    m->locals[ip[1].number] = *sp--;
    NEXT(ip + 2);
}

static cell *add(cell *ip, int64_t *sp, machine *m) {
    sp[-1] += sp[0];
    sp--;
    NEXT(ip + 1);
}

/* Lab 1, task 1: takes the two topmost entries and puts their product there.  (This ends the
 * program.) */
static cell *multiply(cell *ip, int64_t *sp, machine *m) { return halt(ip, sp, m); }

/* Jumps by so many cells if the topmost entry is not 0. */
static cell *jump_if(cell *ip, int64_t *sp, machine *m) {
    NEXT(*sp-- ? ip + ip[1].number : ip + 2);
}

/* ---- Programs ---- */

enum { N, RESULT };
#define NUMBER(x) \
    {.h = load_number}, { .number = (x) }
#define LOAD(x) \
    {.h = load_local}, { .number = (x) }
#define STORE(x) \
    {.h = store_local}, { .number = (x) }
#define JUMP_IF(by) \
    {.h = jump_if}, { .number = (by) }
#define DO(x) \
    { .h = (x) }

/* result = 0; do { result = result + n; n = n + -1 } while (n) */
static cell sum[] = {NUMBER(0),    STORE(RESULT),                              /* */
                     LOAD(RESULT), LOAD(N),       DO(add),      STORE(RESULT), /* */
                     LOAD(N),      NUMBER(-1),    DO(add),      STORE(N),      /* */
                     LOAD(N),      JUMP_IF(-16),  LOAD(RESULT), DO(halt)};

/* result = 0; do { result = result + n * n; n = n + -1 } while (n) */
static cell squares[] = {NUMBER(0),    STORE(RESULT), /* */
                         LOAD(RESULT), LOAD(N),       LOAD(N),      DO(multiply),
                         DO(add),      STORE(RESULT),                         /* */
                         LOAD(N),      NUMBER(-1),    DO(add),      STORE(N), /* */
                         LOAD(N),      JUMP_IF(-19),  LOAD(RESULT), DO(halt)};

/* result = 1; do { result = result * 3; n = n + -1 } while (n) */
static cell powers[] = {NUMBER(1),    STORE(RESULT),                              /* */
                        LOAD(RESULT), NUMBER(3),     DO(multiply), STORE(RESULT), /* */
                        LOAD(N),      NUMBER(-1),    DO(add),      STORE(N),      /* */
                        LOAD(N),      JUMP_IF(-16),  LOAD(RESULT), DO(halt)};

int main(int argc, char **argv) {
    static machine m;
    if (argc != 3) return fputs("usage: machine PROGRAM N\n", stderr), 2;
    cell *program = !strcmp(argv[1], "squares")  ? squares
                    : !strcmp(argv[1], "powers") ? powers
                                                 : sum;
    m.locals[N] = strtoll(argv[2], NULL, 10);
    const clock_t begin = clock();
    const int64_t result = run(&m, program);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("result %" PRId64 " turns %" PRIu64 " instructions %" PRIu64 " seconds %.6f\n", result,
           m.turns, m.instructions, seconds);
    return 0;
}
