def checked(x):
    if x < 0: raise ValueError(x)
    return x & 7
def f(n):
    s = 0
    for k in range(n):
        try:
            s += checked(-1 if k & 1 else k)
        except ValueError:
            s += 1
    return s
print(f(50000))
