"""Lab 6: a transfer function more, in a dynvm that is linked for the lab."""

import json
import re
from pathlib import Path

from checks.lab import Lab, Wrong, last

VARIANTS = (["--level=generic"], [], ["--stress=quicken"], ["--stress=exit:3"], ["--stress=guard:5"], ["--lockstep"])
BOXED = ("R_BOX_I", "INVERT_INT", "R_UNBOX_I")


def linked(lab: Lab) -> Path:
    """The lab's own dynvm."""
    words = lab.compiling("vm/region/step/step.c")
    objects = lab.build / "CMakeFiles" / "dynvm.dir"
    cli = [objects / "vm" / "cli" / (Path(row["file"]).name + ".o") for row in lab.compiled() if "/vm/cli/" in row["file"]]
    cli.append(objects / "gen" / "cli_playground.c.o")
    made = []
    for source in ("invert.c", "link.c"):
        made.append(lab.scratch / source.replace(".c", ".o"))
        done = lab.command([*words, "-o", made[-1], "-c", lab.folder / source])
        if done.returncode:
            raise Wrong(f"{source} does not compile:\n{done.stderr.replace(str(lab.folder) + '/', '')}")
    program = lab.scratch / "dynvm"
    library = lab.build / "tests" / "libdynvm_inside.a"
    done = lab.command([words[0], "-Wl,--wrap=dv_step", "-o", program, *cli, *made, library, "-lgmp", "-lm", "-ldl"])
    if done.returncode:
        raise Wrong(f"this does not link:\n{done.stderr}")
    return program


def region(listing: str) -> list:
    """The instructions of the first region of a listing."""
    if "region of pcs" not in listing:
        raise Wrong("the loop of checksum.dl has no region any more: does dv_finish_raw hear of one input and an int?")
    return re.findall(r"^ +\d+  (RB?[A-Z]*_\w+|INVERT\w*)", listing[listing.index("region of pcs"):], re.MULTILINE)


def check(lab: Lab) -> None:
    mine = linked(lab)
    program, odd = lab.folder / "checksum.dl", lab.folder / "odd.dl"
    for options in VARIANTS:
        right = lab.command([lab.dynvm, "--level=generic", odd]).stdout.split("\n")
        done = lab.command([mine, *options, odd])
        name = " ".join([*options, "odd.dl"])
        lab.expect(done.returncode == 0, f"{name}: ended with status {done.returncode}: {last(done.stderr)}")
        for line, expected in zip(done.stdout.split("\n"), right):
            lab.expect(line == expected, f"{name}: prints {line!r}, not {expected!r}")
        if lab.complaints:
            return
    before = region(lab.program("dis", "--after-run", "--function=checksum", program))
    after = region(lab.run([mine, "dis", "--after-run", "--function=checksum", program]))
    for name in BOXED:
        lab.expect(name not in after,
                   f"the region of checksum still has {name}: the int is boxed for INVERT, and its result unboxed")
    lab.expect(any(name.startswith(("RI_XOR", "RI_SUB")) and name.count("K") for name in after) or not lab.complaints,
               "the region of checksum has no raw instruction with a constant for ~i")
    if not lab.complaints:
        lab.note(f"the region of checksum had {len(before)} instructions and has {len(after)}, none of them boxed")
        done = json.loads(lab.command([mine, "stats", "--json", program]).stdout.split("\n")[-2])
        lab.note(f"steps in regions: {lab_steps(lab, program)} before, {done['totals']['region']} now")


def lab_steps(lab: Lab, program: Path) -> int:
    return lab.report("stats", "--json", program)["totals"]["region"]
