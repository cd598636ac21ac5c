/* lockstep.h: --lockstep: the program runs at one level first (generic, or that of
 * --lockstep=LEVEL), unseen and without stress, and then as asked for; at every loop iteration both
 * must be at the same place with equal locals, and between two of them the same must have died, in
 * the same order, to the end of the VM. */
#ifndef DV_CLI_LOCKSTEP_H
#define DV_CLI_LOCKSTEP_H

#include "options.h"

typedef struct cli_lockstep {
    uint64_t *digests; /* of the first run's events, in order */
    size_t count, capacity, at;
    bool full;         /* more events than are compared */
    bool diverged;     /* at event `at` */
    size_t iterations; /* seen so far, of all loops */
    uint32_t line;     /* of the last of them; 0: none */
    char locals[512], expected[512];
} cli_lockstep;

/* Runs a program in a VM (main.c). */
typedef dynvm_status (*cli_act)(dynvm_vm *vm, const cli_options *options, void *output);

/* The first run; false: no memory. */
bool cli_lockstep_record(cli_lockstep *steps, const cli_options *options, cli_act act);
/* Compares from now on. */
void cli_lockstep_follow(cli_lockstep *steps, dynvm_vm *vm);
/* Says on stderr where the runs differ, when the VM has ended; true: they do not. */
bool cli_lockstep_report(cli_lockstep *steps, const cli_options *options, cli_act act);

#endif
