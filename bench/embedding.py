#!/usr/bin/env python3
"""What calls between a C host and its scripts cost: dynvm's and Lua 5.4's, side by side.

usage: embedding.py [--library build/libdynvm.a] [--rounds 3] [--json]

Compiles bench/embedding/calls_dynvm.c, and calls_lua.c where pkg-config knows lua5.4 (Debian:
liblua5.4-dev), runs both alternately and prints the least of each case: nanoseconds a call, and
millions of calls a second.  dynvm alone has functions that hot loops call with raw numbers.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bench" / "embedding"
TITLES = {
    "host_to_script": "C calls a function of the script, reads its result",
    "script_to_script": "the script calls its own function",
    "script_to_host": "the script calls a C function",
    "script_to_host_raw": "the same with a signature of raw numbers",
    "host_makes_pairs": "C makes a pair and appends it to a list",
}


def lua_flags() -> Optional[List[str]]:
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "lua5.4"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False)
    return found.stdout.decode().split() if found.returncode == 0 else None


def build(source: str, directory: Path, flags: List[str]) -> Path:
    program = directory / source.replace(".c", "")
    subprocess.run(["cc", "-O2", str(SOURCES / source), "-o", str(program), *flags], check=True)
    return program


def run(program: Path) -> Dict[str, float]:
    lines = subprocess.run([str(program)], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return {name: float(time) for name, time in (line.split() for line in lines)}


def measure(programs: Dict[str, Path], rounds: int) -> Dict[str, Dict[str, float]]:
    least: Dict[str, Dict[str, float]] = {name: {} for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            for case, time in run(program).items():
                least[name][case] = min(time, least[name].get(case, time))
    return least


def show(least: Dict[str, Dict[str, float]]) -> None:
    print("| | " + " | ".join(f"{name}, ns | {name}, M/s" for name in least) + " |")
    print("|---|" + "---|" * 2 * len(least))
    for case, title in TITLES.items():
        cells = []
        for times in least.values():
            time = times.get(case)
            cells += [f"{time:.1f}", f"{1e3 / time:.0f}"] if time else ["", ""]
        print(f"| {title} | " + " | ".join(cells) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description="Calls between a C host and its scripts.")
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "libdynvm.a")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.library.exists():
        print(f"{options.library}: build it first (cmake --build --preset release)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        dynvm = [f"-I{ROOT / 'vm' / 'include'}", str(options.library.resolve()), "-lgmp", "-lm", "-ldl"]
        programs = {"dynvm": build("calls_dynvm.c", directory, dynvm)}
        flags = lua_flags()
        if flags:
            programs["Lua 5.4"] = build("calls_lua.c", directory, flags)
        least = measure(programs, options.rounds)
    if options.json:
        print(json.dumps(least))
    else:
        show(least)
    return 0


if __name__ == "__main__":
    sys.exit(main())
