/* page.h: where a tool writes its report: lines of text, coloured on a terminal, or one JSON
 * document. */
#ifndef DV_INSPECT_PAGE_H
#define DV_INSPECT_PAGE_H

#include "core/vm.h"

typedef struct dv_page {
    dv_output out;
    void *context;
    const char *function; /* only this one, by name or qualified name; NULL: all */
    dv_text text;         /* of a unit that does not keep its source */
    const dv_unit *unit;  /* only functions of this one; NULL: all */
    uint32_t top;         /* rows of a table of text */
    bool json, coloured;
    bool assembly; /* of code: as dv_assembly_read takes it */
    bool where;    /* of code: with the lines of this repository that it comes from */
} dv_page;

/* A line that is being written; what does not fit is dropped. */
typedef struct dv_line {
    size_t size;
    uint32_t width; /* code points that are seen */
    bool tinted;    /* it has a colour: the next line begins without one */
    char text[1280];
} dv_line;

void dv_line_put(dv_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dv_line_text(dv_line *line, const char *utf8, size_t size);
/* Spaces up to a column; at least two if the line has come as far already. */
void dv_line_column(dv_line *line, uint32_t column);

/* What colours mean, the same in all tools. */
typedef enum dv_colour {
    DV_COLOUR_PLAIN,
    DV_COLOUR_SOURCE, /* what the program's author wrote */
    DV_COLOUR_FAST,   /* a derivative that fits */
    DV_COLOUR_SLOW,   /* what costs: generic execution, misses */
    DV_COLOUR_REGION, /* unboxed code */
    DV_COLOUR_HEADING
} dv_colour;
/* Nothing where pages are not coloured. */
void dv_line_colour(dv_line *line, const dv_page *page, dv_colour colour);

/* Writes the line, without spaces at its end, and empties it. */
void dv_page_line(const dv_page *page, dv_line *line);
void dv_page_text(const dv_page *page, const char *text);   /* as it is */
void dv_page_colour(const dv_page *page, dv_colour colour); /* of all until the next one */

/* Does the page show this function? */
bool dv_page_wants(const dv_page *page, const dv_code *code);

#endif
