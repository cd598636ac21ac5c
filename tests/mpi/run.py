#!/usr/bin/env python3
"""Runs the scripts of this folder and the programs of bench/mpi with mpirun, on dynvm and on CPython's mpi4py: alike
they print.

    python3 tests/mpi/run.py build/dynvm [--all]

Each runs on 1, 2 and 4 ranks, every number of them at another level and one under stress; with --all all of them
with all. Without CPython's mpi4py, dynvm's generic level takes its place. Without mpirun or Open MPI's library
nothing runs, as the output says (status 77, which ctest shows as skipped)."""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from checking import check  # noqa: E402
import checking  # noqa: E402

SKIPPED, LIMIT = 77, 60
SCRIPTS = [*(HERE / f"{name}.py" for name in ("points", "buffers", "objects", "collectives", "groups", "memory")),
           *(HERE.parents[1] / "bench" / "mpi" / f"{name}.py"
             for name in ("stencil", "gradient", "sort", "product", "calls"))]
VARIANTS = {1: ["--level=inca", "--stress=quicken,exit:3"], 2: ["--level=generic"], 4: ["--level=nama"]}
EVERY = [["--level=generic"], ["--level=inca"], ["--level=nama"],
    ["--level=nama", "--stress=quicken,assume,guard:7,exit:5"]]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OPENBLAS_NUM_THREADS": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "PYTHONDONTWRITEBYTECODE": "1",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # Open MPI's


def run(command, ranks, script):
    """Output, errors, status."""
    command = ["mpirun", "-n", str(ranks), *command, str(script)]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True) as process:
        try:
            out, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.terminate()  # which ends the ranks, too
            return "", "it does not end", -1
    return out, errors, process.returncode


def reason_to_skip(dynvm):
    if not shutil.which("mpirun"):
        return "mpirun is missing (Debian: openmpi-bin)"
    found = subprocess.run([dynvm, "-c", "from mpi4py import _library"], capture_output=True, text=True,
                           env=ENVIRONMENT)
    return found.stderr.splitlines()[-1] if found.returncode else None


def compare(dynvm, peer, script, ranks, options):
    out, errors, status = run([dynvm, *options], ranks, script)
    expected = run(peer, ranks, script)
    what = f"{script.name} on {ranks} ranks {' '.join(options)}"
    if (out, status) != (expected[0], expected[2]):
        print(f"{what}: status {status}, {errors}")
        mine, theirs = out.splitlines(), expected[0].splitlines()
        for a, b in zip([*mine, "(end)"], [*theirs, "(end)"]):
            if a != b:
                check(what, a, b)
                return
    check(f"{what}: status and errors", (status, errors, out == ""), (0, "", False))


def failure(dynvm, folder):
    """A rank that raises ends all, behind its traceback."""
    script = Path(folder) / "raises.py"
    script.write_text("from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 1:\n    print('last words')\n    1 / 0\n"
                      "MPI.COMM_WORLD.Barrier()\nprint('never')\n")
    out, errors, status = run([dynvm], 3, script)
    check("a rank that raises: output", out, "last words\n")
    check("a rank that raises: status", status not in (0, -1), True)
    lines = errors.splitlines()
    first = "Traceback (most recent call last):"
    start = lines.index(first) if first in lines else len(lines)
    check("a rank that raises: traceback", lines[start:start + 5],
          ["Traceback (most recent call last):", f'  File "{script}", line 4, in <module>', "    1 / 0", "    ~~^~~",
           "ZeroDivisionError: division by zero"])


def exits(dynvm, folder):
    """With -m mpi4py, so does one that exits."""
    script = Path(folder) / "exits.py"
    script.write_text("from mpi4py import MPI\nimport sys\nif MPI.COMM_WORLD.rank == 1:\n"
                      "    sys.exit(3 + (__name__ != '__main__'))\n"
                      "MPI.COMM_WORLD.Barrier()\nprint('never')\n")
    out, errors, status = run([dynvm, "-m", "mpi4py"], 2, script)
    check("a rank that exits", (out, status), ("", 3))


def refusals(dynvm):
    result = subprocess.run([dynvm, "--sandbox", "-c", "from mpi4py import MPI"], capture_output=True, text=True,
                            env=ENVIRONMENT)
    check("in a sandbox", "ModuleNotFoundError" in result.stderr or "ImportError" in result.stderr, True)
    text = ("import ffi\nclass None_(ffi.FFI):\n    def dlopen(self, *args):\n        raise OSError('none')\n"
            "ffi.FFI = None_\nfrom mpi4py import MPI")
    result = subprocess.run([dynvm, "-c", text], capture_output=True, text=True, env=ENVIRONMENT)
    check("without the library", result.stderr.splitlines()[-1:], [
        "ImportError: mpi4py needs Open MPI's libmpi.so.40, which is not installed (Debian: openmpi-bin, libopenmpi3)"])


def main():
    dynvm = str(Path(sys.argv[1]).resolve())
    reason = reason_to_skip(dynvm)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    has_peer = subprocess.run(["/usr/bin/python3", "-c", "import mpi4py, numpy"], capture_output=True).returncode == 0
    peer = ["/usr/bin/python3"] if has_peer else [dynvm, "--level=generic"]
    if not has_peer:
        print("There is no mpi4py for CPython here (Debian: python3-mpi4py): levels are compared with each other.")
    jobs = [(script, ranks, options) for script in SCRIPTS for ranks in VARIANTS
            for options in (EVERY if "--all" in sys.argv else [VARIANTS[ranks]])
            if ranks > 1 or script.parent == HERE or "--all" in sys.argv]
    with concurrent.futures.ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        for done in [*[pool.submit(compare, dynvm, peer, *job) for job in jobs], pool.submit(failure, dynvm, folder),
                     pool.submit(exits, dynvm, folder)]:
            done.result()
    refusals(dynvm)
    print(f"{len(jobs)} comparisons, {checking.failed} failed")
    sys.exit(checking.failed > 0)


if __name__ == "__main__":
    main()
