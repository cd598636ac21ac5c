/* sha512.h: the hash function SHA-512, with which random seeds from text. */
#ifndef DV_BASE_SHA512_H
#define DV_BASE_SHA512_H

#include <stddef.h>
#include <stdint.h>

void dv_sha512(const uint8_t *data, size_t size, uint8_t digest[64]);

#endif
