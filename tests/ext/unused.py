#!/usr/bin/env python3
"""A program that uses no extension executes exactly as many instructions with three extensions imported as with
none: counted by callgrind while the program runs, over some thousand iterations more, so that the imports cancel out.
What comes before and after is not counted: the end of a VM frees a heap that other extensions have made larger.

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
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=dv_run_unit",
                   f"--callgrind-out-file={directory}/out", dynvm, "--level=inca", "-c",
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
    return differences[0] <= 0 or differences[0] != differences[1]


if __name__ == "__main__":
    sys.exit(main())
