def main(n):
    s = last_x = last_y = best_x = best_y = 0
    last, best = False, False
    for i in range(n):
        if last:
            s += last_x - last_y
        x, y = i * 7919 % 1009, i
        if not best or x > best_x:
            best, best_x, best_y = True, x, y
        last, last_x, last_y = i & 7 != 0, y, s
    print(s, best_y)


main(200000)
