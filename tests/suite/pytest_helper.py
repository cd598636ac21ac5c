"""Stands in for pytest in NumPy's tests, on CPython and dynvm alike: marks, parameters, fixtures, raises, warns.

numpy_worker.py puts it in place of `pytest` and calls run(). What is not here (approx, capsys, plugins) raises AttributeError in
the test that wants it, on both.
"""

import inspect
import itertools
import pathlib
import re
import tempfile
import types
import warnings


class Skipped(Exception):
    """By skip() or a mark."""


def skip(reason="", allow_module_level=False):
    raise Skipped(reason)


def fail(reason="", pytrace=True):
    raise AssertionError(reason)


def importorskip(name, minversion=None, reason=None):
    try:
        return __import__(name)
    except ImportError:
        skip(name)


class _Mark:
    def __init__(self, name, args=(), options=None):
        self.name, self.args, self.options = name, args, options or {}

    def __call__(self, *args, **options):
        if len(args) == 1 and not options and (inspect.isfunction(args[0]) or inspect.isclass(args[0])):
            target = args[0]
            # (A class has those of its bases in its own list.)
            target.pytestmark = [*getattr(target, "pytestmark", ()), self]
            return target
        return _Mark(self.name, args, options)


class _Marks:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Mark(name)


mark = _Marks()


class _Param:
    def __init__(self, values, marks):
        self.values = values
        self.marks = list(marks) if isinstance(marks, (list, tuple)) else [marks]


def param(*values, marks=(), id=None):
    return _Param(values, marks)


class _Fixture:
    def __init__(self, function, options):
        self.function, self.options = function, options
        self.__name__ = function.__name__

    def __get__(self, instance, owner):
        return self


def fixture(*args, **options):
    return _Fixture(args[0], {}) if args and callable(args[0]) else lambda function: _Fixture(function, options)


class _Raises:
    def __init__(self, expected, match):
        self.expected, self.match = expected, match

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            raise AssertionError(f"DID NOT RAISE {self.expected}")
        self.type, self.value = kind, error
        if issubclass(kind, self.expected) and self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError(f"Regex pattern did not match: {self.match!r}, {str(error)!r}")
        return issubclass(kind, self.expected)


def raises(expected, *args, match=None, **options):
    if not args:
        return _Raises(expected, match)
    with _Raises(expected, match) as context:
        args[0](*args[1:], **options)
    return context


class _Warns:
    def __init__(self, expected, match):
        self.expected, self.match = expected, match
        self.context = warnings.catch_warnings(record=True)

    def __enter__(self):
        self.list = self.context.__enter__()
        warnings.simplefilter("always")
        return self.list

    def __exit__(self, kind, error, traceback):
        self.context.__exit__(kind, error, traceback)
        if kind is None and not any(issubclass(seen.category, self.expected) and
                                    (self.match is None or re.search(self.match, str(seen.message))) for seen in self.list):
            raise AssertionError(f"DID NOT WARN {self.expected}")


def warns(expected, *args, match=None, **options):
    if not args:
        return _Warns(expected, match)
    with _Warns(expected, match):
        return args[0](*args[1:], **options)


def deprecated_call(*args, **options):
    return warns((DeprecationWarning, PendingDeprecationWarning), *args, **options)


class MonkeyPatch:
    def __init__(self):
        self.undone = []

    def setattr(self, target, name, value, raising=True):
        old = getattr(target, name)
        self.undone.append(lambda: setattr(target, name, old))
        setattr(target, name, value)

    def undo(self):
        while self.undone:
            self.undone.pop()()


# ---- Running ----


def _check_marks(marks):
    """Raises Skipped where a mark says that the test is left out, or that it fails."""
    for one in marks:
        if one.name == "skip" or one.name == "skipif" and one.args and one.args[0]:
            raise Skipped(str(one.options.get("reason", "")))
        if one.name == "xfail" and (not one.args or one.args[0]):
            raise Skipped("expected to fail")


def _sets(marks):
    """All sets of parameters, {name: value}, each with its marks."""
    axes = []
    for one in marks:
        if one.name == "parametrize":
            names, values = (list(one.args) + [one.options.get("argvalues")])[:2]
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
            axis = []
            for value in values:
                given = value.values if isinstance(value, _Param) else tuple(value) if len(names) > 1 else (value,)
                axis.append((dict(zip(names, given)), value.marks if isinstance(value, _Param) else []))
            axes.append(axis)
    for choice in itertools.product(*axes):
        together, more = {}, []
        for values, marks_of in choice:
            together.update(values)
            more += marks_of
        yield together, more


class _Call:
    """One call of a test, with its fixtures."""

    def __init__(self, module, instance, known):
        self.module, self.instance, self.known = module, instance, known
        self.ends, self.param = [], None

    def _find(self, name):
        found = getattr(type(self.instance), name, None) if self.instance is not None else None
        return found if isinstance(found, _Fixture) else getattr(self.module, name, None)

    def value(self, name):
        if name in self.known:
            return self.known[name]
        found = self._find(name)
        if isinstance(found, _Fixture):
            made = self._start(found)
        elif name == "request":
            made = types.SimpleNamespace(param=self.param, addfinalizer=self.ends.append)
        elif name in ("tmp_path", "tmpdir"):
            folder = tempfile.TemporaryDirectory()
            self.ends.append(folder.cleanup)
            made = pathlib.Path(folder.name)
        elif name == "monkeypatch":
            made = MonkeyPatch()
            self.ends.append(made.undo)
        else:
            raise LookupError(f"fixture '{name}' not found")
        self.known[name] = made
        return made

    def _start(self, found):
        names = list(inspect.signature(found.function).parameters)
        first = [self.instance] if names[:1] == ["self"] else []
        self.param = self.known.get("param of " + found.__name__)
        made = found.function(*first, *[self.value(name) for name in names[len(first):]])
        if not inspect.isgeneratorfunction(found.function):
            return made
        value = next(made)
        self.ends.append(lambda: next(made, None))
        return value

    def run(self, function, names):
        owners = [self.module] + ([type(self.instance)] if self.instance is not None else [])
        for owner in owners:
            for name in dir(owner):
                found = getattr(owner, name, None)
                if isinstance(found, _Fixture) and found.options.get("autouse"):
                    self.value(name)
        for before in ("setup_method", "setup", "setUp"):
            if hasattr(self.instance, before):
                method = getattr(self.instance, before)
                method(*[None for name in inspect.signature(method).parameters])
        try:
            function(**{name: self.value(name) for name in names})
        finally:
            for after in ("teardown_method", "teardown", "tearDown"):
                if hasattr(self.instance, after):
                    method = getattr(self.instance, after)
                    method(*[None for name in inspect.signature(method).parameters])
            for end in reversed(self.ends):
                end()


def _with_fixtures(module, owner, names, known):
    """Each set of parameters, once for each parameter of the fixtures that the test has."""
    axes = []
    for name in names:
        found = getattr(owner, name, None) if owner else None
        found = found if isinstance(found, _Fixture) else getattr(module, name, None)
        if name not in known and isinstance(found, _Fixture) and "params" in found.options:
            axes.append([("param of " + name, value) for value in found.options["params"]])
    for choice in itertools.product(*axes):
        yield {**known, **dict(choice)}


def run(module, owner, name):
    """Runs a test function with all its parameters; raises what it raises, Skipped if nothing of it was run."""
    function = getattr(owner or module, name)
    if isinstance(getattr(function, "refusal", None), BaseException):  # numpy_worker.py
        raise function.refusal
    names = [key for key, one in inspect.signature(function).parameters.items() if one.default is inspect.Parameter.empty]
    names = names[1:] if owner and names[:1] == ["self"] else names
    own = getattr(module, "pytestmark", [])
    marks = (own if isinstance(own, list) else [own]) + list(getattr(owner, "pytestmark", ())) + list(getattr(function, "pytestmark", ()))
    _check_marks(marks)
    skipped, done = None, 0
    if owner and hasattr(owner, "setup_class"):
        owner.setup_class()
    for known, more in _sets(marks):
        for full in _with_fixtures(module, owner, names, known):
            try:
                _check_marks(more)
                instance = None if owner is None else owner(name) if hasattr(owner, "assertEqual") else owner()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _Call(module, instance, full).run(getattr(instance, name) if owner else function,
                                                      [*names, *(key for key in known if key not in names)])
                done += 1
            except Skipped as error:
                skipped = error
    if owner and hasattr(owner, "teardown_class"):
        owner.teardown_class()
    if skipped and not done:
        raise skipped
