#!/usr/bin/env python3
"""`dynvm stats` adds up, and is right where a human can say what is right.

 - of every site, instruction and function: executions = hits + misses + generic;
 - sums over sites are the totals of instructions and functions, and of everything;
 - executions and steps fit together, and the steps of all forms are all steps;
 - a site is executed as often at level inca as at level generic, where there is neither a
   derivative nor a fusion to be mistaken about;
 - objects made and removed come to the same at every level, kind by kind, and every entry of a region has its exit;
 - a program counted twice gives the same numbers, and prints what it prints uncounted;
 - small programs have the numbers that were worked out by hand.

usage: counters.py DYNVM [--every=N] [PATTERN]      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import checking  # noqa: E402
from checking import check  # noqa: E402

COUNTS = ("executions", "hits", "misses", "generic", "inside", "unguarded", "deoptimisations", "typed", "same")


def stats(dynvm, program, *options, status=0):
    """The report, and what the program printed on both its streams."""
    done = subprocess.run([dynvm, "stats", "--json", *options, *program], cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode != status:
        raise RuntimeError(f"{program}: status {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout), done.stderr


def add(rows):
    return {name: sum(row[name] for row in rows) for name in COUNTS}


def counts_of(row):
    return {name: row[name] for name in COUNTS}


def check_sums(name, report):
    totals = report["totals"]
    for row in [totals, *report["sites"], *report["instructions"], *report["functions"]]:
        where = row.get("name") or f"{row.get('function')}:{row.get('line')}:{row.get('pc')}"
        check(f"{name}: {where}", row["hits"] + row["misses"] + row["generic"], row["executions"])
    for kind in ("sites", "instructions", "functions"):
        check(f"{name}: sum of {kind}", add(report[kind]), counts_of(totals))
    by_instruction, by_function = {}, {}
    for site in report["sites"]:
        by_instruction.setdefault(site["instruction"], []).append(site)
        by_function.setdefault((site["function"], site["file"]), []).append(site)
    for row in report["instructions"]:
        check(f"{name}: sites of {row['name']}", add(by_instruction[row["name"]]), counts_of(row))
    names = [(row["function"], row["file"]) for row in report["functions"]]
    for row in report["functions"]:
        key = (row["function"], row["file"])
        if names.count(key) == 1 and row["executions"]:
            check(f"{name}: sites of {key[0]}", add(by_function[key]), counts_of(row))
    dispatched = totals["executions"] - totals["inside"] + sum(
        totals[kind] for kind in ("repeated", "entered", "region", "machine"))
    check(f"{name}: steps", dispatched, totals["steps"])
    check(f"{name}: steps of forms", sum(form["steps"] for form in report["forms"]), totals["steps"])
    region = sum(form["steps"] for form in report["forms"] if form["kind"] == "region")
    check(f"{name}: region instructions outside regions", region <= totals["region"], True)
    check(f"{name}: region steps of functions", sum(row["region_steps"] for row in report["functions"]), totals["region"])
    regions, guards = report["regions"], report["guards"]
    check(f"{name}: entries of functions", sum(row["region_entries"] for row in report["functions"]), regions["entries"])
    check(f"{name}: exits of functions", sum(row["region_exits"] for row in report["functions"]), regions["entries"])
    check(f"{name}: exits by reason", sum(regions["exits"].values()), regions["entries"])
    check(f"{name}: guards of sites", guards["executed"] - guards["in_regions"],
          totals["hits"] - totals["unguarded"] + totals["misses"])
    check(f"{name}: failed guards of sites", guards["failed"] - guards["failed_in_regions"], totals["misses"])
    check(f"{name}: exits by guards", regions["exits"]["guard"] <= guards["failed_in_regions"] <= guards["in_regions"], True)
    for site in report["sites"]:
        seen = sum(entry["executions"] for entry in site["types"]) + site["other_types"]
        check(f"{name}: types at {site['function']}:{site['pc']}", max(seen - 1, 0), site["typed"])
        check(f"{name}: same of {site['function']}:{site['pc']}", site["same"] <= site["typed"], True)


def objects(report):
    """Of each kind, those that were made and that need not be made."""
    return {row["kind"]: row["made"] + row["removed"] for row in report["objects"]}


def by_site(report):
    return {(s["file"], s["function"], s["line"], s["pc"]): s["executions"] for s in report["sites"]}


def check_program(dynvm, name, program):
    plain = subprocess.run([dynvm, *program], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)

    def counted(*options):
        report, printed = stats(dynvm, program, *options, status=plain.returncode)
        # Tracebacks are as those of CPython, and name the script as it was named.
        check(f"{name}: output with {options}", printed, plain.stdout)
        check_sums(f"{name} {options}", report)
        return report

    generic = counted("--level=generic")
    check(f"{name}: hits at generic", generic["totals"]["hits"] + generic["totals"]["misses"], 0)
    removed = sum(row["removed"] for row in generic["objects"] if row["kind"] != "tuple")  # generators hand items over
    check(f"{name}: objects removed at generic", removed, 0)
    check(f"{name}: guards at generic", generic["guards"]["executed"], 0)
    expected = by_site(generic)
    for options in (["--level=inca"], ["--level=inca", "--stress=quicken,guard:3"]):
        report = counted(*options)
        got = by_site(report)
        check(f"{name}: objects with {options}", objects(report), objects(generic))
        for site in sorted(expected.keys() | got.keys(), key=str):
            check(f"{name}: executions with {options} at {site}", got.get(site), expected.get(site))
    check(f"{name}: the second time", counted("--level=inca") == counted("--level=inca"), True)
    for options in (["--level=nama"], ["--nama=loop"], ["--stress=guard:7,exit:5"]):
        check(f"{name}: objects with {options}", objects(counted(*options)), objects(generic))


# ---- By hand --------------------------------------------------------------------------------------

def site_of(report, function, instruction, line):
    found = [s for s in report["sites"]
             if (s["function"], s["instruction"], s["line"]) == (function, instruction, line)]
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} sites of {instruction} in line {line}")
    return found[0]


def check_site(what, site, **expected):
    for name, value in expected.items():
        check(f"{what}: {name}", site[name], value)


TYPE_CHANGE = """\
def f(n):
    s = 0
    for i in range(n):
        if i == 700:
            s = 0.5
        s = s + i
    return s
print(f(1000))
"""


def check_type_change(dynvm):
    """8 iterations until the loop is warm; i = 8 to 699 are hits of ADD_INT, 700 to 707 misses of it, 708 to
    723 are waited through, and 724 to 999 are hits of ADD_FLOAT_INT."""
    report, _ = stats(dynvm, ["-c", TYPE_CHANGE], "--level=inca")
    check_site("type change: ADD", site_of(report, "f", "ADD", 6), executions=1000, hits=692 + 276, misses=8,
               generic=8 + 16, deoptimisations=1, typed=999, same=998, form="ADD_NUMBER", other_types=0,
               types=[{"operands": ["int", "int"], "executions": 700}, {"operands": ["float", "int"], "executions": 300}])
    check_site("type change: EQ", site_of(report, "f", "EQ", 4), executions=1000, hits=992, misses=0, generic=8,
               deoptimisations=0, inside=0)
    # Asked once more than there are items, when it is exhausted.
    check_site("type change: FOR_ITER", site_of(report, "f", "FOR_ITER", 3), executions=1001, hits=993, generic=8)
    jump = site_of(report, "f", "JUMP_IF_FALSE", 4)
    check_site("type change: JUMP_IF_FALSE", jump, executions=1000, hits=992, generic=8, inside=992)
    generic, _ = stats(dynvm, ["-c", TYPE_CHANGE], "--level=generic")
    check_site("type change: ADD at generic", site_of(generic, "f", "ADD", 6), executions=1000, generic=1000, hits=0,
               same=998)


SHAPES = """\
class A:
    def __init__(self): self.x = 1
class B:
    def __init__(self): self.y = 2; self.x = 3
def total(items):
    s = 0
    for item in items:
        s += item.x
    return s
print(total([A() for i in range(100)] + [B() for i in range(100)]))
"""


def check_shapes(dynvm):
    """8 iterations warm up; 92 hits for A; 8 misses for B, in the last of which the site becomes polymorphic; 92
    hits for B."""
    report, _ = stats(dynvm, ["-c", SHAPES], "--level=inca")
    check_site("shapes: LOAD_ATTR", site_of(report, "total", "LOAD_ATTR", 8), executions=200, hits=92 + 92, misses=8,
               generic=8, deoptimisations=1, typed=199, same=198, form="LOAD_ATTR_POLY")


OBJECTS = """\
class P:
    def __init__(self, x): self.x = x
    def get(self): return self.x
def f(xs, n):
    t = 0
    for i in range(n):
        a, b, c, d = i, i + 1, 2, 3
        a, b, c, d = b, a * 2, d, c
        for j in range(2): t += a * b
        for k, x in enumerate(xs): t += (k * k + i) * x
    return t
print(f([1, 2, 3], 2000))
p = P(3)
for i in range(1000):
    get = P(i).get
    t = get() + len([1, 2, 3][0:2])
"""


def check_objects(dynvm):
    """f: a tuple in each of the two assignments, 3 of enumerate, its range and iterator, and 2001 ranges; enumerate is its own
    iterator.  The module: 1001 instances, a list, and a method, a slice, a list in each of its 1000 iterations, one range;
    three functions, and the class's body with its dict.  Nothing is shared by cells."""
    expected = {"tuple": 4000 + 6000, "list": 1 + 1000, "range": 1 + 2000 + 1, "iterator": 1 + 2000 + 1, "slice": 1000,
                "bound method": 1000, "instance": 1001, "dict": 1, "function": 3 + 1, "cell": 0}
    for options in (["--level=generic"], ["--level=inca"], ["--nama=loop"], ["--nama=inline"], []):
        report, _ = stats(dynvm, ["-c", OBJECTS], *options)
        check(f"objects with {options}", objects(report), expected)
        removed = {row["kind"]: row["removed"] for row in report["objects"]}
        check(f"objects: tuples removed with {options}", removed["tuple"] > 9000, not options)
        check(f"objects: iterators removed with {options}", removed["iterator"] > 1500, "generic" not in str(options) and
              "inca" not in str(options))


LEFT = """\
def f(xs):
    t = 0
    for x in xs:
        if x == 5: t += xs[0]
        t += x * x
    return t
for i in range(20): f([1, 2, 3] * 400)
f([2] * 100 + [5, 5] + [1] * 50)
f([1] * 10 + ["a"])
"""


def check_exits(dynvm):
    """The region is entered once in each call of f; the last call but one goes a way that is new, the last one meets a
    str, which no region multiplies."""
    report, _ = stats(dynvm, ["-c", LEFT], status=1)
    exits = report["regions"]["exits"]
    check("exits: to a new way", exits["new"] > 0, True)
    check("exits: by a guard", exits["guard"] > 0, True)
    check("exits: at the end", exits["end"] > 10, True)


STRAIGHT = "x = 1\ny = x + 2\nprint(y)\n"


def check_straight(dynvm):
    """A module's code of nine instructions, each once: two of x = 1, four of y = x + 2, and so on."""
    report, _ = stats(dynvm, ["-c", STRAIGHT])
    check("straight: sites executed once", [s["executions"] for s in report["sites"]], [1] * len(report["sites"]))
    check("straight: ADD", site_of(report, "<module>", "ADD", 2)["generic"], 1)
    check("straight: entered", report["totals"]["entered"], 1)


def check_filter(dynvm):
    report, _ = stats(dynvm, ["-c", SHAPES], "--function=total", "--level=inca")
    check("filter: functions", [row["function"] for row in report["functions"]], ["total"])
    check("filter: sites", {s["function"] for s in report["sites"]}, {"total"})


def check_text(dynvm):
    done = subprocess.run([dynvm, "stats", "--level=inca", "--top=2", "-c", TYPE_CHANGE], stdout=subprocess.PIPE,
                          check=True)
    lines = done.stdout.decode().splitlines()
    check("text: program's output first", lines[0], "254850.5")
    check("text: summary", lines[1], "11,021 instructions were executed at level inca, in 4,991 steps")
    check("text: rows of each table", [len(table.splitlines()) - 2 for table in done.stdout.decode().split("\n\n")[1:]],
          [4, 2, 2, 3])
    check("text: a row", any("ADD_FLOAT_INT  f" in line for line in lines), False)
    check("text: no colours", "\033" in done.stdout.decode(), False)


def main():
    dynvm = str(Path(sys.argv[1]).resolve())
    every = next((int(word[len("--every="):]) for word in sys.argv[2:] if word.startswith("--every=")), 1)
    pattern = next((word for word in sys.argv[2:] if not word.startswith("--")), "")
    for by_hand in (check_type_change, check_shapes, check_objects, check_exits, check_straight, check_filter, check_text):
        by_hand(dynvm)
    sizes = json.loads((ROOT / "bench" / "programs" / "sizes.json").read_text())
    programs = {name: [f"bench/programs/{name}.dl", str(by_use["test"])] for name, by_use in sizes.items()}
    for name in ("data/fusions", "call/calls_recursive", "call/method_calls", "class/polymorphic_sites", "data/unpacking_hot",
                 "data/iterator_shared", "inline/virtual_joins", "inline/virtual_objects", "virtual/virtual_lists"):
        programs[name] = [f"tests/levels/{name}.dl"]
    # Expressions that are fused, keys that are not made, and results that are kept.
    if (Path(dynvm).parent / "ext" / "ndarray.so").exists():
        programs.update({name: [f"bench/probes/{name}.py"] for name in ("n1", "n2", "fx", "fx3")})
        # (Warnings would come between the lines that are printed, now here and now there.)
        programs.update({name: ["-W", "ignore", f"tests/ndarray/site/{name}.dl"] for name in (
            "fuse", "fuse_calls", "fuse_few", "fuse_numbers", "fuse_out", "fuse_rows", "fuse_store", "fuse_views")})
    chosen = [name for name in list(programs)[::every] if pattern in name]
    for name in chosen:
        check_program(dynvm, name, programs[name])
    print(f"{len(chosen)} programs, {checking.failed} numbers are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
