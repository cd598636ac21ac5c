/* file_open.c: open(), FileIO() and TextIOWrapper(): their arguments, and the file that these make
 * (file.h). */
#include "types/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/file/host.h"
#include "types/file/module.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"

enum { FILE_, MODE, BUFFERING, ENCODING, ERRORS, NEWLINE, CLOSEFD, OPENER, ARGUMENTS };

typedef struct mode {
    bool creates, reads, writes, appends, updates, text, binary;
} mode;

static bool refuse(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_VALUE_ERROR, "%s", message);
    return false;
}

/* Sets the flag of a mode's letter; false: there is none, or it is set. */
static bool set_letter(mode *m, char letter) {
    static const char letters[] = "xrwa+tb";
    bool *const flags[] = {&m->creates, &m->reads, &m->writes, &m->appends,
                           &m->updates, &m->text,  &m->binary};
    const char *at = letter ? strchr(letters, letter) : NULL;
    if (!at || *flags[at - letters]) return false;
    *flags[at - letters] = true;
    return true;
}

static bool read_mode(dv_vm *vm, dv_value text, mode *m) {
    *m = (mode){0};
    const dv_str *s = dv_as_str(text);
    bool valid = s->kind == 1;
    for (int64_t i = 0; valid && i < s->length; i++) valid = set_letter(m, s->data[i]);
    if (!valid) {
        dv_raise(vm, DV_E_VALUE_ERROR, "invalid mode: %V", text);
        return false;
    }
    if (m->text && m->binary) return refuse(vm, "can't have text and binary mode at once");
    int kinds = m->creates + m->reads + m->writes + m->appends;
    if (kinds == 0)
        return refuse(vm, "Must have exactly one of create/read/write/append mode and at most one "
                          "plus");
    if (kinds > 1) return refuse(vm, "must have exactly one of create/read/write/append mode");
    return true;
}

static bool check_text_options(dv_vm *vm, const dv_value *given, const mode *m) {
    static const char *const names[] = {"an encoding", "an errors", "a newline"};
    for (int i = ENCODING; i <= NEWLINE; i++) {
        if (!m->binary || dv_is_none(given[i])) continue;
        dv_raise(vm, DV_E_VALUE_ERROR, "binary mode doesn't take %s argument", names[i - ENCODING]);
        return false;
    }
    return true;
}

static bool read_newline(dv_vm *vm, dv_value v, dv_newline *out) {
    static const char *const texts[] = {"", "\n", "\r", "\r\n"};
    *out = DV_NEWLINE_UNIVERSAL;
    if (dv_is_none(v)) return true;
    for (int i = 0; i < 4; i++) {
        if (!dv_str_is(v, texts[i])) continue;
        *out = (dv_newline)(DV_NEWLINE_KEEP + i);
        return true;
    }
    dv_raise(vm, DV_E_VALUE_ERROR, "illegal newline value: %S", v);
    return false;
}

static bool check_types(dv_vm *vm, dv_value *given) {
    static const char *const names[] = {"file",   "mode",    "buffering", "encoding",
                                        "errors", "newline", "closefd",   "opener"};
    for (int i = MODE; i <= NEWLINE; i++) {
        if (i == BUFFERING || dv_is_str(given[i]) || (i > BUFFERING && dv_is_none(given[i])))
            continue;
        dv_raise(vm, DV_E_TYPE_ERROR, "open() argument '%s' must be str%s, not %T", names[i],
                 i > BUFFERING ? " or None" : "", given[i]);
        return false;
    }
    if (!dv_is_none(given[OPENER])) {
        dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR, "open() with an opener is not part of dl");
        return false;
    }
    return true;
}

/* Opening ----------------------------------------------------------------------------------------
 */

static int flags_of(const mode *m) {
    int access = m->updates ? O_RDWR : m->reads ? O_RDONLY : O_WRONLY;
    return access | (m->creates   ? O_CREAT | O_EXCL
                     : m->writes  ? O_CREAT | O_TRUNC
                     : m->appends ? O_CREAT | O_APPEND
                                  : 0);
}

/* The descriptor and the name of a path or a number; false: raised. */
static bool open_descriptor(dv_vm *vm, dv_file *f, const mode *m, dv_value path) {
    int64_t number;
    /* CPython takes what is no C int for a path, which it is not. */
    if (dv_is_integral(path) && dv_int_to_int64(path, &number) && number == (int32_t)number) {
        if (number < 0) return refuse(vm, "negative file descriptor");
        int allowed = dv_host_allows(vm);
        if (allowed || fcntl((int)number, F_GETFD) < 0) {
            dv_host_raise(vm, allowed ? allowed : EBADF, DV_EMPTY);
            return false;
        }
        f->fd = (int)number;
        f->name = dv_retain(path);
        return true;
    }
    dv_host_path host;
    if (f->keeps_fd) return refuse(vm, "Cannot use closefd=False with file name");
    dv_value text = dv_host_fspath(vm, path);
    if (dv_is_empty(text)) return false;
    if (dv_host_path_of(vm, text, &host)) {
        int fd = dv_host_open(vm, host.text, flags_of(m), 0666);
        dv_host_path_free(vm, &host);
        if (fd < 0)
            dv_host_raise(vm, fd, text);
        else
            f->fd = fd;
    }
    f->name = text;
    return f->fd >= 0;
}

static bool prepare(dv_vm *vm, dv_file *f, const mode *m, dv_value path) {
    if (!open_descriptor(vm, f, m, path)) return false;
    if (dv_host_is_directory(f->fd)) {
        dv_host_raise(vm, EISDIR, f->name);
        return false;
    }
    f->readable = m->reads || m->updates;
    f->writable = !m->reads || m->updates;
    f->appends = m->appends;
    int64_t at = dv_host_seek(f->fd, 0, m->appends ? SEEK_END : SEEK_CUR);
    f->can_seek = at >= 0;
    f->position = at >= 0 ? at : 0;
    if (f->can_seek || !m->updates || f->header.shape == DV_T_FILE_IO) return true;
    dv_file_unsupported(vm, "File or stream is not seekable.");
    return false;
}

static bool prepare_text(dv_vm *vm, dv_file *f, const dv_value *given) {
    if (!read_newline(vm, given[NEWLINE], &f->newline)) return false;
    f->encoding = dv_is_none(given[ENCODING]) || dv_str_is(given[ENCODING], "locale")
                      ? dv_str_z(vm, "UTF-8")
                      : dv_retain(given[ENCODING]);
    if (dv_is_empty(f->encoding)) return false;
    f->codec = dv_codec_named(f->encoding);
    if (f->codec == DV_CODEC_UNKNOWN) {
        dv_raise(vm, DV_E_LOOKUP_ERROR, "unknown encoding: %S", f->encoding);
        return false;
    }
    if (f->codec >= DV_UTF16) {
        dv_raise(vm, DV_E_LOOKUP_ERROR, "encoding %V of a file is not part of dl", f->encoding);
        return false;
    }
    f->errors = dv_is_none(given[ERRORS]) ? dv_str_z(vm, "strict") : dv_retain(given[ERRORS]);
    if (dv_is_empty(f->errors)) return false;
    f->strict = dv_str_is(f->errors, "strict");
    f->mode = dv_retain(given[MODE]);
    return true;
}

/* What the attribute mode of a binary file says. */
static dv_value binary_mode(dv_vm *vm, const mode *m) {
    const char *text = m->creates   ? (m->updates ? "xb+" : "xb")
                       : m->appends ? (m->updates ? "ab+" : "ab")
                       : m->updates ? "rb+"
                       : m->reads   ? "rb"
                                    : "wb";
    return dv_str_z(vm, text);
}

static const dv_type *type_of(const mode *m, int64_t buffering) {
    if (!m->binary) return &dv_stream_type;
    if (buffering == 0) return &dv_file_io_type;
    if (m->updates) return &dv_buffered_random_type;
    return m->reads ? &dv_buffered_reader_type : &dv_buffered_writer_type;
}

static dv_value make(dv_vm *vm, const dv_value *given, const mode *m, int64_t buffering,
                     bool closes) {
    const dv_type *type = type_of(m, buffering);
    if (!dv_class_know(vm, type)) return DV_EMPTY;
    dv_file *f = dv_file_new(vm, type->id);
    if (!f) return DV_EMPTY;
    f->keeps_fd = !closes;
    bool good = prepare(vm, f, m, given[FILE_]);
    if (good && m->binary) {
        f->mode = binary_mode(vm, m);
        good = !dv_is_empty(f->mode);
    } else if (good) {
        good = prepare_text(vm, f, given);
        f->by_line = buffering == 1 || (buffering < 0 && dv_host_is_terminal(f->fd));
    }
    if (good) return dv_object_value(f);
    dv_release_object(vm, &f->header);
    return DV_EMPTY;
}

dv_value dv_file_open(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"file",   "mode",    "buffering", "encoding",
                                        "errors", "newline", "closefd",   "opener"};
    static const dv_parameters parameters = {"open", names, ARGUMENTS, ARGUMENTS, 1};
    dv_value given[ARGUMENTS];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    dv_value read = dv_str_char(vm, 'r');
    if (dv_is_empty(read)) return DV_EMPTY;
    if (dv_is_empty(given[MODE])) given[MODE] = read;
    for (int i = ENCODING; i < ARGUMENTS; i++)
        if (dv_is_empty(given[i])) given[i] = i == CLOSEFD ? DV_TRUE : DV_NONE;
    int64_t buffering = -1;
    mode m;
    dv_value file = DV_EMPTY;
    int closes = dv_truth(vm, given[CLOSEFD]);
    if (closes >= 0 && check_types(vm, given) &&
        (dv_is_empty(given[BUFFERING]) || dv_size_argument(vm, given[BUFFERING], &buffering)) &&
        read_mode(vm, given[MODE], &m) && check_text_options(vm, given, &m)) {
        if (buffering == 0 && !m.binary)
            refuse(vm, "can't have unbuffered text I/O");
        else
            file = make(vm, given, &m, buffering, closes);
    }
    dv_release(vm, read);
    return file;
}

/* FileIO() and TextIOWrapper() --------------------------------------------------------------------
 */

/* 'b' does not matter, and the messages are others than open()'s. */
static bool read_raw_mode(dv_vm *vm, dv_value text, mode *m) {
    static const char one[] =
        "Must have exactly one of create/read/write/append mode and at most one plus";
    *m = (mode){.binary = true};
    const dv_str *s = dv_as_str(text);
    for (int64_t i = 0; i < s->length; i++) {
        char letter = s->kind == 1 ? s->data[i] : '?';
        if (letter == 'b') continue;
        if (!letter || !strchr("xrwa+", letter)) {
            dv_raise(vm, DV_E_VALUE_ERROR, "invalid mode: %S", text);
            return false;
        }
        if (!set_letter(m, letter)) return refuse(vm, one);
    }
    return m->creates + m->reads + m->writes + m->appends == 1 || refuse(vm, one);
}

dv_value dv_file_io_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    enum { RAW_FILE, RAW_MODE, RAW_CLOSEFD, RAW_OPENER, RAW_ARGUMENTS };
    static const char *const names[] = {"file", "mode", "closefd", "opener"};
    static const dv_parameters parameters = {"FileIO", names, RAW_ARGUMENTS, RAW_ARGUMENTS, 1};
    dv_value given[RAW_ARGUMENTS];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    mode m = {.reads = true, .binary = true};
    if (!dv_is_empty(given[RAW_MODE])) {
        if (!dv_is_str(given[RAW_MODE]))
            return dv_raise(vm, DV_E_TYPE_ERROR, "FileIO() argument 'mode' must be str, not %T",
                            given[RAW_MODE]);
        if (!read_raw_mode(vm, given[RAW_MODE], &m)) return DV_EMPTY;
    }
    if (!dv_is_empty(given[RAW_OPENER]) && !dv_is_none(given[RAW_OPENER]))
        return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR,
                        "FileIO() with an opener is not part of dl");
    int closes = dv_is_empty(given[RAW_CLOSEFD]) ? 1 : dv_truth(vm, given[RAW_CLOSEFD]);
    return closes < 0 ? DV_EMPTY : make(vm, given, &m, 0, closes);
}

/* The class in dl of what has anything below but a standard stream as it is. */
static dv_value find_layer(dv_vm *vm, const char *name) {
    dv_value text = dv_str_z(vm, "_io_layers");
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value layers = dv_import_helper(vm, text);
    dv_release(vm, text);
    if (dv_is_empty(layers)) return DV_EMPTY;
    dv_value class_ = dv_get_named(vm, layers, name);
    dv_release(vm, layers);
    return class_;
}

static dv_value make_layer(dv_vm *vm, const char *name, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    dv_value class_ = find_layer(vm, name);
    if (dv_is_empty(class_)) return DV_EMPTY;
    dv_value result = dv_call(vm, class_, args, count, keywords);
    dv_release(vm, class_);
    return result;
}

/* The name of the class in dl that one of the machine's stands for; NULL: it stands for itself. */
static const char *layer_of(dv_value v) {
    if (!dv_is_class(v)) return NULL;
    switch (dv_as_class(v)->type) {
    case DV_T_STREAM: return "TextIOWrapper";
    case DV_T_BUFFERED_READER: return "BufferedReader";
    case DV_T_BUFFERED_WRITER: return "BufferedWriter";
    case DV_T_BUFFERED_RANDOM: return "BufferedRandom";
    default: return NULL;
    }
}

bool dv_is_file_base(dv_value v) { return layer_of(v) != NULL; }
dv_value dv_file_base(dv_vm *vm, dv_value class_) { return find_layer(vm, layer_of(class_)); }

dv_value dv_buffered_reader_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords) {
    return make_layer(vm, "BufferedReader", args, count, keywords);
}
dv_value dv_buffered_writer_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords) {
    return make_layer(vm, "BufferedWriter", args, count, keywords);
}
dv_value dv_buffered_random_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords) {
    return make_layer(vm, "BufferedRandom", args, count, keywords);
}

/* What a standard stream's buffer reads and writes is the embedder's, which is UTF-8. */
dv_value dv_stream_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    enum { BUFFER, CODE, ON_ERROR, LINE_END, BY_LINE, THROUGH, WRAP_ARGUMENTS };
    static const char *const names[] = {"buffer",  "encoding",       "errors",
                                        "newline", "line_buffering", "write_through"};
    static const dv_parameters parameters = {"TextIOWrapper", names, WRAP_ARGUMENTS, WRAP_ARGUMENTS,
                                             1};
    dv_value given[WRAP_ARGUMENTS];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    uint32_t shape = dv_is_object(given[BUFFER]) ? dv_as_object(given[BUFFER])->shape : 0;
    const dv_file *below = shape == DV_T_BUFFERED_READER || shape == DV_T_BUFFERED_WRITER
                               ? dv_as_file(given[BUFFER])
                               : NULL;
    if (!below || below->number == DV_NO_STREAM)
        return make_layer(vm, "TextIOWrapper", args, count, keywords);
    dv_value options[ARGUMENTS] = {[MODE] = DV_NONE};
    for (int i = CODE; i <= LINE_END; i++) {
        if (dv_is_empty(given[i])) given[i] = DV_NONE;
        if (!dv_is_none(given[i]) && !dv_is_str(given[i]))
            return dv_raise(vm, DV_E_TYPE_ERROR,
                            "TextIOWrapper() argument '%s' must be str or None, not %T", names[i],
                            given[i]);
        options[ENCODING + i - CODE] = given[i];
    }
    int by_line = dv_is_empty(given[BY_LINE]) ? 0 : dv_truth(vm, given[BY_LINE]);
    dv_file *f = by_line < 0 ? NULL : dv_file_new(vm, DV_T_STREAM);
    if (!f) return DV_EMPTY;
    f->number = below->number;
    f->readable = below->readable;
    f->writable = below->writable;
    f->by_line = by_line;
    f->name = dv_retain(below->name);
    f->binary = dv_retain(given[BUFFER]);
    if (prepare_text(vm, f, options)) {
        if (f->codec == DV_UTF8 && f->newline <= DV_NEWLINE_LF && (f->readable || f->strict))
            return dv_object_value(f);
        dv_release_object(vm, &f->header);
        return make_layer(vm, "TextIOWrapper", args, count, keywords);
    }
    dv_release_object(vm, &f->header);
    return DV_EMPTY;
}
