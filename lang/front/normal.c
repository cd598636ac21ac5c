/* normal.c: the normal form of identifiers (normal.h). */
#include "lang/front/normal.h"

#include "base/forms.h"
#include "lang/front/chars.h"

bool dv_normalise(dv_front *front, dv_text *name) {
    uint32_t *points = dv_front_scratch(front, (size_t)name->size * DV_FORMS_LONGEST * 4 * 2);
    if (points == NULL) return false;
    uint32_t count = 0;
    for (const char *at = name->data, *end = at + name->size; at < end;) {
        uint32_t point;
        at += dv_chars_decode(at, end, &point);
        count += dv_forms_decompose(point, true, points + count);
    }
    dv_forms_sort(points, count, points + count);
    count = dv_forms_compose(points, count);
    char *text = dv_front_keep(front, (size_t)count * 4);
    if (text == NULL) return false;
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; i++) size += (uint32_t)dv_chars_encode(points[i], text + size);
    *name = (dv_text){text, size};
    return true;
}
