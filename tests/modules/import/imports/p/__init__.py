print('init p', __name__, __package__, __path__[0][-2:], __file__[-13:])
from . import a
from .a import f as g
