/* output.c: the program's standard streams (output.h). */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static size_t buffer_size(int fd) {
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_blksize < 2) return CLI_BUFFER_SIZE;
    return about.st_blksize < CLI_BUFFER_SIZE ? (size_t)about.st_blksize : CLI_BUFFER_SIZE;
}

static void open_stream(cli_stream *stream, int fd, bool by_line, bool unbuffered) {
    stream->fd = fd;
    stream->by_line = by_line;
    stream->unbuffered = unbuffered;
    stream->text_used = stream->bytes_start = stream->bytes_end = 0;
    stream->bytes_size = buffer_size(fd);
}

void cli_output_open(cli_output *output, bool unbuffered, dynvm_config *config) {
    open_stream(&output->out, STDOUT_FILENO, isatty(STDOUT_FILENO), unbuffered);
    open_stream(&output->err, STDERR_FILENO, true, unbuffered);
    output->errors_failed = false;
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
        config->error_output = cli_write_error, config->error_bytes = cli_write_error_bytes;
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

static int flush_bytes(cli_output *output, cli_stream *s) {
    while (s->bytes_start < s->bytes_end) {
        ssize_t written =
            write_some(output, s->fd, s->bytes + s->bytes_start, s->bytes_end - s->bytes_start);
        if (written < 0) return (int)-written;
        s->bytes_start += (size_t)written;
        if (s->bytes_start < s->bytes_end && interrupted(output)) return EINTR;
    }
    s->bytes_start = s->bytes_end = 0;
    return 0;
}

/* What does not fit behind what is there goes out at once, but for less than a buffer of it. */
static int put_bytes(cli_output *output, cli_stream *s, const char *data, size_t size) {
    if (size > s->bytes_size - s->bytes_end) {
        int error = flush_bytes(output, s);
        if (error) return error;
        while (size > s->bytes_size) {
            ssize_t written = write_some(output, s->fd, data, size);
            if (written < 0) return (int)-written;
            data += written;
            size -= (size_t)written;
            if (size && interrupted(output)) return EINTR;
        }
    }
    memcpy(s->bytes + s->bytes_end, data, size);
    s->bytes_end += size;
    return 0;
}

/* Text that the bytes cannot take is lost, as in CPython. */
static int flush_text(cli_output *output, cli_stream *s) {
    size_t size = s->text_used;
    s->text_used = 0;
    return put_bytes(output, s, s->text, size);
}

static int flush(cli_output *output, cli_stream *s) {
    int error = flush_text(output, s);
    return error ? error : flush_bytes(output, s);
}

static int write_text(cli_output *output, cli_stream *s, const char *text, size_t size) {
    int error = 0;
    if (size == 0) return flush(output, s);
    if (size > CLI_BUFFER_SIZE - s->text_used) error = flush_text(output, s);
    if (error) return error;
    if (size >= CLI_BUFFER_SIZE) {
        error = put_bytes(output, s, text, size);
    } else {
        memcpy(s->text + s->text_used, text, size);
        s->text_used += size;
        if (s->text_used == CLI_BUFFER_SIZE) error = flush_text(output, s);
    }
    bool line = s->by_line && (memchr(text, '\n', size) || memchr(text, '\r', size));
    return !error && (line || s->unbuffered) ? flush(output, s) : error;
}

static int write_bytes(cli_output *output, cli_stream *s, const char *data, size_t size) {
    int error = size ? put_bytes(output, s, data, size) : 0;
    return !error && (size == 0 || s->unbuffered) ? flush_bytes(output, s) : error;
}

int cli_write(void *context, const char *text, size_t size) {
    cli_output *output = context;
    return write_text(output, &output->out, text, size);
}

int cli_write_bytes(void *context, const char *data, size_t size) {
    cli_output *output = context;
    return write_bytes(output, &output->out, data, size);
}

int cli_write_error(void *context, const char *text, size_t size) {
    cli_output *output = context;
    int error = write_text(output, &output->err, text, size);
    output->errors_failed = error != 0;
    return error;
}

int cli_write_error_bytes(void *context, const char *data, size_t size) {
    cli_output *output = context;
    int error = write_bytes(output, &output->err, data, size);
    output->errors_failed = error != 0;
    return error;
}

int cli_output_flush(cli_output *output) {
    if (output->has_errors && flush(output, &output->err) != 0) output->errors_failed = true;
    return flush(output, &output->out);
}

void cli_show_error(cli_output *output, const char *text, size_t size) {
    (void)cli_output_flush(output);
    if (!output->has_errors) return;
    (void)cli_write_error(output, text, size);
    (void)cli_write_error(output, "", 0);
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
