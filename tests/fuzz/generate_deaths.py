"""Makes random dl programs in which it matters when objects die, and in which order.

Instances whose `__del__` has effects live in locals, globals, containers, cells, generators and cycles while a loop is hot.
Late in the loop a callee (a function, a method, or a `__del__`) binds globals anew, changes methods, properties,
attributes over members of `__slots__`, `__del__`, `__setattr__` and `__getattribute__` of classes, and empties containers.
What has died is noted in `log`, and in `h`, a number that depends on the order; the loop prints both at some iterations.

Every second program ends with everything still there; what dies then is compared, too (warm.py knows the mark in its first
line).  The others drop all, one by one.

What the programs stay away from (lang/LANGUAGE.md): frames with such locals that an exception leaves, chains that are
released more than 50 deep, the order in which a collection finds objects, and suspended generators among cyclic garbage
with other finalisers.  CPython's collections reorder what they leave alive; so programs of the second kind collect nothing,
and have a class with `__del__` before their first instance: before, dl does not know in which order instances are made.
Where a collection runs a finaliser that lets go of another object it has found, CPython finalises that at once, dl in its turn.
"""

from writer import Writer

# What the differential run is about; the labels are those of driver.c.
VARIANTS = [
    "--level=inca --form=tail", "--level=nama --form=tail", "--level=nama --form=tail --stress=quicken",
    "--level=nama --form=trampoline --stress=exit:3", "--level=nama --form=trampoline --stress=guard:5",
]
TO_THE_END = "to the end"  # in the first line of a program that is compared until its process has ended

PRELUDE = '''
import gc

gc.disable()
log = []
keep = []
gens = []
h = 0
g = 1


def note(name, v):
    global h
    h = (h * 31 + len(name) * 7 + int(v)) % 1000003
    if len(log) < 12:
        log.append((name, v))


class Quiet:
    def __init__(self, v):
        self.v = self.w = v
        self.o = None


def pulse():
    global g, o0
    g += 1
    if g == 300:
        o0 = A0(6)


def late_del(self):
    note("late", getattr(self, "v", -1))


def other_del(self):
    note("other", 1)


def late_new(cls, v=0, o=None):
    self = object.__new__(cls)
    self.v = self.w = v
    self.o = o
    return self


def late_set(self, name, value):
    object.__setattr__(self, name, value)


def odd_set(self, name, value):
    object.__setattr__(self, name, value if name != "v" else value + 1)


def late_get(self, name):
    return object.__getattribute__(self, name)


def odd_get(self, name):
    return 3 if name == "w" else object.__getattribute__(self, name)


def late_init(self, v=0, o=None):
    try:
        self.v = v
        self.o = None
        self.w = 2
    except AttributeError:
        note("init", 2)


def collect():
    global h
    if TO_THE_END:
        return
    before, order = log[:], h
    log.clear()
    gc.collect()
    found, h = sorted(log), order
    log[:] = before + found[:3]
'''

DELS = [
    'note("NAME", self.v)', 'note("NAME", self.v)', 'note("NAME", getattr(self, "v", -1))',
    'global h\nh = (h * 31 + 5) % 1000003', 'note("NAME", self.v)\nif len(keep) < 3:\n    keep.append(self)',
    'global g\ng += 1\nnote("NAME", 2)', 'note("NAME", 0 if self.o is None else 1)', 'self.o = None\nnote("NAME", self.v)',
    'global h\nfor k in range(3):\n    h = (h * 31 + k) % 1000003', 'x = Quiet(7)\nnote("NAME", x.v)', 'pulse()\nnote("NAME", self.v)',
]
INITS = ["self.v = v\nself.o = o\nself.w = 1", "self.o = o\nself.v = v % 1000\nself.w = v", "self.v, self.o = v, o\nself.w = 0"]
METHODS = [
    ("get(self)", ["return self.v", "return self.v + self.w", "x = self\nreturn x.v", "return self.p"]),
    ("put(self, x)", ["self.v = x", "self.v = x\nself.w = x", "self.v += x % 3", "self.o = None\nself.v = x"]),
    ("plus(self, other)", ["return NAME(self.v % 1000 + 1)", "return NAME(self.v % 1000 + other.v % 1000)", "return other", "x = NAME(1)\nx.v = other.v\nreturn x",
                           "return self"]),
    ("late(self, i)", ["change(i)\nreturn self.v", "x = self.v\nchange(i)\nreturn x + self.v", "x = NAME(i % 7)\nchange(i)\nreturn x.v",
                       "x = NAME(i % 7)\nx.w = 1\nchange(i)\nx.v = 3\nreturn x.v"]),
]
PROPERTIES = ["@property\ndef p(self):\n    return self.v", "@property\ndef p(self):\n    return self.w + 1\n@p.setter\ndef p(self, x):\n    self.w = x", "p = 4"]
# What needs only the class of what it is called on, which may die of that.
UNBOUND = [
    ("staticmethod", "st(x)", ["return x % 7", "change(x)\nreturn x % 5", "y = NAME(x % 9)\nreturn y.v"]),
    ("classmethod", "cl(cls, x)", ["return cls.name + x", "return cls(x % 9).v", "change(x)\nreturn cls.name"]),
    ("classmethod", "new(cls, x)", ["return cls(x % 9)", "y = NAME(1)\nreturn cls(x % 9)"]),
]

# Functions of the module; those of one line may be bound anew.
FUNCTIONS = '''
def giver(x):
    return lambda k: x.v + k


def taker(x):
    def take(y):
        nonlocal x
        x, y = y, x
        return y
    return take


def make(v):
    return CLASS(v)


def make_other(v):
    x = CLASS(v)
    return CLASS(v + 1)


def pair(x, y):
    return x, y


def pair_other(x, y):
    return y, CLASS(1)


def chain(v):
    y = CLASS(v, CLASS(v + 1))
    return y.o


def fill(v):
    x = CLASS(v)
    y = CLASS(v + 1)
    z = [k + x.v for k in range(2)]
    return len(z)


def last(v):
    x = CLASS(v)
    try:
        y = CLASS(v + 2)
        return y.v
    finally:
        x = CLASS(v + 1)


def swap(v):
    x, y = CLASS(v), CLASS(v + 1)
    f = lambda: x
    x, y = y, x
    return f().v


def walk(x):
    try:
        yield x.v
        yield CLASS(3).v
    finally:
        note("walk", 1)


def stroll(x):
    y = CLASS(2)
    yield getattr(x, "v", 3)
    y = CLASS(4)
    yield getattr(y, "v", 3)


def parade(v):
    for k in range(4):
        x = CLASS(v + k)
        yield x


def ring(box):
    try:
        yield 1
        yield 2
    finally:
        note("ring", len(box))


def touch(v):
    global g
    g += 1
'''

# What the loop goes over.
STEPS = [
    "for i in range(n):\n    yield i",
    "x = CLASS(n)\nfor i in range(n):\n    y = CLASS(i)\n    yield i\n    x = y",
    "x = CLASS(n)\ni = 0\nwhile i < n:\n    yield i\n    x = CLASS(x.v % 7, x if i % 3 else None)\n    i += 1",
    "try:\n    for i in range(n):\n        x = y = CLASS(i)\n        yield i\n        del x\nfinally:\n    note('steps', 1)",
    "for i, x in enumerate([CLASS(k) for k in range(n)]):\n    yield i",
    "box = []\nfor i in range(n):\n    box.append((CLASS(i), (yield i)))\n    if i % 4 == 3:\n        box.clear()",
]
# Statements of the loop.  OBJ is a local with an object, GOBJ a global, CLASS a class.
STATEMENTS = [
    "s += i * GOBJ.v", "s += GOBJ.get()", "s += GOBJ.v", "s += GOBJ.w + i", "GOBJ.put(i)", "GOBJ.v = i", "s += GOBJ.o is None",
    "OBJ = CLASS(i)", "OBJ = CLASS(i)", "OBJ = CLASS(i, CLASS(i + 1))", "OBJ = CLASS(i)\ns += OBJ.v\nOBJ.v = s % 5", "OBJ = OBJ.plus(OBJ)", "OBJ = OBJ",
    "OBJ, OBJ2 = OBJ2, OBJ", "OBJ.v = i", "OBJ.put(i)", "s += OBJ.get()", "s += OBJ.v", "s += OBJ.p", "OBJ.o = CLASS(i)", "OBJ.o = None", "s += OBJ is GOBJ",
    "t = (OBJ, CLASS(i))\ns += t[0].v", "t = [OBJ, CLASS(i)]\ns += t.pop().v", "t = None", "items[i % 3] = OBJ", "items[i % 3] = CLASS(i)", "OBJ = items[i % 3]",
    "items.append(CLASS(i))\nitems.pop(0)", "table[0] = CLASS(i)", "table[i % 2] = OBJ", "s += table[0].v", "s += items[i % 3].v",
    "for x in items:\n    s += x.v", "for x in [CLASS(i), CLASS(i + 1)]:\n    s += x.v", "for x, y in [(OBJ, CLASS(i))]:\n    s += x.v + y.v",
    "f = giver(CLASS(i))\ns += f(1)", "f = giver(OBJ)\ns += f(1) + giver(CLASS(i))(2)", "f = taker(CLASS(i))\nt = f(OBJ)", "t = taker(OBJ)(CLASS(i))", "f = giver(CLASS(i))",
    "t = {'a': OBJ, 'b': CLASS(i)}\ns += t['a'].v", "t = {'a': CLASS(i), 3: CLASS(i + 1)}\nt['a'] = OBJ\ns += t[3].v", "t = {'a': CLASS(i)}\nt['b'] = CLASS(i + 1)\nt['a'] = t['b']", "s += {'a': CLASS(i), 'b': OBJ}['b'].v",
    "f = lambda: OBJ", "f = lambda: (OBJ, OBJ2)", "s += f() is OBJ", "s += sum([OBJ.v + k for k in range(2)])", "t = [OBJ for k in range(2)]", "t = {k: CLASS(k) for k in range(2)}",
    "f = [(lambda: OBJ) for k in range(2)][1]", "s += len([k for k in range(3) if k < OBJ.v])",
    "try:\n    s += 1 // (i % 7)\nexcept ZeroDivisionError:\n    OBJ = CLASS(i)\nfinally:\n    OBJ2 = CLASS(i + 1)", "try:\n    OBJ = CLASS(i)\nfinally:\n    OBJ = CLASS(i + 1)",
    "try:\n    s += OBJ.v\nfinally:\n    OBJ = OBJ2 = CLASS(i)", "n = walk(OBJ)\ns += next(n)", "n = stroll(OBJ)\ns += next(n)", "n = walk(OBJ)", "for x in walk(OBJ):\n    s += x\n    break",
    "for x in stroll(CLASS(i)):\n    s += x", "for x in parade(i):\n    s += x.v",
    "for OBJ in parade(i):\n    s += OBJ.v\n    if s % 3 == 0:\n        break", "s += next(walk(CLASS(i)))", "s += next(n, 5)", "n = (x.v for x in [CLASS(i), OBJ])\ns += next(n)",
    "del OBJ\nOBJ = CLASS(i)", "CLASS(i)", "make(i)", "s += make(i).v", "pair(CLASS(i), CLASS(i + 1))", "t = pair(CLASS(i), OBJ)", "OBJ, t = pair(CLASS(i), OBJ)", "t = pair(OBJ, CLASS(i))[1]",
    "s += chain(i).v", "OBJ = chain(i)", "s += fill(i)", "s += last(i)", "s += swap(i)", "if i % 3 == 0:\n    OBJ = CLASS(i)", "if i % 5 == 0:\n    OBJ = make(i)\nelse:\n    s += OBJ.v",
    "x = CLASS(i) if i % 3 else None\nif x is not None:\n    s += x.v", "x = CLASS(i) if i % 2 else i\nchange(i)\ns += x.v if i % 2 else x", "OBJ = CLASS(i) if i % 4 else OBJ2\ns += OBJ.v",
    "if OBJ.v < i % 9:\n    OBJ = OBJ2", "x = None\nfor k in range(3):\n    y = CLASS(k)\n    if x is None or y.v > x.v:\n        x = y\ns += x.v",
    "x = OBJ\nfor k in range(4):\n    if x is not None:\n        s += x.v\n    x = CLASS(k, OBJ) if k % 2 else None",
    "for k in range(3):\n    d = CLASS(k)\n    s += d.v", "for k in range(3):\n    OBJ = CLASS(k)\n    if k == i % 3:\n        break", "if i % 11 == 3:\n    continue",
    "GOBJ = CLASS(i)", "GOBJ.o = CLASS(i)", "GOBJ = OBJ", "s += OBJ.late(i)", "s += GOBJ.late(i)", "change(i)", "change(i)", "change(i)", "s += g", "touch(i)", "box = [CLASS(i), 0]\nbox[1] = box[0]",
    "d = CLASS(i)\nd.w = i\ns += d.w + d.v", "d = CLASS(i)\nchange(i)\ns += d.v", "d = CLASS(i)\ns += d.late(i)", "d = CLASS(i)\nd.o = CLASS(i)\nchange(i)\nd.v = 2",
    "s += OBJ.st(i)", "s += GOBJ.cl(i)", "s += CLASS(i).st(i)", "s += CLASS(i).cl(i) + CLASS(i).st(i)", "OBJ = OBJ.new(i)", "s += OBJ.new(i).cl(i)", "s += CLASS.new(i).st(i)",
    "with CLASS(i) as x:\n    s += x", "s += CLASS(i) < CLASS(i + 1)",
    "try:\n    if i % 3: raise ValueError(OBJ)\n    s += 1\nexcept ValueError:\n    OBJ = CLASS(i)", "try:\n    if i % 3: raise KeyError(OBJ, i)\nexcept LookupError:\n    s += 1\nOBJ = OBJ2",
    "try:\n    if i % 2: raise ValueError(i)\nexcept ValueError:\n    OBJ = OBJ2", "try:\n    if i % 3: raise KeyError(CLASS(i))\nexcept KeyError as e:\n    s += e.args[0].v", "try:\n    s += {0: 5}[i % 3]\nexcept KeyError:\n    s += OBJ.v",
    "try:\n    s += (1, 2)[i % 4]\nexcept IndexError:\n    OBJ.v = i", "try:\n    if i % 3 == 1: raise IndexError(OBJ)\n    s += [1, 2][i % 4]\nexcept IndexError:\n    OBJ = OBJ2 = CLASS(2)\n    s += OBJ.v",
]
# What happens late.  GLOBALS are declared global there.
CHANGES = [
    "GOBJ = CLASS(2)", "GOBJ = CLASS(2)", "o0, o1 = o1, o0", "del GOBJ\nGOBJ = CLASS(5)", "GOBJ = None\nGOBJ = CLASS(1)", "items.clear()\nitems.extend([CLASS(4), CLASS(5), CLASS(6)])", "items[1] = CLASS(8)",
    "items = [CLASS(1), CLASS(2), o0]", "table.clear()\ntable.update({0: CLASS(9), 1: o1})", "table = {0: CLASS(3), 1: CLASS(4)}", "del items[0]\nitems.append(o0)",
    "CLASS.get = lambda self: 7", "CLASS.put = lambda self, x: None", "CLASS.plus = lambda self, other: other", "CLASS.plus = lambda self, other: CLASS(3)", "CLASS.get = CLASS0.get",
    "CLASS.__del__ = late_del", "CLASS.__del__ = late_del", "CLASS.__del__ = other_del", "forget(CLASS, '__del__')", "CLASS.p = property(lambda self: 5)", "CLASS.p = 6", "forget(CLASS, 'p')",
    "CLASS.v = 55", "CLASS.v = property(lambda self: 8, lambda self, x: None)", "CLASS.w = 3", "forget(CLASS, 'w')", "CLASS.o = None", "CLASS.w = property(lambda self: 2, lambda self, x: None)",
    "CLASS.__setattr__ = late_set", "CLASS.__setattr__ = odd_set", "forget(CLASS, '__setattr__')", "CLASS.__getattribute__ = late_get", "CLASS.__getattribute__ = odd_get",
    "forget(CLASS, '__getattribute__')", "CLASS.__init__ = late_init", "CLASS.__new__ = late_new", "CLASS.__lt__ = lambda self, other: True", "make = make_other", "pair = pair_other", "walk = stroll", "stroll = walk",
    "gens.append(walk(GOBJ))\nnext(gens[-1])", "gens.append(stroll(CLASS(1)))\nnext(gens[-1])", "gens.clear()", "if gens:\n    gens[0].close()", "if gens:\n    gens.pop()", "keep.clear()", "keep.append(GOBJ)",
    "keep.append(lambda: GOBJ)", "collect()", "collect()", "GOBJ.o = GOBJ\nGOBJ = CLASS(4)", "a = [CLASS(6)]\na.append(a)", "a, b = CLASS(1), CLASS(2)\na.o, b.o = b, a", "GOBJ.o = CLASS(3)",
    "CLASS.st = staticmethod(lambda x: 9)", "CLASS.cl = classmethod(lambda cls, x: 4)", "CLASS.st = lambda self, x: self.v", "touch = make", "CLASS.late = lambda self, i: i",
]
# After these, stores and methods may raise.
RAISING = ("CLASS.v =", "CLASS.o =", "CLASS.w =", "forget(CLASS, 'w')", "forget(CLASS, '__init__')")
# Parts of statements whose frames, left by an exception, would have objects in them.
FRAGILE = ("CLASS(i, ", "make(", "pair(", "chain(", "fill(", "last(", "swap(", "late(", "walk(", "stroll(", "parade(", "[CLASS", "(OBJ, CLASS", "[OBJ, CLASS", "CLASS(k)", "< CLASS", "with ", ".new(", ".st(", ".cl(")
# Only where nothing else in a cycle has a finaliser: in which order these run is no matter of this file.
RING = "box = []\nbox.append(ring(box))\nnext(box[0])"


# All set v, o and w, for classes that have no __init__.
NEWS = [f"{first}self.v = self.w = v\nself.o = o\nreturn self" for first in
        ("self = super().__new__(cls)\n", "self = object.__new__(cls)\n", "note('new', v)\nself = object.__new__(cls)\n", "self = super().__new__(cls)\nself.v = o\n")]


class Deaths(Writer):
    def __init__(self, seed: int):
        super().__init__(seed)
        self.classes = []
        self.slotted = []
        self.raises = self.chance(25)
        self.to_the_end = False
        self.statements = [t for t in STATEMENTS if not self.raises or not any(part in t for part in FRAGILE)]
        self.changes = [t for t in CHANGES if (not t.startswith("a, b =") if self.raises else not t.startswith(RAISING))]

    def about(self, template: str) -> str:
        """A template with names in the places of CLASS, OBJ and GOBJ."""
        first, second = self.random.sample(["a", "b", "c"], 2)
        template = template.replace("GOBJ", self.pick(["o0", "o1", "o2"])).replace("OBJ2", second).replace("OBJ", first)
        template = template.replace("CLASS0", "A0")
        while "CLASS" in template:
            template = template.replace("CLASS", self.pick(self.classes), 1)
        return template

    def init(self, text: str, catches: bool) -> None:
        """The body of an `__init__`.  If it raised, the traceback would keep its instance."""
        if not catches:
            self.put(text)
            return
        with self.under("try:"):
            self.put(text)
        with self.under("except AttributeError:"):
            self.line('note("init", 1)')

    def class_(self, number: int) -> None:
        name = f"A{number}"
        base = self.pick(self.classes) if self.classes and self.chance(35) else ""
        self.put(f"\n\nclass {name}{f'({base})' if base else ''}:")
        self.classes.append(name)
        self.indent += 1
        self.line(f"name = {number}")
        slots = self.chance(35)
        slotted = slots or base in self.slotted
        if slots and not base:
            self.line("__slots__ = ('v', 'o', 'w')")
        elif slots:
            self.line("__slots__ = ()")
        if slotted:
            self.slotted.append(name)
        made = self.chance(25)
        if made:
            with self.under("def __new__(cls, v=0, o=None):"):
                self.put(self.pick(NEWS))
        if (not base or self.chance(30)) and not (made and self.chance(70)):
            with self.under("def __init__(self, v=0, o=None):"):
                self.init(self.pick(INITS), catches=self.raises and slotted)
        for head, bodies in METHODS:
            if not base or self.chance(30):
                with self.under(f"def {head}:"):
                    self.put(self.about(self.pick([t for t in bodies if not (self.raises and "x.v =" in t)])).replace("NAME", name))
        if not base or self.chance(30):
            self.put(self.pick(PROPERTIES))
        for kind, head, bodies in UNBOUND:
            if not base or self.chance(30):
                self.line(f"@{kind}")
                with self.under(f"def {head}:"):
                    self.put(self.pick(bodies).replace("NAME", name))
        if self.chance(65):
            with self.under("def __del__(self):"):
                with self.under("try:"):
                    self.put(self.about(self.pick(DELS)).replace("NAME", name))
                with self.under("except AttributeError:"):  # which would be reported with an address
                    self.line(f'note("{name}", -2)')
        if not base:
            self.put("def __lt__(self, other):\n    return self.v < other.v")
            self.put("def __enter__(self):\n    return self.v\ndef __exit__(self, *error):\n    self.v = 0")
        self.indent -= 1

    def body(self, choices: list, count: int) -> None:
        for _ in range(count):
            text = self.about(self.pick(choices))
            if self.chance(12):
                with self.under(f"if i % {self.pick([2, 3, 7])} == 0:"):
                    self.put(text)
            else:
                self.put(text)

    def change(self, count: int, ring: bool) -> list:
        """The function that changes things at some iterations; which these are."""
        self.put("\n\ndef change(i):")
        self.indent = 1
        self.line("global o0, o1, o2, items, table, make, pair, walk, stroll, touch")
        at = sorted(self.random.sample(range(505, count - 3), self.upto(4)) + ([self.random.randrange(3, 400)] if self.chance(25) else []))
        for i in at:
            with self.under(f"if i == {i}:"):
                for _ in range(self.pick([1, 1, 1, 2])):
                    self.put(self.about(self.pick(self.changes)))
                if ring and self.chance(50):
                    self.put(RING)
        self.indent = 0
        return at

    def loop(self, count: int, marks: list) -> None:
        self.put("\n\ndef run(n):")
        self.indent = 1
        self.line("global o0, o1, o2, items, table")
        self.line("s = 0")
        for name in "abc":
            self.line(self.about(f"{name} = CLASS({self.upto(9)})"))
        self.line("d = f = t = box = x = y = k = None")
        self.line("f = lambda: None")
        self.line(self.about("n = walk(OBJ)"))
        counts = self.chance(30)
        if counts:
            self.line("i = -1")
        walked = "steps" if self.chance(40) else "range"
        with self.under(f"while i < {count - 1}:" if counts else f"for i in {walked}({count}):"):
            if counts:
                self.line("i += 1")
            with self.under("try:"):
                self.body(self.statements, self.upto(6))
                if self.chance(80):
                    self.line("change(i)")
                if self.chance(30):
                    self.body(self.statements, 1)
            with self.under("except (AttributeError, TypeError) as e:"):
                self.line("s -= 1")
            with self.under("finally:" if self.chance(5) else f"if i % 97 == 0 or i in {tuple(marks + [m + 1 for m in marks] + [-1])}:"):
                self.line("print(i, s, h, log)")
                self.line("log.clear()")
        self.line(self.pick(["return s", "return s", "print('end', s)\n    return a"]))
        self.indent = 0

    def text(self, seed: int) -> str:
        to_the_end = self.to_the_end = self.chance(50)
        count = self.pick([560, 640, 720])
        ring = not to_the_end and self.chance(20)
        self.line(f"# Deaths {seed}, {TO_THE_END}." if to_the_end else f"# Deaths {seed}.")
        self.put(PRELUDE.replace("TO_THE_END", str(to_the_end)))
        if to_the_end:
            self.put("class First:\n    def __del__(self):\n        pass")
        self.put("\n\ndef forget(kind, name):\n    if name in kind.__dict__:\n        delattr(kind, name)")
        for number in range(1 + self.upto(2)):
            self.class_(number)
        self.put("\n" + self.about(FUNCTIONS.strip("\n")))
        with self.under("def steps(n):"):
            self.put(self.about(STEPS[0] if self.raises else self.pick(STEPS)))
        marks = self.change(count, ring)
        self.put("\n")
        for name in ("o0", "o1", "o2"):
            self.line(self.about(f"{name} = CLASS({self.upto(9)})"))
        self.put(self.about("items = [CLASS(1), CLASS(2), CLASS(3)]\ntable = {0: CLASS(4), 1: CLASS(5)}"))
        self.loop(count, marks)
        self.put("\n\nprint(type(run(0)).__name__)\nprint('between', h, log)\nlog.clear()")
        if self.chance(30):
            self.put("print(type(run(1)).__name__)")
        if to_the_end:
            self.put(self.pick(["print('left', h)", "print('left', h)\nlog = None\n\n\ndef note(name, v):\n    print('dies', name, v)"]))
        else:
            names = self.random.sample(["o0", "o1", "o2", "items", "table", "gens", "keep"], 7)
            self.put("\n".join(f"{name} = {'[]' if name in ('gens', 'keep') else None}\nprint({name!r}, h, log)\nlog.clear()" for name in names))
            self.put("collect()\nprint(h if not log else '', sorted(log))\nkeep.clear()\ncollect()")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Deaths(seed).text(seed)
