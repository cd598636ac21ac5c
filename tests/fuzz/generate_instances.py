"""Makes random dl programs that build small objects in hot loops, on top of generate_loops.

Locals p0 to p2 hold instances of a few small classes; attributes are ints, floats, and sometimes objects.  Methods
return numbers, new instances, tuples, or self; small lists are built and stored to; instances go into lists, tuples and attributes, also of other new ones and in circles, are carried from round to
round, are compared by identity, are set by object.__setattr__, made by a __new__ of their class, get and lose attributes, and are alive when guards fail, errors are raised, and classes change.
"""

from generate_loops import FLOATS, INTS, Loops

OBJECTS = ["p0", "p1", "p2"]
NESTS = ["n0", "n1"]
NAMES = ["'a'", "'c'", "'missing'", "'bonus'", "'other'", "'count'"]

CLASSES = '''
class Pair:
    bonus = 2

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def total(self, k):
        return self.a * 0.5 + self.b * k

    def count(self):
        return self.a %% 1000 + 1

    def moved(self, a, b):
        return %(moved)s(self.a %% 1000 + a, self.b * 0.5 + b)

    def kept(self):
        return self

    def both(self):
        return self.a, (self.b, self)

    def larger(self, other):
        if self.a > other.a:
            return self
        return other

    def changed(self, a):
        self.a = a
        return self

    def __add__(self, other):
        return %(added)s(self.a + other.a, self.b + other.b)

    def __rmul__(self, k):
        return %(added)s(k * self.a %% 1000, self.b * 0.5)

    def __rsub__(self, k):
        return self.b if %(declines)s else NotImplemented

    def weighed(self, k, by=2, plus=0.5):
        return self.a * k + by * plus

    @property
    def half(self):
        %(half)s

    @property
    def twin(self):
        return %(twin)s
%(truth)s
    def show(self):
        return type(self).__name__, sorted((name, str(value) if isinstance(value, (int, float, str)) else type(value).__name__) for name, value in self.__dict__.items())


class Point(Pair):
    def __init__(self, a, b%(default)s):
        self.b = b%(scaled)s
        self.a = %(checked)s
        self.c = %(third)s

    def count(self):
        return self.a + %(sign)s1


class Holder(Pair):
    def __init__(self, a, b):
        %(super)s
        self.other = %(other)s%(late)s


class Fixed(Pair):
    def __init__(self, a, b):
        object.__setattr__(self, "b", b)
        %(setter)s.__setattr__(self, "a", a)

    def __setattr__(self, name, value):
        %(fixed)s
'''

# Instances that have others: nested, shared twice, in circles, with what says that it dies.
NESTED = '''
class Told(Pair):
    def __init__(self, a):
        self.a = a
        self.b = 0.5

    def __del__(self):
        deaths.append(self.a)


class Nest:
    a = 3

    def __init__(self, left, right):
        %(first)sself.left = left%(broken)s
        self.right = right

    def kept(self):
        return Pair(self.right.a, 2.5)

    def sum(self):
        return self.left.a + self.right.a

    @property
    def first(self):
        return %(side)s
%(asked)s
    def swapped(self):
        return Nest(self.right, self.left)

    def with_left(self, left):
        return Nest(left, self.right)

    def show(self):
        return [getattr(side, 'a', type(side).__name__) for side in (self.left, self.right)], self.left is self.right, self.left is self


# What a __new__ makes, and named tuples; their methods are those of Pair.
class Made:
    bonus, show = 3, Pair.show
    total, count, moved, kept, both, larger, changed, weighed = Pair.total, Pair.count, Pair.moved, Pair.kept, Pair.both, Pair.larger, Pair.changed, Pair.weighed
    __add__, __rmul__, __rsub__, half, twin = Pair.__add__, Pair.__rmul__, Pair.__rsub__, Pair.half, Pair.twin

    def __new__(cls, a, b%(made_default)s):
        %(made_first)sself = %(maker)s
        self.a = a
        self.b = b
        return %(made)s

    @classmethod
    def of(cls, a, b):
        %(factory)s

    wide = property(lambda self: self.a, lambda self, value: %(wide)s)


class Cast(Made):
    def __new__(cls, a, b):
        self = super().__new__(%(cast)s, a, b)
        %(cast_last)s
        return self


class Row(collections.namedtuple("Row", "a b", defaults=[0.5])):
%(slots)s
    def __add__(self, other):
        return %(row)s(self.a + other.a, self.b + other[1])

    def total(self):
        return self.a * 0.5 + self.b

    def up(self, k):
        return self.__class__(self.a %% 1000 + k, self.b)

    high = property(lambda self: self[0] + len(self), lambda self, value: deaths.append(value))


class Cell(Row):
    def __new__(cls, a, b=1.5):
        return %(row_maker)s


deaths = []
gc.disable()  # when circles die is nobody's business
'''

CHANGES = [
    "Pair.__rmul__ = lambda self, k: Point(1, 2.5)",
    "del Pair.__rmul__",
    "Pair.missing = 3",
    "Point.bonus = 0.5",
    "Pair.weighed.__defaults__ = (i1, 1.5)",
    "Point.weighed = lambda self, k, plus=1, by=3: by - plus",
    "Nest.sum = lambda self: 2",
    "Nest.__init__ = lambda self, left, right: setattr(self, 'left', right) or setattr(self, 'right', left)",
    "Nest.__del__ = lambda self: deaths.append('nest')",
    "Pair.total = lambda self, k: 0.25",
    "Pair.count = lambda self: 3",
    "Pair.bonus = 5",
    "Pair.moved = lambda self, a, b: self",
    "Pair.__init__ = other_init",
    "Point.__init__ = other_init",
    "Pair.late = property(lambda self: 1)",
    "Pair.c = property(lambda self: 7, lambda self, value: None)",
    "Point.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 1)",
    "Pair.__del__ = lambda self: None",
    "Pair.half = property(lambda self: 0.75)",
    "Pair.twin = property(Pair.kept)",
    "Pair.__bool__ = lambda self: self.a % 3 == 0",
    "Nest.__bool__ = lambda self: False",
    "Made.__new__ = other_new",
    "Made.__init__ = lambda self, a, b=1.5: setattr(self, 'a', 4)",
    "Made.__del__ = lambda self: deaths.append('made')",
    "Made.wide = property(lambda self: 1, lambda self, value: deaths.append(value))",
    "Cast.__new__ = Made.__new__",
    "Row.a = property(lambda self: 3)",
    "Row.__len__ = lambda self: 5",
    "Row.__getitem__ = lambda self, i: 1",
    "Row.__iter__ = lambda self: iter((1, 0.5))",
    "Row.__new__ = lambda cls, a, b=2.5: tuple.__new__(cls, (b, a))",
    "Row.__del__ = lambda self: deaths.append(len(self))",
    "Row.__bool__ = lambda self: False",
    "Cell.__init__ = lambda self, a, b=1.5: deaths.append(a)",
    "Cell.total = lambda self: 0.25",
    "Pair = Point",
    "Point = Pair",
]


TRUTHS = ["self.a > 3", "self.a % 2 == 0 or self.b > 1.0", "self.a != 7 and self.b != 0", "True", "10 // (self.a - 7) > 1", "self.a > 990 or self.a"]


class Instances(Loops):
    def __init__(self, seed: int):
        super().__init__(seed * 31 + 5)

    def int_leaf(self) -> str:
        if self.inside and self.chance(35):
            return f"{self.pick(OBJECTS)}.a"
        return super().int_leaf()

    def float_leaf(self) -> str:
        if self.inside and self.chance(35):
            return f"{self.pick(OBJECTS)}.b"
        return super().float_leaf()

    def int_expression(self, depth: int = 2) -> str:
        if self.inside and depth and self.chance(15):
            return self.pick([f"{self.pick(OBJECTS)}.count()", f"({self.pick(OBJECTS)}.a + {self.pick(OBJECTS)}.bonus)",
                              f"{self.object_expression(1)}.count()", f"int({self.pick(OBJECTS)} is {self.pick(OBJECTS)})",
                              f"isinstance({self.thing()}, ({self.pick(['int, Point', 'Holder, Point', 'str, Pair', 'Nest, float'])}))",
                              f"(type({self.thing()}) is {self.pick(['Pair', 'Point', 'Holder'])})",
                              f"(hasattr({self.thing()}, {self.pick(NAMES)}) + issubclass(type({self.pick(OBJECTS)}), Point))",
                              f"int(getattr({self.thing()}, {self.pick(NAMES[:4])}, {self.int_leaf()}) == 1)",
                              f"({self.int_leaf()} * {self.thing()}).count()",
                              f"(1 if {self.asked(depth)} else 2)", f"int(not {self.asked(depth)})",
                              f"({self.int_leaf()} {self.pick(['and', 'or'])} {self.int_leaf()})",
                              f"({self.condition()} {self.pick(['and', 'or'])} {self.condition()})"])
        return super().int_expression(depth)

    def float_expression(self, depth: int = 2) -> str:
        if self.inside and depth and self.chance(15):
            return self.pick([f"{self.object_expression(depth - 1)}.total({self.float_leaf()})",
                              f"called({self.object_expression(depth - 1)}.{self.pick(['total', 'total', 'moved(1, 0.5).total'])}, {self.float_leaf()})",
                              f"{self.thing()}.weighed({self.int_leaf()}, {self.pick(['plus', 'by'])}={self.float_leaf()})",
                              f"{self.pick(OBJECTS)}.weighed(plus={self.float_leaf()}, k={self.int_leaf()}, by=0.5)",
                              f"({self.float_leaf()} - {self.thing()})",
                              f"{self.asked(depth)}.half", f"({self.float_leaf()} or 1.25)"])
        return super().float_expression(depth)

    def new(self) -> str:
        kind = self.pick(["Pair", "Pair", "Pair", "Point", "Point", "Holder", "Fixed", "Fixed", "Made", "Made", "Made.of", "Cast"])
        a, b = self.int_expression(1), self.float_expression(1)
        return self.pick([f"{kind}({a}, {b})", f"{kind}({a}, {b})", f"{kind}(b={b}, a={a})", f"{kind}({a}, b={b})"])

    def object_expression(self, depth: int = 1) -> str:
        name = self.pick(OBJECTS)
        roll = self.random.randrange(10)
        if roll < 4:
            return self.new()
        if roll < 6 or not depth:
            return name
        return self.pick([
            f"{name}.moved({self.int_leaf()}, {self.float_leaf()})",
            f"{self.object_expression(depth - 1)}.kept()",
            f"{self.asked(depth)}.twin",
            f"({name} {self.pick(['and', 'or'])} {self.new()})",
            f"{name}.larger({self.object_expression(depth - 1)})",
            f"{self.object_expression(depth - 1)}.changed({self.int_leaf()})",
            f"({name} + {self.object_expression(depth - 1)})",
            f"({self.object_expression(0)} if {self.condition()} else {self.new()})",
        ])

    def thing(self) -> str:
        """An instance, without much around it."""
        new = f"{self.pick(['Pair', 'Point'])}({self.pick(['b=0.5, a=', 'a=', ''])}{self.int_leaf()}"
        return self.pick(OBJECTS) if self.chance(40) else f"{new})" if "b=" in new else f"{new}, b={self.float_leaf()})"

    def asked(self, depth: int) -> str:
        return self.new() if depth > 1 and self.chance(40) else self.pick(OBJECTS)

    def assign(self) -> None:
        if not self.inside or self.chance(40):
            super().assign()
            return
        if self.chance(12):
            self.body()
            return
        if self.chance(20):
            for _ in range(self.pick([1, 2, 4, 6])):
                self.waiting()
            return
        if self.chance(30):
            self.nest()
            return
        if self.chance(20):
            self.tuple()
            return
        if self.chance(15):
            self.row()
            return
        if self.chance(30):
            self.list()
            return
        if self.chance(15):
            self.bound()
            return
        if self.chance(20):
            self.pick([self.dict, self.function, self.walk])()
            return
        name, other = self.pick(OBJECTS), self.pick(OBJECTS)
        loop = self.pick(self.loops or ["0"])
        roll = self.random.randrange(16)
        if roll < 6:
            self.line(f"{name} = {self.object_expression(2)}")
        elif roll < 8:
            self.line(f"{name}.a {self.pick(['=', '=', '+='])} {self.int_expression(1)} % 1000")
        elif roll < 10:
            self.line(f"{name}.b {self.pick(['=', '=', '*='])} {self.float_expression(0)}")
        elif roll == 10:
            self.line(self.pick([f"objects[{loop} % 4] = {name}", f"objects[{loop} % 4] = {self.new()}", f"{name} = objects[{loop} % 4]",
                                 f"held = ({name}, {other})", f"{name}.other = {other}", f"{name}.extra = {self.int_leaf()}"]))
        elif roll == 11:
            self.line(f"if {name} is {other}:")
            self.line(f"    {name} = {self.new()}")
        elif roll == 12:
            first, second = self.random.sample(OBJECTS, 2)
            self.line(f"{first}, {second} = {self.object_expression(1)}, {self.object_expression(1)}")
        elif roll == 13:
            self.line(f"if {self.condition()}:")
            self.line(f"    {name} = {self.object_expression(1)}")
        elif roll == 14:
            self.line(f"i1 = look({name}) % 1000")
        elif self.chance(60):
            self.line(f"object.__setattr__({name}, {self.pick([f'{chr(39)}a{chr(39)}, {self.int_leaf()}', f'{chr(39)}b{chr(39)}, {self.float_leaf()}', f'{chr(39)}other{chr(39)}, {other}'])})")
        else:
            self.put(self.pick([f"{name} = {other}", f"{name} = {other}\n{other} = {self.new()}", f"{other} = {self.new()}\n{name} = {other}",
                                f"{other} = {self.new()}\n{self.pick(OBJECTS)} = {name}\n{name} = {other}", f"if {self.condition()}: {name} = {other}"]))

    def side(self) -> str:
        return self.pick([self.pick(OBJECTS), self.object_expression(1), self.new(), self.new(), f"{self.pick(NESTS)}.left.kept()", f"{self.pick(NESTS)}.left",
                          f"Told({self.int_leaf()})", f"Nest({self.new()}, {self.pick(OBJECTS)})"])

    def bound(self) -> None:
        """A statement with f0, a method of an instance."""
        name, other, loop = self.pick(OBJECTS), self.pick(OBJECTS), self.pick(self.loops or ["0"])
        new = f"f0 = {self.object_expression(1)}.{self.pick(['total', 'total', 'moved(1, 0.5).total'])}"
        self.put(self.pick([
            new, f"{new}\nx0 = f0({self.float_leaf()})", f"{new}\nx0 = f0({self.float_leaf()}) + f0(0.5)", f"{new}\nx0 = called(f0, {self.float_leaf()})",
            f"if {self.condition()}: {new}", f"x0 = f0({self.float_leaf()})", "x0 = called(f0, 0.5)", f"{name} = {other}.larger({self.object_expression(1)})",
            f"f1 = {name}.larger\n{other} = f1({self.object_expression(0)})", f"f1 = {name}.changed\n{other} = f1({self.int_leaf()})",
            f"i1 += (f0.__self__ is {name}) + (f0 == {name}.total) + isinstance(f0, Pair)", f"f1 = f0\ni1 += (f0 is f1) + (f1 is None)",
            f"f1 = Told({self.int_leaf()}).count\ni1 = (i1 + f1()) % 1000", f"{name}.f = {other}.count\ni1 = (i1 + {name}.f()) % 1000",
            f"f1 = {name}.count\n{name} = {self.object_expression(1)}\ni1 = (i1 + f1()) % 1000", f"if {loop} == {self.random.randrange(2, 60)}: held = f0",
            f"t1 = ({name}.count, i1)\ni1 = (t1[1] + t1[0]()) % 1000", f"f1, i1 = {name}.count, 3\ni1 = look(f1.__self__) % 100",
        ]))

    def nest(self) -> None:
        """A statement with what has other instances, or with one that the loop carries."""
        nest, other, name = self.pick(NESTS), self.pick(NESTS), self.pick(OBJECTS)
        loop = self.pick(self.loops or ["0"])
        self.line(self.pick([
            f"{nest} = Nest({self.side()}, {self.side()})",
            f"{nest} = Nest({self.side()}, {self.side()})",
            f"{nest} = Nest(right={self.side()}, left={self.side()})",
            f"{nest} = Nest({self.side()}, {self.side()}).swapped()",
            f"{nest} = {other}.with_left({self.side()})",
            f"{nest} = {other}.swapped()",
            f"{nest}.{self.pick(['left', 'right'])} = {self.side()}",
            f"{nest}.left = {nest}",
            f"{name} = {nest}.left.kept()",
            f"i1 = ({nest}.sum() + i1) % 1000",
            f"i1 = {nest}.left.a % 1000",
            f"{nest}.left.a = {self.int_expression(1)} % 1000",
            f"objects[{loop} % 4] = {nest}.right.kept()",
            f"i1 += {nest}.left is {nest}.right",
            f"i1 += isinstance({nest}.{self.pick(['left', 'right'])}, {self.pick(['Pair', 'Point', 'Nest', 'int'])})",
            f"if {nest}.left and {name} is not None: i1 += 1",
            f"if {nest} {self.pick(['and', 'or'])} {name}: i1 += 1",
            f"if not Nest({self.side()}, {self.side()}): i1 += 1",
            f"while {name} and {name}.a > 500: {name} = {name}.moved(-{name}.a, 0.5)",
            f"objects[{loop} % 4] = {nest}.first.kept()",
            f"i1 = ({nest}.first.a + i1) % 1000",
            f"{name} = {name}.moved({self.int_leaf()}, {self.float_leaf()})",
            f"{name} = {name} + {self.pick(OBJECTS)}",
            f"if {self.condition()}: {nest} = Nest({self.side()}, {self.side()})",
            f"if {self.condition()}: {name} = {name}.moved(1, 0.5)",
            f"if {self.condition()}: held = {nest}",
            f"if {loop} == {self.random.randrange(2, 60)}: print({nest}.show(), deaths[-3:])",
        ]))

    def tuple(self) -> None:
        """A statement with t0: an instance, an int, and a float with an instance."""
        name, other, loop = self.pick(OBJECTS), self.pick(OBJECTS), self.pick(self.loops or ["0"])
        item = [f"{self.int_leaf()} % 5", f"{self.int_leaf()} % 3", self.pick(["1", "'a'", "True", "1.0", "2**62", self.float_leaf(), f"{name}.a"])]
        key = ", ".join(self.random.sample(item, 2)) + self.pick(["", "", ", 1"])
        new = f"t0 = ({self.object_expression(1)}, {self.int_expression(1)} % 1000, ({self.float_expression(0)}, {self.object_expression(1)}))"
        self.line(self.pick([
            new, new, new,
            f"if {self.condition()}: {new}",
            "t0 = (t0[2][1], t0[-2], (t0[2][0], t0[0]))",
            "t0 = (t0[0], i1, t0[2])",
            f"i1 = (t0[1] + t0[0].a) % {self.random.randrange(3, 999)}",
            f"{name} = t0[2][{self.pick(['1', '-1', '1', '2'])}]",
            f"{name}, i1, ({self.pick(['held', 'x0'])}, {other}) = t0",
            f"{name}.a = t0[1]",
            f"i1 += (t0[0] is t0[2][1]) + (t0 is {self.pick(['t0', 'None', 'held'])}) + isinstance(t0, (tuple)) + len(t0)",
            f"i1 += (t0 == held) + ({name} in t0) + ((t0[1], 2) < (i1, {self.random.randrange(4)}))",
            f"objects[{loop} % 4] = t0[0]",
            f"held = t0{self.pick(['', '[2]', '[1:]'])}",
            f"i1 = {name}.both()[0] % 1000",
            f"{name} = {other}.both()[1][1]",
            f"i1, (held, {name}) = {other}.both()",
            f"i1 += ({self.int_leaf()}, {self.int_leaf()}) {self.pick(['<', '<=', '==', '!=', '>'])} ({self.int_leaf()}, {self.pick(['i1', '0.5', self.int_leaf()])})",
            f"if ({self.float_leaf()}, i1) {self.pick(['<', '>=', '==', '!='])} ({self.float_leaf()}, {self.int_leaf()}): i1 += 1",
            f"i1 = look(({self.new()}, {name})[{self.pick(['0', '1', '-1'])}]) % 1000",
            f"i1 += (({key}) in keys) + (({key}) in held_keys)",
            f"if ({key}) {self.pick(['in', 'not in'])} keys: i1 += 1",
            f"if ({key}) not in keys: keys.{self.pick(['add', 'add', 'discard'])}(({key}))",
            f"held_keys[{key}] = held_keys.get(({key}), 0) + 1",
            f"i1 += held_keys[{key}] if ({key}) in held_keys else 2",
        ]))

    def row(self) -> None:
        """A statement with r0, a named tuple of numbers, or r1, one of other things."""
        name, loop, kind = self.pick(OBJECTS), self.pick(self.loops or ["0"]), self.pick(["Row", "Row", "Cell"])
        a, b = f"{self.int_expression(1)} % 1000", self.float_expression(0)
        new = f"r0 = {self.pick([f'{kind}({a}, {b})', f'{kind}({a}, {b})', f'{kind}({a})', f'{kind}(b={b}, a={a})', f'{kind}({a}, b={b})', f'Row._make([{a}, {b}])'])}"
        other = f"r1 = {kind}({self.pick([name, self.object_expression(1), f'Told({self.int_leaf()})'])}, {self.pick(['r0', 't0', '[i1]', name])})"
        self.put(self.pick([
            new, new, f"{new}\ni1 = (i1 + r0.a + len(r0)) % 1000", f"{new}\ni1, x0 = r0", f"{new}\nx0 = r0[1] * 0.5 + r0[-2]", f"if {self.condition()}: {new}",
            f"r0 = {kind}(r0.a % 1000 + 1, r0.b * 0.5)", f"r0 = r0 + {kind}({self.int_leaf()}, {self.float_leaf()})", f"r0 = r0.up({self.int_leaf()}).up(1)",
            "x0 = r0.total()", "i1 = r0.high % 1000", f"r0.high = {self.int_leaf()}", f"{name} = Pair(r0.a, r0.b)", f"{name}.wide = {self.int_leaf()}", "i1, x0 = r0",
            f"i1 += (r0 == held) + (r0 is {self.pick(['r1', 'held', 'None'])}) + isinstance(r0, tuple) + (type(r0) is Row) + (i1 in r0) + (1 if r0 else 2)",
            f"if r0 {self.pick(['<', '==', '>='])} (i1, {self.float_leaf()}): i1 += 1", f"r0 = r0._replace(a={self.int_leaf()})", f"held = {self.pick(['r0', 'r1', 'r0 + (1,)'])}",
            other, other, f"{other}\n{name} = r1.a\ni1 = look({name}) % 1000", f"{other}\n{name}, held = r1", "r1 = Row(r1.b, r1.a)\nr1 = Row(r1[1], r1[0])", "i1 = look(r1.a) % 1000",
            f"if {self.condition()}: {other}", f"if {loop} == {self.random.randrange(2, 60)}: print(r0, {{r0: 1}}, str(r0.a))", "for held in r0: x0 += held * 0.5",
        ]))

    def list(self) -> None:
        """A statement with l0, which lasts, or some with l2, which is new: an int, a float, an instance, and a list of these or of others."""
        count = self.pick([0, 0, 2, 3, 5, 8])
        for k in range(count):
            self.list_statement("l2", k == 0)
        if not count:
            self.list_statement("l0", self.chance(15))

    def list_statement(self, l0: str, is_new: bool) -> None:
        name, other, loop = self.pick(OBJECTS), self.pick(OBJECTS), self.pick(self.loops or ["0"])
        inner = self.pick([f"[{self.float_expression(0)}, {self.object_expression(0)}]", f"({name}, {self.int_leaf()})", "t0", f"[{self.int_leaf()}]"])
        new = f"{l0} = [{self.int_expression(1)} % 1000, {self.float_expression(0)}, {self.object_expression(1)}, {inner}]"
        quiet = [
            f"{l0}[0] {self.pick(['=', '+='])} {self.int_expression(1)} % 1000",
            f"{l0}[{self.pick(['1', '-3'])}] {self.pick(['=', '*='])} {self.float_expression(0)}",
            f"{l0}[2] = {self.pick([name, self.new(), f'Told({self.int_leaf()})', f'{l0}[2].kept()'])}",
            f"{l0}[3] = {self.pick([l0, f'[{l0}[0]]', 't0', f'{l0}[3]', f'[{name}, {other}]'])}",
            f"{l0}{self.pick(['[0] = {}[1]', '[1] = {}[-4]', '[3] = {}[0]', '[-1] = {}[2]']).format(l0)}",
            f"if {self.condition()}: {l0}[0] = {self.pick(['0.5', '2**62', 'i1', self.int_leaf()])}",
            f"if {self.condition()}: {new}",
            f"i1 = ({l0}[0] + {l0}[2].a + len({l0})) % {self.random.randrange(3, 999)}",
            f"{name} = Pair({l0}[0], {l0}[1])",
            f"x0 = {l0}[1] {self.pick(['+', '*', '-'])} {self.float_leaf()}",
            f"held = {l0}[3]{self.pick(['', '[0]', '[-1]'])}",
            f"l2 = [{self.int_leaf()}, {l0}]\ni1 += l2[1][0] % 1000\n{l0} = l2[1]",
            f"i1, x0, x1, x2 = {l0}\nx1 = x2 = 0.5",
            f"i1 += ({l0} is {l0}[3]) + ({l0} is {self.pick(['l1', 'None', 'held'])}) + isinstance({l0}, (list)) + ({l0}[2] is {name})",
            f"i1 = look([{self.new()}, {name}][{self.pick(['0', '1', '-1'])}]) % 1000",
            f"i1 = put({l0}, i1)",
        ]
        loud = [
            f"{name} = {l0}[2]",
            f"objects[{loop} % 4] = {l0}[2]",
            f"i1, x0, {name}, held = {l0}",
            f"l1 = {l0}{self.pick(['', '[:]', '[3]'])}",
            f"l1 = {l0}\nl1[0] = i1",
            f"held = {l0}{self.pick(['', '[1:]'])}",
            f"i1 += ({name} in {l0}) + ({l0}[:2] < [i1, {self.random.randrange(4)}]) + (1 if l1 else 2)",
            f"if {self.condition()}: {l0}.{self.pick(['append(1)', 'pop()', 'reverse()'])}",
            f"for held in [{name}, {other}, {self.new()}]: i1 += held.a % 10",
        ]
        self.put(new if is_new else self.pick(quiet if self.chance(90) else loud))

    def dict(self) -> None:
        """A statement with d0, which lasts, or some with d2, which is new: an int, a float and an instance by constant keys."""
        count = self.pick([0, 2, 3, 5])
        for k in range(count):
            self.dict_statement("d2", k == 0)
        if not count:
            self.dict_statement("d0", self.chance(20))

    def dict_statement(self, d0: str, is_new: bool) -> None:
        name, other, loop = self.pick(OBJECTS), self.pick(OBJECTS), self.pick(self.loops or ["0"])
        new = f"{d0} = {{'i': {self.int_expression(1)} % 1000, 'x': {self.float_expression(0)}, {self.pick(['3', '-1', chr(39) + 'p' + chr(39)])}: {self.int_leaf()}, 'p': {self.object_expression(1)}}}"
        self.put(new if is_new else self.pick([
            f"{d0}['i'] {self.pick(['=', '+='])} {self.int_expression(1)} % 1000",
            f"{d0}['x'] {self.pick(['=', '*='])} {self.float_expression(0)}",
            f"{d0}['p'] = {self.pick([name, self.new(), f'Told({self.int_leaf()})', d0])}",
            f"{d0}[{self.pick(['3', chr(39) + 'new' + chr(39), 'i1', 'True'])}] = {self.pick([self.int_leaf(), self.new(), self.float_leaf()])}",
            f"i1 = ({d0}['i'] + len({d0}) + (1 if {d0} else 2)) % {self.random.randrange(3, 999)}",
            f"i1 = ({d0}['i'] + {d0}['p'].a) % 1000", f"{name} = {d0}['p']", f"x0 = {d0}['x'] * 0.5", f"i1 = {d0}['missing']",
            f"{name} = Pair({d0}['i'], {d0}['x'])", f"{d0}['p'].a = {self.int_leaf()}", f"l2 = [{d0}, {name}]\ni1 += l2[0]['i'] % 1000",
            f"i1 += ('x' in {d0}) + ({d0} is held) + isinstance({d0}, (dict)) + {d0}.get('i', 3) % 10",
            f"if {self.condition()}: held = {d0}", f"if {self.condition()}: {new}", f"objects[{loop} % 4] = {d0}['p']",
            f"if {self.condition()}: {d0}.{self.pick(['pop(3, 0)', 'clear()', 'update(i=1)', 'setdefault(3, 1)'])}",
        ]))

    def function(self) -> None:
        """A statement that makes h0, a function, or calls it."""
        name, loop = self.pick(OBJECTS), self.pick(self.loops or ["0"])
        new = self.pick([f"h0 = adder({self.int_leaf()})", f"h0 = adder({self.float_leaf()})", f"h0 = bumper({self.int_leaf()})", f"h0 = keeper({self.object_expression(1)})",
                         "h0 = lambda x: x * 2", "h0 = lambda x: (x + shared) % 1000", f"h0 = keeper(Told({self.int_leaf()}))", "h0 = twice(lambda x: x + 1, adder(3))"])
        self.put(self.pick([
            new, f"{new}\ni1 = int(h0(i1)) % 1000", f"{new}\ni1 = int(h0(i1) + h0(2)) % 1000", f"if {self.condition()}: {new}", "i1 = int(h0(i1)) % 1000",
            f"i1 = int(adder({self.int_leaf()})(i1)) % 1000", f"shared = {self.pick([self.int_expression(1) + ' % 1000', self.int_leaf(), '0.5'])}",
            f"h1 = h0\ni1 += (h0 is h1) + (h0 is held) + (1 if h0 else 2)", f"if {loop} == {self.random.randrange(2, 60)}: held = h0",
            f"x0 = called(h0, {self.int_leaf()}) * 0.5", f"l2 = [h0, i1]\ni1 = int(l2[0](l2[1])) % 1000", f"{name} = keeper({self.new()}, True)(i1)",
        ]))

    def walk(self) -> None:
        """A short loop over a tuple or list."""
        name, number = self.pick(OBJECTS), self.pick(["1", "0.5", "2**62", "None", "'w'"])
        walked = self.pick(["(1, 2, 3)", f"({self.int_leaf()}, i1)", f"[i1, {self.int_leaf()}, 3]", f"(1, i1 if {self.condition()} else {number})", "l0", "t0",
                            f"[{name}, {self.new()}]", f"({name}, Told({self.int_leaf()}))", "objects", "[(1, 2), (3, i1)]", "((1, 0.5), (i1, 2))"])
        held = self.pick(["held", "w0"])
        self.put(f"l3 = {walked}\nfor {held} in {self.pick([walked, 'l3', 'l3'])}:")
        self.indent += 1
        self.put(self.pick([f"if isinstance({held}, int): i1 = (i1 + {held}) % 1000", f"{name} = {held}.kept()\ni1 = (i1 + {name}.a) % 1000",
                            f"if {self.condition()}: {self.pick(['break', 'continue', 'l3 = None', 'held = l3'])}\ni1 += 1", f"i1 = (i1 + 12 // {held}) % 1000",
                            f"i1 += {held} is {name}\nif len(l3) < 5 and isinstance(l3, list): l3.append({held})", f"i1 += {held}[0] % 100",
                            f"for w1 in ({held}, i1): i1 += w1 is {held}"]))
        self.indent -= 1

    def waiting(self) -> None:
        """A statement with q0 and q1: None, a number, or an instance, and which of them is chosen on the way."""
        name, q, other = self.pick(OBJECTS), *self.random.sample(["q0", "q1"], 2)
        loop, new = self.pick(self.loops or ["0"]), self.pick([self.new(), self.new(), f"Told({self.int_leaf()})"])
        else_ = self.pick(["None", "None", "None", self.int_leaf(), self.float_leaf(), name, other, self.new(), "'text'"])
        self.put(self.pick([
            f"{q} = {new} if {self.condition()} else {else_}", f"{q} = {new} if {self.condition()} else {else_}", f"if {self.condition()}: {q} = {new}",
            f"if {self.condition()}: {q} = {name}", f"if {self.condition()}: {q} = {else_}", f"{q} = {name} if {self.condition()} else {self.pick(OBJECTS)}",
            f"if {q} is None or isinstance({q}, Pair) and {name}.a > {q}.a: {q} = {name}", f"if {q} is None: {q} = {new}", f"{q} = None",
            f"if {q} is not None: i1 += 1", f"if isinstance({q}, Pair): i1 = (i1 + {q}.a) % 1000", f"if {q}: i1 += 1", f"i1 = (i1 + {q}.a) % 1000",
            f"i1 += ({q} is {name}) + ({q} is {other}) + ({q} == {self.pick(['None', '3', name])})", f"if isinstance({q}, int): i1 = (i1 + {q}) % 1000",
            f"if isinstance({q}, Pair): {q}.{self.pick(['a = i1', 'b *= 0.5', 'extra = 3', 'changed(i1)'])}", f"if {self.condition()}: held = {q}",
            f"if {self.condition()}: {q}, {other} = {other}, {q}", f"{q} = {q}.moved(1, 0.5) if isinstance({q}, Pair) else {new}", f"objects[{loop} % 4] = {q} if isinstance({q}, Pair) else {name}",
            f"if {self.condition()}:\n    del {q}\n    {q} = {else_}", f"if isinstance({q}, Pair): {name} = {q}.larger({name})",
        ]))

    def body(self) -> None:
        """What an object has is replaced by a new instance: perhaps the old one dies of that, and was told from others."""
        name, loop = self.pick(OBJECTS), self.pick(self.loops or ["0"])
        at = self.pick(["bodies[0].other", f"bodies[{loop} % 2].other", "body.other", f"objects[{loop} % 4]", "objects[-1]"])
        new = self.pick([f"{at}.moved({self.int_leaf()}, {self.float_leaf()})", f"{at} + {self.object_expression(1)}", self.new(), self.new()])
        self.put(self.pick([
            f"{at} = {new}", f"{at} = {new}", f"{name} = {at} = {new}", f"{name} = {new}\n{at} = {name}", f"{name} = {at}\n{at} = {new}",
            f"address = id({at})\n{at} = {new}\ni1 = int(address == id({at}))", f"{at} = Told({self.int_leaf()})\n{at} = {self.new()}",
            f"{at} = Nest({self.new()}, {name})\n{at} = {self.new()}", f"body = bodies[{loop} % 2]\nbody.other = {self.new()}", f"{at}.other = {at}\n{at} = {self.new()}",
        ]))
        self.line(f"i1 = (i1 + {at}.a) % 1000")

    def surprise(self) -> None:
        if self.chance(40):
            super().surprise()
            return
        loop, name = self.pick(self.loops), self.pick(OBJECTS)
        self.line(f"if {loop} == {self.random.randrange(2, 60)} and i2 != -77:")
        text = self.pick(CHANGES + [f"{name}.a = 0.5", f"{name}.b = {self.pick(['1', 'None'])}", f"del {name}.b", f"{name}.a = 2**62",
                                    f"{name} = None", f"print({name}.show())", f"{name}.__class__ = Pair"] * 2)
        self.line(f"    {text}")

    def text(self, seed: int) -> str:
        choices = {
            "moved": self.pick(["Pair", "Point"]),
            "added": self.pick(["Pair", "Pair", "Holder"]),
            "default": self.pick(["", "=0.5", ", c=3"]),
            "scaled": self.pick(["", " * 2.0", " + a"]),
            "checked": self.pick(["a", "a if a > 3 else 3", "a + 1", "limited(a)", "limited(a + limited(a - 1))"]),
            "declines": self.pick(["True", "self.a > 3", "k != 0.5"]),
            "third": self.pick(["1", "None", "self.a", "a + 1", "a // 3", "10 // a", "'s'"]),
            "sign": self.pick(["", "-"]),
            "super": self.pick(["Pair.__init__(self, a, b)", "super().__init__(a, b)", "self.a, self.b = a, b"]),
            "other": self.pick(["None", "[]", "self", "Pair(a, b)"]),
            "setter": self.pick(["object", "object", "Pair"]),
            "fixed": self.pick(["raise AttributeError(name)", "object.__setattr__(self, name, value)", "object.__setattr__(self, name, 1 if name == 'a' else value)"]),
            "half": self.pick(["return self.b * 0.5", "return self.b / (self.a - 7)", "x = self.b\n        return x if self.a > 3 else -x"]),
            "twin": self.pick(["Pair(self.b, self.a)", "self", "Pair(self.a % 100, self.half)"]),
            "truth": self.pick(["", "", f"\n    def __bool__(self):\n        return {self.pick(TRUTHS)}\n"]),
            "side": self.pick(["self.left", "self.right", "Pair(self.left.a, 1.5)"]),
            "asked": self.pick(["", f"\n    def __bool__(self):\n        return {self.pick(TRUTHS).replace('self.', 'self.left.')}\n"]),
            "late": self.pick(["", "\n        look(self)", "\n        self.a += 1"]),
        }
        choices["first"] = self.pick(["", "", "if right is left: right = Pair(3, 1.5)\n        ", "left = right if isinstance(left, Nest) else left\n        ",
                                     "if left.a > right.a: self.left = right\n        else: "])
        choices |= {
            "made_default": self.pick(["", "", "=1.5"]),
            "made_first": self.pick(["", "", "", "if a == 7: return None\n        ", "if a == 8: return Pair(a, b)\n        ", "10 // (a - 7)\n        "]),
            "maker": self.pick(["super().__new__(cls)", "object.__new__(cls)", "super(Made, cls).__new__(cls)"]),
            "made": self.pick(["self", "self", "self", "self if a != 9 else 3", "look(self) and self"]),
            "factory": self.pick(["return cls(a, b)", "self = cls.__new__(cls, a, b)\n        self.b = b * 2\n        return self", "return Made(b=b, a=a)"]),
            "wide": self.pick(["setattr(self, 'a', value)", "self.changed(value)", "None"]),
            "cast": self.pick(["cls", "cls", "cls", "Made"]),
            "cast_last": self.pick(["self.c = a", "self.a += 1", "pass"]),
            "slots": self.pick(["", "    __slots__ = ()\n"]),
            "row": self.pick(["Row", "Row", "Cell", "type(self)"]),
            "row_maker": self.pick(["super().__new__(cls, a, b)", "super().__new__(cls, b=b, a=a)", "Row.__new__(cls, a)", "tuple.__new__(cls, (a, b))", "super().__new__(Row, a, b)"]),
        }
        choices["broken"] = self.pick(["", "", "\n        left.a // (left.a - 7)", "\n        self.right = 10 // left.a"])
        program = super().text(seed)
        more = (CLASSES % choices).strip("\n").split("\n")
        more += ["", "", "import collections", "import gc"] + (NESTED % choices).strip("\n").split("\n")
        more += ["", "", "def other_init(self, a=1, b=1.0):", "    self.b = b", "    self.a = a"]
        more += ["", "", "def other_new(cls, a=1, b=1.0):", "    self = object.__new__(cls)", "    self.b = b", "    self.a = a", "    return self"]
        more += ["", "", "def look(p):", "    return p.a"]
        more += ["", "", "def called(f, x):", "    return f(x)"]
        more += ["", "", "def adder(k):", "    return lambda x: x % 1000 + k"]
        more += ["", "", "def bumper(n):", "    def bump(by):", "        nonlocal n", "        n = (n + by) % 1000", "        return n", "    return bump"]
        more += ["", "", "def keeper(p, whole=False):", "    def keep(x):", f"        return p if whole else p.a % 1000 + {self.pick(['x', 'x', '10 // x'])}", "    return keep"]
        more += ["", "", "def twice(f, g):", "    return lambda x: f(g(x))"]
        more += ["", "", "def put(l, x):", "    l[0] = x % 100", "    return l[0] + len(l)"]
        more += ["", "", "def limited(a):", "    if a > 500:", "        return 500", "    return a"]
        lines = program.split("\n")
        begin = lines.index("def later(x):")
        run = lines.index("def run(i0, x0):")
        end = next(i for i in range(run, len(lines)) if lines[i].startswith("    print(i0, i1, i2, x0"))
        names = ["    global Pair, Point, Nest", "    p0 = p1 = Pair(1, 0.5)", "    p2 = Point(2, 1.5)", "    objects = [p0, p1, p2, Pair(3, 2.5)]", "    held = None",
                 "    body, *bodies = [Holder(i, 0.5) for i in range(3)]", "    for b in [body, *bodies]: b.other = Pair(3, 0.5)",
                 "    f0 = f1 = p0.total", "    t1 = (p0.count, 1)", "    n0 = Nest(p0, p1)", "    n1 = Nest(p2, p2)", "    t0 = (p0, 1, (0.5, p1))", "    l0 = l1 = l2 = [1, 0.5, p0, [p1]]", "    d0 = d2 = {'i': 1, 'x': 0.5, 'p': p0}", "    h0 = h1 = adder(1)", "    shared = 1", "    q0 = q1 = None", "    keys, held_keys = {(1, 2), (0, 1.0), ('a', 3), (2, 1, 1)}, {(1, 1): 5, (2, 'a'): 3}",
                 "    r0 = Row(1, 0.5)", "    r1 = Row(p0, r0)"]
        shown = ["    print(f0.__self__.show(), f0.__name__, f1.__name__, t1[1])", "    print(p0.show(), p1.show(), p2.show(), [p.show() for p in objects], [p0 is p1, p1 is p2, objects[0] is p0], n0.show(), n1.show(), deaths[-9:])", "    print([b.other.show() for b in [body, *bodies]])", "    print(t0[0].show(), t0[1], t0[2][1].show())", "    print(len(l0), len(l1), *[x for x in l0 if isinstance(x, (int, float))], l0[2].show(), l0 is l1)", "    print([(k, v) for k, v in d0.items() if isinstance(v, (int, float))], len(d2), h0.__name__, h0 is h1, shared)",
                 "    print([q.show() if isinstance(q, Pair) else q for q in (q0, q1)], q0 is q1, q0 is p0, q1 is p1, len(keys), len(held_keys), sum(held_keys.values()))",
                 "    print(r0.a, r0.b, r0[0], len(r0), type(r0).__name__, type(r1).__name__, type(r1.a).__name__, deaths[-5:])"]
        lines[end:end] = shown
        lines[run + 2 : run + 2] = names
        lines[begin:begin] = more + ["", ""]
        return "\n".join(lines).replace("LookupError) as e", "LookupError, AttributeError) as e") + "\n"


def generate(seed: int) -> str:
    return Instances(seed).text(seed)
