from c1 import x
