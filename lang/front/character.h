/* character.h: characters by name, as in "\N{DIGIT ONE}". */
#ifndef DV_LANG_CHARACTER_H
#define DV_LANG_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character with this name or alias; false: there is none. */
bool dv_character_find(const char *name, size_t size, uint32_t *point);

#endif
