def f(n):
    a = [i * 0.5 for i in range(200)]; b = list(range(200)); c = [1.5] * 200
    s = 0.0
    for k in range(n):
        for x, y, z in zip(a, b, c): s += x * y + z
    return s
print(f(1000))
