#!/usr/bin/env python3
"""What single operations on arrays cost, in ns for one: ndarray at each level against NumPy on CPython.

    python3 bench/arrays/micro.py [--dynvm build/dynvm] [--quick] [--all] [--over 1.05] [--rounds 7] [PATTERN ...]

Each case is a statement, executed 10 times (2 for large sizes) in the loop of a function of its own for each size.  A process runs all sizes
of a case; NumPy and dynvm take turns, and the minima of the rounds count, less those of an empty loop.  Patterns choose cases by
what their names contain; --all has one for nearly everything that the module can do.  The output is a Markdown table: NumPy's ns,
ndarray's, and ndarray's as a part of NumPy's; with --over only the rows where that is more."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

OPERATIONS = Path(__file__).resolve().parent / "operations.txt"
REPEATS, LARGE, LARGE_REPEATS = 10, 100_000, 2
SIZES, QUICK_SIZES = (1, 4, 100, 10_000, 1_000_000), (4, 1_000, 100_000)
PROGRAM = """
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
    r = int(n ** 0.5)
    q = (np.arange(r * r) * 0.25 - 1.0).reshape(r, r)
    f = a.astype(np.float32)
    z = a + 1j * b
    mask = k % 3 == 1
    j = (k * 7 + 3) % n
    h = np.random.RandomState(1).rand(n)
    w = np.random.RandomState(2).randint(0, 1000, n)
    o = q.copy()
    t = k.astype(np.int32)
    e = q[0]
    return a, b, a * 2, b + 7, m, k, s, i, x, q, f, z, mask, j, h, w, o, t, e
"""
LOOP = """
def loop_{n}(turns, a, b, c, d, m, k, s, i, x, q, f, z, mask, j, h, w, o, t, e):
    start = time.process_time()
    for turn in range(turns):
{body}
    return time.process_time() - start

given = prepare({n})
loop_{n}(30, *given)
best = loop_{n}({turns}, *given)
for again in range(2):
    best = min(best, loop_{n}({turns}, *given))
print(best)
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


def turns_of(n: int) -> int:
    return max(2, min(4_000, 20_000_000 // (n + 1) // 2 // repeats_of(n)))


def repeats_of(n: int) -> int:
    return REPEATS if n < LARGE else LARGE_REPEATS


def program(statement: str, sizes: tuple, module: str) -> str:
    parts = [PROGRAM.format(module=module)]
    for n in sizes:
        turns = turns_of(n)
        body = f"        {statement}\n" * repeats_of(n)
        parts.append(LOOP.format(n=n, turns=turns, body=body))
    return "".join(parts)


def run(command: list, statement: str, sizes: tuple, module: str, environment: dict) -> list:
    text = program(statement, sizes, module)
    done = subprocess.run([*command, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True,
                          env=environment)
    return [float(line) / turns_of(n) / repeats_of(n) * 1e9 for line, n in zip(done.stdout.split(), sizes)]


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
    sizes = QUICK_SIZES if options.quick else SIZES
    more = [(line, sizes) for line in OPERATIONS.read_text().splitlines() if not line.startswith("#")] if options.all else []
    rounds = options.rounds or (2 if options.quick else 7)
    levels = options.level or ["inca"]
    environment = {**os.environ, "DYNVM_PATH": str(options.dynvm.resolve().parent / "ext"), "NPY_PROMOTION_STATE": "weak",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    peers = [("numpy", [options.python])] + [("ndarray", [str(options.dynvm), f"--level={x}"]) for x in levels]
    chosen = [(s, sizes) for s in SIZED] + [(s, (4,)) for s in FIXED] + more
    chosen = [c for c in chosen if not options.patterns or any(p in c[0] for p in options.patterns)]
    print("| operation | n | NumPy | " + " | ".join(f"{x}" for x in levels) + " | " +
          " | ".join(f"{x} / NumPy" for x in levels) + " |")
    print("|---|---|---|" + "---|" * (2 * len(levels)))
    empty = {}
    for statement, of in [(NOTHING, sizes + (4,) * (4 not in sizes)), *chosen]:
        best = [[float("inf")] * len(of) for _ in peers]
        try:
            for _ in range(rounds):
                for p, (module, command) in enumerate(peers):
                    found = run(command, statement, of, module, environment)
                    best[p] = [min(pair) for pair in zip(best[p], found)]
        except subprocess.CalledProcessError as error:
            print(f"| `{statement}` | | | {Path(error.cmd[0]).name} fails |", flush=True)
            continue
        if statement == NOTHING:
            empty = {(p, n): best[p][i] for p in range(len(peers)) for i, n in enumerate(of)}
            continue
        for i, n in enumerate(of):
            ns = [max(best[p][i] - empty[p, n], 0.05) for p in range(len(peers))]
            if max(ns[1:]) <= options.over * ns[0]:
                continue
            print(f"| `{statement}` | {n} | " + " | ".join(f"{x:.1f}" if x < 100 else f"{x:.0f}" for x in ns) + " | " +
                  " | ".join(f"{x / ns[0]:.2f}" for x in ns[1:]) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
