#!/usr/bin/env python3
"""Checks the direction of includes: they go down only (vm/README.md, "Direction of includes").

A room is a directory under vm/ with all that is in it, or lang, ext or gen.  Every include, in `"..."` or in `<...>`, of a
header of this tree must name a room that the including room may see, in templates too.  The rules are the table
below and nothing else.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')

# What each room may see besides itself.  `base` and `code` include nothing; the public headers are for those that
# implement or use them; generated headers count as `code`, tables of Unicode as `base`.
LOWER = ["base", "code", "core"]
SEES = {
    "include": [],
    "base": [],
    "code": [],
    "core": ["base", "code"],
    "types": LOWER,
    "run": LOWER + ["types"],
    "report": LOWER + ["types", "run"],
    "import": LOWER + ["types", "run"],
    "quicken": LOWER + ["types", "run"],
    "region": LOWER + ["types", "run", "import", "quicken"],
    "builtins": LOWER + ["types"],
    "modules": LOWER + ["types"],
    "plugin": LOWER + ["types", "run", "report", "quicken", "region", "builtins", "modules", "include"],
    "inspect": LOWER + ["types", "run", "quicken", "region", "builtins", "modules"],
    "api": LOWER + ["types", "run", "report", "import", "quicken", "region", "builtins", "modules", "plugin", "inspect",
                    "lang", "include"],
    "cli": ["include"],
    "lang": ["base", "code"],
    "ext": ["include"],
    "gen": LOWER + ["types", "run", "quicken", "region", "builtins", "modules", "plugin", "lang", "include"],
}


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "vm" else parts[0]


def room_of_include(name: str, source: Path) -> str:
    """The room of an included file.  Files of an extension are named from its folder.  A bare name that is neither a
    sibling (or of a template) nor a public header is generated."""
    parts = source.relative_to(ROOT).parts
    own = ROOT / "ext" / parts[1] if parts[0] == "ext" else source.parent
    if (own / name).exists() or any(own.rglob(Path(name).stem + ".mako")):
        return room_of(source)
    if "/" in name:
        return name.split("/")[0]
    if (ROOT / "vm" / "include" / name).exists():
        return "include"
    return "base" if name.startswith("unicode_") else "code"


def complaints_about(source: Path) -> list:
    room = room_of(source)
    found = []
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        if match.group(1) == "<" and not any((ROOT / folder / match.group(2)).exists() for folder in ("vm", "vm/include", "")):
            continue  # of the system
        target = room_of_include(match.group(2), source)
        where = source.relative_to(ROOT)
        if target != room and target not in SEES.get(room, []):
            found.append(f"{where}:{number}: {room} must not include {match.group(2)}")
    return found


def main() -> int:
    sources = []
    for pattern in ("vm/**/*.[ch]", "lang/**/*.[ch]", "ext/**/*.[ch]", "gen/**/*.mako", "ext/**/*.mako"):
        sources += sorted(ROOT.glob(pattern))
    found = [line for source in sources for line in complaints_about(source)]
    print("\n".join(found + [f"{len(sources)} files, {len(found)} includes in the wrong direction"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
