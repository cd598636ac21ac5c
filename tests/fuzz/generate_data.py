"""Makes random dl programs about data: what the other makers on top of generate_language lack.

Subclasses of built-in types whose special methods are overridden, some of which raise at their n-th call wherever that
happens to be (in a comparison of a sort, in the probing of a dict); views, slices, bytes, format specs, ints of any
size; scopes (comprehensions in classes, nonlocal, global, lambdas); the order in which parts are evaluated;
recursion to its limit; locals deleted in hot loops; generators that are thrown into while they are in `with` and `try`.
"""

import ast

from generate_language import Language

OWN_PRELUDE = '''
import collections

budget = 0


class Tripped(Exception):
    pass


def arm(n):
    """From now on the n-th trip raises."""
    global budget
    budget = n


def trip(result):
    global budget
    budget -= 1
    if budget == 0:
        raise Tripped(repr(result)[:20])
    return result


def told(x):
    print("told", x)
    return x


class Keep:
    """Shows what is stored where, and in which order."""

    def __init__(self):
        object.__setattr__(self, "items", {})

    def __getattr__(self, name):
        print("get", name)
        return self.items.get(name, 1)

    def __setattr__(self, name, value):
        print("set", name, value)
        self.items[name] = value

    def __getitem__(self, key):
        print("get item", key)
        return self.items.get(str(key), 2)

    def __setitem__(self, key, value):
        print("set item", key, value)
        self.items[str(key)] = value

    def __delitem__(self, key):
        print("delete item", key)
        del self.items[str(key)]

    def __call__(self, *args, **keys):
        print("call", args, keys)
        return self

    def __repr__(self):
        return "a keep"


class Key:
    """Hashes collide; equality may raise."""

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return trip(self.n % 3)

    def __eq__(self, other):
        return trip(isinstance(other, Key) and self.n == other.n)

    def __lt__(self, other):
        return trip(self.n < other.n)

    def __repr__(self):
        return f"Key({self.n})"


class Falsy:
    def __init__(self, result):
        self.result = result

    def __bool__(self):
        return trip(self.result)

    def __len__(self):
        return trip(3)

    def __iter__(self):
        return trip(iter([1, self.result]))

    def __repr__(self):
        return "Falsy()"


class Steps:
    """An iterator of its own that may raise."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return trip(self.n)


def depth(n, f=None):
    return depth(n + 1) if f is None else f(n + 1)


def deep(make):
    """How deep a recursion goes until it fails."""
    reached = 0

    def step(n):
        nonlocal reached
        reached = n
        return make(step, n + 1)

    try:
        step(0)
    except RecursionError as e:
        print("RecursionError", reached > 900)
    except Exception as e:
        print(type(e).__name__, e, reached)


def walk(tree):
    """A generator with a with and a try in it."""
    try:
        with Manager("walk", False):
            for item in tree:
                got = yield item
                if got:
                    print("got", got)
                    yield from walk(got) if isinstance(got, (list, tuple)) else [got]
    except ValueError as e:
        yield ("caught", str(e))
    except KeyError:
        return "key"
    finally:
        print("walked")
    return "end"


def drive(g, *steps):
    for name, value in steps:
        try:
            show(getattr(g, name)(*value))
        except StopIteration as e:
            print("stop", e.value)
        except Exception as e:
            print(type(e).__name__, e)
    g.close()
'''
BASES = {"int": ["7", "0", "(-3)", "2**65"], "float": ["1.5", "(-0.0)", "float('inf')"], "str": ["'ab'", "''", "'é x'"], "list": ["[1, 2]", "[]", "[0, 'a', None]"],
         "tuple": ["(1, 2)", "()"], "dict": ["{'a': 1}", "{1: 2, 3: 4}"], "set": ["{1, 2}", "{'a'}"], "bytes": ["b'ab'", "b''"],
         "bytearray": ["bytearray(b'xy')"], "frozenset": ["frozenset('ab')"]}
# Special methods that a subclass overrides; SELF is its name.
OVERRIDDEN = {
    "__eq__(self, other)": ["return trip(True)", "return NotImplemented", "return trip(isinstance(other, SELF))"],
    "__hash__(self)": ["return trip(5)", "return -1", "return 2**61"],
    "__len__(self)": ["return trip(2)", "return -1", "return 'x'"],
    "__bool__(self)": ["return trip(False)", "return 1", "return True"],
    "__iter__(self)": ["return trip(iter([3, 4]))", "yield trip(9)", "return Steps(3)"],
    "__contains__(self, x)": ["return trip(x == 1)", "return []"],
    "__getitem__(self, i)": ["return trip(('item', i))", "if i == 2: raise IndexError\nreturn i"],
    "__setitem__(self, i, value)": ["print('store', i, value)"],
    "__delitem__(self, i)": ["print('delete', i)"],
    "__missing__(self, key)": ["return trip(('missing', key))"],
    "__add__(self, other)": ["return trip('add')", "return NotImplemented"],
    "__radd__(self, other)": ["return trip('radd')", "return NotImplemented"],
    "__mul__(self, other)": ["return trip('mul')", "return NotImplemented"],
    "__rmul__(self, other)": ["return trip('rmul')"],
    "__sub__(self, other)": ["return trip('sub')"],
    "__mod__(self, other)": ["return trip('mod')"],
    "__iadd__(self, other)": ["print('iadd')\nreturn self", "return NotImplemented", "return 5"],
    "__or__(self, other)": ["return trip('or')", "return NotImplemented"],
    "__lt__(self, other)": ["return trip(True)", "return NotImplemented"],
    "__gt__(self, other)": ["return trip(False)", "return []"],
    "__neg__(self)": ["return trip('neg')"],
    "__invert__(self)": ["return 'invert'"],
    "__abs__(self)": ["return trip('abs')"],
    "__int__(self)": ["return trip(12)"],
    "__float__(self)": ["return trip(0.25)", "return 1"],
    "__index__(self)": ["return trip(1)", "return 'x'"],
    "__str__(self)": ["return trip('str of')", "return 5"],
    "__repr__(self)": ["return trip('repr of')"],
    "__format__(self, spec)": ["return trip('<' + spec + '>')", "return 3"],
    "__call__(self, *args)": ["return trip(len(args))"],
    "__reversed__(self)": ["return trip(iter('rev'))"],
    "__round__(self, n=None)": ["return ('round', n)"],
    "append(self, x)": ["print('append', x)"],
    "get(self, key, other=None)": ["return ('got', key)"],
    "join(self, items)": ["return 'joined'"],
    "keys(self)": ["return ['a', 1]"],
}
# What is done to an object; V is one object of a subclass, W another one (or any value).
USES = [
    "len(V)", "bool(V)", "not V", "V == W", "V != W", "V < W", "V > W", "V <= W", "V + W", "W + V", "V * 2", "2 * V", "V - W", "V % W", "V | W", "-V", "~V", "abs(V)",
    "V[0]", "V[1:]", "V['a']", "V[<slice>]", "V in [W]", "W in V", "1 in V", "[*V]", "{*V}", "list(V)", "tuple(V)", "dict(V)", "set(V)", "sorted(V, key=str)",
    "str(V)", "repr(V)", "f'{V}'", "f'{V!r:>12}'", "f'{V:<spec>}'", "'%s %r' % (V, V)", "'{:>9}'.format(V)", "format(V, '<spec>')", "'<percent>' % V",
    "int(V)", "float(V)", "range(9)[V]", "[1, 2, 3][V]", "'abc'[V]", "hash(V) == hash(V)", "{V: 1}", "{V: 1}.get(V)", "{V} & {W}", "dict.fromkeys(V)",
    "max(V, default=0)", "min(V, W)", "sum(V)", "any(V)", "all(V)", "enumerate(V).__class__.__name__", "list(zip(V, W))", "list(map(str, V))", "next(reversed(V), 0)",
    "V.__class__.__name__", "isinstance(V, (int, str, list))", "type(V + V).__name__", "type(V * 1).__name__", "type(V[:1]).__name__", "','.join(V)", "V.join(['a', 'b'])",
    "[1, 2].index(V)", "[V, W].index(W)", "[W, V].count(V)", "[V, W] == [W, V]", "(V,) < (W,)", "V == V", "V is V", "V and W", "V or W", "1 if V else 2",
    "bytes(V)", "bytearray(V)", "round(V)", "round(V, 1)", "divmod(V, 2)", "pow(V, 2)", "V ** 2", "V << 1", "V >> 1", "1 << V", "V & 3", "V ^ W",
    "V(1, 2)", "V.get('a')", "V.keys()", "list(V.items())", "V.copy()", "type(V.copy()).__name__", "V.append(1)", "V.upper()", "V.count(1)", "V.index(1)",
    "(lambda *a: a)(*V)", "(lambda **k: k)(**V)", "operator.index(V)", "math.floor(V)", "math.sqrt(V)", "functools.reduce(operator.add, V)", "list(itertools.chain(V, W))",
    "isinstance(V, type(W))", "next(iter(V))", "V.tag", "chr(V)", "hex(V)", "[0] * V", "V.real", "sorted([V, W])", "max(V, W)", "{**V}", "'a' in V", "complex(V)",
    "V.extend(W)", "V.update(W)", "V.startswith('a')", "slice(V, W).indices(4)", "[4, 5, 6][V:]", "str.join('-', V)", "list.append(V, 3)", "dict.get(V, 'a')", "int.bit_length(V)",
]
STORES = ["V += W", "V *= 2", "V[0] = W", "V['k'] = 1", "del V[0]", "V[<slice>] = W", "del V[<slice>]", "V.tag = W", "V -= 1", "V |= W", "a, b = V", "a, *b = V", "[a, b, c] = V",
          "for a in V: show(a)", "V[1] += 1", "V.tag += 1", "assert V, W", "del V.tag", "V.append(W)", "V.clear()", "print(V, W, sep='|')", "V.sort()", "V.insert(0, W)"]
KEYED = [
    "{Key(n): n for n in range(<int0> % 8)}", "{Key(1), Key(4), Key(1)}", "sorted([Key(3), Key(1), Key(2), Key(0)])", "[Key(1), Key(2)].index(Key(2))", "Key(1) in [Key(4), Key(1)]",
    "{Key(1): 1}.get(Key(4))", "{Key(1), Key(4)} & {Key(4), Key(7)}", "{Key(1)} | {Key(1)}", "max([Key(n * 5 % 7) for n in range(5)])", "[Key(1)] == [Key(1)]", "(Key(1), 2) < (Key(1), 3)",
    "bool(Falsy(<True|False|1|None>))", "not Falsy(False)", "[*Falsy(1)]", "len(Falsy(0))", "1 if Falsy(True) else 2", "Falsy(0) and 1", "any([Falsy(False), Falsy(True)])",
    "list(Steps(5))", "sum(Steps(4))", "max(Steps(3))", "tuple(Steps(2))", "dict(enumerate(Steps(3)))", "[a + b for a in Steps(3) for b in Steps(2)]", "sorted(Steps(6))", "2 in Steps(4)",
    "list(zip(Steps(3), Steps(2)))", "','.join(map(str, Steps(3)))", "(lambda *a: a)(*Steps(3))", "list(filter(Falsy, Steps(3)))", "set(map(Key, Steps(4)))", "next(Steps(0), 'no')",
    "sorted([3, 1, 2], key=lambda x: trip(-x))", "sorted([Key(2), Key(1)], key=lambda k: trip(k.n))", "list(map(trip, range(4)))", "min([2, 1], key=trip)",
    "heapq.nsmallest(2, [Key(3), Key(1), Key(2)])", "bisect.bisect([Key(1), Key(3)], Key(2))", "collections.Counter([Key(1), Key(1), Key(4)])", "dict.fromkeys(map(Key, range(3)))",
    "[k for k in {Key(2): 1, Key(5): 2}]", "{Key(1): 1} == {Key(1): 1}", "{Key(n) for n in range(4)} == {Key(n) for n in range(4)}", "{Key(1)}.issubset([Key(1)])", "list(dict.fromkeys([Key(1), Key(4)]))",
]
VIEWS = [
    "D.keys() & D.keys()", "sorted(D.keys() | {'z'}, key=str)", "D.keys() - {'a', 1}", "sorted(D.items() ^ {('a', 1)}, key=str)", "D.keys() == {'a'}", "D.items() == D.copy().items()", "D.keys() <= D.keys()",
    "list(reversed(D))", "list(reversed(D.items()))", "list(reversed(D.values()))", "len(D.items())", "('a', 1) in D.items()", "1 in D.values()", "D.keys().isdisjoint([5])", "D.keys()", "D.values()",
    "D.items()", "[k for k, v in D.items() if v]", "dict(D.items())", "max(D.values(), key=str)", "list(D.keys()).index('a')", "D.keys() == D.keys()", "D.values() == D.values()",
    "[D.pop(k) for k in list(D)]", "next(iter(D.items()))", "D | {'a': 9}", "{**D, 'q': 1}", "D == dict(reversed(D.items()))", "repr(D.keys())", "D.setdefault('new', []).append(1)", "D.popitem()",
    "[D.update(x=k) for k in D]", "[D.pop(k) for k in D]", "D.keys() + 1", "D.values() & {1}", "hash(D.keys())", "D.keys()[0]", "sorted(D.items() & {('a', 1)})", "type(D.items() | [1]).__name__",
]
SCOPES = [
    "class A:\n    y = 3\n    l = [q for q in range(y)]\n    def f(self): return [q for q in self.l]\nshow((A.l, A().f()))",
    "class A:\n    n = 2\n    t = tuple(q * 2 for q in [n, n])\n    try: u = [n for q in range(2)]\n    except NameError as e: u = str(e)\nshow((A.t, A.u))",
    "x = 'outer'\nshow([x for x in range(3)])\nshow(x)", "show([lambda: q for q in range(3)][0]())", "show([(lambda q=q: q)() for q in range(3)])", "show([last := q for q in <list>])\nshow(last)",
    "show([[r for r in range(q)] for q in range(4)])", "show([r for q in [[1], [2, 3]] for r in q])", "show({q: {r: q for r in 'ab'} for q in range(2)})", "show([q for q in range(9) if q % 2 if q > 3])",
    "def outer(x):\n    def inner():\n        nonlocal x\n        x += 1\n        return x\n    return inner\ni = outer(<int>)\nshow((i(), i()))",
    "def outer():\n    x = 1\n    def middle():\n        def inner():\n            nonlocal x\n            x *= 3\n        inner()\n        return x\n    return middle(), x\nshow(outer())",
    "def outer():\n    global g0\n    g0 = <any>\n    def inner():\n        g0 = 5\n        return g0\n    return inner(), g0\nshow(outer())",
    "def f(a, b=<any>, *c, d=<any>, **e): return a, b, c, d, sorted(e)\nshow(f(*<tuple>, **<dict>))", "def f():\n    if <bool>: late = 1\n    return late\nshow(f())",
    "def f():\n    try: return <any>\n    finally: print('f')\nshow(f())", "def f():\n    for q in <container>:\n        try:\n            if q: break\n            continue\n        finally: print('q', q)\n    else: return 'else'\n    return q\nshow(f())",
    "def f():\n    e = 1\n    try: raise ValueError(e)\n    except ValueError as e: pass\n    return e\nshow(f())", "def f(n):\n    while n:\n        n -= 1\n        try: continue\n        finally: print('left', n)\nf(3)",
    "def f(x, /, y, *, z=1): return x, y, z\nshow(f(<any0>, y=<any0>))\nshow(f(x=1, y=2))", "def f(x=[]):\n    x.append(len(x))\n    return x\nshow((f(), f()))",
    "with Manager(1, <True|False>) as m, Manager(m, False):\n    show(<any>)\n    raise ValueError(<any0>)", "show((lambda: (yield))().__class__.__name__)", "show(list((lambda: (yield from <container>))()))",
]
ORDERS = [
    "K.<a|b> += told(<int>)", "K[told(1)] += told(<int>)", "K.a.real", "K[told(1)], K[told(2)] = told(3), told(4)", "K[told(1)] = K.b = told(<any>)", "K(told(1), *told([2]), k=told(3), **told({'z': 4}))",
    "K[told(1):told(2)] = told(3)", "del K[told(7)]", "told(1) < told(<int>) < told(3)", "{told(1): told(2), **told({3: 4})}", "[told(1), *told([2]), told(3)]", "told(0) or told(1) and told(2)",
    "K.a, *K.b = told([1, 2, 3])", "for K.a in told([1, 2]): pass", "for K[0] in told((3,)): pass", "with Manager(1, False) as K.m: pass", "K.a = K[told(1)] = told(<any0>)", "told(5) if told(<bool>) else told(6)",
    "K[told(1)] <-|*|//|<<|**>= told(2)", "K[told(1), told(2)] += 1", "f'{told(1)}{told(2)!r:{told(5)}}'", "(lambda a=told(1), *, b=told(2): (a, b))()", "K[::told(2)]", "assert told(True), told('no')",
]
DEEP = ["lambda step, n: step(n)", "lambda step, n: step(n) + 1", "lambda step, n: [step(n)]", "lambda step, n: n if n > <5|50|400> else step(n)", "lambda step, n: 1 // (60 - n) + step(n)", "lambda step, n: (lambda: step(n))()"]
WALKS = ["('__next__', ())", "('send', (None,))", "('send', (<any0>,))", "('send', ([7, 8],))", "('throw', (ValueError('thrown'),))", "('throw', (KeyError,))", "('throw', (IndexError(1),))", "('close', ())", "('__next__', ())"]
# Uses of numbers and sequences in a hot loop over i; n, x, l, s, d and b are locals.
HOT = [
    "n += i", "n = n * 3 + i", "n -= l[i % 3]", "n ^= i << (i % <5|40|60>)", "n = (n << 1) ^ i", "n >>= 1", "n = n * n % 1000003", "x = x * 0.5 + i", "x += n", "x = n / (i + 1)", "n = int(x)", "n = i // (i % 4 - 5)",
    "l[i % len(l)] = n", "l[i % len(l)] += i", "l.append(i)", "l = l[-3:] + [i]", "l = l[::-1]", "s = s[1:] + 'ab'[i % 2]", "s = f'{i:x}' + s[:3]", "d[i % 5] = n", "d[i % 3] = d.get(i % 3, 0) + 1", "n += len(s)",
    "n += b[i % len(b)]", "b = b[1:] + bytes([i % 256])", "a, n = n, i", "n = -n", "n = ~n & 0xffff", "n = abs(n - 50)", "x = abs(x) ** 0.5", "n = min(n, i)", "x = max(x, i)", "n = divmod(n, 7)[1]", "n = n if i % 3 else i",
    "n += i in d", "n += i == x", "x -= True", "n = pow(n, 2, 97)", "n += ord(s[i % len(s)])", "t = (i, n)\nn, a = t", "for q in l[:3]: n += q", "n += sum(l)", "n |= 1 << i % 64", "n += 1 if s else 2", "n = round(x)", "x = float(i)",
]
CHANGE_LATE = ["n = 2**62", "n = -(2**63)", "n = 0.5", "n = True", "n = 'n'", "n = None", "x = 1", "x = float('nan')", "x = 2**70", "l = (1, 2, 3)", "l = []", "l = 'xyz'", "l = [0.5]", "l.clear()", "s = b'b'", "s = ''", "s = 'é日'", "d = {}",
               "d = [1] * 5", "b = bytearray(b'q')", "b = [300]", "del n", "del x", "del l", "n = Int(3)", "l = List([1, 2, 3])", "d = Dict()", "x = Real(2.5)", "s = Text('tt')", "n = 2**47 - 1", "n = -(2**47)", "x = -0.0", "i = 1.5",
               "arm(1)", "n = 10**30", "l[0] = None", "l[0] = 2**63", "l[0] = 1.5", "d[0] = None"]


class Data(Language):
    def __init__(self, seed: int):
        super().__init__(seed + 77)
        self.subclasses = []  # (name, arguments to make one)

    def guard(self, text: str) -> None:
        """Lines whose errors are printed."""
        with self.under("try:"):
            self.put(text)
        with self.under("except Exception as e:"):
            self.line("print(type(e).__name__, e)")

    def made(self) -> str:
        name, values = self.pick(self.subclasses)
        return f"{name}({self.pick(values)})"

    # ---- Statements ----

    def use(self) -> None:
        """Operations on an object of a subclass, of which one may trip."""
        v, w = self.fresh("v"), self.fresh("v")
        other = self.made() if self.chance(50) else self.value("any", 1)
        self.guard(f"{v} = {w} = None\n{v}, {w} = {self.made()}, {other}")
        for _ in range(self.upto(6)):
            text = self.expand(self.pick(STORES if self.chance(25) else USES).replace("V", v).replace("W", w))
            self.guard(f"arm({self.pick([0, 0, 1, 2, 3, 5])})\n" + self.shown(text))

    @staticmethod
    def shown(text: str) -> str:
        """A statement as it is, an expression with its value printed."""
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            return text
        return f"show({text})"

    def keyed(self) -> None:
        for _ in range(self.upto(3)):
            self.guard(f"arm({self.random.randrange(14)})\nshow({self.expand(self.pick(KEYED))})")
        if self.chance(30):
            name = self.fresh("v")
            self.guard(f"{name} = [Key(n * 7 % 11) for n in range({self.upto(12)})]\narm({self.upto(20)})\n{name}.sort({self.pick(['', 'reverse=True', 'key=lambda k: trip(k.n)'])})")
            self.line(f"show({name})")

    def views(self) -> None:
        name = self.fresh("v")
        self.line(f"{name} = {self.value('dict', 1)}")
        for _ in range(self.upto(4)):
            text = self.expand(self.pick(VIEWS).replace("D", name))
            self.guard(f"show({text})")

    def scopes(self) -> None:
        self.guard(self.expand(self.pick(SCOPES)))

    def orders(self) -> None:
        name = self.fresh("v")
        self.line(f"{name} = Keep()")
        for _ in range(self.upto(3)):
            text = self.pick(ORDERS).replace("<-|*|//|<<|**>", self.pick(["-", "*", "//", "<<", "**"]))
            self.guard(self.shown(self.expand(text.replace("K", name))))

    def recursion(self) -> None:
        self.line(f"deep({self.expand(self.pick(DEEP))})")

    def walked(self) -> None:
        steps = ", ".join(self.expand(self.pick(WALKS)) for _ in range(self.upto(5)))
        self.guard(f"drive(walk({self.value('list', 1)}), {steps})")

    def hot(self) -> None:
        """A function with a loop that becomes a region, in which something changes once."""
        name, times = self.fresh("hot"), self.pick([20, 60, 700])
        texts = [self.expand(self.pick(HOT)) for _ in range(self.upto(5))]
        with self.under(f"def {name}(n, x, change):"):
            self.line("l, s, d, b, t = [1, 2, 3], 'abc', {0: 1}, b'\\x01\\xff', ()")
            self.line("a = q = 0")
            self.line("i = -1")
            with self.under("try:"), self.under(self.pick([f"for i in range({times}):", f"while (i := i + 1) < {times}:"])):
                for text in texts:
                    if self.chance(15):
                        with self.under(f"if {self.pick(['i % 3', 'n > 50', 'x < 10', 'not i % 7', 's', 'l'])}:"):
                            self.put(text)
                    else:
                        self.put(text)
                self.line("if n > 1 << 200 or n < -1 << 200: n = i" if self.chance(70) else "if n > 2**62: n %= 1000")
                for turn in (1, 2)[:self.upto(2)]:
                    with self.under(f"if change == {turn} and i == {self.random.randrange(times)}:"):
                        self.line(self.pick(CHANGE_LATE))
                if any(text.startswith("l.append") for text in texts):
                    self.line("if len(l) > 40: del l[5:]")
            with self.under("except Exception as e:"):
                self.line("print(type(e).__name__, e, i)")
            self.guard("show((n, x, l, s, d, b, a, q))")
        calls = ", ".join(self.pick(["(1, 0.5, {})", "(0, 1.5, {})", "(7, 2, {})", "(2**46, 0.25, {})"]).format(k) for k in (0, 0, 1, 2, 0))
        with self.under(f"for args in [{calls}]:"):
            self.guard(f"{name}(*args)")

    def own_statements(self) -> list:
        return [self.use] * 12 + [self.keyed] * 6 + [self.views] * 5 + [self.scopes] * 6 + [self.orders] * 4 + [self.recursion] + [self.walked] * 3

    # ---- The whole ----

    def subclass_of(self, base: str) -> None:
        name = "My" + base.capitalize()
        self.line()
        self.line()
        with self.under(f"class {name}({base}):"):
            if self.chance(15):
                self.line("__slots__ = ()")
            allowed = sorted(OVERRIDDEN)
            for head in self.random.sample(allowed, self.random.randrange(7)):
                with self.under(f"def {head}:"):
                    self.put(self.pick(OVERRIDDEN[head]).replace("SELF", name))
            self.line(f"tag = {self.literal('any')}" if self.chance(40) else "pass")
        self.subclasses.append((name, BASES[base]))

    def text(self, seed: int) -> str:
        self.begin(seed, OWN_PRELUDE)
        self.class_(0)
        for base in self.random.sample(sorted(BASES), self.upto(3)):
            self.subclass_of(base)
        for _ in range(self.random.randrange(3)):
            self.line()
            self.line()
            self.hot()
        for number in range(self.upto(2)):
            self.function(number)
        self.drive()
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Data(seed).text(seed)
