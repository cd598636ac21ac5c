## region_function.mako: functions that have a region: calls, raw arguments and results (vm/region/run/function.h).

<%isa:derivative name="ENTER_COUNT" of="ENTER" doc="ENTER of a warm function that counts calls until it is hot enough for a region.">
    dv_site *site = &((dv_cell *)ip)[1].site;
    DEAD();
    if (DV_UNLIKELY(--site->wait == 0)) TAIL(dv_function_hot);
    NEXT();
</%isa:derivative>

## ENTER_REGION: numbers go to their shadow slots, and the region begins.
<%def name="admit(numbers)">\
% for mask, test, take in numbers:
    for (uint64_t left = gate->${mask}; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        const dv_value v = fp[i];
        fp[gate->raw + i]${take};
        if (DV_UNLIKELY(!${test}(v))) TAIL(dv_function_refuse);
    }
% endfor
</%def>\
<%def name="begin()">\
    dv_region *region = gate->region;
    fp[gate->return_slot].bits = 0; /* the result is to be boxed */
    region->active++;
    region->entered++;
    ip = gate->entry;
    GO();
</%def>\
<%
NUMBERS = (("ints", "dv_is_int", ".bits = (uint64_t)dv_as_int(v)"), ("floats", "dv_is_float", " = v"))
%>\
<%isa:derivative name="ENTER_REGION" of="ENTER" doc="ENTER of a function that has a region: enters it if the arguments have the types that it expects.">
    const dv_gate *gate = CELL(1).p;
    DEAD();
    if (DV_UNLIKELY((const char *)vm->stack_end - (const char *)fp < gate->extent || vm->calls_left < gate->inlined)) NEXT();
${admit(NUMBERS)}    if (gate->others) SLOW();
${begin()}    --- out of line ---
    const dv_gate *gate = CELL(1).p;
    for (uint64_t left = gate->others; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        if (DV_UNLIKELY(!dv_gate_admits(&fp[gate->raw + i], fp[i], (dv_kind)gate->parameters[i]))) TAIL(dv_function_refuse);
    }
${begin()}</%isa:derivative>

<%isa:region name="R_CALL" operands="" cache="4" doc="Enters the region of a function, whose frame is at slot a: objects among the arguments are in place, and so are raw ones, in its shadow slots. A boxed result goes on behind the instruction, a raw one b cells behind that. Leaves where the region is gone, or there is no room for the frame.">
    const dv_gate *gate = CELL(2).p;
    dv_value *frame = &HOME(a);
    const dv_value *limit = __atomic_load_n(&vm->stack_limit, __ATOMIC_RELAXED);
    if (DV_UNLIKELY((const char *)limit - (const char *)frame < gate->extent || vm->calls_left <= gate->inlined || GUARD_FAILS())) EXIT();
    const dv_value function = CELL(4).v;
    frame[-3] = function;
    dv_as_object(function)->references++;
    frame[-2] = dv_raw_pointer(ip + LEN);
    frame[-1] = dv_raw_pointer(fp);
    frame[gate->return_slot] = dv_raw_pointer(ip + LEN + CELL(1).o.b);
    fp = frame;
    frame += gate->first_vacant;
    *frame = DV_EMPTY;
    for (uint64_t left = gate->vacant; DV_UNLIKELY(left); left >>= 1) {
        frame++;
        if (left & 1) *frame = DV_EMPTY;
    }
    vm->calls_left--;
    ++*gate->active;
    ip = gate->entry;
    GO();
</%isa:region>

## The slot a of the frame says where the result goes.
<%
results = (
    ("I", "the int in r", "dv_fits_int(r)", "dv_int(r)"),
    ("D", "the double in d", "true", "dv_float(d)"),
    ("B", "the truth value in r", "true", "dv_bool(r != 0)"),
)
%>\
% for kind, what, fits, boxed in results:
<%isa:region name="R_RETURN_${kind}" operands="" cache="3" ends="yes" doc="Ends a function whose locals hold no objects with ${what}.">
    dv_object *function = dv_as_object(fp[-3]);
    dv_region *region = CELL(2).p;
    const dv_cell *to = (const dv_cell *)(uintptr_t)HOME(a).bits;
    if (DV_UNLIKELY(!to || function->references == 1 || region->retired)) SLOW();
    function->references--;
    region->active--;
    vm->calls_left++;
    fp = dv_frame_caller(fp);
    ip = to;
    GO();
    --- out of line ---
    dv_object *function = dv_as_object(fp[-3]);
    dv_region *region = CELL(2).p;
    if (HOME(a).bits || function->references == 1 || region->retired || !${fits}) TAIL(dv_function_return);
    function->references--;
    region->active--;
    vm->calls_left++;
    sp = fp - 2;
    sp[-1] = ${boxed};
    ip = dv_frame_link(fp);
    fp = dv_frame_caller(fp);
    GO();
</%isa:region>
% endfor

<%isa:region name="R_RETURN_V" operands="" cache="3" ends="yes" doc="Ends a function whose locals hold no objects with the value in home slot a.">
    dv_object *function = dv_as_object(fp[-3]);
    dv_region *region = CELL(2).p;
    if (DV_UNLIKELY(function->references == 1 || region->retired)) TAIL(dv_function_return);
    function->references--;
    region->active--;
    vm->calls_left++;
    sp = fp - 2;
    sp[-1] = HOME(a);
    ip = dv_frame_link(fp);
    fp = dv_frame_caller(fp);
    GO();
</%isa:region>

<%isa:region name="R_DEPTH" operands="" cache="1" doc="Functions that were analysed inline, and comprehensions, count as a calls from here on: more, where they call one that is not, or fewer.">
    vm->calls_left -= CELL(1).o.a;
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_ENTER_COMPREHENSION" operands="" cache="3" doc="Begins a comprehension, which counts as a call. Leaves where there is none left.">
    if (DV_UNLIKELY(vm->calls_left <= 0 || GUARD_FAILS())) EXIT();
    vm->calls_left--;
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_IS_NONE" operands="" cache="3" doc="Is home slot a None, to the int register?">
    r = HOME(a).bits == DV_NONE.bits;
    REGION_NEXT();
</%isa:region>
