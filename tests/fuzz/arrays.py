#!/usr/bin/env python3
"""Differential fuzzing of ndarray: random programs with arrays on CPython with NumPy against dynvm at every level.

`arrays.py --first 0 --count 1000` works like fuzz.py; `arrays.py --show SEED` prints a program.
"""

import re
import sys
from pathlib import Path

import fuzz
from writer import Writer

HERE = Path(__file__).resolve().parent
DTYPES = ("float64", "float64", "float64", "int64", "int64", "float32", "int32", "bool", "uint8", "complex128",
          "int8", "int16", "uint16", "uint64", "float16", "complex64")  # (uint32 of a float that is too large: anything)
SHAPES = ((4,), (4,), (5,), (3, 4), (3, 4), (4, 4), (2, 3, 4), (1,), (0,), (1, 4), (3, 1), (0, 4), (2, 0), (33,), (300,), (40, 50))
ARITHMETIC = ("+", "-", "*")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
CONSTANT_KEYS = ("[...]", "[:]", "[1:]", "[::2]", "[1:-1]", "[::-1]", "[..., 1:]", "[..., ::-1]", "[None]", "[1:, :-1]", "[:, 0]")
UNARY = ("np.absolute", "np.negative", "np.isnan", "np.sign", "abs", "np.logical_not", "np.isfinite")
FLOAT_UNARY = ("np.sqrt", "np.floor", "np.ceil", "np.rint", "np.sqrt", "np.square")  # float16 of bool and uint8
BINARY = ("np.add", "np.subtract", "np.multiply", "np.divide", "np.less", "np.equal", "np.logical_and", "np.logical_or",
          "np.greater_equal", "np.bitwise_xor")
FLOAT_BINARY = ("np.copysign", "np.fmod", "np.floor_divide", "np.remainder")
FLOATS = ("0.0", "1.0", "-1.5", "2.0", "0.5", "3.25", "-2.0", "1e300", "1e-3", "float('inf')", "float('nan')", "-0.0", "1e-310")
INTS = ("0", "1", "-1", "2", "3", "7", "-5", "100", "True")
PRELUDE = """
import ndarray as np

np.seterr(divide='warn', over='warn', under='ignore', invalid='warn')
KINDS = (AssertionError, ZeroDivisionError, FloatingPointError, OverflowError, IndexError, KeyError, ValueError, TypeError, BufferError, NameError)


def failed(e):
    print("= failed", [k.__name__ for k in KINDS if isinstance(e, k)][:1], str(e)[:300])


def values(x):
    # Of many elements some: printing all is most of a program's time.
    return x.tolist() if x.size < 64 else [x.ravel()[:9].tolist(), x.ravel()[::37].tolist(), x.ravel()[-3:].tolist()]


def show(x):
    if isinstance(x, np.ndarray) and x.ndim:
        print("=", str(x.dtype), x.shape)
        if x.size:
            # (The stride of an axis of one element says nothing; NumPy's depend on how it goes through the operands.)
            print([s for s, n in zip(x.strides, x.shape) if n > 1], x.flags.c_contiguous, x.flags.owndata)
        print(values(x))
    else:
        print("=", values(np.asarray(x)))


def product(x, a, b):
    # BLAS skips zeros in some functions, beside nans too, and multiplies complex numbers by 1+0j, also infinite ones.
    # The product of two single elements is not added to 0: it may be -0.0.
    assert np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and np.all(np.isfinite(x)), 'not finite'
    return x + 0


def told(x):
    # Values only: how functions of whole arrays lay out their results is not what they promise.
    print("=", str(np.asarray(x).dtype), np.shape(x), values(np.asarray(x)))
"""
CASE = re.compile(r"^= ", re.M)  # what a program prints of each case: a value or an error that is compared


class ArrayWriter(Writer):
    def __init__(self, seed: int):
        super().__init__(seed)
        self.shape = self.pick(SHAPES)
        self.names = ()
        self.functions = 0

    # ---- Arrays ----

    def element(self, dtype: str) -> str:
        if dtype == "bool":
            return self.pick(("True", "False"))
        if dtype.startswith("uint"):
            return str(self.random.randrange(256) if self.chance(80) else 2 ** int(dtype[4:]) - 1)
        if dtype in ("int64", "int32"):
            return self.pick(INTS[:-1] + ("2147483647",)) if self.chance(90) or dtype == "int32" else "9223372036854775807"
        if dtype.startswith("int"):
            return self.pick(INTS[:-1] + ("127", "-128"))
        if dtype.startswith("complex"):
            return f"{self.random.randrange(-3, 4)}+{self.random.randrange(4)}j"
        return self.pick(FLOATS) if self.chance(25) else repr(self.random.randrange(-40, 41) / 8)

    def related(self, shape: tuple) -> tuple:
        """A shape that mostly broadcasts with this one."""
        n = self.random.randrange(100)
        if n < 60:
            return shape
        if n < 70:
            return shape[1:]
        if n < 80:
            return tuple(1 if self.chance(50) else k for k in shape)
        if n < 86:
            return (2,) + shape
        if n < 92:
            return ()
        return self.pick(SHAPES)

    def values(self, dtype: str, shape: tuple) -> str:
        size = 1
        for k in shape:
            size *= k
        few = [self.element(dtype) for _ in range(min(size, 7))]
        if not shape:
            return f"np.array({few[0]}, dtype='{dtype}')"
        if size > 7:
            return f"np.array([{', '.join(few)}] * {size // 7 + 1}, dtype='{dtype}')[:{size}].reshape({shape}).copy()"
        return f"np.array([{', '.join(few)}], dtype='{dtype}').reshape({shape})"

    def array(self, shape: tuple, dtype: str = "") -> str:
        """An array of this shape, perhaps with strides of its own."""
        dtype = dtype or self.pick(DTYPES)
        if not shape or self.chance(55):
            return self.values(dtype, shape)
        n = self.random.randrange(6)
        if n == 0:
            return self.values(dtype, shape[::-1]) + ".T"
        if n == 1:
            return self.values(dtype, shape[:-1] + (shape[-1] * 2,)) + "[..., ::2]"
        if n == 2:
            return self.values(dtype, shape) + "[::-1]"
        if n == 3:
            return self.values(dtype, shape[:-1] + (shape[-1] + 2,)) + "[..., 1:-1]"
        if n == 4:
            return f"np.asfortranarray({self.values(dtype, shape)})"
        return f"np.broadcast_to({self.values(dtype, shape[1:])}, {shape})" if len(shape) > 1 else self.values(dtype, shape)

    # ---- Expressions ----

    def number(self) -> str:
        return self.pick(FLOATS) if self.chance(60) else self.pick(INTS)

    def numbers(self, depth: int) -> str:
        """Of nothing but numbers, which an expression computes by itself."""
        if depth == 0:
            return "scale" if self.chance(60) else self.number()
        operation = self.pick(("+", "-", "*", "*", "/", "//", "%", "** 2 *"))
        return f"({self.numbers(depth - 1)} {operation} {self.numbers(0)})"

    def leaf(self) -> str:
        return self.pick(self.names)

    def operand(self, depth: int) -> str:
        """An array, or a number: a second operand."""
        n = self.random.randrange(100)
        if n < 25:
            return self.number()
        if n < 30:
            return self.numbers(self.random.randrange(3))
        if n < 33:
            return "zero_d"
        return self.expression(depth)

    def expression(self, depth: int) -> str:
        """An elementwise expression with at least one dimension, if all goes well."""
        if depth <= 0 or self.chance(8):
            return self.leaf()
        n = self.random.randrange(100)
        if n < 48:
            a, b = self.expression(depth - 1), self.operand(depth - 1)
            return f"({a} {self.pick(ARITHMETIC)} {b})" if self.chance(70) else f"({b} {self.pick(ARITHMETIC)} {a})"
        if n < 56:
            return f"({self.expression(depth - 1)} / {self.operand(depth - 1)})"
        if n < 60:
            if self.chance(60):
                return f"({self.expression(depth - 1)} * 1 ** {self.pick(('2', '2.0', '0.5', '1', '-1'))})"
            return f"({self.expression(depth - 1)} * 1 {self.pick(('//', '%'))} ({self.operand(depth - 1)} + 1))"
        if n < 66:
            # (Where == and != do not know what to compare, they give a bool: a number, in dl.)
            return f"({self.expression(depth - 1)} {self.pick(COMPARISONS[:4])} {self.operand(depth - 1)})"
        if n < 70:
            return f"({self.expression(depth - 1)} {self.pick(('&', '|', '^'))} {self.expression(depth - 1)})"
        if n < 78:
            return f"{self.pick(('-', '-', '-', '~'))}{self.expression(depth - 1)}"
        if n < 82:
            return f"np.where({self.expression(depth - 1)}{self.pick(('', ' > 0', ' < 1.5'))}, {self.operand(depth - 1)}, {self.operand(depth - 1)})"
        if n < 85:
            return self.clipped(self.expression(depth - 1))
        if n < 91:
            if self.chance(50):
                return f"{self.pick(FLOAT_UNARY)}({self.expression(depth - 1)} * 1.0)"
            return f"{self.pick(UNARY)}({self.expression(depth - 1)})"
        if n < 96:
            if self.chance(30):
                return f"{self.pick(FLOAT_BINARY)}({self.expression(depth - 1)} * 0.5, {self.operand(depth - 1)})"
            return f"{self.pick(BINARY)}({self.expression(depth - 1)}, {self.operand(depth - 1)})"
        return f"(np.{self.pick(('maximum', 'minimum'))}({self.expression(depth - 1)}, {self.operand(depth - 1)}) + 0.0)"

    def clipped(self, text: str) -> str:
        # (Of complex numbers that are nans, and of unsigned ones by negative bounds, NumPy's is another one, and so is what it says
        # where three shapes do not fit.)
        bound = f"np.absolute({text})" if len(text) < 60 else "1"
        low, high = (self.pick(("None", "0", "0.5", "2", "3", bound)) for _ in range(2))
        text = f"(np.absolute({text}) {self.pick(('- 2', '* 0.5', '+ 0'))})"
        return f"np.clip({text}, {low}, {high})" if self.chance(50) else f"{text}.clip({low}, {high})"

    def index(self) -> str:
        """One item of a key."""
        n = self.random.randrange(100)
        if n < 45:
            return self.pick((":", ":", "1:", ":-1", "::2", "::-1", "1:3", "2:0:-1", "-2:", ":0", "5:"))
        if n < 65:
            return self.pick(("0", "1", "-1", "2", "-2"))
        if n < 75:
            return self.pick(("None", "...", "..."))
        if n < 92:
            return self.pick(("[0, -1, 0]", "[0]", "[[0], [-1]]", "[]", "np.array([1, 0])", "[2, 1]", "[True, False]", "np.array(0)"))
        return self.pick(("True", "False", "[True, False, True]", "np.array([[0, 1], [1, 0]])", "slice(None, None, 2)"))

    def subscript(self) -> str:
        n = self.random.randrange(16)
        if n >= 12:
            return f"[{', '.join(self.index() for _ in range(self.upto(3)))}]"
        return ("[...]", "[:]", "[::2]", "[::-1]", "[1:]", "[:-1]", "[0]", "[..., 0]", "[-1]", "[None]", f"[{self.leaf()} > 0]",
                "[[0, -1, 0]]")[n]

    @staticmethod
    def is_picked(key: str) -> bool:
        """Has it index arrays?"""
        return "[" in key[1:] or ">" in key or "True" in key or "False" in key

    @staticmethod
    def no_element(text: str) -> str:
        """Goes before an operation on a subscript that may be an element: a number of dl, which is promoted and warns like one."""
        return f"assert np.ndim({text}), 'an element'\n"

    def stored(self, key: str, value: str) -> str:
        """What is stored by a key.  By index arrays NumPy stores without a look at overlaps, in the order of its iterators."""
        return f"np.array({value})" if self.is_picked(key) else value

    # ---- Statements ----

    def tried(self, text: str) -> None:
        with self.under("try:"):
            self.put(text)
        with self.under("except Exception as e:"):
            self.line("failed(e)")

    def whole(self) -> str:
        """A function of whole arrays: reductions, joining, splitting, products."""
        a, b = self.leaf() + self.pick(("", "", ".T", "[::-1]", "[..., 1:]")), self.leaf()
        axis = self.pick(("0", "-1", "1", "None", "2", "(0, 1)"))
        one = self.pick(("0", "0", "-1", "1", "2"))
        name = self.pick(("sum", "prod", "max", "min", "any", "all", "mean", "argmax", "argmin", "ptp", "cumsum", "cumprod", "var", "std"))
        ufunc = self.pick(("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"))
        if name in ("mean", "var", "std", "ptp", "argmax", "argmin"):
            a = f"({a} if {a}.size else np.ones((2, 3)))"
        return self.pick((
            f"np.{name}({a}, axis={axis if name not in ('argmax', 'argmin', 'cumsum', 'cumprod') else one})",
            f"np.{self.pick(('sum', 'prod', 'max', 'min', 'any', 'all'))}({a}, axis={axis}, keepdims=True)",
            f"np.mean({a}, axis={axis}, keepdims=True) if {a}.size else 0",
            f"np.{self.pick(('sum', 'prod'))}({a}, dtype='{self.pick(('float64', 'int64', 'complex128'))}')",
            f"np.{self.pick(('sum', 'max', 'min'))}({a}, initial={self.pick(('0', '1', '2', '100'))})",
            f"np.where({a} > 0, {b}, {self.number()})", f"np.where({self.expression(1)}, {self.operand(1)}, {self.operand(1)})",
            f"np.concatenate(({a}, {b}), axis={one})", f"np.stack(({a}, {a}), axis={one})", f"np.vstack(({a}, {b}))",
            f"np.hstack(({a}, {b}))", f"np.split({a}, {self.pick(('2', '1', '[1]', '[1, 2]', '3'))}, axis={self.pick(('0', '-1'))})[-1]",
            f"np.array_split({a}, {self.pick('23')}, axis={self.pick(('0', '-1'))})[1]", f"np.roll({a}, {self.pick(('1', '-2', '5'))}, axis={axis})",
            f"np.flip({a}, axis={axis})", f"np.repeat({a}, 2, axis={one})", f"np.tile({a}, {self.pick(('2', '(2, 1)'))})",
            # (Sorting is not stable: + 0 makes a zero of -0.0.)
            f"np.take({a}, [0, -1], axis={one}) if {a}.size else 0", f"np.diff({a}, axis={one})", f"np.sort({a}, axis={one}) + 0", f"np.squeeze({a})",
            f"np.expand_dims({a}, {one})", f"np.swapaxes({a}, 0, {one})", f"np.moveaxis({a}, 0, {one})", f"np.broadcast_to({a}, (2, 3, 4))",
            f"np.nonzero({a})[-1]", f"np.argwhere({a})", f"np.count_nonzero({a})", f"np.clip({a}, -1, 2)", f"np.diagonal({a})",
            f"np.{ufunc}.reduce({a}, axis={one})", f"np.{ufunc}.accumulate({a}, axis={one})",
            f"np.{self.pick(('add', 'multiply', 'less', 'maximum'))}.outer({a}[:3], {b}[:2])",
            f"product({a} @ {b}, {a}, {b})", f"product(np.dot({a}, {b}), {a}, {b})",
            f"product(np.{self.pick(('inner', 'outer'))}({a}[:2], {b}[:2]), {a}, {b})",
            f"{a}.astype('{self.pick(('int64', 'bool', 'float32', 'complex128'))}') if np.isfinite({a}).all() and (abs({a}) < 1000).all() else 0",
            f"{a}.reshape({self.pick(('-1', '(2, -1)', '(-1, 1)', '(4, 3)'))})", f"{a}.copy()", f"{a}.ravel()", f"{a}.transpose()",
            f"np.array({a})", f"np.asfortranarray({a})", f"np.zeros_like({a})", f"np.ones_like({a}, dtype='int32')", f"np.tril({a})",
            f"{a}.size", f"len({a})", f"np.atleast_2d({a})", f"zero_d + {a}", f"{a} * zero_d", f"zero_d{self.pick((' + 1', '[...] + 1', '[()]', '[None] + 1'))}"))

    def aliased(self, target: str) -> str:
        """A statement whose target and operands share memory."""
        return self.pick((f"{target}[1:] = {target}[:-1]", f"{target}[:-1] = {target}[1:]", f"{target} += {target}.T",
                          f"{target}[::-1] += {target}", f"{target}[...] = {target}[::-1]", f"{target}[1:] -= {target}[:-1]",
                          f"{target} *= {target}[0]", f"np.add({target}[1:], {target}[:-1], out={target}[1:])",
                          f"np.multiply({target}, {target}[::-1], out={target})", f"{target}[1:] += {target}[:-1] * 0.5 + {target}[1:]",
                          f"{target}[..., 1:] = {target}[..., :-1] + {target}[..., 1:]", f"{target}[:] = {target}.T"))

    def elements(self, target: str) -> None:
        """A loop over elements, which becomes a region.  (Those of other dtypes are no numbers of dl, or wrap in NumPy.)"""
        with self.under("try:"):
            self.line("assert str(x.dtype) == str(y.dtype) == str(z.dtype) == 'float64', 'not of floats'")
            self.line("np.seterr(all='ignore')")
            with self.under(f"for i in range({self.pick(('len(' + target + ')', '40', '-3, 60'))}):"):
                at = self.pick(("i", "i", "-i", "i // 2", "i - 1"))
                self.line(f"{target}[{at}] {self.pick(('=', '+=', '*='))} {self.leaf()}[{self.pick(('i', 'i', '-1', 'i - 2'))}] "
                          f"{self.pick(ARITHMETIC)} {self.number()}")
                if self.chance(40):
                    self.line(f"if {target}.ndim == 2:")
                    self.line(f"    {target}[i, {self.pick(('0', '-1', 'i'))}] = {self.leaf()}[{self.pick(('i', '0'))}, 0] + i")
        with self.under("except Exception as e:"):
            self.line("failed(e)")
        self.line(f"show({target})")

    def statement(self) -> None:
        n = self.random.randrange(160)
        target = self.leaf()
        if n >= 100:
            if n < 140:
                # (Warnings of NumPy's own Python code are at lines of NumPy's.)
                self.tried(f"with np.errstate(all='ignore'):\n    told({self.whole()})")
            elif n < 150:
                self.tried(f"{self.aliased(target)}\nshow({target})")
            elif n < 153:
                self.elements(target)
            else:
                # (By index arrays, it may be a view of another array: its own memory or not.)
                key = self.subscript()
                self.tried(f"{'told' if self.is_picked(key) else 'show'}({self.leaf()}{key})")
            return
        if n < 25:
            self.tried(f"{target} {self.pick(('+=', '-=', '*=', '/=', '&='))} {self.operand(2)}\nshow({target})")
        elif n < 45:
            key = self.subscript()
            self.tried(f"{target}{key} = {self.stored(key, self.operand(2))}\nshow({target})")
        elif n < 55:
            key, operator = self.subscript(), self.pick(("+=", "-=", "*="))
            if self.chance(30):  # Elements of float64 with numbers are the same but for warnings of overflow and invalid values.
                self.tried(f"assert str({target}.dtype) == 'float64', 'not of floats'\nwith np.errstate(all='ignore'):\n"
                           f"    {target}{key} {operator} {self.number()}\nshow({target})")
            else:
                self.tried(f"{self.no_element(target + key)}{target}{key} {operator} {self.operand(1)}\nshow({target})")
        elif n < 65:
            part = self.leaf() + self.subscript()
            self.tried(f"{self.no_element(part)}show({self.pick(BINARY)}({part}, {self.operand(1)}, out={target}))")
        elif n < 72:
            # (A result without dimensions is a number, with a number's attributes and operators.)
            key = self.subscript()
            self.tried(f"{target} = np.atleast_1d({self.leaf()}{key}){'.copy()' if self.is_picked(key) else ''}\nshow({target})")
        elif n < 80:
            self.tried(f"{target} = {self.array(self.related(self.shape) or self.shape)}\nshow({target})")
        elif n < 90:
            call = self.pick(("sum", "prod", "max", "min", "any", "all", "cumsum", "mean", "argmax"))
            if self.chance(40):  # at the end of an expression, which is fused with it
                made, axis = self.expression(2), self.pick(("", "", "", "0", "-1", "axis=0", "axis=1", "axis=None"))
                with_it = f"with np.errstate(all='ignore'):\n    x_ = {made}\n    "
                self.tried(f"{with_it}told(np.{call}({made}, {axis}) if x_.size else 0)\n    told({made}.{call}({axis}) if x_.size else 0)")
                return
            self.tried(f"with np.errstate(all='ignore'):\n"
                       f"    told({target}.{call}({self.pick(('', 'axis=0', 'axis=-1', 'axis=1'))}) if {target}.size else 0)")
        else:
            self.tried(self.pick((f"told(np.where({self.leaf()} > 0, {self.leaf()}, {self.number()}))",
                                  f"show(np.concatenate(({self.leaf()}, {self.leaf()})))", f"show({target}.T + {target})",
                                  f"show({target}.reshape(-1) * 2)", f"show({target}.astype('{self.pick(('int64', 'bool', 'float32'))}') if "
                                  f"np.isfinite({target}).all() and (abs({target}) < 1000).all() else 0)")))

    def function(self) -> None:
        """A function that is made hot with arrays of one kind, and then called with others."""
        name = f"f{self.functions}"
        self.functions += 1
        with self.under(f"def {name}(a, b, c, scale, zero_d):"):
            depth = self.random.randrange(2, 5)
            form = self.random.randrange(7)
            if self.chance(12):
                self.names = ("a.T", "b.T", "c.T")
            text = self.expression(depth)
            self.names = ("a", "b", "c")
            if self.chance(8):
                self.line(f"return {text} {self.pick(('==', '!='))} {self.operand(1)}")
            elif form < 2 and self.chance(60):
                self.line(f"return {text}")
            elif form < 2:
                # (Warnings of reductions are at lines of NumPy's, and how it lays out their results is not what it promises.)
                call, axis = self.pick(("sum", "sum", "mean", "max", "min", "prod")), self.pick(("0", "-1", "1", "None"))
                named = f"axis={axis}" if self.chance(60) else axis
                with self.under("with np.errstate(all='ignore'):"):
                    self.line(f"x_ = {text}")
                    whole = f"np.{call}({text}, {named})" if self.chance(50) else f"({text}).{call}({named})"
                    whole += " + 0" if call in ("max", "min") else ""  # (which of the zeros is not said)
                    self.line(f"return np.ascontiguousarray({whole}) if x_.size else x_")
            elif form == 2:
                self.line(f"a {self.pick(('+=', '-=', '*='))} {text}")
                self.line("return a")
            elif form == 3:
                self.line(f"a{self.pick(CONSTANT_KEYS)} = {text}")
                self.line("return a")
            elif form == 6:
                key, other = self.pick(CONSTANT_KEYS), self.pick(CONSTANT_KEYS)
                value = f"b{key} {self.pick(ARITHMETIC)} a{other if self.chance(40) else key} {self.pick(ARITHMETIC)} {self.number()}"
                if self.chance(50):
                    value = f"({value}) {self.pick(ARITHMETIC)} c{key}"
                self.line(f"a{key} {self.pick(('=', '=', '+=', '-=', '*='))} {value}")
                self.line("return a")
            elif form == 4:
                with self.under(f"for i in range({self.pick((3, 40))}):"):
                    self.line(f"r = {text}")
                    self.line("b = b + 0 * i" if self.chance(30) else "pass")
                self.line("return r")
            else:
                self.line(f"r = {self.expression(2)}")
                self.line(f"return (r + b) * {self.number()} - {self.expression(1)}")
        with self.under(f"for i in range({self.pick((12, 60))}):"):
            with self.under("try:"):
                self.line(f"r = {name}({self.arguments()})")
            with self.under("except Exception as e:"):
                self.line("r = 0")
        self.line("show(r)")
        for _ in range(self.upto(3)):
            if self.chance(50):
                self.tried(f"show({name}({self.arguments()}))")
            else:
                other = self.array(self.related(self.shape) or self.shape)
                args = [other if self.chance(50) else "x", "y", "z"]
                self.random.shuffle(args)
                self.tried(f"show({name}({', '.join(args)}, {self.number()}, {self.values(self.pick(DTYPES), ())}))")

    def arguments(self) -> str:
        return ", ".join(self.pick(("x", "y", "z", "z")) for _ in range(3)) + f", {self.pick(('scale', '2.0', '3'))}, zero_d"

    def program(self) -> str:
        self.put(PRELUDE)
        if self.chance(30):
            modes = "all='ignore'", "divide='raise'", "invalid='ignore'", "over='ignore', divide='ignore'", "under='ignore'"
            self.line(f"np.seterr({self.pick(modes)})")
        first = self.pick(DTYPES)
        for name in "xyz":
            dtype = first if self.chance(60) else self.pick(DTYPES)
            shape = self.related(self.shape) or self.shape if name == "z" else self.shape
            self.line(f"{name} = {self.array(shape, dtype)}")
        if self.chance(20):
            self.line(f"y = x{self.pick(('', '[::-1]', '[...]', '.T', '[1:]', '[:-1]'))}")
        self.line(f"scale = {self.number()}")
        self.line(f"zero_d = {self.values(self.pick(DTYPES), ())}")
        for _ in range(self.upto(3)):
            self.names = ("a", "b", "c")
            self.function()
            self.names = ("x", "y", "z")
            for _ in range(self.random.randrange(20, 60)):
                self.statement()
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return ArrayWriter(seed).program()


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--show":
        print(generate(int(sys.argv[2])), end="")
        return 0
    return fuzz.main(generate, "ndarray", HERE.parent / "ndarray" / "oracle", CASE)


if __name__ == "__main__":
    sys.exit(main())
