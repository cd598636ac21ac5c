#!/usr/bin/env python3
"""What the abstract interpreter knows: `dynvm dis --facts` of loops whose facts a reader can say.

Each case is a loop, and lines that must be among its facts: an instruction, then what is known in front of it.  The cells of
the region must be the same as without facts.
"""

import subprocess
import sys

# The text of a function f(n, items), what it is called with, and its facts.
CASES = {
    "numbers": ("""
    s = 0.0
    for i in range(n):
        s = s + i * 0.5
    return s
""", "600, []", ["6 FOR_ITER  s: float s'  | range",
                 "11 MUL  | range, float s', int i', float 0.5",
                 "12 ADD  | range, float s', float d",
                 "14 JUMP_BACK  s: float s'  | range"]),
    "a local that is int and float": ("""
    s = 0
    for i in range(n):
        if i & 1: s = 1.5
        else: s = 2
    return s
""", "600, []", ["JUMP_BACK  | range"]),  # where the two ways meet nothing is known of s
    "items": ("""
    s = 0
    for v in items:
        s = s + v
    return s
""", "600, list(range(600))", ["ADD  | any, int s', int v'", "JUMP_BACK  s: int s'  | any"]),
    "a tuple that is not made": ("""
    a = b = 1
    for i in range(n):
        t = (a, i)
        a = t[0] ^ t[1]
    return a
""", "600, []", ["13 STORE_LOCAL  | range, not made", "XOR  | range, int s58, int s59"]),
    "a value in its place": ("""
    s = 0
    for i in range(n):
        s = (s ^ i) & 1023
    return s
""", "600, []", ["XOR  | range, int s', int i'", "AND  | range, int r, int 1023"]),
}


def listing(dynvm: str, program: str, *options: str) -> list:
    """The lines of f's regions."""
    done = subprocess.run([dynvm, "dis", "--after-run", "--function=f", *options, "-c", program], stdout=subprocess.PIPE,
                          check=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith("  region of pcs")):]


def main() -> int:
    failed = 0
    for name, (body, arguments, facts) in CASES.items():
        program = f"def f(n, items):{body}\nf({arguments})\n"
        lines = listing(sys.argv[1], program, "--facts")
        known = [line.strip(" .") for line in lines if line.startswith("       . ")]
        missing = [fact for fact in facts if not any(fact in line for line in known)]
        same = [line for line in lines if not line.startswith("       . ")] == listing(sys.argv[1], program)
        if missing or not same:
            failed += 1
            print(f"{name}: {'no fact ' + repr(missing[0]) if missing else 'other cells with --facts'}", *lines, sep="\n")
    print(f"{len(CASES) - failed} of {len(CASES)} loops have the facts that they must have")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
