## region_call.mako: calls of C functions with unboxed arguments (core/raw.h).
##
## A name is R_RAW_<result>_<arguments>_<mode of the last argument>_<mode of the result>, all other arguments are in
## slots; of a P, the home slot holds the object.  vm/region/step/call.c finds the instruction by the signature; one that is missing here is called boxed.
<%
C_TYPES = {"D": "double", "Q": "int64_t", "I": "int32_t", "B": "bool", "V": "void", "P": "void *"}
SIGNATURES = [("D", ""), ("D", "D"), ("D", "DD"), ("D", "DQ"), ("D", "DI"), ("D", "ID"), ("D", "DDD"),
              ("D", "Q"), ("D", "I"), ("Q", ""), ("Q", "Q"), ("Q", "QQ"), ("Q", "D"), ("I", ""), ("I", "I"),
              ("I", "II"), ("I", "D"), ("B", "D"), ("B", "Q"), ("B", "I"), ("V", ""), ("V", "I"), ("V", "Q"), ("V", "D"),
              ("D", "P"), ("D", "PP"), ("D", "PD"), ("Q", "P"), ("B", "PP"), ("V", "P"), ("V", "PP"), ("V", "PD")]
HELD = {"D": "const double", "P": "void *const"}
def argument(kind, position, last, mode):
    register = last and mode == "R"
    if kind == "P":
        return f"(char *)dv_as_object(HOME({'ab'[position]})) + DV_PAYLOAD_OFFSET"
    if kind == "D":
        return "d" if register else f"SLOT_D({'ab'[position]})"
    return "r" if register else f"SLOT_I({'ab'[position]})"
def modes(arguments):
    return "R" if len(arguments) > 2 else "S" if not arguments or arguments[-1] == "P" else "SR"
def lowers(result, arguments, mode, to):
    """Of a call whose last argument is in a register although it could be in a slot, or whose result goes to a slot."""
    if (arguments, mode, to) == ("DD", "S", "S"):
        return ""  # of divmod (vm/region/step/call.c)
    kinds = {k: "D" if k == "D" else "I" for k in "DQIBVP"}
    alone = mode == "S" or len(arguments) > 2
    parts = [*[f"R_STORE_{kinds[arguments[-1:] or 'V']}"] * (not alone), f"R_RAW_{result}_{arguments or 'V'}_{mode if alone else 'S'}_R", *[f"R_STORE_{kinds[result]}"] * (to == "S")]
    return " ".join(parts) if len(parts) > 1 else ""
%>
<%isa:region name="R_GUARD_BOUND" operands="" cache="3" doc="Leaves unless home slot a holds a bound method of a dl function with the code in the instruction.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY(!dv_is_shape(v, DV_T_METHOD) || GUARD_FAILS())) EXIT();
    const dv_value function = ((const dv_method *)dv_as_object(v))->function;
    if (DV_UNLIKELY(!dv_is_function(function) || (dv_value){DV_TAG_OBJECT | (uint64_t)(uintptr_t)dv_as_function(function)->code}.bits != CELL(2).v.bits)) EXIT();
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_SELF" operands="" cache="3" doc="Self of the bound method in home slot a, retained, to home slot b.">
    HOME(b) = dv_retain(((const dv_method *)dv_as_object(HOME(a)))->self);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_GUARD_BOUND_C" operands="" cache="3" doc="Leaves unless home slot a holds a method with the definition in the instruction, bound to a list; that, borrowed, to home slot b.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY(!dv_is_shape(v, DV_T_CFUNCTION) || GUARD_FAILS())) EXIT();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    if (DV_UNLIKELY(function->def != CELL(2).p || !dv_is_shape(function->self, DV_T_LIST))) EXIT();
    HOME(b) = function->self;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_GUARD_FUNCTION" operands="" cache="3" doc="Leaves unless home slot a holds the C function with the definition in the instruction.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY(!dv_is_shape(v, DV_T_CFUNCTION) || GUARD_FAILS())) EXIT();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    if (DV_UNLIKELY(function->def != CELL(2).p || !dv_is_empty(function->self) || dv_is_class(function->owner))) EXIT();
    REGION_NEXT();
</%isa:region>
% for result, arguments in SIGNATURES:
% for mode in modes(arguments):
% for to in ("R" if result == "V" else "RS"):
<%
types = ", ".join(C_TYPES[k] for k in arguments) or "void"
values = ", ".join(f"({C_TYPES[k]})x{i}" for i, k in enumerate(arguments))
kept = ", ".join(f"{{.{'d' if k == 'D' else 'i'} = {'(intptr_t)' * (k == 'P')}x{i}}}" for i, k in enumerate(arguments)) or "{0}"
out = {"R": {"D": "d = y", "V": ""}.get(result, "r = y"), "S": {"D": "SET_D(c, y)"}.get(result, "SLOT_I(c) = y")}[to]
%>
<%isa:region name="R_RAW_${result}_${arguments or 'V'}_${mode}_${to}" operands="" cache="4" modes="${mode}${to}" lowers="${lowers(result, arguments, mode, to)}" doc="Calls a C function ${C_TYPES[result]}(${types}); leaves where arguments do not fit or it would raise.">
<%def name="operands()">
    const dv_raw *raw = CELL(4).p;
% for i, k in enumerate(arguments):
    ${HELD.get(k, "const int64_t")} x${i} = ${argument(k, i, i == len(arguments) - 1, mode)};
% if k == "I":
    if (DV_UNLIKELY(x${i} != (int32_t)x${i} || GUARD_FAILS())) EXIT();
% elif k == "P" and i > 0:
    if (DV_UNLIKELY(!dv_is_shape(HOME(${"ab"[i]}), (uint32_t)CELL(2).i) || GUARD_FAILS())) EXIT();
% endif
% endfor
</%def>
<% call = f"{'' if result == 'V' else f'const {C_TYPES[result]} y = '}(({C_TYPES[result]} (*)({types}))raw->entry)({values});" %>
    ${operands()}
% if result != "V":
    if (DV_UNLIKELY(!raw->pure)) SLOW();
    dv_work_call(vm, DV_WORK_CALL);
% if mode != "R" or (arguments[-1] == "D") != (result == "D"):
    __asm__("" : "=${"x" if result == "D" else "r"}"(${"d" if result == "D" else "r"})); /* the result's register holds nothing (dv_spill) */
% endif
    ${call}
    bool defined = true;
    raw = CELL(4).p; /* again, instead of keeping it over the call */
    if (DV_UNLIKELY(${"!__builtin_isfinite(y) && " if result == "D" else ""}raw->defined)) {
        const dv_raw_value given[] = {${kept}}; /* ends here: where its address is known, EXIT() cannot be a jump */
        defined = raw->defined(given, (dv_raw_value){.${"d" if result == "D" else "i"} = y});
    }
    if (DV_UNLIKELY(!defined || GUARD_FAILS())) EXIT();
    ${out};
    REGION_NEXT();
    --- out of line ---
    ${operands()}
% endif
    PUBLISH_AT(d);
    if (raw->error_number) errno = *raw->error_number;
    ${call}
    if (raw->error_number) *raw->error_number = errno;
    ${out + ";" if out else ""}
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
