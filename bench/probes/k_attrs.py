class P:
    def __init__(self, v):
        self.v = v


def main():
    points = [P(i) if i % 3 else P(i * 1.5) for i in range(300)]
    gaps = [P(i) if i % 3 else P(None) for i in range(300)]
    s = 0.0
    n = 0
    for r in range(300):
        for p in points:
            s += p.v * 2
        for p in gaps:
            v = p.v
            if v is not None:
                n += v * 2
            else:
                n += 1
    return s, n


print(main())
