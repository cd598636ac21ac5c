/* stops.c: can a host end any program in time?
 *
 *     limits_stops [OPTION...] [NAME...]
 *
 *     --mode=MODE    only this way to end programs; of several, each by itself
 *     --quick        only the programs that are marked so; NAME: whose names contain one
 *     --within=MS    what an ending may take (default: 100)
 *     --table        what a unit of work takes in each program
 *     --level=LEVEL, --file=PROGRAMS, -v
 *
 * Starts each program of a file (programs.txt, which says what one looks like), ends it after 50
 * ms, and prints how long it went on: the distribution, and those that were too slow, or never
 * ended. The modes are the ways to end it: `interrupt` and `end` (dynvm_interrupt and dynvm_stop
 * from another thread), `time` and `work` (the limits of dynvm_set_limits; of the latter the
 * processor's time is measured).  The table is for the question whether the limit of instructions
 * means the same whatever a program does: the functions in C should not be off their median by more
 * than three.
 *
 * Each program runs in a process of its own, so that one that never ends, or crashes, harms nobody.
 * The exit status is 1 if one was too slow, 2 if nothing could be tested. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dynvm.h>

#define RUNS_FOR 0.05 /* seconds until a program is to end */
enum {
    UNIT = 10,     /* ns that a unit of work is meant to take */
    FACTOR = 3,    /* by which a function in C may be off */
    NEVER = 2000,  /* ms after which one is given up */
    SETUP = 60000, /* ms that its preparation may take */
    ATTEMPTS = 3,  /* for one that is too slow: the machine may have been busy */
    TABLE_WORK = 3000000
};

typedef enum mode { INTERRUPT, END, BY_TIME, BY_WORK, MODES } mode;
static const char *const mode_names[] = {"interrupt", "end", "time", "work"};

/* ---- The file ---- */

typedef struct program {
    const char *name, *setup, *text;
    size_t setup_size, text_size;
    bool stubborn, quick, loop, waits;
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

/* "== name | word word": begins a program. */
static program *begin_program(char *line) {
    if (program_count == MOST_PROGRAMS) fail("too many programs", line);
    program *p = &programs[program_count++];
    p->name = line + 3;
    char *flags = strstr(line, " | ");
    if (!flags) return p;
    *flags = 0;
    for (char *rest, *word = strtok_r(flags + 3, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        if (strcmp(word, "stubborn") == 0)
            p->stubborn = true;
        else if (strcmp(word, "quick") == 0)
            p->quick = true;
        else if (strcmp(word, "loop") == 0)
            p->loop = true;
        else if (strcmp(word, "waits") == 0)
            p->waits = true;
        else
            fail("unknown word behind a program's name", word);
    return p;
}

static void read_programs(const char *path) {
    program *p = NULL;
    for (char *line = read_file(path); line && *line;) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : line + strlen(line);
        if (strncmp(line, "== ", 3) == 0) {
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
    if (!program_count) fail("there are no programs", path);
}

/* ---- One program: in a process of its own ---- */

/* What the process tells: when the program was to end, and ended. */
typedef struct outcome {
    double latency, took; /* seconds */
    uint64_t work;
    int ended; /* ENDED, ... */
    char error[200];
} outcome;
enum { ENDED, BY_ITSELF, UNPREPARED, CAUGHT_FOR_EVER, CRASHED };

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct ending {
    dynvm_vm *vm;
    mode how;
    double at;
} ending;

static void *end_soon(void *context) {
    ending *e = context;
    const struct timespec some = {.tv_nsec = (long)(RUNS_FOR * 1e9)};
    nanosleep(&some, NULL);
    e->at = seconds_of(CLOCK_MONOTONIC);
    if (e->how == INTERRUPT)
        dynvm_interrupt(e->vm);
    else
        dynvm_stop(e->vm, DYNVM_END);
    return NULL;
}

static void note_error(dynvm_vm *vm, outcome *result) {
    dynvm_error *error = dynvm_take_error(vm);
    snprintf(result->error, sizeof result->error, "%s: %s",
             error ? dynvm_error_type(error) : "no error", error ? dynvm_error_message(error) : "");
    dynvm_error_free(error);
}

/* The dl code says that the preparation is done: from then on the parent counts. */
static void run_program(const program *p, mode how, uint64_t work, dynvm_level level, int out) {
    dynvm_config config = DYNVM_CONFIG;
    config.level = level;
    config.instruction_limit = UINT64_MAX;
    config.extension_path = EXTENSIONS;
    outcome result = {.ended = UNPREPARED};
    dynvm_vm *vm = dynvm_create(&config);
    if (!vm) fail(p->name, "no memory for a machine");
    if (p->setup_size && dynvm_run_text(vm, p->setup, p->setup_size, "<setup>") != DYNVM_OK) {
        note_error(vm, &result);
    } else {
        ending e = {vm, how, 0};
        pthread_t thread;
        const bool by_thread = how == INTERRUPT || how == END;
        const char go = 1;
        if (write(out, &go, 1) != 1) exit(2);
        if (how == BY_TIME) (void)dynvm_set_limits(vm, 0, RUNS_FOR);
        if (how == BY_WORK) (void)dynvm_set_limits(vm, work, 0);
        const clockid_t clock = how == BY_WORK ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
        const double start = seconds_of(clock);
        const uint64_t before = dynvm_instructions(vm);
        if (by_thread && pthread_create(&thread, NULL, end_soon, &e) != 0) exit(2);
        const dynvm_status status = dynvm_run_text(vm, p->text, p->text_size, "<program>");
        const double end = seconds_of(clock);
        result.work = dynvm_instructions(vm) - before;
        if (by_thread) pthread_join(thread, NULL);
        result.took = end - start;
        result.latency = end - (by_thread ? e.at : start + RUNS_FOR);
        note_error(vm, &result);
        const bool told =
            status == DYNVM_ERROR &&
            (strncmp(result.error, "KeyboardInterrupt", 17) == 0 ||
             strstr(result.error, "limit exceeded") || strstr(result.error, "stopped by the host"));
        result.ended = told ? ENDED : BY_ITSELF;
    }
    if (write(out, &result, sizeof result) != (ssize_t)sizeof result) exit(2);
    _exit(0);
}

/* Waits for `size` bytes; false: there was an end or nothing for `ms`. */
static bool receive(int in, void *to, size_t size, int ms, int *silence) {
    struct pollfd one = {.fd = in, .events = POLLIN};
    *silence = CRASHED;
    for (size_t got = 0; got < size;) {
        if (poll(&one, 1, ms) <= 0) return *silence = CAUGHT_FOR_EVER, false;
        ssize_t n = read(in, (char *)to + got, size - got);
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

static outcome try_program(const program *p, mode how, uint64_t work, dynvm_level level) {
    outcome result = {.ended = CRASHED};
    int ends[2];
    if (pipe(ends) != 0) fail("pipe", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail("fork", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        run_program(p, how, work, level, ends[1]);
    }
    close(ends[1]);
    int silence;
    char first; /* 1: it is prepared; otherwise what follows is the outcome's second byte */
    bool good = receive(ends[0], &first, 1, SETUP, &silence);
    if (good && first == 1)
        good = receive(ends[0], &result, sizeof result, NEVER, &silence);
    else if (good) {
        ((char *)&result)[0] = first;
        good = receive(ends[0], (char *)&result + 1, sizeof result - 1, NEVER, &silence);
    }
    if (!good) result.ended = silence;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    return result;
}

/* ---- All of them ---- */

typedef struct choice {
    double within; /* seconds */
    dynvm_level level;
    bool quick, verbose, table;
    int modes; /* bits */
    char **names;
    int name_count;
} choice;

static bool is_chosen(const program *p, const choice *c) {
    if (c->quick && !p->quick) return false;
    for (int i = 0; i < c->name_count; i++)
        if (strstr(p->name, c->names[i])) return true;
    return c->name_count == 0;
}

static const char *const what_ended[] = {"", "ended by itself", "was not prepared", "never ended",
                                         "crashed"};

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

/* How many failed. */
static int try_all(mode how, const choice *c) {
    static double latencies[MOST_PROGRAMS];
    int count = 0, bad = 0;
    const uint64_t work = (uint64_t)(RUNS_FOR * 1e9 / UNIT);
    for (int i = 0; i < program_count; i++) {
        const program *p = &programs[i];
        if (!is_chosen(p, c) || (p->stubborn && how == INTERRUPT) || (p->waits && how == BY_WORK))
            continue;
        outcome result = {.latency = 1e9};
        for (int attempt = 0; attempt < ATTEMPTS && result.latency > c->within; attempt++) {
            result = try_program(p, how, work, c->level);
            if (result.ended != ENDED) break;
        }
        const bool skipped = result.ended == UNPREPARED && strstr(result.error, "ModuleNotFound");
        const bool failed = !skipped && (result.ended != ENDED || result.latency > c->within);
        bad += failed;
        if (result.ended == ENDED) latencies[count++] = result.latency > 0 ? result.latency : 0;
        if (failed || c->verbose)
            printf("%s %-10s %8.2f ms  %s  %s %s\n", failed ? "FAILED" : "      ", mode_names[how],
                   result.latency * 1e3, p->name, what_ended[result.ended], result.error);
        fflush(stdout);
    }
    print_distribution(mode_names[how], latencies, count);
    return bad;
}

static int print_table(const choice *c) {
    static double all[MOST_PROGRAMS], judged[MOST_PROGRAMS];
    int bad = 0, count = 0;
    for (int i = 0; i < program_count; i++) {
        const program *p = &programs[i];
        if (!is_chosen(p, c) || p->stubborn || p->waits) continue;
        const outcome result = try_program(p, BY_WORK, TABLE_WORK, c->level);
        if (result.ended == ENDED) {
            all[i] = result.took * 1e9 / (double)result.work;
            if (!p->loop) judged[count++] = all[i];
            continue;
        }
        printf("%9s  %s  %s\n", "-", p->name, what_ended[result.ended]);
        bad += result.ended != UNPREPARED;
    }
    qsort(judged, (size_t)count, sizeof *judged, by_size);
    const double median = count ? judged[count / 2] : UNIT;
    for (int i = 0; i < program_count; i++) {
        if (!(all[i] > 0)) continue;
        const double factor = all[i] / median;
        const bool off = !programs[i].loop && (factor > FACTOR || factor * FACTOR < 1);
        printf("%9.1f%s %s\n", all[i], off ? "!" : " ", programs[i].name);
        bad += off;
    }
    printf("ns for a unit; median of the functions in C %.1f; %d failed, or off by more than %d\n",
           median, bad, FACTOR);
    return bad;
}

/* ---- The command line ---- */

static const char *value_of(const char *argument, const char *name) {
    const size_t size = strlen(name);
    return strncmp(argument, name, size) == 0 && argument[size] == '=' ? argument + size + 1 : NULL;
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
    choice c = {.within = 0.1, .level = DYNVM_LEVEL_DEFAULT};
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
        else if (strcmp(argv[at], "--quick") == 0)
            c.quick = true;
        else if (strcmp(argv[at], "--table") == 0)
            c.table = true;
        else if (strcmp(argv[at], "-v") == 0)
            c.verbose = true;
        else
            fail("unknown option", argv[at]);
    c.names = argv + at, c.name_count = argc - at;
    read_programs(file);
    if (c.table) return print_table(&c) != 0;
    int bad = 0;
    for (int m = 0; m < MODES; m++)
        if (!c.modes || c.modes & 1 << m) bad += try_all((mode)m, &c);
    printf("%d failed\n", bad);
    return bad != 0;
}
