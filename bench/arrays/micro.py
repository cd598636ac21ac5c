#!/usr/bin/env python3
"""What single operations on arrays cost, in ns for one: ndarray at each level against NumPy on CPython.

    python3 bench/arrays/micro.py [--dynvm build/dynvm] [--quick] [--all] [--over 1.05] [--rounds 7] [PATTERN ...]

Each case is a statement, executed 10 times (once for large sizes) in the loop of a function of its own.  A process runs a few cases at
one size, each until it has taken 2 ms, several times; NumPy and dynvm take turns, and the minima of all rounds count, less those of
an empty loop.  Patterns choose cases by what their names contain; --all has one for nearly everything that the module can do.  The
output is a Markdown table: NumPy's ns, ndarray's, and ndarray's as a part of NumPy's; with --over only the rows where that is more."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from progress import Progress  # noqa: E402

OPERATIONS = Path(__file__).resolve().parent / "operations.txt"
REPEATS, LARGE = 10, 100_000
SIZES, QUICK_SIZES = (1, 4, 100, 10_000, 1_000_000), (4, 1_000, 100_000)
GROUP = 24
STORES = ("= ", "out=", "fill(", "copyto(", "shuffle(")  # what a statement that may change its arrays has in it
PREPARE = """
import time
import {module} as np

def prepare(n):
    a = np.arange(n) * 1.5 + 1.0
    b = np.arange(n) * 0.5 + 2.0
    m = np.arange(16.0).reshape(4, 4)
    k = np.arange(n)
    s = 2.5
    i = 0
    x = np.zeros(n)
    y = a.copy()
    r = int(n ** 0.5)
    q = (np.arange(r * r) * 0.25 - 1.0).reshape(r, r)
    o = q.copy()
    e = q[0]
    l = int(round(n ** (1 / 3)))
    v = (np.arange(l ** 3) * 0.5).reshape(l, l, l)
    h = np.random.RandomState(1).rand(n)
    w = np.random.RandomState(2).randint(0, 1000, n)
    f = a.astype(np.float32)
    g = h.astype(np.float32)
    p = (h * 3 + 1).astype(np.float32)
    t = k.astype(np.int32)
    u = (w % 251).astype(np.uint8)
    z = a + 1j * b
    mask = k % 3 == 1
    j = (k * 7 + 3) % n
    jr = (np.arange(r) * 7 + 3) % r
    q32 = q.astype(np.float32)
    qi = np.arange(r * r).reshape(r, r)
    qz = q + 1j
    qm = h[:r * r].reshape(r, r) > 0.5
    return a, b, a * 2, b + 7, m, k, s, i, x, y, q, o, e, v, h, w, f, g, p, t, u, z, mask, j, jr, q32, qi, qz, qm
"""
LOOP = """
def loop_{number}(turns, a, b, c, d, m, k, s, i, x, y, q, o, e, v, h, w, f, g, p, t, u, z, mask, j, jr, q32, qi, qz, qm):
    start = time.process_time()
    for turn in range(turns):
{body}
    return time.process_time() - start
"""
# How often the loop goes round is found by going round once; in the end each case has been executed 18 times at least, of which eight
# make it hot.
MEASURE = """
try:
    once = max(min(loop_{number}(1, *given), loop_{number}(2, *given) / 2), 1e-8)
    turns = max(3, min({turns}, int(0.002 / once)))
    best = loop_{number}(turns, *given)
    for again in range(4):
        best = min(best, loop_{number}(turns, *given))
    print({number}, best / turns)
except Exception as error:
    print({number}, "fails:", type(error).__name__, str(error).split("\\n")[0])
"""
# Statements for all sizes, and those whose size is in them.
NOTHING = "pass"
SIZED = [
    "a + b", "y = a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a + 1.0", "y = a * s", "1.0 - a", "a / 2.0",
    "a ** 2", "k + k", "y = k * 3", "k // 3", "k + a", "a += b", "a *= 1.0", "x += s", "-a", "abs(a)", "a < b", "a == b", "a > 1.0",
    "np.sqrt(a)", "np.exp(a)", "np.minimum(a, b)", "np.add(a, b)", "np.add(a, b, out=x)", "a.sum()", "np.sum(a)", "a.max()", "a.min()",
    "a.mean()", "np.max(a)", "a[1:]", "a[:-1] + a[1:]", "a * b + c * d - 1.0", "y = a * s + b", "a * a + b * b",
    "np.sqrt(a * a + b * b)", "y = np.sqrt(a * b) + c", "y = 1.0 - a * b", "x[...] = a * b + c", "x += a * b",
    "x[1:-1] = a[1:-1] * b[1:-1] + c[1:-1]", "a.copy()", "a[:] = b", "np.zeros(4)", "a @ b",
]
FIXED = [
    "a[i]", "y = a[i]", "a[i] = s", "m[i, 1]", "m[i, 1] = s", "m[1, 2]", "m[1, 2] = s", "m[1]", "m[1, :]", "m[:, 1]",
    "m[i, :]", "a[i:]", "m[1:, 2:]", "m[1:-1, 1:-1] + m[:-2, 1:-1]", "a.shape", "a.T",
    "m.T", "a.size", "a.ndim", "len(a)", "m + m", "m * a[:4]", "m.sum()", "m.sum(axis=0)", "m @ m",
]


def program(statements: list, n: int, module: str) -> str:
    repeats = REPEATS if n < LARGE else 1
    parts = [PREPARE.format(module=module)]
    parts += [LOOP.format(number=number, body=f"        {statement}\n" * repeats) for number, statement in enumerate(statements)]
    for number, statement in enumerate(statements):
        if number == 0 or any(mark in statements[number - 1] for mark in STORES):
            parts.append(f"given = prepare({n})\n")
        parts.append(MEASURE.format(number=number, turns=4_000 // repeats))
    return "".join(parts)


def run(command: list, statements: list, n: int, module: str, environment: dict) -> list:
    """ns for each of `statements`, or the text of what it failed with"""
    done = subprocess.run([*command, "-c", program(statements, n, module)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          text=True, env=environment)
    found = [line.split(None, 1)[1] for line in done.stdout.splitlines()]
    return [x if x.startswith("fails") else float(x) / (REPEATS if n < LARGE else 1) * 1e9 for x in found]


def compare(statements: list, n: int, peers: list, rounds: int, environment: dict) -> list:
    """For each of `statements` the minima of all peers, less those of an empty loop; or a text, of one that fails."""
    best = [[float("inf")] * (len(statements) + 1) for _ in peers]
    for _ in range(rounds):
        for p, (module, command) in enumerate(peers):
            found = run(command, [NOTHING, *statements], n, module, environment)
            for c, ns in enumerate(found):
                best[p][c] = f"{module} {ns}" if isinstance(ns, str) else min(best[p][c], ns)
    columns = zip(*[column[1:] for column in best])
    return [next((x for x in column if isinstance(x, str)), None) or [max(x - best[p][0], 0.05) for p, x in enumerate(column)]
            for column in columns]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=Path("build/dynvm"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--level", action="append", choices=["generic", "inca", "nama"], help="more than one: more columns")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all", action="store_true", help="also what operations.txt has")
    parser.add_argument("--over", type=float, default=0.0, help="only rows where a level takes more than this part of NumPy's time")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    rounds = options.rounds or (2 if options.quick else 7)
    levels = options.level or ["inca"]
    environment = {**os.environ, "NPY_PROMOTION_STATE": "weak",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    peers = [("numpy", [options.python])] + [("ndarray", [str(options.dynvm), f"--level={x}"]) for x in levels]
    more = [line for line in OPERATIONS.read_text().splitlines() if not line.startswith("#")] if options.all else []
    sized, fixed = ([c for c in cases if not options.patterns or any(p in c for p in options.patterns)] for cases in (SIZED + more, FIXED))
    print("| operation | n | NumPy | " + " | ".join(f"{x}" for x in levels) + " | " +
          " | ".join(f"{x} / NumPy" for x in levels) + " |")
    print("|---|---|---|" + "---|" * (2 * len(levels)))
    shown = Progress(len(sized) + len(fixed), "operations")
    for cases, sizes in ((sized, QUICK_SIZES if options.quick else SIZES), (fixed, (4,))):
        for first in range(0, len(cases), GROUP):
            group = cases[first:first + GROUP]
            shown.now(group[0])
            tables = [compare(group, n, peers, rounds, environment) for n in sizes]
            shown.clear()
            shown.done += len(group)
            for c, statement in enumerate(group):
                for n, table in zip(sizes, tables):
                    ns = table[c]
                    if isinstance(ns, str):
                        print(f"| `{statement}` | {n} | | {ns} |", flush=True)
                    elif max(ns[1:]) > options.over * ns[0]:
                        print(f"| `{statement}` | {n} | " + " | ".join(f"{x:.1f}" if x < 100 else f"{x:.0f}" for x in ns) + " | " +
                              " | ".join(f"{x / ns[0]:.2f}" for x in ns[1:]) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
