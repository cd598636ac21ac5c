/* Generated from gen/ops by gen/render.py: the table of instructions and the tables of handlers. */
#include "dv_ops.h"

#include "run/engine.h"
#include "types/binary/buffer.h"

<%
numbers = {i.name: i.number for i in model.instructions}
first_variant, rows = {}, []
for i in model.instructions:
    first_variant[i.name] = len(rows)
    rows += [variant.variant_row(numbers) for variant in model.variants(i)]
%>\
const dv_op_info dv_op_infos[DV_OP_COUNT] = {
% for i in model.instructions:
<%
fusions = model.fusions(i)
loads = ", ".join(str(model.by_name[name].number) for name in reversed(i.loads)) if i.kind == "fusion" else ""
%>\
    {${i.row}, ${model.family_of(i).number}, ${model.adaptive_of(i).number}, ${i.facts},
     ${model.plain_of(i).number}, ${first_variant[i.name]}, ${len(model.variants(i))}, ${len(i.behind)}, ${numbers[i.several] if i.several else 0},
     ${fusions[0].number if fusions else 0}, ${len(fusions)}, ${len(i.loads) if loads else 0}, {${loads or 0}}, ${int(i.stores)}, ${i.via_bits}, ${i.back}},
% endfor
};

const dv_variant dv_variants[] = {
% for row in rows:
    {${row}},
% endfor
};

% for name, column in (("takes", 0), ("puts", 1)):
uint64_t dv_op_${name}(const dv_op_info *info, uint64_t n, uint64_t m) {
    (void)m;
    switch ((dv_effect)info->effect) {
    case DV_EFFECT_FIXED: break;
% for effect, counts in isa.EFFECTS.items():
    case DV_EFFECT_${effect.upper()}: return ${counts[column]};
% endfor
    }
    return info->${("inputs", "outputs")[column]};
}

% endfor
const dv_region_facts dv_region_facts_of[DV_OP_REGION_COUNT] = {
% for i in model.regions():
    ${region_facts.row(i, isa.ELEMENTS)},
% endfor
};

uint32_t dv_op_moded(uint32_t moded) {
    static const uint16_t ops[] = {
% for i in model.moded:
        ${numbers.get(i.name, "DV_OP_COUNT")},
% endfor
    };
    return ops[moded];
}

uint32_t dv_moded_of(uint32_t op) {
<% places = {i.name: n for n, i in enumerate(model.moded)} %>\
    static const uint16_t modeds[DV_OP_REGION_COUNT] = {
% for i in model.regions():
        ${places.get(i.name, "DV_MODED_COUNT")},
% endfor
    };
    op -= DV_OP_FIRST_REGION;
    return op < DV_OP_REGION_COUNT ? modeds[op] : DV_MODED_COUNT;
}

/* Sorted, so that it can be searched by halves. */
static const struct {
    uint16_t first, second, joined;
} joins[] = {
% for row in model.joined():
    {${", ".join(map(str, row))}},
% endfor
};

uint32_t dv_op_joined(uint32_t first, uint32_t second) {
    uint32_t from = 0, to = sizeof joins / sizeof *joins;
    while (from < to) {
        uint32_t i = (from + to) / 2;
        if (joins[i].first == first && joins[i].second == second) return joins[i].joined;
        if (joins[i].first < first || (joins[i].first == first && joins[i].second < second))
            from = i + 1;
        else
            to = i;
    }
    return DV_OP_COUNT;
}

/* Names, one behind the other, and where each begins: no addresses, which start-up would have to relocate. */
static const char names[] =
% for i in model.instructions:
    "${i.name}\0"
% endfor
    "";

<%
starts = [0]
for i in model.instructions:
    starts.append(starts[-1] + len(i.name) + 1)
%>\
static const ${"uint16_t" if starts[-1] < 1 << 16 else "uint32_t"} name_at[DV_OP_COUNT] = {${", ".join(map(str, starts[:-1]))}};

const char *dv_op_name(uint32_t op) { return names + name_at[op]; }

#if DV_HAVE_TAIL
% for i in model.instructions:
const dv_cell *dv_h_${i.name}(DV_HANDLER_PARAMETERS);
% endfor
const dv_handler dv_handlers_tail[] = {
% for i in model.instructions:
    dv_h_${i.name},
% endfor
};
#else
const dv_handler dv_handlers_tail[] = {0};
#endif

#if DV_HAVE_TRAMPOLINE
% for i in model.instructions:
const dv_cell *dv_ht_${i.name}(DV_HANDLER_PARAMETERS);
% endfor
const dv_handler dv_handlers_trampoline[] = {
% for i in model.instructions:
    dv_ht_${i.name},
% endfor
};
#else
const dv_handler dv_handlers_trampoline[] = {0};
#endif

/* Where frames return that are no calls of their caller's code (run/thread.h).  The two forms mix in one stream. */
#if DV_HAVE_TAIL
const dv_cell dv_construct_cell[] = {{.h = dv_h_CONSTRUCTED}}, dv_operate_cell[] = {{.h = dv_h_OPERATED}}, dv_instance_cell[] = {{.h = dv_h_CALLED}}, dv_consume_cell[] = {{.h = dv_h_CONSUMED}};
#else
const dv_cell dv_construct_cell[] = {{.h = dv_ht_CONSTRUCTED}}, dv_operate_cell[] = {{.h = dv_ht_OPERATED}}, dv_instance_cell[] = {{.h = dv_ht_CALLED}}, dv_consume_cell[] = {{.h = dv_ht_CONSUMED}};
#endif
