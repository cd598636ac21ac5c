#!/usr/bin/env python3
"""Disassembles the tail-form handlers: the next handler must be jumped to, never called.

usage: check_handlers.py BUILD

A handler dv_h_* of a tail-form object leaves by a jump: to the next handler, or to its slow path.  Where
the compiler lost a sibling call, it emits a call and then a return.  So the rule is that a handler contains no
return at all, and at least one jump out of the function.  How many save registers of the caller, though they call
nothing, is only told.  (An indirect call of a C function, such as a method of a built-in type, is no handler's call; it is followed by a
jump like everything else.)

BUILD may be of another processor (MACHINES): the objects' ELF header says which; the disassembler is the one of
CMAKE_OBJDUMP in its CMakeCache.txt.
"""

import multiprocessing
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Pattern

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
HANDLER = "dv_h_"


@dataclass(frozen=True)
class Machine:
    """What the disassembly of one processor looks like."""

    name: str
    returns: Pattern  # a line with a return
    indirect: Pattern  # a jump to the address in a register or in memory, but for a switch's table
    table: Pattern  # the line in front of an indirect jump that belongs to a switch
    jump: Pattern  # a direct jump; who to is in the line, or in the relocation behind it
    target: Pattern  # the function in the line
    relocation: Pattern
    call: Pattern
    saves: Pattern  # puts a register aside that belongs to the caller


MACHINES = {
    62: Machine(
        "x86-64",
        returns=re.compile(r"\bret[lq]?\b"),
        indirect=re.compile(r"\bjmp\s+\*(?!.*\(,)"),
        table=re.compile(r"(?!)"),
        jump=re.compile(r"\bjmp\b"),
        target=re.compile(r"\bjmp\s+[0-9a-f]+ <([^>+]+)"),
        relocation=re.compile(r"R_X86_64_(?:PLT32|PC32|GOTPCREL\w*)\s+(\S+?)[-+]0x"),
        call=re.compile(r"\bcall\b"),
        saves=re.compile(r"\bpush\s+%(?:rbx|rbp|r1[2-5])"),
    ),
    183: Machine(
        "arm64",
        returns=re.compile(r"\tret\b"),
        indirect=re.compile(r"\tbr\s+x\d+"),
        table=re.compile(r"\tadd\s+x\d+, x\d+, w\d+, [su]xt[bhw] #2"),
        jump=re.compile(r"\tb\s"),
        target=re.compile(r"\tb\s+[0-9a-f]+ <([^>+]+)"),
        relocation=re.compile(r"R_AARCH64_JUMP26\s+(\S+)"),
        call=re.compile(r"\tblr?\s"),
        saves=re.compile(r"\tst[pr]\s+(?:x(?:19|2\d|30)|d(?:8|9|1[0-5])),.*\[sp"),
    ),
}


def machine_of(path: Path) -> Machine:
    number = struct.unpack_from("<H", path.read_bytes(), 18)[0]
    if number not in MACHINES:
        raise SystemExit(f"{path}: an object of processor {number}, which this program does not know")
    return MACHINES[number]


def disassembler(build: Path) -> str:
    """GNU's, whose lines are read here: for clang, CMake finds LLVM's."""
    cache = build / "CMakeCache.txt"
    found = re.search(r"^CMAKE_OBJDUMP:FILEPATH=(.+)$", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found and "llvm" not in found.group(1) else "objdump"


def functions_of(path: Path, objdump: str):
    """The functions of an object: name and the lines of its disassembly."""
    text = subprocess.run([objdump, "-dr", "--no-show-raw-insn", str(path)], stdout=subprocess.PIPE, check=True)
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


def leaves_by_jump(name: str, lines: list, machine: Machine) -> bool:
    """Whether some path ends in a jump out of the function."""
    for number, line in enumerate(lines):
        if machine.indirect.search(line) and not (number and machine.table.search(lines[number - 1])):
            return True
        target = machine.target.search(line)
        if target and target.group(1) != name:
            return True
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if machine.jump.search(line) and machine.relocation.search(following):
            return True
    return False


def complaints_about(path: Path, objdump: str) -> tuple:
    """Complaints, the number of handlers looked at, and of those that save registers without a call.  A cold part
    belongs to its function."""
    machine = machine_of(path)
    whole: dict = {}
    for name, lines in functions_of(path, objdump):
        whole.setdefault(re.sub(r"\.(cold|part|isra|constprop).*$", "", name), []).extend(lines)
    found, count, saving = [], 0, 0
    for name, lines in whole.items():
        if not name.startswith(HANDLER):
            continue
        count += 1
        if any(machine.returns.search(line) for line in lines):
            found.append(f"{path.name}: {name}: returns; a sibling call was lost")
        if not leaves_by_jump(name, lines, machine):
            found.append(f"{path.name}: {name}: does not end in a jump")
        calls = any(machine.call.search(line) for line in lines)
        saving += not calls and any(machine.saves.search(line) for line in lines)
    return found, count, saving


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(sys.argv[1])
    objdump = disassembler(build)
    objects = sorted(build.glob("CMakeFiles/dynvm_handlers_tail.dir/**/*.o"))
    found, count, saving = [], 0, 0
    with multiprocessing.Pool() as pool:
        for more, handlers, savers in pool.starmap(complaints_about, [(path, objdump) for path in objects], 1):
            found += more
            count += handlers
            saving += savers
    if count == 0:
        found.append(f"no tail-form handlers under {sys.argv[1]}")
    name = machine_of(objects[0]).name if objects else "no"
    print("\n".join(found + [f"{count} handlers in {len(objects)} objects for {name}, {len(found)} complaints; "
                             f"{saving} save registers though they call nothing"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
