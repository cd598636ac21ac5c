/* forms.h: normal forms of text (Unicode Standard Annex 15): what characters consist of, and what
 * composes.  A form is made by decomposing each character, sorting, and perhaps composing. */
#ifndef DV_BASE_FORMS_H
#define DV_BASE_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "unicode_forms.h"

/* What a character consists of in one step, `*count` points, and the tag of that, "-" if it is
 * canonical; NULL: of nothing else (or by rule: syllables of Hangul). */
const uint32_t *dv_forms_step(uint32_t point, uint32_t *count, const char **tag);

/* Writes what it comes to in all steps, at most DV_FORMS_LONGEST points; how many.  `compatible`:
 * also without formatting. */
uint32_t dv_forms_decompose(uint32_t point, bool compatible, uint32_t *out);

/* The combining class; 0: it is no mark. */
uint32_t dv_forms_class(uint32_t point);

/* Puts marks into the order of their classes.  `scratch` has room for as many points. */
void dv_forms_sort(uint32_t *points, uint32_t count, uint32_t *scratch);

/* Composes sorted points in place; how many are left. */
uint32_t dv_forms_compose(uint32_t *points, uint32_t count);

#endif
