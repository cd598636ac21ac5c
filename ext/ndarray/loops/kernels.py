"""The ufuncs of ndarray and their loops, as data: loops.mako makes C of it, once for each instruction set.

A *loop* computes one ufunc for inputs of one dtype.  Types are NumPy's letters: ? bool, B uint8, i int32, l int64,
f float32, d float64, D complex128; and those that are RARE, whose loops are plain ones, the same for all instruction sets
(rare_loops.mako), as are those of ONCE: b int8, h int16, H uint16, I uint32, L uint64, e float16, F complex64.  The last two are computed as
float32 and complex128, and rounded.  Expressions are C: the elements are `a` and `b`, of the C type
T; what they call is C's library or stands in arith.h.
"""

import re
from dataclasses import dataclass, field

C_TYPES = {"?": "uint8_t", "b": "int8_t", "B": "uint8_t", "h": "int16_t", "H": "uint16_t", "i": "int32_t", "I": "uint32_t",
           "l": "int64_t", "L": "uint64_t", "e": "nd_half", "f": "float", "d": "double", "F": "nd_complex64",
           "D": "nd_complex"}
NUMBERS = {"?": "BOOL", "b": "INT8", "B": "UINT8", "h": "INT16", "H": "UINT16", "i": "INT32", "I": "UINT32", "l": "INT64",
           "L": "UINT64", "e": "FLOAT16", "f": "FLOAT32", "d": "FLOAT64", "F": "COMPLEX64", "D": "COMPLEX128"}
SIGNED, UNSIGNED, FLOATS, ALL = "bhil", "BHIL", "fd", "".join(NUMBERS)
INTS = SIGNED + UNSIGNED
RARE = "bhHILeF"
# What some of these are computed as; and where double rounding would show, functions that compute as NumPy does.
COMPUTED_AS = {"e": "f", "F": "D"}
SINGLE = ("complex_multiply", "complex_divide", "complex_reciprocal", "complex_power")
# Where only bits count, some of these have the loops of others.
TWINS = {"b": "B", "I": "i", "L": "l"}
BITWISE = ("add subtract multiply negative positive conjugate square bitwise_and bitwise_or bitwise_xor invert equal not_equal "
           "logical_and logical_or logical_xor logical_not left_shift isnan isinf isfinite").split()
SIZES = dict(zip(INTS, 2 * (1, 2, 4, 8)))
HOT = "".join(letter for letter in ALL if letter not in RARE)
# How vectors of 512 bits are compared, and what their lanes' steps are.
PLACED = (("f", "int32_t", "ps", "__m512", "__mmask16", "epi32"), ("d", "int64_t", "pd", "__m512d", "__mmask8", "epi64"),
          ("i", "int32_t", "epi32", "__m512i", "__mmask16", "epi32"), ("l", "int64_t", "epi64", "__m512i", "__mmask8", "epi64"))


@dataclass
class Loop:
    type: str               # of the inputs
    result: str             # of the output
    expression: str = ""
    vector: str = ""        # function of libmvec, without prefix and suffix
    wide: bool = True       # worth a loop of its own for rows and scalars
    compares: bool = False  # complex numbers, where it depends on their parts whether a nan is invalid
    noted: str = ""         # C of an element: where it holds, there are `flags`, which no operation sets
    flags: str = "FE_INVALID"


@dataclass
class Ufunc:
    name: str
    inputs: int
    loops: list = field(default_factory=list)
    warns: bool = False     # floating point flags become warnings
    floats: bool = False    # other types are computed as float64
    identity: str = ""      # of reductions: "0", "1", "-1", or none

    def add(self, types, expression, result=None, **options):
        for letter in types:
            text = expression.replace("SUFFIX", suffix(letter)).replace("NAME", NUMBERS[letter].lower())
            self.loops.append(Loop(letter, result or letter, text, **options))
        self.loops.sort(key=lambda loop: ALL.index(loop.type))
        assert len({loop.type for loop in self.loops}) == len(self.loops), self.name
        return self


def suffix(letter):
    """What the names of C's functions of a type end in."""
    return {"f": "f"}.get(letter, "")


@dataclass
class Range:
    """Where a function of libmvec is fast, and what it is elsewhere: there it calls the scalar function for each element.

    C, of a vector x of T: BITS(x) are its bits as signed ints, SIZE(x) those of |x|, which are in the order of the
    numbers, with infinities and nans behind them.  Ints are compared by subtraction, and without touching flags."""
    slow: str               # negative where it is slow
    known: list             # (C, what the function is where that holds, its floating point flag or 0); of x that is no nan
    harmless: str = "0.5"   # a number where it is fast, and nothing is known
    own: int = 0            # with vectors of so many bytes elementary.h has large_`name` for where it is slow, and nothing is known


def within(size):
    return f"BITS(SPLAT({size})) - SIZE(x)"


def from_to(x, least, most):
    return f"(BITS({x}) - BITS(SPLAT({least}))) | (BITS(SPLAT({most})) - BITS({x}))"


def ranges(letter):
    """By the name of the function."""
    def number(double, single):
        return {"d": double, "f": single}[letter]
    most, normal, least = number("DBL_MAX", "FLT_MAX"), number("DBL_MIN", "FLT_MIN"), number("DBL_TRUE_MIN", "FLT_TRUE_MIN")
    overflow = [(f"(x > SPLAT({number(709.79, 88.73)})) & (x != SPLAT(INFINITY))", "INFINITY", "FE_OVERFLOW"),
                ("x == SPLAT(INFINITY)", "INFINITY", "0")]

    def nothing(below):
        return [(f"(x < SPLAT({below})) & (x != SPLAT(-INFINITY))", "0", "FE_UNDERFLOW"), ("x == SPLAT(-INFINITY)", "0", "0")]
    found = {
        "exp": Range(within(number(708, 87)), overflow + nothing(number(-745.2, -104))),
        "exp2": Range(within(number(1022, 126)), [
            (f"(x >= SPLAT({number(1024, 128)})) & (x != SPLAT(INFINITY))", "INFINITY", "FE_OVERFLOW"), overflow[1],
            *nothing(number(-1075.1, -150.1))]),
        "expm1": Range(within(number(708, 87)), overflow + [("x < SPLAT(-40)", "-1", "0")]),
        "acosh": Range(from_to("x", 1, most), [("x < SPLAT(1)", "NAN", "FE_INVALID"), overflow[1]], harmless="1.5"),
        "atanh": Range(within(1) + " - 1", [("SIZE(x) > BITS(SPLAT(1))", "NAN", "FE_INVALID"), ("x == SPLAT(1)", "INFINITY", "FE_DIVBYZERO"),
                                            ("x == SPLAT(-1)", "-INFINITY", "FE_DIVBYZERO")]),
    }
    for name in "asin", "acos":
        found[name] = Range(within(1), [("SIZE(x) > BITS(SPLAT(1))", "NAN", "FE_INVALID")])
    beyond = f"SIZE(x) > BITS(SPLAT({number(710.476, 89.416)}))"
    for name, negative in ("sinh", "-INFINITY"), ("cosh", "INFINITY"):
        found[name] = Range(within(number(708, 87)), [(f"({beyond}) & (SIZE(x) != BITS(SPLAT(INFINITY)))", "INFINITY", "FE_OVERFLOW"), overflow[1],
                                                      (f"({beyond}) & (x < SPLAT(0))", negative, "0")])
    for names, pole, slow in (("log log2 log10", 0, from_to("x", normal, most)),
                              ("log1p", -1, from_to("(x + SPLAT(1))", least, most))):
        for name in names.split():
            found[name] = Range(slow, [(f"x < SPLAT({pole})", "NAN", "FE_INVALID"), (f"x == SPLAT({pole})", "-INFINITY", "FE_DIVBYZERO"),
                                       overflow[1]])
    for name in "sin", "cos", "tan":
        large = letter == "d" and name != "tan"
        found[name] = Range(within("0x1p23" if large else most), [("(x == SPLAT(INFINITY)) | (x == SPLAT(-INFINITY))", "NAN", "FE_INVALID")],
                            own=64 if large else 0)
    return found


RANGES = {letter: ranges(letter) for letter in "fd"}

# The functions of elementary.h, by name and type: in place of libmvec's where vectors have so many bytes.
OWN = {("exp", "f"): 32, ("exp", "d"): 32, ("exp2", "f"): 32, ("exp2", "d"): 32, ("tanh", "f"): 32, ("tanh", "d"): 32,
       ("log", "d"): 64, ("log1p", "d"): 64, ("log2", "d"): 64, ("log2", "f"): 64, ("log10", "d"): 64, ("pow", "d"): 64, ("pow", "f"): 64, ("sin", "f"): 64, ("cos", "f"): 64}

def shares_cast(source, target):
    """Has a cast of what is hot the same bits?"""
    if target == "?" or source in INTS and target in INTS and SIZES[source] >= SIZES[target]:
        source = TWINS.get(source, source)
    if target == "b" or source in "?" + INTS:
        target = TWINS.get(target, target)
    return source in HOT and target in HOT


def cast(source, target):
    """C of an element x as another type."""
    real = "x.real" if source in "FD" else "half_value(x)" if source == "e" else "x"
    if target == "?":
        return f"({real} != 0) | (x.imag != 0)" if source in "FD" else f"{real} != 0"
    if target in INTS and source in "efdFD":
        convert = {"l": "to_int64", "I": "to_int64", "L": "to_uint64"}.get(target, "to_int32")
        return f"({C_TYPES[target]}){convert}((double){real})"
    if target in "FD":
        part, imag = {"F": "float", "D": "double"}[target], "x.imag" if source in "FD" else "0"
        return f"({C_TYPES[target]}){{({part}){real}, ({part}){imag}}}"
    return f"half_of((double){real})" if target == "e" else f"({C_TYPES[target]}){real}"


def stored(letter, expression):
    """C that makes an element of a type of what was computed."""
    if letter == "e":
        return f"half_of({expression})"
    return {"F": f"narrow_complex({expression})", "D": expression}.get(letter, f"({C_TYPES[letter]})({expression})")


def loaded(letter, x):
    """C of an element as the type that it is computed in."""
    return f"half_value({x})" if letter == "e" else f"widen_complex({x})" if letter == "F" else x


UFUNCS = []


def ufunc(name, inputs, **options):
    UFUNCS.append(Ufunc(name, inputs, **options))
    return UFUNCS[-1]


# ---- Arithmetic ----

ufunc("add", 2, warns=True, identity="0").add("?", "a | b").add(INTS + FLOATS, "(T)(a + b)") \
    .add("D", "complex_add(a, b)", wide=False)
ufunc("subtract", 2, warns=True).add(INTS + FLOATS, "(T)(a - b)").add("D", "complex_subtract(a, b)", wide=False)
ufunc("multiply", 2, warns=True, identity="1").add("?", "a & b").add(INTS + FLOATS, "(T)(a * b)") \
    .add("D", "complex_multiply(a, b)", wide=False)
ufunc("divide", 2, warns=True, floats=True).add(FLOATS, "a / b").add("D", "complex_divide(a, b)", wide=False)
ufunc("floor_divide", 2, warns=True).add(INTS, "NAME_floor_divide(a, b)", wide=False) \
    .add(FLOATS, "divideSUFFIX(ND_FLOOR, a, b)", wide=False)
ufunc("remainder", 2, warns=True).add(INTS, "NAME_remainder(a, b)", wide=False) \
    .add(FLOATS, "divideSUFFIX(ND_REMAINDER, a, b)", wide=False)
ufunc("fmod", 2, warns=True).add(UNSIGNED, "NAME_remainder(a, b)", wide=False).add(SIGNED, "NAME_fmod(a, b)", wide=False) \
    .add(FLOATS, "divideSUFFIX(ND_FMOD, a, b)", wide=False)
ufunc("power", 2, warns=True).add(INTS, "(T)int_power((uint64_t)a, (uint64_t)b)", wide=False) \
    .add(FLOATS, "powSUFFIX(a, b)", vector="pow").add("D", "complex_power(a, b)", wide=False)
ufunc("maximum", 2).add("?" + INTS, "a > b ? a : b").add(FLOATS, "((a > b) | (a != a)) ? a : b") \
    .add("D", "complex_maximum(a, b)")
ufunc("minimum", 2).add("?" + INTS, "a < b ? a : b").add(FLOATS, "((a < b) | (a != a)) ? a : b") \
    .add("D", "complex_minimum(a, b)")
ufunc("fmax", 2).add("?" + INTS, "a > b ? a : b").add(FLOATS, "((a >= b) | (b != b)) ? a : b") \
    .add("D", "complex_fmax(a, b)")
ufunc("fmin", 2).add("?" + INTS, "a < b ? a : b").add(FLOATS, "((a <= b) | (b != b)) ? a : b") \
    .add("D", "complex_fmin(a, b)")
ufunc("arctan2", 2, warns=True, floats=True).add(FLOATS, "atan2SUFFIX(a, b)", vector="atan2")
ufunc("hypot", 2, warns=True, floats=True, identity="0").add(FLOATS, "hypotSUFFIX(a, b)", vector="hypot")
ufunc("copysign", 2, floats=True).add(FLOATS, "copysignSUFFIX(a, b)")
ufunc("nextafter", 2, warns=True, floats=True).add("e", "half_next(a, b)", wide=False) \
    .add("fd", "nextafterSUFFIX(a, b)", wide=False)
ufunc("logaddexp", 2, warns=True, floats=True).add(FLOATS, "log_add_expSUFFIX(a, b)", wide=False)

# ---- Comparison, logic, bits ----

for name, operator in {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}.items():
    ufunc(name, 2).add("?" + INTS + FLOATS, f"a {operator} b", "?")\
        .add("D", f"complex_{name}(a, b)", "?", compares=True, noted="complex_nan(a) | complex_nan(b)")
ufunc("equal", 2).add("?" + INTS + FLOATS, "a == b", "?").add("D", "complex_equal(a, b)", "?")
ufunc("not_equal", 2).add("?" + INTS + FLOATS, "a != b", "?").add("D", "!complex_equal(a, b)", "?")

for name, operator, identity in ("and", "&", "1"), ("or", "|", "0"), ("xor", "^", "0"):
    ufunc("logical_" + name, 2, identity=identity).add("?", f"a {operator} b") \
        .add("bhHiIlL" + FLOATS, f"(a != 0) {operator} (b != 0)", "?") \
        .add("B", f"(a > 1 ? 1 : a) {operator} (b > 1 ? 1 : b)", "?") \
        .add("D", f"complex_truth(a) {operator} complex_truth(b)", "?")
for name, operator, identity in ("and", "&", "-1"), ("or", "|", "0"), ("xor", "^", "0"):
    ufunc("bitwise_" + name, 2, identity=identity).add("?" + INTS, f"(T)(a {operator} b)")
left, right = ufunc("left_shift", 2), ufunc("right_shift", 2)
for unsigned, signed, bits in zip(UNSIGNED, SIGNED, (8, 16, 32, 64)):
    left.add(unsigned, f"(T)(b < {bits} ? a << b : 0)").add(signed, f"(uint{bits}_t)b < {bits} ? (T)((uint{bits}_t)a << b) : 0")
    right.add(unsigned, f"(T)(b < {bits} ? a >> b : 0)").add(signed, f"(uint{bits}_t)b < {bits} ? a >> b : a < 0 ? -1 : 0")

# ---- Of one operand ----

ufunc("negative", 1, warns=True).add(INTS + FLOATS, "(T)-a").add("D", "((T){-a.real, -a.imag})", wide=False)
ufunc("positive", 1).add(INTS + FLOATS, "a").add("D", "a", wide=False)
ufunc("absolute", 1, warns=True).add("?" + UNSIGNED, "a").add(SIGNED, "a < 0 ? -a : a").add(FLOATS, "fabsSUFFIX(a)") \
    .add("D", "hypot(a.real, a.imag)", "d", wide=False)
ufunc("fabs", 1, floats=True).add(FLOATS, "fabsSUFFIX(a)")
ufunc("sign", 1).add(UNSIGNED, "a > 0").add(SIGNED, "(a > 0) - (a < 0)").add(FLOATS, "a != a ? a : (T)((a > 0) - (a < 0))") \
    .add("D", "complex_sign(a)", compares=True, noted="complex_nan(a)")
ufunc("square", 1, warns=True).add(INTS + FLOATS, "(T)(a * a)").add("D", "complex_multiply(a, a)", wide=False)
# (Of ints as NumPy computes it, by way of doubles.)
int_poles = {"noted": "a == 0", "flags": "FE_DIVBYZERO | FE_INVALID"}
ufunc("reciprocal", 1, warns=True).add(UNSIGNED, "a == 1", **int_poles) \
    .add("bh", "((a == 1) | (a == -1)) ? a : 0", **int_poles) \
    .add("i", "a == 0 ? INT32_MIN : ((a == 1) | (a == -1)) ? a : 0", **int_poles) \
    .add("l", "a == 0 ? INT64_MIN : ((a == 1) | (a == -1)) ? a : 0", **int_poles) \
    .add(FLOATS, "1 / a").add("D", "complex_reciprocal(a)", wide=False)
ufunc("sqrt", 1, warns=True, floats=True).add(FLOATS, "sqrtSUFFIX(a)").add("D", "complex_call(csqrt, a)", wide=False)
ufunc("cbrt", 1, warns=True, floats=True).add(FLOATS, "cbrtSUFFIX(a)", vector="cbrt")
for name, function in {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
                       "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
                       "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}.items():
    ufunc(name, 1, warns=True, floats=True).add(FLOATS, function + "SUFFIX(a)", vector=function) \
        .add("D", f"complex_call(c{function}, a)", wide=False)
for name in "exp2", "log2", "log10", "log1p", "expm1":
    ufunc(name, 1, warns=True, floats=True).add(FLOATS, name + "SUFFIX(a)", vector=name) \
        .add("D", f"complex_{name}(a)", wide=False)
for name in "deg2rad", "radians":
    ufunc(name, 1, warns=True, floats=True).add("f", "a * ((float)M_PI / 180)").add("d", "a * (M_PI / 180)")
for name in "rad2deg", "degrees":
    ufunc(name, 1, warns=True, floats=True).add("f", "a * (180 / (float)M_PI)").add("d", "a * (180 / M_PI)")
for name in "floor", "ceil", "trunc":
    ufunc(name, 1, floats=True).add(FLOATS, name + "SUFFIX(a)")
ufunc("rint", 1, floats=True).add(FLOATS, "rintSUFFIX(a)").add("D", "((T){rint(a.real), rint(a.imag)})", wide=False)
ufunc("isnan", 1).add("?" + INTS, "0", "?").add(FLOATS, "a != a", "?") \
    .add("D", "(a.real != a.real) | (a.imag != a.imag)", "?")
ufunc("isinf", 1).add("?" + INTS, "0", "?").add(FLOATS, "fabsSUFFIX(a) == (T)INFINITY", "?") \
    .add("D", "(fabs(a.real) == INFINITY) | (fabs(a.imag) == INFINITY)", "?")
ufunc("isfinite", 1).add("?" + INTS, "1", "?").add(FLOATS, "fabsSUFFIX(a) < (T)INFINITY", "?") \
    .add("D", "(fabs(a.real) < INFINITY) & (fabs(a.imag) < INFINITY)", "?")
ufunc("signbit", 1, floats=True).add("f", "sign_bitf(a)", "?").add("d", "sign_bit(a)", "?")
ufunc("conjugate", 1).add(INTS + FLOATS, "a").add("D", "((T){a.real, -a.imag})")
ufunc("invert", 1).add("?", "a ^ 1").add(INTS, "(T)~a")
ufunc("logical_not", 1).add("?" + INTS + FLOATS, "a == 0", "?").add("D", "!complex_truth(a)", "?")


def add_computed():
    """The loops of types that are computed as others, where they have none of their own."""
    for u in UFUNCS:
        for loop in list(u.loops):
            for letter, other in COMPUTED_AS.items():
                if loop.type != other or any(own.type == letter for own in u.loops):
                    continue
                text = loop.expression
                if letter == "F" and text.startswith("complex_call("):
                    text = text.replace("complex_call(", "complex64_call(").replace(",", "f,", 1)
                for name in SINGLE if letter == "F" else ():
                    text = text.replace(name, name.replace("complex_", "complex64_"))
                result = {other: letter, "d": "f"}.get(loop.result, loop.result)
                u.add(letter, text, result, compares=loop.compares, noted=loop.noted, flags=loop.flags)


add_computed()


# Loops of dtypes that are not rare which gain little by vectors, or which few programs use: complex numbers, but for arithmetic, are
# compared by jumps, or computed by C's library.
ONCE = {name: "D" for name in ("power sqrt exp log sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp2 "
                               "log2 log10 log1p expm1 maximum minimum fmax fmin less less_equal greater greater_equal equal not_equal "
                               "logical_and logical_or logical_xor logical_not sign reciprocal rint isnan isinf isfinite").split()}
ONCE.update({name: "?D" for name in "less less_equal greater greater_equal maximum minimum fmax fmin".split()})
ONCE.update({name: "?BilD" for name in "isnan isinf isfinite reciprocal".split()})
ONCE.update(nextafter="fd", logaddexp="fd", logical_xor="BilfdD", power="BiD", fmod="il")


def is_once(ufunc, loop):
    return loop.type in RARE or loop.type in ONCE.get(ufunc.name, "")


def hot_loops(ufunc):
    return [loop for loop in ufunc.loops if not is_once(ufunc, loop)]


def twin(ufunc, loop):
    """The loop that has the same bits, or None."""
    letter = TWINS.get(loop.type) if ufunc.name in BITWISE else None
    return next((other for other in ufunc.loops if other.type == letter), None)


def twin_loops(ufunc):
    return [(loop, twin(ufunc, loop)) for loop in ufunc.loops if twin(ufunc, loop)]


def rare_loops(ufunc):
    return [loop for loop in ufunc.loops if is_once(ufunc, loop) and not twin(ufunc, loop)]


FOLDED = ("add multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or "
          "bitwise_xor hypot power subtract divide floor_divide remainder").split()


def folds(ufunc, loop):
    return ufunc.inputs == 2 and loop.result == loop.type and ufunc.name in FOLDED


def stacks(ufunc, loop):
    return folds(ufunc, loop) and loop.wide and ufunc.name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")


UFUNCS.sort(key=lambda u: u.name)
assert len({u.name for u in UFUNCS}) == len(UFUNCS)


def find_owners():
    """Loops that say the same are one: whose each is.  (That one has all that the others have.)"""
    owners = {}
    for u in sorted(UFUNCS, key=lambda u: u.name):
        for loop in u.loops:
            same = (u.inputs, loop.type, loop.result, re.sub(r"^\(T\)(\w+|\((.*)\))$", r"\2", loop.expression) or loop.expression,
                    loop.vector, loop.wide, loop.noted)
            owners.setdefault(same, []).append((u, loop))
    return {(u.name, loop.type): max(group, key=lambda both: (stacks(*both), folds(*both)))[0].name
            for group in owners.values() for u, loop in group}


OWNERS = find_owners()


def is_own(ufunc, loop):
    return OWNERS[ufunc.name, loop.type] == ufunc.name


def loop_name(ufunc, loop):
    return ("rare_" if is_once(ufunc, loop) else "") + f"{OWNERS[ufunc.name, loop.type]}_{NUMBERS[loop.type].lower()}"

# What an element of those that are no few instructions takes, in steps of 0.25 ns (nd_ufunc_facts, effort).
EFFORTS = {name: 4 for name in ("arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "tan", "log1p", "expm1",
                                "cbrt", "arcsin", "arccos", "arctan", "fmod", "remainder", "floor_divide")}
EFFORTS.update(exp=2, sin=2, cos=2, sqrt=2, hypot=2, power=6, logaddexp=30)
