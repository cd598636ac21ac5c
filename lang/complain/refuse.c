/* refuse.c: the one table of constructs that Python has and dl has not (refuse.h).
 *
 * The language reference in README.md lists the same rows. */
#include "lang/complain/refuse.h"

static const char *const refusals[] = {
    [DV_REFUSE_ASYNC_DEF] = "async def",   [DV_REFUSE_ASYNC_FOR] = "async for",
    [DV_REFUSE_ASYNC_WITH] = "async with", [DV_REFUSE_AWAIT] = "await",
    [DV_REFUSE_EXCEPT_STAR] = "except*",
};

void dv_refuse(dv_front *front, dv_range at, dv_refusal what) {
    dv_front_error(front, at, "'%s' is not part of dl", refusals[what]);
}
