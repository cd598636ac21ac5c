/* statistics.h: what describes samples: median, percentile, quantile, average, cov, corrcoef
 * (statistics.c); histogram, bincount, digitize (histogram.c).
 *
 * Invariants
 *  1. Formulas, and the order of operations in them, are NumPy's, so that digits are. */
#ifndef ND_STATISTICS_H
#define ND_STATISTICS_H

#include "array/array.h"

/* An element of a real dtype as a double. */
double statistics_number(const nd_array *a, int64_t i);

bool statistics_register(dvx_vm *vm, dvx_value module);
bool histogram_register(dvx_vm *vm, dvx_value module);

#endif
