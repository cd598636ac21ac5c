#!/usr/bin/env python3
"""The log of measurements: what was measured, when, on what, by which command.

bench/log/TOPIC.csv begins with lines of comment (what is measured, by which command, what the columns mean), then has the
names of the columns, then the rows.  The first three columns are the same everywhere: the date, the commit and the machine.
Rows are added and never changed; those of the newest date are what a topic says today.

usage: log.py                                the topics, a line each
       log.py TOPIC [--all] [--rows WORD]    the newest rows as a table (--all: every date; of rows that have the word)
       log.py TOPIC --add TABLE.md           adds the rows of a table that a tool has written (--markdown); --table N: the n-th
"""

import argparse
import csv
import datetime
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import List, NamedTuple

LOG = Path(__file__).resolve().parent / "log"
ALWAYS = ["date", "commit", "machine"]


class Topic(NamedTuple):
    name: str
    comment: List[str]
    columns: List[str]
    rows: List[List[str]]

    def newest(self, word: str) -> List[List[str]]:
        """Of the rows that have the word in their first cell."""
        rows = [row for row in self.rows if word in row[3]]
        last = max((row[0] for row in rows), default="")
        return [row for row in rows if row[0] == last or topic_of_changes(self)]


def topic_of_changes(topic: Topic) -> bool:
    """Are the rows single changes, each of which stays true, and not one table of a day?"""
    return "change" in topic.columns


def read(name: str) -> Topic:
    path = LOG / f"{name}.csv"
    if not path.exists():
        raise SystemExit(f"log.py: there is no topic {name}: it is one of {', '.join(topics())}")
    lines = path.read_text().splitlines()
    comment = [line[1:].strip() for line in lines if line.startswith("#")]
    columns, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    if columns[:3] != ALWAYS:
        raise SystemExit(f"{path}: the columns begin with {','.join(columns[:3])}, not with {','.join(ALWAYS)}")
    for row in rows:
        if len(row) != len(columns):
            raise SystemExit(f"{path}: {','.join(row)}: {len(row)} cells under {len(columns)} columns")
        datetime.date.fromisoformat(row[0])
    return Topic(name, comment, columns, rows)


def topics() -> List[str]:
    return sorted(path.stem for path in LOG.glob("*.csv"))


def markdown(columns: List[str], rows: List[List[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def parse(text: str, number: int) -> List[List[str]]:
    """The rows of a table in a text of Markdown, its head first."""
    tables: List[List[List[str]]] = [[]]
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            tables[-1].append([cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")])
        elif tables[-1]:
            tables.append([])
    rows = tables[number - 1] if number < len(tables) else []
    if len(rows) < 3:
        raise SystemExit("log.py: there is no table")
    return [rows[0], *rows[2:]]


def mean(columns: List[str], rows: List[List[str]]) -> List[List[str]]:
    """The geometric mean of each column of numbers, where the rows are not means themselves."""
    if len(rows) < 2 or any({"mean", "mean,"} & set(row[0].split()) for row in rows):
        return []
    cells = ["geometric mean"]
    for column in range(1, len(columns)):
        try:
            logs = [math.log(float(row[column])) for row in rows if row[column]]
            cells.append(f"{math.exp(sum(logs) / len(logs)):.2f}")
        except (ValueError, ZeroDivisionError):
            cells.append("")
    return [cells] if any(cells[1:]) else []


def show(topic: Topic, everything: bool, word: str) -> None:
    rows = [row for row in topic.rows if word in row[3]] if everything else topic.newest(word)
    print("\n".join(topic.comment), end="\n\n")
    if everything:
        print(markdown(topic.columns, rows), end="")
        return
    for place in sorted({tuple(row[:3]) for row in rows}):
        print(f"{place[0]}, at {place[1]}, {place[2]}:\n")
        cells = [row[3:] for row in rows if tuple(row[:3]) == place]
        means = [] if topic_of_changes(topic) else mean(topic.columns[3:], cells)  # (their units differ)
        print(markdown(topic.columns[3:], cells + means), end="")


def add(topic: Topic, path: str, number: int) -> None:
    """Columns that the log has not are left out, and told; what the table lacks stays empty."""
    columns, *rows = parse(Path(path).read_text(), number)
    unknown = [name for name in columns[1:] if name not in topic.columns]
    if len(unknown) == len(columns) - 1:
        raise SystemExit(f"log.py: {topic.name} has no column {', '.join(unknown)}; it has {', '.join(topic.columns[3:])}")
    if unknown:
        print(f"log.py: left out, as {topic.name} has no such column: {', '.join(unknown)}", file=sys.stderr)
    commit = subprocess.run(["git", "-C", str(LOG), "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, check=True)
    always = [datetime.date.today().isoformat(), commit.stdout.decode().strip(),
              f"{platform.machine()} with {os.cpu_count()} cores"]
    with open(LOG / f"{topic.name}.csv", "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            cells = {topic.columns[3]: row[0], **dict(zip(columns[1:], row[1:]))}
            writer.writerow([*always, *(cells.get(name, "") for name in topic.columns[3:])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topic", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rows", default="", metavar="WORD")
    parser.add_argument("--add", metavar="TABLE.md")
    parser.add_argument("--table", type=int, default=1, metavar="N", help="of what is added: the n-th table of the file")
    options = parser.parse_args()
    if not options.topic:
        for name in topics():
            topic = read(name)
            print(f"{name:16} {max((row[0] for row in topic.rows), default='never'):12} {topic.comment[0]}")
    elif options.add:
        add(read(options.topic), options.add, options.table)
    else:
        show(read(options.topic), options.all, options.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
