/* compile.c: source text to verified units (compile.h). */
#include "api/compile.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "api/compiled.h"
#include "code/verify.h"
#include "core/upcall.h"
#include "inspect/assembly.h"
#include "lang/lang.h"
#include "report/text.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/exception/warning.h"
#include "types/number/int.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* The front end's memory comes from the VM's heap, so that limits hold for it, too. */
static void *heap_resize(void *context, void *block, size_t old_size, size_t new_size) {
    dv_heap *heap = context;
    if (new_size) return dv_heap_resize(heap, block, old_size, new_size);
    if (block) dv_heap_free(heap, block, old_size);
    return NULL;
}

typedef struct warning_target {
    dv_vm *vm;
    const dv_lang_request *request;
    dv_value error; /* that a warning raised, but SyntaxWarning, or EMPTY */
} warning_target;

static dv_error_class error_class(const char *type) {
    if (strcmp(type, "IndentationError") == 0) return DV_E_INDENTATION_ERROR;
    if (strcmp(type, "ValueError") == 0) return DV_E_VALUE_ERROR;
    return strcmp(type, "TabError") == 0 ? DV_E_TAB_ERROR : DV_E_SYNTAX_ERROR;
}

static bool is_utf8(const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        uint8_t c = (uint8_t)text[i++];
        int more = c < 0x80                ? 0
                   : c >= 0xC2 && c < 0xE0 ? 1
                   : c >= 0xE0 && c < 0xF0 ? 2
                   : c >= 0xF0 && c < 0xF5 ? 3
                                           : -1;
        if (more < 0) return false;
        for (; more > 0; more--, i++)
            if (i >= size || ((uint8_t)text[i] & 0xC0) != 0x80) return false;
    }
    return true;
}

dv_value dv_host_text(dv_vm *vm, const char *text) {
    size_t size = strlen(text);
    if (is_utf8(text, size)) return dv_str_new(vm, text, size);
    dv_builder b;
    dv_builder_init(&b, vm);
    for (size_t i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        dv_builder_char(&b, c < 0x80 ? c : 0xDC00u + c);
    }
    return dv_builder_finish(&b);
}

/* The line of the error with its newline, which the last one may lack but where it `ends`; None
 * where there is none to show. */
static dv_value error_line(dv_vm *vm, dv_text source, uint32_t line, bool ends) {
    dv_text text;
    if (line == 0 || !dv_source_line(source, line, &text) || !is_utf8(text.data, text.size))
        return DV_NONE;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_text(&b, text.data, text.size);
    if (ends || text.data + text.size < source.data + source.size) dv_builder_char(&b, '\n');
    return dv_builder_finish(&b);
}

/* SyntaxError(message, (filename, line, column, text, end line, end column)) */
static void raise_syntax_error(dv_vm *vm, const dv_lang_request *request,
                               const dv_lang_error *error) {
    const bool nothing = error->line == 1 && request->source.size == 0;
    dv_value place[6] = {
        dv_str_new(vm, request->filename.data, request->filename.size),
        dv_int(nothing ? 0 : error->line),
        dv_int(error->column),
        nothing                  ? dv_retain(vm->known.empty_str)
        : error->text[0] != '\0' ? dv_str_z(vm, error->text)
        : error->late && !request->quote_source
            ? DV_NONE
            : error_line(vm, request->source, error->line, strcmp(request->mode, "exec") == 0),
        dv_int(nothing ? 0 : error->end_line),
        dv_int(error->end_column),
    };
    dv_value args[2] = {dv_str_z(vm, error->message), dv_tuple_take(vm, place, 6)};
    dv_value tuple = DV_EMPTY;
    if (dv_is_empty(args[0]) || dv_is_empty(args[1]) || error->line == 0) {
        dv_release(vm, args[1]);
        if (!dv_is_empty(args[0])) tuple = dv_tuple_take(vm, args, 1);
    } else {
        tuple = dv_tuple_take(vm, args, 2);
    }
    if (dv_is_empty(tuple)) return;
    dv_value exception =
        dv_exception_new(vm, dv_exception_class(vm, error_class(error->type)), tuple);
    dv_release(vm, tuple);
    if (!dv_is_empty(exception)) dv_exception_raise(vm, exception, DV_EMPTY);
    dv_release(vm, exception);
}

/* A warning, with the line as CPython finds it: in the file.  False: it is an error, of syntax if
 * target->error stays empty. */
static bool give_warning(void *context, uint32_t line, const char *message) {
    warning_target *target = context;
    dv_vm *vm = target->vm;
    const dv_lang_request *request = target->request;
    dv_text text;
    dv_value source = DV_NONE;
    if (request->quote_source && dv_source_line(request->source, line, &text))
        source = dv_str_new(vm, text.data, text.size);
    dv_value category = dv_object_value(dv_exception_class(vm, DV_E_SYNTAX_WARNING));
    const bool good =
        !dv_is_empty(source) && dv_warn_at(vm, category, message, request->filename, line, source);
    dv_release(vm, source);
    if (good) return true;
    if (dv_error_is(vm, DV_E_SYNTAX_WARNING)) {
        dv_error_clear(vm);
    } else {
        target->error = vm->error;
        vm->error = DV_EMPTY;
    }
    return false;
}

static dv_text text_of(const char *data, size_t size) { return (dv_text){data, (uint32_t)size}; }

static dv_unit *compile(dv_vm *vm, const char *text, size_t size, const char *filename,
                        const char *mode, int optimize, bool quoted, bool decoded) {
    if (size >= UINT32_MAX) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "source is too large");
        return NULL;
    }
    dv_lang_request request = {
        .filename = text_of(filename, strlen(filename)),
        .source = text_of(text, size),
        .quote_source = quoted,
        .decoded = decoded,
        .mode = mode,
        .optimize = optimize < 0 ? vm->sys.flags[DV_FLAG_OPTIMIZE] : optimize,
        .allocator = {heap_resize, &vm->heap},
        .warn = give_warning,
    };
    warning_target target = {vm, &request, DV_EMPTY};
    request.warn_context = &target;
    dv_unit *unit = NULL;
    dv_lang_error error;
    switch (dv_lang_compile(&request, &unit, &error)) {
    case DV_LANG_OK: break;
    case DV_LANG_ERROR:
        if (dv_is_empty(target.error))
            raise_syntax_error(vm, &request, &error);
        else
            vm->error = target.error;
        return NULL;
    case DV_LANG_NO_MEMORY: dv_raise_memory(vm); return NULL;
    }
    char message[256];
    if (dv_code_verify(unit, message, sizeof message)) return unit;
    if (strcmp(message, "out of memory") == 0)
        dv_raise_memory(vm);
    else
        dv_raise(vm, DV_E_SYSTEM_ERROR, "the compiler made invalid code: %s", message);
    unit->release_arena(unit->context, unit->arena);
    return NULL;
}

dv_unit *dv_compile_as(dv_vm *vm, const char *text, size_t size, const char *filename,
                       unsigned how) {
    const bool quoted =
        how & DV_COMPILE_QUOTED || filename[0] != '<' || strncmp(filename, "<frozen ", 8) == 0;
    return compile(vm, text, size, filename,
                   how & DV_COMPILE_INTERACTIVE ? "interactive" : "module", -1, quoted, false);
}

dv_unit *dv_compile_evaluated(dv_vm *vm, const char *text, size_t size, const char *filename,
                              const char *mode, int optimize, bool decoded) {
    return compile(vm, text, size, filename, mode, optimize, false, decoded);
}

dv_unit *dv_compile(dv_vm *vm, const char *text, size_t size, const char *filename) {
    dv_value name = dv_host_text(vm, filename);
    if (dv_is_empty(name)) return NULL;
    size_t name_size;
    char *utf8 = dv_str_utf8(vm, name, &name_size);
    dv_release(vm, name);
    if (!utf8) return NULL;
    dv_unit *unit = dv_compile_as(vm, text, size, utf8, 0);
    dv_heap_free(&vm->heap, utf8, name_size + 1);
    return unit;
}

dv_unit *dv_compile_interactive(dv_vm *vm, const char *text, size_t size) {
    return dv_compile_as(vm, text, size, "<stdin>", DV_COMPILE_INTERACTIVE);
}

const char *dv_absolute_path(const char *path, char buffer[DV_LONGEST_PATH]) {
    if (path[0] == '/' || !getcwd(buffer, DV_LONGEST_PATH)) return path;
    size_t length = strlen(buffer), more = strlen(path);
    if (length + 1 + more >= DV_LONGEST_PATH) return path;
    if (buffer[length - 1] != '/') buffer[length++] = '/';
    memcpy(buffer + length, path, more + 1);
    return buffer;
}

void dv_raise_os_error(dv_vm *vm, int number, const char *path) {
    dv_value items[3] = {dv_int(number), dv_str_z(vm, strerror(number)),
                         path ? dv_host_text(vm, path) : DV_NONE};
    dv_error_class error = number == ENOENT   ? DV_E_FILE_NOT_FOUND_ERROR
                           : number == EACCES ? DV_E_PERMISSION_ERROR
                                              : DV_E_OS_ERROR;
    if (dv_is_empty(items[1]) || dv_is_empty(items[2])) {
        dv_release(vm, items[1]);
        dv_release(vm, items[2]);
        return;
    }
    dv_value exception =
        dv_exception_make(vm, dv_exception_class(vm, error), items, path ? 3 : 2, DV_EMPTY);
    dv_release(vm, items[1]);
    dv_release(vm, items[2]);
    if (!dv_is_empty(exception)) dv_exception_raise(vm, exception, DV_EMPTY);
    dv_release(vm, exception);
}

/* The whole file on the VM's heap (capacity *room); NULL: raised. */
static char *read_all(dv_vm *vm, FILE *file, const char *path, size_t *size, size_t *room) {
    char *text = NULL;
    *size = *room = 0;
    for (;;) {
        if (*size == *room) {
            size_t more = *room ? *room * 2 : 16384;
            char *moved = dv_heap_resize(&vm->heap, text, *room, more);
            if (!moved) {
                dv_raise_memory(vm);
                break;
            }
            text = moved;
            *room = more;
        }
        errno = 0;
        size_t got = fread(text + *size, 1, *room - *size, file);
        *size += got;
        if (got > 0) continue;
        if (!ferror(file)) return text;
        dv_raise_os_error(vm, errno ? errno : EIO, path);
        break;
    }
    if (text) dv_heap_free(&vm->heap, text, *room);
    return NULL;
}

char *dv_read_file(dv_vm *vm, const char *path, size_t *size, size_t *room) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        dv_raise_os_error(vm, errno, path);
        return NULL;
    }
    char *text = read_all(vm, file, path, size, room);
    fclose(file);
    return text;
}

dv_unit *dv_assemble_file(dv_vm *vm, const char *path) {
    size_t size, room;
    char *text = dv_read_file(vm, path, &size, &room);
    if (!text) return NULL;
    dv_unit *unit = dv_assembly_read(vm, text, size, path);
    dv_heap_free(&vm->heap, text, room);
    return unit;
}

static dv_unit *compile_file(dv_vm *vm, const char *path, bool imported) {
    size_t size, room;
    char *text = dv_read_file(vm, path, &size, &room);
    if (!text) return NULL;
    dv_unit *unit = NULL;
    if (dv_compiled_is(path, text, size))
        unit = dv_compiled_read(vm, text, size, path);
    else if (imported && memchr(text, '\0', size))
        dv_raise(vm, DV_E_VALUE_ERROR, "source code string cannot contain null bytes");
    else
        unit = dv_compile(vm, text, size, path);
    dv_heap_free(&vm->heap, text, room);
    return unit;
}

dv_unit *dv_compile_file(dv_vm *vm, const char *path) { return compile_file(vm, path, false); }

dv_unit *dv_compile_import(dv_vm *vm, const char *path) { return compile_file(vm, path, true); }
