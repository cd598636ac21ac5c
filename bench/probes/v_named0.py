# the same with locals
def a_fields(n):
    s = 0
    for i in range(n):
        p, q = i, 1
        x, y = 2, i
        s += p + q + x + y + 2
    return s
def b_methods(n):
    s = 0
    for i in range(n):
        s += (i + 2) + (i + 3)
    return s
def c_loop(n):
    x, y = 0, 1
    for i in range(n):
        x, y = y, (x + y) % 1000
    return x
def d_new(n):
    s = 0
    for i in range(n):
        x, y = i, 1
        s += x + y
    return s
N_ = 100000
from collections import namedtuple
from typing import NamedTuple
print(a_fields(N_), b_methods(N_), c_loop(N_), d_new(N_))
