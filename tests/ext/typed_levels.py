"""Are raw calls of extensions raw in regions, and boxed everywhere else?  typed_levels.py DYNVM"""

import subprocess
import sys

SCRIPT = """
import typed
C = typed.open()
half = C.half
def f(n):
    s = 0.0
    for i in range(n):
        s += typed.half(i) + C.half(s) + half(1.0)
        C.add(1)
    return s
typed.reset()
f(10000)
print(*typed.calls())
"""


def counts(dynvm, level):
    done = subprocess.run([dynvm, f"--level={level}", "-c", SCRIPT], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


for level in ("generic", "inca"):
    raw, boxed = counts(sys.argv[1], level)
    assert (raw, boxed) == (0, 40000), (level, raw, boxed)
raw, boxed = counts(sys.argv[1], "nama")
assert raw + boxed == 40000 and raw > 36000, ("nama", raw, boxed)
