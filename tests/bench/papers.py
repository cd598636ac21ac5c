#!/usr/bin/env python3
"""Checks bench/papers.py: each experiment at its smallest, its figures against `dynvm stats`, and that switches switch.

usage: papers.py DYNVM
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).resolve().parent.parent
BENCH = TESTS.parent / "bench"
sys.path[:0] = [str(BENCH / "papers"), str(BENCH), str(TESTS)]

import checking  # noqa: E402
from checking import check  # noqa: E402
from experiments import cells_of  # noqa: E402
from measure import interval, left_out  # noqa: E402

ATTRIBUTES = """
class P:
    def __init__(self, x): self.x = x
    def get(self): return self.x
def total(p, n):
    s = 0
    for i in range(n):
        s = s + p.get()
    return s
print(total(P(2), 1000))
"""
# In the manner of NPBench: what makes the data, the kernel, and what is said of both.
MAKES = """import numpy as np
def initialize(N, datatype=np.float64):
    return np.ones(N, dtype=datatype), np.zeros(N)
"""
KERNEL = """import numpy as np
def kernel(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = 0.5 * (B[:-2] + B[2:])
"""
INFO = {"benchmark": {
    "relative_path": "one/steps", "module_name": "steps", "func_name": "kernel",
    "parameters": {"S": {"TSTEPS": 20000, "N": 20}},
    "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["A", "B"]},
    "input_args": ["TSTEPS", "A", "B"], "array_args": ["A", "B"], "output_args": ["A", "B"]}}


def run(dynvm, out, *arguments):
    command = [sys.executable, str(BENCH / "papers.py"), *arguments, "--dynvm", dynvm, "--out", str(out)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(f"status of {' '.join(command)}:\n{done.stderr}", done.returncode, 0)
    return done


def tables(out, name, number):
    """The rows of each table, by the first cell; drawings are XML."""
    found = []
    for i in range(1, number + 1):
        path = out / f"{name}-{i}.csv"
        check(f"{path.name} is there", path.exists(), True)
        rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
        found.append({next(iter(row.values())): row for row in rows})
    drawings = sorted(out.glob(f"{name}-*.svg"))
    check(f"{name}: something is drawn", bool(drawings), True)
    for path in drawings:
        ElementTree.fromstring(path.read_text())
    return found


def stats(dynvm, *arguments):
    command = [dynvm, "stats", "--json", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def check_intervals():
    check("30 runs: the 10th to the 21st", (left_out(30)[0], round(left_out(30)[1], 3)), (9, 0.957))
    check("6 runs are the first to suffice", (round(left_out(6)[1], 3), round(left_out(5)[1], 3)), (0.969, 0.938))
    check("the median of 1 to 30", tuple(interval([float(n) for n in range(30, 0, -1)])), (15.5, 10.0, 21.0))
    region = {"steps": [{"cell": 0, "steps": 5}, {"cell": 12, "steps": 2}],
              "listing": ["  region of pcs 0 to 3: 9 cells, 2 exits", "       0  RA_GET_D_S p.x s1 -> 8 +",
                          "       4  R_MOVE s1", "       8  R_EXIT to pc 1 of f, 0 slots",
                          "      12  RA_SET_D_S p.x s1 -> 8"]}
    check("cells of runs", cells_of(region), [("RA_GET_D_S", 5), ("R_MOVE", 5), ("R_EXIT", 0), ("RA_SET_D_S", 2)])


def check_switches(dynvm):
    """Which of the two sites are answered from memory."""
    for switches, expected in (("", (True, True)), ("no-maps", (False, True)), ("no-versions", (True, False)),
                               ("no-maps,no-versions", (False, False))):
        options = [f"--stress={switches}"] if switches else []
        report = stats(dynvm, "--level=inca", *options, "-c", ATTRIBUTES)
        hits = {row["name"]: row["hits"] for row in report["instructions"]}
        check(f"hits with --stress={switches}", (hits["LOAD_ATTR"] > 900, hits["LOAD_METHOD"] > 900), expected)


def check_quickening(dynvm, out):
    run(dynvm, out, "quickening", "--runs", "2", "--quick", "--only", "programs/queens")
    speed, sizes = tables(out, "quickening", 2)
    row = speed["programs/queens"]
    check("INCA is faster", float(row["INCA"]) > 1, True)
    check("its interval", float(row["INCA low"]) <= float(row["INCA"]) <= float(row["INCA high"]), True)
    check("levels", set(sizes) <= {"generic", "inca", "nama", "not shown"} and len(sizes) in (1, 3), True)


def check_maps(dynvm, out):
    run(dynvm, out, "maps", "--runs", "1", "--size", "count", "--only", "programs/richards")
    row = tables(out, "maps", 1)[0]["programs/richards"]
    check("a single run has no interval", list(row)[2:], ["maps", "versions", "both"])


def check_statistics(dynvm, out):
    run(dynvm, out, "statistics", "--size", "test", "--only", "programs/f")
    by_program, by_instruction = tables(out, "statistics", 2)
    check("programs", list(by_program), ["programs/fannkuch", "programs/fasta", "all of programs"])
    row = by_program["programs/fannkuch"]
    check("ints alone", float(row["locality"]) > 0.99 and float(row["hits"]) > 0.5, True)
    check("shares add up", abs(sum(float(row[name]) for name in ("hits", "misses", "generic")) - 1) < 1e-4, True)
    sizes = json.loads((BENCH / "programs" / "sizes.json").read_text())
    reports = [stats(dynvm, "--level=inca", str(BENCH / "programs" / f"{name}.dl"), str(sizes[name]["test"]))
               for name in ("fannkuch", "fasta")]
    added = sum(one["executions"] for report in reports for one in report["instructions"] if one["name"] == "ADD")
    check("executions of ADD", int(by_instruction["ADD"]["executions"]), added)
    run(dynvm, out, "statistics", "--size", "test", "--only", "richards")
    row = tables(out, "statistics", 2)[0]["programs/richards"]
    check("richards has several classes", float(row["locality"]) < 0.99, True)


def check_allocations(dynvm, out):
    run(dynvm, out, "allocations", "--runs", "1", "--quick", "--only", "programs/binarytrees")
    row = tables(out, "allocations", 2)[0]["programs/binarytrees"]
    check("no region hides an attribute", (row["get, before"], row["set, before"]), (row["get"], row["set"]))
    check("removal removes stores and guards", [int(row[f"{what}, after"]) < int(row[f"{what}, before"])
                                                for what in ("set", "guards")], [True, True])


def check_cross_module(dynvm, out):
    run(dynvm, out, "cross-module", "--runs", "1", "--quick", "--only", "arrays/jacobi1d")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "bench"
        place = root / "npbench" / "benchmarks" / "one" / "steps"
        place.mkdir(parents=True)
        (root / "bench_info").mkdir()
        (place / "steps.py").write_text(MAKES)
        (place / "steps_numpy.py").write_text(KERNEL)
        (root / "bench_info" / "steps.json").write_text(json.dumps(INFO))
        wrong = json.loads(json.dumps(INFO))
        wrong["benchmark"]["module_name"] = "missing"
        (root / "bench_info" / "missing.json").write_text(json.dumps(wrong))
        done = run(dynvm, out, "cross-module", "--runs", "1", "--folder", str(root))
        check("what cannot run is named", done.stderr.count("bench/missing is left out: ModuleNotFoundError"), 1)
        speed, sites, _ = tables(out, "cross-module", 3)
        check("NPBench's folder", (list(speed), list(sites)), (["bench/steps", "mean of bench"], ["bench/steps"]))
        check("its kernel is specialised", float(sites["bench/steps"]["hits"]) > 0.9, True)


def main():
    dynvm = sys.argv[1]
    check_intervals()
    check_switches(dynvm)
    with tempfile.TemporaryDirectory() as name:
        for one in (check_quickening, check_maps, check_statistics, check_allocations, check_cross_module):
            one(dynvm, Path(name))
    print(f"papers: {checking.failed} things are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
