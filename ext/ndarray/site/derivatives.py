"""The derivatives of ndarray's elementwise operations, as data: derivatives.mako makes the descriptors of it.

A *form* says what the operands are: two arrays of one dtype, of two dtypes (one is cast), an array and a number on either side
(commuted), a number that is a constant (and is not loaded), or one array.  Each operation has each form for the
dtypes that it has a loop for.
"""

from dataclasses import dataclass
from pathlib import Path

from kernels import INTS, NUMBERS, UFUNCS

LOOPS = {u.name: {loop.type: loop.result for loop in u.loops} for u in UFUNCS}


@dataclass
class Form:
    name: str       # FORM_name in C
    pattern: str    # of the derivative's name
    types: str      # dtypes of the array, beyond which there are no such derivatives
    run: str


# Numbers beside arrays keep the array's dtype: floats beside floats, ints beside all of these.
NUMERIC = "Bilfd"
BINARY = [
    Form("ARRAYS", "{op}_{t}", "?BilfdD", "arrays"),
    Form("RIGHT", "{op}_{t}_NUMBER", NUMERIC, "number"),
    Form("LEFT", "{op}_NUMBER_{t}", NUMERIC, "number"),
    Form("RIGHT_CONST", "{op}_{t}_CONST", NUMERIC, "number"),
    Form("LEFT_CONST", "{op}_CONST_{t}", NUMERIC, "number"),
]
INPLACE = [
    Form("ARRAYS", "I{op}_{t}", "?BilfdD", "inplace_arrays"),
    Form("RIGHT", "I{op}_{t}_NUMBER", NUMERIC, "inplace_number"),
    Form("RIGHT_CONST", "I{op}_{t}_CONST", NUMERIC, "inplace_number"),
]
UNARY = [Form("ONE", "{op}_{t}", "?BilfdD", "one")]
# The dtypes of a pair, and which of them the other is cast to.
PAIRS = [("i", "l"), ("l", "i"), ("l", "d"), ("d", "l"), ("i", "d"), ("d", "i"), ("f", "d"), ("d", "f"), ("?", "d"), ("d", "?"),
         ("?", "l"), ("l", "?")]
PROMOTED = {pair: max(pair, key="?BilfdD".index) for pair in PAIRS}

BINARY_OPERATORS = {
    "ADD": "add", "SUB": "subtract", "MUL": "multiply", "TRUEDIV": "divide", "FLOORDIV": "floor_divide", "MOD": "remainder",
    "POW": "power", "LSHIFT": "left_shift", "RSHIFT": "right_shift", "AND": "bitwise_and", "OR": "bitwise_or",
    "XOR": "bitwise_xor"}
COMPARISONS = {"LT": "less", "LE": "less_equal", "GT": "greater", "GE": "greater_equal", "EQ": "equal", "NE": "not_equal"}
UNARY_OPERATORS = {"NEG": "negative", "INVERT": "invert"}


FACTS = {u.name: u for u in UFUNCS}
SOURCE = Path(__file__).read_text(encoding="utf-8").split("\n")


def computes(ufunc, letter):
    """Is there a loop for this dtype, perhaps that of float64?  (Powers of ints look at each exponent first.)"""
    if ufunc == "power" and letter in INTS:
        return False
    return letter in LOOPS[ufunc] or (FACTS[ufunc].floats and letter in ("?Bil" if ufunc == "divide" else "il"))


def line_of(form):
    """Where the form is defined here."""
    return next(n for n, line in enumerate(SOURCE, 1) if f'Form("{form.name}", "{form.pattern}"' in line)


PAIRS_LINE = next(n for n, line in enumerate(SOURCE, 1) if line.startswith("PAIRS = "))


def derivatives(forms, op, ufunc):
    """(form, dtype's number, name, run, line) of all derivatives of one operation."""
    for form in forms:
        for letter in form.types:
            if computes(ufunc, letter):
                yield form.name, NUMBERS[letter], form.pattern.format(op=op, t=NUMBERS[letter]), form.run, line_of(form)


def pairs(op, ufunc):
    """(dtypes' numbers, name) of the derivatives of two arrays of different dtypes."""
    for pair in PAIRS:
        if computes(ufunc, PROMOTED[pair]):
            a, b = (NUMBERS[letter] for letter in pair)
            yield a, b, f"{op}_{a}_{b}"


CALLS = [u for u in UFUNCS]
