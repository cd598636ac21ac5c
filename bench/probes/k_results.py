def half(i):
    if i & 1:
        return i * 0.5
    return i


def gap(i):
    if i % 3 == 0:
        return None
    return i * 2


def main():
    s = 0.0
    n = 0
    for i in range(100000):
        s += half(i) * 2
        v = gap(i)
        if v is not None:
            n += v
        else:
            n -= 1
    return s, n


print(main())
