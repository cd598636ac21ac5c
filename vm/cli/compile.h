/* compile.h: the tools that write a file: `dynvm compile` and `dynvm view`. */
#ifndef DV_CLI_COMPILE_H
#define DV_CLI_COMPILE_H

#include "options.h"

/* Compiles the program that the options name and writes the compiled file.  What goes wrong with
 * that file is said on stderr, and is *unwritten; the status says what is wrong with the program.
 */
dynvm_status cli_compile(dynvm_vm *vm, const cli_options *options, bool *unwritten);

/* Likewise: runs the program, which is called `name`, and writes the page that shows it. */
dynvm_status cli_view(dynvm_vm *vm, const cli_options *options, const char *name,
                      const dynvm_report *report, bool *unwritten);

#endif
