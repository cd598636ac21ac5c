#!/usr/bin/env python3
"""Whole programs on arrays: dynvm with ndarray against CPython with NumPy, with extension quickening and without.

    python3 bench/arrays/kernels.py [--dynvm build/dynvm] [--set small] [--rounds 5] [KERNEL ...]

Each kernel of this folder is run with the arguments that sizes.json has for the set, one round of everything after
another; the figure is the minimum of user + system time of the process over the rounds, less that of one that only imports
the module.  All peers must print the same.  The output is a Markdown table: NumPy's seconds, how many times as fast dynvm is
("faster"), and what extension quickening makes of that ("on/off": time without it through time with it)."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from progress import Progress  # noqa: E402
from run import cell, geometric_mean, measure  # noqa: E402

PEERS = ("numpy", "on", "off")
SHORTEST = 0.002  # seconds; what takes less over start-up is not told from it

Key = Tuple[str, str, str]  # set, kernel, peer


def commands(options: argparse.Namespace) -> Dict[str, List[str]]:
    dynvm = [str(options.dynvm.resolve()), f"--level={options.level}"]
    return {"numpy": [options.python, "-W", "ignore"], "on": dynvm, "off": [*dynvm, "--no-extension-quickening"]}


def environment(options: argparse.Namespace) -> Dict[str, str]:
    """NumPy is `ndarray` for CPython (tests/ndarray/oracle); both have one thread."""
    return {"PYTHONPATH": str(ROOT / "tests" / "ndarray" / "oracle"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def start_up(options: argparse.Namespace) -> Dict[str, float]:
    """Seconds of a process that does nothing but import, by peer."""
    best = {peer: float("inf") for peer in PEERS}
    for _ in range(2 * options.rounds):
        for peer, command in commands(options).items():
            seconds, _, _, failure = measure([*command, "-c", "import sys; import ndarray"], options.timeout, environment(options))
            if failure:
                sys.exit(f"{' '.join(command)} cannot import ndarray: {failure}")
            best[peer] = min(best[peer], seconds)
    return best


def run_rounds(options: argparse.Namespace, sizes: dict, failures: List[str]) -> Dict[Key, List[float]]:
    """All samples; a peer that fails, or prints something else than the first, has a line in `failures` and is left out."""
    samples: Dict[Key, List[float]] = {}
    agreed: Dict[Tuple[str, str], str] = {}
    dropped = set()
    turns = [(which, kernel, peer) for _ in range(options.rounds) for which in options.sets for kernel in options.kernels
             for peer in PEERS]
    with Progress(len(turns), "runs") as shown:
        for which, kernel, peer in turns:
            shown.now(f"{which} {kernel} on {peer}")
            if (which, kernel, peer) not in dropped:
                command = [*commands(options)[peer], str(options.folder / f"{kernel}.dl"), *(str(x) for x in sizes[kernel][which])]
                seconds, _, digest, failure = measure(command, options.timeout, environment(options))
                if not failure and agreed.setdefault((which, kernel), digest) != digest:
                    failure = "output differs"
                if failure:
                    failures.append(f"{kernel} ({which}) on {peer}: {failure}")
                    dropped.add((which, kernel, peer))
                else:
                    samples.setdefault((which, kernel, peer), []).append(seconds)
            shown.step()
    return {key: found for key, found in samples.items() if key not in dropped}


# ---- The table ------------------------------------------------------------------------------------


class Figures:
    """What the samples say, less start-up."""

    def __init__(self, samples: Dict[Key, List[float]], empty: Dict[str, float]):
        self.samples, self.empty = samples, empty

    def seconds(self, which: str, kernel: str, peer: str) -> Optional[float]:
        found = self.samples.get((which, kernel, peer))
        over = min(found) - self.empty[peer] if found else 0.0
        return over if over >= SHORTEST else None

    def ratio(self, which: str, kernel: str, above: str, below: str) -> Optional[float]:
        a, b = self.seconds(which, kernel, above), self.seconds(which, kernel, below)
        return a / b if a and b else None

    def columns(self, which: str, kernel: str) -> List[Optional[float]]:
        return [self.seconds(which, kernel, "numpy"), self.ratio(which, kernel, "numpy", "on"),
                self.ratio(which, kernel, "off", "on")]


def markdown(options: argparse.Namespace, sizes: dict, figures: Figures) -> str:
    head = [f"{which}: NumPy s | faster | on/off" for which in options.sets]
    lines = ["| kernel | " + " | ".join(head) + " |", "|---" * (1 + 3 * len(options.sets)) + "|"]
    slower = []
    for kernel in options.kernels:
        cells = []
        for which in options.sets:
            numpy, faster, quickened = figures.columns(which, kernel)
            cells += [f"{cell(numpy)} ({', '.join(str(x) for x in sizes[kernel][which])})", cell(faster, 2), cell(quickened, 2)]
            if faster is not None and faster < 1.0:
                slower.append(f"{kernel} ({which}) {faster:.2f}")
        lines.append(f"| {kernel} | " + " | ".join(cells) + " |")
    means = []
    for which in options.sets:
        found = [figures.columns(which, kernel)[1:] for kernel in options.kernels]
        means += ["", *(cell(geometric_mean([row[i] for row in found]), 2) for i in range(2))]
    lines.append("| **geometric mean** | " + " | ".join(means) + " |")
    lines += ["", "Slower than NumPy: " + (", ".join(slower) or "none") + "."]
    return "\n".join(lines) + "\n"


def as_json(options: argparse.Namespace, samples: Dict[Key, List[float]], empty: Dict[str, float], failures: List[str]) -> dict:
    results = [{"set": which, "kernel": kernel, "peer": peer, "seconds": [round(s, 4) for s in found]}
               for (which, kernel, peer), found in samples.items()]
    return {"rounds": options.rounds, "start_up": empty, "results": results, "failures": failures}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="all if none is given")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--python", default="/usr/bin/python3", help="CPython 3.11 with NumPy 1.24")
    parser.add_argument("--level", default="nama", choices=["generic", "inca", "nama"])
    parser.add_argument("--set", dest="sets", action="append", help="of sizes.json; may be repeated (default: small and large)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=HERE, help="other kernels, with a sizes.json")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--json", type=Path, help="write all samples here")
    parser.add_argument("--markdown", type=Path, help="write the table here as well as on stdout")
    options = parser.parse_args()
    options.sets = options.sets or ["small", "large"]
    return options


def main() -> int:
    options = parse_arguments()
    if not os.access(options.dynvm, os.X_OK):
        print(f"{options.dynvm} is not a program; build it first", file=sys.stderr)
        return 2
    sizes = json.loads((options.folder / "sizes.json").read_text())
    options.kernels = options.kernels or list(sizes)
    unknown = [name for name in options.kernels if name not in sizes]
    if unknown:
        print(f"no kernel is called {', '.join(unknown)}", file=sys.stderr)
        return 2
    failures: List[str] = []
    empty = start_up(options)
    samples = run_rounds(options, sizes, failures)
    text = markdown(options, sizes, Figures(samples, empty))
    print(text + "".join(f"FAILED: {line}\n" for line in failures), end="")
    if options.json:
        options.json.write_text(json.dumps(as_json(options, samples, empty, failures), indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
