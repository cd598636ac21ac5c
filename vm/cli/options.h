/* options.h: the command line. */
#ifndef DV_CLI_OPTIONS_H
#define DV_CLI_OPTIONS_H

#include <stdbool.h>

#include "dynvm.h"

typedef enum cli_action {
    CLI_RUN_FILE,
    CLI_RUN_CODE,   /* -c */
    CLI_RUN_STDIN,  /* - */
    CLI_RUN_MODULE, /* -m */
    CLI_INTERACTIVE,
    CLI_DISASSEMBLE,
    CLI_HELP,
    CLI_VERSION
} cli_action;

typedef struct cli_options {
    cli_action action;
    dynvm_config config;
    const char *program;          /* path, code or module */
    bool inspect;                 /* -i: statements are read from stdin behind the program */
    const char *const *arguments; /* sys.argv */
    int argument_count;
    bool lockstep;        /* compare with the generic level at every loop iteration */
    bool after_run;       /* dis */
    const char *function; /* dis; NULL: all */
} cli_options;

/* False: not understood, which is said on stderr. */
bool cli_parse(int argc, char **argv, cli_options *options);
void cli_print_help(void);

#endif
