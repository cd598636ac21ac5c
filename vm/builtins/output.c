/* output.c: print, input and open. */
#include "builtins/builtins.h"

#include "core/work.h"
#include "types/file/file.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/sequence/tuple.h"

/* Where print writes to: a standard stream, or any object with a method write. */
typedef struct sink {
    dv_value write;  /* bound method write of an object, owned; EMPTY: the file or stream below */
    dv_value object; /* whose method that is, or the file: owned */
    dv_value file;   /* a text file, borrowed; EMPTY: the stream below */
    dv_stream_number number;
    bool nowhere; /* sys.stdout is None: print does nothing */
} sink;

static bool sink_write(dv_vm *vm, const sink *to, dv_value text) {
    if (!dv_is_empty(to->file)) return dv_file_write_text(vm, dv_as_file(to->file), text);
    if (dv_is_empty(to->write)) return dv_stream_write(vm, to->number, text);
    dv_value result = dv_call(vm, to->write, &text, 1, DV_EMPTY);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

static bool open_sink(dv_vm *vm, dv_value file, sink *out) {
    *out = (sink){.write = DV_EMPTY, .object = DV_EMPTY, .file = DV_EMPTY, .number = DV_STDOUT};
    if (dv_is_empty(file) || dv_is_none(file)) {
        if (!vm->sys.stdout_cell) return true;
        file = vm->sys.stdout_cell->value;
        if (dv_is_empty(file)) {
            dv_raise(vm, DV_E_RUNTIME_ERROR, "lost sys.stdout");
            return false;
        }
        out->nowhere = dv_is_none(file);
        if (out->nowhere) return true;
    }
    if (dv_is_standard(file)) {
        out->number = ((const dv_stream *)dv_as_object(file))->number;
        return true;
    }
    if (dv_is_shape(file, DV_T_STREAM)) {
        out->file = file;
        out->object = dv_retain(file); /* a __str__ can take sys.stdout away */
        return true;
    }
    dv_value name = dv_str_intern(vm, "write", 5);
    if (dv_is_empty(name)) return false;
    out->write = dv_get_attribute(vm, file, name);
    dv_release(vm, name);
    if (dv_is_empty(out->write)) return false;
    out->object = dv_retain(file);
    return true;
}

static void close_sink(dv_vm *vm, const sink *to) {
    dv_release(vm, to->write);
    dv_release(vm, to->object);
}

/* sep or end: a str or None; EMPTY is left for the default. */
static bool text_option(dv_vm *vm, const char *name, dv_value *option) {
    if (dv_is_none(*option)) *option = DV_EMPTY;
    if (dv_is_empty(*option) || dv_is_str(*option)) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s must be None or a string, not %T", name, *option);
    return false;
}

static bool write_value(dv_vm *vm, const sink *to, dv_value v) {
    dv_value text = dv_to_str(vm, v);
    if (dv_is_empty(text)) return false;
    bool written = sink_write(vm, to, text);
    dv_release(vm, text);
    return written;
}

/* sep or end, or their default: one character, which is cached. */
static bool write_option(dv_vm *vm, const sink *to, dv_value option, char otherwise) {
    if (!dv_is_empty(option)) return sink_write(vm, to, option);
    dv_value text = dv_str_char(vm, (uint8_t)otherwise);
    if (dv_is_empty(text)) return false;
    bool written = sink_write(vm, to, text);
    dv_release(vm, text);
    return written;
}

static bool print_all(dv_vm *vm, const sink *to, const dv_value *args, uint32_t count,
                      dv_value separator, dv_value end) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && !write_option(vm, to, separator, ' ')) return false;
        if (!dv_work(vm, 4) || !write_value(vm, to, args[i])) return false;
    }
    return write_option(vm, to, end, '\n');
}

static bool flush_sink(dv_vm *vm, const sink *to) {
    if (!dv_is_empty(to->file)) return dv_file_flush(vm, dv_as_file(to->file));
    if (dv_is_empty(to->write)) return dv_stream_flush(vm, to->number);
    dv_value name = dv_str_intern(vm, "flush", 5);
    dv_value flush = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, to->object, name);
    dv_value result = dv_is_empty(flush) ? DV_EMPTY : dv_call(vm, flush, NULL, 0, DV_EMPTY);
    dv_release(vm, name);
    dv_release(vm, flush);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

static dv_value builtin_print(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"sep", "end", "file", "flush", NULL};
    uint32_t positional = count;
    dv_value separator = DV_EMPTY, end = DV_EMPTY, file = DV_EMPTY, flush = DV_EMPTY;
    if (!dv_is_empty(keywords)) {
        positional -= (uint32_t)dv_as_tuple(keywords)->count;
        if (!dv_check_keywords(vm, keywords, names, "print")) return DV_EMPTY;
        separator = dv_keyword_argument(args, positional, keywords, "sep");
        end = dv_keyword_argument(args, positional, keywords, "end");
        file = dv_keyword_argument(args, positional, keywords, "file");
        flush = dv_keyword_argument(args, positional, keywords, "flush");
        if (!text_option(vm, "sep", &separator) || !text_option(vm, "end", &end)) return DV_EMPTY;
    }
    int flushes = dv_is_empty(flush) ? 0 : dv_truth(vm, flush);
    sink to;
    if (flushes < 0 || !open_sink(vm, file, &to)) return DV_EMPTY;
    if (to.nowhere) return DV_NONE;
    bool done = print_all(vm, &to, args, positional, separator, end);
    if (done && flushes) done = flush_sink(vm, &to);
    close_sink(vm, &to);
    return done ? DV_NONE : DV_EMPTY;
}

/* A line of what sys.stdin is now, with its newline. */
static dv_value read_line(dv_vm *vm) {
    const dv_global_cell *cell = vm->sys.stdin_cell;
    if (!cell || (dv_is_standard(cell->value) && dv_file_is_fresh(dv_as_file(cell->value))))
        return dv_stream_read_line(vm);
    dv_value name = dv_str_intern(vm, "readline", 8);
    dv_value read = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, cell->value, name);
    dv_value line = dv_is_empty(read) ? DV_EMPTY : dv_call(vm, read, NULL, 0, DV_EMPTY);
    dv_release(vm, name);
    dv_release(vm, read);
    if (dv_is_empty(line) || dv_is_str(line)) return line;
    dv_release(vm, line);
    return dv_raise(vm, DV_E_TYPE_ERROR, "object.readline() returned non-string");
}

/* The prompt goes out before the line is waited for, and before that what stderr keeps; that they
 * cannot be flushed is no error. */
static bool prompt(dv_vm *vm, const dv_value *args, uint32_t count) {
    sink to;
    if (!dv_stream_flush(vm, DV_STDERR)) dv_error_clear(vm);
    if (!open_sink(vm, DV_NONE, &to)) return false;
    bool prompted = count == 0 || write_value(vm, &to, args[0]);
    if (prompted && !flush_sink(vm, &to)) dv_error_clear(vm);
    close_sink(vm, &to);
    return prompted;
}

static dv_value builtin_input(dv_vm *vm, const dv_value *args, uint32_t count) {
    for (dv_stream_number n = DV_STDIN; n <= DV_STDOUT; n++)
        if (dv_stream_lost(vm, n))
            return dv_raise(vm, DV_E_RUNTIME_ERROR, "input(): lost sys.%s",
                            n == DV_STDIN ? "stdin" : "stdout");
    if (!prompt(vm, args, count)) return DV_EMPTY;
    dv_value line = read_line(vm);
    if (dv_is_empty(line)) return DV_EMPTY;
    const dv_str *s = dv_as_str(line);
    if (s->length == 0) {
        dv_release(vm, line);
        return dv_raise(vm, DV_E_EOF_ERROR, "EOF when reading a line");
    }
    if (dv_str_at(s, s->length - 1) != '\n') return line;
    dv_value result = dv_str_slice(vm, line, 0, s->length - 1);
    dv_release(vm, line);
    return result;
}

const dv_cfunction_def dv_builtin_output[] = {
    {.name = "print", .keyword_entry = builtin_print, .min = 0, .max = UINT32_MAX},
    {.name = "open", .keyword_entry = dv_file_open, .min = 0, .max = UINT32_MAX},
    {.name = "input", .entry = builtin_input, .min = 0, .max = 1},
    {.name = NULL}};
