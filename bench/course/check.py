#!/usr/bin/env python3
"""Checks the labs of the course: says what is wrong with yours.

usage: check.py [LESSON...]       your labs (all of them without a number), as they are in bench/course/labN
       check.py --all-solutions   each check must fail on the starting point and pass on the solution, and
                                  the pages must show what the tools print (this is what ctest runs)
       check.py --pages [--write] the pages alone; --write puts in what the tools print now (not where
                             a page leaves lines out)
       --dynvm PROGRAM            if it is not build/dynvm
       --keep FOLDER              what a check builds stays there, to be run by hand

1. The starting points and the solutions are checked in copies, so nothing in the tree is changed but by --write.
2. A page shows a command behind `$`, and what it prints; a line `...` stands for any number of lines.
"""

import argparse
import importlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

COURSE = Path(__file__).resolve().parent
ROOT = COURSE.parent.parent
sys.path.insert(0, str(COURSE))
sys.dont_write_bytecode = True

from checks.lab import Lab, Wrong  # noqa: E402

LESSONS = tuple(range(1, 9))
MOST_COMPLAINTS = 8
BLOCK = re.compile(r"^```\n(\$ .*?)^```\n", re.MULTILINE | re.DOTALL)


def check(lesson: int, folder: Path, dynvm: Path, keep: Optional[Path] = None) -> Lab:
    with tempfile.TemporaryDirectory() as scratch:
        lab = Lab(folder, dynvm, keep or Path(scratch))
        try:
            importlib.import_module(f"checks.lab{lesson}").check(lab)
        except Wrong as wrong:
            lab.complaints.append(str(wrong))
    return lab


def told(lesson: int, lab: Lab) -> str:
    """What a student reads."""
    if lab.complaints:
        left = len(lab.complaints) - MOST_COMPLAINTS
        return "".join(f"lab {lesson}: {complaint}\n" for complaint in lab.complaints[:MOST_COMPLAINTS]) + (
            f"lab {lesson}: and {left} more\n" if left > 0 else "")
    return f"lab {lesson}: passed\n" + "".join(f"    {note}\n" for note in lab.notes)


def copied(lesson: int, scratch: str, solved: bool) -> Path:
    folder = Path(scratch) / f"lab{lesson}"
    shutil.copytree(COURSE / f"lab{lesson}", folder)
    if solved:
        shutil.copytree(COURSE / "solutions" / f"lab{lesson}", folder, dirs_exist_ok=True)
    return folder


def check_solutions(dynvm: Path, lessons: list) -> list:
    wrong = []
    for lesson in lessons:
        for solved in (False, True):
            begin = time.monotonic()
            with tempfile.TemporaryDirectory() as scratch:
                lab = check(lesson, copied(lesson, scratch, solved), dynvm)
            what = "solution" if solved else "starting point"
            how = "fails" if lab.complaints else "passes"
            print(f"lab {lesson}: {what} {how} in {time.monotonic() - begin:.1f} s", flush=True)
            if solved and lab.complaints:
                wrong.append(f"the solution does not pass:\n{told(lesson, lab)}")
            if not solved and not lab.complaints:
                wrong.append(f"lab {lesson}: the starting point passes; is it yours? "
                             f"`git diff bench/course/lab{lesson}`")
    return wrong


# ---- Pages ----


def printed(command: str, dynvm: Path) -> str:
    """What a command of a page prints, in the words of the page."""
    words = shlex.split(command)
    if words[:2] == ["python3", "bench/course/check.py"]:
        with tempfile.TemporaryDirectory() as scratch:
            return told(int(words[2]), check(int(words[2]), copied(int(words[2]), scratch, False), dynvm))
    if words[0] == "build/dynvm":
        words[0] = str(dynvm)
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.stdout.decode()


def fits(shown: str, now: str) -> bool:
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n"
                      for line in shown.split("\n")[:-1])
    return re.fullmatch(pattern, now) is not None


def check_page(page: Path, dynvm: Path, write: bool) -> list:
    wrong = []
    text = page.read_text()
    for block in BLOCK.findall(text):
        fresh = ""
        for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]:
            command, shown = part.split("\n", 1)
            now = printed(command[2:], dynvm)
            if fits(shown, now):
                fresh += part
                continue
            chosen = "\n...\n" in f"\n{shown}" # lines that somebody has chosen stay as they are
            fresh += part if chosen else f"{command}\n{now}"
            if write and not chosen:
                continue
            wrong.append(f"{page.name}: `{command[2:]}` does not print what is shown, but:\n{now}")
        if write:
            text = text.replace(block, fresh)
    if write:
        page.write_text(text)
    return wrong


def check_pages(dynvm: Path, write: bool) -> list:
    pages = sorted(COURSE.glob("*.md"))
    wrong = [complaint for page in pages for complaint in check_page(page, dynvm, write)]
    print(f"{len(wrong)} outputs are stale: check.py --pages --write" if wrong else
          f"{len(pages)} pages show what the tools print")
    return wrong


def lesson_number(text: str) -> int:
    if text not in map(str, LESSONS):
        raise argparse.ArgumentTypeError(f"lessons are {LESSONS[0]} to {LESSONS[-1]}")
    return int(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", type=lesson_number, metavar="LESSON")
    parser.add_argument("--all-solutions", action="store_true")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    dynvm, lessons = options.dynvm.resolve(), options.lessons or list(LESSONS)
    if options.pages or options.all_solutions:
        wrong = check_solutions(dynvm, lessons) if options.all_solutions else []
        wrong += check_pages(dynvm, options.write)
        print("\n".join(wrong))
        return 1 if wrong else 0
    failed = 0
    for lesson in lessons:
        lab = check(lesson, COURSE / f"lab{lesson}", dynvm, options.keep and options.keep.resolve())
        print(told(lesson, lab), end="", flush=True)
        failed += bool(lab.complaints)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
