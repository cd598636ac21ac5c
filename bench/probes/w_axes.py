import ndarray as np
def f(n):
    t = np.arange(1000.0).reshape(10, 10, 10)
    s = 0.0
    for n in range(n):
        for i in range(10):
            for j in range(10):
                for k in range(10): s += t[i, j, k] * 2.0
    return s
print(f(100))
