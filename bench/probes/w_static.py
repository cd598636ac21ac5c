class P:
    @staticmethod
    def g(x): return x + 1
    @classmethod
    def h(cls, x): return x + 2
def f(n):
    s = 0
    p = P()
    for i in range(n): s += P.g(i) + P.h(i) + p.g(i) + p.h(i)
    return s
print(f(50000))
