#!/usr/bin/env python3
"""Builds what gen/README.md adds in its section "Adding a derivative", and looks at it.

usage: example.py BUILD

BUILD is a build directory of this tree.  A copy of the tree gets the block of the README at the end of
gen/ops/arith.mako, and nothing else; it must build without a warning, choose the derivative where its types
are seen, leave it where they change, and print what the generic level prints.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("vm", "lang", "gen", "ext", "CMakeLists.txt", "CMakePresets.json", "LICENSE")
NAME = "MUL_STR_INT"

# `line` sees a str and an int for long, then other types; `plain` never sees them.
SCRIPT = """
def line(text, count):
    return text * count

def plain(a, b):
    return a * b

total = 0
for turn in range(3000):
    total += len(line("ab", turn % 7)) + plain(turn, 3)
print(total, repr(line("xy", 3)), repr(line("x", -1)), repr(line("x", True)))
print(line(3, "ab"), line([1], 2), line(2.5, 4), line("é", 2), line(1 << 70, 2))
for wrong in (None, "b", 1.5, 1 << 70):
    try:
        print(line("a", wrong))
    except (TypeError, OverflowError) as error:
        print(type(error).__name__, error)
for turn in range(3000):
    total += len(line("ab", turn % 7))
print(total)
"""


def example() -> str:
    """The block in the README's section."""
    section = (ROOT / "gen" / "README.md").read_text().split("## Adding a derivative")[1].split("\n## ")[0]
    blocks = re.findall(r"```mako\n(.*?)```", section, re.DOTALL)
    if len(blocks) != 1 or f'name="{NAME}"' not in blocks[0]:
        sys.exit(f"example.py: the section has no block, or more than one, or not one of {NAME}")
    return blocks[0]


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
    with (scratch / "gen" / "ops" / "arith.mako").open("a") as arith:
        arith.write("\n" + example())
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
        hot.write_text(SCRIPT.split("print(line(3,")[0])
        listing = {
            function: run(dynvm, "dis", "--after-run", "--level=inca", f"--function={function}", hot)
            for function in ("line", "plain")
        }
        if NAME not in listing["line"]:
            wrong.append(f"{NAME} is not chosen:\n{listing['line']}")
        if NAME in listing["plain"]:
            wrong.append(f"{NAME} stands where ints are multiplied:\n{listing['plain']}")
    print("\n".join(wrong) or f"{NAME} works")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
