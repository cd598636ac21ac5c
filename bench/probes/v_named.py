# named tuples, and instances that a __new__ makes: none is made
from collections import namedtuple
from typing import NamedTuple
P = namedtuple("P", "x y")
class N(NamedTuple):
    x: int
    y: int = 2
    def total(self): return self.x + self.y
class A:
    def __new__(cls, x, y):
        self = super().__new__(cls)
        self.x = x
        self.y = y
        return self
def a_fields(n):
    s = 0
    for i in range(n):
        p = P(i, 1)
        x, y = P(y=i, x=2)
        s += p.x + p[1] + x + y + len(p)
    return s
def b_methods(n):
    s = 0
    for i in range(n):
        s += N(i).total() + N(i, 3).total()
    return s
def c_loop(n):
    p = P(0, 1)
    for i in range(n):
        p = P(p.y, (p.x + p.y) % 1000)
    return p.x
def d_new(n):
    s = 0
    for i in range(n):
        a = A(i, 1)
        s += a.x + a.y
    return s
N_ = 100000
print(a_fields(N_), b_methods(N_), c_loop(N_), d_new(N_))
