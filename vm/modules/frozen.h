/* frozen.h: the library modules that are written in dl (lang/lib), in the binary
 * (gen/pack/freeze.py, gen/pack/pack.c).
 *
 * Most texts are kept squeezed, as tracebacks alone need them and names in code objects point into
 * them.  Such a one is a sequence of parts: a byte of two digits, characters as they are (as many
 * as the high digit says), then two bytes, the low one first, that say how far back to copy from,
 * and as many characters as the low digit says plus 4.  A digit of 15 goes on in bytes that are
 * added to it, up to the first below 255: those of the high digit follow the byte, those of the low
 * one the distance.  The text ends after the characters of a part.
 *
 * Invariants
 *  1. Squeezed bytes are right: gen/pack/pack.c restores and compares each text that it squeezed.
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

/* So many bytes are after each squeezed text, and room after the restored one, where they are 0. */
enum { DV_FROZEN_SLACK = 8 };

/* The text of a module; there is room for all of it and DV_FROZEN_SLACK. */
void dv_frozen_restore(const uint8_t *squeezed, char *text, size_t size);

#endif
