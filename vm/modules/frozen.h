/* frozen.h: the library modules that are written in dl (lang/lib), in the binary
 * (gen/pack/freeze.py, gen/pack/pack.c).
 */
#ifndef DV_MODULES_FROZEN_H
#define DV_MODULES_FROZEN_H

#include "core/vm.h"

extern const dv_frozen dv_frozen_modules[]; /* sorted by name; ends with an entry without a name */
/* The same, compiled (code/pack.h); ends with an entry without data. */
typedef struct dv_frozen_unit {
    const uint8_t *data;
    size_t size;
} dv_frozen_unit;
extern const dv_frozen_unit dv_frozen_units[];

#endif
