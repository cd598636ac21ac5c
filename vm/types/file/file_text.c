/* file_text.c: text files, and the standard streams as such (file.h).
 *
 * Invariants
 *  1. The buffer has bytes, and lines become str when they are handed out, so that the place in the
 *     file is known without decoding again.  Input is checked a chunk at a time, as CPython
 *     decodes it, so that errors come with the same read and name the same positions.
 *  2. A '\r' at the end of what was read is kept back until what follows it is known. */
#include "types/file/file.h"

#include <unistd.h>

#include "core/upcall.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str_text.h"

#define CLOSED "I/O operation on closed file."

/* Checking input ---------------------------------------------------------------------------------
 */

static bool follows(const char *p, size_t i) { return (p[i] & 0xC0) == 0x80; }

/* Length of the UTF-8 sequence at p with `left` bytes there: 0 wrong, -1 cut off. */
static int sequence(const char *p, size_t left) {
    uint8_t first = (uint8_t)p[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (left == 1) return -1;
    uint8_t second = (uint8_t)p[1];
    if (!follows(p, 1) || (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90))
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (i == left) return -1;
        if (!follows(p, i)) return 0;
    }
    return (int)length;
}

/* Where buffer[valid .. end-1] ceases to be text of the codec; *cut: only because it ends. */
static size_t check(const dv_file *f, bool *cut) {
    size_t at = f->valid;
    *cut = false;
    while (at < f->end) {
        int length =
            f->codec == DV_ASCII ? !(f->buffer[at] & 0x80) : sequence(f->buffer + at, f->end - at);
        *cut = length < 0;
        if (length <= 0) break;
        at += (size_t)length;
    }
    return at;
}

/* Puts what errors= makes of buffer[valid .. stop-1] in its place. */
static bool mend(dv_vm *vm, dv_file *f, size_t stop) {
    dv_value bytes = dv_bytes_new(vm, f->buffer + f->valid, (int64_t)(stop - f->valid));
    if (dv_is_empty(bytes)) return false;
    dv_value text = dv_decode(vm, bytes, f->encoding, f->errors);
    dv_release(vm, bytes);
    if (dv_is_empty(text)) {
        f->start = f->valid = f->end = 0; /* the chunk is gone */
        return false;
    }
    size_t size, rest = f->end - stop;
    char *utf8 = dv_str_utf8(vm, text, &size);
    dv_release(vm, text);
    if (!utf8) return false;
    size_t old = stop - f->valid, start = f->start;
    bool room = size <= old || dv_file_room(vm, f, size - old);
    if (room) {
        stop -= start - f->start; /* making room may have moved everything */
        memmove(f->buffer + f->valid + size, f->buffer + stop, rest);
        memcpy(f->buffer + f->valid, utf8, size);
        f->valid += size;
        f->end = f->valid + rest;
        f->codec = DV_UTF8;
        f->plain = false;
        f->mended = true;
    }
    dv_heap_free(&vm->heap, utf8, size + 1);
    return room;
}

/* Notes the kinds of line ends in what is new in the buffer; a '\r' counts when it is known what
 * follows it. */
static void note_ends(dv_file *f, bool final) {
    const char *at = f->buffer + f->valid, *end = f->buffer + f->end;
    if (f->waits_cr && (at < end || final)) {
        bool pair = at < end && *at == '\n';
        f->seen_ends |= pair ? DV_SEEN_CRLF : DV_SEEN_CR;
        f->waits_cr = false;
        at += pair;
    }
    if (!f->has_cr) {
        if (!(f->seen_ends & DV_SEEN_LF) && at < end && memchr(at, '\n', (size_t)(end - at)))
            f->seen_ends |= DV_SEEN_LF;
        return;
    }
    for (; at < end; at++) {
        if (*at == '\n') f->seen_ends |= DV_SEEN_LF;
        if (*at != '\r') continue;
        f->waits_cr = at + 1 == end && !final;
        bool pair = at + 1 < end && at[1] == '\n';
        if (!f->waits_cr) f->seen_ends |= pair ? DV_SEEN_CRLF : DV_SEEN_CR;
        at += pair;
    }
}

/* Looks at what is new in the buffer; `final`: there is no more. */
static bool accept(dv_vm *vm, dv_file *f, bool final) {
    if (f->newline != DV_NEWLINE_LF && f->end > f->valid)
        f->has_cr |= memchr(f->buffer + f->valid, '\r', f->end - f->valid) != NULL;
    if (f->newline <= DV_NEWLINE_KEEP) note_ends(f, final);
    if (f->codec == DV_LATIN1 || f->end == f->valid ||
        dv_utf8_is_ascii(f->buffer + f->valid, f->end - f->valid)) {
        f->valid = f->end;
        return true;
    }
    bool cut;
    size_t stop = check(f, &cut);
    f->plain = false;
    if (stop < f->end && (!cut || final)) return mend(vm, f, f->end);
    f->valid = stop;
    return true;
}

/* 1 there is more, 0 the end, -1 raised. */
static int fill(dv_vm *vm, dv_file *f) {
    if (f->start == f->end) {
        f->plain = true;
        f->has_cr = false;
    }
    int64_t got = dv_file_fill(vm, f, DV_FILE_CHUNK);
    if (got < 0) return -1;
    f->at_end = got == 0;
    if (!accept(vm, f, f->at_end)) return -1;
    return got > 0;
}

/* Handing out ------------------------------------------------------------------------------------
 */

/* The end of what may be handed out (invariant 2). */
static size_t usable(const dv_file *f) {
    bool waits = f->has_cr && !f->at_end && f->valid > f->start && f->newline != DV_NEWLINE_CR &&
                 f->buffer[f->valid - 1] == '\r';
    return f->valid - waits;
}

/* '\r' and "\r\n" become '\n' in place; the new end. */
static size_t join_ends(char *text, size_t size) {
    size_t to = 0;
    for (size_t i = 0; i < size; i++) {
        bool cr = text[i] == '\r';
        text[to++] = cr ? '\n' : text[i];
        if (cr && i + 1 < size && text[i + 1] == '\n') i++;
    }
    return to;
}

/* buffer[start .. stop-1] as a str. */
static dv_value take(dv_vm *vm, dv_file *f, size_t stop) {
    if (stop == f->start) return dv_str_empty(vm);
    char *text = f->buffer + f->start;
    size_t size = stop - f->start;
    if (f->has_cr && f->newline == DV_NEWLINE_UNIVERSAL) size = join_ends(text, size);
    f->start = stop;
    if (!f->plain && !dv_utf8_is_ascii(text, size)) return dv_str_new(vm, text, size);
    if (size == 1) return dv_str_char(vm, (uint8_t)text[0]);
    dv_str *s = dv_str_alloc(vm, (int64_t)size, 1);
    if (!s) return DV_EMPTY;
    memcpy(s->data, text, size);
    return dv_object_value(s);
}

/* Where n code points from the start are over, or the usable ones: *n is what is missing. */
static size_t skip(const dv_file *f, int64_t *n) {
    size_t at = f->start, stop = usable(f);
    bool joins = f->has_cr && f->newline == DV_NEWLINE_UNIVERSAL;
    if (f->plain && !joins) {
        size_t step = (size_t)*n < stop - at ? (size_t)*n : stop - at;
        *n -= (int64_t)step;
        return at + step;
    }
    while (*n > 0 && at < stop) {
        bool pair = joins && f->buffer[at] == '\r' && at + 1 < stop && f->buffer[at + 1] == '\n';
        at += pair ? 2 : 1;
        while (!f->plain && at < stop && follows(f->buffer, at)) at++;
        --*n;
    }
    return at;
}

/* The end of the first line of buffer[from .. stop-1]; 0: it has none. */
static size_t line_end(const dv_file *f, size_t from, size_t stop) {
    const char *b = f->buffer, *found;
    if (from >= stop) return 0;
    if (f->newline == DV_NEWLINE_CR) {
        found = memchr(b + from, '\r', stop - from);
    } else if (f->newline == DV_NEWLINE_CRLF) {
        for (found = b + from; (found = memchr(found, '\n', (size_t)(b + stop - found))); found++)
            if (found > b + f->start && found[-1] == '\r') break;
    } else {
        found = memchr(b + from, '\n', stop - from);
        if (f->has_cr && f->newline != DV_NEWLINE_LF) {
            size_t before = found ? (size_t)(found - b) : stop;
            const char *cr = memchr(b + from, '\r', before - from);
            if (cr) found = cr + (cr + 1 < b + stop && cr[1] == '\n');
        }
    }
    return found ? (size_t)(found - b) + 1 : 0;
}

/* A line with its end, at most `limit` code points of it (-1: all); empty at the end. */
static dv_value read_line(dv_vm *vm, dv_file *f, int64_t limit) {
    for (size_t looked = 0;;) {
        size_t stop = usable(f), end = line_end(f, f->start + looked, stop);
        int64_t missing = limit;
        if (limit >= 0) {
            size_t most = skip(f, &missing);
            if (missing == 0 && (!end || most < end)) end = most;
            if (missing == 0 || end) return take(vm, f, end);
        }
        if (end) return take(vm, f, end);
        looked = stop - f->start;
        int more = fill(vm, f);
        if (more < 0) return DV_EMPTY;
        if (more == 0 && !line_end(f, f->start, f->valid)) return take(vm, f, f->valid);
        if (more == 0) looked = 0;
    }
}

/* What a line read may be asked of. */
static bool check_reads(dv_vm *vm, const dv_file *f) {
    if (!dv_file_check_open(vm, f, CLOSED)) return false;
    if (f->readable) return true;
    dv_file_unsupported(vm, "not readable");
    return false;
}

static dv_value read_all(dv_vm *vm, dv_file *f) {
    if (f->start == f->end) {
        f->plain = true;
        f->has_cr = false;
    }
    if (f->number != DV_NO_STREAM) {
        int more;
        while ((more = fill(vm, f)) > 0) continue;
        return more < 0 ? DV_EMPTY : take(vm, f, f->valid);
    }
    if (!dv_file_fill_all(vm, f)) return DV_EMPTY;
    f->at_end = true;
    return accept(vm, f, true) ? take(vm, f, f->valid) : DV_EMPTY;
}

static dv_value text_read(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t size;
    if (!dv_file_size_argument(vm, args, count, &size) || !check_reads(vm, f)) return DV_EMPTY;
    if (size < 0) return read_all(vm, f);
    for (;;) {
        int64_t missing = size;
        size_t stop = skip(f, &missing);
        if (missing == 0) return take(vm, f, stop);
        int more = fill(vm, f);
        if (more < 0) return DV_EMPTY;
        if (more > 0) continue;
        missing = size;
        return take(vm, f, skip(f, &missing));
    }
}

static dv_value text_readline(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t limit;
    if (!dv_file_size_argument(vm, args, count, &limit) || !check_reads(vm, f)) return DV_EMPTY;
    return read_line(vm, f, limit);
}

static dv_value text_next(dv_vm *vm, dv_value self) {
    dv_file *f = dv_as_file(self);
    if (!check_reads(vm, f)) return DV_EMPTY;
    f->iterates = true;
    dv_value line = read_line(vm, f, -1);
    if (dv_is_empty(line) || dv_as_str(line)->length > 0) return line;
    f->iterates = false;
    dv_release(vm, line);
    return DV_EMPTY;
}

/* Writing ----------------------------------------------------------------------------------------
 */

/* The bytes of a text with the file's line ends: new. */
static dv_value encoded(dv_vm *vm, const dv_file *f, dv_value text) {
    bool ends = f->newline == DV_NEWLINE_CR || f->newline == DV_NEWLINE_CRLF;
    if (!ends) return dv_encode(vm, text, f->encoding, f->errors);
    const dv_str *s = dv_as_str(text);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = dv_str_at(s, i);
        if (c == '\n') dv_builder_char(&b, '\r');
        if (c != '\n' || f->newline == DV_NEWLINE_CRLF) dv_builder_char(&b, c);
    }
    dv_value changed = dv_builder_finish(&b);
    if (dv_is_empty(changed)) return DV_EMPTY;
    dv_value bytes = dv_encode(vm, changed, f->encoding, f->errors);
    dv_release(vm, changed);
    return bytes;
}

static bool write_text(dv_vm *vm, dv_file *f, dv_value text) {
    const dv_str *s = dv_as_str(text);
    bool as_it_is = s->kind == 1 && f->newline != DV_NEWLINE_CR && f->newline != DV_NEWLINE_CRLF &&
                    (f->codec == DV_LATIN1 || dv_utf8_is_ascii(s->data, (size_t)s->length));
    if (as_it_is) return dv_file_put(vm, f, s->data, (size_t)s->length);
    dv_value bytes = encoded(vm, f, text);
    if (dv_is_empty(bytes)) return false;
    s = dv_as_str(bytes);
    bool done = dv_file_put(vm, f, s->data, (size_t)s->length);
    dv_release(vm, bytes);
    return done;
}

static bool has_newline(const dv_str *s) {
    for (int64_t i = s->length; i-- > 0;)
        if (dv_str_at(s, i) == '\n') return true;
    return false;
}

bool dv_file_write_text(dv_vm *vm, dv_file *f, dv_value text) {
    if (!dv_file_check_open(vm, f, CLOSED)) return false;
    if (!f->writable) {
        dv_file_unsupported(vm, "not writable");
        return false;
    }
    if (f->number != DV_NO_STREAM) return dv_stream_write(vm, f->number, text);
    if (!write_text(vm, f, text)) return false;
    return !f->by_line || !has_newline(dv_as_str(text)) || dv_file_flush(vm, f);
}

static dv_value text_write(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "write() argument must be str, not %T", args[1]);
    if (!dv_file_write_text(vm, dv_as_file(args[0]), args[1])) return DV_EMPTY;
    return dv_int(dv_as_str(args[1])->length);
}

static dv_value text_flush(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    if (!dv_file_check_open(vm, f, CLOSED)) return DV_EMPTY;
    return dv_file_flush(vm, f) ? DV_NONE : DV_EMPTY;
}

/* Places -----------------------------------------------------------------------------------------
 */

static bool check_seeks(dv_vm *vm, const dv_file *f) {
    if (!dv_file_check_open(vm, f, CLOSED)) return false;
    if (f->can_seek) return true;
    dv_file_unsupported(vm, "underlying stream is not seekable");
    return false;
}

static dv_value text_tell(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    if (!check_seeks(vm, f)) return DV_EMPTY;
    if (f->iterates) return dv_raise(vm, DV_E_OS_ERROR, "telling position disabled by next() call");
    if (f->mended) return dv_raise(vm, DV_E_OS_ERROR, "can't reconstruct logical file position");
    if (!dv_file_flush(vm, f) || !dv_file_locate(vm, f)) return DV_EMPTY;
    return dv_int_from_int64(vm, f->position - (int64_t)(f->end - f->start));
}

/* From the place where the file is, or its end, one goes nowhere else. */
static dv_value seek_nowhere(dv_vm *vm, dv_file *f, const dv_value *args, int whence) {
    int nowhere = dv_equal(vm, args[1], dv_int(0));
    if (nowhere < 0) return DV_EMPTY;
    if (!nowhere)
        return dv_file_unsupported(vm, whence == SEEK_CUR ? "can't do nonzero cur-relative seeks"
                                                          : "can't do nonzero end-relative seeks");
    if (whence == SEEK_CUR) return text_tell(vm, args, 1);
    int64_t at = dv_file_seek(vm, f, 0, SEEK_END);
    return at < 0 ? DV_EMPTY : dv_int_from_int64(vm, at);
}

/* CPython compares what it is given with 0 before it asks for an int, goes where int() of it says,
 * and returns what it was given. */
static dv_value text_seek(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t offset, whence = SEEK_SET;
    if ((count > 2 && !dv_int_argument(vm, args[2], &whence)) || !check_seeks(vm, f))
        return DV_EMPTY;
    if (whence == SEEK_CUR || whence == SEEK_END) return seek_nowhere(vm, f, args, (int)whence);
    if (whence != SEEK_SET)
        return dv_raise(vm, DV_E_VALUE_ERROR, "invalid whence (%d, should be 0, 1 or 2)",
                        (int)whence);
    int negative = dv_less(vm, args[1], dv_int(0));
    if (negative < 0) return DV_EMPTY;
    if (negative) return dv_raise(vm, DV_E_VALUE_ERROR, "negative seek position %V", args[1]);
    dv_value place =
        dv_is_float(args[1]) ? dv_int_from_double(vm, dv_as_float(args[1])) : dv_retain(args[1]);
    bool good = !dv_is_empty(place) && dv_size_argument(vm, place, &offset);
    dv_release(vm, place);
    if (!good) return DV_EMPTY;
    return dv_file_seek(vm, f, offset, SEEK_SET) < 0 ? DV_EMPTY : dv_retain(args[1]);
}

static dv_value text_truncate(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t size;
    if (!dv_file_check_open(vm, f, CLOSED)) return DV_EMPTY;
    if (!f->writable) return dv_file_unsupported(vm, "truncate");
    if (!dv_file_flush(vm, f)) return DV_EMPTY;
    if (count < 2 || dv_is_none(args[1]))
        size = f->position - (int64_t)(f->end - f->start);
    else if (!dv_size_argument(vm, args[1], &size))
        return DV_EMPTY;
    int64_t done = dv_host_truncate(f->fd, size);
    return done < 0 ? dv_host_raise(vm, (int)done, DV_EMPTY) : dv_int_from_int64(vm, size);
}

/* The type ---------------------------------------------------------------------------------------
 */

static dv_value text_repr(dv_vm *vm, dv_value self) {
    const dv_file *f = dv_as_file(self);
    if (dv_is_none(f->mode)) /* TextIOWrapper() made it, not open() */
        return dv_str_printf(vm, "<_io.TextIOWrapper name=%V encoding=%V>", f->name, f->encoding);
    return dv_str_printf(vm, "<_io.TextIOWrapper name=%V mode=%V encoding=%V>", f->name, f->mode,
                         f->encoding);
}

/* The binary file behind a standard stream. */
static dv_value buffer_of(dv_vm *vm, dv_file *f) {
    if (dv_is_empty(f->binary)) f->binary = dv_stream_binary(vm, f->number);
    return dv_retain(f->binary);
}

static dv_value text_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_file *f = dv_as_file(self);
    bool standard = f->number != DV_NO_STREAM || !dv_is_empty(f->binary);
    if (standard && dv_str_is(name, "buffer")) return buffer_of(vm, f);
    if (dv_str_is(name, "encoding")) return dv_retain(f->encoding);
    if (dv_str_is(name, "errors"))
        return dv_is_none(f->errors) ? dv_str_z(vm, "strict") : dv_retain(f->errors);
    if (dv_str_is(name, "newlines")) return dv_file_newlines(vm, f->seen_ends);
    if (dv_str_is(name, "line_buffering")) return dv_bool(f->by_line);
    return dv_file_get_attribute(vm, self, name);
}

static const dv_cfunction_def methods[] = {
    {.name = "read", .entry = text_read, .min = 1, .max = 2},
    {.name = "readline", .entry = text_readline, .min = 1, .max = 2},
    {.name = "write", .entry = text_write, .min = 2, .max = 2},
    {.name = "flush", .entry = text_flush, .min = 1, .max = 1},
    {.name = "seek", .entry = text_seek, .min = 2, .max = 3},
    {.name = "tell", .entry = text_tell, .min = 1, .max = 1},
    {.name = "truncate", .entry = text_truncate, .min = 1, .max = 2},
    DV_FILE_METHODS,
    {.name = NULL}};

const dv_type dv_stream_type = {.name = "_io.TextIOWrapper",
                                .id = DV_T_STREAM,
                                .weakly = true,
                                .release = dv_file_release,
                                .repr = text_repr,
                                .iterate = dv_file_iterate,
                                .next = text_next,
                                .get_attribute = text_get_attribute,
                                .construct = dv_stream_construct,
                                .methods = methods};
