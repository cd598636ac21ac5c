print('a', __name__, __package__)
def f(): return 1/0
