/* stops.c: can a host end any program in time?
 *
 *     limits_stops [OPTION...] [NAME...]
 *
 *     --mode=MODE    only this way to end programs; of several, each by itself
 *     --within=MS    what an ending may take (default: 100)
 *     --turns[=N]    one of the modes but `work`, and `work`: by N; else by the number of commits
 *     --one          with --turns: one of all modes
 *     --table        what a unit of work takes in each program
 *     --factor=N     by which a function in C may be off in the table (default: 3)
 *     --jobs=N       so many programs at a time (default: one for each processor)
 *     --level=LEVEL, --file=PROGRAMS, -v; NAME: only programs whose names contain one
 *
 * Starts each program of a file (programs.txt, which says what one looks like), ends it after some
 * ms, and prints how long it went on: the distribution, and those that were too slow, or never
 * ended. The modes are the ways to end it: `interrupt` and `end` (dynvm_interrupt and dynvm_stop
 * from another thread), `time` and `work` (the limits of dynvm_set_limits).  It is the processor's
 * time that is measured, but of programs that wait, as the machine may be busy.  The table is for
 * the question whether the limit of instructions means the same whatever a program does: the
 * functions in C should not be off their mean, the geometric one, by more than three.
 *
 * Invariants
 *  1. A program is prepared once, in a process of its own.  Each trial is a copy of this process:
 * so one that never ends, or crashes, harms nobody, and all begin alike.
 *  2. Trials of one program come one after the other, as they would slow one another down.
 *  3. What came out of a trial is in memory that all processes share (`shared`).  What is not
 *     written there has crashed.
 *
 * The exit status is 1 if one was too slow, 2 if nothing could be tested. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dynvm.h>

#define RUNS_FOR 0.02 /* seconds until a program is to end */
enum {
    UNIT = 10,    /* ns that a unit of work is meant to take */
    NEVER = 20,   /* times what an ending may take: then one is given up */
    SETUP = 60,   /* seconds that its preparation may take */
    ATTEMPTS = 3, /* for one that is too slow: the machine may have been busy */
    TABLE_WORK = 3000000,
    LITTLE = 2, /* ns for a unit: then it is tried with a limit so many times as great */
    MORE = 8
};

typedef enum mode { INTERRUPT, END, BY_TIME, BY_WORK, MODES } mode;
static const char *const mode_names[] = {"interrupt", "end", "time", "work"};

/* ---- The file ---- */

typedef struct program {
    const char *name, *setup, *text;
    size_t setup_size, text_size;
    int trials; /* the one with this preparation, or so many: its neighbours */
    bool stubborn, loop, waits, each;
} program;

enum { MOST_PROGRAMS = 1000 };
static program programs[MOST_PROGRAMS];
static int program_count;

static void fail(const char *what, const char *which) {
    fprintf(stderr, "limits_stops: %s: %s\n", what, which);
    exit(2);
}

static char *read_file(const char *path) {
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "r");
    if (!file) fail(path, strerror(errno));
    char *text = malloc(MOST + 1);
    if (!text) fail(path, "out of memory");
    size_t size = fread(text, 1, MOST, file);
    fclose(file);
    text[size] = 0;
    return text;
}

static program *add_program(const char *name) {
    if (program_count == MOST_PROGRAMS) fail("too many programs", name);
    program *p = &programs[program_count++];
    p->name = name;
    p->trials = 1;
    return p;
}

/* "== name | word word": begins a program. */
static program *begin_program(char *line) {
    program *p = add_program(line + 3);
    char *flags = strstr(line, " | ");
    if (!flags) return p;
    *flags = 0;
    for (char *rest, *word = strtok_r(flags + 3, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        if (strcmp(word, "stubborn") == 0)
            p->stubborn = true;
        else if (strcmp(word, "loop") == 0)
            p->loop = true;
        else if (strcmp(word, "waits") == 0)
            p->waits = true;
        else if (strcmp(word, "each") == 0)
            p->each = true;
        else
            fail("unknown word behind a program's name", word);
    return p;
}

static char *printed(const char *format, const char *a, const char *b) {
    const size_t size = strlen(format) + strlen(a) + strlen(b) + 1;
    char *text = malloc(size);
    if (!text) fail("out of memory", a);
    snprintf(text, size, format, a, b);
    return text;
}

/* Each line of the last program is one to be repeated. */
static void split_program(program *group) {
    char *rest, *text = strndup(group->text, group->text_size);
    const program common = *group;
    program *p = group;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line != text) {
            p = add_program(common.name);
            *p = common;
            group->trials++;
        }
        p->name = printed("%s: %s", common.name, line);
        p->text = printed("while True: %s%s", line, "\n");
        p->text_size = strlen(p->text);
    }
    free(text);
}

static void read_programs(const char *path) {
    program *p = NULL;
    for (char *line = read_file(path); line && *line;) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : line + strlen(line);
        const bool begins = strncmp(line, "== ", 3) == 0;
        if (begins && p && p->each) split_program(p);
        if (begins) {
            if (end) *end = 0;
            p = begin_program(line);
            p->text = next;
        } else if (p && strncmp(line, "--\n", 3) == 0) {
            p->setup = p->text, p->setup_size = p->text_size;
            p->text = next, p->text_size = 0;
        } else if (p) {
            p->text_size = (size_t)(next - p->text);
        }
        line = next;
    }
    if (p && p->each) split_program(p);
    if (!program_count) fail("there are no programs", path);
}

/* ---- One trial, in a process of its own ---- */

typedef struct outcome {
    double latency, took; /* seconds: from when it was to end; from its beginning */
    uint64_t work;
    int ended; /* ENDED, ... */
    char error[200];
} outcome;
enum { NOT_TRIED, ENDED, BY_ITSELF, UNPREPARED, CAUGHT_FOR_EVER, CRASHED };
static const char *const what_ended[] = {
    "was not tried", "", "ended by itself", "was not prepared", "never ended", "crashed"};

typedef outcome outcomes[MODES];
static outcomes *shared; /* of programs */

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct ending {
    dynvm_vm *vm;
    mode how;
    clockid_t clock;
    double at;
} ending;

static void *end_soon(void *context) {
    ending *e = context;
    const struct timespec some = {.tv_nsec = (long)(RUNS_FOR * 1e9)};
    nanosleep(&some, NULL);
    e->at = seconds_of(e->clock);
    if (e->how == INTERRUPT)
        dynvm_interrupt(e->vm);
    else if (e->how == END)
        dynvm_stop(e->vm, DYNVM_END);
    return NULL;
}

static void note_error(dynvm_vm *vm, outcome *result) {
    dynvm_error *error = dynvm_take_error(vm);
    snprintf(result->error, sizeof result->error, "%s: %s",
             error ? dynvm_error_type(error) : "no error", error ? dynvm_error_message(error) : "");
    dynvm_error_free(error);
}

/* `warm`: once more before time counts, as memory that a copy of the process writes to for the
 * first time takes many times as long. */
static void run_program(dynvm_vm *vm, const program *p, mode how, uint64_t work, bool warm,
                        outcome *to) {
    ending e = {.vm = vm, .how = how, .clock = CLOCK_MONOTONIC};
    outcome result = {0};
    pthread_t thread;
    if (!p->waits && pthread_getcpuclockid(pthread_self(), &e.clock) != 0) exit(2);
    if (how == BY_TIME) (void)dynvm_set_limits(vm, 0, RUNS_FOR);
    if (how == BY_WORK) (void)dynvm_set_limits(vm, work, 0);
    if (warm && dynvm_run_text(vm, p->text, p->text_size, "<program>") == DYNVM_ERROR)
        dynvm_error_free(dynvm_take_error(vm));
    const double start = seconds_of(e.clock);
    const uint64_t before = dynvm_instructions(vm);
    if (how != BY_WORK && pthread_create(&thread, NULL, end_soon, &e) != 0) exit(2);
    const dynvm_status status = dynvm_run_text(vm, p->text, p->text_size, "<program>");
    const double end = seconds_of(e.clock);
    result.work = dynvm_instructions(vm) - before;
    if (how != BY_WORK) pthread_join(thread, NULL);
    result.took = end - start;
    result.latency = end - (how == BY_WORK ? start + RUNS_FOR : e.at);
    note_error(vm, &result);
    const bool told =
        status == DYNVM_ERROR &&
        (strncmp(result.error, "KeyboardInterrupt", 17) == 0 ||
         strstr(result.error, "limit exceeded") || strstr(result.error, "stopped by the host"));
    result.ended = told ? ENDED : BY_ITSELF;
    *to = result;
    _exit(0);
}

static void try_program(dynvm_vm *vm, const program *p, mode how, uint64_t work, bool warm,
                        int patience, outcome *to) {
    int ends[2]; /* nothing is written: the end of the child is the end of the file */
    if (pipe(ends) != 0) exit(2);
    *to = (outcome){.ended = CRASHED};
    pid_t child = fork();
    if (child < 0) exit(2);
    if (child == 0) {
        close(ends[0]);
        run_program(vm, p, how, work, warm, to);
    }
    close(ends[1]);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    const bool in_time = poll(&one, 1, patience) > 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (!in_time && to->ended == CRASHED) to->ended = CAUGHT_FOR_EVER;
    close(ends[0]);
}

/* ---- All of them ---- */

typedef struct choice {
    double within; /* seconds */
    double factor; /* of the table */
    dynvm_level level;
    bool verbose, table, one;
    long turn; /* -1: all modes */
    int modes; /* bits */
    int jobs;
    char **names;
    int name_count;
} choice;

static bool is_chosen(const program *p, const choice *c) {
    for (int i = 0; i < c->name_count; i++)
        if (strstr(p->name, c->names[i])) return true;
    return c->name_count == 0;
}

/* (A program has a further turn with `end` for a mode that is not for it.) */
static mode turn_of(const program *p, const choice *c) {
    const mode how = (mode)((p - programs + c->turn) % (c->one ? MODES : BY_WORK));
    const bool fits = how == INTERRUPT ? !p->stubborn : how != BY_WORK || !p->waits;
    return fits ? how : END;
}

static bool is_tried(const program *p, mode how, const choice *c) {
    if (!is_chosen(p, c) || (p->stubborn && how == INTERRUPT) || (p->waits && how == BY_WORK))
        return false;
    if (c->table) return how == BY_WORK && !p->stubborn;
    if (c->turn >= 0) return how == turn_of(p, c) || (how == BY_WORK && !c->one);
    return !c->modes || c->modes & 1 << how;
}

/* (Of a table all attempts count: it is the shortest time that says what a unit takes.  Work that
 * is counted in front may be refused, and says nothing: who has done too little begins again with a
 * greater limit.) */
static void try_modes(dynvm_vm *vm, int number, const choice *c) {
    uint64_t work = c->table ? TABLE_WORK : (uint64_t)(RUNS_FOR * 1e9 / UNIT);
    const uint64_t most = work * MORE * MORE;
    const int patience = c->table ? SETUP * 1000 : (int)(c->within * 1e3) * NEVER;
    for (mode how = 0; how < MODES; how++) {
        if (!is_tried(&programs[number], how, c)) continue;
        outcome *to = &shared[number][how], best = {.took = 1e9, .latency = 1e9};
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try_program(vm, &programs[number], how, work, c->table, patience, to);
            if (to->ended != ENDED) break;
            if (c->table && to->took * 1e9 < LITTLE * (double)work && work < most) {
                work *= MORE;
                attempt = -1;
                best = (outcome){.took = 1e9, .latency = 1e9};
                continue;
            }
            if (to->took < best.took) best = *to;
            *to = best;
            if (!c->table && best.latency <= c->within) break;
        }
    }
}

static void note_all(int number, const outcome *o) {
    for (int i = number; i < number + programs[number].trials; i++)
        for (int how = 0; how < MODES; how++) shared[i][how] = *o;
}

/* The program and its neighbours that are prepared alike. */
static void try_group(int number, const choice *c) {
    const program *p = &programs[number];
    dynvm_config config = DYNVM_CONFIG;
    config.level = c->level;
    config.instruction_limit = UINT64_MAX;
    config.extension_path = EXTENSIONS;
    alarm(SETUP);
    dynvm_vm *vm = dynvm_create(&config);
    if (!vm) exit(2);
    outcome result = {.ended = CRASHED};
    note_all(number, &result);
    if (p->setup_size && dynvm_run_text(vm, p->setup, p->setup_size, "<setup>") != DYNVM_OK) {
        result.ended = UNPREPARED;
        note_error(vm, &result);
        note_all(number, &result);
        _exit(0);
    }
    alarm(0);
    for (int i = 0; i < p->trials; i++) try_modes(vm, number + i, c);
    _exit(0);
}

static void try_all(const choice *c) {
    int running = 0;
    for (int i = 0; i < program_count; i += programs[i].trials) {
        bool wanted = false;
        for (int k = i; k < i + programs[i].trials; k++) wanted |= is_chosen(&programs[k], c);
        if (!wanted) continue;
        if (running == c->jobs && wait(NULL) > 0) running--;
        pid_t child = fork();
        if (child < 0) fail("fork", strerror(errno));
        if (child == 0) try_group(i, c);
        running++;
    }
    while (running > 0 && wait(NULL) > 0) running--;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_distribution(const char *name, double *all, int count) {
    if (!count) return;
    qsort(all, (size_t)count, sizeof *all, by_size);
    printf("%-10s %3d ended: least %.2f ms, median %.2f, 90 %% %.2f, 99 %% %.2f, most %.2f ms\n",
           name, count, all[0] * 1e3, all[count / 2] * 1e3, all[count * 9 / 10] * 1e3,
           all[count * 99 / 100] * 1e3, all[count - 1] * 1e3);
}

static bool is_skipped(const outcome *o) {
    return o->ended == UNPREPARED && strstr(o->error, "ModuleNotFound");
}

/* How many failed. */
static int print_mode(mode how, const choice *c) {
    static double latencies[MOST_PROGRAMS];
    int count = 0, bad = 0;
    for (int i = 0; i < program_count; i++) {
        if (!is_tried(&programs[i], how, c)) continue;
        const outcome *o = &shared[i][how];
        const bool failed = !is_skipped(o) && (o->ended != ENDED || o->latency > c->within);
        bad += failed;
        if (o->ended == ENDED) latencies[count++] = o->latency > 0 ? o->latency : 0;
        if (failed || c->verbose)
            printf("%s %-10s %8.2f ms  %s  %s %s\n", failed ? "FAILED" : "      ", mode_names[how],
                   o->latency * 1e3, programs[i].name, what_ended[o->ended], o->error);
    }
    print_distribution(mode_names[how], latencies, count);
    return bad;
}

static int print_table(const choice *c) {
    static double all[MOST_PROGRAMS];
    double logarithms = 0;
    int bad = 0, count = 0;
    for (int i = 0; i < program_count; i++) {
        const outcome *o = &shared[i][BY_WORK];
        if (!is_tried(&programs[i], BY_WORK, c)) continue;
        if (o->ended == ENDED) {
            all[i] = o->took * 1e9 / (double)o->work;
            if (!programs[i].loop) logarithms += log(all[i]), count++;
            continue;
        }
        printf("%9s  %s  %s %s\n", "-", programs[i].name, what_ended[o->ended], o->error);
        bad += !is_skipped(o);
    }
    const double mean = count ? exp(logarithms / count) : UNIT;
    for (int i = 0; i < program_count; i++) {
        if (!(all[i] > 0)) continue;
        const double factor = all[i] / mean;
        const bool off = !programs[i].loop && (factor > c->factor || factor * c->factor < 1);
        printf("%9.1f%s %s\n", all[i], off ? "!" : " ", programs[i].name);
        bad += off;
    }
    printf("ns for a unit; mean of the functions in C %.1f; %d failed, or off by more than %g\n",
           mean, bad, c->factor);
    return bad;
}

/* ---- The command line ---- */

static const char *value_of(const char *argument, const char *name) {
    const size_t size = strlen(name);
    return strncmp(argument, name, size) == 0 && argument[size] == '=' ? argument + size + 1 : NULL;
}

static long count_commits(void) {
    long count = 0;
    FILE *git = popen("git rev-list --count HEAD 2>/dev/null", "r");
    if (git && fscanf(git, "%ld", &count) != 1) count = 0;
    if (git) pclose(git);
    return count;
}

static int mode_bit(const char *name) {
    for (int m = 0; m < MODES; m++)
        if (strcmp(name, mode_names[m]) == 0) return 1 << m;
    fail("unknown mode", name);
    return 0;
}

static dynvm_level level_of(const char *name) {
    if (strcmp(name, "generic") == 0) return DYNVM_LEVEL_GENERIC;
    if (strcmp(name, "inca") == 0) return DYNVM_LEVEL_INCA;
    if (strcmp(name, "nama") != 0) fail("unknown level", name);
    return DYNVM_LEVEL_NAMA;
}

int main(int argc, char **argv) {
    choice c = {.within = 0.1, .factor = 3, .level = DYNVM_LEVEL_DEFAULT, .turn = -1};
    c.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const char *file = PROGRAMS, *value;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if ((value = value_of(argv[at], "--file")))
            file = value;
        else if ((value = value_of(argv[at], "--mode")))
            c.modes |= mode_bit(value);
        else if ((value = value_of(argv[at], "--level")))
            c.level = level_of(value);
        else if ((value = value_of(argv[at], "--within")))
            c.within = atof(value) / 1e3;
        else if ((value = value_of(argv[at], "--factor")))
            c.factor = atof(value);
        else if ((value = value_of(argv[at], "--jobs")))
            c.jobs = atoi(value);
        else if ((value = value_of(argv[at], "--turns")))
            c.turn = atol(value);
        else if (strcmp(argv[at], "--turns") == 0)
            c.turn = count_commits();
        else if (strcmp(argv[at], "--one") == 0)
            c.one = true;
        else if (strcmp(argv[at], "--table") == 0)
            c.table = true;
        else if (strcmp(argv[at], "-v") == 0)
            c.verbose = true;
        else
            fail("unknown option", argv[at]);
    c.names = argv + at, c.name_count = argc - at;
    read_programs(file);
    if (c.jobs < 1) c.jobs = 1;
    shared = mmap(NULL, sizeof *shared * MOST_PROGRAMS, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap", strerror(errno));
    try_all(&c);
    if (c.table) return print_table(&c) != 0;
    int bad = 0;
    for (mode how = 0; how < MODES; how++) bad += print_mode(how, &c);
    if (c.turn >= 0) printf("--turns=%ld: ", c.turn);
    printf("%d failed\n", bad);
    return bad != 0;
}
