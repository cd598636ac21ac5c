"""Lab 8: a type whose operators, items and expressions become instructions."""

from checks.lab import Lab
from checks.lab4 import seconds

VARIANTS = (["--level=generic"], ["--level=inca"], ["--no-native-extensions"], ["--stress=quicken"],
            ["--stress=guard:3"], ["--ext-debug"])


# An expression that holds something else: a row of `a * b[k]` need not be made.
MIXED = """from rows import Row
import rows
def mixed(a, b, count):
    for i in range(count):
        k = i % 8
        c = a * b[k] + b
before = rows.made()
mixed(Row(1.0, 1.0), Row(0.5, -0.25), 1000)
print(rows.made() - before)
"""


def forms(lab: Lab, program) -> dict:
    """What sites have become: name to tiers."""
    found = {}
    for function in lab.report("dis", "--json", "--after-run", "--level=inca", program, 1000)["functions"]:
        for instruction in function["instructions"]:
            found.setdefault(instruction["form"], set()).add(instruction.get("tier"))
    return found


def check(lab: Lab) -> None:
    lab.need_dynvm()
    lab.extension("rows.c")
    lab.environment["DYNVM_PATH"] = str(lab.scratch)
    step, odd = lab.folder / "step.dl", lab.folder / "odd.dl"
    right = lab.program("--no-extension-quickening", odd).split("\n")
    for options in VARIANTS:
        done = lab.command([lab.dynvm, *options, odd])
        shown = " ".join(["dynvm", *options, "odd.dl"])
        for expected, line in zip(right, done.stdout.split("\n") + [""] * len(right)):
            lab.expect(expected == line, f"{shown} prints {line!r}, not {expected!r}")
        lab.expect(not done.stderr, f"{shown} says: {done.stderr.strip()[-400:]}")
    done = lab.command([lab.dynvm, "--level=inca", "--memory-limit=16M", step, 300000])
    lab.expect("MemoryError" not in done.stderr, "step.dl runs out of memory: rows are made that nobody releases, "
               "by something that the debugging table does not see (it executes expressions one by one)")
    first, rows = lab.program("--level=inca", step, 1000).strip().split("\n")
    lab.expect(first == "2500.0", f"step.dl prints {first}, not 2500.0")
    found = forms(lab, step)
    lab.expect("native" in found.get("GET_ROW", ()), "place[3] has become " +
               ("GET_ROW, but without its native twin" if "GET_ROW" in found else "no GET_ROW"))
    for name in ("ADD_ROW", "MUL_ROW"):
        lab.expect(name in found, f"no site of step.dl has become {name}")
    if not lab.complaints or "EXPRESSION_ROW" in found:
        lab.expect("EXPRESSION_ROW" in found,
                   "place * 0.5 + speed * 0.25 is three instructions, not one EXPRESSION_ROW")
    made = int(rows.split()[1])
    lab.expect(made < 1100,
               f"a thousand rounds of step.dl made {made} rows; one a round is enough, with EXPRESSION_ROW")
    if not lab.complaints:
        (lab.scratch / "mixed.dl").write_text(MIXED)
        count = int(lab.program("--level=inca", lab.scratch / "mixed.dl"))
        lab.expect(count < 1100, f"a thousand times `a * b[k] + b` made {count} rows; one is enough each time: the hook is "
                   "shown an expression with GET_ROW in it, and `smaller_expression` is the one without")
    if not lab.complaints:
        plain, now = (seconds(lab, *options, "--level=inca", step, 1000000)
                      for options in (["--no-extension-quickening"], []))
        lab.note(f"a million rounds: {plain:.2f} s without derivatives, {now:.2f} s with them; "
                 f"{made} rows in 1000 rounds")
