"""What all makers of programs share: a seeded choice, and lines with indentation."""

import contextlib
import random


BITS = ["&", "|", "^"]


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

    def joined(self, a: str, operators, b) -> str:
        """An operation with one of the operators, in brackets."""
        return f"({a} {self.pick(operators)} {b})"

    def while_counting(self, name: str, count: int) -> None:
        """The head of a loop that counts to `count`; what follows is in its body."""
        self.line(f"{name} = 0")
        self.line(f"while {name} < {count}:")
        self.indent += 1
        self.line(f"{name} += 1")

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
