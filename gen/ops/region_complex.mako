## region_complex.mako: instructions on raw complex numbers: two slots side by side, the real part in the first.
##
## Modes: S such slots, K a constant in the instruction (its parts are cells 2 and 4), D the double register, a number
## without imaginary part.  The result goes to slots.  RC_ABS is a call of libm, as those in region_call.mako are: hypot
## must round as CPython's does.
<%
MODES = ["SS", "SK", "KS", "SD", "DS"]
COMPLEX = {
    "ADD": "s = x + y; si = xi + yi;",
    "SUB": "s = x - y; si = xi - yi;",
    "MUL": "s = x * y - xi * yi; si = x * yi + xi * y;",
    "DIV": "if (DV_UNLIKELY((y == 0.0 && yi == 0.0) || GUARD_FAILS())) EXIT();"
           " const dv_complex_parts q = dv_complex_quotient(x, xi, y, yi); s = q.real; si = q.imag;",
}
def parts(mode, operand, to):
    real, imag = {"S": (f"SLOT_D({operand})", f"SLOT_IM({operand})"), "K": ("CELL(2).d", "CELL(4).d"), "D": ("d", "0.0")}[mode]
    return f"const double {to} = {real}, {to}i = {imag};"
%>
% for op, code in COMPLEX.items():
% for mode in MODES:
<%isa:region name="RC_${op}_${mode}" operands="" cache="4" modes="${mode}S" doc="${op} of raw complex numbers.">
    ${parts(mode[0], "a", "x")}
    ${parts(mode[1], "b", "y")}
    double s, si;
    ${code}
    SET_D(c, s);
    SET_IM(c, si);
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
<%isa:region name="RC_SQUARE" operands="" cache="3" doc="The complex number in slots a squared, as a power, to slots c; leaves where it is infinite.">
    const double x = SLOT_D(a), xi = SLOT_IM(a);
    const double p = x * x - xi * xi, pi = x * xi + xi * x;
    const double s = 1.0 * p - 0.0 * pi, si = 1.0 * pi + 0.0 * p; /* the power begins with 1 */
    if (DV_UNLIKELY(__builtin_isinf(s) || __builtin_isinf(si) || GUARD_FAILS())) EXIT();
    SET_D(c, s);
    SET_IM(c, si);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_POW" operands="" cache="3" doc="The complex number in slots a to the power of that in slots b, to slots c; leaves where that raises.">
    SLOW();
    --- out of line ---
    const dv_complex_parts z = dv_complex_power(SLOT_D(a), SLOT_IM(a), SLOT_D(b), SLOT_IM(b));
    if (DV_UNLIKELY(__builtin_isinf(z.real) || __builtin_isinf(z.imag) || GUARD_FAILS())) EXIT();
    SET_D(c, z.real);
    SET_IM(c, z.imag);
    REGION_NEXT();
</%isa:region>
% for op, sign in (("EQ", "=="), ("NE", "!=")):
<%isa:region name="RC_${op}" operands="" cache="3" doc="The truth of ${op} of the complex numbers in slots a and b, to the register.">
    const int real = SLOT_D(a) == SLOT_D(b), imag = SLOT_IM(a) == SLOT_IM(b);
    r = (real & imag) ${sign} 1;
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RC_NEG" operands="" cache="3" doc="The complex number in slots a with the other sign, to slots c.">
    const double x = SLOT_D(a), xi = SLOT_IM(a);
    SET_D(c, -x);
    SET_IM(c, -xi);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_ABS" operands="" cache="3" doc="The size of the complex number in slots a, to the double register; leaves where it is too large.">
    const double x = SLOT_D(a), xi = SLOT_IM(a);
    const double size = __builtin_hypot(x, xi);
    if (DV_UNLIKELY(__builtin_isinf(size) || GUARD_FAILS())) EXIT();
    d = size;
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_REAL" operands="" cache="3" doc="The real part of the complex number in slots a, to the double register.">
    d = SLOT_D(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_IMAG" operands="" cache="3" doc="The imaginary part of the complex number in slots a, to the double register.">
    d = SLOT_IM(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_MOVE" operands="" cache="3" doc="The complex number in slots a to slots c.">
    const dv_value x = HOME(a), xi = RANGE(a)[1];
    RANGE(c)[0] = x;
    RANGE(c)[1] = xi;
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_CONST" operands="" cache="4" doc="A complex constant to slots c.">
    SET_D(c, CELL(2).d);
    SET_IM(c, CELL(4).d);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_MAKE" operands="" cache="3" doc="A complex number of the doubles in slots a and b, to slots c.">
    const double x = SLOT_D(a), xi = SLOT_D(b);
    SET_D(c, x);
    SET_IM(c, xi);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_UNBOX" operands="" cache="3" doc="Complex number in home slot a (guard), to slots c.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_COMPLEX) || GUARD_FAILS())) EXIT();
    const dv_complex *z = dv_as_complex(HOME(a));
    SET_D(c, z->real);
    SET_IM(c, z->imag);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RC_BOX" operands="" cache="3" doc="The complex number in slots a as a value to home slot b.">
    dv_complex *z = dv_complex_take_room(vm, DV_NONE, DV_NONE);
    if (DV_UNLIKELY(!z)) SLOW();
    z->real = SLOT_D(a);
    z->imag = SLOT_IM(a);
    HOME(b) = dv_object_value(z);
    REGION_NEXT();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value v = dv_complex_new(vm, SLOT_D(a), SLOT_IM(a));
    HOME(b) = dv_is_empty(v) ? DV_NONE : v;
    if (DV_UNLIKELY(dv_is_empty(v))) RAISE();
    REGION_NEXT();
</%isa:region>
