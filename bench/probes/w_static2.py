class P:
    @staticmethod
    def g(x): return x + 1
class Q:
    @staticmethod
    def g(x): return x + 2
def f(n):
    s = 0
    both = P(), Q()
    for i in range(n):
        p = both[i & 1]
        s += p.g(i)
    return s
print(f(100000))
