"""Makes random dl programs whose hot loops meet several kinds in turn: receivers of two to five classes, and functions
that are called with ints, floats, bools, large ints, and lists of these.

Classes have the same attributes in other orders, some are derived from one another, and some of their methods raise.
While loops are hot, classes get and lose methods, objects get attributes and other classes, and lists other items.
"""

from writer import Writer

ATTRIBUTES = ["a", "b", "c"]
NUMBERS = ["i", "i * 0.5", "i % 3 == 0", "1 << 47 + i % 3", "i & 7", "(i if i % 9 else 0.5)"]
TURNS = ["(i if i & 1 else i * 0.5)", "(i * 0.5 if i % 3 else 1 << 47)", "(i if i % 5 else None)", "(i % 3 == 0 if i & 1 else i)",
         "(i * 0.25 if i % 4 else None)", "(str(i) if i % 3 == 0 else i)", "(i, i * 0.5, None, i & 1 == 0, '-')[i % 5]"]
CONSTANTS = ["1", "2", "0.5", "3", "-1", "1.25", "True"]
METHODS = ["get", "put", "pick", "both"]


class Kinds(Writer):
    def number(self, names) -> str:
        """An expression of one of the names."""
        if self.chance(25):
            return self.pick(CONSTANTS)
        if self.chance(50):
            return self.pick(names)
        return self.joined(self.pick(names), ["+", "-", "*", "+"], self.pick(names + CONSTANTS))

    def method(self, name: str) -> None:
        own = [f"self.{a}" for a in ATTRIBUTES]
        with self.under(f"def {name}(self, k):"):
            if self.chance(30):
                self.line(f"self.{self.pick(ATTRIBUTES)} = {self.pick([*CONSTANTS, 'k'])}")
            if self.chance(20):
                self.line(f"self.n {self.pick(['+=', '-='])} 1")
            if self.chance(35):
                with self.under(f"if {self.pick(own)} {self.pick(['<', '>', '==', '!='])} {self.pick(['k', '2', '0.5'])}:"):
                    self.line(f"return {self.number(own)}")
            if self.chance(8):
                with self.under(f"if self.n == {self.pick([150, 400, 700])}:"):
                    self.line("raise ValueError(self.n)")
            if self.chance(25) and name != "get":
                self.line(f"return self.get({self.number(own + ['k'])}) + {self.number(own)}")
            elif self.chance(20) and name == "both":
                self.line("return self.peer.get(k) if self.peer is not None else k")
            else:
                self.line(f"return {self.number(own + ['k'])}")

    def unbound(self, name: str) -> None:
        """A static or class method."""
        of_class = self.chance(40)
        self.line("@classmethod" if of_class else "@staticmethod")
        with self.under(f"def {name}({'cls, ' if of_class else ''}k):"):
            if self.chance(20):
                with self.under(f"if k == {self.pick(['7', '0.5', '33'])}:"):
                    self.line(f"return {self.pick(CONSTANTS)}")
            self.line(f"return {self.number(['k', *['len(cls.__name__)'] * of_class])}")

    def class_(self, number: int) -> None:
        base = f"(K{self.random.randrange(number)})" if number and self.chance(35) else ""
        self.line(f"class K{number}{base}:")
        self.indent += 1
        if not base or self.chance(60):
            with self.under("def __init__(self, i):"):
                names = self.random.sample(ATTRIBUTES, 3)
                kinds = self.pick([["i"], ["i * 0.5"], NUMBERS, ["i", "i * 0.5"]])
                for a in names:
                    self.line(f"self.{a} = {self.pick(kinds)}")
                    if self.chance(20):
                        self.line("self.extra = i")
                self.line("self.n = 0")
                self.line("self.peer = None")
        for name in METHODS:
            if not base or self.chance(40):
                self.unbound(name) if self.chance(20) else self.method(name)
        if base:
            self.line("kind = " + str(number))
        self.indent -= 1
        self.line()

    def statement(self, objects, numbers) -> None:
        o = self.pick(objects)
        kind = self.random.randrange(9)
        if kind < 4:
            self.line(f"s += {o}.{self.pick(METHODS)}({self.number(numbers)})")
        elif kind < 6:
            self.line(f"s = s {self.pick(['+', '-'])} {o}.{self.pick(ATTRIBUTES)}")
        elif kind < 7:
            self.line(f"{o}.{self.pick(ATTRIBUTES)} = {self.number(numbers)}")
        elif kind < 8:
            with self.under(f"if {o}.{self.pick(ATTRIBUTES)} > {self.pick(CONSTANTS)}:"):
                self.line(f"s += {o}.{self.pick(METHODS)}(1)")
        elif self.chance(30):
            self.line(f"s = s * {self.pick(['0.5', '1', '-1'])}")
        elif self.chance(60):
            self.bound(o, numbers)
        else:
            self.caught(numbers)

    def bound(self, o: str, numbers) -> None:
        """Methods that are bound, kept and called."""
        name = f"{o}.{self.pick(METHODS)}"
        kind = self.random.randrange(7)
        if kind < 2:
            self.line(f"f = {name}")
            self.line(f"s += f({self.number(numbers)})")
        elif kind < 4:
            self.line(f"s += {self.pick(['called', 'again'])}({name}, {self.number(numbers)})")
        elif kind == 4:
            self.line(f"f = {name} if {self.pick(numbers)} {self.pick(['<', '==', '>'])} {self.pick(CONSTANTS)} else {o}.{self.pick(METHODS)}")
            self.line(f"s += f({self.number(numbers)})" + self.pick(["", f"\n{{}}s += f({self.number(numbers)})".format("    " * self.indent)]))
        elif kind == 5:
            self.line(f"f = g = {name}")
            self.line(self.pick(["s += (f is g) + (f == g)", f"s += f.__self__ is {o} if hasattr(f, '__self__') else 2", "s += g(1) if f else 2", "made[j % 2] = f",
                                 "s += called(f, f(2))", f"if j == 50: made.append(f)", f"f = None\n{{}}s += g(0.5)".format("    " * self.indent)]))
        else:
            self.line(f"s += made[j % 2]({self.number(numbers)})" if self.chance(50) else f"s += called({name}, called({name}, 1))")

    def caught(self, numbers) -> None:
        """What functions in C raise, and the handler."""
        v = self.number(numbers)
        raising, classes = self.pick([
            ("s += int(texts[j % len(texts)])", ["ValueError"]), ("s += float(texts[-(j % len(texts))])", ["ValueError"]),
            (f"s += pool.pop({v})", ["KeyError", "LookupError"]), ("s += pool[j % 5]", ["KeyError", "LookupError"]),
            (f"s += few.index({v})", ["ValueError"]), ("s += next(walk)", ["StopIteration"]), ("few.remove(j % 5)", ["ValueError"]),
            (f"s += [1, 2, 3][{self.pick(['j % 4', 'j % 5 - 4'])}]", ["IndexError", "LookupError"]), (f"s += math.sqrt({v})", ["ValueError"]),
            (f"s += called(int, texts[j % len(texts)])", ["ValueError"]), (f"s += parsed(texts, j, {self.pick(['0', '1', 'None'])})", ["ValueError", "TypeError"]),
            (f"s += texts.index(str(j % 4))", ["ValueError"]), ("s += len(x)", ["TypeError"]),
        ])
        name = self.pick([*classes, *classes, "Exception", "(ArithmeticError, LookupError, ValueError)"])
        with self.under("try:"):
            if self.chance(20):
                self.line(f"s += {self.number(numbers)}")
            self.line(raising)
            if self.chance(30):
                self.line(f"s -= {self.number(numbers)}")
        with self.under(f"except {name}{self.pick(['', '', ' as e'])}:"):
            self.line(self.pick(["s += 1", "s -= 0.5", "pool[j % 5] = 2", "walk = iter(few)", "s += sys.exc_info()[0] is ValueError", "pass", "continue", "few.append(j % 3)",
                                 "raise TypeError(j) if j == 120 else ValueError(3)", "made[0] = sys.exc_info()[1].args[0].__class__", "s += len(texts)"]))
        if self.chance(20):
            with self.under(self.pick(["else:", "finally:"])):
                self.line("s += 0.25")

    def walker(self, number: int) -> None:
        """A loop over objects."""
        with self.under(f"def walk{number}(objects, x, turns):"):
            self.line(f"s = {self.pick(['0', '0.0', 'x'])}")
            self.line("texts, pool, few = ['1', 'x', '22', '', '3.5'], {1: 2, 3: 4}, [3, 1, 2]")
            self.line("walk = iter(few)")
            self.line("made = [called1, called1]")
            with self.under("for j in range(turns):"):
                with self.under(self.pick(["for o in objects:", "for o in objects:", "for o in each(objects):"])):
                    guarded = self.chance(25)
                    if guarded:
                        self.line("try:")
                        self.indent += 1
                    if self.chance(25):
                        self.line("p = objects[j % len(objects)]")
                    else:
                        self.line("p = o")
                    for _ in range(self.upto(4)):
                        self.statement(["o", "p", "o"], ["j", "x"])
                    if guarded:
                        self.indent -= 1
                        with self.under("except (ValueError, TypeError) as e:"):
                            self.line("s = 1")
                self.line("if s > 1e12 or s < -1e12: s = s * 1e-12")
                if self.chance(60):
                    self.line("late(objects, j)")
                if self.chance(15):
                    self.line("yield s")
            self.line("return s")
        self.line()

    def counter(self, number: int) -> None:
        """A loop over numbers."""
        with self.under(f"def count{number}(l, m, x):"):
            self.line(f"s = {self.pick(['0', '0.0', 'x', 'x'])}")
            self.line("t = x")
            walks = self.chance(50)
            self.line(self.pick(["for v in l:", "for v in l:", "for v in each(l):", "for v in firsts(l):"]) if walks else f"for i in range({self.pick(['len(l)', 'len(l) - 1'])}):")
            self.indent += 1
            names = ["v", "x", "t"] if walks else ["l[i]", "m[i % len(m)]", "x", "i", "t"]
            for _ in range(self.upto(3)):
                self.line(f"s = s + {self.number(names)}")
                if self.chance(30):
                    with self.under(f"if {self.pick(names)} < {self.pick(names + CONSTANTS)}:"):
                        self.line(self.pick(["s -= 1", "t = 0.5", "t = x", "s = s * 0.5"]))
            if not walks and self.chance(15):
                self.line(f"m[i % len(m)] = {self.pick(['s', 'i', '0.5', 'x'])}")
            self.line("if s > 1e12 or s < -1e12: s = s * 1e-12")
            self.indent -= 1
            self.line("return s, t")
        self.line()

    def taken(self, v: str) -> None:
        """One value of several kinds, which may be no number, in the body of a loop."""
        kind = self.random.randrange(7)
        if kind == 0:
            with self.under(f"if {v} is {self.pick(['not None', 'None'])}:"):
                self.line(self.pick([f"s += {v} * 2", "n += 1", f"s = s - {v}", f"last = {v}"]))
            with self.under("else:"):
                self.line(self.pick(["n += 1", f"s += {v}", f"last = {v}", "s = 0.5"]))
        elif kind == 1:
            with self.under(f"if isinstance({v}, {self.pick(['int', 'float', '(int, float)', 'bool', 'str'])}):"):
                self.line(self.pick([f"s += {v} * 2", f"s = {v} - s", f"last = {v}"]))
        elif kind == 2:
            self.line(f"s = s {self.pick(['+', '-', '*'])} {v}")
        elif kind == 3:
            self.line(f"t = either({v}, k)")
            self.line(self.pick(["s += t", "last = t", "s = s * 0.5 + t", "n += t is None"]))
        elif kind == 4:
            with self.under(f"if {v} {self.pick(['<', '>=', '==', '!=', 'and', 'or'])} {self.pick([*CONSTANTS, 's', 'k'])}:"):
                self.line(self.pick(["n += 1", f"s += {v}", "s = k", "continue"]))
        elif kind == 5:
            self.line(f"cell.v = {v}")
            self.line(self.pick(["s += cell.v", "last = cell.v", "n += cell.v is None"]))
        else:
            self.line(self.pick([f"out.append({v})", f"last = {v}, s", f"out[0] = {v} * 2", f"n += not {v}"]))

    def turner(self, number: int) -> None:
        """A loop over values of several kinds in turn: items of a list or a tuple, values of a dict, attributes, results."""
        with self.under(f"def turn{number}(l, d, cells, x):"):
            self.line(f"s = {self.pick(['0', '0.0', 'x'])}")
            self.line("n = k = 0")
            self.line("last = t = None")
            self.line("out = [0]")
            self.line("cell = cells[0]")
            walk = self.pick(["for v in l:", "for v in tuple(l):", "for v in d.values():", "for k, v in d.items():", "for k, v in enumerate(l):",
                              "for k in range(len(l)):", "for cell in cells:", "for k in d:", "for v in reversed(l):", "for v, w in zip(l, l):"])
            v = "v" if " v " in walk or "v, w" in walk or ", v " in walk else "cell.v" if "cell" in walk else "d[k]" if "in d:" in walk else "l[k]"
            guarded = self.chance(60)
            with self.under(walk):
                if guarded:
                    self.line("try:")
                    self.indent += 1
                for _ in range(self.upto(3)):
                    self.taken(v)
                if guarded:
                    self.indent -= 1
                    with self.under("except TypeError as e:"):
                        self.line(self.pick(["n += 1", "s = 1", "continue"]))
                self.line("if s > 1e12 or s < -1e12: s = s * 1e-12")
            self.line("return s, n, last, t, out[-3:]")
        self.line()

    def late(self, classes: int) -> None:
        """What changes while loops are hot."""
        with self.under("def late(objects, j):"):
            for _ in range(self.upto(3)):
                k, o = f"K{self.random.randrange(classes)}", "objects[j % len(objects)]"
                with self.under(f"if j == {self.pick([40, 90, 130, 210])}:"):
                    self.line(self.pick([
                        f"{k}.get = lambda self, k: self.a + {self.pick(CONSTANTS)}",
                        f"{k}.pick = K0.both",
                        f"{o}.more = j",
                        f"{o}.get = lambda k: 0.25",
                        f"{o}.a = {self.pick(['None', 'j', '0.5', '1 << 70', 'True'])}",
                        f"{o}.__class__ = {k}",
                        f"objects.append({k}(j))",
                        f"objects[0] = {k}(0.5)",
                        f"{k}.c = property(lambda self: 7)",
                        f"del {o}.b",
                    ]))
            self.line("return None")
        self.line()

    def text(self, seed: int) -> str:
        self.line(f"# Kinds {seed}.")
        classes, walkers, counters = 1 + self.upto(4), self.upto(2), self.upto(2)
        for number in range(classes):
            self.class_(number)
        self.late(classes)
        self.put("import math, sys\n\ndef called1(k):\n    return 1\n\ndef called(f, k):\n    return f(k)\n\ndef again(f, k):\n    s = f(1)\n    return s if k == 2 else f(k) + s")
        self.put("\ndef parsed(texts, j, k):\n    return int(texts[j % len(texts)]) + k\n")
        self.put("def each(l):\n    for v in l:\n        yield v")
        self.put("def firsts(l):\n    i = 0\n    while i < len(l) - 1:\n        i += 1\n        yield l[i] if i % 3 else l[0]")
        for number in range(walkers):
            self.walker(number)
        for number in range(counters):
            self.counter(number)
        turners = self.random.randrange(3)
        if turners:
            self.put("class Cell:\n    def __init__(self, v):\n        self.v = v\n")
            with self.under("def either(v, k):"):
                with self.under(f"if v {self.pick(['is None', '== 3', '!= 1', 'in (1, 0.5)'])}:"):
                    self.line(f"return {self.pick(['None', 'k', '0.5', 'v', 'True'])}")
                self.line(f"return {self.pick(['k', 'v', '0.25', 'k * 0.5'])}")
            self.line()
        for number in range(turners):
            self.turner(number)
        self.line("def attempt(f, *args):")
        self.put("    try:\n        r = f(*args)\n        print(list(r)[-3:] if hasattr(r, '__next__') else r)\n"
                 "    except (AttributeError, TypeError, ValueError, OverflowError, LookupError, StopIteration, RuntimeError) as e:\n        print(type(e).__name__, str(e).partition(' object at')[0], type(e.__context__).__name__)")
        self.line()
        for number in range(walkers):
            for _ in range(self.upto(3)):
                chosen = ", ".join(f"K{self.random.randrange(classes)}({i})" for i in range(1, 2 + self.upto(5)))
                self.line(f"objects = [{chosen}]")
                if self.chance(50):
                    self.line("objects[0].peer = objects[-1]")
                self.line(f"attempt(walk{number}, objects, {self.pick(CONSTANTS)}, {self.pick([60, 150, 260])})")
        for number in range(counters):
            size = self.pick([9, 60, 200])
            lists = [f"[{self.pick(NUMBERS)} for i in range({size})]" for _ in range(1 + self.upto(3))]
            self.line(f"lists = [{', '.join(lists)}]")
            with self.under(f"for k in range({self.pick([20, 60, 120])}):"):
                self.line(f"l = lists[{self.pick(['k % len(lists)', 'k // 5 % len(lists)', 'k // 30 % len(lists)'])}]")
                self.line(f"x = ({', '.join(self.random.sample(CONSTANTS, 3))})[{self.pick(['k % 3', 'k // 7 % 3', '0'])}]")
                with self.under("if k % 19 == 0:"):
                    self.line(f"attempt(count{number}, l, {self.pick(['l', 'lists[0]', 'lists[-1]'])}, x)")
                with self.under("else:"):
                    self.line(f"count{number}(l, {self.pick(['l', 'lists[0]', 'lists[-1]'])}, x)")
        for number in range(turners):
            for _ in range(self.upto(2)):
                self.line(f"l = [{self.pick(TURNS)} for i in range({self.pick([3, 60, 900])})]")
                with self.under(f"for k in range({self.pick([3, 20, 60])}):"):
                    self.line(f"x = ({', '.join(self.random.sample(CONSTANTS, 3))})[{self.pick(['k % 3', '0'])}]")
                    self.line(f"attempt(turn{number}, l, dict(enumerate(l)), [Cell(v) for v in l], x)")
                    if self.chance(30):
                        self.line(f"if k == 9: l = [{self.pick(TURNS)} for i in range(300)]")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Kinds(seed).text(seed)
