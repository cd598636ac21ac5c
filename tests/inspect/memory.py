#!/usr/bin/env python3
"""What regions take of the memory is accounted and bounded.

 - `dynvm stats` reports number, bytes and the most; functions that go take their regions with them;
 - with a bound below what a program's regions take the most keeps to it, colder regions make room
   for new ones, one that is entered all the time stays, and `dynvm explain` says why others went;
 - with hardly any room there are no regions, for that reason;
 - the program prints the same in all cases.

usage: memory.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import checking  # noqa: E402
from checking import check  # noqa: E402

FUNCTIONS = 60
SMALL = 30_000  # bytes: room for about half of them


def program(kept):
    """Functions with a hot loop each, and one more that is called between them; `kept`: they stay."""
    lines = ["def hot(n):", "    t = 0", "    for i in range(n):", "        t += i * 3 & 255", "    return t", "total = hot(4000)"]
    for number in range(FUNCTIONS):
        lines += [f"def cold{number if kept else ''}(n):", f"    t = {number}", "    for i in range(n):",
                  f"        t += i * {number} & 255", "    return t",
                  f"total += cold{number if kept else ''}(2000)", "for _ in range(20): total += hot(10)"]
    return "\n".join(lines) + "\nprint(total)\n"


def report(dynvm, tool, path, *options):
    done = subprocess.run([dynvm, tool, "--json", *options, path], cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=True)
    return json.loads(done.stdout), done.stderr.decode()


def regions(dynvm, path, *options):
    found, printed = report(dynvm, "stats", path, *options)
    return found["regions"], printed


def loop_of(loops, function):
    return next(loop for loop in loops if loop["function"] == function)


def check_without_bound(dynvm, path, gone):
    use, printed = regions(dynvm, path)
    check("made", use["made"] > FUNCTIONS, True)
    check("evicted", use["evicted"], 0)
    check("all there", use["count"], use["made"])
    check("the most is now", use["bytes"], use["most"])
    check("more than the bound of the next check", use["most"] > SMALL, True)
    fewer, _ = regions(dynvm, gone)
    check("regions of functions that are gone", fewer["count"] < FUNCTIONS // 2 < fewer["made"], True)
    check("their bytes", 0 < fewer["bytes"] < use["bytes"] // 2, True)
    return printed


def check_bounded(dynvm, path, printed):
    use, again = regions(dynvm, path, f"--region-limit={SMALL}")
    check("prints the same with a bound", again, printed)
    check("limit", use["limit"], SMALL)
    check("the most", SMALL // 2 < use["most"] <= SMALL, True)
    check("some made room", 0 < use["evicted"] <= use["made"] - use["count"], True)
    loops = report(dynvm, "explain", path, f"--region-limit={SMALL}", "--top=1000")[0]["loops"]
    hot = loop_of(loops, "hot")
    check("the hot one stays", (hot["region"] is None, hot["lost"]), (False, 0))
    lost = [loop for loop in loops if loop["lost"]]
    check("lost for room", {loop["reason"] for loop in lost}, {"room"})
    check("as many as made room", len(lost), use["evicted"])


def check_none(dynvm, path, printed):
    use, again = regions(dynvm, path, "--region-limit=100")
    check("prints the same without regions", again, printed)
    check("no region", (use["made"], use["count"], use["bytes"], use["most"]), (0, 0, 0, 0))
    loops = report(dynvm, "explain", path, "--region-limit=100", "--top=1000")[0]["loops"]
    check("refused for room", loop_of(loops, "hot")["reason"], "room")


def check_share(dynvm, path):
    use, _ = regions(dynvm, path, "--memory-limit=16M")
    check("an eighth of all memory", use["limit"], 2 << 20)


def main():
    dynvm = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path, gone = Path(folder) / "kept.dl", Path(folder) / "gone.dl"
        path.write_text(program(True))
        gone.write_text(program(False))
        printed = check_without_bound(dynvm, path, gone)
        check_bounded(dynvm, path, printed)
        check_none(dynvm, path, printed)
        check_share(dynvm, path)
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
