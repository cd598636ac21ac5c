/* diag.c: shared memory helpers and the recording of problems (diag.h). */
#include "lang/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *checked(dv_front *front, void *block) {
    if (block == NULL) front->status = DV_LANG_NO_MEMORY;
    return block;
}

void *dv_front_scratch(dv_front *front, size_t size) {
    return checked(front, dv_arena_alloc(front->scratch, size));
}

void *dv_front_keep(dv_front *front, size_t size) {
    return checked(front, dv_arena_alloc(front->keep, size));
}

bool dv_front_reserve(dv_front *front, void **items, uint32_t count, uint32_t *capacity,
                      size_t size) {
    if (count < *capacity) return true;
    uint32_t wanted = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = wanted <= *capacity
                      ? NULL
                      : dv_arena_grow(front->scratch, *items, *capacity * size, wanted * size);
    if (checked(front, grown) == NULL) return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

dv_range dv_range_join(dv_range from, dv_range to) {
    return (dv_range){from.line, from.column, to.end_line, to.end_column};
}

void dv_front_problem(dv_front *front, const dv_problem *problem) {
    if (front->status != DV_LANG_OK) return;
    front->status = DV_LANG_ERROR;
    front->problem = *problem;
}

void dv_front_error(dv_front *front, dv_range at, const char *format, ...) {
    dv_problem problem = {.type = "SyntaxError", .at = at};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message, sizeof problem.message, format, arguments);
    va_end(arguments);
    dv_front_problem(front, &problem);
}

/* The line's first byte; the end of the source for a line that is not there. */
static uint32_t find_line(dv_text source, uint32_t line) {
    const char *at = source.data, *end = source.data + source.size;
    for (uint32_t number = 1; number < line; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) return source.size;
        at = newline + 1;
    }
    return (uint32_t)(at - source.data);
}

/* The column from 1, in code points or bytes, of a column in bytes, from 0, of a line. */
static uint32_t shown_column(dv_text text, uint32_t start, uint32_t column, bool bytes) {
    if (column == DV_NO_COLUMN) return 0;
    if (bytes) return column + 1;
    uint32_t points = 0, i = 0;
    for (; i < column && start + i < text.size && text.data[start + i] != '\n'; i++)
        points += ((unsigned char)text.data[start + i] & 0xC0) != 0x80;
    return points + (column - i) + 1;
}

/* CPython counts the characters of the column in the line with its mark, which is three bytes and a
 * character, but has counted its bytes without it. */
static uint32_t behind_mark(dv_text text, uint32_t column) {
    if (column == DV_NO_COLUMN) return 0;
    return column < 2 ? 1 : shown_column(text, 0, column - 2, false);
}

/* Cuts an overlong message where a code point ends; at least every fourth byte begins one. */
static void trim_message(char *message, size_t size) {
    if (strlen(message) + 1 < size) return;
    size_t end = size - 1;
    while (((unsigned char)message[end - 1] & 0xC0) == 0x80) end--;
    if ((unsigned char)message[end - 1] >= 0xC0) end--;
    message[end] = '\0';
}

/* The column from 1 that is shown for a column of a line of `text`. */
static uint32_t place_column(const dv_front *front, dv_text text, uint32_t line, uint32_t column) {
    const dv_problem *problem = &front->problem;
    bool own_text = text.data != front->source.data;
    bool bytes = front->parsed || (!problem->points && (front->byte_columns || own_text));
    if (problem->bytes) return shown_column(text, 0, column, true);
    if (front->has_mark && line == 1 && !bytes && !problem->points)
        return behind_mark(text, column);
    return shown_column(text, own_text ? 0 : find_line(text, line), column, bytes);
}

/* The text to show instead of the line of the source; the lexer never saw the mark. */
static dv_text choose_text(const dv_front *front) {
    const dv_problem *problem = &front->problem;
    if (!front->has_mark || !problem->points || problem->at.line != 1) return problem->text;
    const char *end = memchr(front->source.data, '\n', front->source.size);
    return (dv_text){front->source.data, (uint32_t)(end + 1 - front->source.data)};
}

void dv_front_report(const dv_front *front, dv_lang_error *error) {
    const dv_problem *problem = &front->problem;
    error->type = problem->type;
    memcpy(error->message, problem->message, sizeof error->message);
    trim_message(error->message, sizeof error->message);
    dv_text shown = choose_text(front);
    if (shown.size >= sizeof error->text) shown.size = 0;
    dv_text text = shown.size > 0 && problem->text.size > 0 ? shown : front->source;
    error->late = front->parsed;
    error->line = problem->at.line;
    error->column = place_column(front, text, problem->at.line, problem->at.column);
    error->end_line = problem->at.end_line;
    error->end_column = place_column(front, text, problem->at.end_line, problem->at.end_column);
    memset(error->text, 0, sizeof error->text);
    if (shown.size > 0) memcpy(error->text, shown.data, shown.size);
}
