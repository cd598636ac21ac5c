## compare.mako: comparison, identity and membership, and comparison fused with the jump that follows.
<%
COMPARE = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
def as_double(kind, name):
    return f"dv_as_float({name})" if kind == "float" else f"(double)dv_as_int({name})"
%>
% for op, sign in COMPARE.items():
<%isa:op name="${op}" operands="own" stack="a b -- r" region="dv_step_compare" which="DV_${op}" open="yes" calls_out="yes" kills="all" doc="a ${sign} b.">
    const dv_value result = dv_compare(vm, DV_${op}, a, b);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(SITE.own, a, b);
    DONE(result);
</%isa:op>

<% mixed = "SITE.backoff > 0 && DV_COUNTS(a) && DV_COUNTS(b) && !dv_are_ints(a, b)" %>\
% for jump, taken in (("JUMP_IF_FALSE", "!"), ("JUMP_IF_TRUE", "")):
<%isa:derivative name="${op}_NUMBER_${jump}" of="${op}" types="any any" promises="mixed" when="${mixed}" result="bool" covers="${jump}" doc="${op} of two ints, floats or bools, and the ${jump} behind it, where these change.">
    if (DV_UNLIKELY(!DV_IS_NUMBER(a) || !DV_IS_NUMBER(b) || GUARD_FAILS())) {
        if (!DV_COUNTS(a) || !DV_COUNTS(b)) MISS();
        SLOW();
    }
    const bool result = DV_AS_DOUBLE(a) ${sign} DV_AS_DOUBLE(b);
    sp -= IN;
    JUMP(${taken}result ? CELL(LEN + 2).target : ip + LEN + 3);
    --- out of line ---
    const dv_value x = DV_AS_COUNTED(a), y = DV_AS_COUNTED(b);
    ((dv_cell *)ip)[1].site.seen |= dv_seen(a) | dv_seen(b);
    const bool result = DV_AS_DOUBLE(x) ${sign} DV_AS_DOUBLE(y);
    sp -= IN;
    JUMP(${taken}result ? CELL(LEN + 2).target : ip + LEN + 3);
</%isa:derivative>
% endfor
<%isa:derivative name="${op}_NUMBER" of="${op}" types="any any" promises="mixed" when="${mixed}" result="bool" doc="${op} of two ints, floats or bools, where these change.">
    if (DV_UNLIKELY(!DV_IS_NUMBER(a) || !DV_IS_NUMBER(b) || GUARD_FAILS())) {
        if (!DV_COUNTS(a) || !DV_COUNTS(b)) MISS();
        SLOW();
    }
    DONE(dv_bool(DV_AS_DOUBLE(a) ${sign} DV_AS_DOUBLE(b)));
    --- out of line ---
    const dv_value x = DV_AS_COUNTED(a), y = DV_AS_COUNTED(b);
    ((dv_cell *)ip)[1].site.seen |= dv_seen(a) | dv_seen(b);
    DONE(dv_bool(DV_AS_DOUBLE(x) ${sign} DV_AS_DOUBLE(y)));
</%isa:derivative>
% for left, right in (("int", "int"), ("float", "float"), ("float", "int"), ("int", "float")):
<%
short = left.upper() if left == right else f"{left}_{right}".upper()
if left == right == "int":
    test = f"dv_as_int(a) {sign} dv_as_int(b)"
    if op in ("EQ", "NE"):
        test = f"a.bits {sign} b.bits"
    else:
        test = f"(int64_t)(a.bits << 16) {sign} (int64_t)(b.bits << 16)"
else:
    test = f"{as_double(left, 'a')} {sign} {as_double(right, 'b')}"
%>
## Fused forms first: they are preferred where they fit.
% for jump, taken in (("JUMP_IF_FALSE", "!"), ("JUMP_IF_TRUE", "")):
<%isa:derivative name="${op}_${short}_${jump}" of="${op}" types="${left} ${right}" result="bool" covers="${jump}" fuses="${'SL SC LL LC CL' if left == right else ''}" doc="${op} of ${left} and ${right}, and the ${jump} behind it.">
    const bool result = ${test};
    sp -= IN;
    JUMP(${taken}result ? CELL(LEN + 2).target : ip + LEN + 3);
</%isa:derivative>
% endfor
<%isa:derivative name="${op}_${short}" of="${op}" types="${left} ${right}" result="bool" doc="${op} of ${left} and ${right}.">
    const bool result = ${test};
    DONE(dv_bool(result));
</%isa:derivative>
% endfor
% if op in ("EQ", "NE"):
<%isa:derivative name="${op}_COMPLEX" of="${op}" types="complex complex" result="bool" doc="${op} of two complex numbers.">
    SLOW();
    --- out of line ---
    const dv_complex *const x = dv_as_complex(a), *const y = dv_as_complex(b);
    const bool equal = x->real == y->real && x->imag == y->imag;
    const uint8_t own = SITE.own;
    PUBLISH();
    DISPOSE2(own, a, b);
    DONE(dv_bool(equal ${sign} true));
</%isa:derivative>
% endif
<%isa:derivative name="${op}_DL" of="${op}" types="instance any" doc="${op} of an instance whose class has the comparison's method in dl: enters its frame.">
    if (DV_UNLIKELY(dv_operate_other(vm, a, b))) MISS();
% if op == "NE":
    dv_function *method = dv_operate_method(vm, a, vm->known.ne, sp);
    uint64_t how = DV_OPERATE_HOW(DV_OPERATE_COMPARE, DV_NE, SITE.own);
    if (!method) {
        if (DV_UNLIKELY(!dv_operate_lacks(vm, a, vm->known.ne))) MISS();
        method = dv_operate_method(vm, a, vm->known.eq, sp);
        how = DV_OPERATE_HOW(DV_OPERATE_OPPOSITE, DV_NE, SITE.own);
    }
% else:
    dv_function *method = dv_operate_method(vm, a, vm->known.${op.lower()}, sp);
    const uint64_t how = DV_OPERATE_HOW(DV_OPERATE_COMPARE, DV_${op}, SITE.own);
% endif
    if (DV_UNLIKELY(!method || vm->calls_left < 2)) MISS();
    vm->calls_left--; /* a comparison counts, and the method's frame */
    OPERATE(method, a, b, how);
</%isa:derivative>
% if op not in ("EQ", "NE"):
<%isa:derivative name="${op}_STR" of="${op}" types="str str" promises="nothing" result="bool" doc="${op} of two strs.">
    SLOW();
    --- out of line ---
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!dv_str_order_is_short(a, b))) MISS();
    const bool result = dv_str_order(a, b) ${sign} 0;
    PUBLISH();
    DISPOSE2(own, a, b);
    DONE(dv_bool(result));
</%isa:derivative>
% endif
% if op in ("EQ", "NE"):
% for jump, taken in (("JUMP_IF_FALSE", "!"), ("JUMP_IF_TRUE", "")):
<%isa:derivative name="${op}_STR_${jump}" of="${op}" types="str str" promises="nothing" result="bool" covers="${jump}" fuses="SL SC LL LC" doc="${op} of two strs, and the ${jump} behind it.">
    const uint8_t own = SITE.own;
    dv_str *x = dv_as_str(a), *y = dv_as_str(b);
    const bool same = a.bits == b.bits;
    if (!same && x->length == y->length && x->kind == y->kind && !(x->interned && y->interned)) SLOW();
    const uint32_t left_owned = own & 1, right_owned = own >> 1 & 1;
    if (DV_UNLIKELY(x->header.references <= left_owned + (same ? right_owned : 0) || y->header.references <= right_owned)) SLOW(); /* one of them dies */
    x->header.references -= left_owned;
    y->header.references -= right_owned;
    sp -= IN;
    JUMP(${taken}(same ${sign} true) ? CELL(LEN + 2).target : ip + LEN + 3);
    --- out of line ---
    const uint8_t own = SITE.own;
    const dv_cell *target = CELL(LEN + 2).target, *next = ip + LEN + 3;
    const bool result = dv_str_equal_counted(vm, a, b) ${sign} true;
    sp -= IN;
    PUBLISH();
    DISPOSE2(own, a, b);
    JUMP(${taken}result ? target : next);
</%isa:derivative>
% endfor
<%isa:derivative name="${op}_STR" of="${op}" types="str str" promises="nothing" result="bool" doc="${op} of two strs.">
    const uint8_t own = SITE.own;
    const bool result = dv_str_equal_counted(vm, a, b)${"" if op == "EQ" else " == false"};
    PUBLISH();
    DISPOSE2(own, a, b);
    DONE(dv_bool(result));
</%isa:derivative>
<%
known = f"vm->known.{op.lower()}"
both = f"dv_operate_compares_str(vm, a, {known}) && dv_operate_compares_str(vm, b, {known})"
%>
<%isa:derivative name="${op}_STR_DERIVED" of="${op}" types="any any" when="${both}" result="bool" doc="${op} of two operands that are strs or of classes derived from str which leave it to str.">
    /* What dies here does so out of line. */
    if (SITE.own || !dv_is_textual(vm, a) || !dv_is_textual(vm, b)) SLOW();
    const bool same = a.bits == b.bits;
    if (!same && dv_str_may_equal(dv_as_str(a), dv_as_str(b))) SLOW();
    DONE(dv_bool(same ${sign} true));
    --- out of line ---
    if (DV_UNLIKELY(!(${both}) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    const bool result = dv_str_equal_counted(vm, a, b) ${sign} true;
    PUBLISH();
    DISPOSE2(own, a, b);
    DONE(dv_bool(result));
</%isa:derivative>
% endif
<%isa:derivative name="${op}_TYPE" of="${op}" types="any any" when="dv_operate_compares_types(a, b)" result="bool" doc="${op} of two operands of built-in types, neither both small numbers nor both strs: their types' C functions are asked at once.">
% if op in ("EQ", "NE"):
    if ((dv_is_none(a) || dv_is_none(b)) && !SITE.own && dv_operate_is_plain(a) && dv_operate_is_plain(b)) DONE(dv_bool(a.bits ${sign} b.bits));
% endif
    SLOW();
    --- out of line ---
    if (DV_UNLIKELY(!dv_operate_compares_types(a, b) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_operate_compare(vm, DV_${op}, a, b);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(own, a, b);
    DONE(result);
</%isa:derivative>
% endfor

<%isa:op name="IS" operands="own" promises="nothing" stack="a b -- r" region="dv_step_is" doc="a is b: the same object.">
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(own & 2 && dv_is_object(b))) SLOW();
    DONE_RELEASING(dv_bool(a.bits == b.bits), own & 1, a);
    --- out of line ---
    const bool result = a.bits == b.bits;
    PUBLISH();
    DISPOSE2(SITE.own, a, b);
    DONE(dv_bool(result));
</%isa:op>

% for jump, wanted in (("JUMP_IF_FALSE", "!"), ("JUMP_IF_TRUE", "")):
<%isa:derivative name="IS_NONE_${jump}" of="IS" types="any none" result="bool" covers="${jump}" fuses="SC LC" doc="IS of something and None, and the ${jump} behind it.">
    const bool owned = SITE.own & 1;
    ip = ${wanted}(a.bits == DV_NONE.bits) ? CELL(LEN + 2).target : ip + LEN + 3;
    sp -= IN;
    if (owned) GO_RELEASING(a);
    DEAD();
    GO();
</%isa:derivative>
% endfor

<%isa:derivative name="IS_NONE" of="IS" types="any none" result="bool" fuses="SC LC" doc="IS of something and None.">
    DONE_RELEASING(dv_bool(a.bits == DV_NONE.bits), SITE.own & 1, a);
</%isa:derivative>

% for jump, wanted in (("JUMP_IF_FALSE", "!"), ("JUMP_IF_TRUE", "")):
<%isa:derivative name="IS_${jump}" of="IS" types="any any" when="true" result="bool" covers="${jump}" doc="IS of any two, and the ${jump} behind it.">
    const uint8_t own = SITE.own;
    if (own & 2 && dv_is_object(b)) {
        if (DV_UNLIKELY(dv_as_object(b)->references == 1)) TAIL(DV_H(IS)); /* it dies */
        dv_as_object(b)->references--;
    }
    ip = ${wanted}(a.bits == b.bits) ? CELL(LEN + 2).target : ip + LEN + 3;
    sp -= IN;
    if (own & 1) GO_RELEASING(a);
    DEAD();
    GO();
</%isa:derivative>
% endfor
<%isa:derivative name="IS_ANY" of="IS" types="any any" when="true" result="bool" doc="IS of any two.">
    const uint8_t own = SITE.own;
    if (own & 2 && dv_is_object(b)) {
        if (DV_UNLIKELY(dv_as_object(b)->references == 1)) TAIL(DV_H(IS)); /* it dies */
        dv_as_object(b)->references--;
    }
    DONE_RELEASING(dv_bool(a.bits == b.bits), own & 1, a);
</%isa:derivative>

<%isa:op name="IN" operands="own" stack="a b -- r" calls_out="yes" kills="all" select="dv_choose_contains" region="dv_step_contains" doc="a in b.">
    const int found = dv_contains(vm, b, a);
    if (DV_UNLIKELY(found < 0)) RAISE();
    DISPOSE2(SITE.own, a, b);
    DONE(dv_bool(found));
</%isa:op>

% for form, of, what in (("IN_DL", "instance", "an instance"), ("IN_DERIVED_DL", "derived", "an instance of a class that derives from a built-in type,")):
<%isa:derivative name="${form}" of="IN" types="any ${of}" doc="IN with ${what} whose class has __contains__ in dl: enters its frame.">
    dv_function *method = dv_operate_method(vm, b, vm->known.contains, sp);
    const uint64_t how = DV_OPERATE_HOW(DV_OPERATE_IN, 0, SITE.own);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, b, a, how);
</%isa:derivative>
% endfor

## With the jump behind it: which way to go; without: the result.
<%def name="contained(found, jump)">\
% if jump:
    sp -= IN;
    JUMP(${"" if jump == "JUMP_IF_TRUE" else "!"}(${found}) ? CELL(LEN + 2).target : ip + LEN + 3);
% else:
    DONE(dv_bool(${found}));
% endif
</%def>\
<%def name="contained_late(found, jump)">\
    const uint8_t own = SITE.own;
% if jump:
    const dv_cell *target = CELL(LEN + 2).target, *next = ip + LEN + 3;
% endif
    PUBLISH();
    const int found = ${found};
    if (DV_UNLIKELY(found < 0)) RAISE();
    DISPOSE2(own, a, b);
% if jump:
    sp -= IN;
    JUMP(${"" if jump == "JUMP_IF_TRUE" else "!"}(found) ? target : next);
% else:
    DONE(dv_bool(found));
% endif
</%def>\
% for jump in ("JUMP_IF_FALSE", "JUMP_IF_TRUE", ""):
<%
suffix, also = (f"_{jump}", f", and the {jump} behind it") if jump else ("", "")
%>\
<%isa:derivative name="IN_STR${suffix}" of="IN" types="str str" promises="nothing" result="bool" covers="${jump}" fuses="SL SC LL LC" doc="IN of two strs${also}.">
    const dv_str *part = dv_as_str(a), *text = dv_as_str(b);
    const uint8_t own = SITE.own;
    /* One character among few, neither of which dies here. */
    if (part->length != 1 || part->kind + text->kind != 2 || text->length > DV_KEY_SHORT) SLOW();
    if (DV_UNLIKELY((own & 1 && part->header.references == 1) || (own & 2 && text->header.references <= 1u + (part == text)))) SLOW();
    const bool found = dv_text_has(text->data, (size_t)text->length, part->data[0]);
    dv_as_object(a)->references -= own & 1;
    dv_as_object(b)->references -= own >> 1 & 1;
${contained("found", jump)}\
    --- out of line ---
${contained_late("dv_str_find(dv_as_str(b), dv_as_str(a), 0, dv_as_str(b)->length) >= 0", jump)}\
</%isa:derivative>

<%isa:derivative name="IN_DERIVED${suffix}" of="IN" types="any any" result="bool" covers="${jump}" doc="IN with an instance whose class leaves __contains__ to the built-in type that it derives from${also}.">
    /* What dies here does so out of line. */
    if (SITE.own || dv_is_shape(a, DV_T_TUPLE) || !dv_operate_leaves(vm, b, DV_T_DICT, DV_LEFT_CONTAINS)) SLOW();
    const int64_t number = dv_dict_known_entry(vm, dv_as_dict(b), a);
    if (number == DV_KEY_UNKNOWN) SLOW();
${contained("number >= 0", jump)}\
    --- out of line ---
    const dv_type *base = dv_operate_base(vm, b, vm->known.contains);
    if (DV_UNLIKELY(!base || !base->contains || GUARD_FAILS())) MISS();
    dv_operate_note_left(vm, b, DV_LEFT_CONTAINS);
${contained_late("base->contains(vm, b, a)", jump)}\
</%isa:derivative>

<%isa:derivative name="IN_TYPE${suffix}" of="IN" types="any any" result="bool" covers="${jump}" doc="IN of anything and an object of a built-in type${also}.">
    if (DV_UNLIKELY(!dv_is_shape(b, DV_T_LIST) && !dv_is_shape(b, DV_T_TUPLE) && !dv_is_shape(b, DV_T_RANGE))) SLOW();
    /* What dies here does so out of line. */
    const uint8_t own = SITE.own;
    const int found = dv_sequence_has_at_once(vm, b, a);
    if (found < 0 || (own & 1 && dv_is_object(a)) || (own & 2 && dv_as_object(b)->references == 1)) SLOW();
    dv_as_object(b)->references -= own >> 1 & 1;
${contained("found", jump)}\
    --- out of line ---
    const dv_type *type = dv_operate_type(vm, b);
    if (DV_UNLIKELY(!type || !type->contains || GUARD_FAILS())) MISS();
${contained_late("type->contains(vm, b, a)", jump)}\
</%isa:derivative>

% for kind, test, find, rest in (("SET", "(dv_is_shape(b, DV_T_SET) || dv_is_shape(b, DV_T_FROZENSET)) && !dv_is_set(a)", "dv_set_contains(vm, b, a)", " but a set"), ("DICT", "dv_is_shape(b, DV_T_DICT)", "dv_is_empty(dv_dict_get(vm, b, a)) ? (dv_is_empty(vm->error) ? 0 : -1) : 1", "")):
<%isa:derivative name="IN_${kind}${suffix}" saw="hashed" of="IN" types="any any" result="bool" covers="${jump}" doc="IN of anything hashable${rest} and a ${kind.lower()}${also}.">
    if (DV_UNLIKELY(!(${test}) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    const int found = dv_${kind.lower()}_first_has(vm, dv_as_${kind.lower()}(b), a);
    /* What dies here does so out of line. */
    if (found < 0 || (own & 2 && dv_as_object(b)->references == 1)) SLOW();
    if (own & 1 && dv_is_object(a)) {
        if (dv_as_object(a)->references == 1) SLOW();
        dv_as_object(a)->references--;
    }
    dv_as_object(b)->references -= own >> 1 & 1;
${contained("found", jump)}\
    --- out of line ---
${contained_late(find, jump)}\
</%isa:derivative>
% endfor
% endfor

<%isa:op name="COMPARE_ITEMS" region="dv_step_compare_items counts" operands="count count" variable="build" stack="items -- r" calls_out="yes" kills="all" doc="Compares two tuples as they are written down, without making them: their items are the n topmost entries; the second operand is the operator.">
    const int64_t half = CELL(1).i / 2;
    dv_value *const first = sp - 2 * half;
    int64_t at = 0;
    while (at < half && first[at].bits == first[half + at].bits) at++;
    uint32_t order = 1; /* 0: less, 1: equal, 2: greater */
    if (at < half) {
        const dv_value x = first[at], y = first[half + at];
        bool less, greater;
        if (dv_are_ints(x, y)) {
            less = dv_as_int(x) < dv_as_int(y);
            greater = !less;
        } else if (dv_is_float(x) && dv_is_float(y)) {
            less = dv_as_float(x) < dv_as_float(y);
            greater = dv_as_float(x) > dv_as_float(y);
        } else {
            less = greater = false;
        }
        at = less == greater ? -1 : at;
        order = less ? 0 : 2;
    }
    if (DV_UNLIKELY(at < 0 || vm->calls_left <= 0)) { /* a comparison of tuples counts as a call */
        r = -1;
        SLOW_FROM();
    }
    /* Four bits for each operator, in their order, say at which orders it is true. */
    const bool result = 0x526431 >> (4 * CELL(2).i) >> order & 1;
    /* In the order in which two tuples would: each from its end. */
    for (dv_value *end = first + half;; end = sp) {
        for (dv_value *item = end; item-- > end - half;) {
            if (dv_is_object(*item) && --dv_as_object(*item)->references == 0) {
                r = (item - first) << 1 | result;
                SLOW_FROM();
            }
        }
        if (end == sp) break;
    }
    sp = first + 1;
    sp[-1] = dv_bool(result);
    NEXT();
    --- out of line ---
    /* r: -1, or the item that dies with the result as the lowest bit; others may die after it. */
    const int64_t n = CELL(1).i, half = n / 2;
    dv_value *const first = sp - n;
    dv_value result = dv_bool(r & 1);
    int64_t below = half; /* what is to be released of the half that it is in, and then the second one */
    bool in_first = true;
    if (r < 0) {
        result = dv_compare_displays(vm, (dv_compare_op)CELL(2).i, first, half);
        if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    } else {
        below = r >> 1;
        in_first = below < half;
        dv_object_dispose(vm, dv_as_object(first[below]));
    }
    for (int64_t i = below; i-- > (in_first ? 0 : half);) dv_release_outer(vm, first[i]);
    for (int64_t i = n; in_first && i-- > half;) dv_release_outer(vm, first[i]);
    sp = first + 1;
    sp[-1] = result;
    NEXT();
</%isa:op>
