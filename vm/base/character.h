/* character.h: characters by name, as in "\N{DIGIT ONE}", and names of characters. */
#ifndef DV_BASE_CHARACTER_H
#define DV_BASE_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character with this name or alias; false: there is none. */
bool dv_character_find(const char *name, size_t size, uint32_t *point);

/* Writes the character's name, not terminated; its size, 0: it has none.  (All entries in front of
 * it are passed: a tenth of a millisecond.) */
#define DV_CHARACTER_LONGEST 128
size_t dv_character_name(uint32_t point, char out[DV_CHARACTER_LONGEST]);

#endif
