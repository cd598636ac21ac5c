def f(n):
    d = {i: i * 0.5 for i in range(200)}
    s = 0.0
    for k in range(n):
        for v in d.values(): s += v * 0.5
    return s
print(f(1000))
