/* lang.c: the front end's entry (lang.h): checks the source's encoding and runs the passes in
 * order. */
#include "lang/lang.h"

#include "lang/front/chars.h"
#include "lang/compile/compile.h"
#include "lang/compile/fold.h"
#include "lang/complain/literal.h"
#include "lang/front/parser.h"

#include <assert.h>
#include <string.h>

/* ---- The source ---- */

static bool fail_at(dv_front *front, uint32_t line, const char *message) {
    dv_front_error(front, (dv_range){line, DV_NO_COLUMN, line, DV_NO_COLUMN}, "%s", message);
    return false;
}

static uint32_t line_of(const char *data, size_t position) {
    uint32_t line = 1;
    for (size_t i = 0; i < position; i++) line += data[i] == '\n';
    return line;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/* The length of what can be the name of an encoding. */
static size_t name_length(const char *at, const char *end) {
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *stop = at;
    while (stop < end && memchr(all, *stop, sizeof all - 1) != NULL) stop++;
    return (size_t)(stop - at);
}

/* The name of the encoding that a comment declares; empty if it declares none. */
static dv_text declared_encoding(const char *comment, const char *end) {
    for (const char *c = comment; end - c > 7; c++) {
        if (memcmp(c, "coding", 6) != 0 || (c[6] != ':' && c[6] != '=')) continue;
        const char *name = c + 7;
        while (is_blank(*name)) name++;
        size_t size = name_length(name, end);
        if (size > 0) return (dv_text){name, (uint32_t)size};
    }
    return (dv_text){NULL, 0};
}

enum { LONGEST_NAME = 8 };

/* The name in lower case without what only separates, or as much of it as makes it a long one. */
static void simplify(dv_text name, char simple[LONGEST_NAME + 1]) {
    size_t size = 0;
    for (uint32_t i = 0; i < name.size && size < LONGEST_NAME; i++)
        if (name.data[i] != '-' && name.data[i] != '_')
            simple[size++] = (char)(name.data[i] | 0x20);
    simple[size] = '\0';
}

/* A declared encoding other than UTF-8 would change the meaning of every byte beyond ASCII. */
static bool check_encoding(dv_front *front, dv_text source, dv_text name, uint32_t line) {
    char simple[LONGEST_NAME + 1];
    simplify(name, simple);
    front->byte_columns = false;
    bool suffix = name.size > 5 && (name.data[5] == '-' || name.data[5] == '_');
    if (strncmp(simple, "utf8", 4) == 0 && (simple[4] == '\0' || suffix)) return true;
    bool ascii = strcmp(simple, "ascii") == 0 || strcmp(simple, "usascii") == 0;
    if (!ascii || front->has_mark)
        return fail_at(front, line, "a source encoding other than utf-8 is not part of dl");
    for (uint32_t i = 0; i < source.size; i++)
        if ((unsigned char)source.data[i] >= 0x80)
            return fail_at(front, 0, "encoding problem: ascii");
    return true;
}

/* One of the first two lines may declare it, the second one if nothing but a comment is before. */
static bool check_declared_encoding(dv_front *front, dv_text source) {
    const char *at = source.data, *end = source.data + source.size;
    for (uint32_t line = 1; line <= 2 && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)); /* ends the last line too */
        while (is_blank(*at)) at++;
        if (*at != '#' && *at != '\n') return true;
        dv_text name = declared_encoding(at, stop);
        if (name.size > 0) return check_encoding(front, source, name, line);
        at = stop + 1;
    }
    return true;
}

/* CPython does not show where it is. */
static bool check_bytes(dv_front *front, dv_text source, dv_text filename) {
    const dv_range nowhere = {0, DV_NO_COLUMN, 0, DV_NO_COLUMN};
    const char *end = source.data + source.size;
    for (const char *at = source.data; at < end;) {
        uint32_t point;
        if (*at == '\0')
            return fail_at(front, line_of(source.data, (size_t)(at - source.data)),
                           "source code cannot contain null bytes");
        size_t size = dv_chars_decode(at, end, &point);
        if (size == 0) {
            dv_front_error(front, nowhere,
                           "Non-UTF-8 code starting with '\\x%02x' in file %.*s on line %u, but no "
                           "encoding declared; see https://peps.python.org/pep-0263/ for details",
                           (unsigned)(unsigned char)*at, (int)filename.size, filename.data,
                           line_of(source.data, (size_t)(at - source.data)));
            return false;
        }
        at += size;
    }
    return true;
}

static bool has_mark(dv_text text) {
    return text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0;
}

/* Copies the source without byte order mark, with \n for \r\n and \r, and a newline at the end. */
static bool normalise(dv_front *front, dv_text given) {
    if (front->has_mark) given.data += 3, given.size -= 3;
    if (given.size > UINT32_MAX / 2) {
        front->status = DV_LANG_NO_MEMORY;
        return false;
    }
    char *copy = dv_front_keep(front, (size_t)given.size + 2);
    if (copy == NULL) return false;
    uint32_t size = 0;
    for (uint32_t i = 0; i < given.size; i++) {
        bool newline = given.data[i] == '\r';
        if (newline && i + 1 < given.size && given.data[i + 1] == '\n') continue;
        copy[size++] = newline ? '\n' : given.data[i];
    }
    front->unended = front->unended && (size == 0 || copy[size - 1] != '\n');
    if (size == 0 || copy[size - 1] != '\n') copy[size++] = '\n';
    front->source = (dv_text){copy, size};
    return true;
}

/* A text that is no file is UTF-8 for CPython from the beginning, as is one with a byte order mark.
 */
static bool prepare_source(dv_front *front, const dv_lang_request *request) {
    const dv_text name = request->filename;
    front->has_mark = has_mark(request->source);
    front->byte_columns = name.size > 0 && name.data[0] != '<' && !front->has_mark;
    return normalise(front, request->source) &&
           (request->decoded || check_declared_encoding(front, front->source)) &&
           check_bytes(front, front->source, request->filename);
}

/* ---- The unit ---- */

static void release_arena(void *context, void *arena) {
    (void)context;
    dv_arena_free(arena);
}

static void *allocate(void *arena, size_t size) { return dv_arena_alloc(arena, size); }

static dv_unit *new_unit(dv_front *front, const dv_lang_request *request) {
    dv_unit *unit = dv_front_keep(front, sizeof *unit);
    char *filename = dv_front_keep(front, (size_t)request->filename.size + 1);
    if (unit == NULL || filename == NULL) return NULL;
    memcpy(filename, request->filename.data, request->filename.size);
    unit->filename = (dv_text){filename, request->filename.size};
    if (request->quote_source) unit->source = front->source;
    unit->references = 1;
    unit->arena = front->keep;
    unit->allocate = allocate;
    unit->release_arena = release_arena;
    return unit;
}

/* ---- The passes ---- */

static bool is_mode(const dv_lang_request *request, const char *mode) {
    return strcmp(request->mode, mode) == 0;
}

/* Nothing may stand behind the statement of mode "single". */
static bool check_single(dv_front *front, const dv_block *module) {
    if (module->count == 0) return fail_at(front, 1, "invalid syntax");
    dv_range at = module->items[0]->at;
    for (uint32_t i = 1; i < module->count; i++) {
        const dv_range next = module->items[i]->at;
        if (next.line > at.end_line) {
            at = (dv_range){at.end_line, at.end_column, at.end_line, at.end_column};
            dv_front_error(front, at,
                           "multiple statements found while compiling a single statement");
            return false;
        }
        at = next;
    }
    return true;
}

static dv_unit *run_passes(dv_front *front, const dv_lang_request *request) {
    dv_block module = {0};
    const bool single = is_mode(request, "single");
    const bool literal = is_mode(request, "literal");
    front->expression = literal || is_mode(request, "eval");
    front->unended = front->expression || single;
    front->evaluated = front->unended || is_mode(request, "exec");
    if (!prepare_source(front, request)) return NULL;
    if (!dv_name_table_make(front) || !dv_parser_run(front, &module)) return NULL;
    if (single && !check_single(front, &module)) return NULL;
    if (literal && !dv_literal_check(front, module.items[0]->as.expr)) return NULL;
    front->parsed = true;
    const dv_scope *scope = dv_scope_run(front, &module);
    if (scope == NULL || !dv_fold_run(front, &module)) return NULL;
    dv_unit *unit = new_unit(front, request);
    const bool interactive = single || is_mode(request, "interactive");
    if (unit == NULL || !dv_compile_module(front, unit, scope, &module, interactive)) return NULL;
    return front->status == DV_LANG_OK ? unit : NULL; /* a warning may have become an error */
}

dv_lang_status dv_lang_compile(const dv_lang_request *request, dv_unit **unit,
                               dv_lang_error *error) {
    dv_front front = {0};
    front.optimize = request->optimize;
    front.warn = request->warn;
    front.warn_context = request->warn_context;
    front.scratch = dv_arena_new(&request->allocator);
    front.keep = dv_arena_new(&request->allocator);
    dv_unit *made = NULL;
    if (front.scratch == NULL || front.keep == NULL)
        front.status = DV_LANG_NO_MEMORY;
    else
        made = run_passes(&front, request);
    assert((made != NULL) == (front.status == DV_LANG_OK));
    if (made != NULL) *unit = made;
    if (front.status == DV_LANG_ERROR) dv_front_report(&front, error);
    if (front.scratch != NULL) dv_arena_free(front.scratch);
    if (front.keep != NULL && front.status != DV_LANG_OK) dv_arena_free(front.keep);
    return front.status;
}
