#!/usr/bin/env python3
"""Every name that `dynvm dis` prints leads to a line of the sources (`dis --where`).

usage: where.py BUILD

First all instructions there are: the block's line must begin a block whose name fits, and the chooser's line must define
what it says, which must name instructions.  Then listings of programs that have run: each name in them must be in the
table below them, and brackets must close.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"    (\S+) +(\S+):(\d+) +(.+), (\S+):(\d+)(?:, and \d+ more)?$")
TAG = re.compile(r'\s*<%isa:(\w+) .*?name="([^"]*)"')
OPCODE = re.compile(r"^    DV_OP_(\w+) = (\d+),$", re.MULTILINE)
CELL = re.compile(r"  [ /|\\] +\d+  (\S+)(.*)")
MARK = re.compile(r"^  (?:>>|  ) +\d+  .{42,}?([/|\\])(?:  |$)")
BOUNDS = {"DV_OP_COUNT", "GENERIC_COUNT", "FIRST_REGION", "REGION_COUNT", "COUNT"}
# Programs that become all kinds of things.
PROGRAMS = ("tests/golden/*.dl", "tests/levels/region/*.dl", "tests/levels/class/attribute*.dl", "bench/programs/richards.py")
SIX = "def total(n):\n    s = 0\n    for i in range(n):\n        s = s + i * i\n    return s\nprint(total(10000))\n"
ARRAYS = """import ndarray as np
def f(a, b, c, n):
    for i in range(n):
        r = a * b + c
        a[0] = r[1]
    return -r
print(f(np.ones(9), np.ones(9), np.ones(9), 2000).sum())
"""

complaints: list = []


def complain(text: str) -> None:
    complaints.append(text)


@lru_cache(maxsize=None)
def lines(path: str) -> list:
    file = ROOT / path
    return file.read_text(encoding="utf-8").split("\n") if file.is_file() else []


def line(path: str, number: str) -> str:
    found = lines(path)
    return found[int(number) - 1] if 0 < int(number) <= len(found) else ""


def fits(name: str, pattern: str) -> bool:
    """Is this the name of an instruction of the block?  Made from it are adaptive forms and fusions."""
    parts = re.split(r"\$\{.*?\}", pattern)
    expression = ".*".join(map(re.escape, parts))
    return re.fullmatch(rf"(?:[SLCO]+_)?{expression}(?:_STORE|_ADAPTIVE)?", name) is not None


def check_row(name: str, block: str, block_line: str, chooser: str, file: str, file_line: str) -> None:
    tag = TAG.match(line(block, block_line))
    if not tag or not fits(name, tag[2]):
        complain(f"{name}: no block of it begins at {block}:{block_line}")
    defines = line(file, file_line)
    if file.endswith(".mako"):
        if "model.derivatives" not in defines:
            complain(f"{name}: {file}:{file_line} chooses nothing")
        return
    if not re.search(rf"(?<!\w){chooser}(?!\w)", defines) or defines.startswith(" "):
        complain(f"{name}: {file}:{file_line} does not define {chooser}")


def check_all(dynvm: str, build: Path) -> None:
    shown = subprocess.run([dynvm, "dis", "--where"], stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = [ROW.match(text) for text in shown.splitlines()]
    for text, row in zip(shown.splitlines(), rows):
        if row is None:
            complain(f"no row: {text}")
    opcodes = [name for name, _ in OPCODE.findall((build / "gen" / "dv_ops.h").read_text()) if name not in BOUNDS]
    names = [row[1] for row in rows if row]
    if names != opcodes:
        complain(f"{len(names)} rows for {len(opcodes)} opcodes, or not in their order")
    for row in rows:
        if row:
            check_row(*row.groups())
    print(f"{len(names)} instructions")


def check_listing(shown: str, what: str) -> int:
    """The names of each function's listing are in the table below it."""
    count = 0
    for part in re.split(r"^(?=\S.*  \S+:\d+  (?:warm|cold|not run)$)", shown, flags=re.MULTILINE):
        listing, _, table = part.partition("\n  where ")
        rows = dict(re.findall(r"^    (\S+) +(\S+)", table, re.MULTILINE))
        if not table:
            continue
        left = 0
        for text in listing.splitlines():
            names = re.findall(r"^  (?:>>|  ) +\d+  ([A-Z_0-9]+)", text) + re.findall(r"  (?:as )?([A-Z][A-Z0-9]*_[A-Z_0-9]+)", text)
            cell = CELL.match(text) if re.match(r"  [ /|\\] +\d+  R[A-Z]{0,3}_", text) else None
            if cell:
                names = [cell[1], *re.findall(r" \++ (\S+)$", cell[2])]
                mark = text[2]
            else:
                found = MARK.match(text)
                mark = found[1] if found else " "
            left = {"/": left + 1, "\\": left - 1}.get(mark, left)
            if left not in (0, 1):
                complain(f"{what}: brackets do not match: {text}")
                left = 0
            for name in names:
                count += 1
                if name not in rows and not name.startswith("__"):
                    complain(f"{what}: {name} is not in the table")
        if left:
            complain(f"{what}: a bracket is open")
    return count


def check_programs(dynvm: str) -> None:
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        six, arrays = Path(scratch) / "six.dl", Path(scratch) / "arrays.dl"
        six.write_text(SIX)
        arrays.write_text(ARRAYS)
        programs = [six, arrays, *(path for pattern in PROGRAMS for path in sorted(ROOT.glob(pattern)))]
        for program in programs:
            listed = subprocess.run([dynvm, "dis", "--after-run", "--where", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=scratch,
                                    env={**os.environ, "DYNVM_PATH": str(Path(dynvm).parent / "tests" / "extensions")}).stdout.decode(errors="replace")
            count += check_listing(listed, program.name)
            if program == six:
                for part in ("/  FOR_ITER_RANGE_STORE", "\\  MUL_INT", "RI_MUL_SS_R ", "  / "):
                    if part not in listed:
                        complain(f"the listing of six lines has no '{part}':\n{listed}")
            if program == arrays:
                place = re.search(r"^    FUSED_EXPRESSION +(\S+):(\d+) +(\w+), (\S+):(\d+)$", listed, re.MULTILINE)
                if not place or "FUSED" not in line(place[1], place[2]) or f" {place[3]}(" not in line(place[4], place[5]):
                    complain(f"FUSED_EXPRESSION leads to {place and place[0]}")
        told = json.loads(subprocess.run([dynvm, "dis", "--after-run", "--where", "--json", six], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, check=True).stdout)
        total = told["functions"][1]["instructions"]
        for item in total:
            for key in ("instruction", "form", "as"):
                if item.get(key) and item[key] not in told["where"]:
                    complain(f"JSON: {item[key]} is not in the table")
        if [item["covers"] for item in total if item["form"] == "LL_MUL_INT"] != [3]:
            complain("JSON: LL_MUL_INT covers three instructions")
    print(f"{count} names in listings of {len(programs)} programs")


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    check_all(str(build / "dynvm"), build)
    check_programs(str(build / "dynvm"))
    print("\n".join(complaints[:40]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
