"""Are raw calls, typed results and items of extensions raw in regions, and boxed everywhere else?  typed_levels.py DYNVM"""

import subprocess
import sys
import tempfile
from pathlib import Path

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
f(30000)
print(*typed.calls())
"""


def counts(dynvm, level):
    done = subprocess.run([dynvm, f"--level={level}", "-c", SCRIPT], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


for level in ("generic", "inca"):
    raw, boxed = counts(sys.argv[1], level)
    assert (raw, boxed) == (0, 120000), (level, raw, boxed)
raw, boxed = counts(sys.argv[1], "nama")
assert raw + boxed == 120000 and raw > 108000, ("nama", raw, boxed)

# What else hot loops do with objects of extensions without a box: results that derivatives promise, items of buffers.
LOOPS = {
    """
from tally import Tally
def f(a, n):
    t = 0
    for i in range(n):
        x = a.value
        t += x * 2
        if a < a:
            t += 1
f(Tally(3), 2000)
""": ["R_TAKE_I", "R_UNBOX_B", "RI_MUL_SK_R"],
    """
from lines import Line
def f(a, b, n):
    for i in range(n):
        a[i] = b[i] * 2 + 0.5
f(Line(2000, 8), Line(2000, 5), 2000)
""": ["RX_GET_INT32_S", "RX_SET_FLOAT32_S"],
}
for script, wanted in LOOPS.items():
    with tempfile.TemporaryDirectory() as folder:  # where no module can be that has the name of an extension
        path = Path(folder) / "script.dl"
        path.write_text(script)
        command = [sys.argv[1], "dis", "--after-run", "--level=nama", str(path)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    region = shown[shown.index("region of") :].split()
    assert all(name in region for name in wanted), (wanted, shown)
