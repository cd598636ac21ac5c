class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def main(n):
    s = 0
    last = best = None
    for i in range(n):
        if last is not None:
            s += last.x - last.y
        p = Point(i * 7919 % 1009, i)
        if best is None or p.x > best.x:
            best = p
        last = Point(p.y, s) if i & 7 else None
    print(s, best.y)


main(200000)
