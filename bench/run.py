#!/usr/bin/env python3
"""Measures the benchmark programs on dynvm, at each level, and on the peers that are installed.

Every round runs every peer once on every program, so that a slow minute of the machine hits all of them;
the figure is the minimum of user + system CPU time of the whole process over the rounds.  Outputs must
agree.  Results go to a JSON file, a Markdown table of ratios to CPython, and a drawing of them.
"""

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import plot  # noqa: E402
from peers import LEVELS, Peer, dynvm_peers, installed_peers, program_file, program_names  # noqa: E402
from progress import Progress  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
BASE = "cpython"
DEFAULT_PEERS = ["cpython", "luajit-joff", "lua5.4"]


@dataclass
class Samples:
    """What was measured for one program on one peer."""

    seconds: List[float] = field(default_factory=list)
    kilobytes: List[int] = field(default_factory=list)
    failure: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)


Table = Dict[Tuple[str, str], Samples]  # (program, peer) -> samples


def peak_kilobytes(pid: int, before: int) -> int:
    """The peak memory of a running process.  Not from its rusage: that counts this interpreter's memory too,
    which the process shares until it executes its program."""
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return before


def measure(command: List[str], timeout: float, more: Optional[Dict[str, str]] = None) -> Tuple[float, int, str, str]:
    """CPU seconds, peak memory in kB, a hash of the output, and what went wrong ('' if nothing).  The process finds `more` in
    its environment."""
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", **(more or {}))
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, env=env)
        deadline = time.monotonic() + timeout
        pause = 0.0005
        peak = 0
        while True:
            peak = peak_kilobytes(process.pid, peak)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                return 0.0, 0, "", "timed out"
            time.sleep(pause)
            pause = min(pause * 1.2, 0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        digest = hashlib.sha256(out.read()).hexdigest()
    failure = "" if process.returncode == 0 else f"exit status {process.returncode}"
    return usage.ru_utime + usage.ru_stime, peak, digest, failure


def run_rounds(programs: List[str], peers: List[Peer], options: argparse.Namespace, sizes: dict) -> Table:
    table: Table = {}
    agreed: Dict[str, str] = {}
    turns = [(program, peer) for _ in range(options.rounds) for program in programs for peer in peers]
    with Progress(len(turns), "runs") as shown:
        for program, peer in turns:
            argument = str(sizes[program])
            shown.now(f"{program} {argument} on {peer.name}")
            path = program_file(options.programs_dir, peer.language, program)
            samples = table.setdefault((program, peer.name), Samples())
            if path is not None and not samples.failure:
                seconds, memory, digest, failure = measure([*peer.command, str(path), argument], options.timeout)
                if not failure and agreed.setdefault(program, digest) != digest:
                    failure = "output differs"
                if failure:
                    samples.failure = failure
                    shown.clear()
                    print(f"{program} on {peer.name}: {failure}", file=sys.stderr)
                else:
                    samples.seconds.append(seconds)
                    samples.kilobytes.append(memory)
            shown.step()
    return table


# ---- Reports --------------------------------------------------------------------------------------


def ratio(table: Table, program: str, peer: str, base: str) -> Optional[float]:
    mine, its = table.get((program, peer)), table.get((program, base))
    if not mine or not its or mine.failure or its.failure or not mine.seconds or not its.seconds:
        return None
    return mine.best / its.best


def geometric_mean(values: List[Optional[float]]) -> Optional[float]:
    if not values or any(v is None for v in values):
        return None
    return math.exp(sum(math.log(v) for v in values) / len(values))


def label(peer: str) -> str:
    """What heads a column: of a single build its level alone."""
    return "CPython" if peer == "cpython" else peer[len("dynvm-"):] if peer.startswith("dynvm-") else peer


def cell(value: Optional[float], digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def megabytes(samples: Samples) -> str:
    return cell(max(samples.kilobytes) / 1024 if samples.kilobytes else None, 1)


def markdown(table: Table, programs: List[str], peers: List[Peer], base: str, sizes: Dict[str, object]) -> str:
    """A row for each program: seconds of the base, ratios of the others to it, peak memory of the last build and level and of
    the base.  bench/log.py has the same columns."""
    others = [peer.name for peer in peers if peer.name != base]
    last = next((name for name in reversed(others) if name.startswith("dynvm")), base)
    head = ["program", f"{label(base)} s", *map(label, others), "MB", f"{label(base)} MB"]
    lines = [head, ["---"] * len(head)]
    for program in programs:
        of = {peer: table.get((program, peer), Samples(failure="-")) for peer in (base, last, *others)}
        ratios = [of[name].failure or cell(ratio(table, program, name, base)) for name in others]
        seconds = of[base].failure or cell(of[base].best if of[base].seconds else None)
        lines.append([f"{program} ({sizes[program]})", seconds, *ratios, megabytes(of[last]), megabytes(of[base])])
    means = [geometric_mean([ratio(table, program, name, base) for program in programs]) for name in others]
    lines.append(["geometric mean", "", *map(cell, means), "", ""])
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def as_json(table: Table, options: argparse.Namespace, sizes: dict) -> dict:
    results = [
        {
            "program": program,
            "peer": peer,
            "seconds": [round(s, 4) for s in samples.seconds],
            "peak_kilobytes": max(samples.kilobytes, default=0),
            "failure": samples.failure,
        }
        for (program, peer), samples in table.items()
    ]
    return {"rounds": options.rounds, "sizes": sizes, "results": results}


def load_sizes(options: argparse.Namespace, programs: List[str]) -> Dict[str, int]:
    path = options.programs_dir / "sizes.json"
    known = json.loads((path if path.exists() else PROGRAMS / "sizes.json").read_text())
    use = "quick" if options.quick else "full"
    missing = [p for p in programs if p not in known]
    if missing and not options.size:
        sys.exit(f"no sizes for {', '.join(missing)} in {path}; use --size")
    return {p: options.size or known[p][use] for p in programs}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmark dynvm and its peers.")
    parser.add_argument("--dynvm", type=Path, action="append", help="a build to measure; may be repeated (A/B)")
    parser.add_argument("--levels", nargs="+", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--peers", nargs="*", default=DEFAULT_PEERS, help="peers, 'all', or none")
    parser.add_argument("--programs", nargs="+", help="programs; all if not given")
    parser.add_argument("--programs-dir", type=Path, default=PROGRAMS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--size", type=int, help="the argument of every program")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--base", help="the peer that ratios are to (default: cpython if it runs)")
    parser.add_argument("--json", type=Path, help="write all samples here")
    parser.add_argument("--markdown", type=Path, help="write the table here as well as on stdout")
    parser.add_argument("--svg", type=Path, help="draw the ratios here")
    options = parser.parse_args()
    options.dynvm = options.dynvm or [ROOT / "build" / "dynvm"]
    return options


def main() -> int:
    options = parse_arguments()
    for path in options.dynvm:
        if not os.access(path, os.X_OK):
            print(f"{path} is not a program; build it first", file=sys.stderr)
            return 2
    wanted = None if options.peers == ["all"] else options.peers
    peers = dynvm_peers(options.dynvm, options.levels) + installed_peers(wanted)
    programs = options.programs or program_names(options.programs_dir)
    sizes = load_sizes(options, programs)
    table = run_rounds(programs, peers, options, sizes)
    names = [p.name for p in peers]
    base = options.base or (BASE if BASE in names else names[0])
    text = markdown(table, programs, peers, base, sizes)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(as_json(table, options, sizes), indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    if options.svg:
        ratios = {program: {name: ratio(table, program, name, base) for name in names} for program in programs}
        title = f"CPU time, ratio to {base}: further left is faster"
        options.svg.write_text(plot.svg(ratios, names, title, plot.Axis(ratios)))
    return 1 if any(samples.failure for samples in table.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
