#!/usr/bin/env python3
"""Writes gen/REFERENCE.md: options, constants, statistics' fields and the table of extensions, read from the sources.

usage: reference.py [--check]     (--check: fails if the page is stale)

The instructions have a page of their own, gen/INSTRUCTIONS.md (render.py --reference).
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "gen" / "tables"))

import extension  # noqa: E402

PAGE = ROOT / "gen" / "REFERENCE.md"
OPTIONS, COUNTS, HEADER = "vm/cli/options.c", "vm/inspect/profile.h", "vm/include/dynvm_ext.h"
# Where constants decide what is quickened and what regions are made.
CONSTANTS = ("vm/run/thread.[ch]", "vm/quicken/**/*.[ch]", "vm/region/**/*.[ch]")
# Numbers that follow from a layout, and decide nothing.
LAYOUT = re.compile(r"BELOW|FORMS$|MODES$|^(?:SIDES|RESULTS|JUMPS|OPERATORS)$")
# Structs of counters, and what each is of.
STRUCTS = {"dv_site_counts": "a site", "dv_totals": "a function, or an instruction", "dv_loop_counts": "a hot loop",
           "dv_function_counts": "a function", "dv_profile": "the whole run"}


class Unreadable(Exception):
    """The sources are not as this file expects them."""


@dataclass
class Member:
    declaration: str
    comment: str
    section: str


def plain(comment: str) -> str:
    """A comment's text on one line."""
    text = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return " ".join(re.sub(r"^\s*\* ?", "", text, flags=re.MULTILINE).split())


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def struct(name: str, text: str) -> list[Member]:
    """The members with the comments in front of them and behind them."""
    body = re.search(rf"struct {name} \{{\n(.*?)\n\}}", text, re.DOTALL)
    if body is None:
        raise Unreadable(f"there is no struct {name}")
    found: list[Member] = []
    before, section, depth, text_so_far, ended = "", "", 0, "", False
    for token in re.finditer(r"/\*.*?\*/|[{};\n]|[^{};\n/]+|/", body[1], re.DOTALL):
        piece = token[0]
        if piece.startswith("/*"):
            comment = plain(piece)
            title = re.fullmatch(r"[-=]{4,} (.*?) [-=]{4,}", comment)
            if title:
                section, before = title[1] if piece.startswith("/* -") else section, ""
            elif ended and found:
                found[-1].comment = f"{found[-1].comment} {comment}".strip()
            elif not text_so_far.strip():
                before = comment
            continue
        if piece == "\n":
            ended = False
            text_so_far += " "
            continue
        depth += (piece == "{") - (piece == "}")
        if piece == ";" and depth == 0:
            found.append(Member(" ".join(text_so_far.split()), before, section))
            before, text_so_far, ended = "", "", True
            continue
        text_so_far += piece
    return found


def options() -> list[str]:
    text = (ROOT / OPTIONS).read_text(encoding="utf-8")
    literals = re.search(r"static const char help\[\] =\n(.*?);\n", text, re.DOTALL)
    if literals is None:
        raise Unreadable(f"{OPTIONS} has no help")
    lines = "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', literals[1])).split("\n")
    out, rows, title = [], [], ""
    for line in [*lines[lines.index(""):], "end:"]:
        option = re.match(r"  (-\S+(?:, -\S+)*(?: [A-Z]{3,})?)(?: +(.*))?$", line)
        if option:
            rows.append([option[1], option[2] or ""])
        elif line.startswith("   ") and rows:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
        elif line.endswith(":"):
            if rows:
                out += [f"### {title}", "", "| option | what it does |", "|---|---|"]
                out += [f"| `{cell(name)}` | {cell(what)} |" for name, what in rows] + [""]
            title, rows = line[:-1], []
    return out


def is_numbering(values: list) -> bool:
    """Do these only tell cases apart: 0, 1, 2 or bits?"""
    return len(values) > 1 and (values == list(range(len(values))) or all(v & (v - 1) == 0 and v == 1 << i for i, v in enumerate(values)))


def constants() -> list[str]:
    out = ["| constant | value | what it is | where |", "|---|---|---|---|"]
    for pattern in CONSTANTS:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            where = path.relative_to(ROOT)
            for match in re.finditer(r"((?:/\*(?:(?!\*/).)*\*/\n)?)[ \t]*enum \{([^}]*)\};", text, re.DOTALL):
                members = re.findall(r"(\w+)\s*=\s*(\d+)\b\s*(?=[,}\s]|/\*|$),?[ \t]*((?:/\*.*?\*/)?)", match[2], re.DOTALL)
                if not members or is_numbering([int(value) for _, value, _ in members]) or "<<" in match[2]:
                    continue
                in_front = plain(match[1]) if match[1] else ""
                for name, value, comment in members:
                    if LAYOUT.search(name):
                        continue
                    out.append(f"| `{name}` | {value} | {cell(plain(comment) or in_front)} | [{path.name}](../{where}) |")
            for match in re.finditer(r"((?:/\*(?:(?!\*/).)*\*/\n)?)#define (DV_\w+) (\d+)(?:[ \t]+(/\*.*?\*/))?\n", text, re.DOTALL):
                comment = plain(match[4] or match[1] or "")
                out.append(f"| `{match[2]}` | {match[3]} | {cell(comment)} | [{path.name}](../{where}) |")
    return out


def statistics() -> list[str]:
    text = (ROOT / COUNTS).read_text(encoding="utf-8")
    out = ["| field | of | what is counted |", "|---|---|---|"]
    for name, what in STRUCTS.items():
        for member in struct(name, text):
            counter = re.fullmatch(r"(?:uint64_t|uint32_t|uint16_t|uint8_t|bool|dv_refusal|dv_objects) (.*)", member.declaration)
            for field in counter[1].split(", ") if counter else ():
                field = re.sub(r"\[.*?\]", "", field)
                comment = member.comment or ("the sum over its sites" if name == "dv_totals" else "")
                if comment:
                    out.append(f"| `{field}` | {what} | {cell(comment)} |")
    return out


def extension_table() -> list[str]:
    text = (ROOT / HEADER).read_text(encoding="utf-8")
    out, section = [], None
    for member in struct("dvx_api", text):
        function = re.search(r"\(\*(\w+)\)", member.declaration)
        if not function:
            continue
        if member.section != section:
            section = member.section
            out += ["", f"### {section}", "", "| function | when it fails | what it does |", "|---|---|---|"]
        known = next(f for f in extension.load().functions if f.name == function[1])
        fails = "never" if function[1] in extension.INFALLIBLE or known.result == "void" else f"`{known.failure}`"
        out.append(f"| `{cell(member.declaration)}` | {fails} | {cell(member.comment)} |")
    return out[1:]


def page() -> str:
    return "\n".join([
        "# Reference", "",
        "Generated by `gen/reference.py` from the sources; CI fails when it is stale. Instructions: [INSTRUCTIONS.md](INSTRUCTIONS.md).", "",
        "## Options of the program", "", f"From [options.c](../{OPTIONS}).", "", *options(),
        "## Constants of warm-up, quickening and regions", "",
        "What `bench/constants.py` varies is among them. Where the value depends on something, the comment says so.", "", *constants(), "",
        "## What statistics count", "",
        f"Fields of [profile.h](../{COUNTS}); `dynvm stats --json` calls them the same ([REPORTS.md](../vm/inspect/REPORTS.md)).", "",
        *statistics(), "",
        "## The table of extensions", "",
        f"`dvx_api` in [dynvm_ext.h](../{HEADER}), in its order. The guide is [ext/README.md](../ext/README.md).", "",
        *extension_table(), ""])


def main() -> int:
    try:
        text = page()
    except (Unreadable, extension.ModelError) as error:
        print(f"reference.py: {error}", file=sys.stderr)
        return 1
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("gen/REFERENCE.md is stale: run gen/reference.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
