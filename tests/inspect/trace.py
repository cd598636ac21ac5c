#!/usr/bin/env python3
"""`dynvm trace`: what happened to functions, sites and loops, in its order.

 - for each kind of event, a small program to which it happens, at the place where it must;
 - the life of a site has an order: nothing quickens in a cold function, no region is left before it is entered;
 - the log agrees with what `dynvm stats` counts, and what is kept and what is dropped are all that happened;
 - it is bounded for a site that changes for ever, and the same in every run;
 - text has a line for each line of JSON; --function selects; what the program prints goes where it should.

usage: trace.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())


def run(text, *arguments):
    return subprocess.run([DYNVM, *arguments, "-"], input=text.encode(), capture_output=True, timeout=60, check=True)


def trace(text, *options):
    """The line about all, and those of the events."""
    lines = [json.loads(line) for line in run(text, "trace", "--json", *options).stdout.splitlines()]
    return lines[0], lines[1:]


LOOP = """\
def f(items):
    s = 0
    for x in items:
        s = s + x
    return s
"""
# A kind of event; what it must say; the program.
CASES = [
    ("warm", {"function": "f", "line": 1}, LOOP + "for i in range(50): f([1, 2])\n"),
    ("quickened", {"function": "f", "line": 4, "instruction": "ADD", "form": "ADD_INT", "operands": "int, int"},
     LOOP + "f([1] * 100)\n"),
    ("missed", {"function": "f", "line": 4, "instruction": "ADD", "operands": "int, float"},
     LOOP + "f([1] * 100 + [0.5])\n"),
    ("backed-off", {"function": "f", "line": 4, "instruction": "ADD", "form": "ADD_INT", "waits": 16},
     LOOP + "f([1] * 100); f([0.5] * 100)\n"),
    ("backed-off", {"line": 3, "instruction": "TRUEDIV", "reason": "no derivative for these types", "waits": 31},
     "def f(x):\n    for i in range(400):\n        y = x / 3\nf(2 ** 70)\n"),
    ("covered", {"function": "f", "line": 3, "instruction": "GET_ITER"},
     "def f(n):\n    for i in range(n):\n        for j in range(3):\n            i + j\nf(40)\n"),
    ("generic", {"line": 6, "instruction": "LOAD_ATTR"}, """\
def f(items):
    s = 0
    for i in range(40):
        for item in items:
            # of more than four layouts
            s += item.x
    return s
class C0:
    def __init__(self, i): self.x = i
class C1(C0): pass
class C2(C0): pass
class C3(C0): pass
class C4(C0): pass
class C5(C0): pass
f([k(1) for k in (C0, C1, C2, C3, C4, C5)])
"""),
    ("made", {"function": "f", "line": 3}, LOOP + "f([1] * 2000)\n"),
    ("entered", {"function": "f", "line": 3}, LOOP + "f([1] * 2000)\n"),
    ("left", {"function": "f", "line": 3, "reason": "end"}, LOOP + "f([1] * 2000)\n"),
    ("left", {"function": "f", "line": 3, "reason": "guard"}, LOOP + "f([1] * 2000 + [0.5])\n"),
    ("retired", {"function": "f", "line": 3, "reason": "types"}, LOOP + "f([1] * 2000 + [1 << 70] * 6000)\n"),
    ("refused", {"function": "f", "line": 2, "reason": "objects"},
     "def f(s):\n    for i in range(5000):\n        s.strip().lower()\nf('A')\n"),
]


def test_kinds():
    for kind, says, program in CASES:
        events = [event for event in trace(program)[1] if event["event"] == kind]
        fits = [event for event in events if all(event.get(key) == value for key, value in says.items())]
        check(f"{kind} {says}", bool(fits) or events, True)
    check("kinds without a program", {kind for kind, *_ in CASES} ^ set(trace("")[0]["happened"]), set())
    check("nothing happens at level generic", trace(LOOP + "f([1] * 2000)\n", "--level=generic")[1], [])


# Changes of type for ever, in a loop whose region is made and given up again.
RESTLESS = LOOP + "for i in range(300): f([1] * 600 + [1j])\n"


def test_order():
    warm, entered, last = set(), {}, 0
    for event in trace(RESTLESS)[1]:
        place, kind = (event["function"], event["pc"]), event["event"]
        check("time goes on", event["step"] >= last, True)
        last = event["step"]
        if kind == "warm":
            warm.add(event["function"])
        elif kind in ("quickened", "backed-off", "made"):
            check(f"{kind} in a warm function", event["function"] in warm, True)
        elif kind == "entered":
            entered[place] = event["number"]
        elif kind == "left":
            check("it was entered as often as it is left", entered.get(place), event["number"])


def test_counts():
    for program in [RESTLESS, *(program for *_, program in CASES)]:
        about, events = trace(program)
        for kind, happened in about["happened"].items():
            kept = sum(event["event"] == kind for event in events)
            check(f"{kind}: kept and dropped", kept + about["dropped"][kind], happened)
        stats = json.loads(run(program, "stats", "--json").stdout)
        check("steps", about["steps"], stats["totals"]["steps"])
        check("misses", about["happened"]["missed"], stats["totals"]["misses"])
        check("entries", about["happened"]["entered"], stats["regions"]["entries"])
        check("exits", about["happened"]["left"], sum(stats["regions"]["exits"].values()))


def test_bounded():
    about, events = trace(RESTLESS)
    check("it is long", about["happened"]["missed"] > 100, True)
    check("what is kept of one kind and place", max(
        sum((event["event"], event["pc"]) == (other["event"], other["pc"]) for event in events) for other in events) <= 16, True)
    check("later ones are powers of two", [event["number"] for event in events if event["number"] > 8
                                           and event["number"] & event["number"] - 1], [])
    # More sites than the log has room for: what is not kept is counted.
    body = "".join(f"    x = x + {i}\n" for i in range(35000))
    about, events = trace(f"def f(x):\n{body}for i in range(20): f(1)\nfor i in range(20): f(0.5)\n")
    check("the log is full", len(events), 1 << 16)
    check("and says so", sum(about["dropped"].values()) > 0, True)


def test_output():
    text = run(RESTLESS, "trace").stdout.decode().splitlines()
    about, events = trace(RESTLESS)
    check("a line for each event, and one for what is dropped", len(text), len(events) + 1)
    check("the kinds of the lines", [line.split()[1] for line in text[:-1]], [event["event"] for event in events])
    check("the last line", text[-1], "not listed: " + ", ".join(
        f"{dropped} of {about['happened'][kind]} {kind}" for kind, dropped in about["dropped"].items() if dropped))
    check("the same again", trace(RESTLESS), (about, events))
    check("one function", [event for event in events if event["function"] == "f"], trace(RESTLESS, "--function=f")[1])
    done = run("print('hello')", "trace", "--json")
    check("JSON alone on stdout", (len(done.stdout.splitlines()), done.stderr), (1, b"hello\n"))


for test in (test_kinds, test_order, test_counts, test_bounded, test_output):
    test()
print(f"{len(CASES)} kinds of events, {checking.failed} things are wrong")
sys.exit(checking.failed > 0)
