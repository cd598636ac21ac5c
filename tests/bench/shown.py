#!/usr/bin/env python3
"""Checks bench/progress.py: a line on a terminal that is cleared in the end, and nothing where there is none."""

import os
import pty
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
BENCH = TESTS.parent / "bench"
sys.path[:0] = [str(BENCH), str(TESTS)]

import checking  # noqa: E402
from checking import check  # noqa: E402
from progress import Progress, clock, progress  # noqa: E402

LOOP = """
import progress
progress.PAUSE = 0
with progress.Progress(3, "runs") as shown:
    shown.now("first")
    shown.step("second")
    shown.clear()
    print("text")
    shown.step(count=2)
print(*progress.progress(iter("ab"), "letters", 2))
"""


def on_terminal(code):
    """What a process writes to a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(BENCH)
        os.execv(sys.executable, [sys.executable, "-Bc", code])
    text = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            part = b""
        if not part:
            break
        text += part
    os.waitpid(child, 0)
    return text.decode()


def main():
    text = on_terminal(LOOP)
    for shown in ("0/3 runs  first", "1/3 runs, ", " left  second", "3/3 runs, ", "0/2 letters", "2/2 letters, "):
        check(f"{shown!r} is shown", shown in text, True)
    check("the line is cleared before text", "\r\x1b[Ktext\r\n" in text, True)
    check("the line is cleared in the end", text.endswith("\r\x1b[Ka b\r\n"), True)
    done = subprocess.run([sys.executable, "-Bc", LOOP], cwd=BENCH, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check("without a terminal", (done.stdout, done.stderr), ("text\na b\n", ""))
    check("times", [clock(5), clock(65), clock(3600)], ["0:05", "1:05", "1:00:00"])
    check("items", list(progress(range(3))), [0, 1, 2])
    check("what is not known", Progress().line(), "0/?")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
