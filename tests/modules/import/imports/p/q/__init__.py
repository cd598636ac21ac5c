from ..a import f
from ... import x
