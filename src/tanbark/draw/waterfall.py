"""An explanation as a waterfall: the bars, and their own SVG for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tanbark.display import equation, short, text_pixels

FOR, AGAINST, TOTAL, MUTED = "#4c8c5a", "#c0504d", "#f4a259", "#7a7a7a"
LONGEST = 40  # characters of a label
TITLE = 60  # characters of the title
BOLD = 1.12  # bold letters are wider
ROW, BAR, CHART = 22.0, 14.0, 360.0  # pixels


@dataclass(frozen=True)
class Part:
    """What one value contributes to the log-odds, given the values of its parents in the network."""

    name: str
    value: str
    given: str
    nats: float

    @property
    def bits(self) -> float:
        """The same in bits."""
        return self.nats / math.log(2.0)


@dataclass(frozen=True)
class Bar:
    """A bar of a waterfall, from ``start`` to ``stop``; an infinite one is drawn as long as all others together."""

    label: str
    given: str
    nats: float
    start: float
    stop: float
    total: bool = False


def steps(parts: Sequence[Part], log_odds: float) -> list[Bar]:
    """Lay the parts of an explanation end to end in their order, then their sum, the log-odds."""
    finite = sum(abs(part.nats) for part in parts if math.isfinite(part.nats))
    far = max(finite, 5.0)
    bars, at = [], 0.0
    for part in parts:
        length = part.nats if math.isfinite(part.nats) else math.copysign(far, part.nats)
        label = equation(part.name, part.value, LONGEST) if part.value else short(part.name, LONGEST)
        bars.append(Bar(label, part.given, part.nats, at, at + length))
        at += length
    end = log_odds if math.isfinite(log_odds) else math.copysign(far, log_odds)
    return [*bars, Bar("log-odds", "", log_odds, 0.0, end, total=True)]


def waterfall_svg(title: str, parts: Sequence[Part], log_odds: float) -> str:
    """Draw the parts of an explanation as SVG: green bars speak for the class, red ones against it."""
    bars = steps(parts, log_odds)
    low = min(0.0, *(min(bar.start, bar.stop) for bar in bars))
    high = max(0.0, *(max(bar.start, bar.stop) for bar in bars))
    scale = CHART / ((high - low) or 1.0)
    left = 12 + max(text_pixels(bar.label) for bar in bars)
    heading = short(title, TITLE)
    width = left + max(CHART + 60, 8 + BOLD * text_pixels(heading))
    height = 30 + ROW * len(bars) + 8

    def across(nats: float) -> float:
        return left + (nats - low) * scale

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" style="max-width:100%;height:auto;background:#ffffff" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222222">',
        f'<text x="{left:.1f}" y="18" font-weight="bold">{escape(heading)}</text>',
        f'<line x1="{across(0):.1f}" x2="{across(0):.1f}" y1="26" y2="{height - 6:.0f}" stroke="{MUTED}"/>',
    ]
    for place, bar in enumerate(bars):
        lines.append(_bar(bar, 30 + ROW * place, left, across(bar.start), across(bar.stop)))
    return "\n".join([*lines, "</svg>"])


def _bar(bar: Bar, top: float, left: float, start: float, stop: float) -> str:
    colour = TOTAL if bar.total else FOR if bar.nats >= 0 else AGAINST
    words = f"{bar.label}: {bar.nats:+.3f} nats" + (f", given {bar.given}" if bar.given else "")
    number = f"{bar.nats:+.2f}" if math.isfinite(bar.nats) else ("+∞" if bar.nats > 0 else "-∞")
    end = max(start, stop)
    weight = ' font-weight="bold"' if bar.total else ""
    return (
        f"<g><title>{escape(words)}</title>"
        f'<text x="{left - 8:.1f}" y="{top + 12:.1f}" text-anchor="end"{weight}>{escape(bar.label)}</text>'
        f'<rect x="{min(start, stop):.1f}" y="{top:.1f}" width="{max(abs(stop - start), 0.8):.1f}" height="{BAR:g}" '
        f'fill="{colour}"/>'
        f'<text x="{end + 4:.1f}" y="{top + 11:.1f}" font-size="11">{number}</text></g>'
    )
