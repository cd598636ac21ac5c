/* Generated from gen/ops/${room}.mako by gen/render.py. */
#include "region/handler.h"

% for i in chosen:
<% family = model.family_of(i) %>\
% if i.kind == "derivative" and (i.guard or "MISS(" in i.body):
OP(${family.name});
static OP(miss_${i.name}) {
    DEAD();
    PUBLISH();
    dv_site_missed(vm, (dv_cell *)ip, DV_OP_${family.name}_ADAPTIVE);
    TAIL(DV_H(${family.name}));
}
#define MISS() do { DEAD(); TAIL(DV_H(miss_${i.name})); } while (0)
% endif
/* ${i.doc} */
OP(${i.name}) {
    enum { LEN = ${i.length}, IN = ${len(i.inputs)}, OUT = ${len(i.outputs)}, CACHE = ${i.cache_cell} };
    BEGIN();
    (void)LEN, (void)IN, (void)OUT, (void)CACHE;
% if i.kind == "adaptive":
    PUBLISH();
    if (SITE.wait > 0) {
        ((dv_cell *)ip)[1].site.wait--;
        DEAD();
        TAIL(DV_H(${family.name}));
    }
% if family.select:
    ${family.select}(vm, (dv_cell *)ip, sp);
% else:
% for n, name in enumerate(family.inputs):
    const dv_value ${name} = sp[${n - len(family.inputs)}];
    (void)${name};
% endfor
% for x in [x for x in model.derivatives(family) if x.guard]:
% if x.modes:
    if (${x.guard} && dv_op_of(ip[LEN].h) == DV_OP_${x.modes}) dv_site_become(vm, (dv_cell *)ip, DV_OP_${x.name});
    else
% else:
    if (${x.guard}) dv_site_become(vm, (dv_cell *)ip, DV_OP_${x.name});
    else
% endif
% endfor
    dv_site_unsuitable(vm, (dv_cell *)ip);
% endif
    DEAD();
    GO();
}

% else:
% if i.kind != "region" and not i.variable:
% for n, name in enumerate(i.inputs):
    const dv_value ${name} = sp[${n - len(i.inputs)}];
    (void)${name};
% endfor
% endif
% if i.calls_out:
    PUBLISH();
% endif
% if i.kind == "derivative" and i.guard:
    if (DV_UNLIKELY(!(${i.guard}) || GUARD_FAILS())) MISS();
% endif
${i.body}
}
% if i.kind == "derivative" and (i.guard or "MISS(" in i.body):
#undef MISS
% endif

% endif
% endfor
