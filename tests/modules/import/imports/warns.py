"""What is compiled with a warning."""
x = 1 is 1


def f():
    return 1 (2)


print(x)
