#!/usr/bin/env python3
"""The papers' tables, of our machine: one command each.

    python3 bench/papers.py                        what there is
    python3 bench/papers.py quickening [--quick]   prints it, and writes Markdown, CSV and SVG to build/papers
    python3 bench/papers.py allocations one.py 'other.dl 300'   of these programs, instead of those of bench/

quickening    speed-ups of INCA and of NAMA's reaches over the interpreter without; lines and bytes by level
maps          the same with maps and class versions on and off
statistics    hits, misses, generic executions and type locality, by program and by instruction
allocations   allocations, gets, sets, guards and times with the removal of allocations, and without
cross-module  quickening for extensions on and off, misses by reason, locality; of bench/arrays, or of --folder:
              NPBench, or any programs that import numpy, as they are

Whole experiments take 30 runs, and up to 20 minutes of an idle machine; `--quick` takes 3 runs, and a few minutes.  `--instructions` counts
under callgrind instead, which a busy machine does not disturb.  bench/papers/README.md is for researchers."""

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "papers")]
import report  # noqa: E402
from experiments import PAPERS, Options  # noqa: E402
from measure import ROOT, Wrong  # noqa: E402


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=PAPERS)
    parser.add_argument("programs", nargs="*", help="instead of those of bench/: files, or 'file argument ...'")
    parser.add_argument("--quick", action="store_true", help="3 runs; what is counted is counted of small sizes")
    parser.add_argument("--runs", type=int, help="so many (30)")
    parser.add_argument("--size", choices=("quick", "count", "test"), help="of sizes.json")
    parser.add_argument("--only", default="", metavar="WORD", help="programs with this in folder/name")
    parser.add_argument("--level", choices=("generic", "inca", "nama"), help="of those that measure at one level")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead of times")
    parser.add_argument("--folder", type=Path, help="cross-module: of other kernels, as they are")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "papers", help="where files go")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="of what is counted, at a time")
    return parser.parse_intermixed_args()


def main() -> int:
    given = parse_arguments()
    if not given.name:
        for name, paper in PAPERS.items():
            print(f"{name:13} {paper.cited}")
        return 0
    paper = PAPERS[given.name]
    counts_alone = given.instructions or not paper.timed
    size = given.size or ("count" if given.instructions else "quick")
    counted = given.size or ("count" if given.quick or given.instructions else "quick")
    runs = 1 if counts_alone else given.runs or (3 if given.quick else 30)
    level = given.level or paper.level
    options = Options(str(given.dynvm.resolve()), runs, size, counted, given.only, given.jobs, level, given.instructions,
                      given.folder, tuple(given.programs))
    command = "python3 bench/papers.py " + " ".join(argument for argument in sys.argv[1:])
    try:
        tables = paper.run(options)
    except Wrong as why:
        print(f"papers.py: {why}", file=sys.stderr)
        return 1
    found = report.Report(given.name, paper.cited, list(paper.there), tables, command, None if counts_alone else runs)
    print(report.markdown(found))
    for path in report.write(found, given.out):
        print(f"written: {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
