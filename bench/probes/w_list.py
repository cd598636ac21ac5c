def f(n):
    s = 0.0
    for i in range(n):
        x = i * 0.5
        p = [x, x + 1.0, 2.0]
        p[0] += 0.25
        s += p[0] * p[1] - p[2]
    return s
print(f(100000))
