/* json.h: writing a JSON document to a page, value by value.
 *
 * Invariants
 *  1. Keys are ASCII without quotes or backslashes; NULL within arrays and for the document itself.
 *  2. The document is one line of valid UTF-8: what a str may hold beyond that (lone surrogates)
 *     is escaped. */
#ifndef DV_INSPECT_JSON_H
#define DV_INSPECT_JSON_H

#include "inspect/page.h"

typedef struct dv_json {
    const dv_page *page;
    bool begun; /* the innermost array or object has an item */
} dv_json;

void dv_json_begin(dv_json *json, const char *key, char bracket); /* '{' or '[' */
void dv_json_end(dv_json *json, char bracket);                    /* '}' or ']' */
void dv_json_number(dv_json *json, const char *key, uint64_t number);
void dv_json_bool(dv_json *json, const char *key, bool truth);
void dv_json_null(dv_json *json, const char *key);
void dv_json_text(dv_json *json, const char *key, const char *utf8, size_t size);
void dv_json_string(dv_json *json, const char *key, const char *text);
/* Ends the document's line. */
void dv_json_finish(dv_json *json);

#endif
