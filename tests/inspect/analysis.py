#!/usr/bin/env python3
"""The analysis of large functions: regions are found in little time, and change nothing.

Four functions of up to 2,000 lines: with many loops one after the other, with many loops in one, with one long loop, and
with one that is too long for a region.  Each must print at --level=nama what it prints at --level=inca, and not take much
longer than there: an analysis takes milliseconds, and the limit is what no busy machine makes of them.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 0.5  # seconds of user time more than at inca, minimum of ROUNDS
ROUNDS = 3
LOCALS = 100


def statements(indent: str, k: int) -> list:
    """Three statements that read and store some of the locals."""
    a, b, c, d = (f"v{k * n % LOCALS}" for n in (1, 7, 3, 5))
    return [f"{indent}if {a} > {k}: {b} = {c} + i & 255", f"{indent}else: {d} = {a} ^ i", f"{indent}v{(k + 1) % LOCALS} += 1"]


def function(body: list) -> str:
    """A program that calls a function with this body."""
    locals_ = [f"v{n}" for n in range(LOCALS)]
    head = ["def f(n):", *(f"    {name} = {n}" for n, name in enumerate(locals_))]
    return "\n".join([*head, *body, f"    return {' + '.join(locals_)}", "print(f(600))", ""])


def one_after_the_other() -> str:
    return function([line for k in range(470) for line in ("    for i in range(n):", *statements("        ", k))])


def nested() -> str:
    body = ["    for j in range(n):"]
    for k in range(470):
        body += ["        for i in range(3):", *statements("            ", k)]
    return function(body)


def long(count: int) -> str:
    return function(["    for i in range(n):", *(line for k in range(count) for line in statements("        ", k))])


def run(dynvm: str, level: str, path: Path) -> tuple:
    """What the program prints, and the least user time that it took."""
    printed, least = b"", float("inf")
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([dynvm, f"--level={level}", str(path)], stdout=subprocess.PIPE, check=True, timeout=120)
        printed, least = done.stdout, min(least, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return printed, least


def main() -> int:
    failed = 0
    programs = {"one after the other": one_after_the_other(), "nested": nested(), "long": long(120), "too long": long(660)}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "large.dl"
        for name, text in programs.items():
            path.write_text(text)
            wanted, least = run(sys.argv[1], "inca", path)
            printed, took = run(sys.argv[1], "nama", path)
            good = printed == wanted and took - least < LIMIT
            failed += not good
            print(f"{'ok' if good else 'FAILED'}: {name}, {text.count(chr(10))} lines: {least:.3f} s at inca, {took:.3f} s at nama")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
