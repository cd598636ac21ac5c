/* output.c: the program's standard streams (output.h). */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static size_t buffer_size(void) {
    struct stat about;
    if (fstat(STDOUT_FILENO, &about) != 0 || about.st_blksize < 2) return CLI_BUFFER_SIZE;
    return about.st_blksize < CLI_BUFFER_SIZE ? (size_t)about.st_blksize : CLI_BUFFER_SIZE;
}

void cli_output_open(cli_output *output, dynvm_config *config) {
    output->text_used = output->bytes_start = output->bytes_end = 0;
    output->bytes_size = buffer_size();
    output->errors_failed = false;
    output->by_line = isatty(STDOUT_FILENO);
    output->vm = NULL;
    config->output_context = config->input_context = output;
    /* A descriptor that is not open now may become one of the program's files. */
    if (is_open(STDIN_FILENO))
        config->input = cli_read_line;
    else
        config->closed |= DYNVM_CLOSED_INPUT;
    if (is_open(STDOUT_FILENO))
        config->output = cli_write, config->output_bytes = cli_write_bytes;
    else
        config->closed |= DYNVM_CLOSED_OUTPUT;
    output->has_errors = is_open(STDERR_FILENO);
    if (output->has_errors)
        config->error_output = cli_write_error;
    else
        config->closed |= DYNVM_CLOSED_ERROR_OUTPUT;
}

static bool interrupted(const cli_output *output) {
    return output->vm && dynvm_interrupted(output->vm);
}

/* The number of bytes, or a negative errno.  That fewer are written may be Ctrl-C's doing. */
static ssize_t write_some(const cli_output *output, int fd, const char *data, size_t size) {
    for (;;) {
        ssize_t written = write(fd, data, size);
        if (written > 0 || size == 0) return written;
        if (errno != EINTR || interrupted(output)) return -errno;
    }
}

static int flush_bytes(cli_output *output) {
    while (output->bytes_start < output->bytes_end) {
        ssize_t written = write_some(output, STDOUT_FILENO, output->bytes + output->bytes_start,
                                     output->bytes_end - output->bytes_start);
        if (written < 0) return (int)-written;
        output->bytes_start += (size_t)written;
        if (output->bytes_start < output->bytes_end && interrupted(output)) return EINTR;
    }
    output->bytes_start = output->bytes_end = 0;
    return 0;
}

/* What does not fit behind what is there goes out at once, but for less than a buffer of it. */
static int put_bytes(cli_output *output, const char *data, size_t size) {
    if (size > output->bytes_size - output->bytes_end) {
        int error = flush_bytes(output);
        if (error) return error;
        while (size > output->bytes_size) {
            ssize_t written = write_some(output, STDOUT_FILENO, data, size);
            if (written < 0) return (int)-written;
            data += written;
            size -= (size_t)written;
            if (size && interrupted(output)) return EINTR;
        }
    }
    memcpy(output->bytes + output->bytes_end, data, size);
    output->bytes_end += size;
    return 0;
}

/* Text that the bytes cannot take is lost, as in CPython. */
static int flush_text(cli_output *output) {
    size_t size = output->text_used;
    output->text_used = 0;
    return put_bytes(output, output->text, size);
}

int cli_output_flush(cli_output *output) {
    int error = flush_text(output);
    return error ? error : flush_bytes(output);
}

int cli_write(void *context, const char *text, size_t size) {
    cli_output *output = context;
    int error = 0;
    if (size == 0) return cli_output_flush(output);
    if (size > CLI_BUFFER_SIZE - output->text_used) error = flush_text(output);
    if (error) return error;
    if (size >= CLI_BUFFER_SIZE) {
        error = put_bytes(output, text, size);
    } else {
        memcpy(output->text + output->text_used, text, size);
        output->text_used += size;
        if (output->text_used == CLI_BUFFER_SIZE) error = flush_text(output);
    }
    if (!error && output->by_line && memchr(text, '\n', size)) error = cli_output_flush(output);
    return error;
}

int cli_write_bytes(void *context, const char *data, size_t size) {
    cli_output *output = context;
    return size ? put_bytes(output, data, size) : flush_bytes(output);
}

int cli_write_error(void *context, const char *text, size_t size) {
    cli_output *output = context;
    while (size > 0) {
        ssize_t written = write_some(output, STDERR_FILENO, text, size);
        output->errors_failed = written < 0;
        if (written < 0) return (int)-written;
        text += written;
        size -= (size_t)written;
    }
    return 0;
}

void cli_show_error(cli_output *output, const char *text, size_t size) {
    (void)cli_output_flush(output);
    if (output->has_errors) (void)cli_write_error(output, text, size);
}

size_t cli_read_line(void *context, char *buffer, size_t size) {
    size_t count = 0;
    while (count < size) {
        int c = getc_unlocked(stdin);
        if (c == EOF) {
            bool again = ferror(stdin) && errno == EINTR && !interrupted(context);
            clearerr(stdin);
            if (again) continue;
            break;
        }
        buffer[count++] = (char)c;
        if (c == '\n') break;
    }
    return count;
}

bool cli_output_finish(cli_output *output) {
    int error = cli_output_flush(output);
    if (!error) return !output->errors_failed;
    if (!output->has_errors) return false;
    fprintf(stderr,
            "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\n"
            "%s: [Errno %d] %s\n",
            error == EPIPE ? "BrokenPipeError" : "OSError", error, strerror(error));
    return false;
}
