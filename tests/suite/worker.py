"""Runs the test methods of one module of CPython's test suite, each by itself, and appends what came of them to a file.

suite.py starts it, on CPython and on dynvm alike: worker.py MODULE FIRST COUNT RESULTS CUT, where
COUNT tests from number FIRST on are run (of -1: all). On dynvm, what they import at their top and dl does not have is an _Absent while they are imported; a test
that then uses it fails with the words of the missing module. A file in
the folder CUT is run in place of the one of that name.

Invariants:
1. RESULTS gets one line of JSON before a test ([number, id]) and one behind it ([number, id, outcome, cause]), so that
   the parent knows which test a dead or slow process was in.
2. On CPython nothing is replaced.
"""

import doctest
import io
import json
import re
import sys
import types
import unittest

LIBRARY = "/usr/lib/python3.11"  # where CPython has test and unittest/test
importing = True


class _Absent(type):
    """The metaclass of what stands for an absent module and its names: it may be a base, a decorator, an operand."""

    def __getattr__(cls, name):
        if name.startswith("__") and name != "__import__":
            raise AttributeError(name)
        return _absent(f"{cls._name}.{name}")

    def __call__(cls, *arguments, **options):
        if importing:
            return _absent(f"{cls._name}()")
        raise ModuleNotFoundError(f"{cls._name} is not part of dl")

    def _combine(cls, other=None, *more):
        return cls.__call__()

    __neg__ = __invert__ = __and__ = __rand__ = __add__ = __radd__ = __lshift__ = __rlshift__ = __mul__ = __rmul__ = __or__ = __ror__ = __sub__ = __getitem__ = __enter__ = _combine

    def __exit__(cls, *ignored):
        pass

    def __iter__(cls):
        return iter(())


def _absent(name):
    return _Absent("absent", (), {"_name": name})


def refuse(word):
    """What the functions do that were cut out of a file."""
    if importing:
        return _absent(word)
    raise SyntaxError(f"{word!r} is not part of dl")


def add_absent_module(name):
    module = types.ModuleType(name)
    module.__path__ = []
    module.__file__ = f"/absent/{name}.py"
    module.__getattr__ = _Absent.__getattr__.__get__(_absent(name))
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
    return module


def _add_absent(message):
    """Puts an _Absent where the import has failed with that message; whether there is something to be put anywhere."""
    missing = re.fullmatch(r"No module named '(.*)'|module '(.*)' is not part of dl", message)
    if missing:
        name = missing[1] or missing[2]
        parent = sys.modules.get(name.rpartition(".")[0])
        fits = name not in sys.modules and (missing[2] or getattr(parent, "__file__", "").startswith("/absent/"))
        if fits:
            add_absent_module(name)
        return fits
    if message.startswith("'NoneType' object has no attribute") and "_testcapi" not in sys.modules:
        add_absent_module("_testcapi")  # the file thinks that only CPython has not got it
        return True
    named = re.match(r"cannot import name '(?P<name>.*?)' from '(?P<module>.*?)'", message)
    named = named or re.match(r"(?P<module>[\w.]+)\.(?P<name>\w+) is not part of dl", message)
    named = named or re.match(r"module '(?P<module>.*?)' has no attribute '(?P<name>\w+)'", message)
    if not named or named["module"] not in sys.modules or named["name"] in vars(sys.modules[named["module"]]):
        return False
    if f"{named['module']}.{named['name']}" == "unittest.mock":
        add_absent_module("unittest.mock")
    elif named["name"] == "__file__":
        sys.modules[named["module"]].__file__ = f"{LIBRARY}/{named['module']}.py"
    else:
        setattr(sys.modules[named["module"]], named["name"], _absent(f"{named['module']}.{named['name']}"))
    return True


def _try(function, argument):
    """function(argument), again and again while something absent can be put where it fails."""
    while True:
        try:
            return function(argument)
        except (ImportError, AttributeError) as error:
            if sys.implementation.name == "cpython" or not _add_absent(str(error)):
                raise


def import_module(name):
    _try(__import__, name)
    return sys.modules[name]


def _prepare_dynvm(cut):
    """Makes the packages of CPython's tests known, and gives test.support its helper whose own file needs importlib."""
    for name in ("test", "unittest.test"):
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [cut, f"{LIBRARY}/{name.replace('.', '/')}"]
    unittest.test = sys.modules["unittest.test"]
    for name in ("_imp", "importlib", "importlib.util", "importlib.machinery", "test.support.testresult"):
        add_absent_module(name)
    replacement = types.ModuleType("io")
    for name in {*dir(io), *io.__all__}:
        setattr(replacement, name, getattr(io, name))
    sys.modules["io"] = replacement
    add_absent_module("_testinternalcapi").get_configs = lambda: {"config": {"code_debug_ranges": 1}}
    add_absent_module("asyncio")
    sys.modules["asyncio"].set_event_loop_policy = lambda policy: None
    sys.modules["_io"] = sys.modules["_pyio"] = replacement
    codecs = add_absent_module("codecs")
    codecs.register = codecs.unregister = lambda search: None
    support = import_module("test.support")
    helper = import_module("test.support.warnings_helper")  # looks for the registry of its caller, which dl has not got
    helper.sys = types.SimpleNamespace(modules=sys.modules, _getframe=lambda depth: types.SimpleNamespace(f_globals={}))
    import_module("test.support.threading_helper")
    support.threading_helper.threading_setup = lambda: ()
    support.threading_helper.threading_cleanup = lambda *counts: None
    import_module("test.support.os_helper")._can_chmod = True  # it would ask whether there is os.chown
    support.import_helper = sys.modules["test.support.import_helper"] = import_module("import_helper")


def _cause(text):
    """The last line of a traceback that begins with the name of an exception, which is its message's first line."""
    lines = [line for line in text.splitlines() if line[:1].isalpha() and not line.startswith(("Traceback", "During", "The above"))]
    for line in lines:
        name = line.split(":")[0]
        if name.replace(".", "").isidentifier() and (":" in line or name.endswith(("Error", "Exception"))):
            return line
    return lines[-1] if lines else "no message"


def _list_tests(suite):
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for test in suite:
            yield from _list_tests(test)


make_suite = doctest.DocTestSuite


def _load_tests(module):
    """The tests of a module. In dl, DocTestSuite() does not know who calls it; where load_tests() fails, there are others."""
    load = unittest.defaultTestLoader.loadTestsFromModule
    if sys.implementation.name != "cpython":
        doctest.DocTestSuite = lambda of=None, **options: make_suite(of or module, **options)
        prepare = module.__dict__.get("setUpModule")
        if prepare:  # as a part of the import, where absent things do not matter yet
            _try(lambda ignored: prepare(), None)
            del module.setUpModule
        if "tearDownModule" in module.__dict__:
            del module.tearDownModule
    tests = list(_list_tests(load(module)))
    if tests and type(tests[0]).__name__ == "_FailedTest" and sys.implementation.name != "cpython":
        if _add_absent(str(tests[0]._exception)):
            return _load_tests(module)
        del module.load_tests
        tests = list(_list_tests(load(module)))
    return tests


def main():
    global importing
    name, first, count, results, cut = sys.argv[1:6]
    sys.argv[1:] = []
    if sys.implementation.name != "cpython":
        _prepare_dynvm(cut)
    with open(results, "a", buffering=1) as log:
        try:
            module = import_module(name)
            tests = _try(_load_tests, module)
        except BaseException as error:
            log.write(json.dumps([-1, name, "import", f"{type(error).__name__}: {error}".splitlines()[0]]) + "\n")
            raise
        importing = False
        for number, test in enumerate(tests):
            if number < int(first) or int(count) >= 0 and number >= int(first) + int(count):
                continue
            log.write(json.dumps([number, test.id()]) + "\n")
            result = unittest.TestResult()
            try:
                unittest.TestSuite([test]).run(result)
                failed = result.errors + result.failures
                outcome = "fail" if failed else "skip" if result.skipped else "pass"
                cause = _cause(failed[0][1]) if failed else result.skipped[0][1] if result.skipped else ""
                if result.unexpectedSuccesses:
                    outcome, cause = "fail", "an unexpected success"
            except BaseException as error:
                outcome, cause = "fail", f"{type(error).__name__}: {error}"
            log.write(json.dumps([number, test.id(), outcome, str(cause)[:300]]) + "\n")
        log.write("[0]\n")


if __name__ == "__main__":
    main()
