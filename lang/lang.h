/* lang.h: the front end, from source text to code objects.  The only header of lang/ that others
 * include.
 *
 * Invariants
 *  1. No global state: everything belongs to one call of dv_lang_compile or to the unit it returns.
 *  2. Every byte comes from the caller's allocator, the unit's arena included; the allocator must
 * stay valid until the unit is released.
 *  3. The C stack needed is bounded (less than 256 KB) whatever the source says.
 *  4. A source is compiled as CPython 3.11 would, or refused; nothing is silently misread. */
#ifndef DV_LANG_H
#define DV_LANG_H

#include "code/code.h"

/* resize(context, NULL, 0, n) allocates, resize(context, block, old, 0) frees and returns NULL.
 * NULL for a new_size other than 0 means that memory ran out; the old block is then still valid. */
typedef struct dv_lang_allocator {
    void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
    void *context;
} dv_lang_allocator;

typedef struct dv_lang_request {
    dv_text filename;
    dv_text source;    /* UTF-8; need not end in a zero byte */
    bool quote_source; /* keep the text in the unit, so that tracebacks can quote it */
    bool decoded;      /* it was a str: an encoding that it declares means nothing */
    /* "module"; "interactive": expression statements print their values; "exec", "single", which is
     * the one statement of an interactive line, and "eval", whose code is a function of one
     * argument: the namespace in which it binds names, or None: that of its module; "literal": the
     * same of an expression that literal_eval takes, or else it is a ValueError. */
    const char *mode;
    int optimize; /* 1: without assertions, __debug__ is False; 2: without docstrings, too */
    dv_lang_allocator allocator;
    /* Called for each SyntaxWarning when it is found, also in a source that turns out to be wrong;
     * false: it is an error.  NULL: nobody wants them. */
    bool (*warn)(void *context, uint32_t line, const char *message);
    void *warn_context;
} dv_lang_request;

typedef enum dv_lang_status { DV_LANG_OK, DV_LANG_ERROR, DV_LANG_NO_MEMORY } dv_lang_status;

/* Columns count code points from 1, as CPython's offset and end_offset; line 0: no place is known.
 */
typedef struct dv_lang_error {
    const char *type; /* "SyntaxError", "IndentationError", "TabError" or "ValueError" */
    char message[256];
    uint32_t line, column, end_line, end_column;
    bool late;      /* found in a source that is well-formed: Python quotes files alone then */
    char text[256]; /* what to show instead of the line of the source, unless empty */
} dv_lang_error;

/* Compiles a whole source.  DV_LANG_OK: *unit is a new unit with one reference, not yet verified
 * (code/verify.h).  DV_LANG_ERROR: *error says what is wrong.  Otherwise both are left alone. */
dv_lang_status dv_lang_compile(const dv_lang_request *request, dv_unit **unit,
                               dv_lang_error *error);

#endif
