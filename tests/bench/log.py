#!/usr/bin/env python3
"""Checks bench/log.py: every topic can be read and shown, and a table that is added is shown as the newest.

usage: log.py DYNVM (which it does not need)
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
BENCH = TESTS.parent / "bench"
sys.path[:0] = [str(TESTS)]

import checking  # noqa: E402
from checking import check  # noqa: E402

TABLE = """Some text.

| program | generic | inca | nama |
|---|---|---|---|
| first | 0.50 | 2.00 | 1.00 |
| **second** | 2.00 | 8.00 | 1.00 |

| another | table |
|---|---|
| of | no interest |
"""


def run(place, *arguments):
    command = [sys.executable, "-B", str(place / "log.py"), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check_topics():
    status, listed = run(BENCH)
    names = [line.split()[0] for line in listed.splitlines()]
    check("the topics", (status, names), (0, sorted(path.stem for path in (BENCH / "log").glob("*.csv"))))
    for name in names:
        for options in ([], ["--all"]):
            status, shown = run(BENCH, name, *options)
            check(f"{name} {options} is a table", (status, "\n| --- |" in shown), (0, True))


def check_adding(place):
    shutil.copy(BENCH / "log.py", place)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run(["git", "-C", str(place), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
                    "first"], check=True)
    (place / "log").mkdir()
    topic, table = place / "log" / "objects.csv", place / "table.md"
    topic.write_text("# Programs.\ndate,commit,machine,program,generic,inca,nama\n2020-01-02,abc,old,first,1.00,1.00,1.00\n")
    table.write_text(TABLE)
    check("adding", run(place, "objects", "--add", str(table)), (0, ""))
    shown = run(place, "objects")[1]
    for row in ("| first | 0.50 | 2.00 | 1.00 |", "| second | 2.00 | 8.00 | 1.00 |", "| geometric mean | 1.00 | 4.00 | 1.00 |"):
        check(f"{row} is new", row in shown, True)
    check("the old row is not", "old" in shown, False)
    check("all rows", run(place, "objects", "--all", "--rows", "first")[1].count("| first |"), 2)
    status, shown = run(place, "objects", "--add", str(table), "--table", "2")
    check("the second table", (status, "objects has no column table;" in shown), (1, True))
    check("there are no more", run(place, "objects", "--add", str(table), "--table", "3"), (1, "log.py: there is no table\n"))
    table.write_text(TABLE.replace("inca", "unknown"))
    status, shown = run(place, "objects", "--add", str(table))
    check("an unknown column", (status, "left out, as objects has no such column: unknown" in shown), (0, True))
    check("is empty", "| second | 2.00 |  | 1.00 |" in run(place, "objects")[1], True)
    topic.write_text(topic.read_text() + "2020-01-03,abc,old,first,1.00\n")
    status, shown = run(place, "objects")
    check("a row that is too short", (status, "5 cells under 7 columns" in shown), (1, True))
    status, shown = run(place, "nothing")
    check("an unknown topic", (status, "there is no topic nothing" in shown), (1, True))


check_topics()
if shutil.which("git"):
    with tempfile.TemporaryDirectory() as scratch:
        check_adding(Path(scratch))
else:
    print("no git here: adding rows, which carry a commit, is not tested")
sys.exit(1 if checking.failed else 0)
