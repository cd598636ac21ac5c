#!/usr/bin/env python3
"""Builds what gen/README.md adds in its section "Adding a derivative", and looks at it.

usage: example.py BUILD

BUILD is a build directory of this tree.  A copy of the tree gets the block of the README at the end of
gen/ops/data.mako, the row in vm/quicken/choose_attribute.c, and nothing else; it must build without a warning, choose the
derivative where its types are seen, leave it where they change, and print what the generic level prints.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("vm", "lang", "gen", "ext", "CMakeLists.txt", "CMakePresets.json", "LICENSE")
NAME = "LOAD_ATTR_START"
TABLE = "} PARTS[] = {\n"

# `line` sees ranges for long, then other objects; `plain` never sees them.
SCRIPT = """
class Mine:
    def __init__(self, start):
        self.start = start

def line(r):
    return r.start

def plain(r):
    return r.start

mine = Mine(7)
total = 0
for turn in range(3000):
    total += line(range(turn, 5000)) + plain(mine)
print(total, line(range(3)), line(range(-4, 9)))
print(line(mine), line(slice(2, 3)), line(range(1 << 60, 1 << 61)), line(range(1 << 70, 1 << 71)))
for wrong in (None, "b", 1.5, Mine):
    try:
        print(line(wrong))
    except AttributeError as error:
        print(error)
for turn in range(3000):
    total += line(range(turn, 5000))
print(total)
"""


def example() -> tuple:
    """The block and the row in the README's section."""
    section = (ROOT / "gen" / "README.md").read_text().split("## Adding a derivative")[1].split("\n## ")[0]
    found = re.findall(r"```(mako|c)\n(.*?)```", section, re.DOTALL)
    if [kind for kind, _ in found] != ["mako", "c"] or not all(NAME in text for _, text in found):
        sys.exit(f"example.py: the section must have a block and a row of C for {NAME}")
    return found[0][1], found[1][1]


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def cached(build: Path, name: str) -> str:
    """A setting of the given build directory, as an option for another."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return f"-D{name}={found.group(1)}" if found else f"-U{name}"


def make(build: Path, scratch: Path) -> Path:
    """The dynvm of a tree that has the example.  It is not optimised, which takes a third of the time."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, scratch / part)
    block, row = example()
    with (scratch / "gen" / "ops" / "data.mako").open("a") as data:
        data.write("\n" + block)
    chooser = scratch / "vm" / "quicken" / "choose_attribute.c"
    before, table, after = chooser.read_text().partition(TABLE)
    chooser.write_text(before + table + row + after)
    settings = [cached(build, name) for name in ("CMAKE_C_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "DYNVM_PYTHON")]
    run("cmake", "-S", scratch, "-B", scratch / "build", "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_TESTING=OFF", *settings)
    run("cmake", "--build", scratch / "build", "--target", "dynvm", "-j", "4")
    return scratch / "build" / "dynvm"


def main() -> int:
    build = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        dynvm, script = make(build, scratch), scratch / "script.dl"
        script.write_text(SCRIPT)
        wrong = []
        wanted = run(build / "dynvm", "--level=generic", script)
        for level in ("generic", "inca", "nama"):
            for stress in ((), ("--stress=quicken",), ("--stress=guard:2",)):
                if run(dynvm, f"--level={level}", *stress, script) != wanted:
                    wrong.append(f"another output at {level} {' '.join(stress)}")
        hot = scratch / "hot.dl"
        hot.write_text(SCRIPT.split("print(line(mine)")[0])
        listing = {
            function: run(dynvm, "dis", "--after-run", "--level=inca", f"--function={function}", hot)
            for function in ("line", "plain")
        }
        if NAME not in listing["line"]:
            wrong.append(f"{NAME} is not chosen:\n{listing['line']}")
        if NAME in listing["plain"]:
            wrong.append(f"{NAME} stands where no range is:\n{listing['plain']}")
    print("\n".join(wrong) or f"{NAME} works")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
