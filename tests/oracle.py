"""The oracle: CPython 3.11 runs a script, and what it prints is what dynvm must print.

Where no CPython 3.11 is at hand, a stored expectation stands in for it: `script.out` beside the script,
or tests/<room>/made/ for a script that cases.py makes.  The stored form is the standard output, followed,
where there is anything to say, by a section for standard error and one for the exit status, each
introduced by a line that starts with MARK.  Tracebacks name a script by its absolute path; the stored form
leaves the working directory out, so that it is the same in every checkout.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import List, Optional

MARK = b"#### "
VERSION = "3.11"
CANDIDATES = ("/usr/bin/python3", "python3.11", "python3")


@dataclass(frozen=True)
class Result:
    """What one run of a program did, as far as anybody outside can tell."""

    stdout: bytes
    stderr: bytes
    status: int
    timed_out: bool = False

    @property
    def crashed(self) -> bool:
        return self.status < 0

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


def can_import(python: str, name: str, modules: Path) -> bool:
    command = [python, "-c", f"import {name}"]
    return run_process(command, modules, environment(modules), 60).status == 0


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


def decode(stored: bytes) -> Result:
    """The result whose stored form this is."""
    parts = {b"stdout": b""}
    name, status = b"stdout", 0
    for line in stored.splitlines(keepends=True):
        if not line.startswith(MARK):
            parts[name] += line
            continue
        words = line[len(MARK):].split()
        if words[0] == b"stderr":
            name = b"stderr"
            parts[name] = b""
        elif words[0] == b"no":
            parts[b"stdout"] = parts[b"stdout"][:-1]
        elif words[0] == b"status":
            status = int(words[1])
    return Result(parts[b"stdout"], parts.get(b"stderr", b""), status)


def load(path: Path, cwd: Path) -> Optional[Result]:
    if not path.exists():
        return None
    stored = decode(path.read_bytes())
    return replace(stored, stderr=with_directory(stored.stderr, cwd))


def store(path: Path, result: Result, cwd: Path) -> None:
    result = replace(result, stderr=without_directory(result.stderr, cwd))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(result))
