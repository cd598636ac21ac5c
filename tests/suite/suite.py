#!/usr/bin/env python3
"""Runs CPython's own test suite (Debian's libpython3.11-testsuite) on dynvm and prints what passes, by file and by cause.

Every method that passes on CPython counts. worker.py runs them, one process for a file; a method that takes over
--limit seconds, or kills the process, has failed, and the file goes on behind it.

Invariants:
1. What CPython did is kept in a file (--oracle) for the next run; nothing of dynvm is.
2. The test files are not changed, and no method is left out because dynvm fails it. Where dl's compiler would refuse a
   file because of some functions, dynvm gets a copy in which these raise SyntaxError; a method among them has failed.
"""

import argparse
import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

import numpy_split

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = pathlib.Path("/usr/lib/python3.11/test")

# The files about what dl has: test_NAME of the package test, or modules of a package.
NAMES = """
    abc abstract_numbers argparse array ast atexit augassign base64 baseexception binascii binop bisect bool buffer builtin
    bytes calendar call class cmath collections colorsys compare complex contains context contextlib copy copyreg csv
    dataclasses datetime decimal decorators defaultdict deque descr descrtut dict dictcomps dictviews difflib doctest
    doctest2 dynamic dynamicclassattribute enum enumerate errno exception_hierarchy exception_variations exceptions extcall
    file fileio float flufl fnmatch format fractions fstring funcattrs functools future future3 future4 future5 gc
    generator_stop generators genericalias genericclass genericpath genexps getopt getpass glob global grammar graphlib hash
    hashlib heapq hmac html index inspect int int_literal io isinstance iter iterlen itertools keyword keywordonlyarg
    linecache list listcomps logging long longexp math memoryio memoryview metaclass module named_expressions
    numeric_tower opcodes operator ordered_dict os pathlib patma pep646_syntax pickle pkg platform positional_only_arg posix
    posixpath pow pprint print property queue raise random range re reprlib richcmp sched scope secrets set setcomps
    shlex shutil slice sort stat statistics strftime string string_literals strptime strtod struct structseq subclassinit
    super syntax sys tempfile textwrap time timeit traceback tuple type_annotations type_comments typechecks types typing
    ucn unary unicode unicode_identifiers unicodedata univnewlines unpack unpack_ex userdict userlist userstring uuid weakref weakset
    with yield_from
"""


def list_modules(patterns):
    modules = [f"test.test_{name}" for name in NAMES.split()]
    modules += [f"test.test_json.{path.stem}" for path in sorted((TESTS / "test_json").glob("test_*.py"))]
    modules += ["test.test_warnings.__init__", "test.test_zoneinfo.test_zoneinfo"]
    modules += [f"unittest.test.{path.stem}" for path in sorted((TESTS.parent / "unittest/test").glob("test_*.py"))]
    return [module for module in modules if not patterns or any(pattern == module.split("test_")[-1] for pattern in patterns)]


def cut_refused(path):
    """The text of a file without its functions that dl's compiler refuses (async, except*): their bodies raise
    SyntaxError, all other lines keep their numbers. None if it has none."""
    text = path.read_text()
    lines = text.split("\n")
    cuts = {}

    def visit(node, owner):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and owner is None:
            owner = node
        word = {ast.AsyncFunctionDef: "async def", ast.AsyncWith: "async with", ast.TryStar: "except*"}.get(type(node))
        if word and owner:
            cuts[owner] = word
        for child in ast.iter_child_nodes(node):
            visit(child, owner)

    visit(ast.parse(text), None)
    for node, word in cuts.items():
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        indent = lines[node.lineno - 1][:node.col_offset]
        lines[first:node.end_lineno] = [""] * (node.end_lineno - first)
        lines[first] = f'{indent}def {node.name}(*a, **k): return __import__("__main__").refuse({word!r})'
    return "\n".join(lines) if cuts else None


def cut_all(folder):
    for path in [*TESTS.glob("*.py"), *(TESTS.parent / "unittest/test").glob("*.py")]:
        if not path.name.startswith("bad"):
            try:
                text = cut_refused(path)
            except (SyntaxError, ValueError):
                continue
            if text:
                pathlib.Path(folder, path.name).write_text(text)


class Run:
    """One module on one Python: results is {id: (outcome, cause)}."""

    def __init__(self, command, module, limit, cut="", worker="worker.py"):
        self.results, self.numbers, self.worker = {}, {}, worker
        self.command, self.module, self.limit, self.cut = command, module, limit, cut
        first = 0
        with tempfile.TemporaryDirectory() as folder:
            while first is not None:
                first = self._run_from(first, -1, folder)

    def run_alone(self, test):
        """Runs a test again in a process of its own: what others left behind may have made it fail."""
        with tempfile.TemporaryDirectory() as folder:
            self._run_from(self.numbers[test], 1, folder)

    def _run_from(self, first, count, folder):
        """Runs the tests from that number on; the number to go on with, or None."""
        log = pathlib.Path(folder, "log")
        log.write_text("")
        environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", NPY_PROMOTION_STATE="weak")
        work = pathlib.Path(folder, "work")
        work.mkdir(exist_ok=True)
        with open(pathlib.Path(folder, "output"), "w") as output:
            process = subprocess.Popen([*self.command, str(HERE / self.worker), self.module, str(first), str(count), str(log), self.cut],
                                       cwd=work, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                                       start_new_session=True)
            size, since = -1, time.monotonic()
            while process.poll() is None:
                if log.stat().st_size != size:
                    size, since = log.stat().st_size, time.monotonic()
                elif time.monotonic() - since > self.limit * (1 if size else 5):
                    break
                time.sleep(0.02)
            ended = process.poll()
            if ended is None:
                os.killpg(process.pid, 9)
                process.wait()
        entry = [-1, self.module, "import", "no time for the import" if ended is None else f"the process ended with {ended}"]
        for line in log.read_text().splitlines():
            entry = json.loads(line)
            if len(entry) == 4:
                self.results[entry[1]] = entry[2:]
                self.numbers[entry[1]] = entry[0]
        if len(entry) == 2:
            self.results[entry[1]] = ("fail", "no end" if ended is None else f"the process ended with {ended}")
            return entry[0] + 1
        if len(entry) == 4 and entry[2] == "import":
            self.results = {"": entry[2:]}
        elif len(entry) == 4:
            return entry[0] + 1
        return None


def shorten(cause):
    """What causes have in common: no numbers, addresses or long texts."""
    cause = re.sub(r"0x[0-9a-f]+|\d+", "N", cause)
    cause = re.sub(r"AssertionError: .* (!=|==|not found in|is not|is not true|not raised)( .*|$)", r"AssertionError: ... \1 ...", cause)
    return cause[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="files, as in `bisect json`; all if none is given")
    parser.add_argument("--numpy", action="store_true", help="the tests of NumPy 1.24 (Debian's python3-numpy), on ndarray")
    parser.add_argument("--dynvm", default=str(ROOT / "build/dynvm"))
    parser.add_argument("--level", default="nama")
    parser.add_argument("--cpython", default="/usr/bin/python3")
    parser.add_argument("--oracle", default=str(ROOT / "build/suite_oracle.json"), help="the file that keeps what CPython did")
    parser.add_argument("--limit", type=float, default=20, help="seconds for a method")
    parser.add_argument("--alone", action="store_true", help="what fails runs again in a process of its own")
    parser.add_argument("--causes", type=int, default=60, help="how many rows of causes")
    parser.add_argument("--json", help="write every method that fails here, with its cause, to this file")
    arguments = parser.parse_args()

    modules = (numpy_split.list_modules if arguments.numpy else list_modules)(arguments.names)
    worker = "numpy_worker.py" if arguments.numpy else "worker.py"
    if not modules:
        parser.error(f"no such file among those that are run: {' '.join(arguments.names)}")
    oracle_path = pathlib.Path(arguments.oracle)
    oracle = json.loads(oracle_path.read_text()) if oracle_path.exists() else {}
    cut = tempfile.TemporaryDirectory()
    if not arguments.numpy:
        cut_all(cut.name)
    rows, causes, missed = [], Counter(), defaultdict(dict)
    for module in modules:
        if module not in oracle:
            oracle[module] = Run([arguments.cpython], module, arguments.limit, worker=worker).results
            oracle_path.write_text(json.dumps(oracle))
        wanted = [test for test, (outcome, _) in oracle[module].items() if outcome == "pass"]
        if not wanted:
            print(f"{module}: nothing passes on CPython", file=sys.stderr)
            continue
        if arguments.numpy:
            numpy_split.split(module, cut.name)
        run = Run([arguments.dynvm, f"--level={arguments.level}"], module, arguments.limit, cut.name, worker)
        here = run.results
        for test in wanted if arguments.alone else ():
            if test in here and here[test][0] == "fail" and test in run.numbers and "not part of dl" not in here[test][1]:
                run.run_alone(test)
        passed = 0
        for test in wanted:
            outcome, cause = here.get(test) or here.get(test.split(".")[0]) or here.get("") or ("fail", "no such test here")
            if outcome == "pass":
                passed += 1
                continue
            cause = f"skipped: {cause}" if outcome == "skip" else f"at import: {cause}" if outcome == "import" else cause
            causes[shorten(cause)] += 1
            missed[module][test] = cause
        rows.append((module, len(wanted), passed))
        print(f"{module}: {passed} of {len(wanted)}", file=sys.stderr, flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(missed, indent=1))

    print("| file | pass on CPython | pass here |\n|---|---|---|")
    for module, wanted, passed in rows:
        print(f"| {module} | {wanted} | {passed} |")
    print(f"| all | {sum(row[1] for row in rows)} | {sum(row[2] for row in rows)} |\n")
    print("| methods | cause |\n|---|---|")
    for cause, count in causes.most_common(arguments.causes):
        print(f"| {count} | {cause.replace('|', chr(92) + '|')} |")


if __name__ == "__main__":
    main()
