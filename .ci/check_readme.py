#!/usr/bin/env python3
"""The listing in README.md must be what `dynvm dis` prints for the program above it.

usage: check_readme.py DYNVM [--write]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n```\n(.*?)```\n", re.DOTALL)


def listing(dynvm: str, program: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "six.dl").write_text(program)
        command = [str(Path(dynvm).resolve()), "dis", "--after-run", "--function=total", "six.dl"]
        shown = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, check=True).stdout.decode()
    return shown[shown.index("total(n)"):]


def main() -> int:
    text = README.read_text()
    found = BLOCKS.search(text)
    if found is None:
        print("README.md has no program with a listing")
        return 1
    now = listing(sys.argv[1], found.group(1))
    if now == found.group(2):
        print("the README's listing is fresh")
        return 0
    if "--write" in sys.argv:
        README.write_text(text[:found.start(2)] + now + text[found.end(2):])
        return 0
    print("the README's listing is stale: run .ci/check_readme.py build/dynvm --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
