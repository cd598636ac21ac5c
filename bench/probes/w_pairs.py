def f(n):
    a = [(i, i * 0.5) for i in range(200)]
    s = 0.0
    for k in range(n):
        for x, y in a: s += x * y
    return s
print(f(1000))
