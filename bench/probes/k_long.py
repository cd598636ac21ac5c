def f(n, k):
    s = 0
    for i in range(n):
        s += i * k
        if s > 1 << 50:
            s = s % 1000003
    return s


def main():
    t = 0
    for r in range(300):
        t ^= f(300, 1 << 41 if r % 3 == 0 else 7)
    h = 1
    n = 0
    for i in range(90000):
        h = h * 48271 + i
        if h > 1 << 52:
            h = h & 0xFFFFF
            n += 1
    return t, h, n


print(main())
