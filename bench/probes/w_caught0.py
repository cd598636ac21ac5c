def checked(x):
    if x < 0: return -1
    return x & 7
def f(n):
    s = 0
    for k in range(n):
        v = checked(-1 if k & 1 else k)
        if v >= 0:
            s += v
        else:
            s += 1
    return s
print(f(50000))
