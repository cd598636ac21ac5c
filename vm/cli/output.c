/* output.c: the program's standard streams (output.h). */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPACITY ((size_t)64 << 10)

bool cli_output_open(cli_output *output) {
    *output = (cli_output){.buffer = malloc(CAPACITY), .by_line = isatty(STDOUT_FILENO)};
    return output->buffer != NULL;
}

/* 0, or the errno of what went wrong. */
static int write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t written = write(fd, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text += written;
        size -= (size_t)written;
    }
    return 0;
}

static void put(cli_output *output, const char *text, size_t size) {
    if (output->error) return;
    output->error = write_all(STDOUT_FILENO, text, size);
    if (output->error && output->vm) dynvm_interrupt(output->vm);
}

static void flush(cli_output *output) {
    put(output, output->buffer, output->used);
    output->used = 0;
}

void cli_write(void *context, const char *text, size_t size) {
    cli_output *output = context;
    if (size > CAPACITY - output->used) flush(output);
    if (size > CAPACITY) {
        put(output, text, size);
        return;
    }
    memcpy(output->buffer + output->used, text, size);
    output->used += size;
    if (size == 0 || (output->by_line && memchr(text, '\n', size))) flush(output);
}

void cli_write_error(void *context, const char *text, size_t size) {
    flush(context);
    (void)!write_all(STDERR_FILENO, text, size);
}

size_t cli_read_line(void *context, char *buffer, size_t size) {
    (void)context;
    size_t count = 0;
    while (count < size) {
        int c = getc_unlocked(stdin);
        if (c == EOF) break;
        buffer[count++] = (char)c;
        if (c == '\n') break;
    }
    return count;
}

bool cli_output_close(cli_output *output) {
    flush(output);
    free(output->buffer);
    output->buffer = NULL;
    if (!output->error) return true;
    fprintf(stderr,
            "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\n"
            "%s: [Errno %d] %s\n",
            output->error == EPIPE ? "BrokenPipeError" : "OSError", output->error,
            strerror(output->error));
    return false;
}
