#!/usr/bin/env python3
"""What a derivative of an extension costs against an instruction of the VM with as many operands that are objects:
`not x` (NOT_LIST) and `x is x` of a list, against `~x` and `x @ x` of a Noop (tests/ext/noop.c), which do nothing, by
native and portable derivatives.  `~x` of an int, which is no object and has no references to count, stands beside it.

    python3 bench/extension.py --dynvm build/dynvm [--rounds 7]

Each loop has 40 of them; minima of the rounds, in ns for one."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from progress import progress

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
NOTHING = ("nothing", "pass", "3", ())
GROUPS = [
    [
        ("`not x` of a list: instruction of the VM", "not x", "[1]", ()),
        ("`~x` of an int: likewise, without an object", "~x", "3", ()),
        ("`~x`: native derivative", "~x", "Noop()", ()),
        ("portable derivative", "~x", "Noop()", ("--no-native-extensions",)),
        ("slot, no derivative", "~x", "Noop()", ("--level=generic",)),
    ],
    [
        ("`x is x` of a list: instruction of the VM", "x is x", "[1]", ()),
        ("`x @ x`: native derivative", "x @ x", "Noop()", ()),
        ("portable derivative", "x @ x", "Noop()", ("--no-native-extensions",)),
        ("slot, no derivative", "x @ x", "Noop()", ("--level=generic",)),
    ],
]


def seconds(dynvm: Path, row: tuple) -> float:
    _, statement, value, options = row
    text = PROGRAM.format(body=f"        {statement}\n" * REPEATS, value=value, turns=TURNS)
    level = [] if any(o.startswith("--level") for o in options) else ["--level=inca"]
    command = [str(dynvm), *level, *options, "-c", text]
    environment = {**os.environ, "DYNVM_PATH": str(dynvm.parent / "tests" / "extensions")}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    return float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=Path("build/dynvm"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    rows = [NOTHING, *(row for group in GROUPS for row in group)]
    best = {row: float("inf") for row in rows}
    for row in progress(rows * options.rounds, "runs"):
        best[row] = min(best[row], seconds(options.dynvm, row))
    print("| | ns | more than the instruction |\n|---|---|---|")
    for group in GROUPS:
        costs = [(best[row] - best[NOTHING]) / REPEATS / TURNS * 1e9 for row in group]
        for row, ns in zip(group, costs):
            print(f"| {row[0]} | {ns:.1f} | {f'{ns - costs[0]:+.1f}' if row is not group[0] else ''} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
