/* frozen.h: the library modules that are written in dl (lang/lib), in the binary (gen/freeze.py,
 * gen/pack.c).
 */
#ifndef DV_MODULES_FROZEN_H
#define DV_MODULES_FROZEN_H

#include "core/vm.h"

extern const dv_frozen dv_frozen_modules[]; /* sorted by name; ends with an entry without a name */
/* The same, compiled (code/pack.h); NULL ends them. */
extern const uint8_t *const dv_frozen_units[];

#endif
