/* faults.c: every allocation of a script fails once: for n = 1, 2, 3, ... the script runs with its
 * n-th allocation refused, until it ends without having met that.  Sees the inside of the library.
 *
 *     faults [--all-up-to N] [--growth PERCENT] [--from N] script...
 *
 * `--setup` counts from the making of the machine on, for one script that is empty.  After the
 * first `all-up-to` allocations the distance grows by `growth` percent of n, so that time is
 * bounded.  Under AddressSanitizer each allocation is one of the host's (core/heap.h), so that all
 * can fail, and what was used after its end is seen; elsewhere only those can that find their free
 * list empty.
 *
 * Invariants, of which each run of a script is checked for the first three
 *  1. It ends with MemoryError after a part of its right output, or with all of that.  (A cache
 * that could not be filled, and text for an `Exception ignored`, are not missed.)
 *  2. No exception is pending without being raised, and none is raised without being pending.
 *  3. After the program's end as many objects are left as without a fault, or fewer.
 *  4. Scripts run in a worker process: a crash is reported with the fault that led to it, and costs
 *     the rest of the script only. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/compile.h"
#include "api/path.h"
#include "api/setup.h"
#include "core/native.h"
#include "run/call.h"
#include "run/execute.h"
#include "types/exception/exception.h"
#include "types/text/str.h"

typedef struct text {
    char data[1 << 16];
    size_t size;
} text;

typedef struct options {
    bool setup;
    uint64_t from, all_up_to, growth;
} options;

typedef enum outcome { FINISHED, RAISED, NO_MEMORY, SILENT, PENDING, NOT_MADE } outcome;

typedef struct ending {
    outcome outcome;
    bool met;    /* the fault */
    size_t left; /* objects, or bytes where each block is one of the host's */
} ending;

static text expected, output;
static uint64_t *current; /* fault of the worker; shared with it */

static int collect(void *context, const char *data, size_t size) {
    text *all = context;
    if (size > sizeof all->data - all->size) size = sizeof all->data - all->size;
    memcpy(all->data + all->size, data, size);
    all->size += size;
    return 0;
}

/* What the end of a program has left in the machine. */
static size_t count_left(dv_vm *vm) {
    vm->heap.fail_at = 0;
    /* Built-in classes get their methods when they are first asked: no matter whether they were. */
    for (dv_class *c = vm->first_class; c; c = c->next)
        if (c->descriptor && !dv_class_fill(vm, c, DV_EMPTY)) return SIZE_MAX;
    /* Nor whether strs of a character were: regions compare characters without. */
    for (uint32_t c = 0; c < 256; c++) dv_release(vm, dv_str_char(vm, c));
    (void)dv_collect(vm);
    /* The table of interned strs stays as large as it once had to be. */
    if (DV_HEAP_SMALL == 0) return vm->heap.used - vm->interned_capacity * sizeof *vm->interned;
    size_t count = 0;
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    while (dv_heap_next_object(&walk)) count++;
    return count;
}

/* Is it a MemoryError, or was it raised from one, as what goes wrong in __set_name__ is? */
static bool is_for_memory(dv_vm *vm, dv_value error) {
    while (!dv_is_empty(error) && !dv_is_none(error)) {
        const dv_exception *exception = dv_as_exception(error);
        if (dv_exception_is(vm, exception, DV_E_MEMORY_ERROR)) return true;
        error = exception->cause;
    }
    return false;
}

/* What was raised instead of a MemoryError, for the report. */
static char raised[200];
static void remember_error(dv_vm *vm) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    vm->heap.fail_at = 0;
    dv_value shown = dv_repr(vm, error);
    size_t size = 0;
    char *text = dv_is_empty(shown) ? NULL : dv_str_utf8(vm, shown, &size);
    snprintf(raised, sizeof raised, "it raised %.*s", (int)size, text ? text : "");
    if (text) dv_heap_free(&vm->heap, text, size + 1);
    dv_release(vm, shown);
    dv_error_clear(vm);
    vm->error = error;
}

static outcome run_script(dv_vm *vm, const char *path) {
    dv_unit *unit = dv_compile_file(vm, path);
    dv_value result = unit ? dv_run_unit(vm, unit, vm->main) : DV_EMPTY;
    bool failed = dv_is_empty(result), pending = !dv_is_empty(vm->error);
    outcome outcome = failed ? pending ? RAISED : SILENT : pending ? PENDING : FINISHED;
    if (outcome == RAISED && is_for_memory(vm, vm->error)) outcome = NO_MEMORY;
    if (outcome == RAISED) remember_error(vm);
    dv_release(vm, result);
    return outcome;
}

/* Runs a script whose allocation number `fail_at` fails (0: none). */
static ending run(const char *path, dv_level level, uint64_t fail_at, const options *options,
                  text *out) {
    dv_vm_config config = {.memory_limit = SIZE_MAX,
                           .recursion_limit = 1000,
                           .level = level,
                           .stress = {.quicken_at_once = level != DV_LEVEL_GENERIC},
                           .output = collect,
                           .output_context = out};
    out->size = 0;
    ending end = {NOT_MADE, false, 0};
    dv_vm *vm = dv_vm_new(&config);
    if (!vm) return end;
    dv_native_attach(vm);
    if (fail_at && options->setup) vm->heap.fail_at = vm->heap.allocations + fail_at;
    if (dv_setup(vm) && dv_path_setup(vm, "/somewhere")) {
        if (fail_at && !options->setup) vm->heap.fail_at = vm->heap.allocations + fail_at;
        end.outcome = run_script(vm, path);
    } else if (fail_at && options->setup) {
        end.outcome = NO_MEMORY;
    }
    end.met = fail_at && vm->heap.allocations >= vm->heap.fail_at;
    dv_teardown(vm);
    end.left = count_left(vm);
    dv_vm_free(vm);
    return end;
}

static int line_length(const text *all, size_t from) {
    const char *end = memchr(all->data + from, '\n', all->size - from);
    return (int)((end ? (size_t)(end - all->data) : all->size) - from);
}

/* Shows the first line of the output that differs, so that a log is enough to find the cause. */
static const char *describe_difference(void) {
    static char said[512];
    size_t at = 0, line = 0;
    while (at < output.size && at < expected.size && output.data[at] == expected.data[at])
        if (output.data[at++] == '\n') line = at;
    snprintf(said, sizeof said, "its output is wrong: '%.*s' instead of '%.*s'",
             line_length(&output, line), output.data + line, line_length(&expected, line),
             expected.data + line);
    return said;
}

/* What is wrong with the end of a run; NULL: nothing. */
static const char *judge(ending end, ending clean) {
    static char leak[64];
    if (end.outcome == SILENT) return "it failed without an exception";
    if (end.outcome == PENDING) return "it went on with an exception";
    if (end.outcome == RAISED) return raised;
    if (end.outcome == NOT_MADE) return "the machine was not made";
    if (output.size > expected.size || memcmp(output.data, expected.data, output.size) != 0 ||
        (end.outcome == FINISHED && output.size != expected.size))
        return describe_difference();
    if (end.left > clean.left) {
        snprintf(leak, sizeof leak, "%zu more left than %zu", end.left - clean.left, clean.left);
        return leak;
    }
    return NULL;
}

/* All faults of a script at one level. */
static bool try_level(const char *path, dv_level level, const options *options) {
    ending clean = run(path, level, 0, options, &expected);
    if (clean.outcome != FINISHED) {
        printf("%s: level %d: does not run without faults\n", path, (int)level);
        return false;
    }
    bool good = true;
    uint64_t tried = 0, step;
    for (uint64_t n = options->from;; n += step, tried++) {
        *current = n;
        ending end = run(path, level, n, options, &output);
        const char *wrong = judge(end, clean);
        if (wrong)
            printf("%s: level %d: fault %llu: %s\n", path, (int)level, (unsigned long long)n,
                   wrong);
        good = good && !wrong;
        if (!end.met) break;
        step = n < options->all_up_to ? 1 : 1 + (n - options->all_up_to) * options->growth / 100;
    }
    printf("%s: level %d: %llu faults\n", path, (int)level, (unsigned long long)tried);
    return good;
}

static bool try_script(const char *path, dv_level level, const options *options) {
    pid_t worker = fork();
    if (worker == 0) exit(try_level(path, level, options) ? EXIT_SUCCESS : EXIT_FAILURE);
    int status = 0;
    if (worker < 0 || waitpid(worker, &status, 0) != worker) return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_FAILURE)
        return WEXITSTATUS(status) == EXIT_SUCCESS;
    printf("%s: level %d: fault %llu: crash\n", path, (int)level, (unsigned long long)*current);
    return false;
}

int main(int argc, char **argv) {
    options options = {.from = 1, .all_up_to = 200, .growth = 4};
    bool good = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    current =
        mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (current == MAP_FAILED) return EXIT_FAILURE;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--setup") == 0)
            options.setup = true;
        else if (more && strcmp(argv[i], "--from") == 0)
            options.from = strtoull(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--all-up-to") == 0)
            options.all_up_to = strtoull(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--growth") == 0)
            options.growth = strtoull(argv[++i], NULL, 10);
        else {
            good = try_script(argv[i], DV_LEVEL_GENERIC, &options) && good;
            good = try_script(argv[i], DV_LEVEL_NAMA, &options) && good;
        }
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
