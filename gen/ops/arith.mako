## arith.mako: unary and binary operators.  Derivatives are made from lists of types (Brunthaler 2013, equation 3):
## a general definition with its types fixed.
<%
BINARY = ["ADD", "SUB", "MUL", "TRUEDIV", "FLOORDIV", "MOD", "POW", "MATMUL", "LSHIFT", "RSHIFT", "AND", "OR", "XOR"]
SIGNS = dict(zip(BINARY, ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]))

# Operators on two 48-bit ints: statements that set `result`, or MISS where the result is not an int of 48 bits.
INT = {
    "ADD": "int64_t s; if (__builtin_add_overflow((int64_t)(a.bits << 16), (int64_t)(b.bits << 16), &s)) MISS();"
           " const dv_value result = {DV_TAG_INT | (uint64_t)s >> 16};",
    "SUB": "int64_t s; if (__builtin_sub_overflow((int64_t)(a.bits << 16), (int64_t)(b.bits << 16), &s)) MISS();"
           " const dv_value result = {DV_TAG_INT | (uint64_t)s >> 16};",
    "MUL": "int64_t s; if (__builtin_mul_overflow(dv_as_int(a), (int64_t)(b.bits << 16), &s)) MISS();"
           " const dv_value result = {DV_TAG_INT | (uint64_t)s >> 16};",
    "FLOORDIV": "const int64_t y = dv_as_int(b); if (y == 0) MISS();"
                " const int64_t q = dv_floordiv64(dv_as_int(a), y); if (!dv_fits_int(q)) MISS();"
                " const dv_value result = dv_int(q);",
    "MOD": "const int64_t y = dv_as_int(b); if (y == 0) MISS(); const dv_value result = dv_int(dv_floormod64(dv_as_int(a), y));",
    "TRUEDIV": "const int64_t y = dv_as_int(b); if (y == 0) MISS();"
               " const dv_value result = dv_float((double)dv_as_int(a) / (double)y);",
    "AND": "const dv_value result = {a.bits & b.bits};",
    "OR": "const dv_value result = {a.bits | b.bits};",
    "XOR": "const dv_value result = {DV_TAG_INT | (a.bits ^ b.bits)};",
    "RSHIFT": "const int64_t n = dv_as_int(b); if (n < 0 || n > 63) MISS(); const dv_value result = dv_int(dv_as_int(a) >> n);",
    "LSHIFT": "const int64_t n = dv_as_int(b), x = dv_as_int(a); if (n < 0 || n > 46) MISS();"
              " int64_t y; if (__builtin_mul_overflow(x, INT64_C(1) << n, &y) || !dv_fits_int(y)) MISS();"
              " const dv_value result = dv_int(y);",
}
# The same on two int64, which heap ints may hold: statements that set s, or MISS beyond int64.
WORD = {
    "ADD": "if (__builtin_add_overflow(x, y, &s)) MISS();",
    "SUB": "if (__builtin_sub_overflow(x, y, &s)) MISS();",
    "MUL": "if (__builtin_mul_overflow(x, y, &s)) MISS();",
    "FLOORDIV": "if (y == 0 || y == -1) MISS(); s = dv_floordiv64(x, y);",
    "MOD": "if (y == 0 || y == -1) MISS(); s = dv_floormod64(x, y);",
    "AND": "s = x & y;",
    "OR": "s = x | y;",
    "XOR": "s = x ^ y;",
    "RSHIFT": "if (y < 0 || y > 63) MISS(); s = x >> y;",
    "LSHIFT": "if (y < 0 || y > 62 || __builtin_mul_overflow(x, INT64_C(1) << y, &s)) MISS();",
}
# Operators on doubles x and y.
FLOAT = {
    "ADD": "const dv_value result = dv_float(x + y);",
    "SUB": "const dv_value result = dv_float(x - y);",
    "MUL": "const dv_value result = dv_float(x * y);",
    "TRUEDIV": "if (y == 0.0) MISS(); const dv_value result = dv_float(x / y);",
}
# Operators on doubles x and y that are calls of C functions: statements that set s, or MISS where the result is no float.
CALLED = {
    "FLOORDIV": "if (y == 0.0) MISS(); const double s = dv_float_floordiv(x, y);",
    "MOD": "if (y == 0.0) MISS(); const double s = dv_float_mod(x, y);",
    "POW": "const double s = dv_float_power(x, y); if (!__builtin_isfinite(s) && __builtin_isfinite(x) && __builtin_isfinite(y)) MISS();",
}
# Operators on the complex numbers x + xi*j and y + yi*j: statements that set s + si*j.
COMPLEX = {
    "ADD": "const double s = x + y, si = xi + yi;",
    "SUB": "const double s = x - y, si = xi - yi;",
    "MUL": "const double s = x * y - xi * yi, si = x * yi + xi * y;",
    "TRUEDIV": "const dv_complex_parts q = dv_complex_quotient(x, xi, y, yi); const double s = q.real, si = q.imag;",
    "POW": "const dv_complex_parts q = dv_complex_power(x, xi, y, yi); const double s = q.real, si = q.imag;"
           " if (__builtin_isinf(s) || __builtin_isinf(si)) MISS();",
}
COMPLEX_PAIRS = (("complex", "complex"), ("complex", "float"), ("float", "complex"), ("complex", "int"), ("int", "complex"))
def parts(kind, name, to):
    """Declares both parts of an operand; a real one counts as a complex number without imaginary part."""
    if kind == "complex":
        return f"const double {to} = dv_as_complex({name})->real, {to}i = dv_as_complex({name})->imag;"
    return f"const double {to} = {as_double(kind, name)}, {to}i = 0.0;"

def as_double(kind, name):
    return f"dv_as_float({name})" if kind == "float" else f"(double)dv_as_int({name})"
%>
% for op in BINARY:
<%isa:op name="${op}" operands="own" stack="a b -- r" region="dv_step_binary" which="DV_BINARY_${op}" open="yes" calls_out="yes" kills="all" doc="a ${SIGNS[op]} b; or, with the bit DV_OWN_INPLACE in own, a ${SIGNS[op]}= b, where a may be changed in place.">
    const dv_value result = dv_operate_either(vm, DV_BINARY_${op}, a, b, SITE.own & DV_OWN_INPLACE);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(SITE.own, a, b);
    DONE(result);
</%isa:op>

% if op in FLOAT:
<%isa:derivative name="${op}_NUMBER" of="${op}" types="any any" promises="mixed" when="SITE.backoff > 0 && DV_COUNTS(a) && DV_COUNTS(b) && !dv_are_ints(a, b)" doc="${op} of two ints of 48 bits, floats or bools, where these change.">
    if (DV_UNLIKELY(!DV_IS_NUMBER(a) || !DV_IS_NUMBER(b) || GUARD_FAILS())) {
        if (!DV_COUNTS(a) || !DV_COUNTS(b)) MISS();
        SLOW();
    }
    if (dv_are_ints(a, b)) {
        ${INT[op]}
        DONE(result);
    }
    const double x = DV_AS_DOUBLE(a), y = DV_AS_DOUBLE(b);
    ${FLOAT[op]}
    DONE(result);
    --- out of line ---
    ((dv_cell *)ip)[1].site.seen |= dv_seen(a) | dv_seen(b);
    PUBLISH();
    const dv_value result = dv_operate_either(vm, DV_BINARY_${op}, DV_AS_COUNTED(a), DV_AS_COUNTED(b), false);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DONE(result);
</%isa:derivative>
% endif

% if op == "ADD":
<%isa:derivative name="${op}_INT_BOOL" of="${op}" types="int bool" result="int" doc="${op} of an int and a bool: where conditions are counted.">
    const int64_t s = dv_as_int(a) + (b.bits == DV_TRUE.bits);
    if (DV_UNLIKELY(!dv_fits_int(s))) MISS();
    DONE(dv_int(s));
</%isa:derivative>
% endif

% if op in WORD:
<%isa:derivative name="${op}_WORD" of="${op}" types="word word" when="SITE.backoff > 0 && SITE.backoff < DV_SITE_ANY_SIZE && dv_int_is_word(a) && dv_int_is_word(b)" doc="${op} of two ints within int64, whose result is, too; where ${op}_INT has missed.">
    int64_t x, y, s;
    if (DV_UNLIKELY(!dv_are_ints(a, b))) SLOW();
    x = dv_as_int(a);
    y = dv_as_int(b);
    ${WORD[op]}
    if (DV_UNLIKELY(!dv_fits_int(s))) SLOW();
    DONE(dv_int(s));
    --- out of line ---
    int64_t x, y, s;
    if (!dv_int_to_word(a, &x) || !dv_int_to_word(b, &y)) MISS();
    ${WORD[op]}
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_int_over(vm, s, own & 1 ? a : DV_NONE, own & 2 ? b : DV_NONE);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DONE(result);
</%isa:derivative>
% endif

% if op in INT:
<%
short = "INT"
fits = f" && !(SITE.backoff >= DV_SITE_ANY_SIZE && dv_int_outgrows(DV_BINARY_{op}, a, b))" if op in ("ADD", "SUB", "MUL", "LSHIFT") else ""
%>
<%isa:derivative name="${op}_INT" of="${op}" types="int int" when="dv_are_ints(a, b)${fits}" result="${'float' if op == 'TRUEDIV' else 'int'}" fuses="SL SC LL LC CL" doc="${op} of two ints with a result of at most 48 bits.">
    ${INT[op]}
    DONE(result);
</%isa:derivative>
% endif

% if op in FLOAT:
% for left, right in (("float", "float"), ("float", "int"), ("int", "float")):
<%
short = "FLOAT" if left == right else f"{left}_{right}".upper()
%>
<%isa:derivative name="${op}_${short}" of="${op}" types="${left} ${right}" result="float" fuses="SL SC LL LC CL" doc="${op} of ${left} and ${right}.">
    const double x = ${as_double(left, "a")}, y = ${as_double(right, "b")};
    ${FLOAT[op]}
    DONE(result);
</%isa:derivative>
% endfor
% endif

% if op in CALLED:
% for left, right in (("float", "float"), ("float", "int"), ("int", "float")):
<% short = "FLOAT" if left == right else f"{left}_{right}".upper() %>
<%isa:derivative name="${op}_${short}" of="${op}" types="${left} ${right}" result="float" doc="${op} of ${left} and ${right} that is a float.">
    SLOW();
    --- out of line ---
    const double x = ${as_double(left, "a")}, y = ${as_double(right, "b")};
    ${CALLED[op]}
    DONE(dv_float(s));
</%isa:derivative>
% endfor
% endif

% if op == "POW":
<%isa:derivative name="${op}_INT" of="${op}" types="int int" result="int" doc="${op} of two ints with a result of at most 48 bits.">
    SLOW();
    --- out of line ---
    const int64_t s = dv_int64_power_or_min(dv_as_int(a), dv_as_int(b));
    if (!dv_fits_int(s)) MISS();
    DONE(dv_int(s));
</%isa:derivative>
% endif

% if op in ("AND", "OR", "XOR"):
<%isa:derivative name="${op}_BOOL" of="${op}" types="bool bool" result="bool" doc="${op} of two bools.">
    const dv_value result = {${"DV_FALSE.bits | (a.bits ^ b.bits)" if op == "XOR" else f"a.bits {SIGNS[op]} b.bits"}};
    DONE(result);
</%isa:derivative>
% endif

% if op in COMPLEX:
% for left, right in COMPLEX_PAIRS:
<%
short = "COMPLEX" if left == right else f"{left}_{right}".upper()
%>
<%isa:derivative name="${op}_${short}" of="${op}" types="${left} ${right}" result="complex" doc="${op} of ${left} and ${right}; an operand that dies here takes the result.">
% if op != "POW":
    ${parts(left, "a", "x")}
    ${parts(right, "b", "y")}
% if op == "TRUEDIV":
    if (y == 0.0 && yi == 0.0) MISS();
% endif
    ${COMPLEX[op]}
    dv_complex *z = dv_complex_take_room(vm, ${"SITE.own & 1 ? a : DV_NONE" if left == "complex" else "DV_NONE"}, ${"SITE.own & 2 ? b : DV_NONE" if right == "complex" else "DV_NONE"});
    if (DV_UNLIKELY(!z)) SLOW();
    z->real = s;
    z->imag = si;
    DONE(dv_object_value(z));
% else:
    SLOW();
% endif
    --- out of line ---
    ${parts(left, "a", "x")}
    ${parts(right, "b", "y")}
    ${COMPLEX[op]}
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_complex_over(vm, s, si, own & 1 ? a : DV_NONE, own & 2 ? b : DV_NONE);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DONE(result);
</%isa:derivative>
% endfor
% endif

<%isa:derivative name="${op}_DL" of="${op}" types="instance any" doc="${op} of an instance whose class has the operator's method in dl: enters its frame.">
    if (DV_UNLIKELY(dv_operate_other(vm, a, b))) MISS();
    if (DV_UNLIKELY(SITE.own & DV_OWN_INPLACE)) SLOW();
    dv_function *method = dv_operate_method(vm, a, vm->known.binary[DV_BINARY_${op}], sp);
    const uint64_t how = DV_OPERATE_HOW(DV_OPERATE_BINARY, DV_BINARY_${op}, SITE.own);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, a, b, how);
    --- out of line ---
    dv_function *method = dv_operate_method(vm, a, vm->known.inplace[DV_BINARY_${op}], sp);
    uint64_t how = DV_OPERATE_HOW(DV_OPERATE_INPLACE, DV_BINARY_${op}, SITE.own & 3);
    if (!method) {
        if (DV_UNLIKELY(!dv_operate_lacks(vm, a, vm->known.inplace[DV_BINARY_${op}]))) MISS();
        method = dv_operate_method(vm, a, vm->known.binary[DV_BINARY_${op}], sp);
        how = DV_OPERATE_HOW(DV_OPERATE_FALLEN, DV_BINARY_${op}, SITE.own & 3);
    }
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, a, b, how);
</%isa:derivative>

<%isa:derivative name="${op}_REFLECTED" of="${op}" types="any instance" when="!(SITE.own & DV_OWN_INPLACE) && !dv_is_object(a) && dv_is_plain_instance(b)" doc="${op} of a number and an instance whose class has the reflected method in dl: enters its frame.">
    if (DV_UNLIKELY(dv_is_object(a) || !dv_is_plain_instance(b))) MISS();
    dv_function *method = dv_operate_method(vm, b, vm->known.reflected[DV_BINARY_${op}], sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, b, a, DV_OPERATE_HOW(DV_OPERATE_REFLECTED, DV_BINARY_${op}, SITE.own));
</%isa:derivative>

% if op == "ADD":
<%isa:derivative name="${op}_STR" of="${op}" types="str str" result="str" doc="${op} of two strs; a left operand that dies here grows in place.">
    const uint8_t own = SITE.own;
    PUBLISH();
    dv_value result;
    if (own & 1 && dv_as_object(a)->references == 1) {
        sp[-2] = DV_NONE; /* consumed */
        result = dv_str_append(vm, a, b);
        if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
        DISPOSE1(own >> 1, b);
    } else {
        /* An augmented assignment stores the result where a came from: a may grow under it. */
        result = own & DV_OWN_INPLACE ? dv_str_extend(vm, a, b) : dv_str_concat(vm, a, b);
        if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
        DISPOSE2(own, a, b);
    }
    DONE(result);
</%isa:derivative>
% endif

% if op in ("ADD", "SUB", "MUL", "FLOORDIV", "MOD", "LSHIFT", "RSHIFT", "AND", "OR", "XOR"):
## (Ints within int64 wait for ${op}_WORD; where that has missed, too, all are served here.)
<% words = "dv_int_is_word(a) && dv_int_is_word(b)" %>
<%isa:derivative name="${op}_TYPE" of="${op}" types="any any" when="${words} ? SITE.backoff >= DV_SITE_ANY_SIZE : dv_operate_asks_types(a, b)" doc="${op} of two operands of built-in types, which are not both small numbers: their types' C functions are asked at once; or of two ints of any size.">
% if op == "ADD":
    /* n += x < y */
    if (dv_is_int(a) && dv_is_bool(b) && dv_as_int(a) < DV_INT_MAX) DONE(dv_int(dv_as_int(a) + dv_same(b, DV_TRUE)));
% endif
    if (DV_UNLIKELY(!dv_is_exact_int(a) || !dv_is_exact_int(b) || GUARD_FAILS())) SLOW();
    PUBLISH();
    const dv_value made = dv_int_do_${op}(vm, a, b, SITE.own);
    if (DV_UNLIKELY(dv_is_empty(made))) RAISE();
    DONE(made);
    --- out of line ---
    if (DV_UNLIKELY(!dv_operate_asks_types(a, b) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_type *type = dv_operate_type(vm, a);
    dv_value result = DV_NOTIMPLEMENTED;
    if (type && type->id != DV_T_INT && type->binary && !(own & DV_OWN_INPLACE && type->inplace)) result = type->binary(vm, DV_BINARY_${op}, a, b);
    if (dv_same(result, DV_NOTIMPLEMENTED)) result = dv_operate_types(vm, DV_BINARY_${op}, a, b, own & DV_OWN_INPLACE);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    if (DV_UNLIKELY(dv_same(result, DV_NOTIMPLEMENTED))) MISS();
    DISPOSE2(own, a, b);
    DONE(result);
</%isa:derivative>
% endif
% endfor

% for op, sign in (("NEG", "-"), ("POS", "+"), ("INVERT", "~")):
<%isa:op name="${op}" operands="own" stack="a -- r" region="${'dv_step_negate' if op == 'NEG' else 'embeds'}" open="yes" calls_out="yes" kills="all" doc="${sign}a.">
    const dv_value result = dv_unary(vm, DV_UNARY_${op}, a);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(SITE.own, a);
    DONE(result);
</%isa:op>
% endfor

<%isa:derivative name="NEG_INT" of="NEG" types="int" result="int" doc="-a of an int.">
    const int64_t x = -dv_as_int(a);
    if (!dv_fits_int(x)) MISS();
    DONE(dv_int(x));
</%isa:derivative>

<%isa:derivative name="NEG_FLOAT" of="NEG" types="float" result="float" doc="-a of a float.">
    DONE(dv_float(-dv_as_float(a)));
</%isa:derivative>

<%isa:derivative name="NEG_COMPLEX" of="NEG" types="complex" result="complex" doc="-a of a complex number.">
    const double s = -dv_as_complex(a)->real, si = -dv_as_complex(a)->imag;
    dv_complex *z = dv_complex_take_room(vm, SITE.own & 1 ? a : DV_NONE, DV_NONE);
    if (DV_UNLIKELY(!z)) SLOW();
    z->real = s;
    z->imag = si;
    DONE(dv_object_value(z));
    --- out of line ---
    const double s = -dv_as_complex(a)->real, si = -dv_as_complex(a)->imag;
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_complex_over(vm, s, si, own & 1 ? a : DV_NONE, DV_NONE);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DONE(result);
</%isa:derivative>

% for kind in ("int", "float"):
<%isa:derivative name="POS_${kind.upper()}" of="POS" types="${kind}" result="${kind}" doc="+a of ${'an int' if kind == 'int' else 'a float'}.">
    DONE(a);
</%isa:derivative>
% endfor

<%isa:derivative name="INVERT_INT" of="INVERT" types="int" result="int" doc="~a of an int.">
    DONE(dv_int(~dv_as_int(a)));
</%isa:derivative>

% for op, sign in (("NEG", "-"), ("POS", "+"), ("INVERT", "~")):
<%isa:derivative name="${op}_DL" of="${op}" types="instance" doc="${sign}a of an instance whose class has the method in dl: enters its frame.">
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, a, vm->known.${op.lower()}), 1, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE1(method, a, DV_OPERATE_HOW(DV_OPERATE_UNARY, 0, SITE.own));
</%isa:derivative>

% endfor
<%isa:op name="NOT" region="dv_step_not" operands="own" stack="a -- r" calls_out="yes" kills="all" doc="not a.">
    const int truth = dv_truth(vm, a);
    if (DV_UNLIKELY(truth < 0)) RAISE();
    DISPOSE1(SITE.own, a);
    DONE(dv_bool(!truth));
</%isa:op>

<%isa:derivative name="NOT_BOOL" of="NOT" types="bool" result="bool" doc="not a, of a bool.">
    DONE(((dv_value){a.bits ^ 1}));
</%isa:derivative>

% for kind, guard, truth in (("INT", "int", "a.bits == DV_TAG_INT"), ("STR", "str", "dv_as_str(a)->length == 0"), ("LIST", "list", "dv_as_list(a)->count == 0"), ("TUPLE", "tuple", "dv_as_tuple(a)->count == 0"), ("DICT", "dict", "dv_as_dict(a)->count == 0")):
<%isa:derivative name="NOT_${kind}" of="NOT" types="${guard}" result="bool" fuses="L" doc="not a, of a ${guard}.">
% if kind == "INT":
    DONE(dv_bool(${truth}));
% else:
    DONE_RELEASING(dv_bool(${truth}), SITE.own & 1, a);
% endif
</%isa:derivative>

% endfor
<%isa:derivative name="NOT_NONE" of="NOT" types="none" result="bool" doc="not a, of None.">
    DONE(DV_TRUE);
</%isa:derivative>

<%isa:derivative name="NOT_INSTANCE" of="NOT" types="instance" doc="not a, of an instance: of a class without __bool__ and __len__, or it enters the frame of what these are in dl.">
    if (DV_UNLIKELY(!vm->shapes[dv_as_object(a)->shape]->class_->truthful)) SLOW();
    DONE_RELEASING(DV_FALSE, SITE.own & 1, a);
    --- out of line ---
    if (dv_class_truthful(vm, vm->shapes[dv_as_object(a)->shape]->class_)) TAIL(DV_H(NOT));
    const dv_special *known = dv_operate_truth(vm, a);
    dv_function *method = dv_operate_enters(vm, known, 1, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE1(method, a, DV_OPERATE_HOW(DV_OPERATE_TRUTH_BY(vm, known), DV_OPERATE_OPPOSITE_VALUE, SITE.own));
</%isa:derivative>
