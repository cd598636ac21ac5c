def f(n):
    text = "the quick brown fox jumps over it " * 8
    s = 0
    for k in range(n):
        for c in text:
            if c == "o": s += k
            else: s += 1
    return s
print(f(700))
