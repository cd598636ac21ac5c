"""Makes random dl programs whose hot loops call functions that have regions of their own, on top of generate_loops.

Recursive functions (of themselves, of each other, methods along the branches of a tree), functions with loops, bound
methods made before the loop, slices, generators with yields in hot loops that are sent to, thrown into and closed, and
variables that closures share.  Calls leave the last parameter to its default.  Arguments and results change their types
late, callees raise some frames deep, and functions are rebound, or given other defaults, while they run.
"""

import re

from generate_loops import FLOATS, INTS, Loops

NODES = '''
class Node:
    def __init__(self, depth, n, x):
        self.n = n
        self.x = x
        self.left = Node(depth - 1, n + 1, x * 0.5) if depth else None
        self.right = Node(depth - 1, n - 1, x + 0.25) if depth > 1 else None

    def total(self, k):
        if self.left is None:
            return %(leaf)s
        if self.right is None:
            return self.left.total(k) + self.n
        return self.left.total(k) %(plus)s self.right.total(%(argument)s)

    def reach(self, x):
        if self.left is None or x %(compare)s self.x:
            return x
        return self.left.reach(x * 0.75)

    def scaled(self, x):
        return %(scaled)s

    def __getitem__(self, i):
        return self.n if i %% 2 else self.n + i

    def __setitem__(self, i, v):
        self.n = v %% 1000

    def __lt__(self, other):
        return self.n < other.n

    def __neg__(self):
        return %(negated)s
'''


class Functions(Loops):
    def __init__(self, seed: int):
        super().__init__(seed * 31 + 11)
        self.generators = []  # (name, types of parameters, type of what it yields)
        self.defaulted = {}  # functions whose last parameter has a default: the type of that

    # ---- Functions ----

    def given(self, name: str, types: list, arguments: list) -> str:
        if len(arguments) > 1 and self.chance(45):
            self.defaulted[name] = types[-1]
            arguments = arguments[:-1]
        return ", ".join(arguments)

    def call(self, kind: str, depth: int) -> str:
        found = [c for c in self.callees if c[2] == kind]
        if not found:
            return ""
        name, types, _ = self.pick(found)
        return f"{name}({self.given(name, types, [self.expression(t, min(depth - 1, 1)) for t in types])})"

    def ending(self, name: str) -> None:
        if self.chance(15):
            self.line(f"if i0 == {self.random.randrange(3, 40)} and g2 == {self.random.randrange(3)}:")
            self.line("    raise ValueError('in " + name + "')")
        if self.chance(8):
            self.line(f"if i0 == {self.random.randrange(3, 40)}:")
            self.line(f"    return {self.pick(['0.5', '2**50', '2**64', 'None', 'True', '7'])}")

    def recursive(self, number: int) -> None:
        """r(i0, ...): i0 goes down to 0."""
        name, result = f"r{number}", self.pick(["int", "float"])
        types, names = ["int"], ["i0"]
        for more in self.random.sample(["i1", "x0", "x1"], self.random.randrange(3)):
            types.append("int" if more in INTS else "float")
            names.append(more)
        self.put(f"\n\ndef {name}({', '.join(names)}):")
        self.indent = 1
        for unset in INTS + FLOATS:
            if unset not in names:
                self.line(f"{unset} = {self.random.randrange(4)}" + ("" if unset in INTS else ".5"))
        self.line("if i0 <= 0:")
        self.line(f"    return {self.expression(result, 1)}")
        self.ending(name)
        if self.chance(40):
            self.assign()
        step = self.pick(["(i0 if i0 < 14 else 14) - 1", "(i0 if i0 < 14 else 14) - 1", "(i0 if i0 < 60 else 60) // 2"])
        other = self.pick([name, name, name, f"r{number - 1}" if number else name])
        rest = [self.expression(kind, 1) for kind in types[1:]]
        call = f"{other}({', '.join([step] + rest)})"
        found = next((c for c in self.callees if c[0] == other), None)
        if other != name and (found is None or len(found[1]) != len(types)):
            call = f"{name}({self.given(name, types, [step] + rest)})"
        elif other == name:
            call = f"{name}({self.given(name, types, [step] + rest)})"
        shape = self.random.randrange(5)
        if shape == 0:
            self.line(f"return {call}")
        elif shape == 1:
            self.line(f"return {call} {self.pick(['+', '-'])} {name}({', '.join(['i0 // 3'] + rest)})")
        elif shape == 2:
            target = "i1" if result == "int" else "x1"
            self.line(f"{target} = {call}")
            self.line(f"return {target} {self.pick(['+', '*', '-'])} {self.expression(result, 0)}")
        else:
            self.line(f"return {self.expression(result, 1)} {self.pick(['+', '-', '+'])} {call}")
        self.indent = 0
        self.callees.append((name, types, result))

    def looping(self, number: int) -> None:
        """A function with a loop, which is not analysed inline."""
        name, result = f"w{number}", self.pick(["int", "float"])
        types, names = self.parameters(name)
        target = "i1" if result == "int" else "x1"
        self.ending(name) if "i0" in names else None
        head = self.pick(["for j in range(5):", "for j in range(i0 % 6):", "for j in (1, 2, 3):", "for j in range(4, 0, -1):"])
        self.line(head)
        self.line(f"    {target} = {self.expression(result)}")
        if result == "int":
            self.line(f"    {target} = {target} % 1000003")
        else:
            self.line(f"    if {target} > 1e6 or {target} < -1e6:")
            self.line(f"        {self.pick(['return 0.25', target + ' = 0.5', 'break'])}")
        if self.chance(25):
            self.line(f"    if {self.condition()}:")
            self.line(f"        return {self.expression(result, 1)}")
        self.line(f"return {self.expression(result)}")
        self.indent = 0
        self.callees.append((name, types, result))

    def yielder(self, number: int) -> None:
        name, result = f"y{number}", self.pick(["int", "float"])
        types, _ = self.parameters(name)
        target = "i1" if result == "int" else "x1"
        self.line(f"for j in range({self.pick([3, 20, 60])}):")
        self.indent += 1
        if self.chance(60):
            self.line(f"for k in range({self.pick([2, 5, 9])}):")
            self.line(f"    {target} = {self.expression(result)}")
            self.line(f"    {target} = {target} % 1009")
        self.line(f"if {self.pick(['j % 7 == 0', 'True', self.condition(), 'j % 3'])}:")
        form = self.random.randrange(4)
        if form == 0:
            self.line("    try:")
            self.line(f"        yield {self.expression(result, 1)}")
            self.line("    except KeyError:")
            self.line(f"        {target} = 1")
        elif form == 1:
            self.line(f"    sent = yield {self.expression(result, 1)}")
            self.line("    if sent is not None:")
            self.line(f"        {target} = sent")
        elif form == 2 and self.generators:
            other = self.pick(self.generators)
            self.line("    if j < 2:")
            self.line(f"        yield from {self.tuple_call(other)}")
        else:
            self.line(f"    yield {self.expression(result, 1)}")
        self.line(f"{target} = {self.expression(result, 1)}")
        self.line(f"{target} = {target} % 1013")
        self.indent = 0
        self.generators.append((name, types, result))

    def callee(self, number: int) -> None:
        self.pick([self.recursive, self.recursive, self.looping, super().callee])(number)

    def returner(self, number: int) -> None:
        if self.chance(50):
            self.yielder(number)
        else:
            super().returner(number)

    # ---- In the main function ----

    def int_expression(self, depth: int = 2) -> str:
        if self.inside and depth and self.chance(12):
            loop = self.pick(self.loops or ["i0"])
            return self.pick([f"node.total({self.int_leaf()})", f"n1.total({self.int_leaf()})", f"node[{loop}]", f"len(ints[{loop} % 3:])",
                              f"sum(ints[{loop} % 2:3])", f"ints[{loop} % 3:][0]", f"int(node < n1)", "(-n1).n", "total_of(3)", "shared"])
        return super().int_expression(depth)

    def float_expression(self, depth: int = 2) -> str:
        if self.inside and depth and self.chance(12):
            return self.pick([f"scaled({self.float_leaf()})", f"reach({self.float_leaf()})", f"node.reach({self.float_leaf()})",
                              "floats[:2][-1]", f"floats[{self.pick(['::2', '1:', '-2:', ':'])}][0]"])
        return super().float_expression(depth)

    def assign(self) -> None:
        if not self.inside or self.chance(70):
            super().assign()
            return
        loop = self.pick(self.loops or ["0"])
        roll = self.random.randrange(9)
        if roll == 0:
            self.line(f"keep({self.int_expression(1)})")
        elif roll == 1:
            self.line(f"shared = {self.int_expression(1)} % 1000")
        elif roll == 2:
            self.line(f"i1 = bump({self.int_leaf()}) % 1000")
        elif roll == 3:
            self.line(f"node[{loop} % 4] = {self.int_expression(1)}")
        elif roll == 4:
            self.line(f"ints[{self.pick(['1:3', ':2', '2:', '::2'])}] = ints[{self.pick(['0:2', ':2', '1:3'])}]")
        elif roll == 5:
            self.line("i2 = (lambda a, b=i1: a + b)(1) % 1000")
        elif roll == 6:
            self.line(f"i1 = sum([q * 2 for q in range({loop} % 5)])")
        elif self.generators:
            found = self.pick(self.generators)
            name = self.pick(INTS) if found[2] == "int" else self.pick(FLOATS)
            self.line(f"for {name} in {self.tuple_call(found)}:")
            self.line(f"    if {self.condition()}:")
            self.line(f"        {self.pick(['break', 'pass', 'continue'])}")
        else:
            super().assign()

    def drive(self) -> None:
        """A generator that is stepped by hand."""
        found = self.pick(self.generators)
        name = "i1" if found[2] == "int" else "x1"
        self.line(f"made = {self.tuple_call(found)}")
        self.line("for step in range(30):")
        self.line("    try:")
        self.line(f"        {name} = next(made)")
        self.line(f"        if step == {self.random.randrange(1, 20)}:")
        self.line("            " + self.pick([f"{name} = made.send({self.pick(['3', '0.5', '2**62'])})", f"{name} = made.throw(KeyError('k'))",
                                          "made.close()", "made = None", f"made = {self.tuple_call(found)}"]))
        self.line("    except (StopIteration, KeyError, TypeError, AttributeError) as e:")
        self.line("        print(step, type(e).__name__)")
        self.line("        break")

    def surprise(self) -> None:
        if self.chance(60):
            super().surprise()
            return
        loop = self.pick(self.loops)
        self.line(f"if {loop} == {self.random.randrange(2, 60)} and i2 != -77:")
        if self.defaulted and self.chance(25):
            self.line(f"    {self.pick(sorted(self.defaulted))}.__defaults__ = ({self.pick(['5', '0.25', '2**62', 'True', '()'])},)")
            return
        self.line("    " + self.pick([
            "node.n = 2**62", "node.n = 0.5", "node.x = 1", "node.left = None", "node = n1", "Node.total = lambda self, k: 1",
            "Node.scaled = lambda self, x: 1", "Node.__getitem__ = lambda self, i: 2", "Node.__lt__ = lambda self, other: NotImplemented",
            "scaled = abs", "scaled = n1.scaled", "reach = n1.left.reach", "keep = [].append", "shared = 0.5", "shared = 2**62", "g2 += 1",
        ]))

    def loop(self, depth: int) -> None:
        if depth == 0 and self.generators and self.chance(50):
            self.drive()
        super().loop(depth)

    def text(self, seed: int) -> str:
        choices = {
            "leaf": self.pick(["self.n", "self.n + k", "k", "self.x", "self.n if k % 3 else self.n // 2"]),
            "plus": self.pick(["+", "-", "+"]),
            "argument": self.pick(["k", "k + 1", "k - 1", "k * 0.5"]),
            "compare": self.pick(["<", ">", "<="]),
            "scaled": self.pick(["x * self.x", "x + self.n", "self.x", "x * 0.5 + self.x"]),
            "negated": self.pick(["Node(0, -self.n, self.x)", "self", "Node(1, -self.n, 0.5)"]),
        }
        lines = super().text(seed).split("\n")
        begin = lines.index("def later(x):")
        run = lines.index("def run(i0, x0):")
        setup = ["    node, n1 = Node(3, 2, 1.5), Node(2, 5, 0.25)", "    scaled, reach = node.scaled, n1.reach", "    kept = []", "    keep = kept.append",
                 "    shared = 1", "    def bump(k):", "        nonlocal shared", "        shared = (shared + k) % 1000", "        return shared"]
        lines[run + 2 : run + 2] = setup
        lines[begin:begin] = (NODES % choices).strip("\n").split("\n") + ["", "", "def total_of(k):", "    return k if k < 1 else k + total_of(k - 1)", "", ""]
        for name, kind in self.defaulted.items():
            default = self.pick(["3", "7", "-2", "2**46", "0.5"] if kind == "int" else ["0.5", "1.5", "-2.0", "1", "None"])
            lines = [re.sub(rf"^def {name}\((.*)\):$", rf"def {name}(\1={default}):", line) for line in lines]
        text = "\n".join(lines).replace("    print(i0, i1,", "    print(node.n, node.x, shared, len(kept), kept[-3:])\n    print(i0, i1,")
        return text.replace("LookupError) as e", "LookupError, AttributeError, RecursionError) as e")


def generate(seed: int) -> str:
    return Functions(seed).text(seed)
