def main():
    data = [1, 2.0, 3, 4.0, 5, 6.5] * 100
    s = 0.0
    n = 0
    for r in range(300):
        for x in data:
            s = s + x * 2
        for i in range(len(data)):
            x = data[i]
            if x > 2:
                s += x
            else:
                n += 1
    return s, n


print(main())
