/* sites.c: the life of an ADD, and a global that hardly ever changes; lab 5, first part
 * (lesson5.md).
 *
 * A site of ADD is generic, or has become ADD_INT or ADD_TEXT.  The program calls `add` with
 * operands; the machine counts what each execution does:
 *
 *     looked    the site chose a form: it costs as much as five executions
 *     hits      the form fitted
 *     misses    it did not: the generic ADD did the work
 *     generic   the site has no form
 *
 * A global is read by `load`, and stored to by `store`.  A site that has read it may keep the
 * value, and look at the global no more.
 *
 * usage: sites PROGRAM      PROGRAM: calm, turns, late, constant or stored */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { INT, TEXT } kind;
typedef enum form { GENERIC, ADD_INT, ADD_TEXT } form;

static struct { long looked, hits, misses, generic, loads; } counts;

/* ---- A site of ADD ---- */

enum { WARM = 8, MISSES = 8, WAIT = 16, BACKOFF = 6 };

typedef struct site {
    form form;
    int misses;  /* since it has this form */
    int wait;    /* so many executions until it looks */
    int backoff; /* how often it was given up, at most BACKOFF */
} site;

static form choose(kind a, kind b) {
    counts.looked++;
    if (a == INT && b == INT) return ADD_INT;
    return a == TEXT && b == TEXT ? ADD_TEXT : GENERIC;
}

/* After that it waits before it looks again. */
static void give_up(site *s) {
    s->form = GENERIC;
    s->wait = WAIT << s->backoff;
    if (s->backoff < BACKOFF) s->backoff++;
}

static void execute(site *s, kind a, kind b) {
    if (s->form == GENERIC) {
        counts.generic++;
        if (s->wait-- > 0) return;
        s->form = choose(a, b);
        s->misses = 0;
        if (s->form == GENERIC) give_up(s);
        return;
    }
    if (s->form == ADD_INT ? a == INT && b == INT : a == TEXT && b == TEXT) {
        counts.hits++;
        return;
    }
    counts.misses++;
    if (++s->misses == MISSES) give_up(s);
}

/* ---- A global, and who relies on it ---- */

enum { MOST = 4 };

typedef struct load_site {
    bool keeps; /* relies on the global to be `kept` */
    long kept;
} load_site;

typedef struct global {
    long value;
    load_site *dependents[MOST];
    int dependent_count;
} global;

static long load(load_site *s, global *g) {
    if (s->keeps) return s->kept;
    counts.loads++;
    if (g->dependent_count < MOST) {
        g->dependents[g->dependent_count++] = s;
        *s = (load_site){true, g->value};
    }
    return g->value;
}

static void store(global *g, long value) {
    for (int i = 0; i < g->dependent_count; i++) g->dependents[i]->keeps = false;
    g->dependent_count = 0;
    g->value = value;
}

/* ---- Programs ---- */

static long calm(void) {
    site add = {.wait = WARM};
    for (int i = 0; i < 10000; i++) execute(&add, INT, INT);
    return 0;
}

static long turns(void) {
    site add = {.wait = WARM};
    for (int i = 0; i < 10000; i++) execute(&add, i % 2 ? INT : TEXT, i % 2 ? INT : TEXT);
    return 0;
}

/* Changing at first, calm later. */
static long late(void) {
    site add = {.wait = WARM};
    for (int i = 0; i < 10000; i++) {
        const kind k = i < 1000 && i % 2 ? TEXT : INT;
        execute(&add, k, k);
    }
    return 0;
}

static long constant(void) {
    global rate = {.value = 3};
    load_site a = {0}, b = {0};
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum += load(&a, &rate) + load(&b, &rate);
    return sum;
}

static long stored(void) {
    global rate = {.value = 1};
    load_site a = {0}, b = {0};
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        if (i % 100 == 50) store(&rate, i);
        sum += load(&a, &rate) + load(&b, &rate);
    }
    return sum;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        long (*run)(void);
    } programs[] = {{"calm", calm},
                    {"turns", turns},
                    {"late", late},
                    {"constant", constant},
                    {"stored", stored}};
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0) {
            const long result = programs[i].run();
            printf("result %ld looked %ld hits %ld misses %ld generic %ld loads %ld\n", result,
                   counts.looked, counts.hits, counts.misses, counts.generic, counts.loads);
            return 0;
        }
    return fputs("usage: sites PROGRAM\n", stderr), 2;
}
