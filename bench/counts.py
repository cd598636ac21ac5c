#!/usr/bin/env python3
"""Counts instructions: small versions of the programs under callgrind, at each level.

Times on a shared machine are noise below 15 %; instruction counts repeat to a few in a million.  They
are kept in bench/counts.json, and `--check` fails when one has grown by more than 1 %.  It also fails when
a program costs more at level nama than at inca by more than 2 %, or when one of bench/defeat, which change what
caches remember, costs more than 1.15 times the generic level's.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict

from progress import progress

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"programs": "", "objects": "objects/", "defeat": "defeat/"}  # below bench, and what its programs are called with
STORE = ROOT / "bench" / "counts.json"
LEVELS = ("generic", "inca", "nama")
TOLERANCE = 0.01
OVER_INCA = 1.02  # at most so many times what level inca takes may nama take
DEFEATED_LIMIT = 1.15


def count(dynvm: Path, arguments: list) -> int:
    """Instructions that dynvm executes for one command line."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out",
                   str(dynvm), *arguments]
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=600, env=dict(os.environ, LC_ALL="C.UTF-8"))
    found = re.search(rb"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        tail = done.stderr.decode(errors="replace")[-500:]
        raise RuntimeError(f"{' '.join(command)} failed:\n{tail}")
    return int(found.group(1))


def count_all(dynvm: Path, jobs: int, prefix: str = "") -> Dict[str, Dict[str, int]]:
    """Counts by program and level, of programs whose names begin with the prefix; the start-up of an empty program is
    the program `startup`."""
    work = {"startup": ["-c", "pass"]}
    for folder, called in FOLDERS.items():
        sizes = json.loads((ROOT / "bench" / folder / "sizes.json").read_text())
        for name, by_use in sizes.items():
            work[called + name] = [f"bench/{folder}/{name}.dl", str(by_use["count"])]
    work = {name: arguments for name, arguments in work.items() if name.startswith(prefix)}
    counts: Dict[str, Dict[str, int]] = {name: {} for name in work}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(count, dynvm, [f"--level={level}", *arguments]): (name, level)
            for name, arguments in work.items() for level in LEVELS
        }
        for future in progress(concurrent.futures.as_completed(futures), "counts", len(futures)):
            name, level = futures[future]
            counts[name][level] = future.result()
    return {name: {level: counts[name][level] for level in LEVELS} for name in sorted(counts)}


def report(counts: Dict[str, Dict[str, int]], stored: Dict[str, Dict[str, int]]) -> int:
    """Prints the counts with their changes; returns how many grew by more than the tolerance."""
    grown = 0
    print(f"{'program':18}" + "".join(f"{level:>26}" for level in LEVELS))
    for name, by_level in counts.items():
        line = f"{name:18}"
        for level in LEVELS:
            now, before = by_level[level], stored.get(name, {}).get(level)
            change = "" if before is None else f" ({(now - before) / before:+.2%})"
            if before is not None and now > before * (1 + TOLERANCE):
                grown += 1
                change += "!"
            line += f"{now:>15,}{change:>11}"
        print(line)
    return grown


def defeats(counts: Dict[str, Dict[str, int]]) -> int:
    """Prints and returns how many programs that defeat caches cost too much more than at the generic level."""
    found = 0
    for name, by_level in counts.items():
        worst = max(by_level.values()) / by_level["generic"]
        if name.startswith(FOLDERS["defeat"]) and worst > DEFEATED_LIMIT:
            print(f"{name}: {worst:.2f} times the generic level's, and {DEFEATED_LIMIT} is the limit")
            found += 1
    return found


def losses(counts: Dict[str, Dict[str, int]]) -> int:
    """Prints and returns how many programs cost too much more at level nama than at inca."""
    found = 0
    for name, by_level in counts.items():
        ratio = by_level["nama"] / by_level["inca"]
        if ratio > OVER_INCA:
            print(f"{name}: nama costs {ratio:.3f} times what inca does, and {OVER_INCA} is the limit")
            found += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Count dynvm's instructions with callgrind.")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--check", action="store_true", help="fail if a count grew by more than 1 %%")
    parser.add_argument("--prefix", default="", help="only programs whose names begin so, as objects/; others keep theirs")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("counts.py needs valgrind (Debian: apt-get install valgrind)", file=sys.stderr)
        return 2
    stored = json.loads(STORE.read_text()) if STORE.exists() else {}
    counts = count_all(options.dynvm.resolve(), options.jobs, options.prefix)
    grown = report(counts, stored)
    if options.check:
        print(f"{grown} counts grew by more than {TOLERANCE:.0%}")
        return 1 if defeats(counts) + losses(counts) + grown else 0
    kept = {name: counted for name, counted in stored.items() if not name.startswith(options.prefix)}
    STORE.write_text(json.dumps(dict(sorted({**kept, **counts}.items())), indent=1) + "\n")
    print(f"written to {STORE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
