/* repl.h: programs that are typed. */
#ifndef DV_CLI_REPL_H
#define DV_CLI_REPL_H

#include "output.h"

/* Reads statements from stdin and runs them until the end or sys.exit; the exit status. */
int cli_repl(dynvm_vm *vm, cli_output *output);

#endif
