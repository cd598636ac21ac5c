/* squeeze.h: the texts of library modules, made smaller for the binary (modules/frozen.h). */
#ifndef DV_PACK_SQUEEZE_H
#define DV_PACK_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that dv_frozen_restore reads, with room after them, for the caller to free; NULL: no
 * memory. */
uint8_t *squeeze(const char *text, size_t size, size_t *squeezed_size);

#endif
