## region_object.mako: lists, loops, boxing, and the edges of regions.

% for prefix, type in (("RL", "list"), ("RT", "tuple")):
% for kind, test, take in (("I", "dv_is_int(v)", "dv_as_int(v)"), ("D", "dv_is_float(v)", "dv_as_float(v)")):
% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r")):
% for to in "RS":
<%
set_to = {"IR": "r = ", "DR": "d = ", "IS": "SLOT_I(c) = "}.get(kind + to)
%>
<%isa:region name="${prefix}_GET_${kind}_${mode}_${to}" operands="" cache="3" modes="${mode}${to}" doc="Item of the ${type} in home slot a, which must be ${'an int' if kind == 'I' else 'a float'} (guard), within bounds.">
    const dv_${type} *sequence = dv_as_${type}(HOME(a));
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)sequence->count)) {
        if (i >= 0 || (i += sequence->count) < 0) EXIT();
    }
    const dv_value v = sequence->items[i];
    if (DV_UNLIKELY(!${test} || GUARD_FAILS())) EXIT();
    ${set_to + take if set_to else "SET_D(c, " + take + ")"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for kind, test in (("L", "dv_is_shape(v, DV_T_LIST)"), ("A", "true")):
% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r")):
<%isa:region name="${prefix}_GET_${kind}_${mode}" operands="" cache="3" modes="${mode}" doc="${'List item' if kind == 'L' else 'Item'} of the ${type} in home slot a, owned, to home slot c.">
    const dv_${type} *sequence = dv_as_${type}(HOME(a));
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)sequence->count)) {
        if (i >= 0 || (i += sequence->count) < 0) EXIT();
    }
    const dv_value v = sequence->items[i];
    if (DV_UNLIKELY(!${test} || GUARD_FAILS())) EXIT();
    HOME(c) = dv_retain(v);
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for kind, what, fits, value, boxed in (("I", "raw int slot b", " || !dv_fits_int(SLOT_I(b))", "dv_int(SLOT_I(b))", "dv_int_from_int64(vm, SLOT_I(b))"), ("D", "raw double slot b", "", "HOME(b)", "HOME(b)"), ("V", "home slot b, which is moved,", "", "HOME(b)", "HOME(b)")):
<%isa:region name="RL_APPEND_${kind}" operands="" cache="3" doc="Appends ${what} to the list in home slot a.">
    dv_list *list = dv_as_list(HOME(a));
    if (DV_UNLIKELY(list->count == list->capacity${fits})) SLOW();
    list->items[list->count++] = ${value};
    REGION_NEXT();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value item = ${boxed};
    if (dv_is_empty(item) || !dv_list_append(vm, HOME(a), item)) RAISE();
    dv_release_outer(vm, item);
    REGION_NEXT();
</%isa:region>
% endfor

% for kind, values in (("I", (("R", "r"), ("S", "SLOT_I(c)"))), ("D", (("R", "d"), ("S", "SLOT_D(c)")))):
% for value_mode, value in values:
% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r")):
<%isa:region name="RL_SET_${kind}_${mode}_${value_mode}" operands="" cache="3" modes="${mode}${value_mode}" doc="Stores a raw ${'int' if kind == 'I' else 'double'} into the list in home slot a, within bounds, over an immediate value.">
    dv_list *list = dv_as_list(HOME(a));
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)list->count)) {
        if (i >= 0 || (i += list->count) < 0) EXIT();
    }
% if kind == "I":
    const int64_t x = ${value};
    if (DV_UNLIKELY(!dv_fits_int(x) || dv_is_object(list->items[i]) || GUARD_FAILS())) EXIT();
    list->items[i] = dv_int(x);
% else:
    if (DV_UNLIKELY(dv_is_object(list->items[i]) || GUARD_FAILS())) EXIT();
    list->items[i] = dv_float(${value});
% endif
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for prefix, type in (("RL", "list"), ("RT", "tuple")):
<%isa:region name="${prefix}_LENGTH" operands="" cache="3" doc="Length of the ${type} in home slot a, to the int register.">
    r = dv_as_${type}(HOME(a))->count;
    REGION_NEXT();
</%isa:region>
% endfor

% for name, step, where in (("R_RANGE", "CELL(2).i", "constant step"), ("R_RANGE_BY", "r", "the step in the int register (leaves where it is 0)")):
<%isa:region name="${name}" operands="" cache="3" doc="Starts a range loop: raw slots a start, b stop, ${where}; c: the loop's three slots (remaining, next, step). The iterator object is virtual: its home slot d holds None.">
    const int64_t start = SLOT_I(a), stop = SLOT_I(b), step = ${step};
% if name == "R_RANGE_BY":
    if (DV_UNLIKELY(step == 0 || GUARD_FAILS())) EXIT();
% endif
    const uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    const uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    const bool some = step > 0 ? start < stop : start > stop;
    RANGE(c)[0].bits = some ? (span - 1) / stride + 1 : 0;
    RANGE(c)[1].bits = (uint64_t)start;
    RANGE(c)[2].bits = (uint64_t)step;
    HOME(d) = DV_NONE;
    REGION_NEXT();
</%isa:region>
% endfor

<%isa:region name="R_FOR_RANGE" operands="" cache="3" doc="Head of a range loop: next int to raw slot b, or jumps when it is exhausted.">
    dv_value *range = RANGE(a);
    if (DV_UNLIKELY(range[0].bits == 0)) {
        ip = CELL(3).target;
        GO();
    }
    range[0].bits--;
    SLOT_I(b) = (int64_t)range[1].bits;
    range[1].bits += range[2].bits;
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_NEXT_RANGE" operands="" cache="4" doc="Back edge of a range loop: safepoint, R_FOR_RANGE, and jump to the body.">
    REGION_SAFEPOINT();
    dv_value *range = RANGE(a);
    if (DV_UNLIKELY(range[0].bits == 0)) {
        ip = CELL(3).target;
        GO();
    }
    range[0].bits--;
    SLOT_I(b) = (int64_t)range[1].bits;
    range[1].bits += range[2].bits;
    ip = CELL(4).target;
    GO();
</%isa:region>

<%isa:region name="R_JUMP" operands="" cache="3" doc="Jumps.">
    ip = CELL(3).target;
    GO();
</%isa:region>
<%isa:region name="R_JUMP_BACK" operands="" cache="3" doc="Back edge: safepoint and jump.">
    REGION_SAFEPOINT();
    ip = CELL(3).target;
    GO();
</%isa:region>
<%isa:region name="R_IF_TRUE" operands="" cache="3" doc="Jumps if the truth value in the register is true.">
    REGION_BRANCH(r);
</%isa:region>
<%isa:region name="R_IF_FALSE" operands="" cache="3" doc="Jumps if the truth value in the register is false.">
    REGION_BRANCH(!r);
</%isa:region>

<%isa:region name="R_ITEMS_IN" operands="" cache="3" doc="Has the set or dict in home slot a a tuple of the c raw ints in slots b and behind it?  To the int register; leaves where that must be asked.">
    const int found = dv_raw_items_in(vm, fp + ip[1].o.b, ip[1].o.c, HOME(a));
    if (DV_UNLIKELY(found < 0 || GUARD_FAILS())) EXIT();
    r = found;
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_IF_MADE" operands="" cache="3" doc="Jumps if home slot a has a value, and no instance that has faded there.">
    REGION_BRANCH(!dv_same(HOME(a), DV_FADED));
</%isa:region>

<%isa:region name="R_UNBOX_I" operands="" cache="3" doc="Int in home slot a (guard), to the int register.">
    if (DV_UNLIKELY(!dv_is_int(HOME(a)) || GUARD_FAILS())) EXIT();
    r = dv_as_int(HOME(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_UNBOX_D" operands="" cache="3" doc="Float in home slot a (guard), to the double register.">
    if (DV_UNLIKELY(!dv_is_float(HOME(a)) || GUARD_FAILS())) EXIT();
    d = dv_as_float(HOME(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_UNBOX_B" operands="" cache="3" doc="Bool in home slot a (guard), to the int register.">
    if (DV_UNLIKELY(!dv_is_bool(HOME(a)) || GUARD_FAILS())) EXIT();
    r = HOME(a).bits == DV_TRUE.bits;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_UNBOX_C" operands="" cache="3" doc="Int or bool in home slot a (guard), to the int register.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY((!dv_is_int(v) && !dv_is_bool(v)) || GUARD_FAILS())) EXIT();
    r = dv_is_int(v) ? dv_as_int(v) : dv_same(v, DV_TRUE);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_UNBOX_N" operands="" cache="3" doc="Int, float or bool in home slot a (guard), as a double to the double register.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY(!DV_COUNTS(v) || GUARD_FAILS())) EXIT();
    d = dv_is_float(v) ? dv_as_float(v) : dv_is_int(v) ? I2D(dv_as_int(v)) : (double)dv_same(v, DV_TRUE);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_TAKE_I" operands="" cache="3" doc="Int within int64 in home slot a (guard), immediate or not, which owns it, to the int register.">
    const dv_value v = HOME(a);
    if (DV_UNLIKELY(!dv_is_int(v))) SLOW();
    if (DV_UNLIKELY(GUARD_FAILS())) EXIT();
    r = dv_as_int(v);
    REGION_NEXT();
    --- out of line ---
    const dv_value v = HOME(a);
    if (!dv_int_is_word(v) || GUARD_FAILS()) EXIT();
    {
        int64_t word = 0;
        (void)dv_int_to_word(v, &word);
        r = word;
    }
    HOME(a) = DV_NONE;
    dv_release_object_outer(vm, dv_as_object(v)); /* no code runs */
    REGION_NEXT();
</%isa:region>
% for type in "list", "tuple":
<%isa:region name="R_GUARD_${type.upper()}" operands="" cache="3" doc="Leaves unless home slot a holds a ${type}.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_${type.upper()}) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
% endfor

<%isa:region name="R_LOAD_CELL" operands="" cache="3" doc="Value of the variable in the cell that home slot a holds, owned, to home slot c; leaves where it is unassigned.">
    const dv_value v = dv_as_variable(HOME(a))->value;
    if (DV_UNLIKELY(dv_is_empty(v) || GUARD_FAILS())) EXIT();
    HOME(c) = dv_retain(v);
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_GUARD_CELL" operands="" cache="3" doc="Leaves unless the variable in the cell that home slot a holds has the value in the instruction.">
    if (DV_UNLIKELY(dv_as_variable(HOME(a))->value.bits != CELL(2).v.bits || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_GUARD_UNSET" operands="" cache="3" doc="Leaves unless nothing is in home slot a, a local that may be unassigned.">
    if (DV_UNLIKELY(!dv_is_empty(HOME(a)) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_GUARD_ANSWER" operands="" cache="3" doc="Leaves if home slot a holds NotImplemented, the result of an operator's method.">
    if (DV_UNLIKELY(HOME(a).bits == DV_NOTIMPLEMENTED.bits || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_BOX_I" operands="" cache="3" homes="box" doc="Raw int slot a as a value to home slot b.">
    const int64_t x = SLOT_I(a);
    if (DV_UNLIKELY(!dv_fits_int(x))) SLOW();
    HOME(b) = dv_int(x);
    REGION_NEXT();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value made = dv_int_from_int64(vm, SLOT_I(a));
    HOME(b) = dv_is_empty(made) ? DV_NONE : made;
    if (dv_is_empty(made)) RAISE();
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_BOX_D" operands="" cache="3" homes="box" doc="Raw double slot a as a value to home slot b.">
    HOME(b).bits = HOME(a).bits;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_BOX_B" operands="" cache="3" homes="box" doc="Raw truth value in slot a as a value to home slot b.">
    HOME(b) = dv_bool(SLOT_I(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_BOX_C" operands="" cache="3" homes="box" doc="Raw character in slot a as a str to home slot b.">
    dv_object *made = vm->interned ? vm->interned[(uint8_t)SLOT_I(a)] : NULL;
    if (DV_UNLIKELY(!made)) SLOW();
    made->references++;
    HOME(b) = dv_object_value(made);
    REGION_NEXT();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value made = dv_str_char(vm, (uint8_t)SLOT_I(a));
    HOME(b) = dv_is_empty(made) ? DV_NONE : made;
    if (dv_is_empty(made)) RAISE();
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_VALUE" operands="" cache="3" homes="constant" doc="A constant value, retained, to home slot a.">
    HOME(a) = dv_retain(CELL(2).v);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_VALUE_B" operands="" cache="3" homes="constant_b" doc="A constant value, borrowed, to home slot a.">
    HOME(a) = CELL(2).v;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_COPY" operands="" cache="3" homes="copy" doc="Home slot a, retained, to home slot b.">
    HOME(b) = dv_retain(HOME(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_COPY_FADED" operands="" cache="3" doc="If home slot b has DV_FADED: home slot a, retained, to it.">
    if (dv_same(HOME(b), DV_FADED)) HOME(b) = dv_retain(HOME(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_BORROW" operands="" cache="3" homes="borrow" doc="Home slot a, not retained, to home slot b.">
    HOME(b) = HOME(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_EXCHANGE" operands="" cache="3" homes="exchange" doc="Exchanges home slots a and b.">
    const dv_value x = HOME(a);
    HOME(a) = HOME(b);
    HOME(b) = x;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_STORE_HOME" operands="" cache="3" homes="move" doc="Moves home slot a to local c and releases what that held.">
    const dv_value old = HOME(c);
    if (dv_is_object(old) && DV_UNLIKELY(dv_as_object(old)->references == 1)) SLOW();
    HOME(c) = HOME(a);
    if (dv_is_object(old)) dv_as_object(old)->references--;
    REGION_NEXT();
    --- out of line ---
    const dv_value old = HOME(c);
    HOME(c) = HOME(a);
    PUBLISH_AT(d);
    dv_release_object_outer(vm, dv_as_object(old));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_RELEASE" operands="" cache="3" homes="release" doc="Releases home slot a, which becomes None.">
    const dv_value old = HOME(a);
    if (dv_is_object(old)) {
        if (DV_UNLIKELY(dv_as_object(old)->references == 1)) SLOW();
        dv_as_object(old)->references--;
    }
    HOME(a) = DV_NONE;
    REGION_NEXT();
    --- out of line ---
    const dv_value old = HOME(a);
    HOME(a) = DV_NONE;
    PUBLISH_AT(d);
    dv_release_object_outer(vm, dv_as_object(old));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_SET_SP" operands="" cache="3" doc="The operand stack ends at slot a: what follows is a stack instruction.">
    sp = fp + CELL(1).o.a;
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_SLICE" operands="" cache="4" doc="Slice of the sequence in home slot a (guard), from raw int slot b to c by the step in the instruction, to a home slot.">
    if (DV_UNLIKELY(!dv_slice_suits(HOME(a)) || GUARD_FAILS())) EXIT();
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value container = HOME(a);
    const int32_t to = CELL(4).s.a;
    const bool is_owned = CELL(4).s.b;
    const dv_value result = dv_slice_between(vm, container, SLOT_I(b), SLOT_I(c), CELL(2).i);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    fp[to] = result;
    if (is_owned) dv_release_outer(vm, container);
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_EXPRESSION" operands="" cache="4" doc="An expression of several sites of an extension, on the entries of the operand stack from home slot a on and the frame's locals from b on; the result goes to a. Leaves in front of it where its sites are to be executed one by one.">
    if (DV_UNLIKELY(GUARD_FAILS())) EXIT();
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    const int outcome = vm->hooks.plugin.run(vm, CELL(2).p, &HOME(b));
    if (DV_UNLIKELY(outcome == DV_FOREIGN_RAISED)) {
        ip = vm->ip;
        RAISE();
    }
    ip = outcome == DV_FOREIGN_DONE ? CELL(4).target : CELL(3).target;
    GO();
</%isa:region>
<%isa:region name="R_NODE" operands="" cache="0" doc="The place of one more site of the R_EXPRESSION in front, where that warns or raises; never executed.">
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_SHOW_I" operands="" cache="3" doc="Raw int slot a, which fits a value (guard), to home slot b of the same local, for what reads locals there.">
    if (DV_UNLIKELY(!dv_fits_int(SLOT_I(a)) || GUARD_FAILS())) EXIT();
    HOME(b) = dv_int(SLOT_I(a));
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_MAKE" operands="" cache="3" doc="Makes an instance that was virtual, to home slot a; the table in the instruction says where its attributes are.">
    HOME(a) = DV_NONE;
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    if (DV_UNLIKELY(!dv_region_make(vm, fp, CELL(2).p))) RAISE();
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_MAKE_FADED" operands="" cache="3" doc="The same of one that has faded in home slot a, if it has.">
    if (DV_LIKELY(!dv_same(HOME(a), DV_FADED))) REGION_NEXT();
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    if (DV_UNLIKELY(!dv_region_make(vm, fp, CELL(2).p))) RAISE();
    REGION_NEXT();
</%isa:region>

% for name, cache, what, dying in (("RA_RENEW", "4", "the attribute, whose place is in the instruction, of the instance in home slot b", "dv_dying_attribute(HOME(b), CELL(3))"), ("RL_RENEW", "3", "the item of the list in home slot b whose index is raw int slot c", "dv_dying_item(HOME(b), SLOT_I(c))")):
<%isa:region name="${name}" operands="" cache="${cache}" doc="As R_MAKE, of an instance that is stored to ${what} next: one that would die of that becomes the new one.">
    HOME(a) = DV_NONE;
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    if (DV_UNLIKELY(!dv_region_renew(vm, fp, CELL(2).p, ${dying}))) RAISE();
    REGION_NEXT();
</%isa:region>
% endfor

<%isa:region name="R_RAISE" operands="" cache="3" doc="An exception that is not made: what describes it, to slot a.">
    RANGE(a)[0].bits = (uint64_t)(uintptr_t)CELL(2).p;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_QUIET" operands="" cache="4" doc="The call behind it need not make what it raises if that is what the instruction says, about the value in home slot b, and nothing dies of what is in the instruction's set of home slots from a on: it goes to the target.">
    vm->quiet.declared = GUARD_FAILS() ? NULL : CELL(2).p;
    vm->quiet.at = ip;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_CATCHES" operands="" cache="3" doc="Whether the set in the instruction has the form of the exception that slot a describes, to the int register.">
    r = CELL(2).i >> dv_source_at(RANGE(a))->number & 1;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_CATCHES_OBJECT" operands="" cache="3" doc="The same where that may be an object, which is asked whether its class derives from the one in the instruction; or r if b is 1.">
    const dv_source *source = dv_source_at(RANGE(a));
    const bool caught = source->class_ ? CELL(2).i >> source->number & 1
                                       : dv_class_is_subclass(dv_as_exception(RANGE(a)[1])->class_, CELL(3).p);
    r = caught | (r & ip[1].o.b);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_RAISE_OBJECT" operands="" cache="3" doc="RAISE with as many operands as b says, or RERAISE if that is 3, of an exception that is an object: that goes behind slot a, which gets what says so.">
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    if (!dv_region_raise(vm, RANGE(a), CELL(2).p, ip[1].o.b)) RAISE();
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_HANDLE" operands="" cache="3" doc="Makes the exception that slot a describes, which is handled from now on; what was goes to home slot b, and if c is another one, the exception to that.">
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value exception = dv_region_raised(vm, RANGE(a));
    HOME(b) = vm->handled;
    vm->handled = exception;
    if (&HOME(b) != &HOME(c)) HOME(c) = dv_retain(exception);
    if (DV_UNLIKELY(!dv_is_empty(vm->error))) RAISE();
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_FORGET" operands="" cache="3" doc="Releases the arguments of the exception that slot a describes: what handles it ends.">
    SLOW();
    --- out of line ---
    PUBLISH_AT(d);
    dv_region_forget(vm, RANGE(a));
    REGION_NEXT();
</%isa:region>
% for prefix, type in (("RL", "list"), ("RT", "tuple")):
% for mode, index in (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r")):
<%isa:region name="${prefix}_INSIDE_${mode}" operands="" cache="3" doc="Jumps if an int is an index of the ${type} in home slot a.">
    const int64_t i = ${index}, count = dv_as_${type}(HOME(a))->count;
    REGION_BRANCH(i < count && i >= -count);
</%isa:region>
% endfor
% endfor
<%isa:region name="R_LOOKUP" operands="" cache="4" doc="Value in the dict in home slot a (guard) of the key in home slot b, a number or a str (guard), retained, to home slot c; jumps where there is none.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_DICT) || GUARD_FAILS())) EXIT();
    const dv_dict *dict = dv_as_dict(HOME(a));
    const int64_t number = dv_dict_plain_entry(vm, dict, HOME(b));
    if (DV_UNLIKELY(number < 0)) {
        if (number == DV_KEY_UNKNOWN) SLOW();
        ip = CELL(4).target;
        GO();
    }
    HOME(c) = dv_retain(dict->entries[number].value);
    REGION_NEXT();
    --- out of line ---
    if ((dv_is_object(HOME(b)) && !dv_is_shape(HOME(b), DV_T_STR)) || dv_as_dict(HOME(a))->asks) EXIT();
    PUBLISH_AT(d);
    const dv_value found = dv_dict_get(vm, HOME(a), HOME(b));
    if (dv_is_empty(found)) {
        ip = CELL(4).target;
        GO();
    }
    HOME(c) = dv_retain(found);
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_EXIT" operands="" cache="3" ends="yes" doc="Leaves the region: boxes raw values, rebuilds inlined frames, and goes on in INCA code.">
    TAIL(dv_region_exit);
</%isa:region>
<%isa:region name="R_RETIRED" operands="" cache="0" ends="yes" doc="Written over back edges and resume points of a region whose assumption was broken: leaves through the point's exit.">
    TAIL(dv_region_retired);
</%isa:region>
