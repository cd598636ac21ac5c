/* fuse.h: fusions: a derivative together with the loads in front of it, and the store behind it.
 *
 * `x = a + b` is LOAD_LOCAL_B, LOAD_LOCAL_B, ADD, STORE_LOCAL.  Where ADD has become ADD_INT, the
 * first load becomes LL_ADD_INT_STORE, which does the work of the four.  The cells of the others
 * stay as they are: a jump, a return or an exit of a region may go to any of them. (Superoperators:
 * Proebsting, "Optimizing an ANSI C Interpreter with Superoperators", 1995; here they are chosen at
 * run time, when the types are known, as in Casey, Ertl, Gregg, "Optimizing Indirect Branch
 * Prediction Accuracy in Virtual Machine Interpreters", 2007.)
 *
 * Invariants
 *  1. A fusion stands in a load's cell only while the derivative that it includes stands in its
 * own: they share its inline cache.  dv_site_put alone changes sites, and keeps this.
 *  2. A fusion has no guard state: where its guard fails it is the load alone, and the derivative
 *     behind finds the same, and counts the miss.
 *  3. A variant (dv_op_variant) may stand in the place of a derivative or a fusion, by what the
 * code has behind it; it tests the handlers there at each execution, and dv_op_of says the plain
 * one.
 */
#ifndef DV_QUICKEN_FUSE_H
#define DV_QUICKEN_FUSE_H

#include "run/thread.h"

/* The site at ip takes the form op: fusions with its old form go, those with the new one come.
 * `thread` owns ip; NULL: find out (a cell of a region has no fusions). */
void dv_site_put(dv_vm *vm, dv_thread *thread, dv_cell *ip, uint32_t op);

#endif
