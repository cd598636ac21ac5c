"""What all makers of programs share: a seeded choice, and lines with indentation."""

import contextlib
import random


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines = []
        self.indent = 0

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def upto(self, most: int) -> int:
        """1 to most."""
        return self.random.randrange(1, most + 1)

    def line(self, text: str = "") -> None:
        self.lines.append("    " * self.indent + text if text else "")

    def put(self, text: str) -> None:
        """Lines of their own, already indented among themselves."""
        for line in text.strip("\n").split("\n"):
            self.line(line)

    @contextlib.contextmanager
    def under(self, header: str):
        """A compound statement's header; its body is what is written inside."""
        self.line(header)
        self.indent += 1
        yield
        self.indent -= 1
