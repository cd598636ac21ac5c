#!/usr/bin/env python3
"""Instructions that programs execute at each level on another processor, relative to this one.

usage: architectures.py [--here build] [--there build-arm64] [PROGRAM ...]

Both builds run under qemu's user emulation, one instruction at a time, and every instruction is counted: some million a
second, so the programs of bench/programs run at the small sizes of the tests.  What starting costs (`-c pass`) is taken
off.  Debian: qemu-user-static, and build-arm64 by the preset arm64 (.ci/run shows how).
"""

import argparse
import json
import shlex
import struct
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
LEVELS = ("generic", "inca", "nama")
SOME = ("fannkuch", "nbody", "spectralnorm", "queens", "sieve", "hexpuzzle")
EMULATORS = {62: ("x86-64", "qemu-x86_64-static"), 183: ("arm64", "qemu-aarch64-static")}


def emulator_of(build: Path) -> Tuple[str, List[str]]:
    """The name of a build's processor, and how its programs are run."""
    machine = struct.unpack_from("<H", (build / "dynvm").read_bytes(), 18)[0]
    if machine not in EMULATORS:
        raise SystemExit(f"{build}/dynvm is for processor {machine}, which this program does not know")
    name, emulator = EMULATORS[machine]
    sysroot = build / "sysroot"
    return name, [emulator, *(("-L", str(sysroot)) if sysroot.exists() else ())]


def count(emulator: List[str], build: Path, arguments: List[str]) -> int:
    """Instructions of a run.  What the program prints must not be taken for one."""
    command = shlex.join([emulator[0], "-singlestep", "-d", "exec,nochain", "-D", "/dev/fd/3", *emulator[1:],
                          str(build / "dynvm"), *arguments])
    done = subprocess.run(["bash", "-c", f"{command} 3>&1 >/dev/null | wc -l"], stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return int(done.stdout)


def count_levels(build: Path, programs: List[str], sizes: Dict[str, dict]) -> Dict[Tuple[str, str], int]:
    name, emulator = emulator_of(build)
    found = {}
    for level in LEVELS:
        start = count(emulator, build, [f"--level={level}", "-c", "pass"])
        for program in programs:
            arguments = [f"--level={level}", str(PROGRAMS / f"{program}.dl"), str(sizes[program]["test"])]
            found[program, level] = count(emulator, build, arguments) - start
            if sys.stderr.isatty():
                print(f"{name} {level} {program}", end="\033[K\r", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Instructions per level, on two processors.")
    parser.add_argument("programs", nargs="*", default=list(SOME), metavar="PROGRAM")
    parser.add_argument("--here", type=Path, default=ROOT / "build")
    parser.add_argument("--there", type=Path, default=ROOT / "build-arm64")
    options = parser.parse_args()
    sizes = json.loads((PROGRAMS / "sizes.json").read_text())
    unknown = [name for name in options.programs if name not in sizes]
    if unknown:
        print(f"no such program: {' '.join(unknown)}", file=sys.stderr)
        return 2
    here, there = (count_levels(build.resolve(), options.programs, sizes) for build in (options.here, options.there))
    names = [emulator_of(build.resolve())[0] for build in (options.here, options.there)]
    print(f"| program | " + " | ".join(f"{level}: {names[0]}, million | {level}: {names[1]} | {level}: ratio" for level in LEVELS) + " |")
    print("|---|" + "---|---|---|" * len(LEVELS))
    for program in options.programs:
        cells = []
        for level in LEVELS:
            a, b = here[program, level], there[program, level]
            cells.append(f"{a / 1e6:.2f} | {b / 1e6:.2f} | {b / a:.2f}")
        print(f"| {program} ({sizes[program]['test']}) | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
