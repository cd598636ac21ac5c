"""The cases of bench/micro.py: statements, each in a loop over i, and what is set up before the loop.

PRELUDE is the head of every program, also of the empty loop's.  A case is a set-up and a statement; both run inside a
function.  The names of cases stay, because READMEs quote them."""

from typing import Dict, Tuple

PRELUDE = """
class Point:
    k = 1
    def __init__(self, x=1): self.x = x
    def method(self): return self.x
    @property
    def prop(self): return self.x
    @prop.setter
    def prop(self, x): self.x = x
    @classmethod
    def made(cls): return 1
    @staticmethod
    def static(): return 1
class Child(Point):
    def __init__(self, x):
        super().__init__(x)
        self.y = 1
    def method(self): return super().method()
class Named(Point):
    def __init__(self, x): super(Named, self).__init__(x)
class Pair:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def __add__(self, o): return Pair(self.x + o.x, self.y + o.y)
    def __mul__(self, k): return Pair(self.x * k, self.y * k)
    def __getitem__(self, i): return self.x if i == 0 else self.y
class Bare: pass
class Slots:
    __slots__ = ("x",)
    def __init__(self, x): self.x = x
class Spread:
    def __init__(self, *xs): self.xs = xs
class Symbol(str): pass
class Row(list): pass
class Env(dict): pass
class Scope(dict):
    def __init__(self, outer):
        super().__init__()
        self.outer = outer
class Wrong(Exception): pass
class Told(Exception):
    def __init__(self, what):
        super().__init__(what)
        self.what = what
class Value:
    def __init__(self, v): self.v = v
    def __eq__(self, other): return self.v == other.v
    def __lt__(self, other): return self.v < other.v
    def __hash__(self): return self.v
    def __add__(self, other): return Value(self.v + other.v)
    def __neg__(self): return self
class Hooks:
    def __call__(self, x): return x
    def __getitem__(self, k): return k
    def __setitem__(self, k, v): pass
    def __delitem__(self, k): pass
    def __len__(self): return 3
    def __iter__(self): return iter((1, 2))
    def __contains__(self, x): return True
    def __enter__(self): return self
    def __exit__(self, *why): pass
    def __str__(self): return "x"
class Truth:
    def __bool__(self): return True
class Three:
    def __init__(self): self.i = 0
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        if self.i > 3: raise StopIteration
        return self.i
def keywords(a, b=1, c=3): return a
def down(n): return 0 if n == 0 else down(n - 1) + 1
def series(x, n):
    s = 0.0
    while n > 0:
        s += x / n
        n -= 1
    return s
def only(a, *, b=1, c=3): return a
def spread(*a): return a
def some(a, *b): return b
def count(n):
    for i in range(n): yield i
def through(n): yield from count(n)
def rare(n):
    x = 1
    for i in range(n):
        for k in range(3): x = (x * 69069 + 1) & 0xFFFFFFFF
        if x % 100 == 3: yield x
"""

LIST7 = "l = [1, 2, 3, 4, 5, 6, 7]"
LIST5 = "l = [1, 2, 3, 4, 5]"
TEXT = "s = 'abcdefghijkl'"
KEYS = "d = {k: 0 for k in range(64)}"
DATACLASS = "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    x: int\n    y: int = 0"
ENUM = "from enum import Enum\nclass Kind(Enum):\n    A = 1\n    B = 2\nkind = Kind.B"

NUMBERS = {
    "lcg": ("x = 1", "x = (x * 1103515245 + 12345) & 0x7FFFFFFF"),
    "lcg32": ("x = 1", "x = (x * 69069 + 1) & 0xFFFFFFFF"),
    "lcg_mod": ("x = 1", "x = (x * 16807) % 2147483647"),
    "hash_mix": ("h = 2166136261", "h = ((h ^ i) * 16777619) & 0xFFFFFFFF"),
    "float_mix": ("x = 1.0", "x = x * 0.5 + i"),
    "pow": ("x = 2.0", "v = x ** 0.5"),
    "divmod": ("", "a, b = divmod(i, 7)"),
    "abs": ("", "v = abs(-i)"),
    "min_2": ("", "v = min(i, 5)"),
    "round": ("x = 2.345", "v = round(x, 2)"),
    "sqrt": ("import math", "v = math.sqrt(2.0)"),
    "chained": ("", "v = 0 <= i < 10"),
    "ternary": ("", "v = 1 if i > 5 else 2"),
    "complex_mul_add": ("z = 0j; c = 0.1 + 0.2j", "z = z * z + c"),
    "complex_abs": ("z = 3 + 4j", "v = abs(z)"),
    "complex_div": ("z = 1j", "z = z / (1.5 + 0.5j) + i"),
    "complex_parts": ("z = 3 + 4j", "v = z.real - z.imag"),
    "complex_make": ("x = 0.5", "z = complex(x, i)"),
    "random": ("import random\nr = random.Random(1).random", "v = r()"),
    "randint": ("import random\nr = random.Random(1)", "v = r.randint(1, 6)"),
    "int_of_str": ("", "v = int('123')"),
}

# Ints that need 64 bits, and what is made of them on the way: hashes and random numbers.
WORDS = {
    "lcg64": ("x = 1", "x = (x * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF"),
    "fnv64": ("h = 0xCBF29CE484222325", "h = ((h ^ (i & 255)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF"),
    "xorshift64": ("x = 88172645463325252",
                   "x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF\nx ^= x >> 7\nx ^= (x << 17) & 0xFFFFFFFFFFFFFFFF"),
    "splitmix64": ("x = 0",
                   "x = (x + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF\n"
                   "z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF\n"
                   "z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF\nz ^= z >> 31"),
    "product_mod": ("x = 3; p = 2**61 - 1", "x = x * x % p"),
    "sum_128": ("x = 1 << 100; y = 1 << 99", "x, y = y, (x + y) & ((1 << 127) - 1)"),
}

CONTAINERS = {
    "dict_str": ("d = {'abc': 1}", "v = d['abc']"),
    "dict_tuple": ("d = {(k, 3): k for k in range(64)}", "v = d[i & 63, 3]"),
    "dict_tuple_set": ("d = {}", "d[i & 63, 3] = i"),
    "dict_object": ("a = Value(1); d = {Value(1): 2}", "v = d[a]"),
    "dict_instance": ("p = Point(); d = {Point(): 1, p: 2}", "v = d[p]"),
    "dict_pair": ("d = {(k, 1): k for k in range(64)}", "v = d[i & 63, 1]"),
    "dict_count": (KEYS, "d[i & 63] += 1"),
    "dict_get": (KEYS, "v = d.get(i & 127, 0)"),
    "dict_keys": ("d = {1: 2, 3: 4, 5: 6}", "for k in d: pass"),
    "dict_items": ("d = {1: 2, 3: 4, 5: 6}", "for k, v in d.items(): pass"),
    "dict_get_set": (KEYS, "d[i & 63] = d.get(i & 63, 0) + 1"),
    "dict_comp": (LIST7, "v = {a: 1 for a in l}"),
    "defaultdict": ("from collections import defaultdict\nd = defaultdict(int)", "d[i & 63] += 1"),
    "counter": ("from collections import Counter\nd = Counter()", "d[i & 63] += 1"),
    "ordereddict": ("from collections import OrderedDict\nd = OrderedDict()", "d[i & 63] = i"),
    "set_add": ("s = set()", "s.add(i & 255)"),
    "set_in": ("s = set(range(100))", "v = (i & 255) in s"),
    "set_in_tuple": ("s = {(k, 1) for k in range(100)}", "v = (i & 255, 1) in s"),
    "tuple_lt": ("", "v = (i & 3, 5, 6) < (2, i & 7, 1)"),
    "tuple_eq": ("", "v = (i & 3, 5) == (2, 5)"),
    "tuple_in": ("", "v = i in (1, 2, 3)"),
    "tuple_of": ("t = [1, 2, 3, 4]", "v = tuple(t)"),
    "list_append": ("l = []", "l.append(i)"),
    "append_float": ("a = []", "a.append(i * 2.0)"),
    "bound_append": ("m = [].append", "m(i)"),
    "list_pop": ("l = []", "l.append(i); l.pop()"),
    "list_pop_first": ("l = [1, 2, 3]", "l.append(i); l.pop(0)"),
    "list_slice": (LIST7, "v = l[2:5]"),
    "list_slice_at": (LIST7, "k = i & 3; v = l[k:k + 2]"),
    "list_slice_back": ("l = [1, 2, 3, 4]", "v = l[::-1]"),
    "list_slice_store": (LIST7, "l[2:4] = l[4:6]"),
    "list_in": ("l = [1, 2, 3]", "v = 3 in l"),
    "list_in_instances": ("l = [Point() for k in range(10)]; p = l[9]", "v = p in l"),
    "list_spread": ("l = [1, 2, 3]", "v = [*l, i]"),
    "list_mul": ("", "v = [0] * 8"),
    "list_concat": ("l = [1, 2]", "v = l + l"),
    "list_comp": (LIST7, "v = [a * 2 for a in l]"),
    "list_comp_copy": (LIST7, "v = [a for a in l]"),
    "list_comp_range": ("", "v = [k * k + 1 for k in range(300)]"),
    "set_comp_tuple": (LIST7, "v = {(a, 1) for a in l}"),
    "list_of_lists": ("m = [[1, 2], [3, 4]]", "v = m[i & 1][1]"),
    "list_len": ("l = [1]", "v = len(l)"),
    "list_true": ("l = [1]", "if l: pass"),
    "list_not": ("l = [1]", "v = not l"),
    "list_sum": (LIST7, "v = sum(l)"),
    "sorted_key": ("l = [1, 5, 3, 4, 2, 6, 7]", "v = sorted(l, key=lambda a: -a)"),
    "sorted_ints": ("l = [k * 7 % 10 for k in range(10)]", "v = sorted(l)"),
    "sorted_tuples": ("l = [(k * 7 % 5, k) for k in range(8)]", "v = sorted(l)"),
    "max_key": ("l = [1, 2, 3]", "v = max(l, key=lambda a: -a)"),
    "swap": ("a = 1; b = 2", "a, b = b, a"),
    "unpack": ("l = [1, 2, 3]", "a, b, c = l"),
    "deque": ("from collections import deque\nq = deque([1, 2])", "q.append(i); q.popleft()"),
    "heap_tuples": ("import heapq\nq = [(1, 2), (2, 1), (3, 4)]", "heapq.heappush(q, (i & 7, i)); heapq.heappop(q)"),
    "heap": ("import heapq\nq = [1, 2, 3, 4]", "heapq.heappush(q, i); heapq.heappop(q)"),
    "namedtuple": ("from collections import namedtuple\nt = namedtuple('T', 'a b')(1, 2)", "v = t.b"),
    "namedtuple_new": ("from collections import namedtuple\nT = namedtuple('T', 'a b')", "v = T(1, i)"),
    "bytes_index": ("b = b'abcd'", "v = b[i & 3]"),
    "bytearray_set": ("b = bytearray(4)", "b[i & 3] = 7"),
}

ITERATION = {
    "range": ("", "for k in range(3): pass"),
    "enumerate": (LIST5, "for k, v in enumerate(l): pass"),
    "reversed": (LIST5, "for k in reversed(l): pass"),
    "zip_comp": (LIST7, "v = [a + b for a, b in zip(l, l)]"),
    "str_loop": ("s = 'abcdef'", "for c in s: pass"),
    "gen": ("", "for k in count(3): pass"),
    "gen_from": ("", "for k in through(3): pass"),
    "gen_rare": ("g = rare(1 << 40)", "v = next(g)"),
    "gen_sum": (LIST7, "v = sum(a * 2 for a in l)"),
    "gen_all": (LIST7, "v = all(a > 0 for a in l)"),
    "gen_any_attr": ("l = [Point(k) for k in range(7)]", "v = any(p.x > 9 for p in l)"),
    "gen_max_items": (KEYS, "v = max(b for a, b in d.items())"),
    "gen_join": ("s = 'abcdef'", "v = ''.join(c for c in s)"),
    "gen_zip_sum": ("x = (1.0, 2.0, 3.0, 4.0); y = x", "v = sum(a * b for a, b in zip(x, y))"),
    "next": ("import itertools\nit = itertools.count()", "v = next(it)"),
    "map_lambda": (LIST5, "v = list(map(lambda a: a + 1, l))"),
    "any_map": ("l = [0, 0, 0]; f = bool", "v = any(map(f, l))"),
}

TEXTS = {
    "str_slice": (TEXT, "v = s[2:5]"),
    "str_index": (TEXT, "v = s[i & 7]"),
    "str_in": (TEXT, "v = 'c' in s"),
    "str_cat": (TEXT, "v = s + 'x'"),
    "str_eq": ("s = 'abcdef'; t = 'abcdeg'", "v = s == t"),
    "str_upper": (TEXT, "v = s.upper()"),
    "str_isdigit": ("s = 'a'", "v = s.isdigit()"),
    "str_startswith": (TEXT, "v = s.startswith('ab')"),
    "str_replace": (TEXT, "v = s.replace('a', 'b')"),
    "str_join": ("l = ['a', 'b', 'c', 'd']", "v = ','.join(l)"),
    "str_split": ("s = 'ab cd ef gh'", "v = s.split()"),
    "str_of_int": ("", "v = str(i)"),
    "ord": ("", "v = ord('a')"),
    "fstring": ("s = 'q'", "v = f'{s}-{i}'"),
    "fstring_float": ("s = 'q'; x = 2.5", "v = f'{i} and {s}: {x:.2f}'"),
    "percent": ("s = 'q'", "v = '%d %s' % (i, s)"),
}

CALLS = {
    "call": ("", "keywords(i)"),
    "call_keyword": ("", "keywords(1, b=2)"),
    "call_only": ("", "only(i)"),
    "call_only_given": ("", "only(i, c=2)"),
    "operators_dl": ("a = Pair(1.0, 2.0); b = Pair(0.5, 0.25); s = 0.0", "s += ((a + b) * 2.0)[1]"),
    "call_recursive": ("", "v = down(4)"),
    "call_loop": ("x = 0.5", "v = series(x, 3)"),
    "call_varargs": ("", "some(i, 1, 2)"),
    "call_star": ("t = (1, 2, 3)", "spread(*t)"),
    "call_star_list": ("", "v = spread(*[i, 2, 3])"),
    "call_star_gen": ("t = (1, 2, 3)", "v = spread(*(a for a in t))"),
    "call_star_star": ("k = {'b': 2}", "keywords(1, **k)"),
    "lambda": ("g = lambda x: x + 1", "g(i)"),
    "closure": ("n = 1\ndef g(): return n", "g()"),
    "define": ("", "def f(): return i\nf()"),
    "partial": ("import functools\nf = functools.partial(keywords, 1)", "v = f(i)"),
    "lru_cache": ("import functools\nf = functools.lru_cache(None)(keywords)", "v = f(i & 15)"),
    "getattr": ("p = Point()", "v = getattr(p, 'x')"),
    "hasattr": ("p = Point()", "v = hasattr(p, 'y')"),
    "isinstance": ("p = Point()", "v = isinstance(p, Point)"),
    "isinstance_tuple": ("p = Point()", "v = isinstance(p, (int, Point))"),
    "type_name": ("p = Point()", "v = type(p).__name__"),
    "isinstance_child": ("p = Child(1)", "v = isinstance(p, Point)"),
}

CLASSES = {
    "attr": ("p = Point()", "v = p.x"),
    "attr_set": ("p = Point()", "p.x = i"),
    "attr_add": ("p = Point()", "p.x += 1"),
    "attr_class": ("", "v = Point.k"),
    "attr_class_add": ("", "Point.k += 1"),
    "attr_slots": ("p = Slots(1)", "v = p.x"),
    "attr_chain": ("p = Bare(); p.a = Bare(); p.a.b = Point()", "v = p.a.b.x"),
    "property": ("p = Point()", "v = p.prop"),
    "property_set": ("p = Point()", "p.prop = i"),
    "method": ("p = Point()", "v = p.method()"),
    "classmethod": ("", "v = Point.made()"),
    "staticmethod": ("p = Point()", "v = p.static()"),
    "bound_method": ("m = Point().method", "v = m()"),
    "super_method": ("p = Child(1)", "p.method()"),
    "new": ("", "v = Point(i)"),
    "new_default": ("", "v = Point()"),
    "new_keyword": ("", "v = Point(x=i)"),
    "new_bare": ("", "v = Bare()"),
    "new_child": ("", "v = Child(i)"),
    "new_named_super": ("", "v = Named(i)"),
    "new_spread": ("t = (1, 2, 3)", "v = Spread(*t)"),
    "new_derived_dict": ("d = Scope(None)", "v = Scope(d)"),
    "new_exception": ("", "v = Wrong(i)"),
    "dataclass": (DATACLASS, "v = Pair(i, 2)"),
    "enum": (ENUM, "v = Kind.A is Kind.B"),
    "enum_eq": (ENUM, "v = Kind.A == kind"),
    "derived_str_eq": ("s = Symbol('abc')", "v = s == 'abd'"),
    "derived_dict": ("d = Env(); d[1] = 2", "v = d[1]"),
    "derived_dict_in": ("d = Env(); d[1] = 2", "v = 1 in d"),
    "derived_list": ("l = Row([1, 2, 3])", "v = l[1]"),
    "derived_list_attr": ("l = Row([1, 2, 3]); l.q = 1", "v = l.q"),
    "is_any": ("p = Point(); q = (1, 2)", "v = p is q"),
    "is_none": ("p = None", "v = p is None"),
}

HOOKS = {
    "hook_call": ("a = Hooks()", "v = a(i)"),
    "hook_getitem": ("a = Hooks()", "v = a[i]"),
    "hook_setitem": ("a = Hooks()", "a[i] = i"),
    "hook_delitem": ("a = Hooks()", "del a[i]"),
    "hook_len": ("a = Hooks()", "v = len(a)"),
    "hook_contains": ("a = Hooks()", "v = i in a"),
    "hook_bool": ("a = Truth()", "if a: pass"),
    "hook_str": ("a = Hooks()", "v = str(a)"),
    "hook_iter": ("a = Hooks()", "for k in a: pass"),
    "hook_next": ("", "for k in Three(): pass"),
    "hook_add": ("a = Value(1)", "v = a + a"),
    "hook_neg": ("a = Value(1)", "v = -a"),
    "hook_eq": ("a = Value(1); b = Value(2)", "v = a == b"),
    "hook_with": ("a = Hooks()", "with a: pass"),
    "instance_true": ("a = Point()", "if a: pass"),
}

EXCEPTIONS = {
    "try": ("", "try: v = i\nexcept ValueError: pass"),
    "raise": ("", "try: raise ValueError('x')\nexcept ValueError as e: v = e"),
    "raise_told": ("", "try: raise Told('x')\nexcept Told as e: v = e"),
    "raise_key": ("d = {}", "try: v = d[i]\nexcept KeyError: v = 0"),
}

GROUPS = {
    "numbers": NUMBERS, "words": WORDS, "containers": CONTAINERS, "iteration": ITERATION, "texts": TEXTS,
    "calls": CALLS, "classes": CLASSES, "hooks": HOOKS, "exceptions": EXCEPTIONS,
}
CASES: Dict[str, Tuple[str, str]] = {name: case for group in GROUPS.values() for name, case in group.items()}
