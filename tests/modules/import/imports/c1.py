import c2
x = 1
