import d1
d1.x
