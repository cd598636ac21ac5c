#!/usr/bin/env python3
"""What each part of the machine is worth: every program at every level and reach of the analysis.

The columns go from the generic instructions to everything, each with one thing more than the one before:

    generic    plain instructions
    inca       derivatives in place
    sequence   regions of straight code, as in the 2013 paper: nothing lasts over a jump
    loop       regions of whole loops
    inline     and small functions in them
    virtual    and objects that are not made: all that there is, and what runs without options

So `inline` is everything with the removal of allocations off, and `virtual` with it on.

Instructions are counted under callgrind, in the small versions of counts.py, less what an empty program takes;
`--times N` measures user time instead, the minimum of N runs of the `quick` sizes, alternating between the columns.
The table is Markdown: of each program the cost at `generic`, and of the other columns the ratio to that of `inca`.
"""

import argparse
import concurrent.futures
import json
import math
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import counts
from progress import progress

ROOT = counts.ROOT
GROUPS = ("programs", "objects")  # below bench
COLUMNS = {
    "generic": ["--level=generic"],
    "inca": ["--level=inca"],
    "sequence": ["--nama=sequence"],
    "loop": ["--nama=loop"],
    "inline": ["--nama=inline"],
    "virtual": ["--nama=virtual"],
}

Costs = Dict[str, float]  # by column


def programs(use: str, pattern: str) -> Dict[str, List[str]]:
    """Command lines, behind the options, by group/name."""
    found = {}
    for group in GROUPS:
        sizes = json.loads((ROOT / "bench" / group / "sizes.json").read_text())
        found.update({f"{group}/{name}": [f"bench/{group}/{name}.dl", str(by_use[use])] for name, by_use in sizes.items()})
    return {name: arguments for name, arguments in found.items() if pattern in name}


def count_all(dynvm: Path, work: Dict[str, List[str]], jobs: int) -> Dict[str, Costs]:
    """Instructions of each program above those of an empty one."""
    everything = {"startup": ["-c", "pass"], **work}
    costs: Dict[str, Costs] = {name: {} for name in everything}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(counts.count, dynvm, options + arguments): (name, column)
                   for name, arguments in everything.items() for column, options in COLUMNS.items()}
        for future in progress(concurrent.futures.as_completed(futures), "counts", len(futures)):
            name, column = futures[future]
            costs[name][column] = future.result()
    return {name: {column: costs[name][column] - costs["startup"][column] for column in COLUMNS} for name in work}


def user_time(command: List[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=600)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def time_all(dynvm: Path, work: Dict[str, List[str]], runs: int) -> Dict[str, Costs]:
    """Seconds; the columns alternate, so that all of them meet the machine's quiet moments."""
    costs: Dict[str, Costs] = {}
    for name, arguments in progress(work.items(), "programs"):
        best = {column: math.inf for column in COLUMNS}
        for _ in range(runs):
            for column, options in COLUMNS.items():
                best[column] = min(best[column], user_time([str(dynvm), *options, *arguments]))
        costs[name] = best
    return costs


def mean(costs: List[Costs], column: str, base: str) -> float:
    """Geometric mean of the ratios of two columns."""
    return math.exp(sum(math.log(cost[column] / cost[base]) for cost in costs) / len(costs))


def table(costs: Dict[str, Costs], unit: str, scale: float) -> str:
    columns = [column for column in COLUMNS if column not in ("generic", "inca")]
    lines = [f"| program | generic, {unit} | generic | inca | " + " | ".join(columns) + " |",
             "|---" * (len(COLUMNS) + 2) + "|"]
    for name, cost in costs.items():
        ratios = [f"{cost[column] / cost['inca']:.2f}" for column in ("generic", "inca", *columns)]
        lines.append(f"| {name} | {cost['generic'] / scale:,.1f} | " + " | ".join(ratios) + " |")
    for group in (*GROUPS, ""):
        chosen = [cost for name, cost in costs.items() if name.startswith(group)]
        if chosen:
            ratios = [f"**{mean(chosen, column, 'inca'):.3f}**" for column in ("generic", "inca", *columns)]
            lines.append(f"| **geometric mean of {group or 'all'}** | | " + " | ".join(ratios) + " |")
    chosen = list(costs.values())
    steps = [f"{mean(chosen, column, before):.3f}" for before, column in zip(COLUMNS, list(COLUMNS)[1:])]
    lines.append("| of all, to the column before | | | " + " | ".join(steps) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what each part of the machine is worth.")
    parser.add_argument("pattern", nargs="?", default="", help="only programs with this in group/name")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--times", type=int, metavar="N", help="user time, minimum of N runs, instead of instructions")
    parser.add_argument("--out", type=Path, help="write the figures as JSON, too")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="of callgrind at a time")
    options = parser.parse_args()
    dynvm = options.dynvm.resolve()
    if options.times:
        costs = time_all(dynvm, programs("quick", options.pattern), options.times)
    else:
        costs = count_all(dynvm, programs("count", options.pattern), options.jobs)
    if options.out:
        options.out.write_text(json.dumps(costs, indent=1) + "\n")
    print(table(costs, "s", 1.0) if options.times else table(costs, "million", 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
