#!/usr/bin/env python3
"""Module files that are missing, directories, junk, cyclic or no text, compared with CPython 3.11.

Exit status: 0 if all is well, 1 if anything differs.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracle  # noqa: E402

# Text or bytes; None: a directory; "-> path": a link.
FILES = {
    "adir.py": None, "noinit": None, "initdir": None, "initdir/__init__.py": None,
    "nul.py": b"\x00\x01abc", "bom.py": b"\xef\xbb\xbfx = 1\n",
    "empty.py": "", "nonl.py": "x = 1", "formfeed.py": "\fx = 1\n", "cr.py": "x = 1\ry = 2\r",
    "cya.py": "import cyb\na = cyb.b\n", "cyb.py": "import cya\nb = cya.a\n",
    "cyc.py": "from cyd import d\nc = 1\n", "cyd.py": "from cyc import c\nd = 1\n",
    "cye.py": "import cyf\ne = 1\ndef get(): return cyf.f\n", "cyf.py": "import cye\nf = 2\n",
    "itself.py": "import itself\nx = itself is not None\n",
    "loop.py": "-> loop.py", "dangling.py": "-> nowhere.py",
    "unfinished.py": "x = (\n", "indented.py": "  x = 1\n", "exits.py": "raise SystemExit(7)\n",
    "fails.py": "x = 1\n1/0\n", "pk/__init__.py": "from . import nosuch\n", "pk2/__init__.py": "",
    "pk2/m.py": "from .. import x\n", "pk2/n.py": "from .m2 import x\n", "pk2/o.py": "from . import o\n",
    "short.so": "no library", "zero.so": "", "deep.py": "x = " + "(" * 90 + "1" + ")" * 90 + "\n",
    "shadow/__init__.py": "kind = 'package'\n", "shadow.py": "kind = 'module'\n",
    "probe.py": """
import sys
for name in sys.argv[1:]:
    for attempt in range(2):
        try:
            m = __import__(name)
            print(name, 'imported', m.__name__, getattr(m, 'x', None), getattr(m, 'kind', None))
        except BaseException as e:
            print(name, type(e).__name__, e, name in sys.modules)
""",
}

NAMES = ["missing", "adir", "noinit", "initdir", "nul", "bom", "empty", "nonl", "formfeed", "cr", "cya", "cyb", "cyc",
         "cye", "itself", "loop", "dangling", "unfinished", "indented", "exits", "fails", "pk", "pk.x", "pk2.m", "pk2.n",
         "pk2.o", "pk2.missing", "empty.x", "missing.x", "noinit.x", "deep", "short", "zero", "shadow", "pk2..m", ""]

# What is run, in that directory.
COMMANDS = [["probe.py", name] for name in NAMES] + [
    ["fails.py"], ["unfinished.py"], ["-m", "fails"], ["-m", "cya"], ["-m", "pk2"],
    ["-m", "exits"], ["-c", "import fails"], ["-c", "import exits"], ["-c", "import cya"], ["-c", "from pk2 import m"],
    ["empty.py"], ["nowhere.py"], ["loop.py"],
]


def build(directory):
    for name, content in FILES.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        elif isinstance(content, str) and content.startswith("-> "):
            os.symlink(content[3:], path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def run(program, arguments, directory):
    environment = oracle.clean_environment(PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([program, *arguments], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    errors = [line for line in done.stderr.replace(program.encode(), b"dynvm").splitlines(True)
              if b"<frozen " not in line]
    return done.stdout, b"".join(errors), done.returncode


def main():
    dynvm, python = sys.argv[1], oracle.find_cpython()
    if python is None:
        print("no CPython 3.11: comparisons left out")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        for arguments in COMMANDS:
            expected, got = run(python, arguments, name), run(dynvm, arguments, name)
            if expected != got:
                print(f"{arguments}: expected {expected}\n    got {got}")
                failed += 1
    print(f"{len(COMMANDS)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
