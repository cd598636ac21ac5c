#!/usr/bin/env python3
"""Prints the line and branch coverage of each file of the rooms in ROOMS.

usage: coverage.py BUILD                  the table, and whether every file is at its floor
       coverage.py BUILD --missing FILE   the lines of a file that have a branch which nobody took
       coverage.py BUILD --raise          write the floors that are reached now; they only go up

BUILD is a build directory of the preset `coverage` in which tests have run.  A file's floor is in
.ci/coverage.floors: the percentage of its branches below which this program fails.  A file that is not
named there, because it is new, has the floor DEFAULT_FLOOR.

What counts: every branch that gcov knows of, except
  - the untaken branch of a line that only passes a failure on: `if (TEST) return FAILED;`, where TEST says
    that a call failed (dv_is_empty(x), !call(x), !x, x == NULL, x < 0, or several of these with ||) and FAILED is
    DV_EMPTY, false, NULL or -1.  Most need memory to run out; tests/README.md says what else covers them;
  - the branches of assertions.

Exit status: 0 if every file is at its floor, 1 if not, 2 if there is nothing to measure.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parent.parent
FLOORS = Path(__file__).resolve().parent / "coverage.floors"
ROOMS = ("lang", "vm/base", "vm/types", "vm/report", "vm/import", "vm/builtins", "vm/modules")
DEFAULT_FLOOR = 90
PASSES_ON = re.compile(r"^\s*(?:\} )?(?:else )?if \((.*)\) return (?:DV_EMPTY|false|NULL|-1);$")
FAILED = re.compile(r"^(?:dv_is_empty\(.*\)|!(?!\w*is_)\w+\(.*\)|![\w>.*-]+|[\w>.*-]+ == NULL|[\w>.*-]+ < 0)$")
ASSERTION = re.compile(r"^\s*(?:assert|static_assert)\(")


class File:
    """The counts of one source file: of each line, and of each branch of each line."""

    def __init__(self, name: str):
        self.name = name
        self.source = (ROOT / name).read_text().splitlines()
        self.lines: Dict[int, int] = defaultdict(int)
        self.branches: Dict[int, List[int]] = {}

    def add(self, record: dict) -> None:
        number = record["line_number"]
        self.lines[number] += record["count"]
        counts = [branch["count"] for branch in record["branches"]]
        known = self.branches.setdefault(number, [])
        # A line that is compiled into several functions (inlined, or a macro) has a record for each.
        if len(known) == len(counts):
            self.branches[number] = [a + b for a, b in zip(known, counts)]
        else:
            known.extend(counts)

    def statement(self, number: int) -> str:
        """The statement that begins in a line, on one line, as far as `;` or `{`."""
        text = self.source[number - 1].rstrip()
        for line in self.source[number : number + 4]:
            if text.endswith((";", "{", "}")):
                break
            text += " " + line.strip()
        return text

    def excused(self, number: int) -> bool:
        text = self.statement(number)
        if ASSERTION.match(text):
            return True
        match = PASSES_ON.match(text)
        return match is not None and all(FAILED.match(test) for test in match.group(1).split(" || "))

    def untaken(self, number: int) -> int:
        return 0 if self.excused(number) else self.branches[number].count(0)

    def line_counts(self) -> Tuple[int, int]:
        return sum(1 for count in self.lines.values() if count), len(self.lines)

    def branch_counts(self) -> Tuple[int, int]:
        """Taken and counted branches."""
        taken = sum(len(counts) - counts.count(0) for counts in self.branches.values())
        return taken, taken + sum(self.untaken(number) for number in self.branches)

    def raw_percent(self) -> float:
        taken = sum(len(counts) - counts.count(0) for counts in self.branches.values())
        return percent(taken, sum(map(len, self.branches.values())))


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def measured(name: str) -> bool:
    return name.endswith(".c") and name.startswith(tuple(room + "/" for room in ROOMS))


def read(build: Path) -> Dict[str, File]:
    """Every file of the rooms, as the counters in the build directory tell it."""
    files: Dict[str, File] = {}
    notes = sorted((build / "CMakeFiles" / "dynvm_machine.dir").rglob("*.gcno"))
    wanted = [note for note in notes if any(f"/{room}/" in str(note) for room in ROOMS)]

    def told(note: Path) -> bytes:
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(note)]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=build, check=True).stdout

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = list(pool.map(told, wanted))
    for output in outputs:
        for report in map(json.loads, output.splitlines()):
            for found in report["files"]:
                path = Path(report["current_working_directory"], found["file"]).resolve()
                # The build directory may still have the notes of a source that is gone.
                if not path.is_relative_to(ROOT) or not measured(str(path.relative_to(ROOT))) or not path.exists():
                    continue
                name = str(path.relative_to(ROOT))
                file = files.setdefault(name, File(name))
                for record in found["lines"]:
                    file.add(record)
    return files


def read_floors() -> Dict[str, int]:
    lines = FLOORS.read_text().splitlines() if FLOORS.exists() else []
    return {name: int(floor) for name, floor in (line.split() for line in lines if line and line[0] != "#")}


def write_floors(files: Dict[str, File], floors: Dict[str, int]) -> None:
    """Only floors below DEFAULT_FLOOR are written: all others are above it for good."""
    lines = ["# Branch coverage that a file must keep, in per cent; see coverage.py.  Edit upwards only.\n"]
    for name, file in sorted(files.items()):
        reached = max(int(percent(*file.branch_counts())), floors.get(name, 0))
        if reached < DEFAULT_FLOOR:
            lines.append(f"{name} {reached}\n")
    FLOORS.write_text("".join(lines))


def show_table(files: Dict[str, File], floors: Dict[str, int]) -> bool:
    print(f"{'file':40} {'lines':>7} {'branches':>9} {'untaken':>8} {'with excused':>13} {'floor':>6}")
    fine, sums = True, [0, 0, 0, 0]
    for name, file in sorted(files.items()):
        lines, branches = file.line_counts(), file.branch_counts()
        floor = floors.get(name, DEFAULT_FLOOR)
        low = percent(*branches) < floor
        fine = fine and not low
        sums = [a + b for a, b in zip(sums, lines + branches)]
        print(f"{name:40} {percent(*lines):6.1f}% {percent(*branches):8.1f}% {branches[1] - branches[0]:8} "
              f"{file.raw_percent():12.1f}% {floor:5}%{'  LOW' if low else ''}")
    below = sum(1 for file in files.values() if percent(*file.branch_counts()) < DEFAULT_FLOOR)
    print(f"{len(files)} files, lines {percent(*sums[:2]):.1f}%, branches {percent(*sums[2:]):.1f}%, "
          f"{below} files below {DEFAULT_FLOOR}%")
    return fine


def show_missing(file: File) -> None:
    for number, counts in sorted(file.branches.items()):
        if file.untaken(number):
            taken = "".join("0" if count == 0 else "+" for count in counts)
            mark = "#" if file.lines[number] == 0 else " "
            print(f"{number:5}{mark} {taken:8} {file.source[number - 1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Coverage of the language, the types and the library.")
    parser.add_argument("build", type=Path)
    parser.add_argument("--missing", action="append", default=[], metavar="FILE")
    parser.add_argument("--raise", dest="higher", action="store_true")
    options = parser.parse_args()
    files = read(options.build.resolve())
    if not any(count for file in files.values() for count in file.lines.values()):
        print(f"{options.build}: no counters; build with the preset coverage and run tests", file=sys.stderr)
        return 2
    for name in options.missing:
        if name not in files:
            print(f"{name} is not measured", file=sys.stderr)
            return 2
        print(name)
        show_missing(files[name])
    if options.missing:
        return 0
    if options.higher:
        write_floors(files, read_floors())
    return 0 if show_table(files, read_floors()) else 1


if __name__ == "__main__":
    sys.exit(main())
