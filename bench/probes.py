#!/usr/bin/env python3
"""Probes: small programs that show what a level does with one thing (bench/probes/README.md).

usage: probes.py [--dynvm build/dynvm] [--families | NAMES...]

Prints for each probe millions of instructions (callgrind) at inca, at nama, and at nama of its twin, which computes the
same as a program must be written to be fast; its gate, and whether that is met. `--families` prints instead which forms
the sites of a line in bench/probes/families.txt end in. Exits 1 if a gate is not met.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from counts import OVER_INCA, count

ROOT = Path(__file__).resolve().parent.parent
PROBES = ROOT / "bench" / "probes"

# Name, its twin, the level that the gate is about (nama: of inca's is one, too), and at most what: so many times what
# the twin takes, or, where there is none, so many millions. "": no gate of its own.
TABLE = (
    ("m1", "m2", "nama", 1.5, "loop at module level"),
    ("gl", "nl0", "nama", 1.5, "loop that stores to a global"),
    ("nl", "nl0", "nama", 1.5, "loop that stores to a closure cell"),
    ("poly2", "poly1", "nama", 1.3, "two receiver classes"),
    ("alt", "alt1", "nama", 1.3, "a function called with lists of floats and of ints in turn"),
    ("bigf", "bigf0", "nama", 1.25, "a hot function without a loop"),
    ("p1", "", "", 0, "float ** 2"),
    ("pw", "", "nama", 47, "float ** float"),
    ("pm", "", "nama", 20, "float % float"),
    ("bf", "bf0", "nama", 1.1, "a & b of bools"),
    ("sm", "sm0", "nama", 1.2, "static method"),
    ("ap", "ap0", "inca", 20, "bound l.append kept in a local"),
    ("ex", "", "inca", 30, "making an exception object"),
    ("fx", "", "", 0, "array expressions between scalar work"),
    ("fx2", "", "", 0, "likewise, large arrays"),
    ("fx3", "", "", 0, "likewise, stored into a slice"),
    ("fx4", "", "", 0, "likewise, with a reduction"),
    ("v1", "", "", 0, "objects that need not be made"),
    ("v_named", "v_named0", "nama", 1.6, "named tuples, and what a __new__ makes"),
    ("paper4", "", "", 0, "likewise, of the paper's figure 4"),
    ("v2", "", "", 0, "likewise, nbody with vectors that its bodies keep"),
    ("w_places", "", "", 0, "d[x, y] of a dict"),
    ("w_dict", "", "", 0, "a loop over the keys of a dict"),
    ("w_values", "", "", 0, "over the values of a dict"),
    ("w_set", "", "", 0, "over a set"),
    ("w_rev", "", "", 0, "over a reversed list"),
    ("w_pairs", "", "", 0, "over a list of tuples of two, taken apart"),
    ("w_triples", "", "", 0, "over a list of tuples of three"),
    ("w_zip3", "", "", 0, "over a zip of three lists"),
    ("w_axes", "", "", 0, "t[i, j, k]"),
    ("w_str", "", "", 0, "over a str"),
    ("w_strindex", "", "", 0, "s[i] and ord"),
    ("w_list", "", "nama", 12, "a list of three that is indexed by constants"),
    ("w_try", "", "nama", 12, "a try body that raises KeyError in most rounds"),
    ("w_raise", "", "nama", 19, "one round of twenty raises, in three ways"),
    ("w_caught", "w_caught0", "nama", 1.3, "raise in every other round, in an inlined callee: a jump"),
    ("w_own", "", "nama", 8, "exceptions of a class with an `__init__`, of which `as e` asks an attribute"),
    ("w_quiet", "", "nama", 100, "a try body in which int, list.index or dict.pop raise in most rounds"),
    ("w_static", "", "", 0, "static and class methods"),
    ("w_static2", "", "nama", 13, "static methods of two classes"),
    ("w_bound", "", "nama", 20, "a bound method made in each round"),
    ("w_none", "w_none0", "nama", 1.9, "an instance or None, round the loop, and the best of all"),
    ("w_gen", "w_gen0", "nama", 1.2, "a generator that a for consumes"),
    ("k_items", "k_items0", "nama", 1.3, "ints and floats in turn in a list"),
    ("k_attrs", "", "nama", 22, "attributes that are an int or a float, or None"),
    ("k_values", "", "", 0, "values of a dict that are an int or a float"),
    ("k_pairs", "", "", 0, "pairs of such numbers"),
    ("k_results", "", "", 0, "results that are an int or a float, or None"),
    ("k_texts", "", "", 0, "strs and ints in turn in a list"),
    ("k_bools", "", "", 0, "bools and ints in turn in a list"),
    ("k_long", "", "nama", 12, "sums and remainders beyond 48 bits"),
    ("n1", "", "", 0, "array operations, whose `stats` have no false row"),
    ("n2", "", "", 0, "kept results, whose reasons add up"),
)


def measure(dynvm: Path, names: list) -> int:
    rows = [row for row in TABLE if not names or row[0] in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        def started(name: str, level: str):
            return pool.submit(count, dynvm, [f"--level={level}", str(PROBES / f"{name}.py")]) if name else None
        wanted = {(name, level) for row in rows for name, level in ((row[0], "inca"), (row[0], "nama"), (row[1], "nama"))}
        futures = {key: started(*key) for key in sorted(wanted) if key[0]}
        counts = {key: future.result() / 1e6 for key, future in futures.items()}
    print("| probe | what | inca | nama | twin | gate | met |\n|---|---|---|---|---|---|---|")
    failed = 0
    for name, twin, level, limit, what in rows:
        inca, nama, fast = counts[name, "inca"], counts[name, "nama"], counts.get((twin, "nama"))
        gates, met = [f"nama <= {OVER_INCA} inca"], nama <= OVER_INCA * inca
        if level:
            relative = fast is not None and limit < 10
            gates.append(f"{level} <= {limit} {twin if relative else 'M'}")
            met = met and counts[name, level] <= limit * (fast if relative else 1)
        failed += not met
        print(f"| {name}{', ' + twin if twin else ''} | {what} | {inca:.1f} | {nama:.1f} | "
              f"{'-' if fast is None else f'{fast:.1f}'} | {', '.join(gates)} | {'yes' if met else 'no'} |")
    return failed


def read_families() -> list:
    """(group, what, source, first line of the statement, function, instructions) of each line."""
    shared, found = {}, []
    block, setup, group, wanted = [], [], "", set()
    for line in (PROBES / "families.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("++ "):
            block = shared.setdefault(line[3:], [])
        elif line.startswith("== "):
            group, words = line[3:].split(": ")
            words, *uses = words.split(" + ")
            wanted = set(words.split())
            block, setup = [text for use in uses for text in shared[use]], []
        elif line.startswith("    "):
            block.append(line[4:])
        elif line.startswith("setup "):
            setup.append("    " + line[6:])
        elif line and not line.startswith("#"):
            what, statement, more, function = (line.split(" -- ") + ["", ""])[:4]
            source = block + more.strip().replace("\\n", "\n").split("\n") + ["def f(n):"] + setup
            source += ["    for i in range(n):"]
            first = len(source) + 1
            source += ["        " + text for text in statement.replace("\\n", "\n").split("\n")] + ["f(300)"]
            found.append((group, what, "\n".join(source) + "\n", 0 if function else first, function or "f", wanted))
    return found


def forms_of(dynvm: Path, source: str, first: int, function: str, wanted: set) -> list:
    """What the sites became, `-` where an instruction has no other forms; not of those that another one stands for."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "line.py"
        path.write_text(source, encoding="utf-8")
        command = [str(dynvm), "dis", "--after-run", "--json", "--level=inca", f"--function={function}", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = []
    for listed in json.loads(done.stdout)["functions"]:
        for row in listed["instructions"]:
            name = row["instruction"]
            is_wanted = any(re.fullmatch(rf"{word}(_.*)?", name) for word in wanted)
            covered = row.get("reason") == "done by the instruction in front"
            if is_wanted and row["line"] >= first and not covered and not name.startswith("LOAD_GLOBAL"):
                found.append(f"{name}: -" if row["form"] is None else row["form"])
    return found


def show_families(dynvm: Path) -> int:
    failed, last = 0, ""
    for group, what, source, first, function, wanted in read_families():
        if group != last:
            print(f"--- {group}")
        last = group
        forms = forms_of(dynvm, source, first, function, wanted)
        is_open = any(form.endswith(("_ADAPTIVE", ": -")) for form in forms)
        failed += is_open
        print(f"{'open ' if is_open else '     '}{what:28} {'; '.join(forms)}")
    print(f"{failed} lines are open")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm")
    parser.add_argument("--families", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAMES", help="of probes; all if none is given")
    arguments = parser.parse_args()
    dynvm = arguments.dynvm.resolve()
    unknown = [name for name in arguments.names if not (PROBES / f"{name}.py").exists()]
    if unknown:
        parser.error(f"no such probe in bench/probes: {', '.join(unknown)}")
    return 1 if (show_families(dynvm) if arguments.families else measure(dynvm, arguments.names)) else 0


if __name__ == "__main__":
    sys.exit(main())
