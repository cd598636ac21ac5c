"""Runs the test functions of one of NumPy's test files, each with all its parameters, and appends what came of them to a file.

suite.py --numpy starts it, on CPython and on dynvm alike: numpy_worker.py MODULE FIRST COUNT RESULTS CUT, as worker.py. MODULE is
as `numpy.lib.tests.test_packbits`. On dynvm the file is the one in the folder CUT (suite.py, split_numpy), and NumPy's modules are
modules with the names of ndarray; a name that it does not have is worker.py's _Absent.
"""

import contextlib
import gc
import json
import os
import sys
import tempfile
import traceback
import types

import pytest_helper
import worker

FOLDER = "/usr/lib/python3/dist-packages"


def _proxy(name, of):
    """One of NumPy's modules on dynvm: it has what `of` has, and for the rest worker.py's _Absent."""

    def find(attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        try:
            return getattr(of, attribute)
        except AttributeError:
            return sys.modules.get(f"{name}.{attribute}") or worker._absent(f"{name}.{attribute}")

    module = types.ModuleType(name)
    module.__path__ = []
    module.__getattr__ = find
    return module


class _Refused:
    """What stands for a definition that a file could not make: whoever wants anything of it gets the error."""

    def __init__(self, name, error):
        self.__name__, self.refusal = name, error

    def __call__(self, *args, **options):
        raise self.refusal

    def __iter__(self):
        raise self.refusal

    def __getattr__(self, name):
        if name.startswith("__") or name in ("pytestmark", "refusal"):
            raise AttributeError(name)
        raise self.refusal

    def __get__(self, instance, owner):
        return self


def refused(name, error):
    return _Refused(name, error)


def stopped_import(name):
    """The module or name that an import statement did not find."""
    return worker._absent(name)


@contextlib.contextmanager
def _temporary_path(*args, **options):
    with tempfile.TemporaryDirectory() as folder:
        yield folder + "/file" + options.get("suffix", "")


@contextlib.contextmanager
def _nothing():
    """A context, and a decorator."""
    yield


def _add_helpers(numpy):
    """What NumPy's tests use of it that no program does."""
    testing, compat = sys.modules["numpy.testing"], sys.modules["numpy.compat"]
    for name in "IS_PYPY IS_WASM IS_PYSTON HAS_REFCOUNT HAS_LAPACK64 IS_MUSL".split():
        setattr(testing, name, False)
    testing.tempdir, testing.temppath, testing.break_cycles = tempfile.TemporaryDirectory, _temporary_path, gc.collect
    private = testing._private.utils = sys.modules["numpy.testing._private.utils"]
    private._no_tracing = lambda function: function
    private.requires_memory = lambda free_bytes: pytest_helper.mark.skip(reason="much memory")
    compat.asbytes = lambda text: text if isinstance(text, bytes) else str(text).encode("latin1")
    compat.asstr = lambda text: text.decode("latin1") if isinstance(text, bytes) else str(text)
    compat.os_fspath, compat.long, compat.unicode = os.fspath, int, str
    numpy._NoValue = object()
    numpy._get_promotion_state = lambda: "weak"
    numpy._set_promotion_state = lambda state: None
    numpy._no_nep50_warning = _nothing


def _prepare_dynvm(module, cut):
    import numpy

    for name in sorted(NUMPY_MODULES):
        parts = name.split(".")
        topic = "testing" if parts[-1] in ("testutils", "utils") else parts[1] if len(parts) == 2 else ""
        of = getattr(numpy, topic) if topic in ("linalg", "random", "fft", "testing") else numpy
        sys.modules[name] = _proxy(name, of)
        if len(parts) > 2:
            setattr(sys.modules[name.rpartition(".")[0]], parts[-1], sys.modules[name])
    for name in "core lib compat".split():
        setattr(numpy, name, sys.modules["numpy." + name])
    _add_helpers(numpy)
    folder = module.rpartition(".")[0]
    tests = sys.modules[folder] = types.ModuleType(folder)
    tests.__path__ = [cut, f"{FOLDER}/{folder.replace('.', '/')}"]


NUMPY_MODULES = """numpy.core numpy.core.numeric numpy.core.umath numpy.core.multiarray numpy.core.fromnumeric numpy.core.numerictypes
    numpy.core._multiarray_umath numpy.core._multiarray_tests numpy.core._umath_tests numpy.core._rational_tests numpy.core.overrides
    numpy.core.function_base numpy.core.shape_base numpy.core.getlimits numpy.core.arrayprint numpy.core._exceptions numpy.core._internal
    numpy.core.einsumfunc numpy.core._machar numpy.core._dtype numpy.core._operand_flag_tests
    numpy.lib numpy.lib.function_base numpy.lib.stride_tricks numpy.lib.index_tricks numpy.lib.twodim_base numpy.lib.type_check
    numpy.lib.arraypad numpy.lib.arraysetops numpy.lib.histograms numpy.lib.nanfunctions numpy.lib.shape_base numpy.lib.ufunclike
    numpy.lib.npyio numpy.lib.polynomial numpy.lib.mixins numpy.lib.recfunctions numpy.lib.utils numpy.lib.format numpy.lib._iotools
    numpy.linalg numpy.linalg.linalg numpy.random numpy.fft numpy.testing numpy.testing._private numpy.testing._private.utils numpy.compat
    numpy.ma numpy.ma.testutils numpy.polynomial numpy.polynomial.polynomial numpy.polynomial.polyutils numpy.matrixlib numpy.typing""".split()


class _Strategies(types.SimpleNamespace):
    """What stands for the package hypothesis, which Debian's NumPy does not need: tests with random values are skipped."""

    def __getattr__(self, name):
        return lambda *args, **options: _Strategies()

    def __call__(self, *args, **options):
        return self

    __or__ = __call__


def _given(*args, **options):
    return lambda function: lambda self=None: pytest_helper.skip("hypothesis")


def _prepare_hypothesis():
    for name in ("hypothesis", "hypothesis.strategies", "hypothesis.extra", "hypothesis.extra.numpy"):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        module.given = _given
        module.__getattr__ = lambda attribute: _Strategies()
    sys.modules["hypothesis"].strategies = sys.modules["hypothesis.strategies"]


def _tests(module):
    for name, found in list(vars(module).items()):
        if name.startswith("test") and callable(found) or name.startswith("Test") and isinstance(found, _Refused):
            yield None, name
        elif name.startswith("Test") and isinstance(found, type):
            for method in dir(found):
                if method.startswith("test") and callable(getattr(found, method)):
                    yield found, method


def main():
    name, first, count, results, cut = sys.argv[1:6]
    sys.argv[1:] = []
    sys.modules["pytest"] = pytest_helper
    _prepare_hypothesis()
    if sys.implementation.name != "cpython":
        _prepare_dynvm(name, cut)
    with open(results, "a", buffering=1) as log:
        try:
            __import__(name)
            tests = sorted(_tests(sys.modules[name]), key=lambda one: (one[0].__name__ if one[0] else "", one[1]))
        except BaseException as error:
            log.write(json.dumps([-1, name, "import", f"{type(error).__name__}: {error}".splitlines()[0]]) + "\n")
            raise
        worker.importing = False
        for number, (owner, test) in enumerate(tests):
            if number < int(first) or int(count) >= 0 and number >= int(first) + int(count):
                continue
            identity = f"{owner.__name__}.{test}" if owner else test
            log.write(json.dumps([number, identity]) + "\n")
            outcome, cause = "pass", ""
            try:
                pytest_helper.run(sys.modules[name], owner, test)
            except pytest_helper.Skipped as error:
                outcome, cause = "skip", str(error)
            except BaseException as error:
                traceback.print_exc()
                outcome = "fail"
                words = [line for line in str(error).splitlines() if line.strip()]
                cause = f"{type(error).__name__}: {words[0] if words else ''}"
            log.write(json.dumps([number, identity, outcome, cause[:300]]) + "\n")
        log.write("[0]\n")


if __name__ == "__main__":
    main()
