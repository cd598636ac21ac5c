/* frozen.h: the library modules that are written in dl (lang/lib), in the binary, and those of
 * extensions, in theirs (gen/pack/freeze.py, gen/pack/pack.c).
 *
 * Most texts and units are squeezed (code/squeezed.h): tracebacks alone need the texts, into which
 * names in code objects point.  Positions of instructions are always, for few are asked for.
 */
#ifndef DV_MODULES_FROZEN_H
#define DV_MODULES_FROZEN_H

#include "core/vm.h"
#include "types/text/str.h"

/* A module: its source text and its unit (code/pack.h), which may be squeezed, and positions, which
 * are; their sizes as they were. */
typedef struct dv_frozen {
    const char *name;
    const uint8_t *text, *code, *positions;
    uint32_t text_size, code_size, positions_size;
    bool squeezed;
} dv_frozen;

/* The symbol `dvx_library` of an extension: its package in dl, for the build that compiled it. */
typedef struct dv_packed_library {
    uint64_t format;          /* DV_CODE_FORMAT */
    const dv_frozen *modules; /* sorted and ended likewise */
} dv_packed_library;

/* NULL: it is not among them. */
static inline const dv_frozen *dv_frozen_find(const dv_frozen *modules, dv_value name) {
    while (modules->name && !dv_str_is(name, modules->name)) modules++;
    return modules->name ? modules : NULL;
}

extern const dv_frozen dv_frozen_modules[]; /* sorted by name; ends with an entry without a name */

/* The texts as they are in lang/lib: in the program that the build makes of pack.c alone. */
typedef struct dv_library_text {
    const char *name, *text;
    size_t size;
} dv_library_text;
extern const dv_library_text dv_library_texts[]; /* sorted and ended likewise */

#endif
