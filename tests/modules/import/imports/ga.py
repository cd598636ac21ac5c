def __getattr__(n):
    if n == "boo": return 7
    raise AttributeError("no " + n)
