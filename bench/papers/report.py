"""Tables of bench/papers.py, as Markdown, CSV and SVG, with what is needed to compare them with others'.

1. A file says by which command, on which machine and at which commit it was made, and of how many runs.
2. What is not known is `not shown`, never a guess; a CSV has an empty cell there.
3. Of an interval a CSV has three columns: NAME, NAME low, NAME high.
"""

import csv
import io
import os
import platform
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import plot
from measure import ROOT, Interval, Share, left_out


@dataclass
class Table:
    """Rows under a head; the first cell of a row is a text, the others are anything that `text_of` knows."""

    title: str
    head: List[str]
    rows: List[List[object]]
    notes: List[str] = field(default_factory=list)
    drawn: Tuple[str, ...] = ()  # the columns that are drawn, all Interval, float or Share
    axis: str = ""  # what the drawing shows


@dataclass
class Report:
    """What a paper has, and what we have."""

    name: str
    paper: str  # cited in full in bench/course/SOURCES.md
    there: List[Tuple[str, str]]  # a figure or table of the paper: what it says
    tables: List[Table]
    command: str
    runs: Optional[int] = None  # None: counts alone


def text_of(cell: object) -> str:
    if cell is None:
        return "not shown"
    if isinstance(cell, Interval):
        return f"{cell.value:.2f} [{cell.low:.2f}, {cell.high:.2f}]"
    if isinstance(cell, Share):
        return f"{cell:.2%}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def output_of(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode().strip()


def machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def commit() -> str:
    changed = output_of("git", "status", "--porcelain", "--untracked-files=no")
    return (output_of("git", "rev-parse", "--short", "HEAD") or "unknown") + (" and changes" if changed else "")


def markdown_of(table: Table) -> str:
    lines = [f"## {table.title}", "", "| " + " | ".join(table.head) + " |", "|---" * len(table.head) + "|"]
    lines += ["| " + " | ".join(text_of(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join([*lines, *("\n" + " ".join(note.split()) for note in table.notes)]) + "\n"


def csv_of(table: Table) -> str:
    wide = [any(isinstance(row[i], Interval) for row in table.rows) for i in range(len(table.head))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for title, is_wide in zip(table.head, wide)
                     for name in ((title, f"{title} low", f"{title} high") if is_wide else (title,))])
    for row in table.rows:
        cells: List[object] = []
        for cell, is_wide in zip(row, wide):
            if is_wide:
                cells += [f"{n:.4f}" for n in cell] if isinstance(cell, Interval) else ["", "", ""]
            else:
                cells.append("" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else cell)
        writer.writerow(cells)
    return out.getvalue()


def svg_of(table: Table) -> str:
    """A mark for each drawn column of each row, a line through it where there is an interval."""
    values: Dict[str, Dict[str, Optional[float]]] = {}
    spans: Dict[Tuple[str, str], Tuple[float, float]] = {}
    shares = False
    for row in table.rows:
        by_column = dict(zip(table.head, row))
        for column in table.drawn:
            cell = by_column[column]
            shares = shares or isinstance(cell, Share)
            if isinstance(cell, Interval):
                spans[row[0], column] = (cell.low, cell.high)
            values.setdefault(row[0], {})[column] = cell.value if isinstance(cell, Interval) else cell
    axis = plot.Shares() if shares else plot.Axis(values, [end for span in spans.values() for end in span])
    return plot.svg(values, list(table.drawn), table.axis, axis, spans)


def about(report: Report) -> List[str]:
    lines = [f"# {report.name}", "", f"As in: {report.paper}", "",
             f"Made by `{report.command}` at commit {commit()}, on {machine()}."]
    if report.runs is None:
        lines.append("The figures are counts: they repeat, and need no interval.")
    else:
        _, likely = left_out(report.runs)
        lines.append(f"Of {report.runs} runs: the median, and in brackets the interval that holds the true median with "
                     f"{likely:.0%} (order statistics; the runs are interleaved).")
    return [*lines, ""]


def markdown(report: Report) -> str:
    there = Table("The paper", ["it has", "and says"], [list(row) for row in report.there])
    return "\n".join([*about(report), *(markdown_of(table) for table in [*report.tables, there])])


def write(report: Report, folder: Path) -> List[Path]:
    """NAME.md, and of each table NAME-1.csv and, if something is drawn, NAME-1.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"{report.name}.md": markdown(report)}
    for number, table in enumerate(report.tables, 1):
        texts[f"{report.name}-{number}.csv"] = csv_of(table)
        if table.drawn:
            texts[f"{report.name}-{number}.svg"] = svg_of(table)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
