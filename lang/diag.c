/* diag.c: shared memory helpers and the recording of problems (diag.h). */
#include "lang/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *checked(dv_front *front, void *block) {
    if (block == NULL && front->status == DV_LANG_OK) front->status = DV_LANG_NO_MEMORY;
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
    if (front->status != DV_LANG_OK) return;
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

/* Cuts an overlong message where a code point ends. */
static void trim_message(char *message, size_t size) {
    if (strlen(message) + 1 < size) return;
    size_t end = size - 1;
    while (end > 0 && ((unsigned char)message[end - 1] & 0xC0) == 0x80) end--;
    if (end > 0 && (unsigned char)message[end - 1] >= 0xC0) end--;
    message[end] = '\0';
}

void dv_front_report(const dv_front *front, dv_lang_error *error) {
    const dv_problem *problem = &front->problem;
    error->type = problem->type;
    memcpy(error->message, problem->message, sizeof error->message);
    trim_message(error->message, sizeof error->message);
    bool own_text = problem->text.size > 0 && problem->text.size < sizeof error->text;
    dv_text text = own_text ? problem->text : front->source;
    uint32_t start = own_text ? 0 : find_line(text, problem->at.line);
    uint32_t end_start = own_text ? 0 : find_line(text, problem->at.end_line);
    bool bytes = !problem->points && (front->byte_columns || problem->text.size > 0);
    error->line = problem->at.line;
    error->column = shown_column(text, start, problem->at.column, bytes);
    error->end_line = problem->at.end_line;
    error->end_column = shown_column(text, end_start, problem->at.end_column, bytes);
    memset(error->text, 0, sizeof error->text);
    if (own_text) memcpy(error->text, text.data, text.size);
}
