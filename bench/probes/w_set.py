def f(n):
    d = {i * 3 for i in range(200)}
    s = 0
    for k in range(n):
        for v in d: s += v & 15
    return s
print(f(1000))
