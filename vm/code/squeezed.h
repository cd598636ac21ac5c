/* squeezed.h: bytes in which what is said again is a distance and a length: how the texts of
 * library modules and most of their units are in the binary (gen/pack/squeeze.c writes them).
 *
 * They are a sequence of parts: a byte of two digits, bytes as they are (as many as the high digit
 * says), then two bytes, the low one first, that say how far back to copy from, and as many bytes
 * as the low digit says plus 4.  A digit of 15 goes on in bytes that are added to it, up to the
 * first below 255: those of the high digit follow the byte, those of the low one the distance.  The
 * whole ends after the bytes of a part.
 *
 * Invariants
 *  1. Squeezed bytes are right: gen/pack/pack.c restores and compares all that it squeezed.
 */
#ifndef DV_CODE_SQUEEZED_H
#define DV_CODE_SQUEEZED_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes are after what is squeezed, and room after what is restored, where they are 0. */
enum { DV_SQUEEZED_SLACK = 8 };

/* What has been squeezed; there is room for all of it and DV_SQUEEZED_SLACK. */
void dv_squeezed_restore(const uint8_t *squeezed, void *to, size_t size);

#endif
