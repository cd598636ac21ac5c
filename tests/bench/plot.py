#!/usr/bin/env python3
"""Checks what bench/run.py measures and draws, on one small program.

usage: plot.py DYNVM
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).resolve().parent.parent
BENCH = TESTS.parent / "bench"
sys.path[:0] = [str(BENCH), str(TESTS)]  # bench/plot.py before this file

import checking  # noqa: E402
import plot  # noqa: E402
from checking import check  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def marks(text):
    """The x of each mark in a drawing, by title."""
    found = {}
    for element in ElementTree.fromstring(text):
        title = element.find(f"{SVG}title")
        if title is None or ":" not in title.text:
            continue
        width = float(element.get("width", 0))
        place = element.get("cx") or element.get("x") or re.match(r"M([\d.]+)", element.get("d")).group(1)
        found[title.text] = float(place) + (width / 2 if width else 5 if element.get("d") else 0)
    return found


def check_drawing():
    ratios = {"a<b": {"one": 0.25, "two": 1.0, "three": 4.0}, "c": {"one": 0.5, "two": None}}
    text = plot.svg(ratios, ["one", "two", "three"], "a title", plot.Axis(ratios))
    found = marks(text)
    check("marks", sorted(found), ["a<b, one: 0.250", "a<b, three: 4.000", "a<b, two: 1.000", "c, one: 0.500"])
    quarter, half, one, four = (found[key] for key in ("a<b, one: 0.250", "c, one: 0.500", "a<b, two: 1.000", "a<b, three: 4.000"))
    check("order", quarter < half < one < four, True)
    check("equal factors are equally far", abs((one - half) - (half - quarter)) < 0.2, True)
    check("both sides", abs((one - quarter) - (four - one)) < 0.2, True)
    check("inside", plot.LEFT <= quarter and four <= plot.LEFT + plot.WIDTH, True)


def check_run(dynvm):
    with tempfile.TemporaryDirectory() as scratch:
        files = {name: Path(scratch) / name for name in ("json", "markdown", "svg")}
        options = [option for name, path in files.items() for option in (f"--{name}", str(path))]
        command = [sys.executable, str(BENCH / "run.py"), "--dynvm", dynvm, "--programs", "sieve", "--size", "2000",
                   "--rounds", "2", "--peers", "--levels", "generic", "inca", "--base", "dynvm-generic", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check(f"status of {' '.join(command)}:\n{done.stdout}", done.returncode, 0)
        if done.returncode:
            return
        results = json.loads(files["json"].read_text())["results"]
        check("results", [(r["program"], r["peer"], len(r["seconds"]), r["failure"]) for r in results],
              [("sieve", "dynvm-generic", 2, ""), ("sieve", "dynvm-inca", 2, "")])
        table = files["markdown"].read_text()
        check("the table", table in done.stdout, True)
        check("its head", table.splitlines()[0], "| program | generic s | inca | MB | generic MB |")
        check("a row for each program", table.splitlines()[2].startswith("| sieve (2000) | 0."), True)
        check("the base's mark", "sieve, dynvm-generic: 1.000" in marks(files["svg"].read_text()), True)


check_drawing()
check_run(sys.argv[1])
sys.exit(1 if checking.failed else 0)
