/* reader.h: lines that are typed, with editing, history and completion where libedit is there.
 *
 * On a terminal lines come from libedit, which is loaded when it is needed, if it is installed;
 * otherwise, and without a terminal, from stdin with prompts on stderr, as CPython does. */
#ifndef DV_CLI_READER_H
#define DV_CLI_READER_H

#include <stdbool.h>

#include "dynvm.h"

typedef enum cli_answer { CLI_LINE, CLI_END, CLI_INTERRUPTED, CLI_NO_MEMORY } cli_answer;

typedef struct cli_reader {
    dynvm_vm *vm;
    /* Those functions of libedit, from readline's interface, that return while nothing is typed;
     * install NULL: without it. */
    void (*install)(const char *prompt, void (*handler)(char *line));
    void (*read_char)(void);
    void (*remove)(void);
    int (*remember)(const char *line);
    int (*save)(const char *path);
    char *history; /* the file; NULL: none */
    char *last;    /* line that was remembered */
} cli_reader;

/* libedit as dlopen has it, for good; NULL: it is not installed. */
void *cli_reader_library(void);

/* Reads the history, too: of the file ~/.dynvm_history, if there is a home. */
void cli_reader_open(cli_reader *r, dynvm_vm *vm);
/* Writes it, if that is possible. */
void cli_reader_close(cli_reader *r);

/* A line with its newline, from malloc, to *line; else NULL. */
cli_answer cli_read_typed(cli_reader *r, const char *prompt, char **line);

#endif
