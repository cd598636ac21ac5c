def f(n):
    d = {1: 2}
    s = 0
    for k in range(n):
        try:
            s += d[k & 3]
        except KeyError:
            s += k
    return s
print(f(50000))
