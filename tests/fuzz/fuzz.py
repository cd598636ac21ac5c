#!/usr/bin/env python3
"""Differential fuzzing: random programs on CPython 3.11 against dynvm at every level and under stress.

Odd seeds make hot, typed loops (generate_loops.py), even ones programs of all kinds (generate.py).  A program
that fails is written to the directory given with --keep, with the command that fails.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import generate  # noqa: E402
import generate_loops  # noqa: E402
import oracle  # noqa: E402
import run as runner  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent


def try_seed(seed: int, machine: "runner.Machine", python: str, scratch: Path, keep: Path) -> str:
    """'' if dynvm agrees with CPython, 'skipped', or what is wrong."""
    script = scratch / f"seed{seed}.dl"
    maker = generate_loops if seed % 2 else generate
    script.write_text(maker.generate(seed))
    test = runner.Test(f"seed{seed}", script, cwd=scratch, timeout=20)
    expected = oracle.ask(python, test.script, [], scratch, 5)
    if expected.timed_out or b"MemoryError" in expected.stderr + expected.stdout:
        return "skipped"
    for variant in machine.variants(quick=False):
        got = machine.run([*variant.options(), test.script], scratch, test.timeout)
        problems = runner.check(test, expected, got)
        if problems:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / script.name).write_text(script.read_text())
            return f"seed {seed} [{' '.join(variant.options())}]\n    " + "\n    ".join(problems[:12])
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Differential fuzzing of dynvm against CPython.")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz", help="where failing programs go")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    python = oracle.find_cpython()
    if python is None:
        print("fuzzing needs a CPython 3.11", file=sys.stderr)
        return 2
    machine = runner.Machine(options.dynvm.resolve(), options.dynvm.resolve().parent / "ext", [], [])
    failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="dynvm-fuzz-") as scratch:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            seeds = range(options.first, options.first + options.count)
            for told in pool.map(lambda s: try_seed(s, machine, python, Path(scratch), options.keep), seeds):
                skipped += told == "skipped"
                if told and told != "skipped":
                    failed += 1
                    print(told, flush=True)
    print(f"{options.count} programs, {skipped} skipped, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
