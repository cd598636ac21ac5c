"""Tracebacks of statements that fail, each in a script of its own: at the top level, and in a function.  What
is compared is the whole of stderr, carets and suggestions included."""

PRELUDE = """\
import math
a = [1, 2]
d = {}
c = None
x = "s"
class C:
    def m(self):
        return 1
def f(x, y=2):
    return x / y
def g(n):
    return f(n, 0)
"""

STATEMENTS = [
    '1/0',
    '(1)/(0)',
    '( 1 ) / ( 0 )',
    '(1+2)*3/0',
    'x = 1 / 0  # comment',
    '1 + 2 * (3 / 0)',
    'a.b.c',
    'a[0][5]',
    'a [ 0 ] [ 5 ]',
    '(a)[5]',
    'a[(5)]',
    'a[1, 2]',
    'a[1,]',
    'a["x"]',
    'd["k"]["j"]',
    "d[ 'zz' ]",
    'f(1, 2)',
    'f(g(1), 2)',
    'f(\n  1,\n  2)',
    'f(x=\n  1)',
    'undefined_name',
    'print(undefined_name + 1)',
    '"abc" + 1',
    '1 + \\\n    "x"',
    '(1 +\n    "x")',
    '-"abc"',
    'not undefined_name',
    'a.append(1, 2)',
    'a.foo()',
    'a.foo = 3',
    'del a.foo',
    'del a[10]',
    'a[10] = 1',
    'a[10] += 1',
    'x += 1',
    'x = y = undefined_name',
    'for i in 5: pass',
    'for i in a[3]: pass',
    'a, b = 1',
    'a, b = [1, 2, 3]',
    'a, b = ()',
    'if undefined_name: pass',
    'while undefined_name: pass',
    '1 < "a"',
    '1 < 2 < "a"',
    '(1 < "a") < 3',
    'assert False',
    'assert a == [], "message"',
    'assert a == [], (1, 2)',
    'raise ValueError',
    'raise ValueError("x")',
    'raise ValueError("x") from KeyError("y")',
    'raise 5',
    'raise ValueError from 5',
    'f"{1/0}"',
    'f"abc {a[5]} def"',
    '[1, 2, 1/0]',
    '{1: 2, "a": 1/0}',
    '{[]: 1}',
    '(lambda: 1/0)()',
    'int("abc")',
    'int("abc", 10)',
    'len(5)',
    'len(5) + 3',
    '[][0]',
    '{}[0]',
    '"%d" % "x"',
    '2 ** -1 ** 0 / 0',
    '2 ** (1/0)',
    'a @ b',
    'a if undefined_name else c',
    '1 if 1/0 else 2',
    'undefined_name and 1',
    '1 and undefined_name',
    'x = [1,\n     2,\n     1/0]',
    'print(1, 1/0, 2)',
    '"é" + "ü" + 1',
    '"é"[5]',
    'é = 1; é.foo',
    'x = "日本語" + 1',
    'import nomodule',
    'import nomodule as m',
    'from math import nope',
    'from nomodule import x',
    'None.foo',
    'a[0]()',
    'a.b = c.d',
    '1 // 0 if True else 0',
    'x = 5 % 0',
    '~"a"',
    '5 in 5',
    '5 not in 5',
    'print("a" "b" + 1)',
    'f(1)(2)(3)',
    'f(1)[2]',
    'a[0:1:0]',
    'a["x":]',
    'len()',
    'len(1, 2)',
    'f()',
    'f(1, 2, 3, 4)',
    'f(y=3)',
    'f(1, x=3)',
    'print(foo=3)',
    'global_var.attr.attr2',
    '1 .real.foo',
    '1.5 .foo',
    '1.5.foo + 1',
    '"".join([1])',
    '"a b".split(1)',
    'x = (1\n  / 0)',
    'a[\n 5]',
    'a[5\n ]',
    'a = b = c[0]',
    '(a\n .foo)',
    'a.foo(\n 1)',
    'try: 1/0\nexcept KeyError: pass\n  1/0',
    '1    /    0',
    '1//0',
    '1<<-1',
    '1%0',
    '1 %0',
    '1/ 0',
    '(1)   /0',
    '-1/0',
    '(-1)/0',
    '-(1/0)',
    'not 1/0',
    '1/0 or 2',
    '(a[5])',
    '((a))[5]',
    '((1))/((0))',
    '(1,2)/3',
    '[1]/2',
    '{1:2}/3',
    '{1:2}[3]',
    '[1,2][5]',
    '(1,2)[5]',
    '"abc"[5]',
    'f(1)/0',
    'a.b/0',
    'a[0]/"x"',
    '1/0+2',
    '2+1/0',
    '2*3/0*4',
    '2+3*(4/0)',
    '1|2/0',
    '1 if 2 else 3/0',
    '1/0 if 0 else 1/0',
    "'a'+'b'+1+'c'",
    'x=lambda:1/0;x()',
    'x = 3; y = 4; z = x / 0; w = 1',
    'exit_now',
    'E_x = KeyError("a")["b"]',
    'ValueError("a").foo',
    'ValueError.foo',
    'f.foo',
    'f.foo = 1; f.bar',
    'math.foo',
    'C().foo',
    'C.foo',
    'C(1)',
    'C().m(1)',
    'C().m()[0]',
    'C() + 1',
    '1 + C()',
    'C()[0]',
    'C() < C()',
    'C()()',
    'len(C())',
    'iter(C())',
    '-C()',
    'C() in [1], 1 in C()',
]

SUGGESTIONS = """\
import math, sys
class C:
    value = 1
    def method(self):
        self.attribute = 1
        return self.atribute
local_thing = 5
def boom():
    counter = 1
    return %s
boom()
"""

MISSPELT = [
    "coutner", "local_thin", "prnt", "math.sqt", "C().metod", "C.valu", "C().method()", "[].apend", "''.uper()",
    "sys.exti", "zzzzzzz", "C().Method", "(5).reel", "Value_Error", "{}.item", "None.foo", "valueerror", "lne([])",
    "boom.__nam__", "{}.ITEMS", "Counter", "boom.__defaults", "ValueError('x').arg", "range(3).strat", "C.metho",
    "math.PI", "sys.argc", "[1].sorted", "'a'.startwith('a')", "x", "lenn", "C().valeu",
]


def indented(source):
    return "".join("    " + line + "\n" for line in source.split("\n"))


def cases():
    for i, statement in enumerate(STATEMENTS):
        yield dict(name=f"top_{i:03d}", source=f"{PRELUDE}{statement}\n", stress=False, valgrind=False)
        function = f"def h():\n{indented(statement)}h()\n"
        yield dict(name=f"function_{i:03d}", source=PRELUDE + function, valgrind=False, quick=False)
    for i, name in enumerate(MISSPELT):
        yield dict(name=f"suggestion_{i:02d}", source=SUGGESTIONS % name, stress=False, valgrind=False)
