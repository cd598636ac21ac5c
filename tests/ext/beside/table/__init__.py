"""A package that has the name of an extension (directories.dl)."""

here = True
