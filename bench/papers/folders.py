"""Kernels of other people, as they are: the folders that `papers.py cross-module --folder` takes.

1. A folder with `bench_info` is NPBench's: of each benchmark the module that makes the data and NumPy's version of the
   kernel are imported unmodified, by a program of a few lines, in a folder of its own.  Its start-up, which is
   subtracted, makes the data and does not call the kernel.
2. A folder with `sizes.json` is like bench/arrays.  Of any other one each file is a program without arguments.
3. A kernel that dl cannot run is named, with what it said, and left out; it is no reason to stop.
"""

import atexit
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

from measure import TIMEOUT, Program, suite

PRESET = "S"  # NPBench's smallest
DRIVER = '''import sys
sys.path.insert(0, {folder!r})
import numpy as np
from {module} import {initialize} as make
from {module}_numpy import {function} as kernel
{parameters}

def show(value):
    if isinstance(value, (tuple, list)):
        for item in value:
            show(item)
    elif value is not None:
        print("%.6g" % abs(np.sum(value)))

{made} = make({given})
if sys.argv[1] == "run":
    show(kernel({passed}))
    show([{shown}])
'''


def driver(root: Path, info: dict) -> str:
    """The text of the program that runs one of NPBench's benchmarks."""
    initial = info.get("init") or {}
    made = initial.get("output_args") or ["nothing"]
    return DRIVER.format(
        folder=str(root / "npbench" / "benchmarks" / info["relative_path"]), module=info["module_name"],
        initialize=initial.get("func_name", "initialize"), function=info["func_name"],
        parameters="\n".join(f"{name} = {value!r}" for name, value in info["parameters"][PRESET].items()),
        made=", ".join(made), given=", ".join(initial.get("input_args", [])), passed=", ".join(info["input_args"]),
        shown=", ".join(name for name in info.get("array_args", []) if name in info["input_args"]))


def npbench(root: Path) -> List[Program]:
    scratch = tempfile.TemporaryDirectory()
    atexit.register(scratch.cleanup)
    programs = []
    for path in sorted((root / "bench_info").glob("*.json")):
        info = json.loads(path.read_text())["benchmark"]
        file = Path(scratch.name) / f"run_{path.stem}.py"
        file.write_text(driver(root, info))
        programs.append(Program(f"{root.name}/{path.stem}", (str(file), "run"), (str(file), "idle")))
    return programs


def plain(root: Path) -> List[Program]:
    files = sorted([*root.glob("*.py"), *root.glob("*.dl")])
    return [Program(f"{root.name}/{file.stem}", (str(file),), ("-c", "import numpy")) for file in files]


def runs(dynvm: str, program: Program) -> bool:
    done = subprocess.run([dynvm, *program.arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=TIMEOUT)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        print(f"{program.name} is left out: {said[-1]}", file=sys.stderr)
    return done.returncode == 0


def kernels_of(root: Path, use: str, pattern: str, dynvm: str) -> List[Program]:
    """Those that dynvm can run."""
    root = root.resolve()
    if (root / "bench_info").is_dir():
        found = npbench(root)
    elif (root / "sizes.json").exists():
        found = suite(root, use)
    else:
        found = plain(root)
    return [program for program in found if pattern in program.name and runs(dynvm, program)]
