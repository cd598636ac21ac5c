/* statistics.h: what describes samples: selection for medians and quantiles (statistics.c); the
 * counts of histogram, bincount, interp (histogram.c).
 *
 * Invariants
 *  1. Formulas, and the order of operations in them, are NumPy's, so that digits are. */
#ifndef ND_STATISTICS_H
#define ND_STATISTICS_H

#include "array/array.h"

bool statistics_register(dvx_vm *vm, dvx_value module);
bool histogram_register(dvx_vm *vm, dvx_value module);

#endif
