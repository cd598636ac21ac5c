#!/usr/bin/env python3
"""What the constants of INCA cost: dynvm built with other values, instructions counted as by counts.py.

Prints a Markdown table: geometric mean of the change at inca and at nama against the constants as they are, over
bench/programs, and which program loses most; bench/objects and bench/defeat count for the latter alone.  Takes about
three minutes a row.

usage: constants.py [NAME=VALUE ...]      for example DV_SITE_WAIT=8; without: the rows of log/constants.csv
"""

import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import counts

FILES = {
    "WARM": ("vm/run/thread.c", r"WARM_\w+ = \d+"),  # both of them
    "DV_HOT_ITERATIONS": ("vm/quicken/site.h", r"DV_HOT_ITERATIONS = \d+"),
    "DV_SITE_MISSES": ("vm/quicken/site.h", r"DV_SITE_MISSES = \d+"),
    "DV_SITE_WAIT": ("vm/quicken/site.h", r"DV_SITE_WAIT = \d+"),
    "DV_SITE_BACKOFF": ("vm/quicken/site.h", r"DV_SITE_BACKOFF = \d+"),
    "DV_POLY_ENTRIES": ("vm/quicken/polymorphic.h", r"DV_POLY_ENTRIES \d+"),
}
ROWS = ["WARM=2", "WARM=4", "WARM=16", "WARM=64", "DV_HOT_ITERATIONS=100", "DV_SITE_MISSES=4", "DV_SITE_MISSES=16",
        "DV_SITE_WAIT=4", "DV_SITE_WAIT=32", "DV_SITE_BACKOFF=6", "DV_POLY_ENTRIES=2", "DV_POLY_ENTRIES=8"]
LEVELS = ("inca", "nama")


def build(scratch: Path, changes: dict) -> Path:
    """dynvm with these values, from a copy of the tree."""
    source = scratch / "source"
    shutil.rmtree(source, ignore_errors=True)
    for path in subprocess.run(["git", "ls-files"], cwd=counts.ROOT, check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(counts.ROOT / path, source / path)
    for name, value in changes.items():
        path, pattern = FILES[name]
        text = (source / path).read_text()
        changed, times = re.subn(pattern, lambda m: re.sub(r"\d+$", value, m[0]), text)
        if times == 0:
            raise RuntimeError(f"{path} has no {name}")
        (source / path).write_text(changed)
    folder = scratch / "build"
    for command in (["cmake", "--preset", "release", "-S", source, "-B", folder],
                    ["cmake", "--build", folder, "--target", "dynvm", "-j2"]):
        subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    return folder / "dynvm"


def main() -> None:
    counts.LEVELS = LEVELS
    rows = sys.argv[1:] or ROWS
    for row in rows:
        if row.partition("=")[0] not in FILES or not row.partition("=")[2].isdigit():
            sys.exit(f"constants.py: '{row}' is none of {', '.join(FILES)}, with =NUMBER")
    with tempfile.TemporaryDirectory(prefix="dynvm-constants-") as scratch:
        base = counts.count_all(build(Path(scratch), {}), 2)
        print("| constant | inca | nama | loses most at inca |\n|---|---|---|---|", flush=True)
        for row in rows:
            name, _, value = row.partition("=")
            found = counts.count_all(build(Path(scratch), {name: value}), 2)
            change = {level: {p: math.log(found[p][level] / base[p][level]) for p in base} for level in LEVELS}
            means = [[x for p, x in change[level].items() if "/" not in p] for level in LEVELS]
            shown = [f"{100 * math.expm1(sum(m) / len(m)):+.2f} %" for m in means]
            worst = max(base, key=lambda p: change["inca"][p])
            print(f"| {row} | {' | '.join(shown)} | {worst} {100 * math.expm1(change['inca'][worst]):+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
