#!/usr/bin/env python3
"""Checks bench/arrays/kernels.py: what it runs, compares and reports; and that it measures what it says, with
--no-extension-quickening and without.

usage: arrays.py DYNVM
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ARRAYS = TESTS.parent / "bench" / "arrays"
ORACLE = TESTS / "ndarray" / "oracle"
sys.path[:0] = [str(TESTS)]

import checking  # noqa: E402
import oracle  # noqa: E402
from checking import check  # noqa: E402

LOOP = """
import ndarray as np
def loop(a, b, i):
    for turn in range(100):
        c = a + b
        a[i] = np.sqrt(b[i]) + np.sqrt(b)[i]
    return c
loop(np.ones(4), np.ones(4), 2)
"""
# Prints something else on each peer: the first one is believed.
UNEQUAL = "import sys\nimport ndarray as np\nprint(type(np.sum).__name__, sys.version, sys.argv[1:])\n"
EQUAL = "import sys\nimport ndarray as np\nprint(np.arange(int(sys.argv[1])).sum(), sys.argv[2:])\n"


def run(*arguments):
    command = [sys.executable, str(ARRAYS / "kernels.py"), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_sizes():
    sizes = json.loads((ARRAYS / "sizes.json").read_text())
    check("sizes.json names the kernels", sorted(sizes), sorted(path.stem for path in ARRAYS.glob("*.dl")))
    for kernel, by_use in sizes.items():
        check(f"the sets of {kernel}", list(by_use), ["small", "large", "test"])


def check_run(dynvm, python):
    with tempfile.TemporaryDirectory() as scratch:
        folder, report = Path(scratch), Path(scratch) / "json"
        (folder / "equal.dl").write_text(EQUAL)
        (folder / "unequal.dl").write_text(UNEQUAL)
        (folder / "sizes.json").write_text(json.dumps({name: {"tiny": [5, 1]} for name in ("equal", "unequal")}))
        common = ["--dynvm", dynvm, "--python", python, "--folder", scratch, "--set", "tiny", "--rounds", "2", "--json", str(report)]
        done = run(*common)
        check(f"status where outputs differ, {done.stderr}", done.returncode, 1)
        if done.returncode != 1:
            return
        found = json.loads(report.read_text())
        check("what failed", found["failures"], [f"unequal (tiny) on {peer}: output differs" for peer in ("on", "off")])
        check("samples", [(r["kernel"], r["peer"], len(r["seconds"])) for r in found["results"]],
              [("equal", "numpy", 2), ("equal", "on", 2), ("equal", "off", 2), ("unequal", "numpy", 2)])
        check("start-up", all(0 < seconds < 60 for seconds in found["start_up"].values()), True)
        check("it is told", done.stdout.count("FAILED: "), 2)
        done = run(*common, "equal")
        check("status where they agree", done.returncode, 0)
        rows = [line.split(" |")[0] for line in done.stdout.splitlines()]
        check("rows", rows, ["| kernel", "|---|---|---|---|", "| equal", "| **geometric mean**", "", rows[-1]])
        check("an unknown kernel", run(*common, "nothing").returncode, 2)


def derived(dynvm, script, *options):
    """Which instructions that extensions, or elements of buffers, have made are in the loop."""
    command = [dynvm, "dis", "--after-run", "--level=inca", "--function=loop", *options, str(script)]
    listing = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [word for word in ("ADD_FLOAT64", "SQRT", "BUFFER", "GET_ITEM") if word in listing]


def check_quickening(dynvm):
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch) / "loop.dl"
        script.write_text(LOOP)
        check("derivatives", derived(dynvm, script), ["ADD_FLOAT64", "SQRT", "BUFFER"])
        check("derivatives without quickening", derived(dynvm, script, "--no-extension-quickening"), [])


def main():
    dynvm = sys.argv[1]
    check_sizes()
    if not (Path(dynvm).resolve().parent / "ext" / "ndarray.so").exists():
        print("ndarray was not built: nothing is run")
        return
    check_quickening(dynvm)
    python = oracle.find_cpython()
    if python is None or not oracle.can_import(python, "ndarray", ORACLE):
        print("no CPython 3.11 with NumPy 1.24: nothing is compared")
        return
    check_run(dynvm, python)


main()
sys.exit(1 if checking.failed else 0)
