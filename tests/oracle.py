"""The oracle: CPython 3.11 runs a script, and what it prints is what dynvm must print.

Where no CPython 3.11 is at hand, a stored expectation stands in for it: `script.out` beside the script,
or tests/<room>/made/ for a script that cases.py makes.  The stored form is the standard output, followed,
where there is anything to say, by a section for standard error and one for the exit status, each
introduced by a line that starts with MARK.  Tracebacks name a script by its absolute path; the stored form
leaves the working directory out, so that it is the same in every checkout.  Of a text of LONG bytes or more
only hashes are stored, one for each BLOCK of lines, so that a difference still has its place.
"""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import List, Optional, Tuple, Union

MARK = b"#### "
LONG = 2000
BLOCK = 8
VERSION = "3.11"
CANDIDATES = ("/usr/bin/python3", "python3.11", "python3")


@dataclass(frozen=True)
class Hashes:
    """What is stored of a long text."""

    blocks: Tuple[bytes, ...]

    @classmethod
    def of(cls, text: bytes) -> "Hashes":
        lines = text.splitlines(keepends=True)
        blocks = (b"".join(lines[i : i + BLOCK]) for i in range(0, len(lines), BLOCK))
        return cls(tuple(hashlib.sha256(block).hexdigest()[:10].encode() for block in blocks))

    def difference(self, text: bytes) -> Optional[int]:
        """The line of the text, from 0, at which the first block begins that is another one; None: it is the same text."""
        other = Hashes.of(text).blocks
        if other == self.blocks:
            return None
        same = [a == b for a, b in zip(self.blocks, other)]
        return BLOCK * (same.index(False) if False in same else len(same))


Text = Union[bytes, Hashes]


def is_same(stored: Text, text: bytes) -> bool:
    return stored.difference(text) is None if isinstance(stored, Hashes) else stored == text


@dataclass(frozen=True)
class Result:
    """What one run of a program did, as far as anybody outside can tell.  (Hashes are only in what was stored.)"""

    stdout: Text
    stderr: Text
    status: int
    timed_out: bool = False

    @property
    def crashed(self) -> bool:
        return self.status < 0

    @property
    def hashed(self) -> bool:
        return isinstance(self.stdout, Hashes) or isinstance(self.stderr, Hashes)

    def describe(self) -> str:
        if self.timed_out:
            return "timed out"
        if self.crashed:
            return f"killed by signal {-self.status}"
        return f"exit status {self.status}"


def clean_environment(**extra: str) -> dict:
    """The environment of every run: nothing of the caller's that could change an output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DYNVM", "LC_", "LANG"))}
    env.update(LC_ALL="C.UTF-8", PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1")
    env.update(extra)
    return env


def run_process(command: List[str], cwd: Path, env: dict, timeout: float) -> Result:
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Result(out, err, process.returncode, timed_out=True)
    return Result(out, err, process.returncode)


def without_directory(stderr: bytes, cwd: Path) -> bytes:
    """Paths in tracebacks and warnings (`DIRECTORY/x.dl:3: RuntimeWarning: ...`) become relative."""
    directory = os.fsencode(cwd.resolve()) + b"/"
    stderr = stderr.replace(b'File "' + directory, b'File "')
    return re.sub(rb"(?m)^" + re.escape(directory) + rb"(?=.*:\d+: \w+Warning: )", b"", stderr)


def with_directory(stderr: bytes, cwd: Path) -> bytes:
    """The inverse: paths that are relative get their directory back."""
    directory = os.fsencode(cwd.resolve())
    stderr = re.sub(rb'(?m)^(  File ")(?![/<])', lambda m: m.group(1) + directory + b"/", stderr)
    return re.sub(rb"(?m)^(?=[^/<\s].*:\d+: \w+Warning: )", lambda m: directory + b"/", stderr)


def find_cpython() -> Optional[str]:
    """The first CPython 3.11 among the candidates, or None."""
    check = "import platform; print(platform.python_implementation(), platform.python_version())"
    for name in CANDIDATES:
        path = shutil.which(name)
        if path is None:
            continue
        try:
            told = subprocess.run([path, "-c", check], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if told.stdout.decode(errors="replace").startswith(f"CPython {VERSION}."):
            return path
    return None


def environment(modules: Optional[Path]) -> dict:
    """The oracle's environment: `modules` is a directory of modules that it alone sees."""
    return clean_environment(PYTHONPATH=str(modules)) if modules else clean_environment()


def ask(python: str, script: str, args: List[str], cwd: Path, timeout: float,
        modules: Optional[Path] = None) -> Result:
    # dynvm has the warnings of the compiler and of extensions, not those of the library.
    # (A filter with a message makes CPython import re, and then what is alive at the end dies in another order.)
    of_extension = ["-W", "default:elementwise comparison failed:DeprecationWarning",
                    "-W", "default:Passing `np.nan`:DeprecationWarning:__main__"] if modules else []
    command = [python, "-W", "ignore", "-W", "default::SyntaxWarning", "-W", "default::RuntimeWarning", *of_extension]
    return run_process([*command, script, *args], cwd, environment(modules), timeout)


def can_import(python: str, name: str, modules: Optional[Path]) -> bool:
    command = [python, "-c", f"import {name}"]
    return run_process(command, modules or Path.cwd(), environment(modules), 60).status == 0


def encode(result: Result) -> bytes:
    """The stored form of a result."""
    text = result.stdout
    if result.stderr or result.status:
        if text and not text.endswith(b"\n"):
            text += b"\n" + MARK + b"no newline\n"
        if result.stderr:
            text += MARK + b"stderr\n" + result.stderr
        text += MARK + b"status %d\n" % result.status
    return text


def in_hashes(name: bytes, text: bytes) -> bytes:
    blocks = Hashes.of(text).blocks
    rows = [b" ".join(blocks[i : i + BLOCK]) + b"\n" for i in range(0, len(blocks), BLOCK)]
    return MARK + b"hashes of " + name + b"\n" + b"".join(rows)


def encode_short(result: Result) -> bytes:
    """The stored form in which long texts are hashes."""
    long_out, long_error = len(result.stdout) >= LONG, len(result.stderr) >= LONG
    text = encode(replace(result, stdout=b"" if long_out else result.stdout, stderr=b"" if long_error else result.stderr))
    text += in_hashes(b"stdout", result.stdout) if long_out else b""
    return text + (in_hashes(b"stderr", result.stderr) if long_error else b"")


def decode(stored: bytes) -> Result:
    """The result whose stored form this is."""
    parts = {b"stdout": b"", b"stderr": b"", b"hashes of stdout": None, b"hashes of stderr": None}
    name, status = b"stdout", 0
    for line in stored.splitlines(keepends=True):
        if not line.startswith(MARK):
            parts[name] += line
            continue
        words = line[len(MARK) :].split()
        if words[0] == b"no":
            parts[b"stdout"] = parts[b"stdout"][:-1]
        elif words[0] == b"status":
            status = int(words[1])
        else:
            name = b" ".join(words)
            parts[name] = b""

    def part(name: bytes) -> Text:
        hashes = parts[b"hashes of " + name]
        return parts[name] if hashes is None else Hashes(tuple(hashes.split()))

    return Result(part(b"stdout"), part(b"stderr"), status)


def load(path: Path, cwd: Path) -> Optional[Result]:
    """What is stored, with paths as this checkout has them (hashes are of texts without its directory)."""
    if not path.exists():
        return None
    stored = decode(path.read_bytes())
    if isinstance(stored.stderr, Hashes):
        return stored
    return replace(stored, stderr=with_directory(stored.stderr, cwd))


def store(path: Path, result: Result, cwd: Path, whole: bool = False) -> None:
    result = replace(result, stderr=without_directory(result.stderr, cwd))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(result) if whole else encode_short(result))


def agree(stored: Optional[Result], said: Result, cwd: Path) -> bool:
    """Is what was stored what was said?"""
    if stored is None or stored.status != said.status or said.timed_out:
        return False
    error = without_directory(said.stderr, cwd) if isinstance(stored.stderr, Hashes) else said.stderr
    return is_same(stored.stdout, said.stdout) and is_same(stored.stderr, error)
