#!/usr/bin/env python3
"""Makes the seed corpus of fuzz_front from the scripts of tests/: seeds.py DIRECTORY."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
LARGEST = 4096


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for script in sorted([*TESTS.glob("*/*.dl"), *TESTS.glob("*/*/*.dl")]):
        text = script.read_bytes()
        if len(text) <= LARGEST:
            (target / "-".join(script.relative_to(TESTS).with_suffix("").parts)).write_bytes(text)


if __name__ == "__main__":
    main()
