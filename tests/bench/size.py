#!/usr/bin/env python3
"""Checks what bench/size.py counts: lines and blocks of small texts, and a build's bytes against its program.

usage: size.py DYNVM
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
PROGRAM = TESTS.parent / "bench" / "size.py"
sys.path.insert(0, str(TESTS))

import checking  # noqa: E402
from checking import check  # noqa: E402

spec = importlib.util.spec_from_file_location("size_program", PROGRAM)
size = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = size  # where dataclasses look for it
spec.loader.exec_module(size)

C = "/* one\n * two */\n\nint a; /* three */\n// four\nint b;\n"
OPS = """<%! x = 1 %>
<%isa:op name="A">
    one();
    ## a comment
</%isa:op>
outside
<%isa:derivative name="A_INT">
    two();
</%isa:derivative>
"""


def check_lines(folder):
    (folder / "a.c").write_text(C)
    (folder / "a.py").write_text("# comment\nx = 1\n\n")
    (folder / "a.mako").write_text(OPS)
    (folder / "region_a.mako").write_text("outside\n")
    check("lines of C", list(size.code_lines(folder / "a.c")), ["int a; ", "int b;"])
    check("lines of Python", list(size.code_lines(folder / "a.py")), ["x = 1"])
    check("blocks", size.block_lines(folder / "a.mako"), {"GENERIC": 5, "DERIVATIVE": 3})
    check("a file of regions", size.block_lines(folder / "region_a.mako"), {"REGION": 1})


def check_build(build):
    done = subprocess.run([sys.executable, "-B", PROGRAM, "--json", build], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    name, = found["builds"]
    parts = {row["part"]: row for row in found["parts"]}
    check("every level has lines", {row["level"] for row in found["parts"] if row["lines"]}, set(size.LEVELS))
    for part in ("values, types, calls", "generic instructions", "derivatives", "regions", "region instructions"):
        check(f"bytes of {part}", parts[part]["bytes"][name] > 20000, True)
    linked = sum(row["bytes"][name] for row in found["parts"] if row["level"] != "bundled")
    whole = size.read_elf(Path(build) / "dynvm").size
    check("the parts are the program", 0.8 * whole < linked <= 1.01 * whole, True)
    text = subprocess.run([sys.executable, "-B", PROGRAM, build], stdout=subprocess.PIPE, check=True).stdout.decode()
    line = next(line.split() for line in text.splitlines() if line.startswith("inca"))
    expected = sum(row["bytes"][name] for row in found["parts"] if row["level"] == "inca")
    check("the sum of a level", line[-1], f"{expected:,}")


def check_refusals(folder):
    done = subprocess.run([sys.executable, "-B", PROGRAM, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check("no build", (done.returncode, done.stderr.decode()), (2, f"size.py: {folder} has no dynvm; build it first\n"))
    (folder / "text").write_text("no object")
    try:
        size.read_elf(folder / "text")
        check("no object file", "read", "refused")
    except size.Unusable as why:
        check("no object file", str(why), f"{folder / 'text'} is no ELF file of 64 bits")


def check_rooms(folder):
    """A page whose numbers are those of the rooms is right; one with another number is not, nor one without a row."""
    lines = size.room_lines()
    check("rooms and levels count alike", lines["+ NAMA"], sum(
        size.lines_of(part)[1] for part in size.PARTS if part.level == "nama"))
    page = folder / "page.md"
    rows = [f"| **{name}** | rooms | {count:,} | when |\n" for name, count in lines.items()]
    page.write_text("".join(rows))
    check("a page with the right numbers", size.check_rooms(page), 0)
    page.write_text("".join(rows[1:]))
    check("a page without a row", size.check_rooms(page), 1)
    page.write_text("".join(rows).replace(f"{lines['library']:,}", f"{lines['library'] * 11 // 10:,}"))
    check("a page with a wrong number", size.check_rooms(page), 1)


with tempfile.TemporaryDirectory() as scratch:
    check_rooms(Path(scratch))
    check_lines(Path(scratch))
    check_refusals(Path(scratch))
check_build(str(Path(sys.argv[1]).resolve().parent))
sys.exit(1 if checking.failed else 0)
