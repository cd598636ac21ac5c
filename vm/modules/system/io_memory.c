/* io_memory.c: io.StringIO and io.BytesIO: files in memory.
 *
 * Invariants
 *  1. data[0 .. length-1] are code points of `kind` bytes each (of a BytesIO bytes: kind 1), in the
 *     widest kind that was written; what getvalue() returns is in the smallest, as all str are.
 *  2. `position` may lie behind `length`: writing there fills the gap with zeros.
 *  3. While there are loans, which getbuffer() has made, data and length stay as they are. */
#include "core/work.h"
#include "modules/system/io_parts.h"

#include <unistd.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/buffer.h"
#include "types/binary/bytes.h"
#include "types/binary/memoryview.h"
#include "types/callable/function.h"
#include "types/class/subclass.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"

/* The parameter newline of a StringIO: what lines end with, and what is made of them in writing. */
typedef enum line_ends {
    ENDS_LF,    /* "\n": nothing is changed */
    ENDS_JOIN,  /* None: every end becomes "\n" */
    ENDS_KEEP,  /* "": lines end at each kind of end; nothing is changed */
    ENDS_CR,    /* "\r": each "\n" becomes it */
    ENDS_CR_LF, /* "\r\n": likewise */
} line_ends;

typedef struct memory {
    dv_object header;
    char *data;
    int64_t length, capacity, position; /* code points */
    uint32_t kind, loans;
    bool closed, bytes;
    uint8_t seen_ends; /* of what was written; DV_SEEN_... */
    line_ends ends;
} memory;

static memory *as_memory(dv_value v) { return (memory *)dv_as_object(v); }
static bool is_bytes_io(const memory *m) { return m->bytes; }

static void discard(dv_vm *vm, memory *m) {
    if (m->data) dv_heap_free(&vm->heap, m->data, (size_t)m->capacity * m->kind);
    m->data = NULL;
    m->length = m->capacity = 0;
}

static void memory_release(dv_vm *vm, dv_object *object) {
    discard(vm, (memory *)object);
    dv_object_free(vm, object, sizeof(memory));
}

/* self.name(*args): where CPython asks for the method of a subclass. */
static dv_value call_method(dv_vm *vm, dv_value self, const char *name, const dv_value *args,
                            uint32_t count) {
    dv_value method = dv_get_named(vm, self, name);
    dv_value result = dv_is_empty(method) ? DV_EMPTY : dv_call(vm, method, args, count, DV_EMPTY);
    dv_release(vm, method);
    return result;
}

static bool is_own_text(dv_value self) {
    return dv_is_subclass_instance(self) && !is_bytes_io(as_memory(self));
}

static bool check_usable(dv_vm *vm, const memory *m) {
    if (m->closed) dv_raise(vm, DV_E_VALUE_ERROR, "I/O operation on closed file.");
    return !m->closed;
}

static bool check_open(dv_vm *vm, const memory *m) {
    if (!m->closed) return true;
    dv_raise(vm, DV_E_VALUE_ERROR,
             is_bytes_io(m) ? "I/O operation on closed file." : "I/O operation on closed file");
    return false;
}

/* May data and length change? */
static bool check_loans(dv_vm *vm, const memory *m) {
    if (!m->loans) return true;
    dv_raise(vm, DV_E_BUFFER_ERROR, "Existing exports of data: object cannot be re-sized");
    return false;
}

/* Writing ----------------------------------------------------------------------------------------
 */

/* Room for `length` code points of `kind` bytes. */
static bool reserve(dv_vm *vm, memory *m, int64_t length, uint32_t kind) {
    if (length <= m->capacity && kind <= m->kind) return true;
    if (kind < m->kind) kind = m->kind;
    int64_t capacity = m->capacity;
    if (length > capacity) capacity = length + length / 2 + 32;
    if (length > DV_STR_LENGTH_MAX) {
        dv_raise_memory(vm);
        return false;
    }
    char *data = NULL;
    if (kind == m->kind)
        data =
            dv_heap_resize(&vm->heap, m->data, (size_t)m->capacity * kind, (size_t)capacity * kind);
    else
        data = dv_heap_alloc(&vm->heap, (size_t)capacity * kind);
    if (!data) {
        dv_raise_memory(vm);
        return false;
    }
    if (kind != m->kind && m->data) {
        dv_str_copy(data, kind, m->data, m->kind, m->length);
        dv_heap_free(&vm->heap, m->data, (size_t)m->capacity * m->kind);
    }
    m->data = data;
    m->capacity = capacity;
    m->kind = kind;
    return true;
}

/* Puts the code points of a str or bytes object at the position. */
static bool put(dv_vm *vm, memory *m, const dv_str *s) {
    if (s->length == 0) return true;
    int64_t stop = m->position + s->length;
    if (!reserve(vm, m, stop, s->kind)) return false;
    if (m->position > m->length)
        memset(m->data + m->length * m->kind, 0, (size_t)((m->position - m->length) * m->kind));
    char *to = m->data + m->position * m->kind;
    if (s->kind == m->kind)
        memcpy(to, s->data, (size_t)s->length * s->kind);
    else
        dv_str_copy(to, m->kind, s->data, s->kind, s->length);
    m->position = stop;
    if (stop > m->length) m->length = stop;
    return true;
}

/* The text with its line ends as they are stored: new. */
static dv_value translate(dv_vm *vm, line_ends ends, dv_value text) {
    const dv_str *s = dv_as_str(text);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        if (ends == ENDS_JOIN) {
            if (c == '\r' && i + 1 < s->length && dv_str_at(s, i + 1) == '\n') i++;
            dv_builder_char(&b, c == '\r' ? '\n' : c);
        } else if (c == '\n') {
            dv_builder_text(&b, "\r\n", ends == ENDS_CR ? 1 : 2);
        } else {
            dv_builder_char(&b, c);
        }
    }
    return dv_builder_finish(&b);
}

/* Which kinds of line ends a text has. */
static unsigned ends_in(const dv_str *s) {
    unsigned seen = 0;
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        if (c == '\n') seen |= DV_SEEN_LF;
        if (c != '\r') continue;
        bool pair = i + 1 < s->length && dv_str_at(s, i + 1) == '\n';
        seen |= pair ? DV_SEEN_CRLF : DV_SEEN_CR;
        i += pair;
    }
    return seen;
}

static bool put_text(dv_vm *vm, memory *m, dv_value text) {
    if (m->ends == ENDS_JOIN || m->ends == ENDS_KEEP)
        m->seen_ends |= (uint8_t)ends_in(dv_as_str(text));
    if (m->ends == ENDS_LF || m->ends == ENDS_KEEP) return put(vm, m, dv_as_str(text));
    dv_value translated = translate(vm, m->ends, text);
    if (dv_is_empty(translated)) return false;
    bool done = put(vm, m, dv_as_str(translated));
    dv_release(vm, translated);
    return done;
}

static dv_value memory_write(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    memory *m = as_memory(args[0]);
    if (is_bytes_io(m)) {
        if (!check_open(vm, m) || !check_loans(vm, m)) return DV_EMPTY;
        dv_value source = dv_bytes_contents(vm, args[1]);
        if (dv_is_empty(source)) return DV_EMPTY;
        int64_t length = dv_as_str(source)->length;
        bool done = check_loans(vm, m) && put(vm, m, dv_as_str(source));
        dv_release(vm, source);
        return done ? dv_int(length) : DV_EMPTY;
    }
    if (!dv_is_str(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "string argument expected, got '%T'", args[1]);
    if (!check_open(vm, m) || !put_text(vm, m, args[1])) return DV_EMPTY;
    return dv_int(dv_as_str(args[1])->length);
}

static dv_value memory_writelines(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!check_usable(vm, as_memory(args[0]))) return DV_EMPTY;
    dv_value iterator = dv_iterate(vm, args[1]);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    for (;;) {
        dv_value line = dv_next(vm, iterator);
        if (dv_is_empty(line)) break;
        dv_value both[2] = {args[0], line};
        dv_value written = is_own_text(args[0]) ? call_method(vm, args[0], "write", &line, 1)
                                                : memory_write(vm, both, 2);
        dv_release(vm, line);
        dv_release(vm, written);
        if (dv_is_empty(written)) break;
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) ? DV_NONE : DV_EMPTY;
}

/* Reading ----------------------------------------------------------------------------------------
 */

static dv_value part(dv_vm *vm, const memory *m, int64_t start, int64_t stop) {
    const char *data = m->data ? m->data + start * m->kind : "";
    if (!dv_work(vm, 0)) return DV_EMPTY; /* what another copy owes */
    if (is_bytes_io(m)) return dv_bytes_new(vm, data, stop - start);
    return dv_str_points(vm, data, m->kind, stop - start);
}

/* From the position on, at most `size` (-1: everything). */
static dv_value take(dv_vm *vm, memory *m, int64_t size) {
    int64_t start = m->position < m->length ? m->position : m->length, left = m->length - start;
    if (size < 0 || size > left) size = left;
    dv_value result = part(vm, m, start, start + size);
    if (!dv_is_empty(result) && size > 0) m->position = start + size;
    return result;
}

static dv_value memory_read(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t size;
    if (!dv_file_size_argument(vm, args, count, &size) || !check_open(vm, as_memory(args[0])))
        return DV_EMPTY;
    return take(vm, as_memory(args[0]), size);
}

static dv_value read_into(dv_vm *vm, const dv_value *args, const char *function) {
    dv_view view;
    int64_t size;
    if (!dv_view_room(vm, args[1], function, &view, &size)) return DV_EMPTY;
    bool open = check_open(vm, as_memory(args[0]));
    return dv_view_fill(vm, &view, open ? take(vm, as_memory(args[0]), size) : DV_EMPTY);
}

static dv_value memory_readinto(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return read_into(vm, args, "readinto");
}

static dv_value memory_readinto1(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return read_into(vm, args, "readinto1");
}

static uint32_t point(const memory *m, int64_t i) {
    if (m->kind == 1) return (unsigned char)m->data[i];
    return m->kind == 2 ? ((const uint16_t *)(const void *)m->data)[i]
                        : ((const uint32_t *)(const void *)m->data)[i];
}

/* How many code points from i on end a line: 0, 1 or 2. */
static int64_t end_size(const memory *m, int64_t i) {
    uint32_t c = point(m, i);
    if (c == '\n') return m->ends != ENDS_CR && m->ends != ENDS_CR_LF;
    if (c != '\r' || m->ends == ENDS_LF || m->ends == ENDS_JOIN) return 0;
    bool both = m->ends != ENDS_CR && i + 1 < m->length && point(m, i + 1) == '\n';
    return both ? 2 : m->ends != ENDS_CR_LF;
}

/* From the position on, with its end. */
static int64_t line_size(const memory *m) {
    int64_t left = m->length - m->position;
    if (left <= 0) return 0;
    if (m->kind == 1 && m->ends <= ENDS_JOIN) {
        const char *from = m->data + m->position;
        const char *end = memchr(from, '\n', (size_t)left);
        return end ? end - from + 1 : left;
    }
    for (int64_t i = m->position; i < m->length; i++) {
        int64_t size = end_size(m, i);
        if (size) return i - m->position + size;
    }
    return left;
}

static dv_value memory_readline(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t limit;
    memory *m = as_memory(args[0]);
    if (!dv_file_size_argument(vm, args, count, &limit) || !check_open(vm, m)) return DV_EMPTY;
    int64_t size = line_size(m);
    return take(vm, m, limit >= 0 && limit < size ? limit : size);
}

static dv_value memory_next(dv_vm *vm, dv_value self) {
    memory *m = as_memory(self);
    if (!check_open(vm, m)) return DV_EMPTY;
    if (is_own_text(self)) {
        dv_value line = call_method(vm, self, "readline", NULL, 0);
        if (!dv_is_str(line) && !dv_is_empty(line)) {
            dv_raise(vm, DV_E_OS_ERROR, "readline() should have returned a str object, not '%T'",
                     line);
            dv_release(vm, line);
            return DV_EMPTY;
        }
        if (dv_is_empty(line) || dv_as_str(line)->length > 0) return line;
        dv_release(vm, line);
        return DV_EMPTY;
    }
    int64_t size = line_size(m);
    return size ? take(vm, m, size) : DV_EMPTY;
}

/* The argument of readlines(), which a BytesIO takes otherwise than all other files. */
static bool hint_argument(dv_vm *vm, const dv_value *args, uint32_t count, int64_t *hint) {
    bool strict = is_bytes_io(as_memory(args[0])) && count > 1 && !dv_is_none(args[1]);
    if (!strict) return dv_file_size_argument(vm, args, count, hint);
    if (dv_is_any_int(args[1])) return dv_size_argument(vm, args[1], hint);
    dv_raise(vm, DV_E_TYPE_ERROR, "integer argument expected, got '%T'", args[1]);
    return false;
}

/* readlines() of a subclass, whose readline() or __next__ may be its own. */
static dv_value own_lines(dv_vm *vm, dv_value self, int64_t hint) {
    dv_value lines = dv_list_new(vm, NULL, 0), iterator = dv_iterate(vm, self);
    int64_t size = 0;
    while (!dv_is_empty(lines) && !dv_is_empty(iterator)) {
        dv_value line = dv_next(vm, iterator);
        if (dv_is_empty(line)) break;
        size += dv_is_str(line) ? dv_as_str(line)->length : 0;
        if (!dv_list_push(vm, lines, line)) break;
        if (hint > 0 && size > hint) break;
    }
    dv_release(vm, iterator);
    if (dv_is_empty(vm->error)) return lines;
    dv_release(vm, lines);
    return DV_EMPTY;
}

static dv_value memory_readlines(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t hint, size = 0;
    memory *m = as_memory(args[0]);
    if (!hint_argument(vm, args, count, &hint) || !check_usable(vm, m)) return DV_EMPTY;
    if (is_own_text(args[0])) return own_lines(vm, args[0], hint);
    dv_value lines = dv_list_new(vm, NULL, 0);
    while (!dv_is_empty(lines)) {
        int64_t next = line_size(m);
        if (next == 0 || (hint > 0 && size >= hint + !is_bytes_io(m))) return lines;
        size += next;
        dv_value line = dv_work(vm, 4) ? take(vm, m, next) : DV_EMPTY;
        if (!dv_is_empty(line) && dv_list_push(vm, lines, line)) continue;
        dv_release(vm, lines);
        return DV_EMPTY;
    }
    return DV_EMPTY;
}

static dv_value memory_getvalue(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const memory *m = as_memory(args[0]);
    return check_open(vm, m) ? part(vm, m, 0, m->length) : DV_EMPTY;
}

/* What the memoryview of getbuffer() has its elements from: the loan of a BytesIO. */
typedef struct loan {
    dv_object header;
    dv_buffer buffer;
    dv_value file; /* counted */
} loan;

static void loan_release(dv_vm *vm, dv_object *object) {
    loan *l = (loan *)object;
    as_memory(l->file)->loans--;
    dv_release(vm, l->file);
    dv_heap_free(&vm->heap, l, sizeof *l);
}

const dv_type dv_bytes_io_loan_type = {.name = "_io._BytesIOBuffer",
                                       .id = DV_T_BYTES_IO_LOAN,
                                       .release = loan_release,
                                       .buffer = offsetof(loan, buffer),
                                       .buffer_axes = 1};

static dv_value memory_getbuffer(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    memory *m = as_memory(args[0]);
    loan *l = check_open(vm, m) ? dv_object_new(vm, sizeof *l, DV_T_BYTES_IO_LOAN) : NULL;
    if (!l) return DV_EMPTY;
    l->file = dv_retain(args[0]);
    l->buffer = (dv_buffer){.data = m->data, .element = DV_UINT8, .dimensions = 1};
    l->buffer.axes[0] = (dv_axis){m->length, 1};
    m->loans++;
    dv_value lender = dv_object_value(l);
    dv_value view = dv_memoryview_type.construct(vm, &lender, 1, DV_EMPTY);
    dv_release(vm, lender);
    return view;
}

/* Places -----------------------------------------------------------------------------------------
 */

static dv_value memory_tell(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const memory *m = as_memory(args[0]);
    return check_open(vm, m) ? dv_int_from_int64(vm, m->position) : DV_EMPTY;
}

static dv_value refuse_seek(dv_vm *vm, const memory *m, int64_t offset, int64_t whence) {
    if (whence < SEEK_SET || whence > SEEK_END)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        is_bytes_io(m) ? "invalid whence (%d, should be 0, 1 or 2)"
                                       : "Invalid whence (%d, should be 0, 1 or 2)",
                        (int)whence);
    if (whence == SEEK_SET && offset < 0)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        is_bytes_io(m) ? "negative seek value %lld" : "Negative seek position %lld",
                        (long long)offset);
    return dv_raise(vm, DV_E_OS_ERROR, "Can't do nonzero cur-relative seeks");
}

static dv_value memory_seek(dv_vm *vm, const dv_value *args, uint32_t count) {
    memory *m = as_memory(args[0]);
    int64_t offset, whence = SEEK_SET;
    if (!dv_size_argument(vm, args[1], &offset) ||
        (count > 2 && !dv_size_argument(vm, args[2], &whence)) || !check_open(vm, m))
        return DV_EMPTY;
    bool relative = whence != SEEK_SET;
    if (whence < SEEK_SET || whence > SEEK_END || (!relative && offset < 0) ||
        (relative && offset && !is_bytes_io(m)))
        return refuse_seek(vm, m, offset, whence);
    if (relative) offset += whence == SEEK_CUR ? m->position : m->length;
    m->position = offset < 0 ? 0 : offset;
    return dv_int_from_int64(vm, m->position);
}

static dv_value memory_truncate(dv_vm *vm, const dv_value *args, uint32_t count) {
    memory *m = as_memory(args[0]);
    int64_t size = m->position;
    bool given = count > 1 && !dv_is_none(args[1]);
    if (given && !dv_file_size_argument(vm, args, count, &size)) return DV_EMPTY;
    if (!check_open(vm, m) || !check_loans(vm, m)) return DV_EMPTY;
    if (size < 0)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        is_bytes_io(m) ? "negative size value %lld" : "Negative size value %lld",
                        (long long)size);
    if (size < m->length) m->length = size;
    return dv_int_from_int64(vm, size);
}

/* The rest ---------------------------------------------------------------------------------------
 */

static dv_value memory_close(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    memory *m = as_memory(args[0]);
    if (!check_loans(vm, m)) return DV_EMPTY;
    discard(vm, m);
    m->closed = true;
    return DV_NONE;
}

static dv_value memory_exit(dv_vm *vm, const dv_value *args, uint32_t count) {
    return dv_is_subclass_instance(args[0]) ? call_method(vm, args[0], "close", NULL, 0)
                                            : memory_close(vm, args, count);
}

static dv_value memory_enter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return check_usable(vm, as_memory(args[0])) ? dv_retain(args[0]) : DV_EMPTY;
}

static dv_value memory_flush(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const memory *m = as_memory(args[0]);
    return !is_bytes_io(m) || check_open(vm, m) ? DV_NONE : DV_EMPTY;
}

static dv_value memory_yes(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return check_open(vm, as_memory(args[0])) ? DV_TRUE : DV_EMPTY;
}

static dv_value memory_isatty(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return check_usable(vm, as_memory(args[0])) ? DV_FALSE : DV_EMPTY;
}

static dv_value memory_fileno(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_file_unsupported(vm, "fileno");
}

static dv_value memory_detach(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_file_unsupported(vm, "detach");
}

static dv_value memory_iterate(dv_vm *vm, dv_value self) {
    return check_usable(vm, as_memory(self)) ? dv_retain(self) : DV_EMPTY;
}

static dv_value memory_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const memory *m = as_memory(self);
    if (dv_str_is(name, "closed")) return dv_bool(m->closed);
    if (is_bytes_io(m)) return DV_EMPTY;
    bool newlines = dv_str_is(name, "newlines"), buffering = dv_str_is(name, "line_buffering");
    if ((newlines || buffering) && !check_open(vm, m)) return DV_EMPTY;
    if (newlines) return dv_file_newlines(vm, m->seen_ends);
    return buffering ? DV_FALSE : DV_EMPTY;
}

/* Makes an empty file of a new object. */
static memory *begin(memory *m, bool bytes) {
    if (!m) return NULL;
    dv_object header = m->header;
    *m = (memory){.header = header, .kind = 1, .bytes = bytes};
    return m;
}

static memory *memory_new(dv_vm *vm, dv_type_id type) {
    return begin(dv_object_new(vm, sizeof(memory), type), type == DV_T_BYTES_IO);
}

/* Of a file that has none yet, or again. */
static void begin_again(dv_vm *vm, memory *m) {
    discard(vm, m);
    begin(m, m->bytes);
}

static dv_value close_dying(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!as_memory(args[0])->closed) dv_release(vm, call_method(vm, args[0], "close", NULL, 0));
    dv_error_clear(vm);
    return DV_NONE;
}

/* Instances whose class has a close() of its own are closed by it when they die.  The base has no
 * __del__ that they would inherit, as finalisers are methods of dl classes: theirs gets one. */
static bool close_at_death(dv_vm *vm, dv_class *class_) {
    static const dv_cfunction_def del = {
        .name = "__del__", .entry = close_dying, .min = 1, .max = 1};
    dv_value close = dv_str_intern(vm, "close", 5);
    bool wanted = !dv_is_empty(close) && dv_class_special(class_, close) &&
                  !dv_class_special(class_, vm->known.del);
    dv_release(vm, close);
    if (!wanted) return dv_is_empty(vm->error);
    dv_value function = dv_cfunction_new(vm, &del, DV_EMPTY, dv_object_value(class_));
    return !dv_is_empty(function) && dv_class_store(vm, class_, vm->known.del, function);
}

static dv_value memory_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    if (!close_at_death(vm, class_)) return DV_EMPTY;
    memory *m = begin(dv_subclass_alloc(vm, class_, sizeof(memory)), is_bytes_io(as_memory(exact)));
    return m ? dv_object_value(m) : DV_EMPTY;
}

static dv_value finish(dv_vm *vm, memory *m, bool good) {
    if (good) return dv_object_value(m);
    dv_release_object(vm, &m->header);
    return DV_EMPTY;
}

static bool ends_argument(dv_vm *vm, dv_value v, line_ends *ends) {
    static const char *const names[] = {
        [ENDS_LF] = "\n", [ENDS_KEEP] = "", [ENDS_CR] = "\r", [ENDS_CR_LF] = "\r\n"};
    *ends = ENDS_JOIN;
    if (dv_is_none(v)) return true;
    if (!dv_is_str(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "newline must be str or None, not %T", v);
        return false;
    }
    for (*ends = ENDS_LF; *ends <= ENDS_CR_LF; ++*ends)
        if (names[*ends] && dv_str_is(v, names[*ends])) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "illegal newline value: %V", v);
    return false;
}

static bool string_io_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    static const char *const names[] = {"initial_value", "newline"};
    static const dv_parameters parameters = {"StringIO", names, 2, 2, 0};
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return false;
    line_ends ends = ENDS_LF;
    if (!dv_is_empty(given[1]) && !ends_argument(vm, given[1], &ends)) return false;
    bool text = !dv_is_empty(given[0]) && !dv_is_none(given[0]);
    if (text && !dv_is_str(given[0])) {
        dv_raise(vm, DV_E_TYPE_ERROR, "initial_value must be str or None, not %T", given[0]);
        return false;
    }
    memory *m = as_memory(self);
    begin_again(vm, m);
    m->ends = ends;
    if (text && !put_text(vm, m, given[0])) return false;
    m->position = 0;
    return true;
}

static bool bytes_io_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"initial_bytes"};
    static const dv_parameters parameters = {"BytesIO", names, 1, 1, 0};
    dv_value given;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &given)) return false;
    memory *m = as_memory(self);
    begin_again(vm, m);
    if (dv_is_empty(given) || dv_is_none(given)) return true;
    dv_value bytes = dv_bytes_contents(vm, given);
    bool good = !dv_is_empty(bytes) && put(vm, m, dv_as_str(bytes));
    dv_release(vm, bytes);
    m->position = 0;
    return good;
}

static dv_value string_io_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    memory *m = memory_new(vm, DV_T_STRING_IO);
    if (!m) return DV_EMPTY;
    return finish(vm, m, string_io_initialise(vm, dv_object_value(m), args, count, keywords));
}

static dv_value bytes_io_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    memory *m = memory_new(vm, DV_T_BYTES_IO);
    if (!m) return DV_EMPTY;
    return finish(vm, m, bytes_io_initialise(vm, dv_object_value(m), args, count, keywords));
}

#define ROW(method, least, most) \
    { .name = #method, .entry = memory_##method, .min = least, .max = most }
#define ROWS                                                                          \
    ROW(read, 1, 2), ROW(readline, 1, 2), ROW(readlines, 1, 2), ROW(write, 2, 2),     \
        ROW(writelines, 2, 2), ROW(getvalue, 1, 1), ROW(tell, 1, 1), ROW(seek, 2, 3), \
        ROW(truncate, 1, 2), ROW(close, 1, 1), ROW(flush, 1, 1), ROW(isatty, 1, 1),   \
        ROW(fileno, 1, 1), ROW(detach, 1, 1),                                         \
        {.name = "readable", .entry = memory_yes, .min = 1, .max = 1},                \
        {.name = "writable", .entry = memory_yes, .min = 1, .max = 1},                \
        {.name = "seekable", .entry = memory_yes, .min = 1, .max = 1},                \
        {.name = "__enter__", .entry = memory_enter, .min = 1, .max = 1}, {           \
        .name = "__exit__", .entry = memory_exit, .min = 1, .max = UINT32_MAX         \
    }

static const dv_cfunction_def string_methods[] = {ROWS, {.name = NULL}};
static const dv_cfunction_def bytes_methods[] = {
    ROWS,
    {.name = "getbuffer", .entry = memory_getbuffer, .min = 1, .max = 1},
    {.name = "read1", .entry = memory_read, .min = 1, .max = 2},
    {.name = "readinto", .entry = memory_readinto, .min = 2, .max = 2},
    {.name = "readinto1", .entry = memory_readinto1, .min = 2, .max = 2},
    {.name = NULL}};

#define MEMORY_TYPE(variable, text, number, kind, table)             \
    const dv_type variable = {.name = text,                          \
                              .id = number,                          \
                              .weakly = true,                        \
                              .release = memory_release,             \
                              .iterate = memory_iterate,             \
                              .next = memory_next,                   \
                              .get_attribute = memory_get_attribute, \
                              .construct = kind##_construct,         \
                              .adopt = memory_adopt,                 \
                              .initialise = kind##_initialise,       \
                              .methods = table}

MEMORY_TYPE(dv_string_io_type, "_io.StringIO", DV_T_STRING_IO, string_io, string_methods);
MEMORY_TYPE(dv_bytes_io_type, "_io.BytesIO", DV_T_BYTES_IO, bytes_io, bytes_methods);
