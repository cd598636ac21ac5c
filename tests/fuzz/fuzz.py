#!/usr/bin/env python3
"""Differential fuzzing: random programs on CPython 3.11 against dynvm at every level and under stress.

Programs are made from seeds (generate.py).  One that fails is reduced and written to the directory given with --keep.
"""

import argparse
import importlib
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare  # noqa: E402
import generate  # noqa: E402
import oracle  # noqa: E402
import reduce  # noqa: E402
import warm  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
CHUNK = 200
NAMES_LOST = "is not defined"


def failing_like(comparer: compare.Comparer, first: compare.Failure, head: str):
    """A predicate for reduce.py: which sources fail in the same variant and the same way?

    `head` is the first line of all.  What has no NameError where the program had none: names that a reduction loses hide what differed.
    """
    named = NAMES_LOST in first.expected

    def admitted(expected: list) -> bool:
        return named or NAMES_LOST not in "".join(expected[:2])

    def failing(sources):
        programs = [(f"try{i}.dl", head + source) for i, source in enumerate(sources)]
        masks = {name: 1 << first.variant for name, _ in programs}
        failed = {f.name for f in comparer.compare(programs, masks, admitted)[0] if f.kind == first.kind}
        return [name in failed for name, _ in programs]

    return failing


def keep(options, comparer: compare.Comparer, failures: list, source: str) -> None:
    """Writes a failing program and its reduced form, and says what fails."""
    first = failures[0]
    options.keep.mkdir(parents=True, exist_ok=True)
    (options.keep / first.name).write_text(source)
    told = ", ".join(f"{comparer.labels[f.variant]} ({f.kind})" for f in failures[:3])
    more = f" and {len(failures) - 3} more" if len(failures) > 3 else ""
    print(f"FAIL {first.name}: {told}{more}", flush=True)
    if options.reduce:
        head = warm.TO_THE_END.match(source)  # what a program is compared for is no part of its tree
        head = head.group() if head else ""
        small = head + reduce.reduce(source, failing_like(comparer, first, head), options.reduce)
        path = options.keep / ("small_" + first.name)
        path.write_text(small + f"# {comparer.labels[first.variant]}: {first.kind}\n")
        print("    " + "\n    ".join(small.splitlines()[:40]), flush=True)


def alone(comparer: compare.Comparer, program: tuple, mask: int, found: list) -> list:
    """The failures of a program, of which those are left out that are CPython's own disagreement with itself.

    A CPython that is warm from other programs counts the depth of recursion in another way, for example.  If it prints
    something else when the program runs by itself, then that is what counts; otherwise nothing is left out.
    """
    result = comparer.expected([program])[0]
    if result is not None and result[0] + result[1] == found[0].expected:
        return found
    return comparer.compare([program], {program[0]: mask})[0]


def is_certain(expected: list) -> bool:
    """Not certain: abs() of a complex number with a nan in it looks at the errno that an abs() before has left; and where objects
    lie in memory."""
    said = expected[0] + expected[1]
    return "absolute value too large" not in said and " object at 0x" not in said


def run_chunk(options, comparer: compare.Comparer, seeds: range, maker) -> tuple:
    programs = [(f"seed{seed}.dl", maker(seed)) for seed in seeds]
    masks = {f"seed{seed}.dl": options.mask or compare.rotating_mask(seed) for seed in seeds}
    if options.all_variants:
        masks = {name: (1 << len(comparer.labels)) - 1 for name in masks}
    failures, skipped = comparer.compare(programs, masks, is_certain, counted=True)
    by_name = {}
    for failure in failures:
        by_name.setdefault(failure.name, []).append(failure)
    sources = dict(programs)
    by_name = {name: alone(comparer, (name, sources[name]), masks[name], found) for name, found in by_name.items()}
    skipped += sum(not found for found in by_name.values())
    by_name = {name: found for name, found in by_name.items() if found}
    for name, found in by_name.items():
        keep(options, comparer, found, sources[name])
    return skipped, Counter(found[0].kind for found in by_name.values())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Differential fuzzing of dynvm against CPython.")
    parser.add_argument("--driver", type=Path, default=ROOT / "build" / "tests" / "fuzz" / "fuzz_driver")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many seeds")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so many seconds")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz", help="where failing programs go")
    parser.add_argument("--log", type=Path, help="append the range of seeds that were done to this file")
    parser.add_argument("--reduce", type=float, default=60, help="seconds for making one failing program small")
    parser.add_argument("--maker", help="programs of generate_MAKER.py alone, in its VARIANTS if it has some")
    parser.add_argument("--all-variants", action="store_true", help="every variant for every seed")
    return parser.parse_args()


def main(maker=generate.generate, extension: str = "", modules: Path = None, case: re.Pattern = None) -> int:
    """Of programs that import an extension, `modules` has the module that CPython imports in its place.

    `case` is found in the output once for each case that a program compares; they are counted."""
    options = parse_arguments()
    stop = []  # SIGTERM and Ctrl-C end the run behind the chunk, so that the log is right
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.append(True))
    python = oracle.find_cpython()
    if python is None:
        print("fuzzing needs a CPython 3.11", file=sys.stderr)
        return 2
    variants = []
    if options.maker:
        module = importlib.import_module(f"generate_{options.maker}")
        maker, variants = module.generate, getattr(module, "VARIANTS", [])
    start, done, skipped, kinds = time.monotonic(), 0, 0, Counter()
    with tempfile.TemporaryDirectory(prefix="dynvm-fuzz-") as scratch:
        driver = options.driver.resolve()
        extensions = driver.parent.parent.parent / "ext"
        if extension and not (extensions / f"{extension}.so").exists():
            print(f"there is no {extension}.so in {extensions}", file=sys.stderr)
            return 2
        comparer = compare.Comparer(driver, python, Path(scratch), extension, extensions, modules, case)
        options.mask = sum(1 << comparer.labels.index(label) for label in variants)
        last = options.first + options.count
        while options.first + done < last:
            first = options.first + done
            seeds = range(first, min(first + CHUNK, last))
            left_out, found = run_chunk(options, comparer, seeds, maker)
            done, skipped, kinds = done + len(seeds), skipped + left_out, kinds + found
            if stop or options.seconds and time.monotonic() - start > options.seconds:
                break
        comparer.close()
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none failed"
    cases = f", {comparer.cases} cases" if case else ""
    line = f"seeds {options.first} to {options.first + done - 1}{cases}: {skipped} skipped, {told}"
    print(f"{line}; {time.monotonic() - start:.0f} s")
    if options.log:
        with open(options.log, "a", encoding="utf-8") as log:
            log.write(line + "\n")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
