/* diag.h: what the passes of one compilation share: memory, the source, the first problem found.
 *
 * Invariants
 *  1. The first problem counts: later ones are dropped, so a pass may go on a little after one.
 *  2. Ranges count lines from 1 and columns in bytes from 0; they become code points at the very
 * end, where CPython's do. */
#ifndef DV_LANG_DIAG_H
#define DV_LANG_DIAG_H

#include "lang/arena.h"

typedef struct dv_range {
    uint32_t line, column, end_line, end_column;
} dv_range;

/* An end column of DV_NO_COLUMN: only the start of the problem is known. */
#define DV_NO_COLUMN UINT32_MAX

typedef struct dv_problem {
    const char *type;
    char message[256];
    dv_range at;
    bool vague;   /* the parser's: explain.h knows what CPython says */
    bool bytes;   /* its columns are counted in bytes, always */
    bool points;  /* its columns are counted in code points, always (see byte_columns) */
    dv_text text; /* what the columns count in, unless empty: the line of the source */
} dv_problem;

typedef struct dv_name_table dv_name_table;

typedef struct dv_front {
    dv_arena *scratch; /* tokens, tree, scopes: gone when the unit is made */
    dv_arena *keep;    /* becomes the unit's arena */
    dv_text
        source; /* normalised: no byte order mark, lines end in \n, the last one too; in `keep` */
    dv_name_table *names;
    bool byte_columns; /* as CPython's parser reports them for a file that declares no encoding */
    bool has_mark;     /* the text began with a byte order mark, which its first line keeps there */
    int optimize;      /* lang.h */
    bool expression;   /* the source is one expression: mode "eval" */
    bool unended;      /* "eval" or "single" without a newline at its end: CPython adds none */
    bool evaluated;    /* names of the top level are those of a namespace that is given (lang.h) */
    bool parsed;       /* what is found now is CPython's compiler's, which counts bytes */
    bool (*warn)(void *context, uint32_t line, const char *message); /* or NULL (warn.h) */
    void *warn_context;
    void *lexer; /* lexer.c's state, used again for each f-string expression */
    dv_lang_status status;
    dv_problem problem; /* where status is DV_LANG_ERROR */
} dv_front;

/* Zeroed memory; NULL, with the status set, when there is none. */
void *dv_front_scratch(dv_front *front, size_t size);
void *dv_front_keep(dv_front *front, size_t size);

/* Grows an array of `size` byte elements in the scratch arena so that one more element fits. */
bool dv_front_reserve(dv_front *front, void **items, uint32_t count, uint32_t *capacity,
                      size_t size);

/* Record a problem. */
void dv_front_error(dv_front *front, dv_range at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dv_front_problem(dv_front *front, const dv_problem *problem);

/* The range from the start of one to the end of another. */
dv_range dv_range_join(dv_range from, dv_range to);

/* Fills in what the caller of dv_lang_compile sees. */
void dv_front_report(const dv_front *front, dv_lang_error *error);

#endif
