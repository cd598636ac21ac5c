"""render.py TEMPLATE OUTPUT: renders one Mako template; templates import kernels.py and derivatives.py."""

import sys
from pathlib import Path

from mako.template import Template

template, output = map(Path, sys.argv[1:])
sys.path[:0] = [str(Path(__file__).resolve().parent / room) for room in ("loops", "site")]
output.write_text(Template(filename=str(template), strict_undefined=True).render())
