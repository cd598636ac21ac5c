/* output.h: the program's standard streams: buffered stdout and stderr, lines of stdin.
 *
 * Invariants
 *  1. Text goes through two buffers of the sizes that CPython's have, so that print raises at the
 *     same call as there when stdout has become full or closed: `text` collects what is written
 *     and is handed on when it is full; `bytes` what is handed on, as much as the file likes.
 *  2. What could not be written stays in `bytes`, and is tried again by the next flush. */
#ifndef DV_CLI_OUTPUT_H
#define DV_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "dynvm.h"

enum { CLI_BUFFER_SIZE = 8192 };

typedef struct cli_stream {
    int fd;
    bool unbuffered; /* nothing is kept back (python -u) */
    bool by_line;    /* stderr, or a terminal: show every line at once */
    size_t text_used, bytes_start, bytes_end, bytes_size;
    char text[CLI_BUFFER_SIZE], bytes[CLI_BUFFER_SIZE];
} cli_stream;

typedef struct cli_output {
    cli_stream out, err;
    bool has_errors;    /* there is a stderr */
    bool errors_failed; /* the last that was written to it is not there */
    dynvm_vm *vm; /* the one that writes, or NULL: Ctrl-C ends its waiting for a slow reader */
} cli_output;

/* Finds out what streams there are, and makes a VM use them. */
void cli_output_open(cli_output *output, bool unbuffered, dynvm_config *config);
/* Flushes stderr, then stdout, as CPython at the end of a program: 0, or the errno of what went
 * wrong with stdout. */
int cli_output_flush(cli_output *output);
/* Flushes at the end of the program; false: that failed, which is said on stderr. */
bool cli_output_finish(cli_output *output);

/* Shows an error's text behind what was printed before it. */
void cli_show_error(cli_output *output, const char *text, size_t size);

/* Callbacks for dynvm_config and dynvm_disassemble; the context is a cli_output. */
int cli_write(void *context, const char *text, size_t size);
int cli_write_bytes(void *context, const char *data, size_t size); /* past the text */
int cli_write_error(void *context, const char *text, size_t size);
int cli_write_error_bytes(void *context, const char *data, size_t size);
size_t cli_read_line(void *context, char *buffer, size_t size);

#endif
