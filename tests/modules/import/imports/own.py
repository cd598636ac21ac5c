import sys

print("imports" in [p[-7:] for p in sys.path], __file__[-6:])
import doc
