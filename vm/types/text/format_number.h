/* format_number.h: doubles as text in all of format's and printf's styles; shared by the format*.c
 * files. */
#ifndef DV_TYPES_FORMAT_NUMBER_H
#define DV_TYPES_FORMAT_NUMBER_H

#include "core/vm.h"

/* ASCII text in `room`, or on the VM's heap where that is too small. */
typedef struct dv_number_text {
    char *data;
    size_t size, capacity;
    char room[400];
} dv_number_text;

enum {
    DV_DOUBLE_ALTERNATE = 1,        /* keep the point and zeros */
    DV_DOUBLE_POINT_ZERO = 2,       /* add ".0" to what would look like an int */
    DV_DOUBLE_NO_NEGATIVE_ZERO = 4, /* no sign if the digits are all 0 */
    DV_DOUBLE_PERCENT = 8           /* add '%' */
};

/* type: one of "eEfFgG", or 'r' for repr (precision ignored).  precision >= 0.  False: raised. */
bool dv_number_text_double(dv_vm *vm, dv_number_text *out, double d, char type, int precision,
                           unsigned flags) DV_MUST_CHECK;
/* Makes room for `capacity` characters; false: MemoryError. */
bool dv_number_text_room(dv_vm *vm, dv_number_text *out, size_t capacity) DV_MUST_CHECK;
void dv_number_text_drop(dv_vm *vm, dv_number_text *text);

#endif
