#!/usr/bin/env python3
"""10,000 sites with derivatives of an extension in one program, each with an occurrence cache of its own.

    python3 tests/ext/many.py DYNVM DIRECTORY-OF-EXTENSIONS"""

import os
import subprocess
import sys
import tempfile

SITES, FUNCTIONS = 10_000, 20


def program() -> str:
    lines = ["import tally", "from tally import Tally"]
    for f in range(FUNCTIONS):
        lines.append(f"def f{f}(a, b):\n    total = 0")
        lines += [f"    total += (a * {i % 7 + 1}) @ b" for i in range(SITES // FUNCTIONS // 2)]
        lines.append("    return total")
    lines += ["for i in range(12):", f"    print(sum([f(Tally(2), Tally(3)) for f in [{', '.join(f'f{i}' for i in range(FUNCTIONS))}]]))"]
    return "\n".join(lines) + "\n"


def main() -> int:
    dynvm, extensions = sys.argv[1:]
    expected = sum(6 * (i % 7 + 1) for i in range(SITES // FUNCTIONS // 2)) * FUNCTIONS
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "many.dl")
        with open(path, "w", encoding="ascii") as file:
            file.write(program())
        environment = {**os.environ, "DYNVM_PATH": extensions}
        done = [subprocess.run([dynvm, *options, path], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
                for options in (["--level=inca"], ["dis", "--after-run", "--level=inca"])]
    right = done[0] == f"{expected}\n" * 12
    made = done[1].count("MUL_TALLY_CONST") + done[1].count("MATMUL_TALLY")
    print(f"{made} derivatives, results {'right' if right else 'wrong'}")
    return not (right and made == SITES)


if __name__ == "__main__":
    sys.exit(main())
