"""render.py TEMPLATE OUTPUT: renders one Mako template of this directory; templates import kernels.py."""

import sys
from pathlib import Path

from mako.template import Template

template, output = map(Path, sys.argv[1:])
sys.path.insert(0, str(template.parent))
output.write_text(Template(filename=str(template), strict_undefined=True).render())
