"""Checks of the test programs in Python: each that fails says what it got, and is counted."""

failed = 0


def check(what, got, expected):
    global failed
    if got != expected:
        failed += 1
        print(f"{what}: got {got!r}, expected {expected!r}")
