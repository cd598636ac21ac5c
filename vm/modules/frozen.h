/* frozen.h: the library modules that are written in dl (lang/lib), in the binary (gen/freeze.py).
 */
#ifndef DV_MODULES_FROZEN_H
#define DV_MODULES_FROZEN_H

#include "core/vm.h"

extern const dv_frozen dv_frozen_modules[]; /* sorted by name; ends with an entry without a name */

#endif
