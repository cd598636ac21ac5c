def f(n):
    texts = ["7", "x", "12", ""]
    d = {1: 2}
    l = [3, 5]
    s = 0
    for i in range(n):
        try:
            s += int(texts[i & 3])
        except ValueError:
            s += 1
        try:
            s += l.index(i & 7)
        except ValueError:
            s += 2
        try:
            s += d.pop(i)
        except KeyError:
            s += 3
    return s
print(f(50000))
