/* refuse.c: the one table of constructs that Python has and dl has not (refuse.h).
 *
 * A construct that dl gets leaves this table when the compiler can handle it; one that dl never
 * gets stays with `later` false.  The language reference in README.md lists the same rows. */
#include "lang/refuse.h"

typedef struct refusal {
    const char *what;
    bool later;
} refusal;

static const refusal refusals[] = {
    [DV_REFUSE_ASYNC_DEF] = {"'async def' is", false},
    [DV_REFUSE_ASYNC_FOR] = {"'async for' is", false},
    [DV_REFUSE_ASYNC_WITH] = {"'async with' is", false},
    [DV_REFUSE_AWAIT] = {"'await' is", false},
    [DV_REFUSE_MATCH] = {"'match' is", false},
    [DV_REFUSE_EXCEPT_STAR] = {"'except*' is", false},
    [DV_REFUSE_NAMED_CHARACTER] = {"'\\N{...}' in a string is", true},
};

void dv_refuse(dv_front *front, dv_range at, dv_refusal what) {
    const refusal *row = &refusals[what];
    dv_front_error(front, at, "%s not part of dl%s", row->what, row->later ? " yet" : "");
}
