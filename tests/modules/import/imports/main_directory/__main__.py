import sys

import beside

print(sys.argv, sys.path[0].endswith("main_directory"), __file__.endswith("/main_directory/__main__.py"), __name__, repr(__package__))
print(beside.__file__.endswith("main_directory/beside.py"))
1 / 0
