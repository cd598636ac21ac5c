#!/usr/bin/env python3
"""What the tables that watch extensions write about a script: DYNVM SCRIPT...

A script promises the lines behind "# report: " (with files by their last names, and without what extensions
add to their modules while they are imported), at each of its levels.  A script without such lines must not
be reported at all by the debug table, and must print the same with the table and with the trace as without.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

LEVELS = ["generic", "inca", "nama"]


def values(lines: list, key: str) -> list:
    mark = f"# {key}: "
    return [line[len(mark):] for line in lines if line.startswith(mark)]


def reports(stderr: str) -> list:
    lines = [re.sub(r"\((/[^:]*/)?([^:/]+):", r"(\2:", line) for line in stderr.splitlines()]
    return [line for line in lines if not re.match(r"add_|ext-debug: \(the last report", line)]


def run(dynvm: str, options: list, script: str, environment: dict):
    command = [dynvm, *options, script]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120)


def difference(what: str, expected: list, got: list) -> list:
    if expected == got:
        return []
    return [f"{what}:"] + [f"  missing: {x}" for x in expected if x not in got] + [f"  got: {x}" for x in got]


def check_promises(dynvm: str, script: str, lines: list) -> list:
    found, options = [], values(lines, "options")[0].split()
    for level in (values(lines, "levels") or [" ".join(LEVELS)])[0].split():
        done = run(dynvm, [f"--level={level}", *options], script, {})
        found += difference(f"{script} at {level}", values(lines, "report"), reports(done.stderr))
    return found


def check_clean(dynvm: str, script: str, lines: list) -> list:
    found, plain = [], run(dynvm, [], script, {}).stdout.splitlines()
    for word in ("debug", "trace", "debug,trace"):
        done = run(dynvm, [], script, {"DYNVM_EXT": word})
        found += difference(f"{script} with {word}", plain, done.stdout.splitlines())
        if word == "debug":
            found += difference(f"reports of {script}", [], reports(done.stderr))
        elif not done.stderr:
            found += [f"no trace of {script}"]
    return found


def main() -> int:
    found = []
    for script in sys.argv[2:]:
        lines = Path(script).read_text(encoding="utf-8").splitlines()
        if values(lines, "report"):
            found += check_promises(sys.argv[1], script, lines)
        elif not values(lines, "options") and "# misbehaves: yes" not in lines:
            found += check_clean(sys.argv[1], script, lines)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
