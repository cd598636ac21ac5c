/* handlers.h: the instructions of handlers.c, by form, and what they call. */
#ifndef DV_PLUGIN_HANDLERS_H
#define DV_PLUGIN_HANDLERS_H

#include "plugin/occurrence.h"

enum { DV_DROP_LENGTH = 2, DV_DROP_GLOBAL_LENGTH = 5 }; /* cells of the loads */

/* clang-format off */
#define DV_EXTENSION_HANDLERS(X) \
    X(extension_1) X(extension_2) X(extension_3) X(extension_attribute) \
    X(dropped_1) X(dropped_2) X(dropped_3) X(dropped_global) X(dropped_callee) \
    X(dropped_group_5) X(dropped_group_6) X(dropped_group_7) X(dropped_group_8) \
    X(dropped_group_9) X(dropped_group_10) X(dropped_group_11) X(dropped_group_12) \
    X(dropped_group_13) X(dropped_group_14) X(dropped_group_15) X(dropped_group_16) \
    X(dropped_group_17) X(dropped_group_18) X(dropped_group_19) X(dropped_group_20) \
    X(dropped_group_21) X(dropped_group_22) X(dropped_group_23) X(dropped_group_24) \
    X(dropped_group_25) X(dropped_group_26) X(dropped_group_27) X(dropped_group_28) \
    X(dropped_group_29) X(dropped_group_30) X(dropped_group_31) X(dropped_group_32) \
    X(dropped_group_33) X(dropped_group_34) X(dropped_group_35) X(dropped_group_36) \
    X(dropped_group_37) X(dropped_group_38) X(dropped_group_39) X(dropped_group_40)
/* clang-format on */
/* (One for each number of cells, as there is no cell that could hold it.) */
enum { DV_LEAST_GROUP = 5, DV_MOST_GROUP = 40 };

#define DV_DECLARE(name) \
    const dv_cell *dv_h_##name(DV_HANDLER_PARAMETERS), *dv_ht_##name(DV_HANDLER_PARAMETERS);
DV_EXTENSION_HANDLERS(DV_DECLARE)
#undef DV_DECLARE

typedef enum dv_extension_handler {
#define DV_NAME(name) DV_X_##name,
    DV_EXTENSION_HANDLERS(DV_NAME)
#undef DV_NAME
        DV_X_COUNT
} dv_extension_handler;

/* operate.c: runs the portable twin and checks what it says.  The result is new; EMPTY: raised;
 * DV_DEOPTIMISED: it has done nothing. */
#define DV_DEOPTIMISED ((dv_value){DV_TAG_SPECIAL | 7})
dv_value dv_operate_run(dv_vm *vm, const dv_extension_site *o, const dv_value *operands);
/* The instruction itself for this once, and a miss for the site.  r: the occurrence. */
const dv_cell *dv_operate_miss(DV_HANDLER_PARAMETERS);
static inline bool dv_operate_is_rare(dv_value v) {
    return dv_is_empty(v) || v.bits == DV_DEOPTIMISED.bits;
}

/* The handler for this cell, in the form that the VM runs. */
dv_handler dv_extension_handler_of(const dv_vm *vm, const dv_cell *at, dv_extension_handler which);
/* Which one it is, in either form; DV_X_COUNT: none. */
dv_extension_handler dv_extension_handler_is(dv_handler handler);

#endif
