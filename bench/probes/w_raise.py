def checked(x):
    if x < 0: raise ValueError(x)
    return x & 3
def f(n):
    l = [1, 2, 3]
    s = 0
    for k in range(n):
        try:
            s += 12 // (k % 60)
            s += l[3 if k % 60 == 20 else k % 3]
            s += checked(k % 60 - 40 if k % 60 == 39 else 7)
            s += (k * 3 & 7) - (k & 1) * 2 + s % 5
        except (ValueError, ZeroDivisionError, IndexError):
            s += 1
    return s
print(f(50000))
