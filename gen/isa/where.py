"""Where instructions are defined and who chooses them: for `dynvm dis --where` and INSTRUCTIONS.md.

The definition is a block of gen/ops.  The chooser is what puts the instruction into a stream: a function of the compiler,
of quickening or of the region builder.  It is found where C names the instruction; where C reaches a row of instructions
by their modes (DV_MODED_), its first one is named, or another one of the same block.  A chooser that is not found is an
error of the build, so that every name leads to a line.
"""

from __future__ import annotations

import bisect
import re
from pathlib import Path
from typing import NamedTuple

import isa

ROOT = Path(__file__).resolve().parents[2]
TEXT = 64  # bytes of the longest name, with its end

# Where a kind of instruction is chosen: folders, in the order in which they are searched.
ROOMS = {
    "generic": ("lang", "vm/run", "vm/code"),
    "derivative": ("vm/quicken", "vm/run", "vm/region", "vm/plugin"),
    "region": ("vm/region",),
}
# Choosers that serve a whole kind.
CHOOSERS = {"adaptive": "dv_quicken_warm", "fusion": "dv_site_put", "pair": "dv_pair_join"}
JOINS = "joined_at"
VARIANT = "dv_op_variant"
EXTENSION = "dv_specialise"  # asks the hooks of extensions
ASSEMBLE = "dv_assembly_read"
NOT_EMITTED = "Not emitted by the compiler"
GUARDS = ("gen/templates/handlers.c.mako", "guards in order")

USE = re.compile(r"\bDV_(?:OP|MODED)_(\w+)(\s*\+)?")
READS = re.compile(r"(case|[=!]=|[<>]=?|-|dv_op_infos\[)\s*$")  # in front of an opcode: it is looked at, not chosen
HEAD = re.compile(r"[a-z}#]")  # a line at the top level that begins something
DEFINITION = re.compile(r"(?:#define|[a-z].*?|}.*?)[ *](\w+)(?:\(|(?:\[[^]]*\])*\s*=\s*\{)")


class Place(NamedTuple):
    """A definition in C that chooses an instruction."""

    name: str
    file: str
    line: int
    others: int = 0  # that choose it, too


class Sources:
    """The C of the rooms that choose: which definitions name which opcode, and where functions are defined."""

    def __init__(self) -> None:
        self.named: dict[str, dict[str, list]] = {}  # room -> opcode -> definitions that name it, whether as a base, the line's words
        self.defined: dict[str, Place] = {}
        for room in sorted({"vm/inspect", *(room for rooms in ROOMS.values() for room in rooms)}):
            self.named[room] = {}
            for path in sorted((ROOT / room).rglob("*.c")):
                self._read(self.named[room], path)

    def _read(self, named: dict, path: Path) -> None:
        place, tables, users = None, set(), {}
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if HEAD.match(line):
                head = DEFINITION.match(line)
                place = head and Place(head[1], str(path.relative_to(ROOT)), number)
                if place and (line.startswith("#") or "=" in line):
                    tables.add(place)
                if place and not line.endswith(";"):
                    self.defined.setdefault(head[1], place)
            for table in tables if place else ():
                if table != place and table[0] in line and re.search(rf"\b{table[0]}\b", line):
                    users.setdefault(table, place)
            for use in USE.finditer(line) if place and "_Static_assert" not in line else ():
                if not READS.search(line[: use.start()]):
                    called = set(re.findall(r"[a-z]+", place[0] + USE.sub("", line)))
                    named.setdefault(use[1], []).append([place, bool(use[2]), called])
        for use in (use for uses in named.values() for use in uses):
            while use[0] in users:  # a table or a macro: who reads it
                use[0] = users[use[0]]

    def best(self, room: str, item: isa.Instruction, block: list) -> Place | None:
        """Of several that name it or others of its block: what counts on from an opcode, then what names this one, then
        what is called as it is, then the compiler's way with expressions, then the first."""
        words = set(re.findall(r"[a-z]{3,}", item.name.lower()))

        def fits(use: tuple) -> tuple:
            place, is_base, called, is_own = use
            named = len(words & called)
            return is_base, is_own, named, "expression" in place.file, "comprehension" not in place.file

        found = [(*use, other is item) for other in block for use in self.named[room].get(other.name, ())]
        if not found:
            return None
        best = max(found, key=fits)
        like = {use[0] for use in found if fits(use)[:2] == fits(best)[:2]}
        return best[0]._replace(others=len(like) - 1)


def guards() -> Place:
    lines = (ROOT / GUARDS[0]).read_text(encoding="utf-8").split("\n")
    return Place(GUARDS[1], GUARDS[0], next(n for n, line in enumerate(lines, 1) if "model.derivatives(family)" in line))


def choosers(model: isa.Model) -> dict[str, Place]:
    """Of every instruction, and of EXTENSION."""
    sources = Sources()
    by_guards = guards()
    blocks: dict[tuple, list[isa.Instruction]] = {}
    made = {item.name for item in model.instructions}
    for item in [*model.instructions, *(i for i in model.moded if i.name not in made)]:
        blocks.setdefault((item.kind, item.source, item.line), []).append(item)
    found, before = {}, {}

    def chosen(item: isa.Instruction) -> Place | None:
        if item.variant_of:
            return sources.defined.get(VARIANT)
        if item.joins:
            return sources.defined.get(JOINS)
        if item.kind in CHOOSERS:
            return sources.defined.get(CHOOSERS[item.kind])
        block = blocks[item.kind, item.source, item.line]
        own = next((place for room in ROOMS[item.kind] if (place := sources.best(room, item, block))), None)
        if own is None and item.kind == "derivative":
            select = model.by_name[item.family].select
            return sources.defined.get(select) if select else by_guards
        if own is None and NOT_EMITTED in item.doc:
            return sources.defined.get(ASSEMBLE)
        own = own or before.get((item.kind, item.source))
        before[item.kind, item.source] = own
        return own

    for item in model.instructions:
        place = chosen(item)
        if place is None:
            raise isa.ModelError(f"gen/ops/{item.source}:{item.line}: nobody chooses {item.name}")
        found[item.name] = place
    found[EXTENSION] = sources.defined[EXTENSION]
    return found


def table(model: isa.Model) -> str:
    """dv_where.c (vm/inspect/where.h)."""
    found = choosers(model)
    texts: dict[str, int] = {}
    rows: dict[tuple, int] = {}
    indices = []
    places = [(f"gen/ops/{item.source}", item.line, *found[item.name]) for item in model.instructions]
    for row in [*places, ("", 0, *found[EXTENSION])]:
        numbers = tuple(texts.setdefault(part, len(texts)) if isinstance(part, str) else part for part in row)
        indices.append(rows.setdefault(numbers, len(rows)))
    indices.pop()
    too_long = [text for text in texts if len(text) >= TEXT]
    if too_long:
        raise isa.ModelError(f"names for dis --where are too long: {', '.join(too_long)}")
    lines = ["/* Generated by gen/render.py: where instructions are defined, and who chooses them. */", '#include "inspect/where.h"', ""]
    lines += [f"const char dv_where_texts[][{TEXT}] = {{", *(f'    "{text}",' for text in texts), "};", ""]
    lines += [f"const dv_where_row dv_where_extension = {{{', '.join(map(str, list(rows)[-1]))}}};", "const dv_where_row dv_where_rows[] = {", *("    {%d, %d, %d, %d, %d, %d}," % row for row in rows), "};", ""]
    lines += ["const uint16_t dv_where_of[] = {"]
    lines += ["    " + ", ".join(map(str, indices[n : n + 16])) + "," for n in range(0, len(indices), 16)]
    return "\n".join([*lines, "};", ""])
