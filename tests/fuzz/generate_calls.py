"""Makes random dl programs whose hot loops call: by keywords and plans, with `*args` and `**kwargs`, through `super()`,
`__call__`, `__init__` and context managers; and that use what has derivatives of its own lately: tuples and objects as
keys, comprehensions and generators over what changes, stores to slices, classes derived from built-in types.

As in generate_sites, what such a site depends on changes at one turn of one loop: a method or a base's method is
replaced or deleted, an object gets another class, arguments become another kind of sequence or mapping, a function is
bound again with other parameters.
"""

from generate_sites import Sites

PRELUDE = '''
class Base:
    k = 1

    def __init__(self, n=0, *, by=1):
        self.n, self.by = n, by

    def step(self, x=1, *, to=None):
        return (x, to)

    def total(self, *xs, **keys):
        return len(xs) + len(keys)

    def __call__(self, x=0, *more, by=2):
        return (x, len(more), by)

    def __enter__(self):
        self.by += 1
        return self

    def __exit__(self, kind, error, trace):
        return kind is ValueError

    @classmethod
    def make(cls, n=1, **keys):
        return cls(n, **keys)

    def __repr__(self):
        return f"{type(self).__name__}({self.n!r})"


class Child(Base):
    def __init__(self, n=0, by=1):
        super().__init__(n, by=by)
        self.extra = n

    def step(self, x=1, *, to=None):
        return super().step(x, to=to)

    def total(self, *xs, **keys):
        return super().total(*xs, **keys) + 1

    def __call__(self, *more, **keys):
        return super().__call__(*more, **keys)


class Grand(Child):
    def __init__(self, *a, **keys):
        super().__init__(*a, **keys)

    def step(self, x=1, to=None):
        return super(Grand, self).step(x)

    def __enter__(self):
        return super().__enter__()


class Mixin:
    def step(self, x=1, **keys):
        return ["mixed", super().step(x, **keys)]


class Both(Mixin, Grand):
    def total(self, *xs):
        return super().total(1, 2)


class Bare:
    def __repr__(self):
        return "Bare"


class Error(Exception):
    def __init__(self, what, code=1):
        super().__init__(what)
        self.code = code


class Late(Error):
    pass


class Told(ValueError):
    pass


class Key:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return isinstance(other, Key) and self.v == other.v

    def __hash__(self):
        return hash(self.v)

    def __lt__(self, other):
        return self.v < other.v

    def __neg__(self):
        return Key(-self.v)

    def __repr__(self):
        return f"Key({self.v!r})"


class Rows(list):
    pass


class Table(dict):
    def keys(self):
        return super().keys()


class Missing(dict):
    def __missing__(self, key):
        return 3


class Word(str):
    pass


class Number(int):
    pass


class Pair(tuple):
    pass


class Kind(type):
    level = 1

    def kin(cls, x):
        return (cls.__name__, x)

    def __repr__(cls):
        return f"<{cls.__name__}>"


class Made(metaclass=Kind):
    x = 1

    def __init__(self, v=0):
        self.v = v

    @classmethod
    def of(cls, v):
        return cls.x, v

    @staticmethod
    def plain(v):
        return v

    def __repr__(self):
        return f"Made({self.v!r})"


class Under(Made):
    pass


def plan(a, b=2, *, c=3, d=4):
    return (a, b, c, d)


def spread(*a, **keys):
    return (a, sorted(keys))


def mixed(a, /, b=5, *rest, key=None, **others):
    return (a, b, rest, key, sorted(others))


def walk(items):
    for item in items:
        yield item


def passed(*a, **keys):
    return mixed(*a, **keys)


def show(x):
    text = "an address" if " at 0x" in repr(x) else repr(x)
    print(text if len(text) < 300 else text[:300])
'''
LOCALS = {"n": "1", "m": "2", "x": "0.5", "o": "Base(1)", "r": "Child(2)", "args": "(1, 2)", "keys": "{'c': 5}", "l": "[1, 2, 3]", "q": "[3, 1, 2]", "p": "[(1, 2), (3, 4)]",
          "d": "{(0, 1): 1, (1, 0): 2, 'k': 3}", "u": "{(0, 1), (1, 1)}", "t": "(1, 2)", "s": "'abc'", "w": "Word('abc')", "z": "Rows([1, 2, 3])", "v": "Number(3)", "y": "Missing({1: 2})",
          "a": "Key(1)", "f": "lambda a=1, **k: (a, len(k))", "e": "None", "mv": "memoryview(bytearray(range(8)))"}
ATOMS = ["n", "m", "i", "3", "len(args)", "o.n", "o.by", "len(z)", "v", "y[i]", "d['k']", "l[i % 3]", "q[0]", "t[0]", "z[i % 3]", "sum(a for a in l)", "o.total(i)", "len(s)", "(i, 1) in u"]
USES = [
    "e = plan(i)", "e = plan(i, c=n)", "e = plan(a=i, b=m)", "e = plan(b=i, a=n)", "e = plan(i, d=1, c=2)", "e = plan(i, 1, d=n)", "e = plan(n)[i % 4]", "e = plan(*args)", "e = plan(*t, **keys)", "e = plan(i, **keys)",
    "e = spread()", "e = spread(i)", "e = spread(i, n, m)", "e = spread(*args)", "e = spread(*args, i)", "e = spread(i, *args, *t)", "e = spread(**keys)", "e = spread(i, *l, k=1, **keys)", "e = spread(*z)", "e = spread(*(j for j in t))",
    "e = spread(*[j for j in l])", "e = mixed(i)", "e = mixed(i, n, m)", "e = mixed(i, key=n)", "e = mixed(i, b=2)", "e = mixed(i, a=2)", "e = mixed(*args, key=1)", "e = passed(i, key=2, z=3)", "e = passed(*args, **keys)", "e = f()", "e = f(i)",
    "e = f(a=i)", "e = f(i, k=2)", "e = o.step()", "e = o.step(i)", "e = o.step(x=i)", "e = o.step(i, to=n)", "e = r.step(i)", "e = r.step(i, to=m)", "e = r.step(to=i)", "n += o.total(i, i)", "n += r.total(*args)", "n += r.total(i, k=1)",
    "n += o.total(**keys)", "e = Base.step(o, i)", "e = Child.step(r)", "e = o(i)", "e = o()", "e = o(i, 1, by=n)", "e = r(i, by=i)", "e = o(*args)", "put = o; e = put(i)", "e = [o(j) for j in l]", "e = list(map(o, l))", "e = sorted(q, key=o)",
    "o = Base(i)", "o = Base()", "o = Base(n=i)", "o = Base(i, by=2)", "r = Child(i)", "r = Child(i, by=n)", "r = Grand(i)", "r = Both(i)", "o = Base.make(i)", "r = Child.make(by=i)", "o = Bare(); o = Base(i)", "e = Bare()", "a = Key(i % 3)", "a = -a",
    "with o: n += 1", "with o as e: m += e.by", "with r: raise ValueError(i)", "with o:\n    with r as e: n += e.n", "with o, r: n += 1", "for j in l:\n    with o:\n        if j == 2: break",
    "try: raise Error('w')\nexcept Error as c: n += c.code", "try: raise Error('w', code=i)\nexcept Error as c: e = c.code, str(c)", "try: raise Late(i)\nexcept Error as c: e = c.args", "try: raise Told(i)\nexcept ValueError as c: e = repr(c)",
    "try: e = d[i, i]\nexcept KeyError as c: e = c.args", "try: raise Late\nexcept TypeError as c: e = str(c)\nexcept Error as c: n = c.code", "e = Error('x', 2).code", "e = Late(i).args", "e = Told(i, n).args",
    "d[i & 3, 1] = n", "n += d.get((i & 1, 1), 4)", "d[i & 1, i & 1] = i", "n += d[0, 1]", "e = (i & 1, 1) in d", "e = (i & 1, 1) in u", "u.add((i & 3, 1))", "u.add(t)", "u.discard((i & 1, 0))", "d[t] = i", "e = d.get(t)", "d[a] = i", "n += d.get(a, 1)",
    "e = a in d", "d[t, 1] = n", "d[w] = i", "n += d.get(w, 2)", "d[0.5, i & 1] = 1", "d['a', i & 1] = 2", "e = d.pop((i & 1, 1), None)", "n = d.setdefault((i & 3, 2), 1)", "d[i & 1, 0] += 1", "e = {(j, 1): j for j in l}", "e = {(j & 1, n & 1) for j in l}",
    "e = [j * 2 for j in l]", "e = [j for j in z if j]", "e = {j: i for j in t}", "e = sum(j for j in l)", "e = all(j < 9 for j in l)", "e = any(j == i for j in t)", "e = [j + k for j, k in p]", "e = [j + k for j, k in zip(l, t)]", "e = max(j for j in walk(l))",
    "e = [(j, k) for j in t for k in l if j != k]", "e = ''.join(c for c in s)", "e = tuple(j for j in walk(args))", "e = [o.n for j in t]", "e = [j.n for j in (o, r)]", "e = [y[j] for j in l]", "e = min((j, i) for j in q)", "e = [*walk(l), *args]",
    "l[0:1] = [i]", "l[1:] = t", "l[:0] = args", "l[::2] = l[::2]", "l[-1:] = [n, m]", "z[0:1] = [i]", "del l[1:2]", "del z[:1]", "l[i % 3:] = (1, 2, 3)", "e = l[1:], z[:1], s[::-1]", "e = t[:1] + t[1:]", "l += t", "q[:] = sorted(q)", "q[1:2] = walk(t)",
    "z.append(i)", "n += z[0]", "z[0] = i", "e = len(z), i in z", "e = z + l", "e = z == l", "for j in z: n += j", "e = y[i & 1]", "y[i & 1] = n", "e = i in y", "e = y.get(5)", "n += v + i", "v = Number(i)", "e = l[v % 3]", "e = v == i", "e = v < i",
    "e = w + s", "e = w == s", "e = w[0]", "e = w in ('abc', 'b')", "e = f'{w}{v}'", "e = w.upper()", "e = Pair(t) == t", "e = Pair((i, 1)) in d", "e = hash(Pair((1, 2))) == hash((1, 2))", "n = v if v else 1", "if z: n += 1", "if not y: n = 0",
    "z.tag = i", "z = Rows(t); z.tag = i; z.more = n", "y = Missing(); y.tag = i; y.tag += 1; e = y.tag", "e = Late(i); e.note = n; e = e.note, e.code", "try: raise Late(i)\nexcept Error as c: c.args = c.note = t; e = c.args, c.__dict__",
    "list.append(z, i)", "e = dict.get(y, i), dict.get(d, t)", "n += list.__len__(z)", "dict.__setitem__(y, i & 3, n)", "e = list.__getitem__(z, i & 1)", "e = str.upper(w), str.upper(s)", "Exception.__init__(Late(1), i)", "while z: n += z.pop()", "if v: n += 1",
    "e = mixed(i, key=n, zz=m)", "e = mixed(i, yy=1, zz=2)", "e = spread(a=i, k=n)", "e = f(i, a1=2, k=n)", "e = mixed(a=1, b=i)", "o = Base(i, zz=1)",
    "e = mv[i & 7]", "mv[i & 7] = i & 255", "n += mv[1]", "e = mv[1:i & 7].tolist()", "e = bytes(mv[::2])", "e = 3 in mv", "for j in mv: n += j", "mv[0:2] = b'ab'", "e = mv == bytes(mv)", "e = mv.cast('h')[i & 3]", "e = len(mv[::-1])", "mv[1:3] = mv[4:6]",
    "n += Made.x", "e = Under.x", "n += Made(i).v", "e = Under(i)", "e = Made.of(i)", "e = Under.of(i)", "e = Made.plain(i)", "e = Made.kin(i)", "e = Made.level, Under.level", "Made.x = i & 7", "e = Made == Under, Made != Under",
    "if Made: n += 1", "e = isinstance(o, Made), isinstance(i, Under)", "e = Made + i", "e = i + Made", "e = Made[i & 1]", "e = len(Made)", "e = {Made: i, Under: n}[Made]", "for j in Made: n += 1", "e = f'{Made} {Under!r}'", "e = Made.__name__",
    "e = i < n < m", "x = x * 0.5 + i", "n = n * 69069 % 65537", "n = i - 1 if i else n", "e = t + (i,)", "e = (i, n) < (m, 1)", "e = (i & 1, 2) == t", "t = i & 3, 1", "p = [(i, 1), t]", "args = i, n", "args = [n]", "keys = {'c': i}", "keys = dict(c=i, d=n)", "q.append(i)",
]
CHANGES = [
    "Base.step = lambda self, x=1, *, to=None: ('changed', x, to)", "Base.step = lambda self, *a, **k: len(a)", "del Base.step", "Child.step = Base.step", "del Child.step", "Grand.step = lambda self, x=1, **k: super(Grand, self).step(x)", "del Mixin.step",
    "Base.total = lambda self, *xs: xs", "Child.total = lambda self, **keys: 5", "Base.__init__ = lambda self, n=0, *, by=1: setattr(self, 'n', 7)", "Base.__init__ = lambda self, *a, **k: self.__dict__.update(n=len(a), by=len(k))", "Child.__init__ = Base.__init__",
    "del Child.__init__", "Base.__new__ = lambda cls, *a, **k: object.__new__(cls)", "Child.__new__ = lambda cls, *a, **k: 5", "Base.__call__ = lambda self, *a, **k: ('called', len(a), len(k))", "del Base.__call__", "Child.__call__ = 5", "Base.__call__ = spread",
    "Base.__enter__ = lambda self: self", "Base.__exit__ = lambda self, *a: True", "Base.__exit__ = lambda self, kind, error, trace: None", "del Base.__exit__", "del Grand.__enter__", "Child.__enter__ = lambda self: 1 / 0", "o.__exit__ = lambda *a: True",
    "Error.__init__ = lambda self, *a, code=9: setattr(self, 'code', code)", "del Error.__init__", "Late.__init__ = lambda self, *a: None", "Late.__str__ = lambda self: 'late'", "Error.code = 3", "Told.__init__ = lambda self, *a: None", "Told.__new__ = lambda cls, *a: ValueError.__new__(cls, 4)",
    "mv.release()", "mv = memoryview(b'abcdefgh')", "mv = mv.cast('h')", "mv = mv.cast('B', (2, 4))", "mv = mv[::-1]", "mv = [1, 2, 3]", "mv = mv.toreadonly()",
    "Kind.x = property(lambda cls: 5, lambda cls, v: None)", "Kind.__call__ = lambda cls, *a: super(Kind, cls).__call__(7)", "Kind.__getattribute__ = lambda cls, name: 3 if name == 'x' else type.__getattribute__(cls, name)", "Kind.__bool__ = lambda cls: False",
    "Kind.__eq__ = lambda cls, other: True", "Kind.__hash__ = lambda cls: 1", "Kind.__instancecheck__ = lambda cls, v: True", "Kind.__add__ = lambda cls, other: other", "Kind.__radd__ = lambda cls, other: other", "Kind.__getitem__ = lambda cls, key: key",
    "Kind.__len__ = lambda cls: 0", "Kind.__iter__ = lambda cls: iter((1, 2))", "Kind.__setattr__ = lambda cls, name, value: None", "Kind.of = property(lambda cls: len)", "Kind.plain = property(lambda cls: spread)", "del Kind.kin", "Kind.level = 2",
    "Kind.kin = 3", "Made.x = property(lambda self: 1)", "Made.of = Made.plain", "Kind.__format__ = lambda cls, spec: 'formatted'", "Kind.__getattr__ = lambda cls, name: name", "Kind.__name__ = property(lambda cls: 'n')",
    "Key.__hash__ = lambda self: 1", "Key.__eq__ = lambda self, other: True", "Key.__hash__ = None", "Key.__eq__ = lambda self, other: 1 / 0", "Key.__neg__ = lambda self: 3", "del Key.__neg__", "Key.__init__ = lambda self, v: setattr(self, 'v', (v, v))",
    "o = Child(3)", "o = Both(1)", "o = Grand(2)", "o = spread", "o = None", "o = len", "o = Bare()", "r = Base(1)", "r = Mixin()", "r = Both(4)", "o.__class__ = Child", "r.__class__ = Both", "o.step = lambda *a, **k: 'own'", "r.total = None", "o.n = None", "o.n = 2.5",
    "args = [1, 2, 3]", "args = ()", "args = (1,)", "args = 'ab'", "args = {'a': 1}", "args = range(2)", "args = Rows([4])", "args = Pair((1, 2))", "args = walk((1, 2))", "args = None", "args = 5", "args = (1, 2, 3, 4, 5, 6)", "args = {7}", "t = (1,)", "t = [1, 2]", "t = (0.5, 'x')",
    "t = (1, [2])", "t = Pair((1, 2))", "t = ((1, 2), 3)", "t = (2**70, -1)", "t = ()", "keys = {}", "keys = {'d': 1}", "keys = {'e': 1}", "keys = {'a': 1}", "keys = {1: 2}", "keys = Table(c=1)", "keys = Missing(c=7)", "keys = None", "keys = [('c', 1)]", "keys = {'key': 1, 'c': 2, 'd': 3}",
    "l = [1.5, 2.5]", "l = (1, 2, 3)", "l = ['a', 'b', 'c']", "l = []", "l = Rows([3, 2, 1])", "l = range(4)", "l = {5, 6}", "l = [None, 1]", "l = [2**62, 2**63]", "l[0] = 2**47", "l[0] = None", "q = [1.5, 'x']", "p = [(1, 2, 3)]", "p = [[1, 2]]", "p = ['ab', 'cd']",
    "p = []", "d = {}", "d = Missing()", "d = Table()", "d[0, 1] = 'x'", "d.clear()", "d = {(0.0, 1.0): 5}", "d = {Pair((0, 1)): 6}", "u = {1, 2}", "u = frozenset(u)", "u = set()", "u = [(0, 1)]", "s = b'abc'", "s = ''", "s = 'é日😀'", "s = w", "w = 'abc'", "w = Word('')", "w = 3",
    "Word.__eq__ = lambda self, other: True", "Word.__hash__ = lambda self: 5", "Word.__add__ = lambda self, other: 'added'", "Word.__getitem__ = lambda self, k: 'got'", "Word.upper = lambda self: 'own'", "Rows.__len__ = lambda self: 9", "Rows.__getitem__ = lambda self, k: k",
    "Rows.__setitem__ = lambda self, k, v: None", "Rows.__iter__ = lambda self: iter((7, 8))", "Rows.append = lambda self, x: None", "Rows.__contains__ = lambda self, x: True", "Rows.__add__ = lambda self, other: 'sum'", "Rows.__eq__ = lambda self, other: NotImplemented", "Rows.__bool__ = lambda self: False",
    "Rows.__delitem__ = lambda self, k: None", "Missing.__missing__ = lambda self, key: key", "del Missing.__missing__", "Missing.__getitem__ = lambda self, k: 'item'", "Missing.__contains__ = lambda self, k: True", "Missing.get = lambda self, k, d=0: 'get'", "Number.__add__ = lambda self, o: 'n'",
    "Number.__index__ = lambda self: 2", "Number.__eq__ = lambda self, o: True", "Number.__lt__ = lambda self, o: 'less'", "Number.__bool__ = lambda self: False", "Number.__rmod__ = lambda self, o: 0", "Pair.__eq__ = lambda self, o: True", "Pair.__hash__ = lambda self: 3", "Pair.__iter__ = lambda self: iter((5,))",
    "Rows.tag = property(lambda self: 1, lambda self, v: None)", "Rows.__setattr__ = lambda self, name, v: None", "del z.tag", "z.other = i", "Late.note = property(lambda self: 2)", "Error.__setattr__ = lambda self, name, v: None", "Rows.pop = lambda self: 1", "Late.__slots__ = ()",
    "z = [1, 2, 3]", "z = Rows()", "z = (4, 5, 6)", "z = 'xyz'", "v = 3", "v = 2.5", "v = Number(2**50)", "v = True", "y = {}", "y = [1, 2, 3, 4]", "y = Table({0: 1})", "f = plan", "f = spread", "f = lambda: 1", "f = Base", "f = o.step", "f = lambda *, a=1, k=2: (a, k)", "f = len", "f = None",
    "n = 2**70", "n = 1.5", "n = 'x'", "n = None", "m = 0.25", "m = 2**62", "i = 0.5", "a = Key('k')", "a = 1", "a = (1, 2)", "a = None", "del n", "del o", "del r", "del args", "del keys", "del t", "del l", "del d", "del f", "del a", "del i",
]
REBOUND = {"plan": "lambda a, b=9, *, c=8, d=7: ('new', a, b, c, d)", "spread": "lambda *a: a", "mixed": "plan", "passed": "lambda *a, **k: spread(*a, **k)", "walk": "list", "len": "lambda v: 77", "sum": "list", "all": "any", "sorted": "list", "map": "zip", "Base": "Child", "Error": "ValueError", "Number": "float"}


class Calls(Sites):
    prelude, hidden, locals, atoms, uses, changes = PRELUDE, REBOUND, LOCALS, ATOMS, USES, CHANGES


def generate(seed: int) -> str:
    return Calls(seed).text(seed)
