"""Lab 7: a region by hand, in which no pair is made."""

import re

from checks.lab import Lab

COUNTS = (0, 1, 499, 500, 501, 509, 3000, 100001)
# No overflow ever leaves this loop by itself: here guards fail at each of its places, and each round is compared.
VARIANTS = ("--stress=guard:2", "--stress=guard:5", "--stress=guard:8", "--stress=guard:10", "--stress=guard:12",
            "--stress=exit:3", "--lockstep")


def walk(n) -> int:
    a, b = 0, 1
    for _ in range(int(n)):
        a, b = b & 1023, (a + b) & 1023
    return a


def check_exits(lab: Lab) -> None:
    text = lab.folder / "pairs.dla"
    for option in VARIANTS:
        done = lab.command([lab.dynvm, "asm", option, text])
        wrong = done.stderr.strip() or f"walk(3000) is {done.stdout.strip()}, not {walk(3000)}"
        if not lab.expect(not done.stderr and done.stdout.strip() == str(walk(3000)),
                          f"`dynvm asm {option} pairs.dla`, where the region is left much more often: {wrong}. Where does "
                          "each exit go on, and with which values?"):
            return


def check(lab: Lab) -> None:
    lab.need_dynvm()
    text = (lab.folder / "pairs.dla").read_text()
    call = "    LOAD_CONST 3000\n"
    if not lab.expect(text.count(call) == 1,
                      "pairs.dla calls walk with 3000 no longer: the check puts other numbers there"):
        return
    for n in [*map(str, COUNTS), "3000.0", "True"]:
        (lab.scratch / "pairs.dla").write_text(text.replace(call, f"    LOAD_CONST {n}\n"))
        done = lab.command([lab.dynvm, "asm", lab.scratch / "pairs.dla"])
        if not lab.expect(done.returncode == 0,
                          f"the assembler says: {done.stderr.strip().replace(str(lab.scratch) + '/', '')}"):
            return
        right = walk(1 if n == "True" else float(n))
        lab.expect(done.stdout.strip() == str(right), f"walk({n}) is {done.stdout.strip()}, not {right}")
    if not lab.complaints:
        check_exits(lab)
    listing = lab.program("dis", "--after-run", "--function=walk", lab.folder / "pairs.dla")
    shown = listing[listing.index("region of pcs"):] if "region of pcs" in listing else ""
    if not lab.expect(shown != "", "the loop has got no region (it is too small for the analysis, or was given up)"):
        return
    names = re.findall(r"^ +\d+  ([A-Z]\w+)", shown, re.MULTILINE)
    lab.expect("BUILD_LIST" not in names, "the region makes a list in each round: BUILD_LIST is in it")
    boxes = [name for name in names if name.startswith("R_BOX")]
    lab.expect(not boxes, f"the region boxes ints in each round: {', '.join(boxes)}")
    lab.expect("retired" not in shown.split("\n")[0],
               "the region has been retired: it was left too often, or never entered")
    rounds = len([name for name in names if not name.startswith("R_EXIT")])
    lab.note(f"the region has {rounds} instructions, beside its exits")
