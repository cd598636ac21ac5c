def main():
    data = [1, True, 3, False, 5, True] * 100
    n = 0
    for r in range(300):
        for x in data:
            n += x
    return n


print(main())
