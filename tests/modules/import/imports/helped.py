"""What help() says of functions and classes, and __doc__ of what is built in."""
import math


def f(a, /, b=1, *args, c: int = 2, d, **kw) -> str:
    """Doc of f.

    More of it,
      indented."""


def g(*, only=None):
    pass


class A:
    """An A."""

    x = 1
    _hidden = 2

    def __init__(self, a, b="text"):
        self.a = a

    def m(self, k):
        """Method m."""

    @property
    def p(self):
        "prop"

    @property
    def q(self):
        return 1

    @q.setter
    def q(self, value):
        pass

    @staticmethod
    def s(a):
        pass

    @classmethod
    def c(cls, *more):
        pass

    alias = m


class B(A):
    __slots__ = ()

    def m(self, k):
        pass

    inner = A
    call = len


for thing in (f, g, A, B, B(1).m, A.c, A.s, lambda x: x, math.sqrt, str.upper, dict.fromkeys, {}.get, B(2)):
    help(thing)
print(len.__doc__, math.sin.__doc__, [].append.__doc__, math.__doc__, (1).__doc__ == int.__doc__, str.upper.__doc__, sep="|")
print(ValueError.__doc__, ValueError(1).__doc__, list.__doc__.split("\n")[0], int.__add__.__doc__, None.__doc__)
print(A(1).__doc__, B.__doc__, B(1).__doc__, g.__doc__, type(f).__doc__ is None, dict.fromkeys.__doc__, sep="|")
