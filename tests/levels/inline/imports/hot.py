# A module whose functions become a part of other modules' regions.
k = 2
calls = 0

def f(x):
    return x * k

def count(x):
    global calls
    calls += 1
    return x + calls

def outer(x):
    return f(x) + missing if x < 0 else f(x) + 1

class C:
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x * k

def fail(x):
    if x == 900:
        raise ValueError(x)
    return x
