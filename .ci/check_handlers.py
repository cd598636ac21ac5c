#!/usr/bin/env python3
"""Disassembles the tail-form handlers: the next handler must be jumped to, never called.

usage: check_handlers.py BUILD

In a tail-form object a function dv_h_* may contain no indirect call (`call *...`), and must contain an
indirect jump or a direct jump to another function (its slow path), since that is how every handler ends.
An indirect jump through a table (`notrack jmp`, `jmp *table(,%reg,8)`) of a switch does not count.
"""

import re
import subprocess
import sys
from pathlib import Path

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INDIRECT_CALL = re.compile(r"\bcall\s+\*")
INDIRECT_JUMP = re.compile(r"\bjmp\s+\*(?!.*\(,)")
RELOCATION = re.compile(r"R_X86_64_(?:PLT32|PC32|GOTPCREL\w*)\s+(\S+?)[-+]0x")
DIRECT_JUMP = re.compile(r"\bjmp\s+[0-9a-f]+ <([^>+]+)")
JUMP = re.compile(r"\bjmp\b")
HANDLER = "dv_h_"


def functions_of(path: Path):
    """The functions of an object: name and the lines of its disassembly."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", str(path)], stdout=subprocess.PIPE, check=True)
    name, lines = None, []
    for line in text.stdout.decode().splitlines():
        match = FUNCTION.match(line)
        if match:
            if name is not None:
                yield name, lines
            name, lines = match.group(1), []
        elif name is not None:
            lines.append(line)
    if name is not None:
        yield name, lines


def leaves_by_jump(lines: list) -> bool:
    """Whether some path ends in a jump out of the function."""
    for number, line in enumerate(lines):
        if INDIRECT_JUMP.search(line) or DIRECT_JUMP.search(line):
            return True
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if JUMP.search(line) and RELOCATION.search(following):
            return True
    return False


def complaints_about(path: Path) -> tuple:
    """Complaints, and the number of handlers looked at.  A cold part belongs to its function."""
    whole: dict = {}
    for name, lines in functions_of(path):
        whole.setdefault(re.sub(r"\.(cold|part|isra|constprop).*$", "", name), []).extend(lines)
    found, count = [], 0
    for name, lines in whole.items():
        if not name.startswith(HANDLER):
            continue
        count += 1
        for line in lines:
            if INDIRECT_CALL.search(line):
                found.append(f"{path.name}: {name}: indirect call: {line.strip()}")
        if not leaves_by_jump(lines):
            found.append(f"{path.name}: {name}: does not end in a jump")
    return found, count


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    objects = sorted(Path(sys.argv[1]).glob("CMakeFiles/dynvm_handlers_tail.dir/**/*.o"))
    found, count = [], 0
    for path in objects:
        more, handlers = complaints_about(path)
        found += more
        count += handlers
    if count == 0:
        found.append(f"no tail-form handlers under {sys.argv[1]}")
    print("\n".join(found + [f"{count} handlers in {len(objects)} objects, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
