"""Makes random dl programs whose loops are full of sites that get a derivative, or a fusion with the loads around it.

Lengths, appends, pairs, items, properties, class attributes, calls of built-in types, stores in dicts, membership,
conditional expressions as operands, all on locals.  Then, at one turn of one loop, what such a site depends on
changes: a property or a class attribute is replaced, a hook is added to the class, a builtin is hidden by a global, a
list becomes one of a subclass with an append of its own, a local gets another type or is deleted.
"""

from writer import Writer

PRELUDE = '''
class P:
    k = 1
    count = 0

    def __init__(self, n):
        self.n = n

    @property
    def v(self):
        return self.n

    @v.setter
    def v(self, value):
        self.n = value

    def step(self, x):
        return x + 1

    @classmethod
    def make(cls, n):
        cls.count += 1
        return cls(n)

    @staticmethod
    def plain(x):
        return x * 2

    def __repr__(self):
        return f"{type(self).__name__}({self.n!r})"


class Q(P):
    k = 2

    def step(self, x):
        return super().step(x) + 1


class Slots:
    __slots__ = ("n", "v", "k")

    def __init__(self, n):
        self.n = self.v = self.k = n

    def step(self, x):
        return self.k

    def __repr__(self):
        return "Slots"


class Stack(list):
    pass


class Own(list):
    def append(self, x):
        super().append(x)
        super().append(0)

    def __len__(self):
        return super().__len__() + 1


class Dict(dict):
    def __missing__(self, key):
        return 3

    def __setitem__(self, key, value):
        super().__setitem__(key, (value, 1))


class Text(str):
    def __getitem__(self, i):
        return "t"

    def __len__(self):
        return 2


class Int(int):
    def __add__(self, other):
        return 5

    def __index__(self):
        return 1


def show(x):
    text = "an address" if " at 0x" in repr(x) else repr(x)
    print(text if len(text) < 300 else text[:300])


def grown(x, by=1, *, to=None):
    return by if to is None else to
'''
HIDDEN = {"len": "lambda v: 77", "int": "float", "str": "repr", "isinstance": "lambda a, b: 2", "range": "lambda *a: (1, 2)", "enumerate": "lambda v: [(0, 5)]", "abs": "lambda v: v",
          "list": "tuple", "tuple": "list", "min": "max", "bool": "lambda v: v", "zip": "lambda a, b: [(1, 1)]", "ord": "len", "type": "lambda v: P"}
LOCALS = {"n": "1", "m": "2", "a": "3", "c": "4", "x": "0.5", "l": "[1, 2, 3]", "q": "[]", "s": "'abc'", "d": "{0: 1, 1: 2, 'k': 3}", "t": "(1, 2, 3)", "b": "b'\\x01\\xff7'",
          "p": "[(1, 2), (3, 4)]", "o": "P(1)", "e": "None", "u": "{1, 2}"}
ATOMS = ["n", "m", "a", "i", "i", "1", "3", "x", "len(l)", "len(s)", "o.n", "o.v", "o.k", "P.k", "l[0]", "t[1]", "b[0]", "(n if i % 2 else m)", "(len(s) if s else 2)", "(a if a in t else i)", "d[0]", "o.step(i)",
         "l[i % 3]", "(not n)", "(n and m)", "(i or n)", "(i > m)", "grown(n)", "grown(n, to=i)", "int(x)", "-n", "(0 < i < m)"]
USES = [
    "n += len(l)", "n = len(s) + len(d)", "m = len(t) - len(b)", "n = len(o)", "n += len(u) + len(range(i))", "l.append(i)", "q.append(n)", "q.append((i, n))", "q.append(l[0] if i % 2 else m)", "p.append((i, m))",
    "put = q.append; put(i)", "for j, e in enumerate(l): n += j", "for j, e in enumerate(t): m += e", "for k, e in d.items(): n += 1 if k else 2", "for k, e in d.items(): c = e", "for e in d.values(): c = e",
    "for j, (a, c) in enumerate(p): n += a - c", "for a, c in zip(l, t): n += a * c", "for a, c in p: n += a", "for j, e in enumerate(s): c = e", "for k in d: n += 1", "for e in s: c = e", "for e in b: n ^= e",
    "a, c = p[i % len(p)]", "a, c = c, a", "(a, c), e = p[0], i", "a, c, e = t", "a, c = divmod(i, 7)", "e = i, n", "n += o.v", "o.v = n", "o.v += 1", "n += P.k", "n += o.k", "P.k = i", "P.count += 1", "n = Q.k + P.count", "o.k = i",
    "n += o.step(i)", "n = P.step(o, i)", "o = Q.make(i)", "n += P.plain(i)", "n += o.plain(2)", "o.n = o.n + 1", "o.n += m", "e = o.n, o.v", "n = o.v if i % 2 else o.k", "n += (l[0] if l else n)", "x = (n if s else x) * 0.5", "n = m = i",
    "n = (n if i % 3 else len(s)) + (a if a else 1)", "c = s[i % len(s)]", "n += s[i % 3] == 'a'", "n += 'a' in s", "n += i in l", "n += i not in t", "n += i in d", "n += (i & 3) in (1, 2)", "n += 'k' in d", "e = i in u", "e = o is None",
    "if i in l: n += 1", "if 'k' not in d: m = 0", "d[i % 5] = n", "d['k'] = i", "d[i] = m", "n += d.get(i % 5, 0)", "n += d[i % 2]", "d[s[0]] = i", "d[i, 1] = n", "d[i % 3, 1] = n", "d[i % 2, n] = i", "n += d[i % 3, 1]", "d[i % 3, i % 2] = x", "m = d[i % 2, i % 2]", "(i % 3, 1) in d and d.pop((i % 3, 1))", "b = bytes(l[:2])", "b = b + b'z'", "n += b[i % len(b)]", "n = int(x)", "x = float(n)",
    "s = str(n)", "n += int(s)", "l = list(t)", "t = tuple(l)", "e = bool(n)", "u = set(l)", "for j in range(n % 5): m += j", "e = type(o) is P", "n += isinstance(o, P)", "e = isinstance(n, int) and isinstance(s, str)", "if isinstance(o, (Q, int)): n += 1",
    "o = P(i)", "o = Q(i)", "o = Slots(i)", "n = min(n, i)", "n += abs(n - i)", "n += ord(s[0])", "s += chr(97 + i % 5)", "l[i % len(l)] = n", "l[-1] += 1", "n = l[i % len(l)]", "n = t[i % 2]", "n += sum(l)", "n = n * i % 1009", "m = n", "n = -m", "n += 1", "n = n + i",
    "if n > m: m = n", "if n == i: m = 0", "while m > 5: m -= 3", "x += n", "x = x * 0.5 + i", "e = f'{n}{m:>3}'", "e = not n", "n = e if e else 4", "n = i - 1 if i else n", "l = l[1:] + [i]", "e = [j for j in l if j]", "e = {j: 1 for j in t}",
    "e = grown(i, by=n)", "e = grown(i, 2)", "if len(l) > 2: del l[0]", "if q: e = q.pop()", "if l: e = l.pop(), l", "c = d.pop(i, None)", "e = sorted(l)[0]", "e = max(l) if l else None", "e = s.upper()", "e = s == 'abc'", "e = n == x", "e = c != a",
]
CHANGES = [
    "P.v = property(lambda self: 7)", "P.v = property(lambda self: self.n, lambda self, w: setattr(self, 'n', 2))", "P.v = 3", "del P.v", "Q.v = property(lambda self: 'q')", "Q.v = 4", "P.k = 'k'", "P.k = 2.5", "Q.k = 9", "del Q.k", "del P.k",
    "P.k = property(lambda self: 11)", "o.k = 12", "o.__dict__['v'] = 5", "P.__getattr__ = lambda self, name: 4", "P.__getattribute__ = lambda self, name: object.__getattribute__(self, name)", "P.__setattr__ = lambda self, name, v: object.__setattr__(self, name, 6)",
    "del P.__getattr__", "del P.__setattr__", "P.step = lambda self, x: 'changed'", "P.step = Q.step", "o.step = lambda x: 3", "del Q.step", "P.make = None", "P.plain = len", "P.__len__ = lambda self: 4", "Q.__len__ = lambda self: -1", "P.__init__ = lambda self, n: None",
    "P.__new__ = lambda cls, n: 5", "P.n = property(lambda self: 8)", "Q.n = 2", "Stack.append = lambda self, x: list.append(self, 0)", "Stack.__len__ = lambda self: 5", "Stack.__iter__ = lambda self: iter((7, 8))", "Stack.__contains__ = lambda self, x: x == 1",
    "Stack.__getitem__ = lambda self, i: 9", "Stack.__setitem__ = lambda self, i, v: None", "l = Stack(l)", "l = Own(l)", "q = Own(q)", "q = Stack()", "p = Stack(p)", "s = Text(s)", "d = Dict(d)", "d = Dict()", "d = {}", "n = Int(3)", "m = Int(4)", "i = Int(2)",
    "o = Q(2)", "o = Slots(2)", "o = None", "o = 3", "o = P", "o.__class__ = Q", "p = [(1, 2, 3)]", "p = [1]", "p = ['ab']", "p = [[1, 2]]", "p = [(1.5, 'x')]", "p.append((1,))", "t = [5, 6, 7]", "t = ('a', None, 2.5)", "t = ()", "s = b'abc'", "s = ''", "s = 'é日😀'", "s = ['a']",
    "b = [1, 2]", "b = 'bytes'", "b = bytearray(b'qrs')", "b = b''", "l = (1, 2)", "l = 'xyz'", "l = []", "l[0] = 1.5", "l[0] = 2**63", "l[0] = None", "l.clear()", "l = range(3)", "n = 2**70", "n = 2**47 - 1", "n = 1.5", "n = 'x'", "n = True", "n = None", "m = 2**62", "m = 0.25",
    "x = None", "x = 1", "x = float('inf')", "d[0] = 'x'", "d[1] = None", "d = [1, 2, 3]", "d['new'] = 1", "u = [1]", "u = {1: 2}", "a = None", "del n", "del m", "del x", "del l", "del s", "del o", "del d", "del t", "del p", "del a", "del i", "i = 0.5", "q = None", "q = {1}",
]


class Sites(Writer):
    """Of another prelude with other locals, uses and changes: generate_calls."""

    prelude, hidden, locals, atoms, uses, changes = PRELUDE, HIDDEN, LOCALS, ATOMS, USES, CHANGES

    def __init__(self, seed: int):
        super().__init__(seed * 31 + 5)

    def guard(self, text: str) -> None:
        with self.under("try:"):
            self.put(text)
        with self.under("except Exception as error:"):
            self.line("print(type(error).__name__, error)")

    def use(self) -> str:
        """A statement; a third are sums, products or comparisons of two atoms."""
        if self.chance(67):
            return self.pick(self.uses)
        target, a, b = self.pick(["n", "m", "a", "e", "x"]), self.pick(self.atoms), self.pick(self.atoms)
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{target} {self.pick(['+=', '-='])} {a}"
        if kind == 1:
            return f"if {a} {self.pick(['<', '>=', '==', '!='])} {b}: {target} = i"
        return f"{target} = {a} {self.pick(['+', '-', '*', '//', '<', '==', '&', '%'])} {b}"

    def change(self) -> str:
        if self.chance(85):
            return self.pick(self.changes)
        name = self.pick(sorted(self.hidden))
        return self.pick([f"hide_{name}()", f"hide_{name}()", f"show_{name}()"])

    def body(self, times: int) -> None:
        careful = self.chance(60)
        for _ in range(1 + self.upto(7)):
            text = self.use()
            if self.chance(12):
                with self.under(f"if {self.pick(['i % 3', 'i > 4', 'n', 's', 'l', 'o'])}:"):
                    self.put(text)
            elif careful:
                self.guard(text)
            else:
                self.put(text)
        for turn in (1, 2, 3)[:self.upto(3)]:
            with self.under(f"if change == {turn} and i == {self.random.randrange(times)}:"):
                self.guard(self.change())
        self.line("if len(l) > 40: del l[5:]")
        self.line("if len(q) > 40 or len(p) > 40: q, p = [], p[:2]")
        self.line("if isinstance(n, int) and not -2**80 < n < 2**80: n = 1")

    def function(self, number: int) -> str:
        """A function with a hot loop; its name."""
        name, times = f"f{number}", self.pick([20, 40, 120])
        self.line()
        self.line()
        with self.under(f"def {name}(change):"):
            for local, value in self.locals.items():
                self.line(f"{local} = {value}")
            if self.chance(15):
                self.line(f"peek = lambda: ({self.pick(['n', 'o', 'l', 'm'])}, {self.pick(['s', 'd', 'i'])})")
            if self.chance(70):
                with self.under("try:"), self.under(f"for i in range({times}):"):
                    self.body(times)
                with self.under("except Exception as error:"):
                    self.line("print(type(error).__name__, error)")
            else:
                with self.under(f"for i in range({times}):"):
                    self.body(times)
            for local in self.locals:
                if self.chance(60):
                    self.guard(f"show({local})")
        return name

    def is_defined(self, name: str) -> bool:
        """In the prelude; the others are builtins."""
        return f"\ndef {name}(" in self.prelude or f"\nclass {name}(" in self.prelude or f"\nclass {name}:" in self.prelude

    def hiding(self) -> None:
        for name, other in self.hidden.items():
            shown = f"{name} = own_{name}" if self.is_defined(name) else f"del {name}"
            if self.is_defined(name):
                self.line(f"own_{name} = {name}")
            self.put(f"\n\ndef hide_{name}():\n    global {name}\n    {name} = {other}\n\n\ndef show_{name}():\n    global {name}\n    {shown}")

    def text(self, seed: int) -> str:
        self.line(f"# Random program {seed}.")
        self.lines += self.prelude.rstrip("\n").split("\n")
        self.hiding()
        names = [self.function(number) for number in range(self.upto(3))]
        for change in (0, 0, 1, 0, 2, 3, 0):
            for name in names:
                self.guard(f"{name}({change})")
        self.line(f"{self.pick(names)}({self.pick([0, 1, 2])})")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Sites(seed).text(seed)
