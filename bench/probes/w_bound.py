class Square:
    def __init__(self, side):
        self.side = side
    def area(self, i):
        return self.side + i
def f(n):
    o = Square(3)
    s = 0
    for i in range(n):
        g = o.area
        s += g(i)
    return s
print(f(200000))
