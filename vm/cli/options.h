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
    CLI_HELP,
    CLI_VERSION,
    CLI_LIST_MODULES
} cli_action;

/* What is shown of a program besides what it prints. */
typedef enum cli_tool {
    CLI_NO_TOOL,
    CLI_DISASSEMBLE,
    CLI_STATS,
    CLI_EXPLAIN,
    CLI_TRACE,
    CLI_VIEW,
    CLI_ASSEMBLE,
    CLI_COMPILE
} cli_tool;

enum { CLI_MOST_TEXTS = 100 };

typedef struct cli_options {
    cli_action action;
    cli_tool tool;
    dynvm_config config;
    const char *program;          /* path, code or module */
    bool inspect;                 /* -i: statements are read from stdin behind the program */
    bool unbuffered;              /* -u */
    const char *const *arguments; /* sys.argv */
    int argument_count;
    bool lockstep; /* compare with another level at every loop iteration ... */
    dynvm_level lockstep_level;
    dynvm_nama lockstep_nama;  /* ... and reach */
    const char *lockstep_name; /* as it was given */
    bool after_run;            /* dis */
    bool print;                /* asm: print the assembly of a script */
    bool serve;                /* view: a playground ... */
    int port;                  /* ... at this one; 0: any */
    const char *written;       /* compile, view: the file; NULL: the script's name says it */
    dynvm_report report;       /* of the tool */
    /* Those of -W and -X, in their order; NULL ends them. */
    const char *warn_options[CLI_MOST_TEXTS + 1], *x_options[CLI_MOST_TEXTS + 1];
} cli_options;

/* False: not understood, which is said on stderr.  What it finds points into argv, which it may
 * change, and into itself. */
bool cli_parse(int argc, char **argv, cli_options *options);
void cli_print_help(void);

#endif
