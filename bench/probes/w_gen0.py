def f(n):
    s = 0.0
    x = 0
    while x < n:
        v = x * 0.5
        s += v * 2.0
        x += 1
    return s
print(f(200000))
