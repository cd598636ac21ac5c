#!/usr/bin/env python3
"""Runs the test scripts on dynvm, at every level, in every form and under stress, against the oracle.

A test is a file tests/<room>/<name>.dl or tests/<room>/<part>/<name>.dl (see tests/README.md for the comments
it may contain), a case made by tests/<room>/cases.py, or one of the programs of bench/programs at a small size.  The output, the
exit status and what is on standard error must be CPython 3.11's in every variant.

A variant is a level in a form, perhaps under stress.  Each script runs in the plain variants, and in a part of
the others: the seed, which is printed, says in which (class Variants).  What fails comes with a command that runs
it again.

Exit status: 0 if all is well, 1 if anything differs, 2 if the run could not begin.
"""

import argparse
import concurrent.futures
import ctypes
import difflib
import importlib.util
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
import oracle  # noqa: E402
from forks import Forks  # noqa: E402
from oracle import Result  # noqa: E402
from progress import Progress, progress  # noqa: E402

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
LEVELS = ("generic", "inca", "nama")
FORMS = ("tail", "trampoline")
QUICKENED = "quicken"  # in the plain variants, too: it runs the code of hot sites in scripts that are not hot
STRESSES = (
    QUICKENED,
    "quicken,guard:1",
    "quicken,guard:3",
    "quicken,guard:17",
    "quicken,exit:1",
    "quicken,exit:3",
    "quicken,exit:10",
    "quicken,assume",
    "quicken,guard:5,exit:7,assume",
    "guard:7",
    "exit:2",
    "assume",
    "quicken,no-maps",
    "no-versions",
)
REACHES = ("sequence", "loop", "inline")  # each without stress, and under this one
STRESS_OF_REACHES = "quicken,guard:5,exit:7,assume"
# Level, its reach, and the level or reach that it is compared with.  The first one for all scripts; the others for
# those of LOCKSTEP_ROOMS, where loops are hot.
LOCKSTEPS = (
    ("nama", "", "generic"),
    ("inca", "", "generic"),
    ("nama", "", "inca"),
    ("nama", "sequence", "generic"),
    ("nama", "loop", "generic"),
    ("nama", "inline", "generic"),
    ("nama", "sequence", "loop"),
    ("nama", "", "inline"),
)
LOCKSTEP_ROOMS = ("levels", "generators")
# A script runs in one of so many of the variants that take turns.  As many seeds in a row run it in all.
TURNS, QUICK_TURNS = 12, 48
LEAK_TURNS = 3  # where sanitizers look for leaks, after the last run of a script: that takes longer than a short one
# The levels below nama, which runs their code before it quickens, take turns: one of so many, the first one, the second...
RARE, QUICK_RARE = (("generic", "inca"), 2), (("generic",), 4)
PROGRESS = 30  # seconds between lines that say how far a run is, where there is no terminal
SANITIZER_MARKS = (b"AddressSanitizer", b"LeakSanitizer", b"ThreadSanitizer", b"runtime error: ")
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]
EMULATED = 10  # times slower, so many times longer may a run take under an emulator
MAX_DIFF_LINES = 40
DIRECTIVE = re.compile(rb"^# ([a-z-]+):(?: (.*))?$")
NUMBER = re.compile(r"(\d+\.\d*(?:e[-+]\d+)?|\d+e[-+]\d+)")  # of floats; the sign is outside
KNOWN = {
    "expect", "expect-error", "expect-status", "args", "options", "levels", "timeout", "skip-oracle",
    "stress", "quick", "valgrind", "forms", "c-stack", "extension", "libm", "needs", "without",
}


# ---- Tests ----------------------------------------------------------------------------------------


@dataclass
class Test:
    """One script with everything that its comments ask for."""

    name: str
    path: Path
    cwd: Path = ROOT
    args: List[str] = field(default_factory=list)
    options: List[str] = field(default_factory=list)
    levels: Tuple[str, ...] = LEVELS
    forms: Tuple[str, ...] = ()  # all that were built, if empty
    c_stack: int = 0  # limit of the C stack in kB, if not 0
    needs: str = ""  # a module that not every dynvm can import, or a library that one looks for when it runs
    without: str = ""  # a library that it does not find when it runs,
    hidden: Optional[Path] = None  # as the first folder where it looks has a file of that name that is none
    extension: str = ""  # which the script imports; a module of <room>/oracle is the oracle's
    timeout: float = 60.0
    libm: float = 0.0  # how far numbers may be off where the C library is another processor's
    skip_oracle: str = ""
    stress: bool = True
    quick: bool = True
    valgrind: bool = True
    expect: Optional[List[str]] = None
    expect_error: str = ""
    expect_status: Optional[int] = None
    stored: Optional[Path] = None  # where the stored expectation is; None for files outside the suite
    oracle_modules: Optional[Path] = None  # where the oracle finds its module of the extension's name

    @property
    def room(self) -> str:
        return self.name.split("/")[0]

    @property
    def short_name(self) -> str:
        """Without the part of the room, so that it is found wherever it moves to."""
        return f"{self.room}/{self.name.split('/')[-1]}"

    @property
    def script(self) -> str:
        try:
            return str(self.path.relative_to(self.cwd))
        except ValueError:
            return str(self.path)


class BadTest(Exception):
    """A test that says something the runner does not understand."""


def apply_directive(test: Test, key: str, value: str) -> None:
    if key == "expect":
        test.expect = (test.expect or []) + [value]
    elif key == "expect-error":
        test.expect_error = value
    elif key == "expect-status":
        test.expect_status = int(value)
    elif key == "args":
        test.args = value.split()
    elif key == "options":
        test.options = value.split()
    elif key == "levels":
        test.levels = tuple(value.replace(",", " ").split())
        if not set(test.levels) <= set(LEVELS):
            raise BadTest(f"unknown level in '{value}'")
    elif key == "forms":
        test.forms = tuple(value.split())
    elif key in ("needs", "without"):
        setattr(test, key, value)
    elif key == "extension":
        test.extension = value
        modules = TESTS / test.room / "oracle"
        test.oracle_modules = modules if modules.is_dir() else None  # (CPython itself may have it)
    elif key == "c-stack":
        test.c_stack = int(value)
    elif key in ("timeout", "libm"):
        setattr(test, key, float(value))
    elif key == "skip-oracle":
        if not value:
            raise BadTest("skip-oracle must say why")
        test.skip_oracle = value
    else:
        if value not in ("on", "off"):
            raise BadTest(f"{key} is on or off, not '{value}'")
        setattr(test, key, value == "on")


def directive(line: bytes) -> Optional[Tuple[str, str]]:
    """The key and the value of a comment that speaks to the runner."""
    match = DIRECTIVE.match(line)
    if match is None or match.group(1).decode() not in KNOWN:
        return None
    return match.group(1).decode(), (match.group(2) or b"").decode()


def read_test(path: Path, name: str) -> Test:
    """Reads the comments of a script.  Its first line must say what it shows."""
    test = Test(name, path, stored=path.with_suffix(".out"))
    lines = path.read_bytes().splitlines()
    if not lines or not re.match(rb"# \S", lines[0]) or directive(lines[0]):
        raise BadTest("the first line must be a comment that says what the script shows")
    for line in lines:
        found = directive(line)
        if found:
            apply_directive(test, *found)
    return test


def load_cases(path: Path, scratch: Path) -> Iterable[Test]:
    """The tests that tests/<room>/cases.py makes.  Each is written into a directory of its own."""
    room = path.parent.name
    spec = importlib.util.spec_from_file_location(f"cases_{room}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for case in module.cases():
        case = dict(case)
        directory = scratch / room / case["name"]
        directory.mkdir(parents=True)
        script = directory / (case["name"] + ".dl")
        source = case.pop("source")
        script.write_bytes(source if isinstance(source, bytes) else source.encode())
        name = case.pop("name")
        test = Test(f"{room}/{name}", script, cwd=directory, stored=path.parent / "made" / f"{name}.out")
        for key, value in case.items():
            setattr(test, key, value)
        yield test


def load_programs() -> Iterable[Test]:
    """The benchmark programs, at sizes that take no time, and the kernels on arrays."""
    for folder in ("programs", "objects", "library", "defeat"):
        programs = ROOT / "bench" / folder
        sizes = json.loads((programs / "sizes.json").read_text())
        for name, by_use in sizes.items():
            stored = TESTS / "programs" / f"{name}.out"
            yield Test(f"{folder}/{name}", programs / f"{name}.dl", args=[str(by_use["test"])], stored=stored)
    kernels = ROOT / "bench" / "arrays"
    for name, by_use in json.loads((kernels / "sizes.json").read_text()).items():
        script, stored = kernels / f"{name}.dl", TESTS / "programs" / "arrays" / f"{name}.out"
        needs = "libopenblas.so.0" if "np.linalg." in script.read_text() else ""
        yield Test(f"arrays/{name}", script, args=[str(x) for x in by_use["test"]], stored=stored,
                   extension="ndarray", needs=needs, oracle_modules=TESTS / "ndarray" / "oracle")


def find_tests(scratch: Path, complaints: List[str]) -> List[Test]:
    tests = []
    for path in sorted([*TESTS.glob("*/*.dl"), *TESTS.glob("*/*/*.dl")]):
        if path.parent == GOLDEN:
            continue
        name = str(path.relative_to(TESTS).with_suffix(""))
        try:
            tests.append(read_test(path, name))
            if tests[-1].without:
                tests[-1].hidden = scratch / "hidden" / tests[-1].without
                tests[-1].hidden.mkdir(parents=True, exist_ok=True)
                (tests[-1].hidden / tests[-1].without).touch()
        except (BadTest, ValueError) as why:
            complaints.append(f"{name}: {why}")
    for path in sorted(TESTS.glob("*/cases.py")):
        tests.extend(load_cases(path, scratch))
    tests.extend(load_programs())
    return tests


def select(tests: List[Test], patterns: List[str]) -> List[Test]:
    """Tests whose name or path contains one of the patterns; a pattern that is a file outside the
    suite becomes a test of its own."""
    if not patterns:
        return tests
    chosen = []
    for pattern in patterns:
        path = Path(pattern)
        inside = path.resolve().is_relative_to(TESTS) if path.exists() else True
        if path.is_file() and not inside:
            chosen.append(Test(str(path), path.resolve(), cwd=path.resolve().parent))
            continue
        if path.is_file():
            pattern = str(path.resolve().relative_to(TESTS).with_suffix(""))
        elif path.is_dir() and inside:
            pattern = f"{path.resolve().relative_to(TESTS)}/"
        chosen.extend(t for t in tests if (pattern in t.name or pattern in t.short_name) and t not in chosen)
    return chosen


# ---- Expectations ---------------------------------------------------------------------------------


class Expectations:
    """Finds what a test must do: live from CPython, stored, or from the script's comments."""

    def __init__(self, python: Optional[str], seed: int = 0, live_turns: int = 1, keep: Optional[Path] = None):
        """What CPython says is kept in the directory `keep`, for other runs on the same sources (.ci/run).  It is asked
        about one in `live_turns` of the scripts for which something is stored."""
        self.python = python
        self.seed = seed
        self.live_turns = live_turns
        self.keep = keep
        self.live = 0
        self.kept = 0
        self.stored = 0
        self.importable: Dict[str, bool] = {}  # the modules that extensions stand in for

    def can_ask(self, test: Test) -> bool:
        """Is there a CPython that has what the script imports?"""
        if self.python is None or not test.extension:
            return self.python is not None
        if test.extension not in self.importable:
            found = oracle.can_import(self.python, test.extension, test.oracle_modules)
            self.importable[test.extension] = found
            if not found:
                print(f"{self.python} has no module for extension {test.extension}: stored expectations are used.")
        return self.importable[test.extension]

    def of(self, test: Test) -> Optional[Result]:
        """The full expected result; None where only the comments say something."""
        if test.skip_oracle:
            return None
        if self.can_ask(test):
            found = oracle.load(self.kept_file(test), test.cwd) if self.keep else None
            if found is not None:
                self.kept += 1
                return found
            found = self.load_stored(test) if turn(test, self.seed, self.live_turns) else None
            if found is not None:
                return found
            self.live += 1
            said = oracle.ask(self.python, test.script, test.args, test.cwd, test.timeout * 2, test.oracle_modules)
            if self.keep and not said.timed_out:
                self.remember(test, said)
            return said
        return self.load_stored(test)

    def load_stored(self, test: Test) -> Optional[Result]:
        found = oracle.load(test.stored, test.cwd) if test.stored else None
        if found is not None:
            self.stored += 1
        return found

    def kept_file(self, test: Test) -> Path:
        return self.keep / test.name.replace("/", "_")

    def remember(self, test: Test, said: Result) -> None:
        """Other runs may read and write at the same time.  What the stored form cannot say, and what names a directory
        that other runs do not have, is asked again."""
        written = self.keep / f"{os.getpid()}.{threading.get_ident()}"
        oracle.store(written, said, test.cwd, whole=True)
        if oracle.load(written, test.cwd) == said and os.fsencode(test.cwd.resolve()) not in written.read_bytes():
            written.replace(self.kept_file(test))


def stale(test: Test, said: Result) -> List[str]:
    """The complaint if what is stored for a test is not what CPython says: without CPython, it must give the same."""
    if test.stored is None or oracle.agree(oracle.load(test.stored, test.cwd), said, test.cwd):
        return []
    return ["what is stored beside the script is not what CPython says: run tests/run.py --store"]


def last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").rstrip("\n").splitlines()
    return lines[-1] if lines else ""


def diff(what: str, expected: oracle.Text, got: bytes) -> List[str]:
    if isinstance(expected, oracle.Hashes):
        return diff_hashes(what, expected, got)
    lines = list(
        difflib.unified_diff(
            expected.decode(errors="backslashreplace").splitlines(),
            got.decode(errors="backslashreplace").splitlines(),
            f"expected {what}", f"{what} of dynvm", lineterm="", n=2,
        )
    )
    if not lines:
        lines = [f"{what} differs in white space at the end: expected {expected[-20:]!r}, got {got[-20:]!r}"]
    if len(lines) > MAX_DIFF_LINES:
        lines = lines[:MAX_DIFF_LINES] + [f"... {len(lines) - MAX_DIFF_LINES} more lines"]
    return lines


def diff_hashes(what: str, expected: oracle.Hashes, got: bytes) -> List[str]:
    """What is stored is not the text that should be there, but where it is another one."""
    at = expected.difference(got)
    lines = got.decode(errors="backslashreplace").splitlines()[at : at + oracle.BLOCK]
    return [f"{what} is not what is stored from line {at + 1} on, which begins so:", *lines,
            "(with a CPython 3.11, this shows the difference)"]


def differ(expected: oracle.Text, got: bytes, tolerance: float = 0) -> bool:
    """Whether two outputs differ, but for numbers that are as near as this to each other (0: not even these)."""
    if oracle.is_same(expected, got) or not tolerance or isinstance(expected, oracle.Hashes):
        return not oracle.is_same(expected, got)
    ours, theirs = NUMBER.split(got.decode(errors="replace")), NUMBER.split(expected.decode(errors="replace"))
    if len(ours) != len(theirs):
        return True
    return any(a != b and not (i % 2 and math.isclose(float(a), float(b), rel_tol=tolerance))
               for i, (a, b) in enumerate(zip(ours, theirs)))


def check_comments(test: Test, got: Result) -> List[str]:
    """Differences from what the comments in the script say."""
    problems = []
    if test.expect is not None:
        expected = "".join(line + "\n" for line in test.expect).encode()
        if got.stdout != expected:
            problems += diff("stdout", expected, got.stdout)
    if test.expect_error and test.expect_error not in last_line(got.stderr):
        problems.append(f"expected the error '{test.expect_error}', got '{last_line(got.stderr)}'")
    status = test.expect_status
    if status is None and test.expect_error:
        status = 1
    if status is None and test.skip_oracle:
        status = 0
    if status is not None and got.status != status:
        problems.append(f"expected exit status {status}, got {got.status}")
    return problems


def check(test: Test, expected: Optional[Result], got: Result, emulated: bool = False) -> List[str]:
    """The lines of the report about one run; none if it did what it must.  A run that was emulated had the C library of
    another processor, whose functions round in other places."""
    tolerance = test.libm if emulated else 0
    problems = []
    if got.timed_out:
        return [f"timed out after {test.timeout:g} s"]
    if any(mark in got.stderr for mark in SANITIZER_MARKS):
        return ["a sanitizer complains:"] + got.stderr.decode(errors="replace").splitlines()[:MAX_DIFF_LINES]
    if got.crashed:
        problems.append(got.describe())
    if expected is not None:
        if differ(expected.stdout, got.stdout, tolerance):
            problems += diff("stdout", expected.stdout, got.stdout)
        stderr = got.stderr
        if isinstance(expected.stderr, oracle.Hashes):
            stderr = oracle.without_directory(stderr, test.cwd)
        if differ(expected.stderr, stderr):
            problems += diff("stderr", expected.stderr, stderr)
        if got.status != expected.status and not got.crashed:
            problems.append(f"expected exit status {expected.status}, got {got.status}")
    problems += check_comments(test, got)
    if problems and expected is None and got.stderr and not test.expect_error:
        problems += ["stderr:"] + got.stderr.decode(errors="replace").splitlines()[-5:]
    return problems


# ---- Variants -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    level: str
    form: str = ""
    stress: str = ""
    reach: str = ""  # of the analysis: --nama
    lockstep: str = ""  # the level, or reach, that it is compared with
    prefix: Tuple[str, ...] = ()

    @property
    def label(self) -> str:
        words = [self.level, self.form, self.stress, self.reach, f"lockstep with {self.lockstep}" if self.lockstep else "", *self.prefix[:1]]
        return " ".join(w for w in words if w)

    def options(self) -> List[str]:
        options = [f"--level={self.level}"]
        if self.lockstep:
            options.append(f"--lockstep={self.lockstep}")
        if self.form:
            options.append(f"--form={self.form}")
        if self.stress:
            options.append(f"--stress={self.stress}")
        if self.reach:
            options.append(f"--nama={self.reach}")
        return options


class Machine:
    """The dynvm under test and what it can do."""

    def __init__(self, path: Path, build: Path, only_levels: List[str], only_forms: List[str],
                 kernels: str = "", runner: Tuple[str, ...] = ()):
        self.path = path
        library = build / "tests" / "forks.so"  # (not for arm64, and not where exit() writes what was covered)
        self.forks = library if library.exists() and not runner else None
        self.local = threading.local()
        self.servers: List[Forks] = []
        self.runner = runner  # an emulator and its options, for a program of another processor
        own = build / "tests" / "extensions"  # those of users dynvm finds itself
        self.extensions = (own, build / "ext")
        self.env = oracle.clean_environment(
            DYNVM_PATH=str(own), OPENBLAS_NUM_THREADS="1",  # (each processor has a script to run)
            # (What was freed 16 MB ago may be used again: with the 256 of ASan a run touches ten times the pages.)
            ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16")
        if kernels:
            self.env["DYNVM_NDARRAY_MACHINE"] = kernels
        self.levels = tuple(only_levels or LEVELS)
        self.forms = [f for f in (only_forms or FORMS) if self.can(f"--form={f}")]
        if not self.forms:
            self.forms = [""]
        self.mixed = len(self.forms) == 2 and self.can("--form=mixed")
        self.lockstep = self.can("--lockstep")
        self.stresses = self.can("--stress=quicken")
        self.reaches = self.can("--nama=loop")

    def forms_for(self, stress: str) -> List[str]:
        """Guards and exits fail in trampoline form alone (vm/run/engine.h)."""
        return self.forms[-1:] if "guard" in stress or "exit" in stress else self.forms

    def has(self, extension: str) -> bool:
        return not extension or any((place / f"{extension}.so").exists() for place in self.extensions)

    def can(self, option: str) -> bool:
        return self.run([option, "-c", "pass"], ROOT, 30).status == 0

    def finds(self, needed: str) -> bool:
        """A module, or a library: libNAME.so.N.  (Libraries of another processor are not looked for.)"""
        if ".so." not in needed:
            return not needed or self.run(["-c", f"import {needed}"], ROOT, 30).status == 0
        try:
            return not self.runner and ctypes.CDLL(needed) is not None
        except OSError:
            return False

    def run(self, arguments: List[str], cwd: Path, timeout: float, prefix: Tuple[str, ...] = ()) -> Result:
        slower = EMULATED if self.runner else 1
        if self.forks and not prefix:
            return self.run_each([arguments], cwd, timeout, leaks=True)[0]
        return oracle.run_process([*prefix, *self.runner, str(self.path), *arguments], cwd, self.env, timeout * slower)

    def run_each(self, lines: List[List[str]], cwd: Path, timeout: float, leaks: bool) -> List[Result]:
        """In copies of one process.  `leaks`: where a sanitizer looks for them, it should."""
        if not hasattr(self.local, "server"):
            self.local.server = Forks(self.path, self.forks, self.env)
            self.servers.append(self.local.server)
        return self.local.server.run(lines, cwd, timeout, leaks)

    def close(self) -> None:
        """(Then the processor time of all runs is known.)"""
        for server in self.servers:
            server.close()

    def variants(self, quick: bool) -> "Variants":
        """Plain: each level in the first form, those below nama by turns, the highest in the other form, one under stress, one in
        lockstep; if it is to be quick, nama and, more rarely, generic.  The others: all that take turns."""
        first, last = self.forms[0], self.forms[-1]
        plain = [Variant(level, first) for level in self.levels] + [Variant(self.levels[-1], last)]
        others = [Variant(level, form) for level in self.levels for form in self.forms[1:]]
        others += [Variant(level, "mixed") for level in self.levels if self.mixed]
        if quick:
            others += plain
            plain = [Variant(self.levels[0], first), Variant(self.levels[-1], first), Variant(self.levels[-1], last)]
        levels = [level for level in self.levels if level != "generic"]
        if self.stresses and levels:
            plain.append(Variant(levels[-1], first, QUICKENED))
            others += [Variant(level, form, s) for level in levels for s in STRESSES for form in self.forms_for(s)]
        if self.lockstep and len(self.levels) > 1:
            pairs = [Variant(level, reach=reach, lockstep=other) for level, reach, other in LOCKSTEPS]
            if not quick:
                plain.append(pairs[0])
            others += pairs
        if self.reaches and "nama" in self.levels:
            stresses = ("", STRESS_OF_REACHES) if self.stresses else ("",)
            others += [Variant("nama", self.forms_for(stress)[0], stress, reach) for stress in stresses for reach in REACHES]
        plain = list(dict.fromkeys(plain))
        return Variants(plain, [v for v in others if v not in plain], QUICK_TURNS if quick else TURNS,
                        rare=(QUICK_RARE if quick else RARE) if self.levels == LEVELS else ((), 1))


def wanted(test: Test, variant: Variant) -> bool:
    if variant.level not in test.levels:
        return False
    if variant.lockstep and (variant.level, variant.reach, variant.lockstep) != LOCKSTEPS[0] and test.room not in LOCKSTEP_ROOMS:
        return False
    if variant.lockstep and any(o.startswith("--instruction-limit") for o in test.options):
        return False  # the levels count rounds of a loop differently, so one of them ends first
    if test.forms:
        return variant.form in test.forms and not variant.stress
    return test.stress or not (variant.stress or variant.lockstep or variant.form == "mixed")


def turn(test: Test, seed: int, turns: int) -> int:
    """Below `turns`; each once in as many seeds in a row, and with one seed another for each script."""
    return (zlib.crc32(test.name.encode()) + seed) % turns


@dataclass
class Variants:
    """The variants that every script runs in, and those that take turns."""

    plain: List[Variant]
    others: List[Variant]
    turns: int
    seed: Optional[int] = None  # whose turn it is; None for all
    rare: Tuple[Tuple[str, ...], int] = ((), 1)  # levels whose plain variants take turns, too, and how many turns

    def of(self, test: Test) -> List[Variant]:
        """The variants that a test runs in, one at least: a script for other levels runs at the first of its own.  One that asks
        for certain forms gets all of them."""
        others = [v for v in self.others if wanted(test, v)]
        levels, turns = self.rare
        rests = [level for i, level in enumerate(levels) if self.seed is not None and turn(test, self.seed, turns) != i]
        plain = [v for v in self.plain if v.level not in rests and wanted(test, v)] or others[:1]
        if not plain and self.plain:
            own = replace(self.plain[0], level=test.levels[0])
            return [own] if wanted(test, own) else []
        others = [v for v in others if v not in plain]
        if self.seed is not None and not test.forms:
            others = others[turn(test, self.seed, self.turns) :: self.turns]
        return plain + others


def seed_of_checkout() -> int:
    """The number of commits, so that each commit has another turn; that of the day where git tells nothing."""
    try:
        told = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        return int(told.stdout)
    except (OSError, subprocess.CalledProcessError):
        return int(time.time()) // 86400


# ---- The run --------------------------------------------------------------------------------------


@dataclass
class Outcome:
    test: Test
    runs: int
    failures: Dict[Tuple[str, ...], List[str]]  # the report's lines -> labels of variants


def run_test(machine: Machine, test: Test, variants: Variants, expectations: Expectations) -> Outcome:
    expected = expectations.of(test)
    failures: Dict[Tuple[str, ...], List[str]] = {}
    if expected is not None and expected.timed_out:
        return Outcome(test, 0, {("the oracle timed out",): ["oracle"]})
    if expected is not None:
        wrong = [] if expected.hashed else check_comments(test, expected)
        if wrong:
            failures[tuple(wrong)] = ["the script's own comments against the oracle"]
        wrong = stale(test, expected) if expectations.can_ask(test) and not expected.hashed else []
        if wrong:
            failures[tuple(wrong)] = ["the oracle"]
    if expected is None and not test.skip_oracle and not has_comments(test):
        failures[("no expectation: run tests/run.py --store where CPython 3.11 is installed",)] = ["-"]
        return Outcome(test, 0, failures)
    chosen = variants.of(test)
    lines = [[*variant.options(), *test.options, test.script, *test.args] for variant in chosen]
    limit = ("sh", "-c", f'ulimit -s {test.c_stack}; exec "$@"', "sh") if test.c_stack else ()
    if test.hidden:
        limit += ("env", f"LD_LIBRARY_PATH={test.hidden}")
    if machine.forks and not limit and not any(variant.prefix for variant in chosen):
        results = machine.run_each(lines, test.cwd, test.timeout, turn(test, variants.seed or 0, LEAK_TURNS) == 0)
    else:
        results = [machine.run(line, test.cwd, test.timeout * (30 if variant.prefix else 1), limit + variant.prefix)
                   for line, variant in zip(lines, chosen)]
    for variant, got in zip(chosen, results):
        if variant.prefix and got.status == 99:
            problems = ["valgrind complains:"] + got.stderr.decode(errors="replace").splitlines()[:MAX_DIFF_LINES]
        else:
            problems = check(test, expected, got, bool(machine.runner))
        if problems:
            failures.setdefault(tuple(problems), []).append(variant.label)
    return Outcome(test, len(chosen), failures)


def has_comments(test: Test) -> bool:
    return test.expect is not None or bool(test.expect_error) or test.expect_status is not None


def report(outcome: Outcome) -> None:
    for lines, labels in outcome.failures.items():
        shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if len(labels) > 6 else "")
        print(f"FAIL {outcome.test.name}  [{shown}]")
        for line in lines:
            print(f"    {line}")
    sys.stdout.flush()


def run_all(machine: Machine, tests: List[Test], variants: Variants, expectations: Expectations,
            jobs: int) -> List[str]:
    """Runs all tests and returns the names of those that failed.  Says how far it is: all the time on a terminal, and now and
    then in a file."""
    start, runs, failed = time.time(), 0, []
    told = start
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, Progress(len(tests), "scripts") as shown:
        futures = [pool.submit(run_test, machine, t, variants, expectations) for t in tests]
        for future in concurrent.futures.as_completed(futures):
            outcome = future.result()
            runs += outcome.runs
            if outcome.failures:
                failed.append(outcome.test.name)
                shown.clear()
            report(outcome)
            shown.step(f"{len(failed)} failed" if failed else "")
            if not shown.shown and time.time() - told > PROGRESS:
                told = time.time()
                print(shown.line(), flush=True)
    said = "all variants" if variants.seed is None else f"seed {variants.seed}"
    print(f"{len(tests)} scripts, {runs} runs ({said}), {time.time() - start:.1f} s")
    if expectations.python is None:
        skipped = sum(1 for t in tests if not t.skip_oracle)
        print(f"No CPython 3.11 found: {skipped} live comparisons skipped, "
              f"{expectations.stored} stored expectations used.")
    else:
        print(f"{expectations.live} live comparisons with {expectations.python}, {expectations.kept} that an earlier run has kept, "
              f"{expectations.stored} stored expectations.")
    return sorted(failed)


# ---- Stored expectations and golden listings ------------------------------------------------------


def store_all(tests: List[Test], python: Optional[str]) -> bool:
    if python is None:
        print("--store needs a CPython 3.11", file=sys.stderr)
        return False
    fine = True
    for test in tests:
        if test.skip_oracle or test.stored is None:
            continue
        result = oracle.ask(python, test.script, test.args, test.cwd, test.timeout * 2, test.oracle_modules)
        wrong = check_comments(test, result)
        if wrong or result.timed_out or result.crashed:
            fine = False
            print(f"{test.name}: " + "; ".join(wrong or [result.describe()]))
            continue
        if not oracle.agree(oracle.load(test.stored, test.cwd), result, test.cwd):
            oracle.store(test.stored, result, test.cwd, whole=bool(test.libm))  # which is compared number by number
            print(f"stored {test.stored.relative_to(ROOT)}")
    return fine


def golden_listings(machine: Machine, script: Path) -> Iterable[Tuple[Path, List[str]]]:
    """The listings of a golden script and the arguments that make them: `dis` at every level, and
    `explain` and `stats` at inca if its comment `# reports:` names them."""
    path = str(script.relative_to(ROOT))
    for level in machine.levels:
        after = [] if level == "generic" else ["--after-run"]
        yield script.with_name(f"{script.stem}.{level}.txt"), ["dis", *after, f"--level={level}", path]
    reports = re.search(r"^# reports: (.*)$", script.read_text(), re.MULTILINE)
    for report in reports.group(1).split() if reports and "inca" in machine.levels else []:
        yield script.with_name(f"{script.stem}.{report}.txt"), [report, "--level=inca", path]


def run_golden(machine: Machine, patterns: List[str], accept: bool) -> bool:
    """Compares what dynvm says of every golden script with the listings beside it."""
    wrong, count = 0, 0
    for script in progress(sorted(GOLDEN.glob("*.dl")), "golden scripts"):
        if patterns and not any(p in f"golden/{script.stem}" for p in patterns):
            continue
        for listing, command in golden_listings(machine, script):
            count += 1
            got = machine.run(command, ROOT, 60)
            if got.status != 0:
                wrong += 1
                print(f"FAIL golden/{listing.name}: {got.describe()}: {last_line(got.stderr)}")
            elif accept:
                if not listing.exists() or listing.read_bytes() != got.stdout:
                    listing.write_bytes(got.stdout)
                    print(f"wrote {listing.relative_to(ROOT)}")
            elif not listing.exists():
                wrong += 1
                print(f"FAIL golden/{listing.name}: no listing; read it and use --accept")
            elif listing.read_bytes() != got.stdout:
                wrong += 1
                print(f"FAIL golden/{listing.name}")
                print("\n".join("    " + line for line in diff("listing", listing.read_bytes(), got.stdout)))
    print(f"golden listings: {count - wrong} passed, {wrong} failed")
    return wrong == 0


# ---- Command line ---------------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run dynvm's test scripts.")
    parser.add_argument("patterns", nargs="*", help="rooms, names or files; all if none is given")
    parser.add_argument("--dynvm", type=Path, default=ROOT / "build" / "dynvm", help="the program to test")
    parser.add_argument("--quick", action="store_true", help="fewer variants, no slow scripts")
    parser.add_argument("--level", action="append", default=[], choices=LEVELS, help="only this level (and scripts for others, at theirs)")
    parser.add_argument("--form", action="append", default=[], choices=FORMS, help="only this form")
    parser.add_argument("--kernels", choices=("baseline", "avx2"), help="ndarray's loops for an older machine")
    parser.add_argument("--runner", default="", help="an emulator with its options, for a program of another processor")
    parser.add_argument("--all", action="store_true", help="every variant, whosever turn it is")
    parser.add_argument("--seed", type=int, help="which variants have their turn; the number of commits if not given")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="one in N of the scripts, which take turns, too")
    parser.add_argument("--no-stress", action="store_true", help="the plain levels and forms alone")
    parser.add_argument("--valgrind", action="store_true", help="run a subset under valgrind instead")
    parser.add_argument("--no-oracle", action="store_true", help="use stored expectations alone")
    parser.add_argument("--args", default="", help="arguments for scripts named by file")
    parser.add_argument("--store", action="store_true", help="write CPython's results beside the scripts")
    parser.add_argument("--accept", action="store_true", help="rewrite the golden listings")
    parser.add_argument("--no-golden", action="store_true", help="leave the golden listings out")
    parser.add_argument("--only-golden", action="store_true", help="nothing but the golden listings")
    parser.add_argument("--list", action="store_true", help="print the names of the tests")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    seed = seed_of_checkout() if options.seed is None else options.seed
    keep = Path(os.environ["DYNVM_TESTS_KEEP"]) if os.environ.get("DYNVM_TESTS_KEEP") else None
    live_turns = int(os.environ.get("DYNVM_TESTS_LIVE", "1"))
    complaints: List[str] = []
    with tempfile.TemporaryDirectory(prefix="dynvm-tests-") as scratch:
        tests = select(find_tests(Path(scratch), complaints), options.patterns)
        for test in tests:
            if options.args and test.stored is None:
                test.args = options.args.split()
        if complaints:
            print("\n".join(complaints), file=sys.stderr)
            return 2
        if options.list:
            print("\n".join(t.name for t in tests))
            return 0
        python = None if options.no_oracle else oracle.find_cpython()
        if python is None:  # without the oracle, scripts that nothing is stored for show nothing
            tests = [t for t in tests if t.stored or t.skip_oracle or has_comments(t)]
        if options.store:
            return 0 if store_all(tests, python) else 1
        if not os.access(options.dynvm, os.X_OK):
            print(f"{options.dynvm} is not a program; build it first", file=sys.stderr)
            return 2
        program = options.dynvm.resolve()
        machine = Machine(program, program.parent, options.level, options.form,
                          options.kernels, tuple(shlex.split(options.runner)))
        fine = True
        golden_only = options.only_golden or options.accept
        for missing in sorted({t.extension for t in tests if not machine.has(t.extension)}):
            print(f"Extension {missing} was not built: its scripts are skipped.")
        tests = [t for t in tests if machine.has(t.extension)]
        for missing in sorted(m for m in {t.needs for t in tests} if not machine.finds(m)):
            print(f"{missing} is not here: its scripts are skipped.")
            tests = [t for t in tests if t.needs != missing]
        if not machine.extensions[0].exists():
            print("The extensions of tests/ext were not built: their scripts are skipped.")
            tests = [t for t in tests if t.room != "ext"]
        if machine.runner:  # (whose stack a limit would be)
            tests = [t for t in tests if not t.c_stack]
        if not golden_only:
            if options.quick:
                tests = [t for t in tests if t.quick]
            tests = [t for t in tests if turn(t, seed, options.part) == 0]
            variants = machine.variants(options.quick)
            variants.seed = None if options.all else seed
            if options.no_stress:
                variants = Variants([v for v in variants.plain if not v.stress and not v.lockstep], [], variants.turns)
            if options.valgrind:
                # (PCRE2's machine code reads 16 bytes at a time, also behind the end of a text.)
                tests = [t for t in tests if t.valgrind and t.quick and t.needs != "re"]
                plain = [Variant(level, machine.forms[0], prefix=tuple(VALGRIND)) for level in machine.levels]
                variants = Variants(plain, [], variants.turns)
            if not tests and not any("golden" in p for p in options.patterns):
                print("no such test", file=sys.stderr)
                return 2
            if tests:
                failed = run_all(machine, tests, variants, Expectations(python, seed, live_turns, keep), options.jobs)
                fine = not failed
                if failed:
                    again = [word for word in sys.argv[1:] if word not in ("--no-golden", *options.patterns)]
                    print("Failed: " + " ".join(failed))
                    print("Again:  " + shlex.join(["tests/run.py", *again, "--seed", str(seed), "--no-golden", *failed]))
                print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
        if not options.no_golden and not options.valgrind and (golden_only or not options.patterns or any(
                "golden" in p for p in options.patterns)):
            fine = run_golden(machine, [p for p in options.patterns if "golden" in p], options.accept) and fine
        machine.close()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
