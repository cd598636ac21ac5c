"""render.py TEMPLATE OUTPUT: renders one Mako template; the output keeps its time if it is the same."""

import sys
from pathlib import Path

from mako.template import Template

template, output = map(Path, sys.argv[1:])
text = Template(filename=str(template), strict_undefined=True).render()
if not output.exists() or output.read_text() != text:
    output.write_text(text)
else:
    output.touch()
