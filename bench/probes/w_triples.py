def f(n):
    a = [(i, i * 0.5, 2.0) for i in range(200)]
    s = 0.0
    for k in range(n):
        for x, y, z in a: s += x * y + z
    return s
print(f(1000))
