/* squeeze.h: library modules, made smaller for the binary (code/squeezed.h). */
#ifndef DV_PACK_SQUEEZE_H
#define DV_PACK_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that dv_squeezed_restore reads, with room after them, for the caller to free; NULL: no
 * memory. */
uint8_t *squeeze(const uint8_t *text, size_t size, size_t *squeezed_size);

#endif
