/* driver.c: runs generated programs in many variants of the machine, and says where they differ
 * from what CPython did.
 *
 *     fuzz_driver --list       the labels of all variants, in the order of their numbers
 *     fuzz_driver < records    one line for each program and variant that differs
 *     fuzz_driver --exact < records    the same, and the order of nans in sets is no excuse
 *
 * A record is a line `NAME MASK STATUS SOURCE OUT ERR` and then the bytes of the source, of the
 * expected standard output and of the expected standard error, SOURCE, OUT and ERR bytes long.  Bit
 * n of MASK (hexadecimal) asks for variant n.  A reported line is `NAME VARIANT KIND`, KIND being
 * output, error, status, slow, signal-N or exit-N.
 *
 * Invariants
 *  1. Each run has a VM of its own, made and destroyed in a worker process; a crash costs the
 * worker, and the next one goes on behind the run that crashed.
 *  2. The worker says in shared memory what it is about to run, before it does. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynvm.h"

enum { SECONDS = 20, OUTPUT_LIMIT = 8 << 20, PLAIN = 9, STRESSED = 48 };

/* Twice what warm.py allows CPython: what ends there, ends here. */
static const size_t memory_limit = (size_t)2 << 30;

typedef struct variant {
    dynvm_level level;
    dynvm_form form;
    unsigned stress;
    uint32_t guards, exits;
    bool built; /* the form is in this build */
    char label[64];
} variant;

typedef struct record {
    char name[64];
    unsigned long long mask;
    int status;
    size_t sizes[3]; /* source, output, error */
    const char *source, *output, *error;
} record;

typedef struct text {
    char *data;
    size_t size, room;
} text;

typedef struct progress {
    size_t record;
    int variant;
} progress;

static variant variants[PLAIN + STRESSED];
static bool exact; /* programs with arrays print nans all over, and none in sets */

/* ---- Variants ---- */

static const char *const level_names[] = {"", "generic", "inca", "nama"};
static const char *const form_names[] = {"", "tail", "trampoline", "mixed"};

static void add_variant(int number, dynvm_level level, dynvm_form form, const char *stress) {
    variant *v = &variants[number];
    *v = (variant){.level = level, .form = form};
    snprintf(v->label, sizeof v->label, "--level=%s --form=%s%s%s", level_names[level],
             form_names[form], *stress ? " --stress=" : "", stress);
    if (strstr(stress, "quicken")) v->stress |= DYNVM_STRESS_QUICKEN;
    if (strstr(stress, "assume")) v->stress |= DYNVM_STRESS_ASSUME;
    const char *guards = strstr(stress, "guard:"), *exits = strstr(stress, "exit:");
    if (guards) v->guards = (uint32_t)atoi(guards + 6);
    if (exits) v->exits = (uint32_t)atoi(exits + 5);
    dynvm_config config = DYNVM_CONFIG;
    config.form = form;
    dynvm_vm *vm = dynvm_create(&config);
    v->built = vm != NULL;
    dynvm_destroy(vm);
}

/* Plain ones first: level by level, each in all forms; then those under stress (much as in
 * tests/run.py). */
static void make_variants(void) {
    static const char *const stresses[] = {
        "quicken",          "quicken,guard:1", "quicken,guard:3",
        "quicken,guard:17", "quicken,exit:1",  "quicken,exit:3",
        "quicken,exit:10",  "quicken,assume",  "quicken,guard:5,exit:7,assume",
        "guard:5",          "exit:3",          "assume"};
    int number = 0;
    for (int level = DYNVM_LEVEL_GENERIC; level <= DYNVM_LEVEL_NAMA; level++)
        for (int form = DYNVM_FORM_TAIL; form <= DYNVM_FORM_MIXED; form++)
            add_variant(number++, level, form, "");
    for (size_t stress = 0; stress < sizeof stresses / sizeof *stresses; stress++)
        for (int level = DYNVM_LEVEL_INCA; level <= DYNVM_LEVEL_NAMA; level++)
            for (int form = DYNVM_FORM_TAIL; form <= DYNVM_FORM_TRAMPOLINE; form++)
                add_variant(number++, level, form, stresses[stress]);
}

/* ---- One run ---- */

static void collect(text *t, const char *data, size_t size) {
    if (size > OUTPUT_LIMIT - t->size) size = OUTPUT_LIMIT - t->size;
    if (t->size + size > t->room) {
        t->room = (t->size + size) * 2;
        t->data = realloc(t->data, t->room);
        if (!t->data) _exit(3);
    }
    if (size) memcpy(t->data + t->size, data, size);
    t->size += size;
}

static int on_output(void *context, const char *data, size_t size) {
    collect((text *)context, data, size);
    return 0;
}

static int on_error(void *context, const char *data, size_t size) {
    collect((text *)context + 1, data, size);
    return 0;
}

/* Drops the frames of the library in dl, with their source lines (warm.py does so with CPython's).
 */
static void drop_library_frames(text *t) {
    static const char mark[] = "  File \"<frozen ";
    size_t to = 0;
    bool dropping = false;
    for (size_t at = 0, next; at < t->size; at = next) {
        const char *line = t->data + at, *end = memchr(line, '\n', t->size - at);
        next = end ? (size_t)(end - t->data) + 1 : t->size;
        if (next - at >= sizeof mark && memcmp(line, mark, sizeof mark - 1) == 0)
            dropping = true;
        else if (next - at < 4 || memcmp(line, "    ", 4) != 0)
            dropping = false;
        if (dropping) continue;
        memmove(t->data + to, line, next - at);
        to += next - at;
    }
    t->size = to;
}

/* Does the line print something whose hash is an address?  Where that stands in a set is chance. */
static bool has_chance(const char *line, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (i + 3 <= size && memcmp(line + i, "nan", 3) == 0) return true;
        if (i + 4 <= size && memcmp(line + i, "None", 4) == 0) return true;
    }
    return false;
}

static bool same_bytes_in_any_order(const char *a, const char *b, size_t size) {
    long counts[256] = {0};
    for (size_t i = 0; i < size; i++) {
        counts[(unsigned char)a[i]]++;
        counts[(unsigned char)b[i]]--;
    }
    for (size_t i = 0; i < 256; i++)
        if (counts[i]) return false;
    return true;
}

/* Is it what CPython has printed, but for the order of parts of lines that is chance? */
static bool is_as_expected(const text *t, const char *expected, size_t size) {
    if (t->size != size) return false;
    for (size_t at = 0, next; at < size; at = next) {
        const char *ours = t->data + at, *theirs = expected + at;
        const char *end = memchr(theirs, '\n', size - at);
        next = end ? (size_t)(end - expected) + 1 : size;
        if (memcmp(ours, theirs, next - at) == 0) continue;
        if (exact || !has_chance(theirs, next - at)) return false;
        if (!same_bytes_in_any_order(ours, theirs, next - at)) return false;
    }
    return true;
}

/* What is wrong with this run, or NULL. */
static const char *run(const record *r, const variant *v) {
    static text streams[2]; /* their memory is used again by the next run */
    streams[0].size = streams[1].size = 0;
    dynvm_config config = DYNVM_CONFIG;
    config.level = v->level, config.form = v->form, config.stress = v->stress;
    config.stress_guards = v->guards, config.stress_exits = v->exits;
    config.memory_limit = memory_limit;
    config.output = on_output, config.error_output = on_error, config.output_context = streams;
    dynvm_vm *vm = dynvm_create(&config);
    if (!vm) return "no-vm";
    dynvm_status ended = dynvm_run_text(vm, r->source, r->sizes[0], r->name);
    if (ended == DYNVM_ERROR) {
        dynvm_error *error = dynvm_take_error(vm);
        collect(&streams[1], dynvm_error_traceback(error), dynvm_error_traceback_size(error));
        dynvm_error_free(error);
    }
    drop_library_frames(&streams[1]);
    int status = ended == DYNVM_NO_MEMORY ? -1 : dynvm_exit_status(vm) & 0xFF;
    dynvm_destroy(vm);
    if (!is_as_expected(&streams[0], r->output, r->sizes[1])) return "output";
    if (!is_as_expected(&streams[1], r->error, r->sizes[2])) return "error";
    return status == r->status ? NULL : "status";
}

/* ---- Workers ---- */

static void limit_time(int seconds) {
    struct itimerval timer = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void work(const record *records, size_t count, progress *at) {
    for (; at->record < count; at->record++, at->variant = 0) {
        const record *r = &records[at->record];
        for (; at->variant < PLAIN + STRESSED; at->variant++) {
            if (!variants[at->variant].built || !(r->mask >> at->variant & 1)) continue;
            limit_time(SECONDS);
            const char *wrong = run(r, &variants[at->variant]);
            limit_time(0);
            if (wrong) printf("%s %d %s\n", r->name, at->variant, wrong);
            fflush(stdout);
        }
    }
}

static void report_death(const record *r, int variant, int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM)
        printf("%s %d slow\n", r->name, variant);
    else if (WIFSIGNALED(status))
        printf("%s %d signal-%d\n", r->name, variant, WTERMSIG(status));
    else
        printf("%s %d exit-%d\n", r->name, variant, WEXITSTATUS(status));
    fflush(stdout);
}

static bool run_all(const record *records, size_t count) {
    progress *at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    while (at->record < count) {
        fflush(stdout);
        pid_t worker = fork();
        if (worker < 0) return false;
        if (worker == 0) {
            work(records, count, at);
            _exit(0);
        }
        int status;
        if (waitpid(worker, &status, 0) != worker) return false;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        report_death(&records[at->record], at->variant, status);
        at->variant++;
    }
    return true;
}

/* ---- Records ---- */

static text read_input(void) {
    text t = {malloc(1 << 20), 0, 1 << 20};
    while (t.data) {
        size_t got = fread(t.data + t.size, 1, t.room - t.size, stdin);
        if (got == 0) break;
        t.size += got;
        if (t.size == t.room) t.data = realloc(t.data, t.room *= 2);
    }
    return t;
}

/* The record at *at, which moves behind it. */
static bool read_record(const char **at, const char *end, record *r) {
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    if (!newline || sscanf(*at, "%63s %llx %d %zu %zu %zu", r->name, &r->mask, &r->status,
                           &r->sizes[0], &r->sizes[1], &r->sizes[2]) != 6)
        return false;
    r->source = newline + 1;
    r->output = r->source + r->sizes[0];
    r->error = r->output + r->sizes[1];
    *at = r->error + r->sizes[2];
    return *at <= end;
}

int main(int argc, char **argv) {
    make_variants();
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < PLAIN + STRESSED; i++) puts(variants[i].label);
        return 0;
    }
    exact = argc > 1 && strcmp(argv[1], "--exact") == 0;
    text input = read_input();
    size_t count = 0, room = 0;
    record *records = NULL;
    for (const char *at = input.data, *end = at + input.size; at < end; count++) {
        if (count == room) records = realloc(records, (room = room * 2 + 64) * sizeof *records);
        if (!records || !read_record(&at, end, &records[count])) {
            fprintf(stderr, "fuzz_driver: a record is cut off\n");
            return 2;
        }
    }
    bool fine = run_all(records, count);
    free(records);
    free(input.data);
    return fine ? 0 : 2;
}
