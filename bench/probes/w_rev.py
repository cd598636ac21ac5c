def f(n):
    a = [i * 0.5 for i in range(200)]
    s = 0.0
    for k in range(n):
        for x in reversed(a): s += x * 0.5
    return s
print(f(1000))
