"""For -m unittest and -m doctest.

>>> double(2)
4
>>> double("a")
'a'
"""
import unittest


def double(x):
    """
    >>> [double(x) for x in range(3)]
    [0, 2, 4]
    """
    return x * 2


class Doubling(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(double(4), 8)

    def test_texts(self):
        """Texts are doubled, too."""
        self.assertEqual(double("ab"), "ab")


if __name__ == "__main__":
    unittest.main()
