## stack.mako: moving values between locals, constants, globals and the operand stack.

<%isa:op name="NOP" region="dv_step_nop" doc="Does nothing. Not emitted by the compiler: programs in assembly have it.">
    NEXT();
</%isa:op>

<%isa:op name="ENTER" site="yes" doc="First cell of every function: counts calls until the function is warm. Not emitted by the compiler.">
    dv_site *site = &((dv_cell *)ip)[1].site;
    DEAD();
    if (DV_UNLIKELY(site->wait && --site->wait == 0)) TAIL(dv_slow_warm);
    NEXT();
</%isa:op>

<%isa:op name="LOAD_CONST" region="dv_step_load_constant" operands="const" stack="-- v" doc="Pushes a constant.">
    DONE(dv_retain(CELL(1).v));
</%isa:op>

<%isa:op name="LOAD_CONST_PLAIN" variant_of="LOAD_CONST" where="immediate" operands="const" stack="-- v" doc="What LOAD_CONST is threaded as where the constant is no object. Not emitted by the compiler.">
    DONE(CELL(1).v);
</%isa:op>

<%isa:op name="LOAD_CONST_B" region="dv_step_load_constant" operands="const" stack="-- v" doc="Pushes a constant, borrowed.">
    DONE(CELL(1).v);
</%isa:op>

<%isa:op name="LOAD_ASSERTION_ERROR" region="rare" stack="-- v" calls_out="yes" doc="Pushes the class AssertionError, whatever its name means by now.">
    DONE(dv_load_assertion_error(vm));
</%isa:op>

<%isa:op name="LOAD_LOCAL" region="dv_step_load_local" operands="local" stack="-- v" doc="Pushes a local that is known to be assigned.">
    DONE(dv_retain(LOCAL(1)));
</%isa:op>

<%isa:op name="LOAD_LOCAL_B" region="dv_step_load_local" operands="local" stack="-- v" doc="Pushes a local, borrowed: nothing stores to it before the value is used.">
    DONE(LOCAL(1));
</%isa:op>

<%isa:op name="LOAD_LOCAL_CHECK" region="dv_step_load_local" operands="local" stack="-- v" calls_out="yes" doc="Pushes a local that may be unassigned: UnboundLocalError.">
    const dv_value v = LOCAL(1);
    if (DV_UNLIKELY(dv_is_empty(v))) SLOW();
    DONE(dv_retain(v));
    --- out of line ---
    dv_raise_unbound(vm, fp, (uint32_t)(CELL(1).i / 8));
    RAISE();
</%isa:op>

<%isa:op name="STORE_LOCAL" region="dv_step_store_local" operands="local" stack="v --" doc="Stores into a local and releases what it held.">
    const dv_value old = LOCAL(1);
    LOCAL(1) = v;
    sp -= 1;
    NEXT_RELEASING(old);
</%isa:op>

<%isa:op name="DELETE_LOCAL" operands="local" calls_out="yes" doc="Unassigns a local: UnboundLocalError if it is not assigned.">
    const dv_value old = LOCAL(1);
    if (dv_is_empty(old)) {
        dv_raise_unbound(vm, fp, (uint32_t)(CELL(1).i / 8));
        RAISE();
    }
    LOCAL(1) = DV_EMPTY;
    dv_release_outer(vm, old);
    NEXT();
</%isa:op>

<%isa:op name="LOAD_OUTER_CHECK" region="dv_step_load_local" operands="local" stack="-- v" calls_out="yes" doc="In an inlined comprehension: pushes a local of the function around, which may be unassigned: NameError.">
    const dv_value v = LOCAL(1);
    if (DV_UNLIKELY(dv_is_empty(v))) SLOW();
    DONE(dv_retain(v));
    --- out of line ---
    dv_raise_unassociated(vm, fp, (uint32_t)(CELL(1).i / 8));
    RAISE();
</%isa:op>

<%isa:op name="ENTER_COMPREHENSION" region="dv_step_enter_comprehension" operands="" calls_out="yes" doc="Begins an inlined comprehension, which counts as a call: RecursionError.">
    if (DV_UNLIKELY(vm->calls_left <= 0)) SLOW();
    vm->calls_left--;
    NEXT();
    --- out of line ---
    if (!dv_call_may_nest(vm)) RAISE();
    vm->calls_left--;
    NEXT();
</%isa:op>

<%isa:op name="CLEAR_LOCAL" region="dv_step_clear_local" operands="local" calls_out="yes" doc="Unassigns a variable of an inlined comprehension, if it is assigned.">
    const dv_value old = LOCAL(1);
    LOCAL(1) = DV_EMPTY;
    NEXT_RELEASING(old);
</%isa:op>

<%isa:op name="LEAVE_COMPREHENSION" region="dv_step_leave_comprehension" operands="local" calls_out="yes" doc="Ends an inlined comprehension, whose last variable it unassigns.">
    const dv_value old = LOCAL(1);
    LOCAL(1) = DV_EMPTY;
    vm->calls_left++;
    NEXT_RELEASING(old);
</%isa:op>

<%isa:op name="MAKE_CELL" region="dv_step_make_cell" operands="local" calls_out="yes" doc="Prologue: a local becomes a cell, which takes the value of a parameter.">
    dv_variable *cell = dv_frame_object(vm, sizeof *cell, DV_T_CELL);
    if (DV_UNLIKELY(!cell)) SLOW();
    cell->value = LOCAL(1);
    cell->holders = 0;
    LOCAL(1) = dv_object_value(cell);
    NEXT();
    --- out of line ---
    const dv_value cell = dv_variable_new(vm, LOCAL(1));
    if (dv_is_empty(cell)) RAISE();
    LOCAL(1) = cell;
    NEXT();
</%isa:op>

<%isa:op name="COPY_FREE" region="dv_step_copy_free" doc="Prologue: the last locals become the cells of the function's closure.">
    dv_frame_copy_free(fp);
    NEXT();
</%isa:op>

<%isa:op name="LOAD_CELL" region="dv_step_load_cell counts" operands="local" stack="-- v" calls_out="yes" doc="Pushes the value of the cell in a local: UnboundLocalError, or NameError of a free variable.">
    const dv_value v = dv_as_variable(LOCAL(1))->value;
    if (DV_UNLIKELY(dv_is_empty(v))) SLOW();
    DONE(dv_retain(v));
    --- out of line ---
    dv_raise_unbound(vm, fp, (uint32_t)(CELL(1).i / 8));
    RAISE();
</%isa:op>

<%isa:op name="STORE_CELL" region="dv_step_store_cell counts" operands="local" stack="v --" kills="heap" doc="Stores into the cell in a local and releases what it held.">
    dv_variable *cell = dv_as_variable(LOCAL(1));
    const dv_value old = cell->value;
    if (DV_UNLIKELY(cell->holders)) SLOW();
    cell->value = v;
    sp -= 1;
    NEXT_RELEASING(old);
    --- out of line ---
    dv_variable *cell = dv_as_variable(LOCAL(1));
    const dv_value old = cell->value;
    PUBLISH();
    dv_variable_disturb(vm, cell);
    cell->value = v;
    sp -= 1;
    NEXT_RELEASING(old);
</%isa:op>

<%isa:op name="DELETE_CELL" region="leaves counts" operands="local" calls_out="yes" kills="heap" doc="Unassigns the cell in a local: UnboundLocalError, or NameError of a free variable.">
    dv_variable *cell = dv_as_variable(LOCAL(1));
    const dv_value old = cell->value;
    if (dv_is_empty(old)) {
        dv_raise_unbound(vm, fp, (uint32_t)(CELL(1).i / 8));
        RAISE();
    }
    dv_variable_disturb(vm, cell);
    cell->value = DV_EMPTY;
    dv_release_outer(vm, old);
    NEXT();
</%isa:op>

% for name, extra, doc in (("LOAD_GLOBAL", 0, "Pushes a global of the module, or a builtin: NameError."), ("LOAD_GLOBAL_CALLEE", 2, "LOAD_GLOBAL and PREPARE_CALL in one: pushes a callee and the two reserved entries of a call.")):
<%
outs = "-- v" if not extra else "-- v R1 R2"
%>
<%isa:op name="${name}" operands="name" site="yes" cache="2" promises="nothing" region="dv_step_load_global" stack="${outs}" calls_out="yes" select="dv_choose_global" doc="${doc}">
    const dv_value v = dv_load_global(vm, fp, CELL(2).v);
    if (DV_UNLIKELY(dv_is_empty(v))) RAISE();
    sp[0] = v;
    sp += OUT;
    NEXT();
</%isa:op>

<%isa:derivative name="${name}_CELL" saw="global" of="${name}" cache="cell" doc="${name} of a name that the module defines: its cell is in the cache.">
    const dv_value v = CACHED(cell)->value;
    if (DV_UNLIKELY(dv_is_empty(v) || GUARD_FAILS())) MISS();
    sp[0] = dv_retain(v);
    sp += OUT;
    NEXT();
</%isa:derivative>

<%isa:derivative name="${name}_BUILTIN" of="${name}" cache="cell builtin" doc="${name} of a builtin: the module's cell must be empty.">
    if (DV_UNLIKELY(!dv_is_empty(CACHED(cell)->value) || GUARD_FAILS())) MISS();
    const dv_value v = CACHED(builtin)->value;
    if (DV_UNLIKELY(dv_is_empty(v))) MISS();
    sp[0] = dv_retain(v);
    sp += OUT;
    NEXT();
</%isa:derivative>
% endfor

<%isa:op name="STORE_GLOBAL" region="dv_step_store_global" promises="nothing" operands="name" site="yes" cache="1" stack="v --" calls_out="yes" kills="all" select="dv_choose_store_global" doc="Stores into a global of the module.">
    if (!dv_store_global(vm, fp, CELL(2).v, v)) RAISE();
    DONE0();
</%isa:op>

<%isa:derivative name="STORE_GLOBAL_CELL" of="STORE_GLOBAL" cache="cell" doc="STORE_GLOBAL of a name whose cell is in the cache.">
    dv_global_cell *cell = CACHED(cell);
    if (DV_UNLIKELY(dv_is_object(cell->value) || dv_is_empty(cell->value) || cell->constant.dependents || cell->holders)) SLOW();
    cell->value = v;
    DONE0();
    --- out of line ---
    PUBLISH();
    dv_replace_global(vm, CACHED(cell), v);
    DONE0();
</%isa:derivative>

<%isa:op name="DELETE_GLOBAL" region="leaves counts" operands="name" calls_out="yes" kills="all" doc="Unassigns a global: NameError if it is not assigned.">
    if (!dv_store_global(vm, fp, CELL(1).v, DV_EMPTY)) RAISE();
    NEXT();
</%isa:op>

<%isa:op name="LOAD_NAME" operands="name" stack="-- v" calls_out="yes" doc="Class body: pushes a name of the class namespace (local 0), a global or a builtin.">
    const dv_value v = dv_load_name(vm, fp, CELL(1).v);
    if (dv_is_empty(v)) RAISE();
    DONE(v);
</%isa:op>

<%isa:op name="STORE_NAME" operands="name" stack="v --" calls_out="yes" kills="all" doc="Class body: stores into the class namespace.">
    if (!dv_store_name(vm, fp, CELL(1).v, v)) RAISE();
    dv_release_outer(vm, v);
    DONE0();
</%isa:op>

<%isa:op name="DELETE_NAME" operands="name" calls_out="yes" kills="all" doc="Class body: removes a name from the class namespace.">
    if (!dv_delete_name(vm, fp, CELL(1).v)) RAISE();
    NEXT();
</%isa:op>

<%isa:op name="STORE_CLASS_CELL" operands="local" calls_out="yes" kills="all" doc="Class body: puts the cell in a local, which will hold the class, into the namespace as __classcell__.">
    if (!dv_store_name(vm, fp, vm->known.class_cell, LOCAL(1))) RAISE();
    NEXT();
</%isa:op>

<%isa:op name="POP_TOP" region="dv_step_pop" stack="v --" doc="Drops the top of the stack.">
    sp -= 1;
    NEXT_RELEASING(v);
</%isa:op>

<%isa:op name="COPY" region="dv_step_copy" operands="count" variable="copy" stack="-- v" doc="Pushes an owned copy of the n-th entry from the top (1 is the top).">
    DONE(dv_retain(sp[-CELL(1).i]));
</%isa:op>

<%isa:op name="SWAP" region="dv_step_swap" operands="count" variable="swap" doc="Exchanges the top with the n-th entry from the top.">
    const dv_value top = sp[-1];
    sp[-1] = sp[-CELL(1).i];
    sp[-CELL(1).i] = top;
    NEXT();
</%isa:op>
