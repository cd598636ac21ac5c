"""What the experiments of bench/papers.py are made of: programs, times with intervals, counts.

1. Times are CPU times (user + system) of whole processes, less that of one that does everything but the work.  The
   columns of an experiment take turns within each run, so that a slow minute of the machine hits all of them.
2. A ratio is that of two times of the same run; told is the median of the runs, and an interval by order statistics: so
   many of the smallest and the largest ratios are left out that the rest holds the true median with at least 95 %.  No
   distribution is assumed.  Fewer than six runs cannot give 95 %; the table says what they give.
3. All columns of a program must print the same, or the experiment fails.
4. Counts come from `dynvm stats` and `dynvm view`; they are the same in every run and have no interval.
"""

import concurrent.futures
import json
import math
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Tuple, TypeVar

from progress import Progress, progress
from run import measure

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
TIMEOUT = 600.0
SHORTEST = 0.002  # seconds; what takes less over start-up is not told from it
T = TypeVar("T")


class Interval(NamedTuple):
    """The median of some ratios, and where the true one is (module, 2)."""

    value: float
    low: float
    high: float


class Share(float):
    """Of a whole, which is 1."""


@dataclass(frozen=True)
class Program:
    """A program with its arguments, and one that does all but its work: its time is subtracted."""

    name: str
    arguments: Tuple[str, ...]
    idle: Tuple[str, ...] = ("-c", "pass")


@dataclass(frozen=True)
class Column:
    """A way to run programs: a command, and what it finds in its environment."""

    name: str
    command: Tuple[str, ...]
    environment: Dict[str, str] = field(default_factory=dict, hash=False)


class Wrong(Exception):
    """A measurement that means nothing, and why."""


def left_out(runs: int) -> Tuple[int, float]:
    """How many ratios to leave out at either end, and how likely the rest has the true median between its ends."""

    def outside(out: int) -> float:
        return 2 * sum(math.comb(runs, i) for i in range(out + 1)) / 2**runs

    most = max((out for out in range(runs // 2) if outside(out) <= 0.05), default=0)
    return most, 1 - outside(most)


def interval(ratios: List[float]) -> Interval:
    ordered = sorted(ratios)
    out, _ = left_out(len(ordered))
    return Interval(statistics.median(ordered), ordered[out], ordered[len(ordered) - 1 - out])


class Times:
    """Seconds of each program in each column, run by run; without what start-up takes (0: no more than that)."""

    def __init__(self) -> None:
        self.seconds: Dict[Tuple[str, str], List[float]] = {}
        self.idle: Dict[Tuple[Tuple[str, ...], str], float] = {}

    def work(self, program: Program, column: str) -> List[float]:
        idle = self.idle[program.idle, column]
        return [s - idle for s in self.seconds[program.name, column]]

    def long_enough(self, program: Program, columns: List[str]) -> bool:
        return all(min(self.work(program, column)) >= SHORTEST for column in columns)

    def ratios(self, program: Program, above: str, below: str) -> List[float]:
        return [a / b for a, b in zip(self.work(program, above), self.work(program, below))]

    def means(self, programs: List[Program], above: str, below: str) -> List[float]:
        """The geometric mean over the programs in each run."""
        rows = [self.ratios(program, above, below) for program in programs]
        return [math.exp(sum(math.log(r) for r in of_run) / len(rows)) for of_run in zip(*rows)]


def run_all(programs: List[Program], columns: List[Column], runs: int) -> Times:
    times, agreed = Times(), {}
    idles = list(dict.fromkeys(program.idle for program in programs))
    turns = [(idle, "", column) for idle in idles for column in columns for _ in range(max(3, runs // 3))]
    turns += [(program.arguments, program, column) for _ in range(runs) for program in programs for column in columns]
    with Progress(len(turns), "runs") as shown:
        for arguments, program, column in turns:
            shown.now(f"{program.name if program else 'start-up'}, {column.name}")
            seconds, _, digest, failure = measure([*column.command, *arguments], TIMEOUT, column.environment)
            if failure:
                raise Wrong(f"{' '.join([*column.command, *arguments])}: {failure}")
            if not program:
                times.idle[arguments, column.name] = min(seconds, times.idle.get((arguments, column.name), math.inf))
            else:
                times.seconds.setdefault((program.name, column.name), []).append(seconds)
                if agreed.setdefault(program.name, digest) != digest:
                    raise Wrong(f"{program.name} prints something else than before in column {column.name}")
            shown.step()
    return times


# ---- Counts ----


def stats(command: List[str]) -> dict:
    """The JSON of a tool of dynvm; what the program prints goes to stderr."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    if done.returncode:
        raise Wrong(f"{' '.join(command)}: {done.stderr.decode(errors='replace')[-300:]}")
    return json.loads(done.stdout)


def seen(dynvm: str, options: List[str], arguments: Tuple[str, ...]) -> dict:
    """The data of a page of `dynvm view`: stats, and the regions with how often each of their cells was executed."""
    with tempfile.NamedTemporaryFile(suffix=".html") as page:
        command = [dynvm, "view", *options, "-o", page.name, *arguments]
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)
        if done.returncode:
            raise Wrong(f"{' '.join(arguments)}: {done.stderr.decode(errors='replace')[-300:]}")
        text = Path(page.name).read_text()
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S).group(1))


def each(work: List[T], one: Callable[[T], dict], jobs: int) -> List[dict]:
    """The results in the order of the work."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(progress(pool.map(one, work), "programs", len(work)))


# ---- Programs ----


def sizes_of(folder: Path) -> Dict[str, Dict[str, object]]:
    return json.loads((folder / "sizes.json").read_text())


def suite(folder: Path, use: str, pattern: str = "") -> List[Program]:
    """The programs of a folder with a sizes.json that match; those of bench/arrays have several arguments."""
    import_only = ("-c", "import sys; import ndarray")
    programs = []
    for name, by_use in sizes_of(folder).items():
        of_arrays = "small" in by_use
        size = by_use[{"quick": "small", "count": "small"}.get(use, use) if of_arrays else use]
        arguments = size if isinstance(size, list) else [size]
        programs.append(Program(f"{folder.name}/{name}", (str(folder / f"{name}.dl"), *(str(a) for a in arguments)),
                                import_only if of_arrays else ("-c", "pass")))
    return [program for program in programs if pattern in program.name]
