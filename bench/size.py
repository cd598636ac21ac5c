#!/usr/bin/env python3
"""How large each part of the machine is: lines of source and bytes of binary, by level.

usage: size.py [--json] [BUILD ...]      (build, if none is named; several are printed side by side)
       size.py --rooms                   lines by room, as the table of the first README has them; needs no build
       size.py --check README.md         fails if a number in that table is wrong by more than a twentieth

Levels build on each other as in the papers on quickening: *generic* is the interpreter without any derivative, *inca*
adds the derivatives and what chooses them, *nama* the regions and what makes them.  Lines are those with code: neither
blank nor comment alone.  An instruction is written once, as a block in gen/ops, and belongs to the level of its kind;
its handlers, one for each dispatch form, and its row of the table of instructions belong there too.  Bytes are what the loader maps of a part's objects
(instructions, constants, data; no symbols or debug information), without the relocations that a link adds.  Builds may
be of other processors: object files are read here, not by the binutils of one.
"""

import argparse
import json
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

ROOT = Path(__file__).resolve().parent.parent
ALLOCATED, TABLE_OF_SYMBOLS, FUNCTION = 2, 2, 2  # ELF: SHF_ALLOC, SHT_SYMTAB, STT_FUNC
NO_BITS = 8  # SHT_NOBITS


@dataclass(frozen=True)
class Part:
    """What is written together and belongs to one level."""

    name: str
    level: str
    sources: Tuple[str, ...]  # globs below the root
    kinds: Tuple[str, ...] = ()  # of the instructions whose blocks and handlers it has
    objects: str = ""  # what the paths of its objects below CMakeFiles match
    library: str = ""  # or the shared object below the build


PARTS = (
    Part("compiler", "generic", ("lang/**/*.[ch]", "gen/tables/syntax.gram"), objects=r"dynvm_machine.dir/lang/|gen/dv_grammar"),
    Part("values, types, calls", "generic", ("vm/base/*.[ch]", "vm/core/*.[ch]", "vm/code/*.[ch]", "vm/types/**/*.[ch]",
         "vm/run/*.[ch]", "vm/report/*.[ch]", "vm/import/*.[ch]"), objects=r"/vm/(?:base|core|code|types|run|report|import)/"),
    Part("generic instructions", "generic", ("gen/ops/*.mako",), ("GENERIC",)),
    Part("built-ins and modules", "generic", ("vm/builtins/*.[ch]", "vm/modules/**/*.[ch]"), objects=r"/vm/(?:builtins|modules)/"),
    Part("modules in dl", "generic", ("lang/lib/**/*.dl",), objects=r"gen/frozen"),
    Part("Unicode", "generic", (), objects=r"gen/unicode"),
    Part("quickening", "inca", ("vm/quicken/*.[ch]",), objects=r"/vm/quicken/"),
    Part("derivatives", "inca", ("gen/ops/*.mako",), ("ADAPTIVE", "DERIVATIVE", "FUSION")),
    Part("regions", "nama", ("vm/region/**/*.[ch]",), objects=r"/vm/region/"),
    Part("region instructions", "nama", ("gen/ops/*.mako",), ("REGION", "PAIR")),
    Part("extension interface", "extensions", ("vm/plugin/*.[ch]", "vm/include/dynvm_ext*.h"),
         objects=r"/vm/plugin/|gen/extension"),
    Part("embedding interface", "tools", ("vm/api/*.[ch]", "vm/include/dynvm.h"), objects=r"/vm/api/"),
    Part("inspection", "tools", ("vm/inspect/**/*.[ch]",), objects=r"/vm/inspect/"),
    Part("command line", "tools", ("vm/cli/*.[ch]",), objects=r"dynvm.dir/vm/cli/"),
    Part("generator", "tools", ("gen/*.py", "gen/isa/*.py", "gen/tables/*.py", "gen/pack/*.py", "gen/pack/pack.c", "gen/templates/*.mako")),
    Part("template", "bundled", ("ext/template/*.[ch]",), library="ext/template.so"),
    Part("ffi", "bundled", ("ext/ffi/**/*.[ch]", "ext/ffi/**/*.mako", "ext/ffi/*.py"), library="ext/ffi.so"),
    Part("decimal", "bundled", ("ext/decimal/*.[ch]", "ext/decimal/*.inc"), library="ext/_decimal.so"),
    Part("ndarray", "bundled", ("ext/ndarray/**/*.[ch]", "ext/ndarray/**/*.mako", "ext/ndarray/**/*.py"), library="ext/ndarray.so"),
)


@dataclass(frozen=True)
class Room:
    """A row of the README's table: what is read together."""

    name: str
    folders: Tuple[str, ...]  # below the root; with everything in them
    kinds: Tuple[str, ...] = ()  # and the blocks of these kinds


ROOMS = (
    Room("generic", ("vm/code", "vm/core", "vm/run"), ("GENERIC",)),
    Room("around it", ("vm/base", "vm/report", "vm/import")),
    Room("+ INCA", ("vm/quicken",), ("ADAPTIVE", "DERIVATIVE", "FUSION")),
    Room("+ NAMA", ("vm/region",), ("REGION", "PAIR")),
    Room("generator", ("gen",)),
    Room("compiler", ("lang",)),
    Room("library", ("vm/types", "vm/builtins", "vm/modules", "lang/lib")),
    Room("interfaces, tools", ("vm/plugin", "vm/api", "vm/include", "vm/inspect", "vm/cli", "ext/template")),
    Room("ffi", ("ext/ffi", "ext/mpi")),
    Room("decimal", ("ext/decimal",)),
    Room("arrays", ("ext/ndarray",)),
)
SOURCES = (".c", ".h", ".py", ".dl", ".mako", ".gram")
MADE = {"lang/lib/_docs.dl", "gen/pack/docs_keys.dl"}  # tables that a program has written, and what wrote them
ROW = re.compile(r"^\| \*\*(.+?)\*\* \|.*?\| ([\d,]+) \|", re.MULTILINE)
LEVELS = ("generic", "inca", "nama", "extensions", "tools", "bundled")
MACHINES = {62: "x86-64", 183: "arm64", 243: "riscv64"}
# Tags of gen/ops and the kinds of their instructions, and lines outside of blocks by what a file is for.
TAGS = {"op": "GENERIC", "derivative": "DERIVATIVE", "region": "REGION", "pair": "PAIR"}
TAG = re.compile(r"<%isa:(\w+)")
END = re.compile(r"</%isa:\w+>")


class Unusable(Exception):
    """A build that cannot be measured, and why."""


# ---- Lines ----


def code_lines(path: Path) -> Iterator[str]:
    """The lines that are neither blank nor comment alone."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".c", ".h", ".mako"):
        text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
        text = re.sub(r"^\s*(?://|##).*$", "", text, flags=re.M)
    if path.suffix in (".py", ".dl", ".gram"):
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return (line for line in text.splitlines() if line.strip())


def block_lines(path: Path) -> Dict[str, int]:
    """Lines of a file of gen/ops by the kind of the instruction that they describe."""
    outside = "REGION" if path.stem.startswith("region_") else "GENERIC"
    counted: Dict[str, int] = {}
    kind = outside
    for line in code_lines(path):
        tag = TAG.search(line)
        if tag:
            kind = TAGS.get(tag.group(1), outside)
        counted[kind] = counted.get(kind, 0) + 1
        if END.search(line) or (tag and line.rstrip().endswith("/>")):
            kind = outside
    return counted


def lines_of(part: Part) -> Tuple[int, int]:
    """Files and lines of a part."""
    files = [path for pattern in part.sources for path in sorted(ROOT.glob(pattern))]
    if not part.kinds:
        return len(files), sum(sum(1 for _ in code_lines(path)) for path in files)
    counted = [sum(n for kind, n in block_lines(path).items() if kind in part.kinds) for path in files]
    return sum(1 for n in counted if n), sum(counted)


# ---- Rooms ----


def room_lines() -> Dict[str, int]:
    """Lines of each room: a file belongs to the one that names the innermost folder around it."""
    counted = {room.name: 0 for room in ROOMS}
    owners = {folder: room.name for room in ROOMS for folder in room.folders}
    for path in sorted(path for top in ("vm", "lang", "gen", "ext") for path in (ROOT / top).rglob("*")):
        name = path.relative_to(ROOT)
        if path.suffix not in SOURCES or str(name) in MADE or not path.is_file():
            continue
        if name.parts[:2] == ("gen", "ops"):
            for kind, lines in block_lines(path).items():
                counted[next(room.name for room in ROOMS if kind in room.kinds)] += lines
            continue
        folder = next((str(parent) for parent in name.parents if str(parent) in owners), None)
        if folder is None:
            raise Unusable(f"{name} is in no room that size.py knows (ROOMS)")
        counted[owners[folder]] += sum(1 for _ in code_lines(path))
    return counted


def check_rooms(page: Path) -> int:
    counted, told = room_lines(), {name: int(lines.replace(",", "")) for name, lines in ROW.findall(page.read_text(encoding="utf-8"))}
    wrong = [f"{page}: {name} has {lines:,} lines, not {told.get(name, 0):,}" for name, lines in counted.items()
             if abs(told.get(name, 0) - lines) > lines / 20]
    print("\n".join(wrong) if wrong else "the sizes in the README are right")
    return 1 if wrong else 0


# ---- Bytes ----


@dataclass(frozen=True)
class Elf:
    """An object file or shared object of 64 bits, little-endian."""

    machine: int
    size: int  # of what is mapped
    functions: Dict[str, int]  # sizes by name


def read_elf(path: Path) -> Elf:
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise Unusable(f"{path} is no ELF file of 64 bits")
    machine, = struct.unpack_from("<H", data, 18)
    offset, = struct.unpack_from("<Q", data, 40)
    entry, count, _ = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * entry) for i in range(count)]
    size = sum(s[5] for s in sections if s[2] & ALLOCATED and s[1] != NO_BITS)
    functions: Dict[str, int] = {}
    for s in sections:
        if s[1] != TABLE_OF_SYMBOLS:
            continue
        names = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            name, info, _, _, _, length = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 == FUNCTION and length:
                text = data[names + name: data.index(b"\0", names + name)].decode()
                functions[text] = functions.get(text, 0) + length
    return Elf(machine, size, functions)


def kinds_of(build: Path) -> Dict[str, str]:
    """The kind of each instruction that the build has, by its name."""
    header = (build / "gen" / "dv_ops.h").read_text()
    names = re.findall(r"^\s*DV_OP_(\w+),?\s*(?:=.*|/\*.*)?$", header, flags=re.M)
    kinds = re.findall(r"^\s*\{DV_KIND_(\w+),", (build / "gen" / "dv_ops.c").read_text(), flags=re.M)
    if not kinds or len(names) < len(kinds):
        raise Unusable(f"{build}/gen has no table of instructions as this program knows it")
    return dict(zip(names, kinds))


def handler_sizes(path: Path, kinds: Dict[str, str]) -> Dict[str, int]:
    """Bytes of an object of handlers by kind; what is no function (constants) goes the way of the file."""
    elf, found = read_elf(path), {}
    outside = "REGION" if "region_" in path.name else "GENERIC"
    for name, size in elf.functions.items():
        bare = re.sub(r"^dv_ht?_(?:slow_|miss_)?|\..*$", "", name)
        kind = kinds.get(bare, outside)
        found[kind] = found.get(kind, 0) + size
    found[outside] = found.get(outside, 0) + elf.size - sum(elf.functions.values())
    return found


def row_sizes(path: Path, kinds: Dict[str, str]) -> Dict[str, int]:
    """Bytes of the table of instructions by kind: every row has the same size."""
    size, listed = read_elf(path).size, list(kinds.values())
    return {kind: size * listed.count(kind) // len(listed) for kind in sorted(set(listed))}


def bytes_of(build: Path) -> Tuple[str, Dict[str, int]]:
    """The processor of a build, and the bytes of each part."""
    folder = build / "CMakeFiles"
    # (dynvm_pack is a program of the build.)
    objects = sorted(p for p in folder.glob("dynvm*.dir/**/*.o") if "dynvm_pack.dir" not in p.parts)
    if not objects or not (build / "dynvm").exists():
        raise Unusable(f"{build} has no dynvm; build it first")
    kinds, sizes = kinds_of(build), {part.name: 0 for part in PARTS}
    for path in objects:
        name = str(path.relative_to(folder))
        by_kind = handler_sizes if name.startswith("dynvm_handlers_") and "/gen/" in name else row_sizes
        if by_kind is handler_sizes or path.name.startswith("dv_ops."):
            for kind, size in by_kind(path, kinds).items():
                sizes[next(part.name for part in PARTS if kind in part.kinds)] += size
            continue
        for part in PARTS:
            if part.objects and re.search(part.objects, name):
                sizes[part.name] += read_elf(path).size
                break
    for part in PARTS:
        if part.library and (build / part.library).exists():
            sizes[part.name] = read_elf(build / part.library).size
    return MACHINES.get(read_elf(objects[0]).machine, "?"), sizes


# ---- The table ----


def measure(builds: List[Path]) -> dict:
    binaries = [(str(build), *bytes_of(build)) for build in builds]
    parts = []
    for part in PARTS:
        files, lines = lines_of(part)
        parts.append({"part": part.name, "level": part.level, "files": files, "lines": lines,
                      "bytes": {name: sizes[part.name] for name, _, sizes in binaries}})
    return {"builds": {name: machine for name, machine, _ in binaries}, "parts": parts}


def table(found: dict) -> Iterator[str]:
    """Lines of text: each part, a sum for each level, and what the interpreter has grown to with it."""
    builds = list(found["builds"])
    heads = [f"{found['builds'][name]} bytes" for name in builds]
    yield f"{'':24}{'files':>7}{'lines':>9}" + "".join(f"{head:>16}" for head in heads)
    generic = None
    grown = [0] * (1 + len(builds))
    for level in LEVELS:
        rows = [row for row in found["parts"] if row["level"] == level]
        for row in rows:
            yield f"  {row['part']:22}{row['files']:>7,}{row['lines']:>9,}" + "".join(f"{row['bytes'][b]:>16,}" for b in builds)
        sums = [sum(row["lines"] for row in rows), *(sum(row["bytes"][b] for row in rows) for b in builds)]
        yield f"{level:24}{sum(row['files'] for row in rows):>7,}{sums[0]:>9,}" + "".join(f"{n:>16,}" for n in sums[1:])
        if level in LEVELS[:3]:
            grown = [a + b for a, b in zip(grown, sums)]
            generic = generic or grown
            yield f"{'  of generic':31}{grown[0] / generic[0]:>9.2f}" + "".join(
                f"{n / g:>16.2f}" for n, g in zip(grown[1:], generic[1:]))


def main() -> int:
    parser = argparse.ArgumentParser(description="Lines of source and bytes of binary by level.")
    parser.add_argument("builds", nargs="*", type=Path, default=[ROOT / "build"], metavar="BUILD")
    parser.add_argument("--rooms", action="store_true", help="lines by room")
    parser.add_argument("--check", type=Path, metavar="PAGE", help="compare the table of a page with the rooms")
    parser.add_argument("--json", action="store_true", help="the numbers as JSON")
    options = parser.parse_args()
    try:
        if options.rooms:
            print("\n".join(f"| **{name}** | {round(lines, -2):,} |" for name, lines in room_lines().items()))
            return 0
        if options.check:
            return check_rooms(options.check)
        found = measure(options.builds)
    except (Unusable, OSError) as why:
        print(f"size.py: {why}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
