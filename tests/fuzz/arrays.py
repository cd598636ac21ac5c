#!/usr/bin/env python3
"""Differential fuzzing of ndarray: random programs with arrays on CPython with NumPy against dynvm at every level.

`arrays.py --first 0 --count 1000` works like fuzz.py; `arrays.py --show SEED` prints a program.
"""

import sys
from pathlib import Path

import fuzz
from writer import Writer

HERE = Path(__file__).resolve().parent
DTYPES = ("float64", "float64", "float64", "int64", "int64", "float32", "int32", "bool", "uint8", "complex128")
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
KINDS = (ZeroDivisionError, FloatingPointError, OverflowError, IndexError, KeyError, ValueError, TypeError, BufferError, NameError)


def failed(e):
    print("failed", [k.__name__ for k in KINDS if isinstance(e, k)][:1], str(e)[:300])


def show(x):
    if isinstance(x, np.ndarray) and x.ndim:
        print(str(x.dtype).replace('uint64', 'int64'), x.shape)
        if x.size:
            print(x.strides, x.flags.c_contiguous, x.flags.owndata)
        print(x.tolist() if x.size < 64 else [x.tolist()[0], x.ravel()[::37].tolist(), x.ravel()[-3:].tolist()])
    else:
        print(np.asarray(x).tolist())
"""


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
        if dtype == "uint8":
            return str(self.random.randrange(256))
        if dtype in ("int64", "int32"):
            return self.pick(INTS[:-1] + ("2147483647",)) if self.chance(90) or dtype == "int32" else "9223372036854775807"
        if dtype == "complex128":
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

    def leaf(self) -> str:
        return self.pick(self.names)

    def operand(self, depth: int) -> str:
        """An array, or a number: a second operand."""
        n = self.random.randrange(100)
        if n < 25:
            return self.number()
        if n < 30:
            return "scale"
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
            return f"({self.expression(depth - 1)} {self.pick(COMPARISONS)} {self.operand(depth - 1)})"
        if n < 70:
            return f"({self.expression(depth - 1)} {self.pick(('&', '|', '^'))} {self.expression(depth - 1)})"
        if n < 78:
            return f"{self.pick(('-', '-', '-', '~'))}{self.expression(depth - 1)}"
        if n < 90:
            if self.chance(50):
                return f"{self.pick(FLOAT_UNARY)}({self.expression(depth - 1)} * 1.0)"
            return f"{self.pick(UNARY)}({self.expression(depth - 1)})"
        if n < 96:
            if self.chance(30):
                return f"{self.pick(FLOAT_BINARY)}({self.expression(depth - 1)} * 0.5, {self.operand(depth - 1)})"
            return f"{self.pick(BINARY)}({self.expression(depth - 1)}, {self.operand(depth - 1)})"
        return f"(np.{self.pick(('maximum', 'minimum'))}({self.expression(depth - 1)}, {self.operand(depth - 1)}) + 0.0)"

    def subscript(self) -> str:
        n = self.random.randrange(12)
        return ("[...]", "[:]", "[::2]", "[::-1]", "[1:]", "[:-1]", "[0]", "[..., 0]", "[-1]", "[None]", f"[{self.leaf()} > 0]",
                "[[0, -1, 0]]")[n]

    # ---- Statements ----

    def tried(self, text: str) -> None:
        with self.under("try:"):
            self.put(text)
        with self.under("except Exception as e:"):
            self.line("failed(e)")

    def statement(self) -> None:
        n = self.random.randrange(100)
        target = self.leaf()
        if n < 25:
            self.tried(f"{target} {self.pick(('+=', '-=', '*=', '/=', '&='))} {self.operand(2)}\nshow({target})")
        elif n < 45:
            self.tried(f"{target}{self.subscript()} = {self.operand(2)}\nshow({target})")
        elif n < 55:
            self.tried(f"{target}{self.subscript()} {self.pick(('+=', '-=', '*='))} {self.operand(1)}\nshow({target})")
        elif n < 65:
            self.tried(f"show({self.pick(BINARY)}({self.leaf()}{self.subscript()}, {self.operand(1)}, out={target}))")
        elif n < 72:
            self.tried(f"{target} = {self.leaf()}{self.subscript()}\nshow({target})")
        elif n < 80:
            self.tried(f"{target} = {self.array(self.related(self.shape) or self.shape)}\nshow({target})")
        elif n < 90:
            call = self.pick(("sum", "prod", "max", "min", "any", "all", "cumsum", "mean", "argmax"))
            self.tried(f"show({target}.{call}({self.pick(('', 'axis=0', 'axis=-1', 'axis=1'))}) if {target}.size else 0)")
        else:
            self.tried(self.pick((f"show(np.where({self.leaf()} > 0, {self.leaf()}, {self.number()}))",
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
            text = self.expression(depth)
            if form < 2:
                self.line(f"return {text}")
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
            for _ in range(self.random.randrange(5)):
                self.statement()
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return ArrayWriter(seed).program()


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--show":
        print(generate(int(sys.argv[2])), end="")
        return 0
    return fuzz.main(generate, "ndarray", HERE.parent / "ndarray" / "oracle")


if __name__ == "__main__":
    sys.exit(main())
