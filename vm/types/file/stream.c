/* stream.c: the standard streams (stream.h). */
#include "types/file/stream.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "core/upcall.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/file/file.h"
#include "types/file/host.h"
#include "types/text/str.h"
#include "types/text/str_text.h"

static const char *const names[] = {"<stdin>", "<stdout>", "<stderr>"};

dv_value dv_stream_new(dv_vm *vm, dv_stream_number number) {
    dv_file *f = dv_file_new(vm, DV_T_STREAM);
    if (!f) return DV_EMPTY;
    f->number = number;
    f->readable = number == DV_STDIN;
    f->writable = !f->readable;
    f->name = dv_str_z(vm, names[number]);
    f->mode = dv_str_char(vm, f->readable ? 'r' : 'w');
    f->encoding = dv_str_z(vm, "utf-8");
    f->errors = dv_str_z(vm, number == DV_STDERR ? "backslashreplace" : "strict");
    if (dv_is_empty(vm->error)) return dv_object_value(f);
    dv_release_object(vm, &f->header);
    return DV_EMPTY;
}

dv_value dv_stream_binary(dv_vm *vm, dv_stream_number number) {
    bool reads = number == DV_STDIN;
    if (!dv_class_know(vm, reads ? &dv_buffered_reader_type : &dv_buffered_writer_type))
        return DV_EMPTY;
    dv_file *f = dv_file_new(vm, reads ? DV_T_BUFFERED_READER : DV_T_BUFFERED_WRITER);
    if (!f) return DV_EMPTY;
    f->number = number;
    f->readable = reads;
    f->writable = !reads;
    f->name = dv_str_z(vm, names[number]);
    f->mode = dv_str_z(vm, reads ? "rb" : "wb");
    if (dv_is_empty(vm->error)) return dv_object_value(f);
    dv_release_object(vm, &f->header);
    return DV_EMPTY;
}

/* Writing ---------------------------------------------------------------------------------------
 */

/* Hands text to the embedder; size 0: flushes. */
static bool hand_to(dv_vm *vm, dv_output output, const char *text, size_t size) {
    int error = output ? output(vm->streams.output_context, text, size) : 0;
    if (DV_LIKELY(error == 0)) return true;
    if (error != EINTR || dv_poll_interrupt(vm)) dv_host_raise(vm, error, DV_EMPTY);
    return false;
}

static bool hand_over(dv_vm *vm, dv_stream_number number, const char *text, size_t size) {
    return hand_to(vm, number == DV_STDERR ? vm->streams.error_output : vm->streams.output, text,
                   size);
}

bool dv_stream_put(dv_vm *vm, dv_stream_number number, const char *data, size_t size) {
    dv_output below = number == DV_STDOUT ? vm->streams.output_bytes : vm->streams.error_bytes;
    return below ? hand_to(vm, below, data, size) : hand_over(vm, number, data, size);
}

static bool put(dv_vm *vm, dv_stream_number number, const char *text, size_t size) {
    return size == 0 || hand_over(vm, number, text, size);
}

static bool is_surrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

/* Position of the first lone surrogate; -1: there is none. */
static int64_t find_surrogate(const dv_str *s) {
    if (s->kind == 1) return -1;
    for (int64_t i = 0; i < s->length; i++)
        if (is_surrogate(dv_str_at(s, i))) return i;
    return -1;
}

dv_value dv_stream_escape(dv_vm *vm, dv_value text) {
    const dv_str *s = dv_as_str(text);
    if (find_surrogate(s) < 0) return dv_retain(text);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        char escape[8];
        if (is_surrogate(c)) {
            snprintf(escape, sizeof escape, "\\u%04x", c & 0xFFFF);
            dv_builder_z(&b, escape);
        } else {
            dv_builder_char(&b, c);
        }
    }
    return dv_builder_finish(&b);
}

/* Encoding strictly raises what there is to say. */
static bool raise_surrogates(dv_vm *vm, dv_value text) {
    dv_value bytes = dv_encode(vm, text, DV_EMPTY, DV_EMPTY);
    assert(dv_is_empty(bytes));
    (void)bytes;
    return false;
}

static bool write_wide(dv_vm *vm, dv_stream_number number, dv_value text) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return false;
    bool written = put(vm, number, utf8, size);
    dv_heap_free(&vm->heap, utf8, size + 1);
    return written;
}

bool dv_stream_write(dv_vm *vm, dv_stream_number number, dv_value text) {
    const dv_str *s = dv_as_str(text);
    if (s->kind == 1 && dv_utf8_is_ascii(s->data, (size_t)s->length))
        return put(vm, number, s->data, (size_t)s->length);
    int64_t surrogate = find_surrogate(s);
    if (surrogate < 0) return write_wide(vm, number, text);
    if (number != DV_STDERR) return raise_surrogates(vm, text);
    dv_value escaped = dv_stream_escape(vm, text);
    bool written = !dv_is_empty(escaped) && write_wide(vm, number, escaped);
    dv_release(vm, escaped);
    return written;
}

bool dv_stream_flush(dv_vm *vm, dv_stream_number number) { return hand_over(vm, number, "", 0); }

bool dv_stream_lost(const dv_vm *vm, dv_stream_number number) {
    const dv_global_cell *cell = number == DV_STDIN ? vm->sys.stdin_cell : vm->sys.stdout_cell;
    if (!cell) return vm->sys.closed >> number & 1;
    return dv_is_empty(cell->value) || dv_is_none(cell->value);
}

/* Writes to what sys.stdout is now. */
static bool write_shown(dv_vm *vm, dv_value text) {
    const dv_global_cell *cell = vm->sys.stdout_cell;
    bool written, own = !cell || dv_is_empty(cell->value) || dv_is_standard(cell->value);
    if (own) {
        written = dv_stream_write(vm, DV_STDOUT, text);
    } else {
        dv_value name = dv_str_intern(vm, "write", 5);
        dv_value write = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, cell->value, name);
        dv_value result = dv_is_empty(write) ? DV_EMPTY : dv_call(vm, write, &text, 1, DV_EMPTY);
        written = !dv_is_empty(result);
        dv_release(vm, name);
        dv_release(vm, write);
        dv_release(vm, result);
    }
    return written;
}

bool dv_stream_display(dv_vm *vm, dv_value v) {
    if (dv_is_none(v)) return true;
    if (!dv_namespace_set(vm, &vm->builtins, "_", DV_NONE)) return false;
    if (dv_stream_lost(vm, DV_STDOUT)) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "lost sys.stdout");
        return false;
    }
    dv_value text = dv_repr(vm, v), newline = dv_str_char(vm, '\n');
    bool written = !dv_is_empty(text) && !dv_is_empty(newline) && write_shown(vm, text) &&
                   write_shown(vm, newline);
    dv_release(vm, text);
    dv_release(vm, newline);
    return written && dv_namespace_set(vm, &vm->builtins, "_", dv_retain(v));
}

/* Reading ---------------------------------------------------------------------------------------
 */

int64_t dv_stream_read(dv_vm *vm, char *buffer, size_t size) {
    if (!vm->streams.input) return 0;
    size_t got = vm->streams.input(vm->streams.input_context, buffer, size);
    return dv_poll_interrupt(vm) ? (int64_t)got : -1;
}

dv_value dv_stream_read_line(dv_vm *vm) {
    char chunk[512];
    dv_builder line;
    dv_builder_init(&line, vm);
    for (bool more = true; more;) {
        int64_t size = dv_stream_read(vm, chunk, sizeof chunk);
        if (size < 0) {
            dv_builder_discard(&line);
            return DV_EMPTY;
        }
        dv_builder_text(&line, chunk, (size_t)size);
        more = size == sizeof chunk && chunk[size - 1] != '\n';
    }
    return dv_builder_finish(&line);
}
