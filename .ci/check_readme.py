#!/usr/bin/env python3
"""The listing in README.md must be what `dynvm dis` prints for the program above it, and the walks must be those of today.

A WALK.md has a program; the drawing beside it (walk.svg) has names of instructions (class "op"), which must be in the
listing of that program, or in that of its statement's first half; those of class "op any" must exist.

usage: check_readme.py DYNVM [--write]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
WALKS = (README.parent / "vm" / "WALK.md", README.parent / "ext" / "ndarray" / "WALK.md")
BLOCKS = re.compile(r"```python\n(.*?)```\n```\n(.*?)```\n", re.DOTALL)


def listing(dynvm: str, program: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "six.dl").write_text(program)
        command = [str(Path(dynvm).resolve()), "dis", "--after-run", "--function=total", "six.dl"]
        shown = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, check=True).stdout.decode()
    return shown[shown.index("total(n)"):]


def dis(dynvm: str, program: str, *options: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "walk.dl").write_text(program)
        command = [str(Path(dynvm).resolve()), "dis", "--after-run", "--where", *options, "walk.dl"]
        return subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, check=True).stdout.decode()


def check_walk(dynvm: str, page: Path) -> list:
    program = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[1]
    shown = dis(dynvm, program) + dis(dynvm, program.replace(" + c", "").replace(" + i * i", " + i"))
    names = set(re.findall(r"\w+", shown))
    every = subprocess.run([dynvm, "dis", "--where"], stdout=subprocess.PIPE, check=True).stdout.decode()
    drawn = re.findall(r'class="(op(?: any)?)"[^>]*>([A-Z_0-9]+)<', (page.parent / "walk.svg").read_text())
    wrong = [name for kind, name in drawn if name not in names and (kind == "op" or f" {name} " not in every)]
    where = page.relative_to(README.parent)
    if not drawn or not any(name.startswith(("R_", "FUSED")) for _, name in drawn):
        wrong.append("no region, no fused instruction")
    return [f"{where}: the program has no {name} (any more)" for name in wrong]


def main() -> int:
    wrong = [complaint for page in WALKS for complaint in check_walk(sys.argv[1], page)]
    print("\n".join(wrong) if wrong else "the walks are of today")
    return check_listing() or bool(wrong)


def check_listing() -> int:
    text = README.read_text()
    found = BLOCKS.search(text)
    if found is None:
        print("README.md has no program with a listing")
        return 1
    now = listing(sys.argv[1], found.group(1))
    if now == found.group(2):
        print("the README's listing is fresh")
        return 0
    if "--write" in sys.argv:
        README.write_text(text[:found.start(2)] + now + text[found.end(2):])
        return 0
    print("the README's listing is stale: run .ci/check_readme.py build/dynvm --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
