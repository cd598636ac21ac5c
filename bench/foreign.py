#!/usr/bin/env python3
"""What a call of a C function through ext/ffi costs: `C.cos(x)` in a loop, against `math.cos(x)` in the same loop, and
against CPython with cffi.

    python3 bench/foreign.py --dynvm build/dynvm [--rounds 7]

Each loop has 20 calls; minima of the rounds, alternating, in ns for one.  The time of `pass` is taken off."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ORACLE = "/usr/bin/python3"
REPEATS, TURNS = 20, 200_000
PROGRAM = """
import math
import time
from {module} import FFI

ffi = FFI()
ffi.cdef("double cos(double); int abs(int);")
C = ffi.dlopen("libm.so.6")
L = ffi.dlopen(None)

def loop(x, i, n):
    s = 0.0
    for k in range(n):
{body}

loop(0.7, -5, 1000)
start = time.process_time()
loop(0.7, -5, {turns})
print(time.process_time() - start)
"""
STATEMENTS = ["pass", "s = math.cos(x)", "s = C.cos(x)", "s = L.abs(i)"]
LEVELS = ["nama", "inca", "generic", "cpython"]


def seconds(dynvm: Path, level: str, statement: str) -> float:
    cpython = level == "cpython"
    text = PROGRAM.format(module="cffi" if cpython else "ffi", body=f"        {statement}\n" * REPEATS, turns=TURNS)
    command = [ORACLE] if cpython else [str(dynvm), f"--level={level}"]
    environment = {**os.environ, "DYNVM_PATH": str(dynvm.parent / "ext")}
    done = subprocess.run([*command, "-c", text], stdout=subprocess.PIPE, check=True, text=True, env=environment)
    return float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=Path("build/dynvm"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    cells = [(level, statement) for statement in STATEMENTS for level in LEVELS]
    best = {cell: float("inf") for cell in cells}
    for _ in range(options.rounds):
        for cell in cells:
            best[cell] = min(best[cell], seconds(options.dynvm, *cell))
    print("| ns | " + " | ".join(LEVELS) + " |\n|---" * 1 + "|---" * len(LEVELS) + "|")
    for statement in STATEMENTS[1:]:
        row = [(best[level, statement] - best[level, "pass"]) / REPEATS / TURNS * 1e9 for level in LEVELS]
        print(f"| `{statement}` | " + " | ".join(f"{ns:.1f}" for ns in row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
