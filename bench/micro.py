#!/usr/bin/env python3
"""Loops of one statement on dynvm's levels and on CPython: what a single thing costs.

Each case of micro_cases.py is a program that executes its statement N times.  From its CPU time (user + system, of the
whole process) that of the same program with `pass` in its place is subtracted, which takes the loop and the start-up
away; the figure is the difference of the minima over the rounds.  N is chosen for each case so that CPython takes about
as long as --seconds says.  Every round runs every peer, one after another, so that a slow minute hits all of them.

usage: micro.py [CASE or GROUP ...]         all cases if none is named; --list shows them
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from micro_cases import CASES, GROUPS, PRELUDE
from peers import LEVELS, Peer, dynvm_peers, installed_peers
from progress import progress
from run import ROOT, geometric_mean, measure

EMPTY = ("", "pass")
FEWEST, MOST = 10_000, 5_000_000
LEAST_SECONDS = 0.0005  # differences below this are noise, and have no ratio

Costs = Dict[str, Optional[float]]  # seconds of an iteration, by peer


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def function(name: str, case: Tuple[str, str], times: int) -> str:
    setup, statement = case
    return f"def {name}():\n{indented(setup, 4)}    for i in range({times}):\n{indented(statement, 8)}"


def program(case: Tuple[str, str], times: int) -> str:
    return f"{PRELUDE}{function('main', case, times)}main()\n"


class Loops:
    """Runs programs and keeps the minima; an empty loop is measured once for each number of iterations."""

    def __init__(self, peers: List[Peer], options: argparse.Namespace, folder: Path):
        self.peers, self.options, self.folder = peers, options, folder
        self.empty: Dict[int, Dict[str, float]] = {}

    def write(self, name: str, case: Tuple[str, str], times: int) -> Path:
        path = self.folder / f"loop-{name}-{times}.dl"  # not what a module may be called, such as random
        path.write_text(program(case, times))
        return path

    def seconds(self, peer: Peer, path: Path) -> float:
        seconds, _, _, failure = measure([*peer.command, str(path)], self.options.timeout)
        if failure:
            raise RuntimeError(f"{path.name} on {peer.name}: {failure}")
        return seconds

    def times_for(self, name: str, case: Tuple[str, str]) -> int:
        """How many iterations take long enough; 1, 2 or 5 times a power of ten, so that empty loops are shared."""
        trial = FEWEST * 2
        base = self.peers[-1]
        taken = min(self.seconds(base, self.write(name, case, trial)) for _ in range(2))
        start = min(self.seconds(base, self.write(name, case, 0)) for _ in range(2))
        wanted = trial * self.options.seconds / max(taken - start, LEAST_SECONDS)
        steps = [step * 10**power for power in range(4, 7) for step in (1, 2, 5)]
        return max([step for step in steps if step <= min(wanted, MOST)], default=FEWEST)

    def rounds(self, paths: List[Path]) -> List[Dict[str, float]]:
        best: List[Dict[str, float]] = [{} for _ in paths]
        for _ in range(self.options.rounds):
            for peer in self.peers:
                for path, found in zip(paths, best):
                    found[peer.name] = min(found.get(peer.name, 1e9), self.seconds(peer, path))
        return best

    def cost(self, name: str, case: Tuple[str, str]) -> Costs:
        times = self.times_for(name, case)
        paths = [self.write(name, case, times)]
        if times not in self.empty:
            paths.append(self.write("empty", EMPTY, times))
        best = self.rounds(paths)
        if len(best) > 1:
            self.empty[times] = best[1]
        net = {peer: seconds - self.empty[times][peer] for peer, seconds in best[0].items()}
        return {peer: seconds / times if seconds > LEAST_SECONDS else None for peer, seconds in net.items()}


def ratio(costs: Costs, peer: str, base: str) -> Optional[float]:
    mine, its = costs[peer], costs[base]
    return None if mine is None or its is None else mine / its


def markdown(table: Dict[str, Costs], peers: List[str], base: str) -> List[str]:
    others = [peer for peer in peers if peer != base]
    lines = [f"| statement | {base} ns | " + " | ".join(others) + " |", "|---" * (len(peers) + 1) + "|"]
    for name, costs in table.items():
        statement = CASES[name][1].replace("\n", "; ").replace("|", "\\|")
        cells = [f"{name}: `{statement}`", "-" if costs[base] is None else f"{costs[base] * 1e9:.0f}"]
        ratios = [ratio(costs, peer, base) for peer in others]
        lines.append("| " + " | ".join(cells + ["-" if r is None else f"{r:.2f}" for r in ratios]) + " |")
    means = []
    for peer in others:
        ratios = [r for r in (ratio(costs, peer, base) for costs in table.values()) if r is not None]
        means.append(f"{geometric_mean(ratios):.2f}" if ratios else "-")
    return lines + ["| geometric mean | | " + " | ".join(means) + " |"]


def as_json(table: Dict[str, Costs], peers: List[str], base: str) -> dict:
    cases = [
        {"case": name, "setup": CASES[name][0], "statement": CASES[name][1],
         "nanoseconds": {peer: None if costs[peer] is None else round(costs[peer] * 1e9, 2) for peer in peers},
         "ratios": {peer: ratio(costs, peer, base) for peer in peers if peer != base}}
        for name, costs in table.items()
    ]
    return {"base": base, "cases": cases}


def chosen(names: List[str]) -> List[str]:
    found: List[str] = []
    for name in names or GROUPS:
        if name not in GROUPS and name not in CASES:
            sys.exit(f"micro.py: '{name}' is neither a case nor one of {', '.join(GROUPS)}; --list shows the cases")
        found += [case for case in GROUPS.get(name, [name]) if case not in found]
    return found


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure loops of one statement on dynvm and CPython.")
    parser.add_argument("names", nargs="*", metavar="CASE or GROUP")
    parser.add_argument("--dynvm", type=Path, action="append", help="a build to measure; may be repeated (A/B)")
    parser.add_argument("--levels", nargs="+", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--peers", nargs="*", default=["cpython"], help="that run Python; the last one is the base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of the loop on the base")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--markdown", type=Path, help="write the table here as well as on stdout")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    names = chosen(options.names)
    if options.list:
        for name in names:
            print(f"{name:20} {CASES[name][1]!r}")
        return 0
    others = [peer for peer in installed_peers(options.peers) if peer.language == "dl"]
    peers = dynvm_peers(options.dynvm or [ROOT / "build" / "dynvm"], options.levels) + others
    table: Dict[str, Costs] = {}
    with tempfile.TemporaryDirectory(prefix="dynvm-micro-") as folder:
        loops = Loops(peers, options, Path(folder))
        for name in progress(names, "cases"):
            table[name] = loops.cost(name, CASES[name])
    known = [peer.name for peer in peers]
    text = "\n".join(markdown(table, known, known[-1]))
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    if options.json:
        options.json.write_text(json.dumps(as_json(table, known, known[-1]), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
