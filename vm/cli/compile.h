/* compile.h: `dynvm compile`. */
#ifndef DV_CLI_COMPILE_H
#define DV_CLI_COMPILE_H

#include "options.h"

/* Compiles the program that the options name and writes the compiled file.  What goes wrong with
 * that file is said on stderr, and is *unwritten; the status says what is wrong with the program.
 */
dynvm_status cli_compile(dynvm_vm *vm, const cli_options *options, bool *unwritten);

#endif
