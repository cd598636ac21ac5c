/* about.h: `dynvm --version` and `--list-modules`. */
#ifndef DV_CLI_ABOUT_H
#define DV_CLI_ABOUT_H

#include <stdbool.h>

/* Prints the version; `verbose`: and which optional parts are there, and how to get those that are
 * missing.  The exit status. */
int cli_show_version(bool verbose);

/* Prints the names of all modules, and of those that dl leaves out.  The exit status. */
int cli_list_modules(void);

#endif
