#!/usr/bin/env python3
"""Type locality: how often the operands of an instruction have the types that they had the time before.

Inline caching with quickening lives on this; CMQ, section 7.4, reports 99 to 100 % for its programs.  Here those of
bench/programs (or of another folder) are counted by `dynvm stats`, at level inca:

  locality      of the executions of instructions with derivatives, but each site's first one: those whose
                operands had the types of the execution before (of a call: the same callee)
  monomorphic   of these executions: those at sites that saw one combination of types and no other
  hits          of all executions of instructions with derivatives: those by a derivative whose guard held
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

from progress import progress

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
COLUMNS = ("locality", "monomorphic", "hits", "deoptimisations")


def counted(dynvm: Path, program: Path, size: int) -> dict:
    command = [str(dynvm), "stats", "--json", "--level=inca", str(program), str(size)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def figures(report: dict) -> Dict[str, float]:
    sites = [site for site in report["sites"] if site["quickens"]]
    typed = sum(site["typed"] for site in sites)
    steady = sum(site["typed"] for site in sites if len(site["types"]) == 1)
    executions = sum(site["executions"] for site in sites)
    return {
        "executions": executions,
        "locality": share(sum(site["same"] for site in sites), typed),
        "monomorphic": share(steady, typed),
        "hits": share(sum(site["hits"] for site in sites), executions),
        "deoptimisations": sum(site["deoptimisations"] for site in sites),
    }


def table(rows: Dict[str, Dict[str, float]]) -> List[str]:
    lines = ["| program | executions | locality | monomorphic | hits | deoptimisations |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {row['executions']:,} | {row['locality']:.2%} | {row['monomorphic']:.1%} | "
                     f"{row['hits']:.1%} | {row['deoptimisations']:,} |")
    mean = {column: sum(row[column] for row in rows.values()) / len(rows) for column in COLUMNS}
    lines.append(f"| mean | | {mean['locality']:.2%} | {mean['monomorphic']:.1%} | {mean['hits']:.1%} | |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Print the type locality of the programs as a Markdown table.")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--programs-dir", type=Path, default=PROGRAMS)
    parser.add_argument("--size", default="quick", choices=("quick", "count", "test"), help="of sizes.json")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("programs", nargs="*", help="all if none is named")
    options = parser.parse_args()
    folder = options.programs_dir.resolve()
    sizes = json.loads((folder / "sizes.json").read_text())
    names = options.programs or sorted(sizes)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        reports = pool.map(lambda name: counted(options.dynvm.resolve(), folder / f"{name}.dl", sizes[name][options.size]), names)
        rows = {name: figures(report) for name, report in progress(zip(names, reports), "programs", len(names))}
    print(json.dumps(rows, indent=1) if options.json else "\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
