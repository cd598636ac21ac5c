def main():
    a = [1, 2.5, 3] * 100
    b = [1.5, 2] * 150
    s = 0.0
    for r in range(300):
        for x, y in zip(a, b):
            s += x * y
    for r in range(300):
        for i, x in enumerate(a):
            if x > 2:
                s += x - i
    return s


print(main())
