/* dtoa_powers.h: the table of powers of ten that dtoa.c reads and writes doubles with. */
#ifndef DV_BASE_DTOA_POWERS_H
#define DV_BASE_DTOA_POWERS_H

#include <stdint.h>

#define DV_DTOA_POWER_MIN (-342)
#define DV_DTOA_POWER_MAX 324

typedef struct dv_dtoa_power {
    uint64_t high, low;
} dv_dtoa_power;

/* The 128 leading bits of 10^q, cut off, at index q - DV_DTOA_POWER_MIN. */
extern const dv_dtoa_power dv_dtoa_powers[DV_DTOA_POWER_MAX - DV_DTOA_POWER_MIN + 1];

#endif
