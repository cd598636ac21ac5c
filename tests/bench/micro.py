#!/usr/bin/env python3
"""Checks bench/micro.py: every case runs, what is measured, subtracted and reported.

usage: micro.py DYNVM
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
BENCH = TESTS.parent / "bench"
sys.path[:0] = [str(BENCH), str(TESTS)]

import checking  # noqa: E402
from checking import check  # noqa: E402
from micro_cases import CASES, GROUPS  # noqa: E402


def load_micro():
    """bench/micro.py, which this file hides."""
    sys.path.remove(str(Path(__file__).resolve().parent))
    sys.modules.pop("micro", None)
    import micro

    return micro


def check_cases(micro, dynvm):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "all.dl"
        calls = "".join(micro.function(f"case_{name}", case, 20) + f"case_{name}()\n" for name, case in CASES.items())
        path.write_text(micro.PRELUDE + calls)
        for command in (sys.executable, dynvm):
            done = subprocess.run([command, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            check(f"all cases on {command}", (done.returncode, done.stdout), (0, ""))


def run(dynvm, *arguments):
    command = [sys.executable, str(BENCH / "micro.py"), "--dynvm", dynvm, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_run(dynvm):
    with tempfile.TemporaryDirectory() as scratch:
        files = {name: Path(scratch) / name for name in ("json", "markdown")}
        options = [option for name, path in files.items() for option in (f"--{name}", str(path))]
        done = run(dynvm, "gen_all", "raise_told", "--rounds", "1", "--seconds", "0.02", "--peers", "--levels", "generic",
                   "inca", *options)
        check(f"status, {done.stderr}", done.returncode, 0)
        if done.returncode:
            return
        report = json.loads(files["json"].read_text())
        check("base", report["base"], "dynvm-inca")
        check("cases", [case["case"] for case in report["cases"]], ["gen_all", "raise_told"])
        for case in report["cases"]:
            check(f"peers of {case['case']}", list(case["nanoseconds"]), ["dynvm-generic", "dynvm-inca"])
            # A statement of this size costs more than nothing, and less than a process takes to start.
            check(f"costs of {case['case']}", all(2 < ns < 100_000 for ns in case["nanoseconds"].values()), True)
        check("the table", files["markdown"].read_text(), done.stdout)
        check("its rows", [line.split(":")[0] for line in done.stdout.splitlines()[2:]],
              ["| gen_all", "| raise_told", done.stdout.splitlines()[-1]])


def check_names(dynvm):
    listed = run(dynvm, "--list", "hooks", "lcg")
    check("--list", [line.split()[0] for line in listed.stdout.splitlines()], [*GROUPS["hooks"], "lcg"])
    wrong = run(dynvm, "nothing")
    check("an unknown name", (wrong.returncode, "neither a case nor one of" in wrong.stderr), (1, True))
    check("names are of one group", sum(len(group) for group in GROUPS.values()), len(CASES))


check_cases(load_micro(), sys.argv[1])
check_run(sys.argv[1])
check_names(sys.argv[1])
sys.exit(1 if checking.failed else 0)
