#!/usr/bin/env python3
"""Shapes, strides and sizes of ndarray that no program has: views, broadcasts, reshapes and sizes near powers of two.

    shapes.py --dynvm build-asan/dynvm --first 0 --count 200000 [--seconds S] [--numpy]
    shapes.py --show SEED

Programs are made by seed, a few hundred run in one process, which AddressSanitizer and UBSan watch: a process that dies, or
says anything on stderr, or takes too long, is a finding, and is narrowed to one program.  With --numpy CPython with NumPy runs
those programs, too, that NumPy itself survives (half of the seeds), and what they print must be the same.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PER_PROCESS, SECONDS, MEMORY = 250, 120, "128M"
DTYPES = ("float64", "float64", "int64", "bool", "uint8", "int32", "float32", "complex128")
PRELUDE = """
import ndarray as np

FEW = 1 << 12
WRITES = True  # also to what other views show: NumPy refuses or warns where elements share a place


def failed(e):
    # (All that shapes can raise; the words are for other tests.)
    for k in (MemoryError, OverflowError, ZeroDivisionError, IndexError, ValueError, TypeError, BufferError, AttributeError):
        if isinstance(e, k):
            return k.__name__
    return 'other'


def look(x):
    # The corners of any array, and all of a small one: where these are wrong, they lie outside.
    if not isinstance(x, np.ndarray):
        return x
    if x.size == 0 or not x.ndim:
        return x.tolist() if x.size else x.shape
    if WRITES and x.flags.writeable and x.size < FEW:
        x[(-1,) * x.ndim] = x[(0,) * x.ndim]
    if x.size < FEW:
        return x.shape, x.tolist() if x.size < 10 else [x.ravel()[::5].tolist(), int((x != 0).sum())]
    return x.shape, x[(0,) * x.ndim], x[(-1,) * x.ndim]


def small(*all):
    for x in all:
        if isinstance(x, np.ndarray) and x.size > FEW:
            raise ValueError


def t(f, old):
    try:
        new = f()
        print('=', [look(x) for x in new[:9]] if isinstance(new, (list, tuple)) else look(new))
    except Exception as e:
        print('=', failed(e))
        return old
    if isinstance(new, (list, tuple)) and new:
        new = new[-1]
    return new if isinstance(new, np.ndarray) else old


"""


class Maker:
    """One program: arrays a, b, c, and some statements that make others of them."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        # NumPy does not survive all sizes, and its random numbers and errors for wild ones are accidents.
        self.tame = seed % 2 == 0

    def pick(self, all):
        return self.random.choice(all)

    def chance(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def huge(self) -> int:
        x = (1 << self.random.randrange(7, 64)) + self.random.randrange(-2, 3)
        return min(x, 2**63 - 1)

    def count(self) -> int:
        """A count of elements, most of them good."""
        if self.tame:
            return self.pick((0, 1, 1, 2, 3, 4, 5, 7))
        r = self.random.randrange(20)
        return self.huge() if r < 6 else -self.pick((1, 2, 2**31, 2**62, 2**63)) if r == 6 else self.pick((0, 1, 1, 2, 3, 4, 8))

    def number(self) -> int:
        """A shift, an offset, an index."""
        if self.tame or not self.chance(3):
            return self.random.randrange(-6, 7)
        return self.huge() * self.pick((1, -1))

    def axis(self) -> str:
        return self.pick(("0", "0", "1", "-1", "2", "-2", "None")) if self.tame else self.pick(("0", "1", "-1", "None", str(self.number())))

    def shape(self, most: int = 4) -> str:
        counts = [str(self.count()) for _ in range(self.random.randrange(1, most + 1))]
        return "(" + ", ".join(counts) + ",)"

    def wide(self) -> str:
        """A shape to broadcast to."""
        counts = [str(self.pick((1, 2, 3, 4)) if self.tame or self.chance(2) else self.count()) for _ in range(self.random.randrange(1, 4))]
        return "(" + ", ".join(counts) + ",)" if self.chance(2) else f"({', '.join(counts)},) + x.shape".replace("x", self.name())

    def name(self) -> str:
        return self.pick("abc")

    def bound(self) -> str:
        return "None" if self.chance(3) else str(self.number())

    def step(self) -> str:
        if self.chance(2):
            return "None"
        x = self.number() if self.chance(3) else self.pick((1, -1, 2, -2, 3, 2**60, -(2**60), 2**62, 2**63 - 1, -(2**63)))
        return str(x or 1)

    def part(self) -> str:
        r = self.random.randrange(12)
        if r < 6:
            return f"slice({self.bound()}, {self.bound()}, {self.step()})"
        return ("None", "...", "0", "-1", str(self.number()), f"[0, {self.number()}]")[r - 6]

    def key(self) -> str:
        return "(" + ", ".join(self.part() for _ in range(self.random.randrange(1, 4))) + ",)"

    def begin(self, name: str) -> str:
        dtype = self.pick(DTYPES)
        if not self.tame and self.chance(3):
            return f"    {name} = t(lambda: np.broadcast_to(np.full(1, 7, '{dtype}'), {self.shape()}), np.zeros((3, 4), '{dtype}'))\n"
        shape = self.pick(((3, 4), (4,), (2, 3, 4), (5, 1), (1, 5), (0, 3), (2, 2), (20, 20), (1,), (2, 1, 3, 1)))
        size = 1
        for n in shape:
            size *= n
        return f"    {name} = np.arange({size}).astype('{dtype}').reshape({shape})\n"

    def view(self) -> str:
        x = self.name()
        return self.pick((
            lambda: f"{x}[{self.key()}]", lambda: f"{x}[{self.key()}]", lambda: f"{x}[{self.key()}]",
            lambda: f"{x}.reshape({self.shape()})", lambda: f"{x}.reshape({self.shape(2)[:-1]} -1,), order='{self.pick('CFA')}')",
            lambda: f"np.broadcast_to({x}, {self.wide()})", lambda: f"np.broadcast_to({x}, {self.wide()})",
            lambda: f"np.broadcast_arrays({x}, {self.name()})", lambda: f"np.broadcast_arrays({x}[..., None], {self.name()})",
            lambda: f"{x}.T", lambda: f"{x}[::-1]", lambda: f"np.flip({x}, {self.axis()})", lambda: f"np.rot90({x}, {self.number()})",
            lambda: f"np.expand_dims({x}, {self.axis()})", lambda: f"{x}.squeeze()", lambda: f"np.swapaxes({x}, {self.axis()}, {self.axis()})",
            lambda: f"{x}.diagonal({self.number()})", lambda: f"np.diag({x}, {self.number()})", lambda: f"{x}.real",
            lambda: f"np.split({x}, [{self.number()}, {self.number()}], axis={self.axis()})", lambda: f"np.array_split({x}, {min(self.count(), 99)})",
            lambda: f"np.atleast_3d({x})", lambda: f"np.moveaxis({x}, {self.axis()}, {self.axis()})", lambda: f"{x}[{self.axis()}]",
            lambda: f"np.meshgrid({x}.ravel() if {x}.size < FEW else {x}[..., 0], {self.name()}, copy=False)",
        ))()

    def made(self) -> str:
        n, m = self.count, self.number
        return self.pick((
            lambda: f"np.zeros({self.shape()}, '{self.pick(DTYPES)}')", lambda: f"np.empty({self.shape()}, 'bool') * 0", lambda: f"np.full({self.shape()}, 3)",
            lambda: f"np.eye({n()}, {n()}, {m()})", lambda: f"np.tri({n()}, {n()}, {m()})", lambda: f"np.identity({n()})",
            lambda: f"np.arange({m()}, {m()}, {m() or 1})", lambda: f"np.arange({m()}, {m()}, {m() or 1}.0)", lambda: f"np.linspace(0, 1, {n()})",
            lambda: f"np.indices({self.shape(3)})", lambda: f"np.mgrid[0:{abs(m()) + 1}:{abs(m()) + 1}, 0:3]",
            lambda: f"np.tril_indices({n()}, {m()}, {n()})", lambda: f"np.triu_indices({n()}, {m()})",
            lambda: f"np.unravel_index({abs(m())}, {self.shape(3)})", lambda: f"np.ravel_multi_index(({n()}, {n()}), ({n()}, {n()}))",
            lambda: f"np.bincount([1, 2], minlength={n()})", lambda: f"np.histogram([1.0, 2.0], {n()})[0]",
            lambda: f"np.broadcast_shapes({self.shape()}, {self.shape()})", lambda: f"list(np.ndindex({self.shape(3)}))[:3] if {self.tame} else np.ndindex({self.shape(3)}) and 0",
        ))()

    def changed(self) -> str:
        x, y = self.name(), self.name()
        small = f"small({x}, {y}) or "
        return self.pick((
            lambda: f"np.resize({x}, {self.shape()})", lambda: f"np.repeat({x}, {min(self.count(), 2**40) if self.tame else self.count()})",
            lambda: f"{x}.repeat([{self.count()}, {self.count()}], axis={self.axis()})", lambda: f"np.tile({x}, {self.shape(3)})",
            lambda: f"np.concatenate([{x}, {y}], axis={self.axis()})", lambda: f"np.stack([{x}, {x}, {x}], axis={self.axis()})", lambda: f"np.vstack([{x}] * 3)",
            lambda: f"np.pad({x}, {self.count()})", lambda: f"np.pad({x}, ({self.count()}, {self.count()}), mode='{self.pick(('edge', 'edge' if self.tame else 'wrap', 'reflect'))}')",
            lambda: f"np.roll({x}, {self.number()}, axis={self.axis()})", lambda: f"np.roll({x}, {self.number()})",
            lambda: f"np.tril({x}, {self.number()})", lambda: f"np.triu({x}, {self.number()})", lambda: f"np.diagflat({x}, {self.number()})",
            lambda: f"np.insert({x}, {self.number()}, {y}, axis={self.axis()})", lambda: f"np.delete({x}, {self.number()}, axis={self.axis()})",
            lambda: f"np.take({x}, [{self.number()}, 0], axis={self.axis()})", lambda: f"{x}.put([{self.number()}], 1)", lambda: f"np.kron({x}, {y})",
            lambda: small + f"np.outer({x}, {y})", lambda: small + f"np.einsum('i,j->ij', {x}.ravel(), {y}.ravel())", lambda: small + f"np.tensordot({x}, {y}, 0)",
            lambda: small + f"np.dot({x}, {y})", lambda: small + f"{x} @ {y}", lambda: small + f"np.add({x}[..., None], {y})", lambda: f"{x} + {y}",
            lambda: f"{x} * 2", lambda: f"-{x}", lambda: f"np.add.outer({x}, {y})", lambda: f"np.where({x}, {y}, {x})", lambda: f"np.choose({x}.astype(int) * 0, [{y}, {x}])",
            lambda: f"{x}.copy('{self.pick('CFAK')}')", lambda: f"{x}.astype('{self.pick(DTYPES)}')", lambda: f"{x}.flatten('{self.pick('CF')}')",
            lambda: f"np.zeros_like({x}, '{self.pick(DTYPES)}')", lambda: f"np.ascontiguousarray({x})", lambda: small + f"np.convolve({x}, {y})",
            lambda: small + f"np.sort({x}, axis={self.axis()})", lambda: small + f"{x}.cumsum(axis={self.axis()})", lambda: small + f"{x}.sum(axis={self.axis()})",
            lambda: small + f"{x}.max(axis={self.axis()}, keepdims=True)", lambda: small + f"np.unique({x})", lambda: small + f"np.argwhere({x})",
            lambda: small + f"{x}[{y} > 1]", lambda: small + f"{x}[{y}.astype(int)]", lambda: small + f"np.median({x})", lambda: small + (f"np.ptp({x})" if self.tame else f"np.cov({x})"),
            lambda: small + f"np.searchsorted({x}.ravel(), {y})", lambda: small + f"np.take_along_axis({x}, {x}.astype(int), {self.axis()})",
            lambda: small + f"np.linalg.norm({x})", lambda: small + f"str({x}) and {x}", lambda: small + f"np.logical_and.reduce({x})",
            lambda: small + f"np.gradient({x}.astype(float))", lambda: small + f"np.diff({x}.astype(float), axis={self.axis().replace('None', '-1')})",
        ))()

    def stored(self) -> str:
        x, y = self.name(), self.name()
        return self.pick((
            lambda: f"{x}.__setitem__({self.key()}, 5)", lambda: f"{x}.__setitem__({self.key()}, {y})", lambda: f"setattr({x}, 'shape', {self.shape()})",
            lambda: f"np.fill_diagonal({x}, 1)", lambda: f"small({x}) or {x}.fill(2)", lambda: f"small({x}, {y}) or np.copyto({x}, {y}, casting='unsafe')",
            lambda: f"small({x}) or np.put({x}, {self.number()}, 3)", lambda: f"{x}.flat[{self.number()}]", lambda: f"small({x}) or {x}.item({self.number()})",
        ))()

    def program(self, number: int) -> str:
        text = f"def program_{number}():\n" + "".join(self.begin(x) for x in "abc")
        for _ in range(self.random.randrange(5, 12)):
            what = self.pick((self.view, self.view, self.view, self.made, self.changed, self.changed, self.stored))()
            x = self.name()
            text += f"    {x} = t(lambda: {what}, {x})\n"
        return text + f"\n\nprint('#', {number})\nprogram_{number}()\n\n"


def program(seed: int) -> str:
    return Maker(seed).program(seed)


def run(command: list, seeds: list, seconds: int, variables: dict, writes: bool = True) -> tuple[int, str, str]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write((PRELUDE if writes else PRELUDE.replace("WRITES = True", "WRITES = False")) + "".join(program(s) for s in seeds))
        f.flush()
        try:
            done = subprocess.run([*command, f.name], capture_output=True, text=True, timeout=seconds, env={**os.environ, **variables})
        except subprocess.TimeoutExpired as e:
            return -99, (e.stdout or b"").decode(errors="replace"), "timeout"
    return done.returncode, done.stdout, done.stderr


def failures(dynvm: list, seeds: list, variables: dict) -> list:
    """The seeds, each with what it said, that fail by themselves."""
    status, _, said = run(dynvm, seeds, SECONDS, variables)
    said = "".join(line for line in said.splitlines(True) if "WARNING: AddressSanitizer failed to allocate" not in line)
    said = "" if "RuntimeWarning" in said and not status else said
    if not status and not said:
        return []
    if len(seeds) == 1:
        return [(seeds[0], f"status {status}: {said[:1500]}")]
    half = len(seeds) // 2
    found = failures(dynvm, seeds[:half], variables) + failures(dynvm, seeds[half:], variables)
    return found or [(seeds[0], f"{len(seeds)} programs together, status {status}: {said[:1500]}")]


def differences(dynvm: list, seeds: list, variables: dict) -> list:
    """The seeds whose programs print something else than NumPy."""
    tame = [s for s in seeds if s % 2 == 0]
    oracle = {"PYTHONPATH": str(HERE.parent / "ndarray" / "oracle"), "PYTHONWARNINGS": "ignore"}
    outs = []
    for command, own in ((["/usr/bin/python3", "-W", "ignore"], oracle), (dynvm, variables)):
        _, out, _ = run(command, tame, SECONDS, own, False)
        parts = out.split("# ")[1:]
        outs.append({int(p.split("\n", 1)[0]): p for p in parts})
    return [(s, (outs[0].get(s, "no NumPy"), outs[1].get(s, "no dynvm"))) for s in tame if outs[0].get(s) != outs[1].get(s)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dynvm", default="build-asan/dynvm")
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seconds", type=float, default=1e9)
    options.add_argument("--numpy", action="store_true")
    options.add_argument("--show", type=int)
    given = options.parse_args()
    if given.show is not None:
        print(PRELUDE + program(given.show))
        return 0
    dynvm = [given.dynvm, f"--memory-limit={MEMORY}"]
    variables = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1"}
    end, at, found = time.monotonic() + given.seconds, given.first, 0
    while at < given.first + given.count and time.monotonic() < end and found < 20:
        seeds = list(range(at, min(at + PER_PROCESS, given.first + given.count)))
        for seed, said in failures(dynvm, seeds, variables):
            found += 1
            print(f"{seed}: {said}", flush=True)
        if given.numpy:
            for seed, (wanted, got) in differences(dynvm, seeds, variables):
                found += 1
                print(f"{seed}: NumPy:\n{wanted}\ndynvm:\n{got}", flush=True)
        at = seeds[-1] + 1
    print(f"{at - given.first} programs, {found} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
