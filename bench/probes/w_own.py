class ParseError(ValueError):
    def __init__(self, message, position):
        super().__init__(message)
        self.position = position
def checked(x, k):
    if x < 0: raise ParseError("negative", k)
    return x & 7
def f(n):
    s = 0
    for k in range(n):
        try:
            s += checked(-1 if k & 1 else k, k & 3)
        except ParseError as e:
            s += e.position
    return s
print(f(50000))
