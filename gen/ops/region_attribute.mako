## region_attribute.mako: attributes of instances in slots within the object (cell 2: shape and offset).
##
## Each is there twice: RA_ tests the shape, RAK_ stands where it is known (vm/region/step/attribute.c); the order is the same.
<%
GUARD = """const dv_value object = HOME(a);
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != (uint32_t)CELL(2).s.a || GUARD_FAILS())) EXIT();"""
KNOWN = "const dv_value object = HOME(a);"
PLACE = """
    dv_value *slot = (dv_value *)(void *)((char *)dv_as_object(object) + CELL(2).s.b);"""
FORMS = (("RA", GUARD + PLACE, ""), ("RAK", KNOWN + PLACE, ", whose shape is known"))
%>
<%isa:region name="RA_GUARD" operands="" cache="3" doc="Leaves unless home slot a holds an instance of the shape.">
    ${GUARD}
    REGION_NEXT();
</%isa:region>

% for name, place, known in FORMS:
% for kind, test, take in (("I", "dv_is_int(v)", "dv_as_int(v)"), ("D", "dv_is_float(v)", "dv_as_float(v)")):
% for to in "RS":
<%
set_to = {"IR": "r = ", "DR": "d = ", "IS": "SLOT_I(c) = "}.get(kind + to)
%>
<%isa:region name="${name}_GET_${kind}_${to}" operands="" cache="3" modes="${to}" doc="Attribute of the instance in home slot a${known}, which must be ${'an int' if kind == 'I' else 'a float'} (guard).">
    ${place}
    const dv_value v = *slot;
    if (DV_UNLIKELY(!${test})) EXIT();
    ${set_to + take if set_to else "SET_D(c, " + take + ")"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

% for kind, test in (("L", "dv_is_shape(*slot, DV_T_LIST)"), ("A", ""), ("LB", "dv_is_shape(*slot, DV_T_LIST)"), ("AB", "")):
<%isa:region name="${name}_GET_${kind}" operands="" cache="3" doc="Attribute of the instance in home slot a${known}${', a list (guard)' if test else ''}, ${'borrowed' if 'B' in kind else 'owned'}, to home slot c.">
    ${place}
% if test:
    if (DV_UNLIKELY(!${test})) EXIT();
% endif
    HOME(c) = ${'*slot' if 'B' in kind else 'dv_retain(*slot)'};
    REGION_NEXT();
</%isa:region>
% endfor

% for kind, values in (("I", (("R", "r"), ("S", "SLOT_I(c)"))), ("D", (("R", "d"), ("S", "SLOT_D(c)")))):
% for mode, value in values:
<%isa:region name="${name}_SET_${kind}_${mode}" operands="" cache="3" modes="${mode}" doc="Stores a raw ${'int' if kind == 'I' else 'double'} into the attribute of the instance in home slot a${known}, over an immediate value.">
    ${place}
% if kind == "I":
    const int64_t x = ${value};
    if (DV_UNLIKELY(!dv_fits_int(x) || dv_is_object(*slot))) EXIT();
    *slot = dv_int(x);
% else:
    if (DV_UNLIKELY(dv_is_object(*slot))) EXIT();
    *slot = dv_float(${value});
% endif
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

% for kind, take, what in (("V", "HOME(c)", "moved"), ("B", "dv_retain(HOME(c))", "retained")):
<%isa:region name="${name}_SET_${kind}" operands="" cache="3" doc="Stores home slot c, ${what}, into the attribute of the instance in home slot a${known}, and releases what that held.">
    ${place}
    const dv_value old = *slot;
    *slot = ${take};
    if (dv_is_object(old)) {
        PUBLISH_AT(d);
        dv_release_object_outer(vm, dv_as_object(old));
    }
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
