def grid(n):
    d = {}
    for x in range(50):
        for y in range(50):
            d[x, y] = x * y
    seen = set((x, y) for x in range(0, 50, 2) for y in range(50))
    s = 0
    for k in range(n):
        for x in range(1, 49):
            for y in range(1, 49):
                s += d[x, y] + d[x + 1, y - 1]
                if (x, y) in seen:
                    s += 1
                if (x + 50, y) in d:
                    s += 1
                d[x, y] = s % 7
    return s
print(grid(10))
