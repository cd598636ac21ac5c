"""Makes random dl programs whose loops are hot and well typed, until something changes late.

Where generate_mixed.py makes programs that keep quickening busy, these become regions: variables i* are ints,
x* floats, lists, arrays and rows of them hold one type; small functions are called from the loops.  Then, at one iteration of one
loop, a variable, an element, a global or a called function changes its type, a callee raises, or a list
shrinks.  Some functions return tuples, which the loops unpack; some are
generators, which loops go over.  The same seed always makes the same program.
"""

from writer import BITS, Writer

INTS = ["i0", "i1", "i2"]
FLOATS = ["x0", "x1", "x2"]
SURPRISES = {
    "int": ["0.5", "2**47 - 5", "2**62", "-(2**63)", "2**70", "True", "None", "-1"],
    "float": ["1", "None", '"s"', "2**53", 'float("inf")', 'float("nan")', "-0.0"],
}


class Loops(Writer):
    def __init__(self, seed: int):
        super().__init__(seed * 7919 + 1)
        self.loops = []
        self.callees = []  # (name, types of parameters, type of result)
        self.tuples = []  # (name, types of parameters, types of the items that it returns)
        self.producers = []  # generators of the loops' ints: (name, types of parameters behind the count)
        self.inside = False  # in the main function, where lists and globals may be used
        self.counter = 0
        self.surprises = 0
        self.iterations = 1  # of the loops around

    # ---- Expressions of one type ----

    def int_leaf(self) -> str:
        if self.chance(30):
            return str(self.pick([0, 1, 2, 3, 5, -1, 7, 100]))
        return self.pick(INTS + self.loops * 2 + (["g0"] if self.inside and self.chance(30) else []))

    def int_expression(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(25):
            return self.int_leaf()
        a, b = self.int_expression(depth - 1), self.int_expression(depth - 1)
        kind = self.random.randrange(12)
        if kind < 5:
            return self.joined(a, ["+", "-", "+", "-", "*"], b)
        if kind == 5:
            return f"({a} {self.pick(['//', '%'])} {self.pick([2, 3, 7, -5, 10])})"
        if kind == 6:
            return f"({a} {self.pick(BITS)} {self.pick([1, 7, 255])})"
        if kind == 7:
            return f"({a} {self.pick(['<<', '>>'])} {self.pick([0, 1, 2, 5])})"
        if kind == 8 and self.inside:
            return self.item("ints")
        if kind == 9:
            return f"({a} if {self.condition()} else {b})"
        if kind == 10:
            forms = [f"-{a}", f"({a}) ** 2", f"{self.int_leaf()} ** {self.pick([2, 3, 5])}", f"int({self.float_leaf()} % 100.0)"]
            return self.pick(forms + [f"round({self.float_leaf()} % 50.0)", f"divmod({a}, 7)[1]"])
        return self.call("int", depth) or f"({a} + {b})"

    def float_leaf(self) -> str:
        if self.chance(25):
            return self.pick(["0.5", "2.0", "-1.5", "0.25", "1e-3", "3.0"])
        return self.pick(FLOATS + (["g1"] if self.inside and self.chance(30) else []))

    def float_expression(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(20):
            return self.float_leaf()
        a, b = self.float_expression(depth - 1), self.float_expression(depth - 1)
        kind = self.random.randrange(11)
        if kind < 5:
            return self.joined(a, ["+", "-", "*"], b)
        if kind == 5:
            return f"({a} / {self.pick(['2.0', '3.5', f'({b} * {b} + 1.0)'])})"
        if kind == 6:
            return f"({a} {self.pick(['+', '*', '-'])} {self.int_expression(0)})"
        if kind == 7 and self.inside:
            return self.item("floats")
        if kind == 8:
            return f"({self.int_expression(1)} / {self.pick([2, 3, 10])})"
        if kind == 9:
            forms = [f"-{a}", f"abs({a})", f"sqrt({a} * {a})", f"({a} {self.pick(['%', '//'])} {self.pick(['3.0', '-0.7', b])})"]
            return self.pick(forms + [f"abs({a}) ** {self.pick(['0.5', '1.5', '-0.5', '2', '3'])}", f"round({a}, {self.pick([0, 1, 2])})", f"float({self.int_leaf()})"])
        return self.call("float", depth) or f"({a} - {b})"

    def expression(self, kind: str, depth: int = 2) -> str:
        return self.int_expression(depth) if kind == "int" else self.float_expression(depth)

    def index(self, name: str) -> str:
        base = self.pick(self.loops or ["i0"])
        return self.pick([f"{base} % 4", f"{base} % len({name})", f"-1 - {base} % 3", "2"])

    def item(self, name: str) -> str:
        if self.chance(30):
            return f"rows[{int(name == 'floats')}][{self.index('rows[0]')}]"
        return f"{name}[{self.index(name)}]"

    def call(self, kind: str, depth: int) -> str:
        found = [c for c in self.callees if c[2] == kind]
        if not found:
            return ""
        name, types, _ = self.pick(found)
        return f"{name}({', '.join(self.expression(t, min(depth - 1, 1)) for t in types)})"

    def condition(self) -> str:
        kind = self.pick(["int", "int", "float"])
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        text = f"{self.expression(kind, 1)} {compare} {self.expression(kind, 0)}"
        if self.chance(20):
            text = f"({text} {self.pick(['and', 'or'])} {self.int_leaf()} {compare} {self.int_leaf()})"
        return text

    # ---- Statements ----

    def assign(self) -> None:
        kind = self.pick(["int", "float"])
        name = self.pick(INTS if kind == "int" else FLOATS)
        shape = self.random.randrange(6)
        if self.tuples and self.chance(15):
            self.unpack()
        elif shape == 0:
            self.line(f"{name} {self.pick(['+=', '-='])} {self.expression(kind, 1)}")
        elif shape == 1 and self.inside:
            target = "ints" if kind == "int" else "floats"
            self.line(f"{self.item(target)} {self.pick(['=', '=', '+='])} {self.expression(kind, 1)}")
        elif shape == 2 and self.chance(30):
            a, b, c = INTS if kind == "int" else FLOATS
            values = self.pick([f"{b}, {c}, {a}", "3, 4, 5" if kind == "int" else "0.5, 1.5, -2.5"])
            self.line(f"{a}, {b}, {c} = {values}")
        elif shape == 2 and self.chance(30):
            names = self.random.sample(INTS + FLOATS, 4)
            values = [self.expression("int" if name in INTS else "float", self.random.randrange(2)) for name in names]
            self.line(f"{', '.join(names)} = {', '.join(values)}")
        elif shape == 2:
            a, b = (INTS if kind == "int" else FLOATS)[:2]
            self.line(f"{a}, {b} = {b}, {self.expression(kind, 1)}")
        else:
            self.line(f"{name} = {self.expression(kind)}")
        # Mostly keep values small, sometimes let them overflow.
        if kind == "int" and self.chance(60):
            self.line(f"{name} = {name} % 1000003")
        elif kind == "int" and self.chance(80):
            self.line(f"if {name} > 2**80 or {name} < -(2**80):")
            self.line(f"    {name} = 12345")
        elif kind == "float" and self.chance(70):
            self.line(f"if {name} > 1e6 or {name} < -1e6:")
            self.line(f"    {name} = 0.75")

    def tuple_call(self, found: tuple) -> str:
        return f"{found[0]}({', '.join(self.expression(kind, 1) for kind in found[1])})"

    def unpack(self) -> None:
        found = self.pick(self.tuples)
        ints, floats = self.random.sample(INTS, 3), self.random.sample(FLOATS, 3)
        names = [(ints if kind == "int" else floats).pop() for kind in found[2]]
        if self.inside and self.chance(20):
            names[0] = self.item("ints" if found[2][0] == "int" else "floats")
        self.line(f"{', '.join(names)} = {self.tuple_call(found)}")

    def surprise(self) -> None:
        """At one iteration something changes that the loop was built on."""
        self.surprises += 1
        loop = self.pick(self.loops)
        self.line(f"if {loop} == {self.random.randrange(2, 60)} and i2 != -77:")
        kind = self.pick(["int", "float"])
        name, items = (self.pick(INTS), "ints") if kind == "int" else (self.pick(FLOATS), "floats")
        value = self.pick(SURPRISES[kind])
        changes = [
            f"{name} = {value}",
            f"{items}[{self.random.randrange(4)}] = {value}",
            f"{'g0' if kind == 'int' else 'g1'} = {value}",
            f"{items} = {items} + [{value}]",
            f"{items}.append({value})",
            "shrink(floats)",
            "g2 = later(g2)",
        ]
        if self.callees + self.tuples:
            name = self.pick(self.callees + self.tuples)[0]
            changes += [f"{name} = spare{self.random.randrange(3)}", f"swap_{name}()"]
        self.line("    " + self.pick(changes))

    def raising(self) -> None:
        """A statement that raises in some rounds, or in all."""
        loop, k = self.pick(self.loops or ["i1"]), self.pick([1, 2, 3, 7, 20, 90])
        self.line(self.pick([
            f"if {loop} % {k} == 0: raise {self.pick(['ValueError', 'IndexError', 'OverflowError'])}({self.int_expression(0)})",
            f"if {self.condition()}: raise {self.pick(['ValueError', 'TypeError()', 'IndexError(i2, x0)'])}",
            f"x2 = {self.int_leaf()} // ({loop} % {k})",
            f"i1 += [3, 1, 2][{loop} % {k}]",
            f"i1 += int('x' if {loop} % {k} == 0 else '7')",
            f"if {loop} % {k} == 0: raise ValueError({loop}) from TypeError(i1)",
            f"if {loop} % {k} == 0: raise {self.pick(['Own', 'Own()', 'Own(i1, x1)', f'Further({loop})', 'KeyError(ints, x0)'])}",
            f"{self.pick(['i1 +=', 'x2 ='])} table[{loop} % {k}]",
            f"x2 = {self.pick(['x0 /', 'i0 /', 'x1 %', 'i1 %'])} ({loop} % {k})",
            f"{self.pick(['i1', 'x1'])} += {self.pick(['ints', 'floats', 'rows[0]'] if self.inside else ['(1, 2, 3)'])}[{loop} % {k} - 2]",
        ]))

    def attempt(self) -> None:
        self.line("try:")
        self.indent += 1
        self.assign()
        if self.chance(40):
            self.raising()
        if self.callees:
            self.line(f"x2 = {self.call(self.callees[0][2], 1)}")
        self.indent -= 1
        while self.chance(40):
            self.line(f"except {self.pick(['Own', 'Further', 'ValueError', '(KeyError, IndexError)', 'LookupError', 'ArithmeticError', 'others'])}:")
            self.indent += 1
            self.handle()
            self.indent -= 1
        self.line("except (TypeError, ZeroDivisionError, LookupError, OverflowError, ValueError) as e:")
        self.line(f"    g3 += len(str(e))\n{'    ' * self.indent}    x2 = 0.5")
        if self.chance(10):
            self.line("finally:\n" + "    " * self.indent + "    i1 = 3")

    def attempt_inside(self, result: str) -> None:
        """A try of a function that loops call."""
        self.line("try:")
        self.indent += 1
        self.raising()
        self.assign()
        if self.chance(40):
            self.line(f"return {self.expression(result, 1)}")
        self.indent -= 1
        catches = self.chance(80)
        if catches:
            self.line(f"except {self.pick(['ValueError', 'Own', '(KeyError, IndexError)', 'LookupError', 'ArithmeticError', 'Exception', 'others'])}:")
            self.line("    " + self.pick(["pass", "i1 = 4", "x2 = 1.5", "x1 = len(repr(exc_info()[1].args)) + 0.5", "raise", f"return {self.expression(result, 1)}"]))
            if self.chance(20):
                self.line("else:\n        i2 = 2")
        if not catches or self.chance(25):
            self.line("finally:\n        i1 = 3")

    def handle(self) -> None:
        """Of a clause: nothing looks at the exception, or something does."""
        shape = self.random.randrange(8)
        if shape < 3:
            self.line(self.pick(["i1 = 5", "x2 = 0.25", "pass", "i0 = i0 % 100 + 1", "x1 = x0 * 0.5"]))
        elif shape == 3:
            self.assign()
        elif shape == 4:
            self.line("g3 += len(repr(exc_info()[1].args))" if self.chance(50) else "g3 += exc_info()[2].tb_lineno")
        elif shape == 5:
            self.line(self.pick(["continue", "break"]))
        elif shape == 6:
            self.raising()
            self.line("i1 = 7")
        else:
            self.line(f"if {self.condition()}: raise")
            self.assign()

    def walks(self, depth: int, count: int) -> list:
        """What a loop may go over, beside ranges."""
        keyed = f"{{{self.pick(['k', 'k * 3', 'k ^ i1'])}: {self.pick(INTS + ['k'])} for k in range({count})}}"
        walks = [keyed, f"{keyed}.keys()", f"{keyed}.values()", f"set({keyed})", f"reversed(list({keyed}))", f"reversed(range({count}))"]
        return [self.pick(walks)] + (["ints", "bytes(7)", "(1, 2, 5)", "rows[0]", "reversed(ints)"] if depth else []) if self.inside else []

    def pairs(self, name: str, count: int, depth: int) -> str:
        """The head of a loop over pairs, of which the first is the loop's int."""
        kind = self.pick(["int", "float"])
        second, items = (self.pick(INTS), "ints") if kind == "int" else (self.pick(FLOATS), "floats")
        times = max(1, count // 4)
        walks = [
            f"enumerate(list({items}) * {times}{self.pick(['', ', 3', ', i0', ', 2**47 - 20'])})",
            f"zip(list(ints) * {times}, list({items}) * {times})",
            f"zip(list(range({count})), list({items}) * {times})",
            f"{{k: {second} for k in range({count})}}.items()",
            f"[(k, {second}) for k in range({count})]",
            f"enumerate(reversed(list({items}) * {times}))",
            f"enumerate(rows[{int(kind == 'float')}])" if depth else f"zip(range({count}), {items} * {times})",
        ]
        third, more = self.pick([("i2", "ints"), ("x2", "floats")])
        if self.chance(25):
            walks = [f"zip(list(range({count})), list({items}) * {times}, list({more}) * {times})", f"[(k, {second}, {third}) for k in range({count})]"]
            return f"for {name}, {second}, {third} in {self.pick(walks)}:"
        return f"for {name}, {second} in {self.pick(walks)}:"

    def loop(self, depth: int) -> None:
        self.counter += 1
        name = f"k{self.counter}"
        count = self.pick([[40, 100, 620], [4, 8, 20], [3, 5]][depth])
        # A loop becomes a region after 500 iterations; many more only cost time.
        count = max(2, min(count, 900 // self.iterations))
        self.iterations *= count
        if self.chance(65):
            form = self.pick([f"range({count})", f"range(1, {count})", f"range({count}, 0, -1)", f"range(0, {count * 2}, 2)",
                              f"range(0, {count}, i1 % 3 + 1)"] + self.walks(depth, count))
            if self.producers and self.inside and self.chance(30):
                found = self.pick(self.producers)
                form = f"{found[0]}({', '.join([str(count)] + [self.expression(kind, 1) for kind in found[1]])})"
            self.line(self.pairs(name, count, depth) if self.inside and self.chance(20) else f"for {name} in {form}:")
            self.indent += 1
        else:
            self.while_counting(name, count)
        self.loops.append(name)
        for _ in range(self.random.randrange(1, 5)):
            roll = self.random.randrange(10)
            if roll < 5:
                self.assign()
            elif roll < 7 and depth < 2:
                self.loop(depth + 1)
            elif roll == 7:
                self.line(f"if {self.condition()}:")
                self.indent += 1
                self.assign()
                if self.chance(20):
                    self.line(self.pick(["continue", "break"]))
                self.indent -= 1
            elif roll == 8:
                self.surprise()
            else:
                self.attempt()
        self.iterations //= count
        self.loops.pop()
        self.indent -= 1

    # ---- Functions ----

    def parameters(self, name: str, first: str = "") -> tuple:
        """Begins a function: the types of its parameters behind the first, and their names."""
        types = [self.pick(["int", "float"]) for _ in range(self.random.randrange(1, 4))]
        ints = iter(INTS)
        floats = iter(FLOATS)
        names = [next(ints) if t == "int" else next(floats) for t in types]
        self.line("")
        self.line("")
        self.line(f"def {name}({', '.join([first] * bool(first) + names)}):")
        self.indent = 1
        for unset in INTS + FLOATS:
            if unset not in names:
                self.line(f"{unset} = {self.random.randrange(4)}" + ("" if unset in INTS else ".5"))
        return types, names

    def returner(self, number: int) -> None:
        """A function that returns a tuple: of numbers, constants, or what another one returns."""
        name = f"t{number}"
        types, _ = self.parameters(name)
        result = [self.pick(["int", "float"]) for _ in range(self.pick([2, 2, 3]))]
        same = [found for found in self.tuples if found[2] == result]
        if self.chance(50):
            self.line(f"if {self.condition()}:")
            kind = self.random.randrange(3)
            if kind == 0 and same:
                self.line(f"    return {self.tuple_call(self.pick(same))}")
            elif kind == 1:
                self.line(f"    return {', '.join('3' if kind == 'int' else '0.25' for kind in result)}")
            else:
                self.line(f"    return {', '.join(self.expression(kind, 1) for kind in result)}")
        if self.chance(10):
            self.line(f"if i0 == {self.random.randrange(3, 200)}:")
            self.line("    return [1, 2]")
        self.assign()
        self.line(f"return {', '.join(self.expression(kind) for kind in result)}")
        self.indent = 0
        self.tuples.append((name, types, result))

    def callee(self, number: int) -> None:
        name, result = f"f{number}", self.pick(["int", "float"])
        types, names = self.parameters(name)
        if self.chance(40):
            self.line(f"if {self.condition()}:")
            self.line(f"    return {self.expression(result, 1)}")
        if self.chance(30):
            self.line(f"if {names[0]} == {self.random.randrange(3, 200)}:")
            self.line("    raise ValueError('in " + name + "')")
        if self.chance(35):
            self.attempt_inside(result)
        self.assign()
        self.line(f"return {self.expression(result)}")
        self.indent = 0
        self.callees.append((name, types, result))

    def producer(self, number: int) -> None:
        """A generator that loops go over."""
        name = f"gen{number}"
        types, _ = self.parameters(name, "n")
        if self.chance(15):
            self.line("yield 1")
        head = self.pick(["for k0 in range(n):", "for k0 in range(n):", "for k0 in list(range(n)):", "for k0 in range(1, n // 2):"])
        ends = self.chance(15)
        if ends:
            self.line("try:")
            self.indent += 1
        if self.chance(25):
            self.while_counting("k0", "n")
        else:
            self.line(head)
            self.indent += 1
        self.loops.append("k0")
        for _ in range(self.random.randrange(3)):
            self.assign()
        if self.chance(20):
            self.line(f"if k0 == {self.random.randrange(2, 300)}:")
            self.line("    " + self.pick(["return", "i0 = 0.5", "x0 = None", "raise ValueError('in " + name + "')", "i1 = 2**62", "n = 7"]))
        value = self.pick(["k0", "k0", "k0 + i0 % 3", self.int_expression(1)])
        shape = self.random.randrange(6)
        if shape == 0:
            self.line(f"if {self.condition()}:\n{'    ' * self.indent}    yield {value}")
        elif shape == 1:
            self.line(f"for k9 in range({self.pick(['2', '3', 'k0 % 3'])}):\n{'    ' * self.indent}    yield {value}")
        elif shape == 2:
            self.line(f"i2 = [(yield {value}), 3][1]")
        else:
            self.line(f"yield {value}")
        if self.chance(40):
            self.assign()
        self.loops.pop()
        self.indent = 1
        if ends:
            self.line("finally:\n        print(i0, x0)")
        self.indent = 0
        self.producers.append((name, types))

    def text(self, seed: int) -> str:
        self.lines = [f"# Random loops {seed}.", "from array import array", "from math import sqrt", "from sys import exc_info", "", "table = {1: 2, 3: 5, 4: 0}", "others = (KeyError, ValueError)", "g0 = 3", "g1 = 0.5", "g2 = 0", "g3 = 0"]
        self.lines += ["", "", "def later(x):", "    return x + 0.5"]
        self.lines += ["", "", "class Own(ValueError):", "    pass", "", "", "class Further(Own, KeyError):", "    pass"]
        self.lines += ["", "", "def shrink(items):", "    while len(items) > 3:", "        items.pop()"]
        for number, result in enumerate(["7", "0.25", "None"]):
            self.lines += ["", "", f"def spare{number}(a=0, b=0, c=0):", f"    return {result}"]
        for number in range(self.random.randrange(0, 3)):
            self.callee(number)
        for number in range(self.random.randrange(0, 3)):
            self.returner(number)
        for number in range(self.random.randrange(0, 3)):
            self.producer(number)
        for name, _, _ in self.callees + self.tuples:
            self.lines += ["", "", f"def swap_{name}():", f"    global {name}", f"    {name} = spare{self.random.randrange(3)}"]
        names = "".join(f", {name}" for name, _, _ in self.callees + self.tuples)
        self.lines += ["", "", "def run(i0, x0):"]
        self.indent = 1
        self.inside = True
        self.line(f"global g0, g1, g2, g3{names}")
        self.line("i1 = i2 = 1")
        self.line("x1 = x2 = 0.5")
        ints, more = ([self.pick(["", "", "", "array('q', ", "array('q', ", "array('i', ", "bytearray("]) for _ in range(2)])
        floats, rest = ([self.pick(["", "array('d', ", "array('f', "]) for _ in range(2)])
        self.line(f"ints = {ints}[1, 2, 3, 4]{')' if ints else ''}")
        self.line(f"floats = {floats}[0.5, 1.5, 2.5, 3.5]{')' if floats else ''}")
        self.line(f"rows = [{more}[4, 3, 2, 1]{')' if more else ''}, {rest}[0.25, 1.25, 2.5, 3.5]{')' if rest else ''}]")
        for _ in range(self.random.randrange(1, 3)):
            self.loop(0)
        self.line("print(i0, i1, i2, x0, x1, x2, ints, floats, rows, g0, g1, g2, g3)")
        self.indent = 0
        self.lines += ["", "", "for time in range(6):", "    try:", "        run(time, time / 2)"]
        self.lines += ["    except (ArithmeticError, TypeError, ValueError, LookupError) as e:", "        print(e)"]
        self.lines += ["g0 = 1", "run(2.5, 1)", "run(1, 0.5)"]
        return "\n".join(self.lines) + "\n"


    def global_names(self) -> list:
        """Some of the variables of run, or all."""
        names = INTS + FLOATS + [f"k{k + 1}" for k in range(self.counter)]
        return names if self.chance(50) else [name for name in names if self.chance(60)]

    def stores_globals(self, seed: int) -> str:
        """The same program with global variables in its main function."""
        lines = self.text(seed).split("\n")
        run = lines.index("def run(i0, x0):")
        lines[run] = "def run(a, b):"
        lines[run + 1] = ", ".join([lines[run + 1]] + self.global_names())
        lines.insert(run + 2, "    i0, x0 = a, b")
        return "\n".join(lines)

    def at_module_level(self, seed: int) -> str:
        """The same program without a main function."""
        lines = self.text(seed).split("\n")
        run, end = lines.index("def run(i0, x0):"), lines.index("for time in range(6):")
        lines[end:] = []
        lines[run : run + 2] = ["for a, b in [(0, 0.0), (1, 0.5), (2, 1.0), (1, 0.5), (2.5, 1)]:", "    i0, x0 = a, b"]
        return "\n".join(lines) + "\n"


def generate(seed: int) -> str:
    form = seed // 19 % 4  # of each 19 seeds, one comes here
    return [Loops.text, Loops.stores_globals, Loops.text, Loops.at_module_level][form](Loops(seed), seed)

