#!/usr/bin/env python3
"""`dynvm explain` names the true cause why a hot loop has no region, at its line, and its advice is good: the same
program rewritten as it says has one.

In a program `# loop` marks the line of the loop, and `# such` that of the instruction that is to blame.

usage: refusals.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())

# Reason; the program; what the advice makes of it.
CASES = [
    ("module-level", """\
a = b = c = ""
for i in range(3000):  # loop
    a = "a"  # such
    b = "b"
    c = "c"
""", """\
def f():
    for i in range(3000):  # loop
        a = "a"
        b = "b"
        c = "c"
f()
"""),
    # More variables than a region holds: the others were taken for constants.
    ("module-level", """\
a = b = c = d = e = f = g = h = k = l = m = o = p = q = r = 0
for i in range(3000):  # loop
    a += 1; b += 1; c += 1; d += 1; e += 1; f += 1; g += 1; h += 1; k += 1; l += 1; m += 1; o += 1; p += 1; q += 1; r += 1
""", """\
def run():
    a = b = c = d = e = f = g = h = k = l = m = o = p = q = r = 0
    for i in range(3000):  # loop
        a += 1; b += 1; c += 1; d += 1; e += 1; f += 1; g += 1; h += 1; k += 1; l += 1; m += 1; o += 1; p += 1; q += 1; r += 1
run()
"""),
    ("stored-global", """\
a = b = c = ""
def f():
    global a, b, c
    for i in range(3000):  # loop
        a = "a"  # such
        b = "b"
        c = "c"
f()
""", """\
a = b = c = ""
def f():
    global a, b, c
    x = y = z = ""
    for i in range(3000):  # loop
        x = "a"
        y = "b"
        z = "c"
    a, b, c = x, y, z
f()
"""),
    ("stored-cell", """\
def f():
    a = b = c = ""
    def g(): return a, b, c
    for i in range(3000):  # loop
        a = "a"  # such
        b = "b"
        c = "c"
    return g
f()
""", """\
def f():
    x = y = z = ""
    for i in range(3000):  # loop
        x = "a"
        y = "b"
        z = "c"
    a, b, c = x, y, z
    def g(): return a, b, c
    return g
f()
"""),
    ("yields", """\
def f(n):
    for i in range(n):  # loop
        yield i  # such
sum(f(3000))
""", """\
def f(n):
    s = 0
    for i in range(n):  # loop
        s += i
    return s
f(3000)
"""),
    ("asked-iterator", """\
def squares(n):
    for i in range(n):
        yield i
        yield i * i
def f(n):
    s = 0
    for x in squares(n): s += x  # loop  # such
    return s
f(3000)
""", """\
def square(i):
    return i * i
def f(n):
    s = 0
    for i in range(n): s += square(i)  # loop
    return s
f(3000)
"""),
    ("strings", """\
def f(s):
    t = 0
    for c in s:  # loop
        if c + "b" == "ab":  # such
            t += 1
f("abcd" * 2000)
""", """\
def f(s):
    t = 0
    for c in s:  # loop
        if c == "a":
            t += 1
f("abcd" * 2000)
"""),
    # SET_ADD: of the loop in the comprehension; the one around it is blamed for the same.
    ("made-objects", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        t += len({k for k in range(4)})  # such
    return t
f(3000)
""", """\
def f(n):
    t = 0
    found = [0] * 4
    for i in range(n):  # loop
        for k in range(4): found[k] = 1
        for k in range(4): t += found[k]
    return t
f(3000)
"""),
    ("made-objects", """\
def f(n):
    d = {}
    for i in range(n):  # loop
        d[i % 7, i % 3] = i  # such
f(3000)
""", """\
def f(n):
    d = [0] * 21
    for i in range(n):  # loop
        d[i % 7 * 3 + i % 3] = i
f(3000)
"""),
    ("made-function", """\
def f(n):
    t, g = 0, [None]
    for i in range(n):  # loop  # such
        g[0] = lambda x: x + i
        t += g[0](1)
f(3000)
""", """\
g = lambda x, i: x + i
def f(n):
    t = 0
    for i in range(n):  # loop
        t += g(1, i)
f(3000)
"""),
    ("import", """\
def f(n):
    t = 0.0
    for i in range(n):  # loop
        import math  # such
        t += math.sqrt(i)
f(3000)
""", """\
import math
def f(n):
    t = 0.0
    for i in range(n):  # loop
        t += math.sqrt(i)
f(3000)
"""),
    ("strings", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        t += len(f"{i}")  # such
f(3000)
""", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        t += 1 if i < 10 else 2 if i < 100 else 3 if i < 1000 else 4
f(3000)
"""),
    ("long-ints", """\
def f(n):
    h = 14695981039346656037
    for i in range(n):  # loop
        h = (h ^ i) * 1099511628211 % 18446744073709551616  # such
f(3000)
""", """\
def f(n):
    h = 2166136261
    for i in range(n):  # loop
        h = (h ^ i) * 16777 % 4294967296
f(3000)
"""),
    ("items", """\
def f(items):
    s = 0
    for x in items:  # loop  # such
        if x == "a":
            s = s + 1
f(["a", "bc"] * 4000)
""", """\
def f(items):
    s = 0
    for x in items:  # loop
        if x == 1:
            s = s + 1
f([1, 23] * 4000)
"""),
    ("items", """\
def f(n):
    d = {}
    for i in range(n):  # loop
        d[i] = i  # such
        del d[i]
f(3000)
""", """\
def f(n):
    d = [0] * n
    for i in range(n):  # loop
        d[i] = i
f(3000)
"""),
    ("with", """\
class M:
    def __enter__(self): return self
    def __exit__(self, *a): return None
def f(n):
    t = 0
    for i in range(n):  # loop
        with M():  # such
            t += i
f(3000)
""", """\
class M:
    def __enter__(self): return self
    def __exit__(self, *a): return None
def f(n):
    t = 0
    with M():
        for i in range(n):  # loop
            t += i
f(3000)
"""),
    ("c-function", """\
def f(n):
    t = 0
    pair = [1, 2]
    for i in range(n):  # loop
        t += len(pair.copy().copy())  # such
f(3000)
""", """\
def f(n):
    t = 0
    pair = [1, 2].copy()
    for i in range(n):  # loop
        t += len(pair)
f(3000)
"""),
    ("call", """\
def g(a, b): return a + b
def f(n):
    t = 0
    pair = 1, 2
    for i in range(n):  # loop
        t += g(*pair)  # such
f(3000)
""", """\
def g(a, b): return a + b
def f(n):
    t = 0
    pair = 1, 2
    for i in range(n):  # loop
        t += g(pair[0], pair[1])
f(3000)
"""),
    ("no-derivative-for-types", """\
def f(n):
    z = 1j
    for i in range(n):  # loop
        y = not z  # such
        x = not z
f(3000)
""", """\
def f(n):
    z = 1.0
    for i in range(n):  # loop
        y = z == 0.0
        x = z == 0.0
f(3000)
"""),
    ("changing-types", """\
def f(x, y, n):
    while n:  # loop
        x, y = y, x
        z = x * 2 * 2  # such
        n -= 1
f("a".count, 2, 0)
f(1, "a", 3000)
""", """\
def f(x, y, n):
    while n:  # loop
        x, y = y, x
        z = x * 2 * 2
        n -= 1
f(1, 2.5, 3000)
"""),
    ("callable", """\
from operator import methodcaller
def f(n):
    get = methodcaller("index", 1)
    pair = 1, 2
    for i in range(n):  # loop
        get(pair)  # such
        get(pair)
f(3000)
""", """\
def get(pair): return pair[0]
def f(n):
    pair = 1, 2
    for i in range(n):  # loop
        get(pair)
        get(pair)
f(3000)
"""),
    ("objects", """\
class C: pass
def f(n):
    c = C()
    for i in range(n):  # loop
        c.name = "a"
        c.other = c.name  # such
f(3000)
""", """\
class C: pass
def f(n):
    c = C()
    for i in range(n):  # loop
        c.name = i
        c.other = c.name
f(3000)
"""),
    ("class-changed", """\
class C: count = 0
def f(n):
    for i in range(n):  # loop
        C.count = i  # such
f(3000)
""", """\
class C: count = 0
def f(n):
    c = C()
    for i in range(n):  # loop
        c.count = i
f(3000)
"""),
    ("raises", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        try:
            t += bytes([300 if i % 2 else 3])[0]
        except ValueError:
            t -= 1
f(3000)
""", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        if i % 2:
            t -= 1
        else:
            t += 3
f(3000)
"""),
    ("raises", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        try:
            raise ValueError from None
        except ValueError:
            t += 1
f(3000)
""", """\
def f(n):
    t = 0
    for i in range(n):  # loop
        t += 1
f(3000)
"""),
    ("frame", """\
def f(n):
    s = 0
    for i in range(n):  # loop
        s += i
    return locals()
f(3000)
""", """\
def g(n):
    s = 0
    for i in range(n):  # loop
        s += i
    return s
def f(n):
    s = g(n)
    return locals()
f(3000)
"""),
    ("types", """\
def f(x, n):
    i = 0
    while i < n:  # loop
        x = x + x - x + x - x
        i += 1
f(1, 2000)
f(1 << 70, 6000)
""", """\
def f(x, n):
    i = 0
    while i < n:  # loop
        x = x + x - x + x - x
        i += 1
f(1, 2000)
f(1 << 40, 6000)
"""),
]

ARRAYS = ("arrays", """\
import ndarray as np
def f(n):
    a = np.ones(6)
    b = a * 0.5
    for i in range(n):  # loop
        a[1:-1] = b[1:-1] * 0.25
f(3000)
""", """\
import ndarray as np
def f(n):
    a = np.ones(6)
    b = a * 0.5
    for i in range(n):  # loop
        for x in range(1, 5): a[x] = b[x] * 0.25
f(3000)
""")


def explain(text):
    done = subprocess.run([DYNVM, "explain", "--json", "--level=nama", "-c", text], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=True)
    return json.loads(done.stdout)["loops"]


def marked(text, mark):
    """The line with this mark; None: there is none."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if mark in line]
    return lines[0] if lines else None


def check_case(reason, text, rewritten):
    name = f"{reason}: {text.splitlines()[marked(text, '# loop') - 1].strip()}"
    found = [loop for loop in explain(text) if loop["line"] == marked(text, "# loop")]
    check(f"{name}: is hot", len(found), 1)
    if not found:
        return
    check(name, (found[0]["reason"], found[0]["region"]), (reason, None))
    check(f"{name}: what is to blame", found[0].get("at", {}).get("line"), marked(text, "# such"))
    after = [loop for loop in explain(rewritten) if loop["line"] == marked(rewritten, "# loop")]
    check(f"{name}: as advised", [(loop["reason"], loop["region"] is None) for loop in after], [(None, False)])


def main():
    cases = CASES + [ARRAYS] * (Path(DYNVM).parent / "ext" / "ndarray.so").exists()
    for case in cases:
        check_case(*case)
    print(f"{len(cases)} causes, {checking.failed} things are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
