#!/usr/bin/env python3
"""A derivative is known to its block in gen/ops, and to one chooser: no other C may name it.

usage: check_choosers.py

Whatever else must be known of a derivative is an attribute of its block, which tables of dv_ops.h have (gen/README.md).
The back edges and the entry of a function are states of a loop rather than derivatives of what they do; they are
changed where regions come and go, and counted by inspection.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMED = re.compile(r"\bDV_OP_(\w+)")
STATES = {"JUMP_BACK", "ENTER"}


def derivatives(python_path: Path) -> dict:
    """Families of derivatives, and of what is made of them, by name."""
    sys.path.insert(0, str(python_path))
    sys.dont_write_bytecode = True
    import render

    model = render.load()
    found = {}
    for item in model.instructions:
        if item.kind in ("derivative", "fusion"):
            derivative = model.by_name[item.family] if item.kind == "fusion" else item
            found[item.name] = derivative.family
    return found


def main() -> int:
    known = derivatives(ROOT / "gen")
    files = defaultdict(set)
    for folder in ("vm", "lang", "ext"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for name in NAMED.findall(path.read_text(encoding="utf-8")):
                if name in known and known[name] not in STATES:
                    files[name].add(str(path.relative_to(ROOT)))
    wrong = {name: places for name, places in files.items() if len(places) > 1}
    for name, places in sorted(wrong.items()):
        print(f"{name}, a derivative of {known[name]}, is named by {', '.join(sorted(places))}")
    print(f"{len(known)} derivatives and fusions, {len(files)} named in C, {len(wrong)} more than once")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
