## region_number.mako: operand-mode instructions on raw int64 and double values.
##
## Modes: S a slot of the frame, K a constant in the instruction, R the register (r for ints, d for doubles).
## The letters behind a name are the operands' modes, then the result's.
<%
MODES = ["SS", "SK", "KS", "RS", "SR", "RK", "KR"]
BRANCH_MODES = ["SS", "SK", "RS", "RK"]
def ints(mode):
    a = {"S": "SLOT_I(a)", "K": "CELL(2).i", "R": "r"}[mode[0]]
    b = {"S": "SLOT_I(b)", "K": "CELL(2).i", "R": "r"}[mode[1]]
    return a, b
def doubles(mode):
    a = {"S": "SLOT_D(a)", "K": "CELL(2).d", "R": "d"}[mode[0]]
    b = {"S": "SLOT_D(b)", "K": "CELL(2).d", "R": "d"}[mode[1]]
    return a, b
def lowers(op, mode, to, kind):
    """What an operator is made of whose left operand is not in a register, or whose result goes to a slot."""
    if op in ("FLOORDIV", "MOD") and mode + to == "SSS":
        return ""  # of divmod (vm/region/step/call.c)
    found = [] if "R" in mode else [f"R_CONST_{kind}" if mode[0] == "K" else f"R_LOAD_{kind}"]
    parts = [*found, f"R{kind}_{op}_{'R' + mode[1] if found else mode}_R", *[f"R_STORE_{kind}"] * (to == "S")]
    return " ".join(parts) if len(parts) > 1 else ""
INT = {
    "ADD": "if (DV_UNLIKELY(__builtin_add_overflow(x, y, &z) || GUARD_FAILS())) EXIT();",
    "SUB": "if (DV_UNLIKELY(__builtin_sub_overflow(x, y, &z) || GUARD_FAILS())) EXIT();",
    "MUL": "if (DV_UNLIKELY(__builtin_mul_overflow(x, y, &z) || GUARD_FAILS())) EXIT();",
    "FLOORDIV": "if (DV_UNLIKELY(y == 0 || y == -1 || GUARD_FAILS())) EXIT(); z = dv_floordiv64(x, y);",
    "MOD": "if (DV_UNLIKELY(y == 0 || y == -1 || GUARD_FAILS())) EXIT(); z = dv_floormod64(x, y);",
    "AND": "z = x & y;",
    "OR": "z = x | y;",
    "XOR": "z = x ^ y;",
    "LSHIFT": "if (DV_UNLIKELY((uint64_t)y > 62 || (int64_t)((uint64_t)x << y) >> y != x || GUARD_FAILS())) EXIT(); z = (int64_t)((uint64_t)x << y);",
    "RSHIFT": "if (DV_UNLIKELY(y < 0 || GUARD_FAILS())) EXIT(); z = x >> (y > 63 ? 63 : y);",
}
DOUBLE = {"ADD": "x + y", "SUB": "x - y", "MUL": "x * y", "DIV": "x / y", "MOD": "dv_float_mod(x, y)"}
COMPARE = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
%>
% for op, code in INT.items():
% for mode in MODES:
% for to in "RS":
<%
a, b = ints(mode)
%>
<%isa:region name="RI_${op}_${mode}_${to}" operands="" cache="3" modes="${mode}${to}" lowers="${lowers(op, mode, to, 'I')}" doc="${op} of raw ints; leaves through its exit on overflow.">
    const int64_t x = ${a}, y = ${b};
    int64_t z;
    ${code}
    ${"r = z;" if to == "R" else "SLOT_I(c) = z;"}
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor
% for op, code in DOUBLE.items():
% for mode in MODES:
% for to in "RS":
<%
a, b = doubles(mode)
%>
<%isa:region name="RD_${op}_${mode}_${to}" operands="" cache="3" modes="${mode}${to}" lowers="${lowers(op, mode, to, 'D')}" doc="${op} of raw doubles.">
    const double x = ${a}, y = ${b};
% if op in ("DIV", "MOD"):
    if (DV_UNLIKELY(y == 0.0 || GUARD_FAILS())) EXIT();
% endif
    ${"d = " + code if to == "R" else "SET_D(c, " + code + ")"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for op, sign in COMPARE.items():
% for mode in BRANCH_MODES:
<%
a, b = ints(mode)
x, y = doubles(mode)
def loads(form, kind):
    return "" if mode[0] == "R" else f"R_LOAD_{kind} {form}_{op}_R{mode[1]}"
%>
<%isa:region name="RBI_${op}_${mode}" operands="" cache="3" modes="${mode}" lowers="${loads('RBI', 'I')}" doc="Jumps if ${op} holds for raw ints.">
    REGION_BRANCH(${a} ${sign} ${b});
</%isa:region>
<%isa:region name="RBDT_${op}_${mode}" operands="" cache="3" modes="${mode}" lowers="${loads('RBDT', 'D')}" doc="Jumps if ${op} holds for raw doubles.">
    REGION_BRANCH(${x} ${sign} ${y});
</%isa:region>
<%isa:region name="RBDF_${op}_${mode}" operands="" cache="3" modes="${mode}" lowers="${loads('RBDF', 'D')}" doc="Jumps if ${op} does not hold for raw doubles.">
    REGION_BRANCH(!(${x} ${sign} ${y}));
</%isa:region>
<%isa:region name="RSI_${op}_${mode}" operands="" cache="3" modes="${mode}" lowers="${loads('RSI', 'I')}" doc="The truth of ${op} of raw ints, to the register.">
    r = ${a} ${sign} ${b};
    REGION_NEXT();
</%isa:region>
<%isa:region name="RSD_${op}_${mode}" operands="" cache="3" modes="${mode}" lowers="${loads('RSD', 'D')}" doc="The truth of ${op} of raw doubles, to the register.">
    r = ${x} ${sign} ${y};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

## The condition of a `while` that begins with one of these comparisons stands at its end, too: one jump per iteration.
% for op, sign in COMPARE.items():
% for mode in ("SS", "SK"):
<%
a, b = ints(mode)
x, y = doubles(mode)
%>
% for form, left, right in (("RBI", a, b), ("RBDT", x, y)):
<%isa:region name="${form}_BACK_${op}_${mode}" operands="" cache="4" modes="${mode}" lowers="R_JUMP_BACK ${form}_${op}_${mode}" doc="Back edge: safepoint, ${form}_${op}_${mode} of the loop's head, and jump to the body.">
    REGION_SAFEPOINT();
    ip = ${left} ${sign} ${right} ? CELL(3).target : CELL(4).target;
    GO();
</%isa:region>
% endfor
<%isa:region name="RBDF_BACK_${op}_${mode}" operands="" cache="4" modes="${mode}" lowers="R_JUMP_BACK RBDF_${op}_${mode}" doc="Back edge: safepoint, RBDF_${op}_${mode} of the loop's head, and jump to the body.">
    REGION_SAFEPOINT();
    ip = ${x} ${sign} ${y} ? CELL(4).target : CELL(3).target;
    GO();
</%isa:region>
% endfor
% endfor

<%isa:region name="R_I2D_R" operands="" cache="3" doc="The int register as a double, to the double register.">
    d = I2D(r);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_I2D_S" operands="" cache="3" doc="A raw int slot as a double, to the double register.">
    d = I2D(SLOT_I(a));
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_I2D_RX" operands="" cache="3" doc="R_I2D_R where the double must be exact (quotients, comparisons): leaves beyond 2^53.">
    if (DV_UNLIKELY((uint64_t)(r + (INT64_C(1) << 53)) > UINT64_C(1) << 54 || GUARD_FAILS())) EXIT();
    d = I2D(r);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_I2D_SX" operands="" cache="3" doc="R_I2D_S where the double must be exact.">
    const int64_t x = SLOT_I(a);
    if (DV_UNLIKELY((uint64_t)(x + (INT64_C(1) << 53)) > UINT64_C(1) << 54 || GUARD_FAILS())) EXIT();
    d = I2D(x);
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_NEG_I" operands="" cache="3" doc="Negates the int register.">
    if (DV_UNLIKELY(r == INT64_MIN || GUARD_FAILS())) EXIT();
    r = -r;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_NEG_D" operands="" cache="3" doc="Negates the double register.">
    d = -d;
    REGION_NEXT();
</%isa:region>
## Two tuples of numbers that are compared and not made: r is the order of their items so far, 0: less, 1: equal, 2: greater.
% for when in ("FIRST", "NEXT"):
<%isa:region name="RO_${when}_I" operands="" cache="3" doc="${'Order of raw ints in slots a and b, to the int register.' if when == 'FIRST' else 'The same if those before were equal.'}">
    ${'' if when == 'FIRST' else 'if (r == 1) '}r = 1 + (SLOT_I(a) > SLOT_I(b)) - (SLOT_I(a) < SLOT_I(b));
    REGION_NEXT();
</%isa:region>
<%isa:region name="RO_${when}_D" operands="" cache="3" doc="${'Order of doubles in slots a and b, to the int register; leaves where there is none.' if when == 'FIRST' else 'The same if those before were equal.'}">
    ${'' if when == 'FIRST' else 'if (r == 1) '}{
        const double x = SLOT_D(a), y = SLOT_D(b);
        if (DV_UNLIKELY(x != x || y != y || GUARD_FAILS())) EXIT();
        r = 1 + (x > y) - (x < y);
    }
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RO_IS" operands="" cache="3" doc="Is the order in the int register one at which operator a (dv_compare_op) is true?  To that.">
    if (DV_UNLIKELY(vm->calls_left <= 0 || GUARD_FAILS())) EXIT(); /* it counts as a call */
    r = dv_int64s_compare((dv_compare_op)CELL(1).o.a, r, 1);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_NOT" operands="" cache="3" doc="Inverts the truth value in the register.">
    r = !r;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_SQRT" operands="" cache="3" doc="Square root of the double register; leaves for negative arguments.">
    if (DV_UNLIKELY(!(d >= 0.0) || GUARD_FAILS())) EXIT();
    d = __builtin_sqrt(d);
    REGION_NEXT();
</%isa:region>

<%isa:region name="R_LOAD_I" operands="" cache="3" doc="Slot to the int register.">
    r = SLOT_I(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_LOAD_D" operands="" cache="3" doc="Slot to the double register.">
    d = SLOT_D(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_STORE_I" operands="" cache="3" doc="Int register to a slot.">
    SLOT_I(a) = r;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_STORE_D" operands="" cache="3" doc="Double register to a slot.">
    SET_D(a, d);
    REGION_NEXT();
</%isa:region>
## Variables that the region holds: the number goes to the slot, and to the variable itself: a global's cell, where nobody may depend on the value, or
## the one that functions share.
% for prefix, what, type, found, depends in (("RG", "the global's cell in the instruction", "dv_global_cell", "CELL(2).p", "cell->constant.dependents != NULL || "), ("RV", "the variable in home slot c", "dv_variable", "dv_as_variable(HOME(c))", "")):
% for kind, register, read, put, fits, boxed in (("I", "r", "SLOT_I(b)", "SLOT_I(a) = x", "!dv_fits_int(x) || ", "dv_int(x)"), ("D", "d", "SLOT_D(b)", "SET_D(a, x)", "", "dv_float(x)"), ("B", "r", "SLOT_I(b)", "SLOT_I(a) = x", "", "dv_bool(x != 0)")):
% for mode, value in (("R", register), ("S", read)):
<%isa:region name="${prefix}_STORE_${kind}_${mode}" operands="" cache="3" modes="${mode}" doc="A raw ${'double' if kind == 'D' else 'bool' if kind == 'B' else 'int'} to ${what}, and to slot a; leaves where it does not fit.">
    ${type} *cell = ${found};
    const ${'double' if kind == 'D' else 'int64_t'} x = ${value};
    if (DV_UNLIKELY(${depends}${fits}GUARD_FAILS())) EXIT();
    cell->value = ${boxed};
    ${put};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

<%isa:region name="R_MOVE" operands="" cache="3" doc="Raw slot to raw slot.">
    SLOT_I(b) = SLOT_I(a);
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_CONST" operands="" cache="3" doc="Raw constant to a slot.">
    SLOT_I(a) = CELL(2).i;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_CONST_I" operands="" cache="3" doc="Raw constant to the int register.">
    r = CELL(2).i;
    REGION_NEXT();
</%isa:region>
<%isa:region name="R_CONST_D" operands="" cache="3" doc="Raw constant to the double register.">
    d = CELL(2).d;
    REGION_NEXT();
</%isa:region>
