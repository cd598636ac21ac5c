def g(n):
    x = 0
    while x < n:
        yield x * 0.5
        x += 1
def f(n):
    s = 0.0
    for v in g(n): s += v * 2.0
    return s
print(f(200000))
