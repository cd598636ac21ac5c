/* Generated from gen/ops/${room}.mako by gen/render.py. */
#include "region/handler.h"

<%def name="opening(i)">\
    enum { LEN = ${i.length}, IN = ${len(i.inputs)}, OUT = ${len(i.outputs)}, CACHE = ${i.cache_cell} };
    BEGIN();
    (void)LEN, (void)IN, (void)OUT, (void)CACHE;
</%def>\
<%def name="named_inputs(i, publishes)">\
% if i.kind != "region" and not i.variable:
% for n, name in enumerate(i.inputs):
    const dv_value ${name} = sp[${n - len(i.inputs)}];
    (void)${name};
% endfor
% endif
% if publishes:
    PUBLISH();
% endif
</%def>\
<%def name="pair(i)">\
<%
bodies = model.bodies(i)
kept = "".join(body for _, body in bodies)
%>\
% for part in sorted({part.name for part, _ in bodies}):
OP(${part});
% endfor
/* ${i.doc} */
OP(${i.name}) {
    BEGIN();
% for name, type in ("kept_d", "double"), ("kept_i", "int64_t"), ("kept_v", "dv_value"):
% if name in kept:
    ${type} ${name};
% endif
% endfor
% for n, (part, body) in enumerate(bodies):
${f"part_{n + 1}: " if n else ""}{
    enum { LEN = ${part.length} };
    (void)LEN, (void)sp;
% if part.slow:
#define SLOW() TAIL(DV_H(${part.name}))
% endif
${body}
% if part.slow:
#undef SLOW
% endif
    }
% endfor
}

</%def>\
<%def name="chooser(family)">\
/* Which derivative of ${family.name} fits.  Of both forms: handlers in tail form keep no registers for others. */
void dv_choose_for_${family.name}(dv_vm *vm, const dv_cell *ip, dv_value *sp);
#if DV_TRAMPOLINE || !DV_HAVE_TRAMPOLINE
void dv_choose_for_${family.name}(dv_vm *vm, const dv_cell *ip, dv_value *sp) {
    enum { LEN = ${family.length} };
    (void)LEN, (void)sp;
% for n, name in enumerate(family.inputs):
    const dv_value ${name} = sp[${n - len(family.inputs)}];
    (void)${name};
% endfor
% for x in [x for x in model.derivatives(family) if x.choice]:
% if x.covers:
    if (${x.choice} && dv_site_family(vm, ip + LEN) == DV_OP_${x.covers}) dv_site_become(vm, (dv_cell *)ip, DV_OP_${x.name});
    else
% elif x.types and x.types[0] == "instance":
    if (${x.choice}) {
        dv_site_meet((dv_cell *)ip, ${family.inputs[0]}, ${family.inputs[-1]});
        dv_site_become(vm, (dv_cell *)ip, DV_OP_${x.name});
    } else
% else:
    if (${x.choice}) dv_site_become(vm, (dv_cell *)ip, DV_OP_${x.name});
    else
% endif
% endfor
    dv_site_unsuitable(vm, (dv_cell *)ip);
}
#endif
</%def>\
% for i in chosen:
% if i.kind == "pair":
${pair(i)}\
<% continue %>
% endif
<%
family = model.family_of(i)
misses = i.kind == "derivative" and (i.guard or "MISS(" in i.body + i.slow)
%>\
% if misses:
OP(${family.name});
static DV_COLD OP(miss_${i.name}) {
    DEAD();
    PUBLISH();
    dv_site_missed(vm, (dv_cell *)ip, DV_OP_${family.name}_ADAPTIVE);
    TAIL(DV_H(${family.name}));
}
#define MISS() do { DEAD(); TAIL(DV_H(miss_${i.name})); } while (0)
% endif
% if i.slow:
static DV_OUT_OF_LINE OP(slow_${i.name}) {
${opening(i)}\
${named_inputs(i, i.calls_out or family.calls_out)}\
${i.slow}
}
#define SLOW() do { ${"" if i.kind == "region" else "DEAD(); "}TAIL(DV_H(slow_${i.name})); } while (0)
#define SLOW_FROM() do { DEAD_FLOAT(); TAIL(DV_H(slow_${i.name})); } while (0) /* keeps r */
% endif
% if i.kind == "adaptive" and not family.select:
${chooser(family)}\
% endif
/* ${i.doc} */
OP(${i.name}) {
${opening(i)}\
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
    dv_choose_for_${family.name}(vm, ip, sp);
% endif
    DEAD();
    GO();
}

% else:
${named_inputs(i, i.calls_out and not i.slow)}\
% if i.kind == "derivative" and i.guard:
    if (DV_UNLIKELY(!(${i.guard}) || GUARD_FAILS())) MISS();
% endif
${i.body}
}
% if misses:
#undef MISS
% endif
% if i.slow:
#undef SLOW
#undef SLOW_FROM
% endif

% endif
% endfor
