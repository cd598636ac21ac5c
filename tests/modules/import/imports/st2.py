_h=1
w=3
import sys
