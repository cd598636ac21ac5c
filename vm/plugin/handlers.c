/* handlers.c: the instructions around portable derivatives, and those in the place of loads that
 * are dropped.  Compiled once for each form, like the generated handlers (gen/README.md).
 *
 * Invariants
 *  1. The types of the operands are compared before `run` is called, and the site's cells are not
 *     read after it: it may have changed them.
 *  2. What is slow is in operate.c, in trampoline form. */
#include "plugin/handlers.h"

/* The operand stack holds N operands, of which the mask in the site says which are owned. */
#define PORTABLE(name, inputs, outputs, length)                                       \
    OP(name) {                                                                        \
        enum { N = (inputs), OUT = (outputs) };                                       \
        BEGIN();                                                                      \
        const dv_extension_site *o = dv_occurrence_at(ip);                            \
        const dv_value *operands = sp - N;                                            \
        r = (int64_t)(intptr_t)o;                                                     \
        if (DV_UNLIKELY(!dv_occurrence_fits(&o->seen, operands, N) || GUARD_FAILS())) \
            TAIL(dv_operate_miss);                                                    \
        const uint8_t own = ip[1].extended.own;                                       \
        PUBLISH();                                                                    \
        const dv_value result = dv_operate_run(vm, o, operands);                      \
        if (DV_UNLIKELY(dv_operate_is_rare(result))) {                                \
            d = 0;                                                                    \
            if (dv_is_empty(result)) TAIL(dv_slow_raise);                             \
            TAIL(dv_operate_miss);                                                    \
        }                                                                             \
        for (int i = 0; i < N; i++)                                                   \
            if (own >> i & 1) dv_release(vm, operands[i]);                            \
        ip += (length);                                                               \
        sp -= N - OUT;                                                                \
        if (OUT) sp[-1] = result;                                                     \
        DEAD();                                                                       \
        GO();                                                                         \
    }

PORTABLE(extension_1, 1, 1, DV_OPERATOR_LENGTH)
PORTABLE(extension_2, 2, 1, DV_OPERATOR_LENGTH)
PORTABLE(extension_3, 3, 0, DV_OPERATOR_LENGTH)
PORTABLE(extension_attribute, 1, 1, DV_ATTRIBUTE_LENGTH)

/* A load whose value nobody needs: the entry stays, so that depths and tables stay as they are. */
#define DROPPED(name, count, cells)                         \
    OP(name) {                                              \
        BEGIN();                                            \
        for (int i = 0; i < (count); i++) sp[i] = DV_EMPTY; \
        sp += (count);                                      \
        ip += (cells);                                      \
        DEAD();                                             \
        GO();                                               \
    }

DROPPED(dropped_1, 1, DV_DROP_LENGTH)
/* Several directly in front of the site: one instruction for all. */
DROPPED(dropped_2, 2, 2 * DV_DROP_LENGTH)
DROPPED(dropped_3, 3, 3 * DV_DROP_LENGTH)
DROPPED(dropped_global, 1, DV_DROP_GLOBAL_LENGTH)

/* What several instructions make of constants. */
#define GROUP(cells) DROPPED(dropped_group_##cells, 1, cells)
/* clang-format off */
GROUP(5) GROUP(6) GROUP(7) GROUP(8) GROUP(9) GROUP(10) GROUP(11) GROUP(12) GROUP(13)
GROUP(14) GROUP(15) GROUP(16) GROUP(17) GROUP(18) GROUP(19) GROUP(20) GROUP(21) GROUP(22)
GROUP(23) GROUP(24) GROUP(25) GROUP(26) GROUP(27) GROUP(28) GROUP(29) GROUP(30) GROUP(31)
GROUP(32) GROUP(33) GROUP(34) GROUP(35) GROUP(36) GROUP(37) GROUP(38) GROUP(39) GROUP(40)
    /* clang-format on */

    /* The same of a callee, with the two reserved entries of its call. */
    OP(dropped_callee) {
    BEGIN();
    sp[0] = DV_EMPTY;
    sp += 3;
    ip += DV_DROP_GLOBAL_LENGTH;
    DEAD();
    GO();
}
