#!/usr/bin/env python3
"""What a call of a C function through ext/ffi costs, against the same loop with math, on CPython with cffi, and in C.

    python3 bench/foreign.py --dynvm build/dynvm [--rounds 7]

Two tables in ns, minima of alternating rounds.  The first: one of 20 statements in a loop, less the loop with nothing in
it.  The second: loops as programs have them, whole, for one iteration.  `c` is the same text compiled with `cc -O2
-fno-builtin`: what remains when there is no interface at all.  `x` is CPython's time in ours (nama); `most` in C's: more
no interpreter can reach."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from progress import progress

ORACLE = "/usr/bin/python3"
TURNS = 200_000
PROGRAM = """
import math
import time
from {module} import FFI

ffi = FFI()
ffi.cdef("double cos(double); double fabs(double); int abs(int);")
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
C_PROGRAM = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* Through pointers that nothing is known of, as from a library that was opened. */
static double (*volatile C_cos)(double) = cos, (*volatile C_fabs)(double) = fabs;
static int (*volatile C_abs)(int) = abs;
__attribute__((noinline)) static void loop(double x, int i, int n) {{
    double (*my_cos)(double) = C_cos, (*my_fabs)(double) = C_fabs;
    int (*my_abs)(int) = C_abs;
    (void)x, (void)i, (void)my_cos, (void)my_fabs, (void)my_abs;
    volatile double s = 0.0;
    for (int k = 0; k < n; k++) {{
{body}
    }}
}}
int main(void) {{
    loop(0.7, -5, 1000);
    clock_t start = clock();
    loop(0.7, -5, {turns});
    printf("%.9f", (double)(clock() - start) / CLOCKS_PER_SEC);
    return 0;
}}
"""
CALLS = ["pass", "s = math.cos(x)", "s = C.cos(x)", "s = C.fabs(x)", "s = L.abs(i)"]
LOOPS = [
    "s += math.cos(x)",
    "s += C.cos(x)",
    "s += C.cos(k * 0.5)",
    "s += C.cos(k * 1e-9)",
    "s += C.fabs(x)",
    "s += C.fabs(k * 0.5)",
    "s += L.abs(i)",
]
LEVELS = ["nama", "inca", "generic", "cpython", "c"]


def c_seconds(statement: str, repeats: int, turns: int, directory: Path) -> float:
    """The statement in C: it is the same text without the modules."""
    program = directory / f"{abs(hash((statement, repeats)))}"
    if not program.exists():
        line = re.sub(r"pass|\b(math|C|L)\.", lambda found: "my_" if found[1] else "", statement)
        text = C_PROGRAM.format(body=f"{line};\n" * repeats, turns=turns)
        command = ["cc", "-O2", "-fno-builtin", "-x", "c", "-", "-o", str(program), "-lm"]
        subprocess.run(command, input=text, text=True, check=True)
    return float(subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout)


def seconds(options: argparse.Namespace, level: str, statement: str, repeats: int, turns: int) -> float:
    if level == "c":
        return c_seconds(statement, repeats, turns, options.directory)
    cpython = level == "cpython"
    body = f"        {statement}\n" * repeats
    text = PROGRAM.format(module="cffi" if cpython else "ffi", body=body, turns=turns)
    command = [ORACLE] if cpython else [str(options.dynvm), f"--level={level}"]
    done = subprocess.run([*command, "-c", text], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout)


def measure(options: argparse.Namespace, statements: list[str], repeats: int, turns: int) -> dict:
    """Nanoseconds for one statement by statement and level."""
    cells = [(statement, level) for statement in statements for level in LEVELS]
    best = {cell: float("inf") for cell in cells}
    for statement, level in progress(cells * options.rounds, "runs"):
        took = seconds(options, level, statement, repeats, turns) / repeats / turns * 1e9
        best[statement, level] = min(best[statement, level], took)
    return best


def show(title: str, statements: list[str], figure) -> None:
    print(f"\n| {title} | " + " | ".join([*LEVELS, "x", "most"]) + " |\n|---" + "|---" * (len(LEVELS) + 2) + "|")
    for statement in statements:
        row = [figure(statement, level) for level in LEVELS]
        ratios = [row[3] / row[0], row[3] / max(row[4], 0.1)]
        print(f"| `{statement}` | " + " | ".join(f"{value:.1f}" for value in [*row, *ratios]) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=Path("build/dynvm"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        options.directory = Path(directory)
        calls = measure(options, CALLS, 20, TURNS)
        loops = measure(options, LOOPS, 1, 5 * TURNS)
    show("ns for a call", CALLS[1:], lambda s, level: calls[s, level] - calls["pass", level])
    show("ns for an iteration", LOOPS, lambda s, level: loops[s, level])
    return 0


if __name__ == "__main__":
    sys.exit(main())
