#!/usr/bin/env python3
"""The libraries define dynvm_* for others and nothing else, the program nothing at all.

usage: exports.py NM PROGRAM [LIBRARY...]
"""

import re
import subprocess
import sys

PUBLIC = re.compile(r"(dynvm|dvx)_\w+")
LIKELY = "dynvm_create"


def defined(nm: str, *options: str) -> set:
    lines = subprocess.run([nm, "--defined-only", *options], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {words[2] for words in map(str.split, lines.splitlines()) if len(words) == 3}


def main() -> int:
    nm, program, *libraries = sys.argv[1:]
    wrong = [f"{program} exports {name}" for name in sorted(defined(nm, "-D", program)) if name.startswith("d")]
    for library in libraries:
        names = defined(nm, "-g" if library.endswith(".a") else "-D", library)
        wrong += [f"{library} exports {name}" for name in sorted(names) if not PUBLIC.fullmatch(name)]
        if LIKELY not in names:
            wrong.append(f"{library} has no {LIKELY}")
    print("\n".join(wrong[:20] + [f"{len(libraries)} libraries, {len(wrong)} names are wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
