#!/usr/bin/env python3
"""What a derivative of an extension costs against an instruction of the VM: `~x` of an int (INVERT_INT), and
`~x` and `x @ x` of a Noop (tests/ext/noop.c), which do nothing, by native and portable derivatives.

    python3 bench/extension.py --dynvm build/dynvm [--rounds 7]

Each loop has 40 of them; minima of the rounds, in ns for one."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

REPEATS, TURNS = 40, 200_000
PROGRAM = """
import time
from noop import Noop

def loop(x, n):
    for i in range(n):
{body}

x = {value}
loop(x, 1000)
start = time.process_time()
loop(x, {turns})
print(time.process_time() - start)
"""
# Name, statement, value, options.
ROWS = [
    ("nothing (pass)", "pass", "3", []),
    ("`~x`: instruction of the VM", "~x", "3", []),
    ("native derivative", "~x", "Noop()", []),
    ("portable derivative", "~x", "Noop()", ["--no-native-extensions"]),
    ("slot, no derivative", "~x", "Noop()", ["--level=generic"]),
    ("`x @ x`: native derivative", "x @ x", "Noop()", []),
    ("portable derivative", "x @ x", "Noop()", ["--no-native-extensions"]),
    ("slot, no derivative", "x @ x", "Noop()", ["--level=generic"]),
]


def seconds(dynvm: Path, row: tuple) -> float:
    _, statement, value, options = row
    text = PROGRAM.format(body=f"        {statement}\n" * REPEATS, value=value, turns=TURNS)
    level = [] if any(o.startswith("--level") for o in options) else ["--level=inca"]
    command = [str(dynvm), *level, *options, "-c", text]
    environment = {**os.environ, "DYNVM_PATH": str(dynvm.parent / "ext")}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    return float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=Path("build/dynvm"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    best = [min(seconds(options.dynvm, row) for _ in range(options.rounds)) for row in ROWS]
    nanoseconds = [(t - best[0]) / REPEATS / TURNS * 1e9 for t in best]
    print("| | ns | more than the instruction |\n|---|---|---|")
    for row, ns in list(zip(ROWS, nanoseconds))[1:]:
        print(f"| {row[0]} | {ns:.1f} | {ns - nanoseconds[1]:+.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
