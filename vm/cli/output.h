/* output.h: the program's standard streams: buffered stdout, stderr, lines of stdin. */
#ifndef DV_CLI_OUTPUT_H
#define DV_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "dynvm.h"

typedef struct cli_output {
    char *buffer; /* of stdout */
    size_t used;
    bool by_line; /* stdout is a terminal: show every line at once */
    int error;    /* errno of the first failed write to stdout; 0: none */
    dynvm_vm *vm; /* is interrupted when stdout fails, so that it does not run on for nobody */
} cli_output;

bool cli_output_open(cli_output *output);
/* Flushes; false: something could not be written, which is said on stderr. */
bool cli_output_close(cli_output *output);

/* Callbacks for dynvm_config and dynvm_disassemble; the context is a cli_output. */
void cli_write(void *context, const char *text, size_t size);
void cli_write_error(void *context, const char *text, size_t size);
size_t cli_read_line(void *context, char *buffer, size_t size);

#endif
