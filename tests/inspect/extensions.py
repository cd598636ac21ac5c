#!/usr/bin/env python3
"""What the tools say of sites of extensions: why an expression of several operations is not one instruction, why
derivatives missed, and how many combinations of types sites saw.

usage: extensions.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = Path(sys.argv[1]).resolve()

START = """\
import ndarray as np
n = 100
a, b, c, d, r = np.ones(n), np.ones(n), np.ones(n), np.ones(n), np.ones(n)
"""


def tool(name, text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".dl") as script:
        script.write(START + text)
        script.flush()
        return subprocess.run([DYNVM, name, *options, "--level=inca", script.name], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


def report(name, text, *options):
    return json.loads(tool(name, text, "--json", *options))


def hot(expression, before="", times=150):
    return f"def f(a, b, c, d, r):\n    return {expression}\n{before}for i in range({times}): f(a, b, c, d, r)\n"


# The expression, and what `explain` says where it ends: how it is fused where nobody counts, or why not.
EXPLAINED = [
    ("a * b + c", "fused", "FUSED_EXPRESSION"),
    ("np.add(a * b, c, out=r)", "fused", "FUSED_OUT"),
    ("np.sqrt(a * a + b * b, r)", "fused", "FUSED_OUT"),
    ("(a * b).sum()", "fused", "FUSED_REDUCTION"),
    ("a * b", None, None),
    ("np.add(a, b, out=r)", None, None),
]


def check_explain():
    for expression, key, value in EXPLAINED:
        rows = [row for row in report("explain", hot(expression))["expressions"] if row["line"] == 5]
        check(f"explain {expression}", [(row.get(key), row["executions"]) for row in rows][-1:], [(value, 150)] if key else [])
    few = "a, b = a[:4], b[:4]\n"
    rows = report("explain", hot("a * b - a", few))["expressions"]
    check("explain: few elements", [(row["line"], row["column"], row["reason"]) for row in rows],
          [(5, 12, "of so few elements the operations one by one are faster")])
    text = tool("explain", hot("a * b - a", few))
    check("explain: text", "why:  of so few elements the operations one by one are faster" in text and "column 12, 150 times" in text, True)
    check("explain: nothing to say", "one operation at a time" in tool("explain", hot("a * b + c")), False)


# What makes the fused expression leave it to the operations, and the reason that a listing gives.
LEFT = [
    ("a * b + c", "f(a, b[:5], c, d, r)", "shapes do not fit"),
    ("a * b + c", "f(np.ones((4, 3)).T, *[np.ones((3, 4))] * 4)", "an operand is not laid out in C order"),
    ("a * b + c", "f(*[np.array(1.5)] * 5)", "an operand is without dimensions"),
    ("a // b + c", "f(a, b * 0, c, d, r)", "a floating point flag is up, which an operation tells of"),
    ("np.add(a * b, c, out=r)", "f(a, b, c, d, np.ones(n, dtype='int64'))", "an operation has no loop for these dtypes"),
    ("np.add(a * b, c, out=r)", "f(a, b, c, d, np.ones((2, n)))", "the result has not the shape of what it is stored to"),
    ("np.add(a * b, c, out=r)", "f(a[1:], r[1:], c[1:], d, r[:-1])", "the target overlaps what is read: by way of an array in between"),
    ("np.add(a * b, c, out=r)", "f(a, b, c, d, 1.5)", "an operand is of another type"),
]


def check_listing():
    for expression, last, reason in LEFT:
        text = hot(expression) + f"for i in range(3):\n    try: {last}\n    except (ValueError, TypeError): pass\n"
        functions = report("dis", text, "--after-run")["functions"]
        found = [row["reasons"] for function in functions if function["function"] == "f" for row in function["instructions"]
                 if row.get("reasons") and row["form"].startswith("FUSED")]
        check(f"{last}: {expression}", [row.get(reason) for row in found], [3])
    check("dis: text", "shapes do not fit (3)" in tool("dis", hot("a * b + c") + "for i in range(3):\n    try: f(a, b[:5], c, d, r)\n"
                                                       "    except ValueError: pass\n", "--after-run"), True)


def check_stats():
    text = hot("a + b") + "for i in range(20): f(1, 2, c, d, r)\nfor i in range(100): f(np.ones(3, dtype='int64'), b[:3], c, d, r)\n"
    said = report("stats", text)["extensions"]
    sites = [row for row in said["sites"] if row["line"] == 5]
    check("stats: one site of f", len(sites), 1)
    check("stats: a miss for each of another type", sites[0]["reasons"].get("an operand is of another type"), 8)
    check("stats: types", said["types"]["two"], 1)
    check("stats: sums", sum(said["types"].values()) <= said["count"] and sum(said["reasons"].values()) >= 8, True)
    shown = tool("stats", text)
    check("stats: text", "Sites that extensions were asked about" in shown and "an operand is of another type" in shown, True)
    check("stats: no extension", "extensions were asked" in tool("stats", "").split("Sites of instructions")[0], False)


def probe(name, *options):
    """Of a probe of bench, the report of a tool about it at level nama."""
    script = Path(__file__).resolve().parents[2] / "bench" / "probes" / name
    return json.loads(subprocess.run([DYNVM, *options, "--json", script], check=True, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout)


def check_probes():
    """Fused expressions and keys that are dropped count as what they are; results say why they are new ones."""
    said = probe("n1.py", "explain")
    check("n1: slow sites", said["sites"], [])
    check("n1: loops", [(loop["reason"], "at" in loop) for loop in said["loops"]], [("arrays", False)])
    check("n1: fused", {(row["line"], row.get("fused")) for row in said["expressions"]},
          {(6, "FUSED_EXPRESSION"), (9, "FUSED_EXPRESSION"), (10, "FUSED_STORE")})
    stats = probe("n1.py", "stats")
    made = {row["kind"]: (row["made"] < 100, row["made"] + row["removed"]) for row in stats["objects"]}
    check("n1: objects", (made["slice"], made["tuple"]), ((True, 12000), (True, 6000)))
    check("n1: hits of what has no derivatives", [row for row in stats["instructions"] if row["hits"] and not row["quickens"]], [])

    stats = probe("n2.py", "stats")
    sites = {(site["line"], site["pc"]): site for site in stats["sites"]}
    counts = {}
    for site in stats["extensions"]["sites"]:
        counted = sites[site["line"], site["pc"]]
        check(f"n2: misses of line {site['line']}", sum(site["reasons"].values()), counted["misses"])
        if not site["counts"]:
            continue
        counts[site["line"]] = site["counts"]
        derived = counted["hits"] + counted["in_regions"] * ("ADAPTIVE" not in site["form"])
        check(f"n2: results of line {site['line']}", sum(site["counts"].values()), derived)
    again, no_more = "a kept result was used again", "results are kept no more: a new one"
    check("n2: results", {line: set(row) for line, row in counts.items()},
          {6: {again, no_more, "kept results have another owner: a new one"},
           13: {again, no_more, "kept results have another shape: a new one"}, 21: {again, no_more}})
    site, = probe("n2.py", "explain")["sites"]
    check("n2: explain", (site["line"], site["reason"], site["extension"]), (21, "extension", "an operand has another dtype"))


# What runs three times, on how many elements, and whether it is one instruction then.
EARLY = [
    (100000, "for i in range(3): f(a, b, c, d, r)\n", True),
    (100000, "def g():\n    for i in range(3):\n        y = a * b + c\ng()\n", True),
    (100000, "f(a, b, c, d, r)\n", False),
    (100, "for i in range(3): f(a, b, c, d, r)\n", False),
]


def check_warm_up():
    for n, text, expected in EARLY:
        before = f"n = {n}\na, b, c, d, r = np.ones(n), np.ones(n), np.ones(n), np.ones(n), np.ones(n)\n"
        listing = tool("dis", before + hot("a * b + c", times=0) + text, "--after-run")
        check(f"warm-up: {n} elements: {text!r}", "FUSED_EXPRESSION" in listing, expected)


def main():
    if not (DYNVM.parent / "ext" / "ndarray.so").exists():
        print("no ndarray: nothing to do")
        return 0
    check_explain()
    check_warm_up()
    check_listing()
    check_stats()
    check_probes()
    print(f"{len(EXPLAINED)} expressions, {len(LEFT)} reasons, {checking.failed} things are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
