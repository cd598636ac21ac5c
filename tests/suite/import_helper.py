"""On dynvm, test.support.import_helper, whose own file needs importlib and frozen modules. Names and effects are its."""

import contextlib
import os
import sys
import types
import unittest


def unload(name):
    sys.modules.pop(name, None)


def forget(name):
    unload(name)


def import_module(name, deprecated=False, *, required_on=()):
    try:
        return sys.modules["__main__"].import_module(name)
    except ImportError as error:
        if name.startswith("_test"):
            return sys.modules["__main__"].add_absent_module(name)  # for single methods that are about CPython
        raise unittest.SkipTest(str(error))


def import_fresh_module(name, fresh=(), blocked=(), *, deprecated=False, usefrozen=False):
    """Another copy of a module of tests. Those of dl are not of two kinds: tests of both kinds of CPython's get the same."""
    saved = sys.modules.pop(name, None) if name.startswith("test.") else None
    try:
        return sys.modules["__main__"].import_module(name)
    finally:
        if saved:
            sys.modules[name] = saved


class CleanImport:
    def __init__(self, *names, usefrozen=False):
        self.saved = dict(sys.modules)
        for name in names:
            sys.modules.pop(name, None)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        sys.modules.update(self.saved)


class DirsOnSysPath:
    def __init__(self, *paths):
        self.saved = sys.path[:]
        sys.path.extend(paths)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        sys.path[:] = self.saved


@contextlib.contextmanager
def ready_to_import(name=None, source=""):
    from test.support.os_helper import temp_dir
    name = name or "spam"
    with temp_dir() as directory:
        with open(os.path.join(directory, f"{name}.py"), "w") as file:
            file.write(source)
        saved = sys.modules.pop(name, None)
        sys.path.insert(0, directory)
        try:
            yield name, os.path.join(directory, f"{name}.py")
        finally:
            sys.path.remove(directory)
            sys.modules.pop(name, None)
            if saved:
                sys.modules[name] = saved


def modules_setup():
    return (dict(sys.modules),)


def modules_cleanup(modules):
    sys.modules.clear()
    sys.modules.update(modules)


def make_legacy_pyc(source):
    raise unittest.SkipTest("dl has no .pyc files")
