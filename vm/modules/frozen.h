/* frozen.h: the library modules that are written in dl (lang/lib), in the binary
 * (gen/pack/freeze.py, gen/pack/pack.c).
 *
 * Most texts and units are squeezed (code/squeezed.h): tracebacks alone need the texts, into which
 * names in code objects point.  Positions of instructions are always, for few are asked for.
 */
#ifndef DV_MODULES_FROZEN_H
#define DV_MODULES_FROZEN_H

#include "core/vm.h"

extern const dv_frozen dv_frozen_modules[]; /* sorted by name; ends with an entry without a name */

/* The texts as they are in lang/lib: in the program that the build makes of pack.c alone. */
typedef struct dv_library_text {
    const char *name, *text;
    size_t size;
} dv_library_text;
extern const dv_library_text dv_library_texts[]; /* sorted and ended likewise */

#endif
