/* lockstep.c: comparing two levels of execution, iteration by iteration (lockstep.h). */
#include "lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS ((size_t)1 << 24)

static int record(void *context, const dynvm_event *event) {
    cli_lockstep *steps = context;
    if (steps->count == steps->capacity) {
        size_t capacity = steps->capacity ? steps->capacity * 2 : 1024;
        uint64_t *digests =
            capacity <= MOST_STEPS ? realloc(steps->digests, capacity * sizeof *digests) : NULL;
        if (!digests) {
            steps->full = true;
            return 1;
        }
        steps->digests = digests;
        steps->capacity = capacity;
    }
    steps->digests[steps->count++] = dynvm_event_digest(event);
    return 0;
}

static int compare(void *context, const dynvm_event *event) {
    cli_lockstep *steps = context;
    if (steps->full && steps->at >= steps->count) return 0;
    const uint32_t line = dynvm_event_line(event);
    if (line) steps->line = line;
    if (steps->at < steps->count && dynvm_event_digest(event) == steps->digests[steps->at]) {
        steps->at++;
        steps->iterations += line != 0;
        return 0;
    }
    steps->diverged = true;
    dynvm_event_locals(event, steps->locals, sizeof steps->locals);
    return 1;
}

/* The first run again, up to where the second differs. */
static int describe(void *context, const dynvm_event *event) {
    cli_lockstep *steps = context;
    if (steps->count++ < steps->at) return 0;
    dynvm_event_locals(event, steps->expected, sizeof steps->expected);
    return 1;
}

static int drop(void *context, const char *text, size_t size) {
    (void)context, (void)text, (void)size;
    return 0;
}

/* The first run, of which nothing is seen. */
static bool run_first(const cli_options *given, cli_act act, dynvm_observer observer,
                      cli_lockstep *steps) {
    cli_options options = *given;
    options.config.level = given->lockstep_level;
    options.config.nama = given->lockstep_nama;
    options.config.stress &= DYNVM_STRESS_PORTABLE;
    options.config.stress_guards = options.config.stress_exits = 0;
    options.config.output = options.config.error_output = options.config.output_bytes = drop;
    options.config.error_bytes = drop;
    options.config.output_context = NULL;
    dynvm_vm *vm = dynvm_create(&options.config);
    if (!vm) return false;
    dynvm_observe(vm, observer, steps);
    if (dynvm_set_arguments(vm, options.argument_count, options.arguments) == DYNVM_OK)
        act(vm, &options, NULL);
    dynvm_error_free(dynvm_take_error(vm));
    dynvm_destroy(vm);
    return true;
}

bool cli_lockstep_record(cli_lockstep *steps, const cli_options *options, cli_act act) {
    return run_first(options, act, record, steps);
}

void cli_lockstep_follow(cli_lockstep *steps, dynvm_vm *vm) { dynvm_observe(vm, compare, steps); }

bool cli_lockstep_report(cli_lockstep *steps, const cli_options *options, cli_act act) {
    bool agree = !steps->diverged && (steps->full || steps->at == steps->count);
    if (!agree) {
        static const char end[] = "the program ends";
        if (!steps->diverged) memcpy(steps->locals, end, sizeof end);
        memcpy(steps->expected, end, sizeof end);
        steps->count = 0;
        run_first(options, act, describe, steps);
        fprintf(stderr,
                "dynvm: lockstep: the levels differ at loop iteration %zu, line %u\n  %s: %s\n  "
                "here: %s\n",
                steps->iterations, steps->line, options->lockstep_name, steps->expected,
                steps->locals);
    } else if (steps->full) {
        fprintf(stderr, "dynvm: lockstep: only the first %zu loop iterations were compared\n",
                steps->iterations);
    }
    free(steps->digests);
    return agree;
}
