"""Draws a table of ratios as SVG: a row for each program, a mark for each peer, and 1 in the middle.

The axis of ratios is logarithmic, so that twice as fast and twice as slow are equally far from 1.
"""

import math
from html import escape
from typing import Dict, Iterable, List, Optional, Tuple, Union

# Told apart by people who do not see all colours (Okabe and Ito 2008), and by their shape as well.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#999999", "#000000"]
LEFT, ROW, WIDTH, RIGHT = 170, 20, 620, 20
HEAD = 56  # above the rows: the names of the peers, and the axis

Ratios = Dict[str, Dict[str, Optional[float]]]  # by program and peer
Spans = Dict[Tuple[str, str], Tuple[float, float]]  # where a ratio lies, by program and peer


def mark(number: int, x: float, y: float, title: str) -> str:
    """A mark of a peer, with its centre at (x, y); the title is shown where the mouse is over it."""
    name, where = (
        ("circle", f'cx="{x:.1f}" cy="{y:.1f}" r="5"'),
        ("rect", f'x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"'),
        ("path", f'd="M{x - 5:.1f} {y + 4:.1f}h10l-5 -9z"'),
    )[number % 3]
    return f'<{name} {where} fill="{COLOURS[number % len(COLOURS)]}"><title>{escape(title)}</title></{name}>'


class Axis:
    """From the power of two below the least ratio to the one above the greatest; 1 is always there."""

    def __init__(self, ratios: Ratios, more: Iterable[float] = ()):
        known = [r for by_peer in ratios.values() for r in by_peer.values() if r] + [0.99, 1.01, *more]
        self.low, self.high = math.floor(math.log2(min(known))), math.ceil(math.log2(max(known)))

    def x(self, ratio: float) -> float:
        power = math.log2(ratio) if ratio > 0 else self.low
        return LEFT + WIDTH * (power - self.low) / (self.high - self.low)

    def ticks(self) -> List[float]:
        return [2.0**power for power in range(self.low, self.high + 1)]


class Shares:
    """From nothing to everything, which is 1, and not logarithmic."""

    def x(self, share: float) -> float:
        return LEFT + WIDTH * share

    def ticks(self) -> List[float]:
        return [tick / 10 for tick in range(11)]


def svg(ratios: Ratios, peers: List[str], title: str, axis: Union[Axis, Shares], spans: Optional[Spans] = None) -> str:
    """The drawing; a program that a peer did not run has no mark there."""
    width, height = LEFT + WIDTH + RIGHT, HEAD + ROW * len(ratios) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, peer in enumerate(peers):
        x = LEFT + number * WIDTH / len(peers)
        parts.append(mark(number, x, 14, peer) + f'<text x="{x + 9:.1f}" y="18">{escape(peer)}</text>')
    for tick in axis.ticks():
        x, weight = axis.x(tick), 2 if tick == 1 else 0.5
        parts.append(f'<path d="M{x:.1f} {HEAD - 8}V{height - 6}" stroke="#888888" stroke-width="{weight}"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEAD - 14}" text-anchor="middle">{tick:g}</text>')
    for row, (program, by_peer) in enumerate(ratios.items()):
        y = HEAD + ROW * (row + 0.5)
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(program)}</text>')
        for number, peer in enumerate(peers):
            ratio = by_peer.get(peer)
            if (program, peer) in (spans or {}):
                low, high = spans[program, peer]
                colour = COLOURS[number % len(COLOURS)]
                parts.append(f'<path d="M{axis.x(low):.1f} {y:.1f}H{axis.x(high):.1f}" stroke="{colour}" stroke-width="2"/>')
            if ratio is not None:
                parts.append(mark(number, axis.x(ratio), y, f"{program}, {peer}: {ratio:.3f}"))
    return "\n".join(parts + ["</svg>"]) + "\n"
