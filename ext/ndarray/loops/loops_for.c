/* loops_for.c: the loops for one instruction set (loops.h); compiled once for each. */
#include "loops.inc"
