def f(n):
    d = {i: i * 0.5 for i in range(200)}
    s = 0
    for k in range(n):
        for key in d: s += key & 7
    return s
print(f(1000))
