#!/usr/bin/env python3
"""Disassembles the tail-form handlers: the next handler must be jumped to, never called.

usage: check_handlers.py BUILD

A handler dv_h_* of a tail-form object leaves by a jump: to the next handler, or to its slow path.  Where
the compiler lost a sibling call, it emits `call` and then `ret`.  So the rule is that a handler contains no
`ret` at all, and at least one jump out of the function.  (An indirect call of a C function, such as a method of a
built-in type, is no handler's call; it is followed by a jump like everything else.)
"""

import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
RETURN = re.compile(r"\bret[lq]?\b")
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
        if any(RETURN.search(line) for line in lines):
            found.append(f"{path.name}: {name}: returns; a sibling call was lost")
        if not leaves_by_jump(lines):
            found.append(f"{path.name}: {name}: does not end in a jump")
    return found, count


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    objects = sorted(Path(sys.argv[1]).glob("CMakeFiles/dynvm_handlers_tail.dir/**/*.o"))
    found, count = [], 0
    with multiprocessing.Pool() as pool:
        for more, handlers in pool.imap(complaints_about, objects):
            found += more
            count += handlers
    if count == 0:
        found.append(f"no tail-form handlers under {sys.argv[1]}")
    print("\n".join(found + [f"{count} handlers in {len(objects)} objects, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
