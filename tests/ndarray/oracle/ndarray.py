"""What `import ndarray` is for CPython: NumPy 1.24 with the promotion rules of NEP 50."""

import os

os.environ["NPY_PROMOTION_STATE"] = "weak"

from numpy import *  # noqa: E402, F401, F403
from numpy import AxisError, abs, all, any, bool_, emath, fft, lib, linalg, max, min, random, round, sum, testing, version  # noqa: E402, F401

if version.version != "1.24.2":
    raise ImportError(f"NumPy 1.24.2 is the oracle, not {version.version}")
