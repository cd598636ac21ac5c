def main():
    d = {}
    for i in range(200):
        d[i] = i if i % 2 else i * 0.5
    s = 0.0
    for r in range(300):
        for v in d.values():
            s += v * 3
        for k, v in d.items():
            s += v - k
        for k in range(200):
            s += d[k]
    return s


print(main())
