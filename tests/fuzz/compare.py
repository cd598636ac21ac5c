"""Runs programs on CPython 3.11 and on dynvm in many variants, many programs per process (warm.py, driver.c)."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

import oracle

HERE = Path(__file__).resolve().parent
ALWAYS = 1 << 0 | 1 << 3 | 1 << 6  # generic, inca and nama in tail form, without stress
OTHER_FORMS = (1, 2, 4, 5, 7, 8)
FIRST_STRESSED, STRESSED = 9, 48
# With these, NumPy multiplies complex numbers with fused multiply-add, and has a less exact absolute value of them.
WIDE = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
# Where Debian has the reference BLAS, also if another one is the default: NumPy's products are ndarray's own with this one.
REFERENCE_BLAS = "/usr/lib/x86_64-linux-gnu/blas"
MOST_OUTPUT = 8 << 20  # bytes; what prints more is skipped: driver.c would keep as much for every variant


def rotating_mask(seed: int) -> int:
    """The variants for a seed: the plain levels, one other form, three under stress; 48 seeds in a row use all."""
    mask = ALWAYS | 1 << OTHER_FORMS[seed % len(OTHER_FORMS)]
    for k in range(3):
        mask |= 1 << FIRST_STRESSED + (seed + k * 17) % STRESSED
    return mask


@dataclass(frozen=True)
class Failure:
    name: str
    variant: int
    kind: str  # output, error, status, slow, signal-N, exit-N
    expected: str  # what CPython printed, on both streams


class Comparer:
    def __init__(self, driver: Path, python: str, scratch: Path, extension: str = "", extensions: Path = HERE,
                 modules: Path = HERE, case: Optional[re.Pattern] = None):
        """With an extension: where dynvm finds it, where CPython finds what stands in for it, and what marks a case."""
        self.case, self.cases = case, 0
        self.driver, self.python, self.scratch = driver, python, scratch
        self.extension, self.modules = extension, modules
        self.environment = self.extension_environment(extensions) if extension else None
        listed = subprocess.run([driver, "--list"], stdout=subprocess.PIPE, check=True, text=True)
        self.labels = listed.stdout.splitlines()
        self.warm = self.start_python()

    def extension_environment(self, extensions: Path) -> Dict[str, str]:
        """What the driver gets with an extension.  There is no OpenBLAS: that adds in another order, which is no failure."""
        (self.scratch / "libopenblas.so.0").touch()  # what is no library cannot be loaded, and ends the search
        return {**os.environ, "DYNVM_PATH": str(extensions), "LD_LIBRARY_PATH": str(self.scratch)}

    def start_python(self) -> subprocess.Popen:
        extra = {}
        command = [self.python, "-W", "ignore", "-W", "default::SyntaxWarning"]
        if self.extension:
            command += ["-W", "default::RuntimeWarning", "-W", "default:elementwise comparison failed:DeprecationWarning"]
            command += ["-W", "default:Passing `np.nan`:DeprecationWarning:__main__"]
            for text in "overflow encountered in cast", "invalid value encountered in cast", "Casting complex values":
                command += ["-W", f"ignore:{text}"]
            extra["PYTHONPATH"] = str(self.modules)
            extra["NPY_DISABLE_CPU_FEATURES"] = WIDE
            extra["LD_LIBRARY_PATH"] = REFERENCE_BLAS
        command += [str(HERE / "warm.py"), self.extension]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.scratch, text=True,
                                env=oracle.clean_environment(**extra))

    def close(self) -> None:
        self.warm.stdin.close()
        self.warm.wait()

    def expected(self, programs: List[Tuple[str, str]]) -> List[Optional[list]]:
        """[stdout, stderr, status] of each (name, source) on CPython; None where it took too much."""
        try:
            self.warm.stdin.write(json.dumps(programs) + "\n")
            self.warm.stdin.flush()
            return json.loads(self.warm.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):  # a program took all of warm.py with it
            self.warm.kill()
            self.warm.wait()
            self.warm = self.start_python()
        if len(programs) == 1:
            return [None]
        return [self.expected([program])[0] for program in programs]

    def compare(self, programs: List[Tuple[str, str]], masks: Dict[str, int],
                admitted: Callable[[list], bool] = lambda expected: True, counted: bool = False) -> Tuple[List[Failure], int]:
        """What differs, and the number of programs that CPython did not finish, that print too much, or whose result is not admitted."""
        records, skipped, texts = [], 0, {}
        for (name, source), result in zip(programs, self.expected(programs)):
            if result is None or len(result[0]) + len(result[1]) > MOST_OUTPUT or not admitted(result):
                skipped += 1
                continue
            out, err = result[0].encode("latin-1"), result[1].encode("latin-1")
            text = source.encode()
            if counted and self.case:
                self.cases += len(self.case.findall(result[0]))
            texts[name] = result[0] + result[1]
            records.append(b"%s %x %d %d %d %d\n" % (
                name.encode(), masks[name], result[2], len(text), len(out), len(err)) + text + out + err)
        # Where a nan stands in a set is chance; where it stands in an array is not, and hides which values were swapped.
        command = [self.driver, "--exact"] if self.extension else [self.driver]
        done = subprocess.run(command, input=b"".join(records), stdout=subprocess.PIPE, cwd=self.scratch,
                              env=self.environment)
        if done.returncode != 0:
            raise RuntimeError(f"the driver ended with status {done.returncode}")
        failures = []
        for line in done.stdout.decode().splitlines():
            name, variant, kind = line.split()
            failures.append(Failure(name, int(variant), kind, texts[name]))
        return failures, skipped
