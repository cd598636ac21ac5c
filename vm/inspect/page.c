/* page.c: lines of text (page.h). */
#include "inspect/page.h"

#include <stdarg.h>
#include <stdio.h>

enum { FOR_COLOURS = 64 }; /* bytes of a line that text does not take */

static const char *const escapes[] = {
    [DV_COLOUR_PLAIN] = "\033[0m",   [DV_COLOUR_SOURCE] = "\033[1m",
    [DV_COLOUR_FAST] = "\033[32m",   [DV_COLOUR_SLOW] = "\033[31m",
    [DV_COLOUR_REGION] = "\033[36m", [DV_COLOUR_HEADING] = "\033[1;4m",
};

static bool continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

void dv_line_text(dv_line *line, const char *utf8, size_t size) {
    size_t end = sizeof line->text - FOR_COLOURS;
    size_t room = line->size < end ? end - line->size : 0;
    if (size > room) size = room;
    memcpy(line->text + line->size, utf8, size);
    line->size += size;
    for (size_t i = 0; i < size; i++) line->width += !continues(utf8[i]);
}

void dv_line_put(dv_line *line, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    dv_line_text(line, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

void dv_line_column(dv_line *line, uint32_t column) {
    uint32_t gap = line->width + 2 <= column ? column - line->width : 2;
    while (gap--) dv_line_text(line, " ", 1);
}

void dv_line_colour(dv_line *line, const dv_page *page, dv_colour colour) {
    if (!page->coloured) return;
    size_t size = strlen(escapes[colour]);
    if (size > sizeof line->text - line->size) return;
    memcpy(line->text + line->size, escapes[colour], size);
    line->size += size;
    line->tinted = true;
}

void dv_page_line(const dv_page *page, dv_line *line) {
    while (line->size && line->text[line->size - 1] == ' ') line->size--;
    page->out(page->context, line->text, line->size);
    if (line->tinted) dv_page_text(page, escapes[DV_COLOUR_PLAIN]);
    page->out(page->context, "\n", 1);
    line->size = 0;
    line->width = 0;
    line->tinted = false;
}

void dv_page_text(const dv_page *page, const char *text) {
    page->out(page->context, text, strlen(text));
}

void dv_page_colour(const dv_page *page, dv_colour colour) {
    if (page->coloured) dv_page_text(page, escapes[colour]);
}

static bool is_text(dv_text text, const char *wanted) {
    size_t size = strlen(wanted);
    return size == text.size && !memcmp(wanted, text.data, size);
}

bool dv_page_wants(const dv_page *page, const dv_code *code) {
    if (page->unit && page->unit != code->unit) return false;
    return !page->function || is_text(code->name, page->function) ||
           is_text(code->qualname, page->function);
}
