def f(n):
    t = "the quick brown fox jumps over it " * 6
    s = 0
    for k in range(n):
        for i in range(len(t)):
            if t[i] == "o": s += i
            else: s += ord(t[i])
    return s
print(f(500))
