/* lang.c: the front end's entry (lang.h): checks the source's encoding and runs the passes in
 * order. */
#include "lang/lang.h"

#include "lang/chars.h"
#include "lang/compile.h"
#include "lang/fold.h"
#include "lang/parser.h"

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

/* A declared encoding other than UTF-8 would change the meaning of every byte beyond ASCII. */
static bool check_declared_encoding(dv_front *front, dv_text source) {
    const char *at = source.data, *end = source.data + source.size;
    for (uint32_t line = 1; line <= 2 && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline, *c = at;
        while (c < stop && (*c == ' ' || *c == '\t' || *c == '\f')) c++;
        if (c < stop && *c != '#') return true;
        const char *found = NULL;
        for (; c + 7 < stop && found == NULL; c++)
            if (memcmp(c, "coding", 6) == 0 && (c[6] == ':' || c[6] == '=')) found = c + 7;
        if (found != NULL) {
            while (found < stop && (*found == ' ' || *found == '\t')) found++;
            size_t left = (size_t)(stop - found);
            char name[6] = {0};
            for (size_t i = 0, n = 0; i < left && n < 5; i++)
                if (found[i] != '-' && found[i] != '_') name[n++] = (char)(found[i] | 0x20);
            if (memcmp(name, "utf8", 4) == 0 || memcmp(name, "ascii", 5) == 0) {
                front->byte_columns = false;
                return true;
            }
            return fail_at(front, line, "a source encoding other than utf-8 is not part of dl");
        }
        at = stop + (newline != NULL);
    }
    return true;
}

static bool check_bytes(dv_front *front, dv_text source, dv_text filename) {
    const char *end = source.data + source.size;
    for (const char *at = source.data; at < end;) {
        uint32_t point, line;
        if (*at == '\0')
            return fail_at(front, line_of(source.data, (size_t)(at - source.data)),
                           "source code cannot contain null bytes");
        size_t size = dv_chars_decode(at, end, &point);
        if (size == 0) {
            line = line_of(source.data, (size_t)(at - source.data));
            dv_front_error(front, (dv_range){line, DV_NO_COLUMN, line, DV_NO_COLUMN},
                           "Non-UTF-8 code starting with '\\x%02x' in file %.*s on line %u, but no "
                           "encoding declared; see https://peps.python.org/pep-0263/ for details",
                           (unsigned)(unsigned char)*at, (int)filename.size, filename.data, line);
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
           check_bytes(front, front->source, request->filename) &&
           check_declared_encoding(front, front->source);
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
    if (request->filename.size > 0)
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

static dv_unit *run_passes(dv_front *front, const dv_lang_request *request) {
    dv_block module = {0};
    bool interactive = request->mode != NULL && strcmp(request->mode, "interactive") == 0;
    if (!prepare_source(front, request)) return NULL;
    if (!dv_name_table_make(front) || !dv_parser_run(front, &module)) return NULL;
    front->parsed = true;
    const dv_scope *scope = dv_scope_run(front, &module);
    if (scope == NULL || !dv_fold_run(front, &module)) return NULL;
    dv_unit *unit = new_unit(front, request);
    if (unit == NULL || !dv_compile_module(front, unit, scope, &module, interactive)) return NULL;
    return unit;
}

dv_lang_status dv_lang_compile(const dv_lang_request *request, dv_unit **unit,
                               dv_lang_error *error) {
    dv_front front = {0};
    front.warn = request->warn;
    front.warn_context = request->warn_context;
    front.scratch = dv_arena_new(&request->allocator);
    front.keep = dv_arena_new(&request->allocator);
    dv_unit *made = NULL;
    if (front.scratch == NULL || front.keep == NULL)
        front.status = DV_LANG_NO_MEMORY;
    else
        made = run_passes(&front, request);
    if (front.status == DV_LANG_OK && made != NULL) *unit = made;
    if (front.status == DV_LANG_ERROR) dv_front_report(&front, error);
    if (front.scratch != NULL) dv_arena_free(front.scratch);
    if (front.keep != NULL && front.status != DV_LANG_OK) dv_arena_free(front.keep);
    return front.status;
}
