def inner(s, n):
    for i in range(n):
        s += i * 1000003
    return s


def main():
    s = 1 << 50
    for r in range(2000):
        s = inner(s, 60)
    m = 10**17 + 3
    x = 12345
    for r in range(100):
        for i in range(300):
            x = (x * 17 + i) % m
    return s, x


print(main())
