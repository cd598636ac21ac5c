"""What the checks of all labs share: compiling, running, and saying what is wrong.

1. A check never changes the lab's folder: what it makes lies in a scratch folder, which is removed.
2. A complaint says what was done, what was expected and what came instead.
3. No check depends on how fast the machine is: times are shown, and never judged.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
ROOT = COURSE.parent.parent
TIME_LIMIT = 15  # seconds for one run


class Wrong(Exception):
    """What makes going on useless: nothing compiles, nothing runs."""


class Lab:
    def __init__(self, folder: Path, dynvm: Path, scratch: Path):
        self.folder, self.dynvm, self.scratch = folder, dynvm, scratch
        self.complaints, self.notes = [], []
        self.environment = dict(os.environ)

    def expect(self, holds: bool, complaint: str) -> bool:
        if not holds and complaint not in self.complaints:
            self.complaints.append(complaint)
        return holds

    def note(self, text: str) -> None:
        self.notes.append(text)

    def command(self, command: list, cwd: Path = ROOT) -> subprocess.CompletedProcess:
        words = [str(word) for word in command]
        try:
            done = subprocess.run(words, cwd=cwd, env=self.environment, timeout=TIME_LIMIT, capture_output=True)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{short(words)} does not end within {TIME_LIMIT} seconds") from None
        done.stdout, done.stderr = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        return done

    def run(self, command: list, cwd: Path = ROOT) -> str:
        """What it prints; it must end well."""
        done = self.command(command, cwd)
        if done.returncode < 0:
            why = "it reads or writes where no memory is" if done.returncode == -11 else last(done.stderr)
            raise Wrong(f"{short(command)} is ended by signal {-done.returncode}: {why}")
        if done.returncode > 0:
            raise Wrong(f"{short(command)} ends with status {done.returncode}:\n{last(done.stderr or done.stdout)}")
        return done.stdout

    def compile(self, source: str, name: str, *flags: str) -> Path:
        made = self.scratch / name
        command = [*compiler(), "-std=c11", "-O2", "-Wall", "-Wextra", *flags, "-o", made, self.folder / source]
        done = self.command(command, self.folder)
        if done.returncode:
            raise Wrong(f"{source} does not compile:\n{done.stderr.replace(str(self.folder) + '/', '')}")
        return made

    def extension(self, source: str) -> Path:
        """An extension with native twins; the folder that it is in, for DYNVM_PATH."""
        words = self.compiling("ext/template/template.c")
        made = self.scratch / (Path(source).stem + ".so")
        done = self.command([*words, "-shared", "-o", made, self.folder / source])
        if done.returncode:
            raise Wrong(f"{source} does not compile:\n{done.stderr.replace(str(self.folder) + '/', '')}")
        return made

    def compiling(self, source: str) -> list:
        """The words with which the build compiles a source, up to the names of files."""
        row = next(row for row in self.compiled() if row["file"].endswith(source))
        words = [word for word in shlex.split(row["command"]) if word != "-Werror"]
        return words[:words.index("-o")]

    def compiled(self) -> list:
        """What the build says of all sources: file, command, directory."""
        self.need_dynvm()
        list_file = self.build / "compile_commands.json"
        if not list_file.is_file():
            raise Wrong(f"there is no {list_file}: this lab needs the folder in which dynvm was built")
        return json.loads(list_file.read_text())

    @property
    def build(self) -> Path:
        return self.dynvm.parent

    def program(self, *words, cwd: Path = ROOT) -> str:
        """What dynvm prints."""
        self.need_dynvm()
        return self.run([self.dynvm, *words], cwd)

    def report(self, *words, cwd: Path = ROOT) -> dict:
        """What a tool of dynvm says with --json."""
        return json.loads(self.program(*words, cwd=cwd))

    def need_dynvm(self) -> None:
        if not self.dynvm.is_file():
            raise Wrong(f"there is no {self.dynvm}: build dynvm first, as the README of the repository says")


def compiler() -> list:
    return shlex.split(os.environ.get("CC", "cc"))


def short(command: list) -> str:
    """A command as a student would write it: files by their names alone."""
    return shlex.join(Path(word).name if "/" in str(word) else str(word) for word in command)


def last(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().split("\n")[-lines:])


def figures(text: str) -> dict:
    """`result 5 turns 7` as a dict."""
    pairs = re.findall(r"([a-z]+) (-?[\d.]+)", text)
    return {name: float(value) if "." in value else int(value) for name, value in pairs}
