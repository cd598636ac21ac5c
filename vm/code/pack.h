/* pack.h: units as bytes: the library modules in dl are compiled when dynvm is built (gen/pack.c)
 * and read from the binary when a program imports them.
 *
 * Numbers are written in groups of 7 bits, the lowest first, the others marked by bit 7; signed
 * ones as 2n or -2n-1.  A text is its size * 2, + 1 if its bytes follow, otherwise where it begins
 * in the source.  The order of everything is that of the functions in pack.c, which are alike in
 * both directions.
 *
 * Invariants
 *  1. What is read was written by the same build from a verified unit, and is not verified again.
 *  2. The source and the bytes outlive the unit, which points into them. */
#ifndef DV_CODE_PACK_H
#define DV_CODE_PACK_H

#include "code/code.h"

/* Gets the bytes one by one. */
typedef void (*dv_pack_sink)(void *context, uint8_t byte);

void dv_unit_pack(const dv_unit *unit, dv_pack_sink sink, void *context);

/* Memory for an unpacked unit, the unit at its beginning. */
size_t dv_unit_unpack_size(const uint8_t *data);
/* Makes the unit, with one reference, in that memory (zeroed); the caller sets what releases it. */
dv_unit *dv_unit_unpack(const uint8_t *data, dv_text source, void *memory);

#endif
