def main():
    data = ["a", 1, "bc", 2, "d", 3] * 100
    n = 0
    m = 0
    for r in range(300):
        for x in data:
            if isinstance(x, int):
                n += x
            else:
                m += len(x)
    return n, m


print(main())
