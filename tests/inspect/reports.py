#!/usr/bin/env python3
"""`dynvm explain` finds the reason of each slow site, and `dynvm dis --json` says what the listing says.

 - for each reason, a small program that makes one hot site slow for it, and nothing else;
 - a program whose sites all fit has none;
 - for each reason why a loop has no region, or leaves it often, a small program; and loops that have one;
 - caches in words: shapes, slots, classes, callees, modules, polymorphic entries; newer forms, and what they saw;
 - text, JSON and what the program prints go where they should; colours are for terminals.

usage: reports.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())


def run(*arguments, **more):
    return subprocess.run([DYNVM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=True, **more)


def explain(text, *options):
    return json.loads(run("explain", "--json", "--level=inca", *options, "-c", text).stdout)


# Reason, instruction and line of the slow site; the program.  (One whose site gets a derivative some day needs
# another program.)
CASES = [
    ("megamorphic", "LOAD_ATTR", 5, """\
def f(items):
    s = 0
    for i in range(40):
        for item in items:
            s += item.x
    return s
kinds = []
class C0:
    def __init__(self, i): self.x = i
class C1(C0): pass
class C2(C0): pass
class C3(C0): pass
class C4(C0): pass
class C5(C0): pass
f([k(1) for k in (C0, C1, C2, C3, C4, C5)])
"""),
    ("changing-types", "ADD", 4, """\
def f(items):
    for i in range(100):
        for x in items:
            y = x + x
f([1, "a", 3, "b"])
"""),
    ("long-ints", "TRUEDIV", 3, """\
def f(x):
    for i in range(400):
        y = x / 3
f(2 ** 70)
"""),
    ("values", "MUL", 3, """\
def f(x):
    for i in range(400):
        y = x * x
f(2 ** 40)
"""),
    ("no-derivative-for-types", "NOT", 3, """\
def f(x):
    for i in range(400):
        y = not x
f(1j)
"""),
    ("computed-attribute", "LOAD_ATTR", 8, """\
class Field:
    def __get__(self, instance, owner): return 1
class C:
    x = Field()
def f():
    c = C()
    for i in range(400):
        c.x
f()
"""),
    ("dictionary", "LOAD_ATTR", 7, """\
class C:
    limit = 3
def f():
    c = C()
    c.__dict__
    for i in range(400):
        c.limit
f()
"""),
    ("computed-method", "LOAD_METHOD", 6, """\
class C:
    g = property(lambda self: len)
def f():
    c = C()
    for i in range(400):
        c.g('')
f()
"""),
    ("derived-type", "SUB", 5, """\
class C(set): pass
def f():
    c = C()
    for i in range(400):
        c - c
f()
"""),
    ("no-derivative-for-types", "EQ", 5, """\
class C: pass
def f():
    c = C()
    for i in range(400):
        c == c
f()
"""),
    ("derived-type", "NEG", 5, """\
class Index(int): pass
def f():
    i = Index(1)
    for k in range(400):
        -i
f()
"""),
    ("operator-of-class", "DELETE_SUBSCR", 6, """\
class C:
    def __delitem__(self, *keys): pass
def f():
    c = C()
    for i in range(400):
        del c[i]
f()
"""),
    ("parameters", "CALL_METHOD", 6, """\
class C:
    @staticmethod
    def g(*items): return 1
def f():
    for i in range(400):
        C.g(i)
f()
"""),
    ("class", "CALL", 5, """\
class C:
    def __init__(self, *items): pass
def f():
    for i in range(400):
        C(i)
f()
"""),
    ("class-changed", "STORE_ATTR", 4, """\
class C: pass
def f():
    for i in range(400):
        C.g = f
f()
"""),
    ("c-function", "CALL_KW", 4, """\
def f():
    sort = [2, 1].sort
    for i in range(400):
        sort(reverse=True)
f()
"""),
    ("callable", "CALL", 6, """\
class C:
    def __call__(self, *items): return 1
def f():
    c = C()
    for i in range(400):
        c(i)
f()
"""),
    ("bound-method", "CALL", 7, """\
class C:
    def __enter__(self): pass
    def __exit__(self, *why): pass
def f():
    c = C()
    for i in range(400):
        with c: pass
f()
"""),
    ("unbound-name", "LOAD_GLOBAL", 4, """\
def f():
    for i in range(400):
        try:
            nosuch
        except NameError:
            pass
f()
"""),
    ("iterator", "FOR_ITER", 8, """\
class Endless(list):
    def __iter__(self): return self
    def __next__(self): return 1
def f(items):
    for x, n in zip(items, range(400)): pass
    for n, x in enumerate(items):
        if n > 400: break
    for x in items:
        n += 1
        if n > 800: break
f(Endless())
"""),
    # Each loop goes round seven times, and there are seven calls: one more of any, and the function would be warm.
    ("late", "ADD", 20, "def f(i):\n" + "".join(" " * d + "while True:\n" for d in range(1, 19)) + " " * 19 + "i = i + 1\n"
     + "".join(" " * (d + 1) + f"if i % 19 != {d}: break\n" for d in range(18, 0, -1))
     + " return i\ni = 0\nfor call in range(7): i = f(i)\n"),
]

FITS = "def f():\n    s = 0\n    for i in range(1000):\n        s = s + i\n    return s\nprint(f())\n"


def check_reasons():
    for reason, instruction, line, text in CASES:
        report = explain(text)
        found = [(s["reason"], s["instruction"], s["line"]) for s in report["sites"]]
        check(f"explain {reason}", (reason, instruction, line) in found, True)
        if (reason, instruction, line) not in found:
            print("   ", found)
            continue
        site = report["sites"][found.index((reason, instruction, line))]
        check(f"explain {reason}: executions", 100 <= site["slow"] <= site["executions"], True)
        text_report = run("explain", "--level=inca", "-c", text).stdout.decode()
        for part in (site["sentence"], site["advice"], f"<string>:{line} in {site['function']}"):
            check(f"explain {reason}: '{part}' in the text", part in text_report, True)
    check("explain: nothing slow", explain(FITS)["sites"], [])
    check("explain: nothing slow, text", run("explain", "--level=inca", "-c", FITS).stdout,
          b"499500\nevery hot site has a derivative that fits\n")
    report = json.loads(run("explain", "--json", "--level=generic", "-c", FITS).stdout)
    check("explain: level generic", {s["reason"] for s in report["sites"]}, {"level"})
    check("explain: a function", explain(CASES[0][3], "--function=nosuch")["sites"], [])


# Reason (None: the loop is in a region), line of the loop, and line of what is to blame for it (None: nothing is named).
LOOPS = [
    (None, 3, None, FITS),
    (None, 4, None, """\
def f(n):
    s = 0
    for i in range(n):
        for k in range(3):
            s += i * k
f(2000)
"""),
    (None, 4, None, """\
from array import array
def f(a, b, n):
    for x in b:
        for i in range(n):
            a[i] += x * b[-i - 1] + len(b)
f(array("d", [0.5]) * 100, array("h", range(100)), 100)
"""),
    ("items", 5, 6, """\
from array import array
def f(a):
    n = 0
    seen = ""
    for i in range(len(a)):
        seen = a[i] + a[i - 1] + a[i - 2]
        n += 1
f(array("u", "abc" * 700))
"""),
    ("yields", 2, 3, """\
def f(n):
    for i in range(n):
        yield i
sum(f(2000))
"""),
    ("c-function", 3, 4, """\
def f(items):
    n = 0
    for i in range(len(items)):
        items[i].copy().extend(items[i].copy())
        n += 1
f([[] for i in range(2000)])
"""),
    ("slots", 5, None, "def f(a):\n    i = k = 0\n    for a in range(2):\n        i = 0\n" + "".join(
        "    " * (d + 1) + f"for x{d} in range(2):\n" for d in range(1, 19)) + "    " * 20 + "i += 1\nf(1)\n"),
    ("types", 3, None, """\
def f(x, n):
    i = 0
    while i < n:
        x = x + x - x + x - x
        i += 1
f(1, 2000)
f(1 << 70, 6000)
"""),
    *[(reason, 3, None, f"""\
def f(items, n):
    s = 0
    while n:
        n -= 1
        if items[n] < 3:
            s += 1
    return s
f([1] * 2000, 2000)
for i in range({calls}):
    f([1, 2.5] + [1] * 39, 41)
""") for reason, calls in (("left-often", 30), ("guards", 60))],
    *[(reason, 4, None, f"""\
def f(n):
    s = 0
    i = 0
    while i < n:
        s += i
        i += 1
    return s
f(2000)
for i in range(100):
    f({rounds})
""") for reason, rounds in (("short", 3), (None, 30))],
    ("changed", 7, None, """\
step = 1
def change():
    global step
    step = step + 1
def f(n):
    s = 0
    for i in range(n):
        s += step * i
        if i % 600 == 599:
            change()
f(700)
"""),
]


def check_loops():
    for reason, line, blamed, text in LOOPS:
        arguments = ("explain", "--json", "--level=nama", "-c", text)
        loops = json.loads(run(*arguments).stdout)["loops"]
        found = {loop["line"]: loop for loop in loops}
        check(f"loop {reason}: is hot", line in found, True)
        if line not in found:
            print("   ", loops)
            continue
        loop = found[line]
        check(f"loop {reason}", (loop["reason"], loop["region"] is None), (reason, reason not in (None, "left-often")))
        check(f"loop {reason}: what is to blame", loop.get("at", {}).get("line"), blamed)
        shown = run("explain", "--level=nama", "-c", text).stdout.decode()
        for part in (f"<string>:{line} in {loop['function']}", loop.get("sentence", "region"), loop.get("advice", "region")):
            check(f"loop {reason}: '{part}' in the text", part in shown, True)
        check(f"loop {reason}: entries", loop["exits"] <= loop["entries"] and loop["guards"] <= loop["exits"], True)
    report = ("-c", REMOVED)
    loop = json.loads(run("explain", "--json", "--level=nama", *report).stdout)["loops"][0]
    totals = json.loads(run("stats", "--json", "--level=nama", *report).stdout)["totals"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "removed.dl").write_text(REMOVED, encoding="utf-8")
        listed = json.loads(run("dis", "--json", "--after-run", "removed.dl", cwd=folder).stdout)["functions"]
    regions = [region["removed"] for function in listed for region in function["regions"]]
    check("loops: removed objects", [loop["removed"], totals["removed"], regions], [2, 2, [2]])
    check("loops: removed objects, text", [b"2 objects removed" in run("explain", "--level=nama", *report).stdout,
          b"where 2 places make no object" in run("stats", "--level=nama", *report).stdout], [True, True])
    check("loops: none removed without", json.loads(run("stats", "--json", "--nama=inline", *report).stdout)["totals"]["removed"], 0)
    check("loops: level inca", ["loops" in explain(FITS), b"region" in run("explain", "--level=inca", "-c", FITS).stdout],
          [False, False])


# Two tuples that a region does without.
REMOVED = """\
def pair(a, b):
    return b, a
def f(n):
    x = y = 0
    for i in range(n):
        x, y = pair(i, y + 1)
        a, b, c, d = x, y, i, 3
        x += a * b - c * d
    return x
f(2000)
"""


CACHES = """\
import math
class Base:
    limit = 3
    def __init__(self): self.x = 1
    def get(self): return self.x
class Derived(Base):
    def __init__(self): self.y, self.x = 1, 2
def add(a, b): return a + b
def f(one, both):
    for i in range(100):
        one.x
        one.limit
        one.get()
        add(i, i)
        len(one.__class__.__name__)
        math.pi
    for item in both * 50:
        item.x
f(Base(), [Base(), Derived()])
"""


NEWER = """\
class Base:
    def __init__(self, n): self.n = n
    def step(self, x=1, *, to=None): return x
class Child(Base):
    def __init__(self, n): super().__init__(n)
class Bare: pass
class Hooks:
    def __len__(self): return 3
    def __setitem__(self, k, v): pass
    def __delitem__(self, k): pass
class Rows(list): pass
def plan(a, b=2, *, c=3): return a
def f(o, h, r, l, x):
    for i in range(100):
        plan(i, c=1)
        o.step(i, to=2)
        Bare()
        h[i] = len(h)
        del h[i]
        l[1:3]
        l[:1] = [i]
        r[0]
        r.q = 2
        x = x * 3 & 0xFFFFFFFFFFFFF
    return x
r = Rows([1])
r.q = 1
for i in range(100): Child(i)
f(Child(1), Hooks(), r, [1, 2, 3], 2 ** 50)
"""


def check_newer(folder):
    """Derivatives that keep a plan or nothing, stand for two instructions, or are of derived classes."""
    (folder / "newer.dl").write_text(NEWER)
    report = json.loads(run("dis", "--after-run", "--level=inca", "--json", "newer.dl", cwd=folder).stdout)
    sites = [(f["function"], i["line"], i) for f in report["functions"] for i in f["instructions"]]
    counts = json.loads(run("stats", "--level=inca", "--json", "newer.dl", cwd=folder).stdout)["sites"]
    covered = "done by the instruction in front"
    for function, line, instruction, form, cache, reason, types in [
            ("f", 15, "CALL_KW", "CALL_KW_DL", [{"callee": "plan"}], None, ["function plan"]),
            ("f", 16, "CALL_METHOD_KW", "CALL_METHOD_KW_DL", [{"callee": "Base.step"}], None, ["function Base.step"]),
            ("f", 17, "CALL", "CALL_CLASS_BARE", [], None, ["class Bare"]),
            ("f", 18, "STORE_SUBSCR", "STORE_SUBSCR_DL", [{"shape": "Hooks", "attributes": 0}], None, ["Hooks with 0 attributes", "int"]),
            ("f", 19, "DELETE_SUBSCR", "DELETE_SUBSCR_DL", [{"shape": "Hooks", "attributes": 0}], None, ["Hooks with 0 attributes", "int"]),
            ("f", 20, "BUILD_SLICE", "BUILD_SLICE_LOAD_SUBSCR", [], None, ["int", "int"]),
            ("f", 20, "LOAD_SUBSCR", "LOAD_SUBSCR_ADAPTIVE", [], covered, ["list", "slice"]),
            ("f", 21, "BUILD_SLICE", "BUILD_SLICE_STORE_SUBSCR", [], None, ["NoneType", "int"]),
            ("f", 21, "STORE_SUBSCR", "STORE_SUBSCR_ADAPTIVE", [], covered, ["list", "slice"]),
            ("f", 22, "LOAD_SUBSCR", "LOAD_SUBSCR_DERIVED", [], None, ["Rows with 1 attribute", "int"]),
            ("f", 23, "STORE_ATTR", "STORE_ATTR_OUTSIDE", [{"shape": "Rows", "attributes": 1, "slot": 0}], None,
             ["Rows with 1 attribute"]),
            ("f", 24, "MUL", "MUL_WORD", [], None, ["int beyond 48 bits", "int"]),
            ("Child.__init__", 5, "CALL", "CALL_SUPER", [], None, ["class super"]),
            ("Child.__init__", 5, "LOAD_METHOD", "LOAD_METHOD_ADAPTIVE", [], None, ["super"])]:
        site, = [i for f, n, i in sites if (f, n, i["instruction"]) == (function, line, instruction)]
        got = (site["form"], site.get("cache"), site.get("reason"))
        check(f"newer: line {line}: {instruction}", got, (form, cache, reason))
        count, = [c for c in counts if (c["function"], c["line"], c["instruction"]) == (function, line, instruction)]
        check(f"newer: line {line}: {instruction}: types", types in [t["operands"] for t in count["types"]], True)
        check(f"newer: line {line}: {instruction}: mostly hits", count["hits"] > 70, True)


def site_at(functions, name, line, instruction):
    function, = [f for f in functions if f["function"] == name]
    return [i for i in function["instructions"] if (i["line"], i["instruction"]) == (line, instruction)][0]


def check_caches(folder):
    (folder / "caches.dl").write_text(CACHES)
    report = json.loads(run("dis", "--after-run", "--level=inca", "--json", "caches.dl", cwd=folder).stdout)
    functions = report["functions"]
    check("dis: head", (report["tool"], report["schema"], report["level"], report["after_run"]), ("dis", 1, "inca", True))
    check("dis: functions", [f["function"] for f in functions],
          ["<module>", "Base", "Base.__init__", "Base.get", "Derived", "Derived.__init__", "add", "f"])
    check("dis: states", [f["state"] for f in functions if f["function"] in ("Base", "add", "f")], ["cold", "warm", "warm"])
    for line, instruction, form, cache in [
            (11, "LOAD_ATTR", "LOAD_ATTR_SLOT", [{"shape": "Base", "attributes": 1, "slot": 0}]),
            (12, "LOAD_ATTR", "LOAD_ATTR_CLASS", [{"shape": "Base", "attributes": 1, "class": "Base"}]),
            (13, "LOAD_METHOD", "LOAD_METHOD_SHAPE", [{"shape": "Base", "attributes": 1, "class": "Base"}]),
            (13, "CALL_METHOD", "CALL_METHOD_DL", [{"callee": "Base.get"}]),
            (14, "LOAD_GLOBAL_CALLEE", "LOAD_GLOBAL_CALLEE_CELL", [{"global": "add"}]),
            (14, "CALL", "CALL_DL", [{"callee": "add"}]),
            (15, "CALL", "CALL_LEN", [{"callee": "len"}]),
            (16, "LOAD_ATTR", "LOAD_ATTR_MODULE", [{"module": "math"}]),
            (18, "LOAD_ATTR", "LOAD_ATTR_POLY", [{"shape": "Derived", "attributes": 2, "slot": 1},
                                                 {"shape": "Base", "attributes": 1, "slot": 0}])]:
        site = site_at(functions, "f", line, instruction)
        check(f"dis: line {line}: {instruction}", (site["form"], site["cache"]), (form, cache))
    text = run("dis", "--after-run", "--level=inca", "caches.dl", cwd=folder).stdout.decode()
    for words in ("LOAD_ATTR_SLOT for Base with 1 attribute, slot 0",
                  "LOAD_METHOD_SHAPE for Base with 1 attribute, of class Base",
                  "CALL_METHOD_DL calls Base.get", "LOAD_ATTR_MODULE of module math",
                  "LOAD_ATTR_POLY for Derived with 2 attributes, slot 1; for Base with 1 attribute, slot 0"):
        check(f"dis: '{words}'", words in text, True)
    plain = json.loads(run("dis", "--json", "caches.dl", cwd=folder).stdout)
    check("dis: before a run", {"state", "regions"} & plain["functions"][0].keys(), set())
    listed = [line.split()[:2] for line in run("dis", "caches.dl", cwd=folder).stdout.decode().replace(">>", "").splitlines()
              if line.startswith("    ") and line.split()[0].isdigit() and "|" not in line]
    check("dis: instructions", [[str(i["pc"]), i["instruction"]] for f in plain["functions"] for i in f["instructions"]], listed)


def check_streams(folder):
    (folder / "lone.dl").write_text("x = '\\ud800 \"\\\\\\n'\nimport sys\nprint(sys.argv[1:])\n")
    done = run("dis", "--json", "lone.dl", cwd=folder)
    operands = json.loads(done.stdout)["functions"][0]["instructions"][0]["operands"]
    check("lone surrogate", operands, "'\\ud800 \"\\\\\\n'")
    done = run("stats", "--json", "lone.dl", "a", "--json", cwd=folder)
    check("arguments", done.stderr, b"['a', '--json']\n")
    check("one line of JSON", (done.stdout.count(b"\n"), json.loads(done.stdout)["tool"]), (1, "stats"))
    failed = subprocess.run([DYNVM, "stats", "--json", "-c", "import sys\nsys.exit(7)"], stdout=subprocess.PIPE)
    check("status", (failed.returncode, json.loads(failed.stdout)["tool"]), (7, "stats"))


def on_terminal(arguments, **environment):
    """What is shown on a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        for name in ("NO_COLOR", "TERM"):
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **environment})
        os.execv(DYNVM, [DYNVM, *arguments])
    shown = b""
    try:
        while True:
            got = os.read(terminal, 65536)
            if not got:
                break
            shown += got
    except OSError:  # the other side is closed
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return shown


def check_colours(folder):
    script = str(folder / "caches.dl")
    for arguments in (["dis", "--after-run", script], ["stats", "-c", FITS], ["explain", "-c", CASES[2][3]]):
        shown = on_terminal(arguments)
        check(f"{arguments[0]}: colours on a terminal", b"\033[" in shown, True)
        check(f"{arguments[0]}: each line ends plain", [line for line in shown.splitlines() if b"\033[" in line
              and line.rfind(b"\033[0m") < line.rfind(b"\033[") and not line.startswith(b"\033[36m")], [])
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            check(f"{arguments[0]}: {environment}", b"\033[" in on_terminal(arguments, **environment), False)
        check(f"{arguments[0]}: NO_COLOR is empty", b"\033[" in on_terminal(arguments, NO_COLOR=""), True)
        check(f"{arguments[0]}: JSON", b"\033[" in on_terminal([arguments[0], "--json", *arguments[1:]]), False)
    check("no colours in a pipe", b"\033[" in run("dis", script).stdout, False)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_reasons()
        check_loops()
        check_caches(folder)
        check_newer(folder)
        check_streams(folder)
        check_colours(folder)
    print(f"{len(CASES)} reasons, {len(LOOPS)} loops, {checking.failed} things are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
