import d2
x=1
