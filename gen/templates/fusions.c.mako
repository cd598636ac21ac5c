/* Generated from gen/ops/${room}.mako by gen/render.py: derivatives together with the loads in front of them, and
 * the store behind them (vm/quicken/fuse.h).  A handler stands in the cell of the first load.  Where its guard
 * fails it is that load and nothing else: the derivative behind will find the same, and count the miss. */
#include "region/handler.h"

/* What the derivative does out of line it does where it stands. */
#define SLOW() MISS()

<%def name="handler(i)">\
OP(${i.loads[0]});
#define MISS() do { ip -= ${len(i.loads) * isa.LOAD_LENGTH}; DEAD(); TAIL(DV_H(${i.loads[0]})); } while (0)
/* ${i.doc} */
OP(${i.name}) {
    enum { LEN = ${i.length}, IN = ${i.modes.count("S")}, OUT = ${len(i.outputs)}, CACHE = ${i.cache_cell} };
    BEGIN();
    (void)LEN, (void)IN, (void)OUT, (void)CACHE;
% for name, place in zip(i.inputs, i.places):
    const dv_value ${name} = ${place};
    (void)${name};
% endfor
    ip += ${len(i.loads) * isa.LOAD_LENGTH};
% if i.guard:
    if (DV_UNLIKELY(!(${i.guard}) || GUARD_FAILS())) MISS();
% endif
${i.fused_body}
}
#undef MISS

</%def>\
% for i in chosen:
% if not i.stores:
${handler(i)}\
% endif
% endfor
/* The same with the STORE_LOCAL behind.  Nothing of the inputs is owned here. */
#undef DONE
#undef DONE_RELEASING
#define DONE(result) DONE_STORING(result)
#define DONE_RELEASING(result, owned, value) DONE_STORING(result)
% for i in chosen:
% if i.stores:
${handler(i)}\
% endif
% endfor
