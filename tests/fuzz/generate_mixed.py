"""Makes random dl programs whose types change while they run.

A program is a few functions with hot loops, each calling only those after it, and a driver that calls the
first one many times.  Variables n0, n1, ... are numbers (small ints, ints at the borders, floats, bools);
a0, a1, ... are anything.  Every function catches its own errors and prints them, or lets them through to a
traceback at the end.  The same seed always makes the same program.
"""

from writer import BITS, Writer

NUMBERS = ["0", "1", "2", "3", "7", "-1", "-5", "100", "0.5", "2.0", "-1.5", "1e10", "True"]
EDGES = ["2**47 - 1", "-(2**47)", "2**47", "2**63 - 1", "-(2**63)", "2**63", "2**70", "140737488355327.0", "-0.0"]
ANYTHING = ["None", '"s"', "[1]", "(1, 2)", "{}", '"é"', "False"] + NUMBERS + EDGES
ARITHMETIC = ["+", "-", "*", "//", "%", "/"]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]
PRELUDE = '''

class Thing:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def add(self, x):
        self.a = clip(self.a + x)
        return self.a


def clip(x):
    if isinstance(x, float):
        if x != x or x > 1e100 or x < -1e100:
            return 1.5
    elif isinstance(x, int):
        if x > 2**90 or x < -(2**90):
            return x % 1000003
    elif isinstance(x, str) or isinstance(x, list) or isinstance(x, tuple):
        if len(x) > 20:
            return x[:3]
    return x


g0 = 1
g1 = 0.5
'''


class Program(Writer):
    def __init__(self, seed: int):
        super().__init__(seed)
        self.loops = []  # loop variables in scope
        self.function = 0
        self.functions = self.random.randrange(2, 5)
        self.depth = 0
        self.counter = 0

    # ---- Expressions ----

    def number_variable(self) -> str:
        names = [f"n{i}" for i in range(4)] + self.loops * 2
        return self.pick(names)

    def number(self, depth: int = 2) -> str:
        """A numeric expression; it may still raise."""
        if depth == 0 or self.chance(25):
            return self.number_variable() if self.chance(65) else self.pick(NUMBERS + (EDGES if self.chance(20) else []))
        kind = self.random.randrange(14)
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind < 6:
            return self.joined(a, ARITHMETIC[:3] if self.chance(70) else ARITHMETIC, b)
        if kind == 6:
            return self.joined(f"int({a})", BITS, f"int({b})")
        if kind == 7:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if kind == 8:
            return f"items[{self.index()}]"
        if kind == 9:
            return f"{self.pick(['abs', '-', '+', 'float', 'int'])}({a})"
        if kind == 10 and self.function + 1 < self.functions:
            return f"f{self.random.randrange(self.function + 1, self.functions)}({a}, {b})"
        if kind == 11:
            return self.pick(["thing.a", "thing.b", "g0", "g1", "len(items)", f"thing.add({a})"])
        if kind == 12:
            return f"{self.pick(['min', 'max'])}({a}, {b})"
        return self.joined(f"int({a})", ["<<", ">>"], f"(int({b}) & 7)")

    def index(self) -> str:
        base = self.pick(self.loops or ["n0"])
        return base if self.chance(20) else f"int({base}) % len(items)"

    def condition(self, depth: int = 1) -> str:
        kind = self.random.randrange(6)
        if kind < 3 or depth == 0:
            return f"{self.number(depth)} {self.pick(COMPARISONS)} {self.number(depth)}"
        if kind == 3:
            return f"not {self.number_variable()}"
        if kind == 4:
            return f"({self.condition(0)} {self.pick(['and', 'or'])} {self.condition(0)})"
        return f"{self.number(0)} {self.pick(COMPARISONS)} {self.number(0)} {self.pick(COMPARISONS)} {self.number(0)}"

    # ---- Statements ----

    def assign_number(self) -> None:
        target = f"n{self.random.randrange(4)}"
        if self.chance(35):
            self.line(f"{target} {self.pick(['+=', '-=', '*='])} {self.number(1)}")
            self.line(f"{target} = clip({target})")
        elif self.chance(50):
            self.line(f"{target} = clip({self.number()})")
        else:
            self.line(f"{target} = {self.number_variable()} {self.pick(['+', '-'])} {self.number(0)}")

    def assign_anything(self) -> None:
        target, other = f"a{self.random.randrange(2)}", f"a{self.random.randrange(2)}"
        self.line(self.pick([
            f"{target} = {self.pick(ANYTHING)}",
            f"{target} = clip({other} + {self.pick(['a0', 'a1', 'n0', self.pick(ANYTHING)])})",
            f"{target} = clip({other} * 2)",
            f"{target} = ({other}, n1)[n0 > 1]",
            f"{target} = {other} if {other} else {self.pick(ANYTHING)}",
            f"{target} = {other}[0]",
            f"{target} = f'{{{other}}}'[:9]",
            f"{target} = {other} == {self.pick(ANYTHING)}",
        ]))

    def change_late(self) -> None:
        """Something that types or assumptions depend on changes at one iteration."""
        when = f"{self.loops[-1]} == {self.random.randrange(1, 30)}" if self.loops else self.condition()
        self.line(f"if {when}:")
        self.indent += 1
        self.line(self.pick([
            f"n{self.random.randrange(4)} = {self.pick(NUMBERS + EDGES)}",
            f"a0 = {self.pick(ANYTHING)}",
            f"items[{self.index()}] = {self.pick(EDGES)}",
            f"items.append({self.number(0)})",
            "items.pop()",
            f"thing.{self.pick('ab')} = {self.pick(NUMBERS + EDGES)}",
            f"thing.extra{self.random.randrange(3)} = 1",
            f"g0 = {self.number(0)}",
            f"f{self.functions - 1} = {self.pick(['spare', f'f{self.functions - 1}'])}",
            "items = items[:]",
        ]))
        self.indent -= 1

    def loop(self) -> None:
        self.depth += 1
        self.counter += 1
        limit = [40, 12, 6][self.depth - 1] if self.function == 0 else [8, 4, 3][self.depth - 1]
        count = self.random.randrange(2, limit)
        name = f"i{self.counter}"
        kind = self.random.randrange(4)
        if kind == 0:
            self.while_counting(name, count)
        elif kind == 1:
            step = self.pick([2, 3, -1])
            bounds = f"{count}, 0, -1" if step < 0 else f"0, {count * step}, {step}"
            self.line(f"for {name} in range({bounds}):")
            self.indent += 1
        elif kind == 2 and self.function > 0:
            self.line(f"for {name}, x in enumerate(items[:9]):")
            self.indent += 1
            self.line("n1 = clip(n1 + x)")
        else:
            self.line(f"for {name} in range({count}):")
            self.indent += 1
        self.loops.append(name)
        self.block(self.random.randrange(1, 5))
        if self.chance(25):
            self.line(f"if {self.condition()}:")
            self.line("    " + self.pick(["break", "continue", f"return {self.number_variable()}"]))
        self.loops.pop()
        self.indent -= 1
        self.depth -= 1

    def branch(self) -> None:
        self.line(f"if {self.condition()}:")
        self.indented(2)
        if self.chance(50):
            self.line("else:")
            self.indented(1)

    def attempt(self) -> None:
        self.line("try:")
        self.indented(2)
        self.line(f"except {self.pick(['ZeroDivisionError', 'TypeError', '(ValueError, IndexError)', 'Exception'])} as e:")
        self.line("    " + self.pick(["print(e)", "n3 = 0", "a1 = str(e)", "raise"]))

    def indented(self, count: int) -> None:
        self.indent += 1
        self.block(self.random.randrange(1, count + 1))
        self.indent -= 1

    def statement(self) -> None:
        kind = self.random.randrange(20)
        if kind < 7:
            self.assign_number()
        elif kind < 9:
            self.change_late()
        elif kind == 9:
            self.assign_anything()
        elif kind < 13 and self.depth < 3:
            self.loop()
        elif kind == 13 and self.depth < 3:
            self.branch()
        elif kind == 14 and self.depth < 3:
            self.attempt()
        elif kind == 15:
            self.line(f"items[{self.index()}] = clip({self.number()})")
        elif kind == 16:
            # Two different targets: CPython 3.11.2 swaps the stores of `x, x = 1, 2` (fixed in 3.11.3).
            first, second = self.random.sample(range(4), 2)
            self.line(f"n{first}, n{second} = {self.number(1)}, {self.number(0)}")
        elif kind == 17:
            self.line(f"thing.{self.pick('ab')} = clip({self.number(1)})")
        elif kind == 18:
            self.line(f"g{self.random.randrange(2)} = clip({self.number(1)})")
        else:
            self.line(f"table[{self.number_variable()}] = {self.number(0)}")
            self.line("n2 = table.get(n0, n2)")

    def block(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    # ---- The whole ----

    def define(self, number: int) -> None:
        self.function = number
        self.loops, self.depth, self.indent = [], 0, 0
        self.line("")
        self.line("")
        self.line(f"def f{number}(n0, n1):")
        self.indent = 1
        # A function that rebinds a global function must say so; the last one is the victim.
        self.line(f"global g0, g1, f{self.functions - 1}")
        self.line("n2 = 0")
        self.line(f"n3 = {self.pick(NUMBERS)}")
        self.line("a0 = a1 = 0")
        self.line("items = [1, 2, 3, 4]" if self.chance(60) else "items = [0.5, 1, 2.5]")
        self.line("thing = Thing(n0, 1)")
        self.line("table = {}")
        self.block(self.random.randrange(2, 5))
        if number == 0:
            self.line("print(n0, n1, n2, n3, a0, a1, items, table)")
        self.line(f"return clip({self.number(1)})")

    def text(self, seed: int) -> str:
        self.lines = [f"# Random program {seed}."] + PRELUDE.rstrip("\n").split("\n")
        self.indent = 0
        self.line("")
        self.line("")
        self.line("def spare(x, y):")
        self.line("    return 0.25")
        for number in range(self.functions):
            self.define(number)
        self.indent = 0
        self.line("")
        self.line("")
        self.line(f"for k in range({self.random.randrange(20, 60)}):")
        self.line("    try:")
        self.line(f"        print(f0(k, {self.pick(['k', '1', '0.5', 'k - 20'])}))")
        self.line("    except (ArithmeticError, TypeError, ValueError, LookupError, UnboundLocalError) as e:")
        self.line("        print(e)")
        self.line("f0(1, None)")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Program(seed).text(seed)
