## region_fused.mako: two instructions of a region in one, where the second takes what the first has put into a register.  vm/region/emit/fuse.c finds
## them in the table of what `joins` says.  These are candidates: those that gen/tables/sequences.csv has are made.
##
## The first one's operands are where they always are, the second one's other operand is in slot d, and its result goes
## to the register or to slot c.
<%
ARITHMETIC = {"ADD": "+", "SUB": "-", "MUL": "*"}
COMPARE = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
PLACES = {"S": ("SLOT_D(a)", "SLOT_D(b)"), "K": ("CELL(2).d", "CELL(2).d"), "R": ("d", "d")}
FIRST_MODES = ("SS", "SK", "KS", "RS")
WORDS = {"ADD": "sum", "SUB": "difference", "MUL": "product"}

def second(op, side, to):
    """The second operation on `t` and slot d, and where its result goes."""
    value = f"t {ARITHMETIC[op]} SLOT_D(d)" if side == "RS" else f"SLOT_D(d) {ARITHMETIC[op]} t"
    return f"d = {value};" if to == "R" else f"SET_D(c, {value});"

GUARD = """const dv_value object = HOME(a);
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != (uint32_t)CELL(2).s.a || GUARD_FAILS())) EXIT();"""
FORMS = (("RA", GUARD), ("RAK", "const dv_value object = HOME(a);")) # region_attribute.mako
%>
% for op in ARITHMETIC:
% for mode in FIRST_MODES:
<%
x, y = PLACES[mode[0]][0], PLACES[mode[1]][1]
%>
% for op2 in ARITHMETIC:
% for side in ("RS", "SR"):
% for to in "RS":
<%isa:region name="RD_${op}_${mode}_${op2}_${side}_${to}" operands="" cache="3" modes="${mode}${to}" joins="RD_${op}_${mode}_R RD_${op2}_${side}_${to}">
    const double t = ${x} ${ARITHMETIC[op]} ${y};
    ${second(op2, side, to)}
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
% endfor
% endfor

% for op in ARITHMETIC:
% for compare, sign in COMPARE.items():
% for mode, other in (("RS", "SLOT_D(d)"), ("RK", "CELL(2).d")):
<%isa:region name="RD_${op}_SS_RBDT_${compare}_${mode}" operands="" cache="3" modes="SS" joins="RD_${op}_SS_R RBDT_${compare}_${mode}">
    REGION_BRANCH(SLOT_D(a) ${ARITHMETIC[op]} SLOT_D(b) ${sign} ${other});
</%isa:region>
<%isa:region name="RD_${op}_SS_RBDF_${compare}_${mode}" operands="" cache="3" modes="SS" joins="RD_${op}_SS_R RBDF_${compare}_${mode}">
    REGION_BRANCH(!(SLOT_D(a) ${ARITHMETIC[op]} SLOT_D(b) ${sign} ${other}));
</%isa:region>
% endfor
% endfor
% endfor

% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r")):
% for op in ARITHMETIC:
% for side in ("RS", "SR"):
% for to in "RS":
<%isa:region name="RL_GET_D_${mode}_${op}_${side}_${to}" operands="" cache="3" modes="${mode}${to}" joins="RL_GET_D_${mode}_R RD_${op}_${side}_${to}">
    const dv_list *list = dv_as_list(HOME(a));
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)list->count)) {
        if (i >= 0 || (i += list->count) < 0) EXIT();
    }
    const dv_value v = list->items[i];
    if (DV_UNLIKELY(!dv_is_float(v) || GUARD_FAILS())) EXIT();
    const double t = dv_as_float(v);
    ${second(op, side, to)}
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
% endfor

% for name, guard in FORMS:
% for op in ARITHMETIC:
% for side in ("RS", "SR"):
% for to in "RS":
<%isa:region name="${name}_GET_D_${op}_${side}_${to}" operands="" cache="3" modes="${to}" joins="${name}_GET_D_R RD_${op}_${side}_${to}">
    ${guard}
    const dv_value v = *(const dv_value *)(const void *)((char *)dv_as_object(object) + CELL(2).s.b);
    if (DV_UNLIKELY(!dv_is_float(v))) EXIT();
    const double t = dv_as_float(v);
    ${second(op, side, to)}
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
% endfor

<%
def item(list_slot, index, leave="EXIT()"):
    """The place of an item, with an exit where there is none."""
    return f"""const dv_list *list = dv_as_list(HOME({list_slot}));
    int64_t i = {index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)list->count)) {{
        if (i >= 0 || (i += list->count) < 0) {leave};
    }}"""
KINDS = {"I": ("dv_is_int(v)", "dv_as_int(v)", "r = ", "SLOT_I(c) = "), "D": ("dv_is_float(v)", "dv_as_float(v)", "d = ", None)}
%>
% for kind, (test, _, _, _) in KINDS.items():
<%isa:region name="RL_COPY_${kind}" operands="" cache="3" joins="RL_GET_${kind}_S_R RL_SET_${kind}_S_R" doc="The item of list a at b to list d at c.">
    ${item("a", "SLOT_I(b)")}
    const dv_value v = list->items[i];
    dv_list *to = dv_as_list(HOME(d));
    int64_t k = SLOT_I(c);
    if (DV_UNLIKELY((uint64_t)k >= (uint64_t)to->count)) {
        if (k >= 0 || (k += to->count) < 0) EXIT();
    }
    if (DV_UNLIKELY(!${test} || dv_is_object(to->items[k]) || GUARD_FAILS())) EXIT();
    to->items[k] = v;
    REGION_NEXT();
</%isa:region>
% endfor

% for op, builtin in (("ADD", "__builtin_add_overflow"), ("SUB", "__builtin_sub_overflow")):
% for mode, right in (("SS", "SLOT_I(b)"), ("SK", "CELL(2).i")):
% for kind, (test, take, to_register, to_slot) in KINDS.items():
% for to in "RS":
<%isa:region name="RI_${op}_${mode}_GET_${kind}_${to}" operands="" cache="4" modes="${mode}${to}" joins="RI_${op}_${mode}_R RL_GET_${kind}_R_${to}" doc="The item of the list in home slot d.">
    if (DV_UNLIKELY(${builtin}(SLOT_I(a), ${right}, &r) || GUARD_FAILS())) EXIT();
    ${item("d", "r", "EXIT_SECOND()")}
    const dv_value v = list->items[i];
    if (DV_UNLIKELY(!${test} || GUARD_FAILS())) EXIT_SECOND();
    ${to_register + take if to == "R" else to_slot + take if to_slot else "SET_D(c, " + take + ")"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
% endfor

## x[i] = x[i] + y * z, and the same of attributes: everything is looked at before anything is stored.
% for op in ("ADD", "SUB"):
% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i")):
<%isa:region name="RL_UPDATE_${op}_${mode}" operands="" cache="3" modes="${mode}" joins="RL_GET_D_${mode}_S RD_MUL_SS_${op}_SR_R" doc="The latter of slots c and d, and RL_SET_D_${mode}_R of the same item.">
    const dv_list *list = dv_as_list(HOME(a));
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)list->count)) {
        if (i >= 0 || (i += list->count) < 0) EXIT();
    }
    dv_value *item = &list->items[i];
    if (DV_UNLIKELY(!dv_is_float(*item) || GUARD_FAILS())) EXIT();
    *item = dv_float(dv_as_float(*item) ${ARITHMETIC[op]} SLOT_D(c) * SLOT_D(d));
    REGION_NEXT();
</%isa:region>
% endfor
% for name, guard in FORMS:
<%isa:region name="${name}_UPDATE_${op}" operands="" cache="3" joins="${name}_GET_D_S RD_MUL_SS_${op}_SR_R" doc="The latter of slots c and d, and RA_SET_D_R of the same attribute.">
    ${guard}
    dv_value *slot = (dv_value *)(void *)((char *)dv_as_object(object) + CELL(2).s.b);
    if (DV_UNLIKELY(!dv_is_float(*slot))) EXIT();
    *slot = dv_float(dv_as_float(*slot) ${ARITHMETIC[op]} SLOT_D(c) * SLOT_D(d));
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
