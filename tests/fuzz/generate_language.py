"""Makes random dl programs that use the whole language, each feature with values of many types.

A program is a few classes and functions built from random statements, and a driver that calls the functions
often enough to make them warm, with arguments whose types change.  Expressions are made for a wanted type
(expressions.py), now and then for another one.  Errors are caught and printed, or end the program with a
traceback.  The same seed always makes the same program.
"""

from expressions import KINDS, Expressions

ERRORS = ["TypeError", "ValueError", "ZeroDivisionError", "IndexError", "KeyError", "AttributeError",
          "(KeyError, IndexError)", "LookupError", "ArithmeticError", "Exception", "NameError", "OverflowError"]
VALUES = ["0", "1", "-1", "2.0", "'a'", "'abc'", "b'abc'", "None", "True", "1+2j", "math.pi", "operator.add"]  # of patterns
RAISED = ["ValueError('v')", "KeyError('k')", "TypeError", "IndexError(3)", "Custom(1, 2)", "Custom", "StopIteration"]
PRELUDE = '''
import bisect
import functools
import heapq
import itertools
import math
import operator
import random


class Int(int):
    def double(self):
        return Int(self * 2)


class Real(float):
    pass


class Text(str):
    def twice(self):
        return self + self


class List(list):
    tag = "no tag"


class Tuple(tuple):
    def __len__(self):
        return 2


class Dict(dict):
    def __missing__(self, key):
        return (key, "missing")


class Custom(Exception):
    def __init__(self, code=0, extra=None):
        self.code = code
        self.extra = extra

    def __str__(self):
        return f"custom {self.code!r}"


class Manager:
    def __init__(self, name, swallow):
        self.name = name
        self.swallow = swallow

    def __repr__(self):
        return "a manager"

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, error, trace):
        print("exit", self.name, None if kind is None else kind.__name__, error)
        return self.swallow


def clip(x):
    if isinstance(x, int):
        return x if -(2**130) < x < 2**130 else x % 1000003
    if isinstance(x, float):
        return x if -1e200 < x < 1e200 else 1.5
    if isinstance(x, (str, bytes, bytearray, list, tuple)):
        return x[:12]
    if isinstance(x, (dict, set)) and len(x) > 12:
        x.clear()
    return x


def show(x):
    text = repr(x)
    print(text if len(text) < 200 else text[:200])
'''


class Language(Expressions):
    def __init__(self, seed: int):
        super().__init__(seed * 6151 + 3)
        self.functions = []  # (name, parameters as text, calls as list of text)
        self.classes = []
        self.loops = 0
        self.depth = 0
        self.counter = 0
        self.in_function = False

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def targets(self) -> list:
        """Variables that may be assigned to: not those that loops count with, lest they never end."""
        return [name for name in self.variables if not name.startswith("i")]

    # ---- Simple statements ----

    def assign(self) -> None:
        name = self.pick(self.targets())
        kind = self.variables[name] if self.chance(85) else self.pick(KINDS)
        self.line(f"{name} = clip({self.value(kind, 2)})")

    def augment(self) -> None:
        name = self.pick(self.targets())
        op = {"int": ["+", "-", "*", "//", "%", "&", "|", "^", "<<"], "float": ["+", "-", "*", "/", "**"],
              "dict": ["|"], "set": ["|", "&", "-", "^"], "bool": ["&", "|", "^"]}.get(self.variables[name], ["+", "*"])
        op = self.pick(op)
        right = "int" if op == "*" and self.variables[name] != "float" else self.variables[name]
        text = self.value(right, 1)
        if op in ("<<", "**") or op == "*" and right == "int" and self.variables[name] not in ("int", "float"):
            text = self.pick(["0", "1", "2", "3"])
        self.line(f"{name} {op}= {text}")
        self.line(f"{name} = clip({name})")

    def unpack(self) -> None:
        a, b, c = self.random.sample(self.targets(), 3)
        self.line(self.pick([
            f"{a}, {b} = {self.value('any', 1)}, {self.value('any', 1)}",
            f"{a}, {b} = {b}, {a}",
            f"{a}, {b}, {c} = {c}, {a}, {b}",
            f"{a}, *{b} = {self.value('list', 1)}",
            f"*{a}, {b} = {self.value('tuple', 1)}",
            f"{a}, ({b}, *{c}) = {self.value('any', 1)}, {self.value('str', 1)}",
            f"[{a}, {b}] = {self.value('list', 1)}",
            f"{a} = {b} = {self.value('any', 1)}",
            f"for {a}, {b} in enumerate({self.value('list', 1)}): pass",
        ]))

    def mutate(self) -> None:
        l, d, s, n, y = (self.variable(k) for k in ("list", "dict", "set", "int", "bytearray"))
        self.line(self.pick([
            f"{l}.append({self.value('any', 1)})", f"{l}[{self.value('int', 0)} % (len({l}) or 1)] = {self.value('any', 1)}",
            f"{l}[{self.expand('<slice>')}] = {self.value('list', 1)}", f"del {l}[{self.expand('<slice>')}]", f"{l}.insert(1, {self.value('any', 0)})",
            f"{l}.extend({self.value('tuple', 1)})", f"{l}.reverse()", f"{l}.sort(key=str)", f"{l}.sort()", f"{l}.pop()",
            f"{l}.remove({self.value('int', 0)})", f"{l}[0] += 1", f"{l}.clear()",
            f"{d}[{self.value('key', 1)}] = {self.value('any', 1)}", f"{d}.pop({self.value('key', 0)}, None)",
            f"{d}.update(a={self.value('any', 0)}, b=2)", f"del {d}[{self.value('key', 0)}]", f"{d}.setdefault({self.value('key', 0)}, [])",
            f"{d}.popitem()", f"{d}.update({self.value('dict', 1)})", f"{d}['n'] = {d}.get('n', 0) + 1",
            f"{s}.add({self.value('key', 1)})", f"{s}.discard({self.value('key', 0)})", f"{s}.update({self.value('tuple', 1)})",
            f"{s}.remove({self.value('key', 0)})", f"{s}.pop()",
            f"{y}.append({n} % 256)", f"{y}.extend({self.value('bytes', 1)})", f"{y}[{self.expand('<slice>')}] = {self.value('bytes', 0)}",
            f"{y}.reverse()", f"del {y}[{self.expand('<slice>')}]",
        ]))

    def objects(self) -> None:
        """Makes and changes instances and classes."""
        o, name = self.pick(["o1", "o2"]), self.pick(self.classes)
        self.line(self.pick([
            f"{o} = {name}({self.value('any', 1)})", f"{o}.a = {self.value('any', 1)}", f"{o}.b = {o}.a",
            f"{o}.{self.pick('abcdef')} = {self.value('any', 1)}", f"show({o}.{self.pick('abcdef')})", f"del {o}.{self.pick('abcd')}",
            f"show({o}.get())", f"show({o}.step({self.value('any', 1)}))", f"{name}.shared = {self.value('any', 1)}",
            f"show({name}.shared)", f"{o}.shared = {self.value('int', 1)}", f"{name}.get = lambda self: {self.value('int', 0)}",
            f"show({o} == {self.pick(['o1', 'o2'])})", f"show(len({o}))", f"show({o}[{self.value('int', 0)}])",
            f"show({o} + {self.value('int', 1)})", f"show({self.value('int', 1)} + {o})", f"show({o} in [{o}])",
            f"show(isinstance({o}, {name}))", f"{o}.count += 1", f"{name}.count += 1", f"show(hasattr({o}, {self.pick('abcdef')!r}))",
            f"setattr({o}, {self.pick('abcdef')!r}, {self.value('any', 0)})", f"show(getattr({o}, {self.pick('abcdef')!r}, None))",
            f"show(bool({o}))", f"show({o}({self.value('any', 0)}, k={self.value('any', 0)}))", f"m = {o}.step\nshow(m(1))",
            f"for x in {o}: show(x)", f"show(str({o}))", f"show(f'{{{o}!r:>12}}')", f"show({o} < {self.value('int', 0)})",
            f"del {name}.shared",
        ]).replace("\n", "\n" + "    " * self.indent))

    def subclass(self) -> None:
        """An object of a subclass of a built-in type, with attributes of its own."""
        name = self.fresh("v")
        self.line(f"{name} = {self.expand(self.pick(['List(<list>)', 'Int(<int>)', 'Text(<str>)', 'Dict(<dict>)', 'Tuple(<tuple>)', 'Real(<float>)']))}")
        for _ in range(self.upto(3)):
            self.line(self.pick([
                f"{name}.tag = {self.value('any', 1)}", f"show({name}.tag)", f"show({name})", f"show(len({name}))",
                f"show(type({name} + {name}).__name__)", f"show({name} == {self.value('any', 1)})", f"show(sorted({name}))",
                f"show({{{name}: 1}})", f"show(f'{{{name}:>8}}')", f"show(bool({name}))", f"for x in {name}: show(x)", f"{name} += {name}",
                f"show({name}[{self.expand('<index>')}])", f"show(isinstance({name}, (int, list, dict)))", f"show(type({name} * 2).__name__)",
            ]))

    def functions_(self) -> None:
        """Nested functions: closures, nonlocal, all parameter kinds, lambdas."""
        name, free = self.fresh("inner"), self.pick(self.targets())
        kind = self.random.randrange(6)
        if kind == 0:
            with self.under(f"def {name}(x, y={self.value('any', 0)}, *rest, k={self.value('any', 0)}, **others):"):
                self.line(f"return {free}, x, y, rest, k, sorted(others)")
            self.line("show(" + name + self.pick([
                "(1)", f"(1, *{self.value('list', 1)})", "(1, 2, 3, k=4, z=5)", "(x=1)", "(y=1)", f"(*{self.value('tuple', 1)})",
                "(1, **{'k': 2, 'w': 3})", "(1, x=2)", "(1, 2, 3, **{'a': 1}, b=2)"]) + ")")
        elif kind == 1 and self.in_function:
            free = self.pick([n for n in self.targets() if not n.startswith("g")])
            with self.under(f"def {name}():"):
                self.line(f"nonlocal {free}")
                self.line(f"{free} = {self.value('any', 1)}")
                self.line(f"return {free}")
            self.line(f"show(({free}, {name}(), {free}))")
        elif kind == 2:
            self.line(f"{name} = [lambda x, n=n: (x, n, {free}) for n in range(3)]")
            self.line(f"show([f({self.value('any', 0)}) for f in {name}])")
        elif kind == 3:
            with self.under(f"def {name}(n, /, acc=0, *, step=1):"):
                self.line("return acc if n <= 0 else " + name + "(n - step, acc + n, step=step)")
            self.line(f"show({name}({self.pick(['5', '3.5', '9', 'True', free])}{self.pick(['', ', 1', ', step=2', ', 0.5', ', acc=2', ', n=1'])}))")
        elif kind == 4:
            with self.under(f"def {name}(f):"):
                with self.under("def wrapped(*args, **keys):"):
                    self.line(f"show((args, sorted(keys), {free}))")
                    self.line("return f(*args, **keys)")
                self.line("return wrapped")
            with self.under(f"@{name}\ndef g(a, b=2):".replace("\n", "\n" + "    " * self.indent)):
                self.line("return (a, b)")
            self.line(f"show(g({self.value('any', 0)}{self.pick(['', ', b=3', ', 4', ', c=1'])}))")
        else:
            self.line(f"show(sorted({self.value('list', 1)}, key=lambda x: (str(x), {self.value('int', 0)}), reverse={self.pick(['True', 'False'])}))")

    def call(self) -> None:
        if not self.functions:
            return self.assign()
        name, count = self.pick(self.functions)
        arguments = ", ".join(self.value("any", 1) for _ in range(count))
        self.line(f"{self.pick(self.targets())} = clip({name}({arguments}))")

    def leave(self) -> None:
        choices = [f"raise {self.pick(RAISED)}", f"assert {self.value('bool', 1)}, {self.value('str', 0)}"]
        if self.in_function:
            choices += [f"return {self.value('any', 1)}"] * 2
        if self.loops:
            choices += ["break", "continue"] * 2
        with self.under(f"if {self.value('bool', 1)}:"):
            self.line(self.pick(choices))

    def remove(self) -> None:
        """Unbinds a variable; what reads it afterwards fails."""
        name = self.pick(self.targets())
        with self.under(f"if {self.value('bool', 1)}:"):
            self.line(f"del {name}")

    # ---- Compound statements ----

    def body(self, most: int = 3) -> None:
        self.depth += 1
        for _ in range(self.upto(most)):
            self.statement()
        self.depth -= 1

    def branch(self) -> None:
        with self.under(f"if {self.value('bool', 2)}:"):
            self.body()
        if self.chance(30):
            with self.under(f"elif {self.value('any', 1)}:"):
                self.body(2)
        if self.chance(40):
            with self.under("else:"):
                self.body(2)

    def pattern(self, names: list, depth: int = 2) -> str:
        """A pattern; what it binds is added to the names, each of which it binds once."""
        kind = self.random.randrange(12 if depth else 5)
        if kind == 0:
            return "_"
        if kind in (1, 2):
            return self.pick(VALUES)
        if kind == 3:
            return self.pick(["int()", "str()", "float()", "list()", "dict()", "Custom()", "Int()", "tuple() | list()"])
        if kind == 4:
            free = [name for name in self.targets() if name not in names and name != "_"]
            names += free[:1]
            return free[0] if free else "_"
        if kind in (5, 6, 7):
            parts = [self.pattern(names, depth - 1) for _ in range(self.upto(3))]
            if self.chance(40):
                parts.insert(self.upto(len(parts)), "*_")
            return f"[{', '.join(parts)}]"
        if kind == 8:
            keys = self.random.sample(["'a'", "1", "'n'", "'k'", "None", "2.5"], self.upto(2))
            return "{" + ", ".join(f"{key}: {self.pattern(names, depth - 1)}" for key in keys) + "}"
        if kind == 9:
            part = self.pattern(names, depth - 1)
            return self.pick(["int({})", "str({})", "Custom(code={})", "list({})", "Tuple({})", "complex(real={})"]).format(part)
        if kind == 10:
            return f"({self.pick(VALUES)} | {self.pick(['int()', 'str()', '[int(), *_]', '[_, 2]'])} | {self.pick(VALUES)})"
        return f"({self.pattern(names, depth - 1)})"

    def matching(self) -> None:
        """A match statement; what is bound in a case may be read behind it."""
        with self.under(f"match {self.value('any', 1)}{self.pick(['', '', '', ', ' + self.value('any', 0)])}:"):
            for _ in range(self.upto(4)):
                text = self.pattern([])
                guard = f" if {self.value('bool', 1)}" if self.chance(30) else ""
                with self.under(f"case {text}{guard or ' if True'}:"):
                    self.body(2)
            with self.under(self.pick(["case _:", "case [*_] | {}:", "case other:"])):
                self.body(1)

    def loop(self) -> None:
        name = self.fresh("i")
        most = 12 if self.loops == 0 else 4
        kind = self.random.randrange(5)
        if kind == 0:
            self.line(f"{name} = 0")
            header = f"while {name} < {self.upto(most)}:"
        elif kind == 1:
            header = f"for {name} in {self.value(self.pick(['list', 'tuple', 'str', 'bytes', 'dict']), 1)}:"
        elif kind == 2:
            header = f"for {name}, {self.pick(self.targets())} in {self.pick(['enumerate', 'list', 'reversed'])}({self.value('list', 1)}):"
        else:
            header = f"for {name} in range({self.upto(most)}):"
        with self.under(header):
            if kind == 0:
                self.line(f"{name} += 1")
            self.loops += 1
            self.variables[name] = "int"
            self.body()
            self.loops -= 1
            del self.variables[name]
        if self.chance(20):
            with self.under("else:"):
                self.body(1)

    def attempt(self) -> None:
        with self.under("try:"):
            self.body()
        kind = self.random.randrange(4)
        if kind:
            with self.under(f"except {self.pick(ERRORS)} as e:"):
                self.line(self.pick(["print(type(e).__name__, e)", "show(e.args)", "print(repr(e.__context__))"]))
                if self.chance(25):
                    self.line(self.pick(["raise", f"raise {self.pick(RAISED)} from e", f"raise {self.pick(RAISED)}", "raise Custom(9) from None"]))
                else:
                    self.body(1)
            if self.chance(20):
                with self.under(f"except {self.pick(ERRORS)}:"):
                    self.body(1)
            if self.chance(20):
                with self.under("else:"):
                    self.body(1)
        if not kind or self.chance(20):
            with self.under("finally:"):
                self.finish()

    def finish(self) -> None:
        """The body of a finally."""
        self.line("print('finally')")
        loops, self.loops = self.loops, 0
        inside, self.in_function = self.in_function, self.in_function and self.chance(30)
        self.body(1)
        self.loops, self.in_function = loops, inside

    def guarded(self) -> None:
        """A statement whose errors do not end the function, so that what comes behind it is reached."""
        with self.under("try:"):
            self.statement()
        with self.under("except Exception as e:"):
            self.line("print(type(e).__name__, e)")

    def swallows(self) -> str:
        """Whether a Manager swallows exceptions."""
        return self.pick(["True", "False", "False"])

    def managed(self) -> None:
        items = ", ".join(f"Manager({self.value('int', 0)}, {self.swallows()})"
                          + self.pick(["", f" as {self.pick(self.targets())}"]) for _ in range(self.upto(2)))
        with self.under(f"with {items}:"):
            self.body(2)

    def own_statements(self) -> list:
        """The simple statements that a maker adds."""
        return []

    def statement(self) -> None:
        simple = [self.assign] * 5 + [self.augment] * 3 + [self.mutate] * 4 + [self.unpack, self.functions_, self.subclass, self.call, self.call]
        simple += [self.objects] * 4 + [lambda: self.line(f"show({self.value('any', 2)})")] * 2 + [self.leave]
        simple += self.own_statements()
        if self.chance(10):
            simple.append(self.remove)
        compound = [self.branch, self.loop, self.loop, self.attempt, self.attempt, self.managed, self.matching]
        self.pick(simple + (compound if self.depth < 3 else []))()

    # ---- The whole ----

    def class_(self, number: int) -> None:
        base = f"({self.pick(self.classes)})" if self.classes and self.chance(60) else ""
        name = f"C{number}"
        self.line()
        self.line()
        with self.under(f"class {name}{base}:"):
            self.line(f"shared = {self.value('any', 0)}")
            self.line("count = 0")
            order = self.random.sample(["self.a = a", "self.b = 1", "self.c = [a]", "self.count += 1"], 3)
            with self.under("def __init__(self, a=0, *more):"):
                for text in order:
                    if self.chance(20):
                        text = f"if {self.pick(['a', 'more'])}: {text}"
                    self.line(text)
                self.line("self.a = a")
            methods = {
                "get(self)": ["return self.a", "return self.b", "return self.shared", "return (self.a, self.count)"],
                "step(self, x)": ["self.a = x\nreturn self.get()", "self.b = self.a\nself.a = x\nreturn x", "return [self.a, x]"],
                "__repr__(self)": [f"return '{name}()'"],
                "__eq__(self, other)": ["return isinstance(other, C0) and self.a == other.a", "return NotImplemented", "return 1"],
                "__len__(self)": ["return 2", "return len(self.c)", "return -1", "return 'x'"],
                "__getitem__(self, i)": ["if i > 3: raise IndexError(i)\nreturn i", "return (self.a, i)[i]"],
                "__add__(self, other)": ["return self.a + other", "return NotImplemented"],
                "__radd__(self, other)": ["return other - self.a", "return NotImplemented", f"return {name}(other)"],
                "__call__(self, *args, **keys)": ["return args, sorted(keys)", "return self.step(args)"],
                "__bool__(self)": ["return self.a == 1", "return 0"],
                "__lt__(self, other)": ["return True", "return NotImplemented"],
                "__contains__(self, x)": ["return x == self.a"],
                "__iter__(self)": ["return iter([self.a, self.b])", "return 3"],
                "__str__(self)": ["return 'str ' + repr(self.a)", "return 7"],
                "__getattr__(self, name)": ["return name * 2 if name < 'e' else object.missing"],
            }
            for head, choices in methods.items():
                always = not base and head.split("(")[0] in ("get", "step", "__repr__")
                if always or self.chance(25):
                    self.line()
                    with self.under(f"def {head}:"):
                        self.put(self.pick(choices))
        self.classes.append(name)

    def instances(self) -> None:
        self.line(f"o1 = {self.pick(self.classes)}(n if {self.pick(['True', 'p0'])} else 0)" if "n" in self.variables
                  else f"o1 = {self.pick(self.classes)}(p0)")
        self.line(f"o2 = {self.pick(self.classes)}()")

    def function(self, number: int) -> None:
        self.function_named(f"f{number}", self.upto(3))

    def function_named(self, function: str, count: int) -> None:
        self.variables = {"n": "int", "x": "float", "s": "str", "l": "list", "d": "dict", "t": "tuple", "u": "set",
                          "b": "bytes", "y": "bytearray", "z": "bool"}
        for _ in range(self.random.randrange(4)):
            self.variables.pop(self.pick(["x", "t", "b", "z", "n"]), None)
        parameters = [f"p{i}" for i in range(count)]
        self.line()
        self.line()
        with self.under(f"def {function}({', '.join(parameters)}):"):
            globals_ = self.random.sample(["g0", "g1", "g2"], self.random.randrange(3))
            if globals_:
                self.line("global " + ", ".join(globals_))
            for name, kind in self.variables.items():
                self.line(f"{name} = {self.literal(kind)}")
            for name in parameters + globals_:
                self.variables[name] = "any"
            self.instances()
            self.in_function = True
            for _ in range(self.random.randrange(3, 10)):
                self.pick([self.statement, self.guarded, self.guarded])()
            self.in_function = False
            self.line(f"return {self.value('any', 1)}")
        self.functions.append((function, count))

    def drive(self) -> None:
        for name, count in self.functions:
            self.line()
            with self.under(f"for turn in range({self.pick([3, 6, 6, 25])}):"):
                with self.under("try:"):
                    texts = [self.pick(["turn", "turn / 2", "1", "str(turn)", "[turn]", "None", "turn * 2**46", "(turn, 2)", "True"])
                             for _ in range(count)]
                    self.line(f"show({name}({', '.join(texts)}))")
                with self.under("except Exception as e:"):
                    self.line("print(type(e).__name__, e)")
        self.variables = {"g0": "int", "g1": "str", "g2": "list"}
        self.depth = 1
        if self.chance(50):
            self.line("o1 = o2 = C0(1)")
            self.body(4)
        name, count = self.functions[-1]
        self.line(f"{name}({', '.join(['None', '1', '0.5'][:count])})")

    def begin(self, seed: int, own_prelude: str = "") -> None:
        """What every program starts with."""
        self.line(f"# Random program {seed}.")
        self.lines += (PRELUDE.rstrip("\n") + own_prelude.rstrip("\n")).split("\n")
        for text in ("", "", "g0 = 1", "g1 = 'g'", "g2 = [1, 2]"):
            self.line(text)
        self.variables = {}

    def text(self, seed: int) -> str:
        self.begin(seed)
        for number in range(self.upto(3)):
            self.class_(number)
        for number in range(self.upto(3)):
            self.function(number)
        self.drive()
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Language(seed).text(seed)
