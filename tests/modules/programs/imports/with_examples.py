import doctest


def half(x):
    """
    >>> half(4)
    2
    """
    return x // 2


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite())
    return tests
