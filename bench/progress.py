"""How far long work is: one line on a terminal, nothing where stderr is none.

    for row in progress(rows, "rows"): ...

    with Progress(len(work), "runs") as shown:
        shown.step("what is done next")
"""

import shutil
import sys
import time
from typing import Iterable, Iterator, Optional, TypeVar

T = TypeVar("T")
PAUSE = 0.1  # seconds between two lines


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Progress:
    """Steps of `total`, which may be unknown (None); text that is printed meanwhile wants a clear() before it."""

    def __init__(self, total: Optional[int] = None, unit: str = "") -> None:
        self.total, self.unit, self.done, self.what = total, unit, 0, ""
        self.shown, self.start, self.last = sys.stderr.isatty(), time.monotonic(), 0.0

    def line(self) -> str:
        taken = time.monotonic() - self.start
        parts = [f"{self.done}/{self.total if self.total is not None else '?'} {self.unit}".rstrip()]
        if self.done and taken > 0:
            rate = self.done / taken
            parts.append(f"{rate:.1f}/s" if rate >= 0.1 else f"{1 / rate:.0f} s each")
            if self.total:
                parts.append(f"{clock((self.total - self.done) / rate)} left")
        return ", ".join(parts) + (f"  {self.what}" if self.what else "")

    def show(self) -> None:
        now = time.monotonic()
        if self.shown and now - self.last >= PAUSE:
            self.last = now
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + self.line()[:width])
            sys.stderr.flush()

    def now(self, what: str) -> None:
        """Says what is being done."""
        self.what = what
        self.show()

    def step(self, what: str = "", count: int = 1) -> None:
        """So much more is done, and what is next."""
        self.done += count
        self.now(what or self.what)

    def clear(self) -> None:
        if self.shown and self.last:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self.last = 0.0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


def progress(items: Iterable[T], unit: str = "", total: Optional[int] = None) -> Iterator[T]:
    """The items one by one."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore
    with Progress(total, unit) as shown:
        shown.show()
        for item in items:
            yield item
            shown.step()
