#!/usr/bin/env python3
"""A program that uses no extension executes no instruction more with three extensions imported than with none:
counted by callgrind over some thousand iterations more, so that start-up and import cancel out.

    python3 tests/ext/unused.py DYNVM DIRECTORY-OF-EXTENSIONS"""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """
{imports}
class Point:
    def __init__(self, x):
        self.x = x
    def __add__(self, other):
        return Point(self.x + other.x)

def work(n):
    total, items, table = 0, [1, 2.5, "a", None], {{"a": 1}}
    for i in range(n):
        p = Point(i) + Point(1)
        total += p.x + len(items) - ~i
        for item in items:
            if item == 2.5 or item is None or item in table:
                total -= items[i % 2] < 3
        try:
            items[0] + items[2]
        except TypeError:
            items[3] = -total
        items[3] = None
    return total

work({n})
"""


def count(dynvm: str, extensions: str, imports: str, n: int) -> int:
    with tempfile.TemporaryDirectory() as directory:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out", dynvm, "--level=inca", "-c",
                   PROGRAM.format(imports=imports, n=n)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True,
                              env={**os.environ, "DYNVM_PATH": extensions})
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main() -> int:
    dynvm, extensions = sys.argv[1:]
    differences = []
    for imports in ("", "import template, vector, tally"):
        differences.append(count(dynvm, extensions, imports, 6000) - count(dynvm, extensions, imports, 3000))
    print(f"without extensions {differences[0]}, with three {differences[1]} instructions for 3000 iterations")
    # What an end of the VM costs depends on its heap a little; one instruction for each iteration would be 3000.
    return abs(differences[0] - differences[1]) >= 300


if __name__ == "__main__":
    sys.exit(main())
