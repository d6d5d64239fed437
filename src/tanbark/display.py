"""Results as text and as HTML: short names, small tables, bars of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDEST = 40  # characters of a cell
MOST = 20  # lines that a printed table spells out
BLOCKS = " ▏▎▍▌▋▊▉█"  # eighths of a character
CELLS = 20  # characters of a full bar
BAR = "#5b84b1"
NARROW, WIDE, CJK = frozenset(" !'()*,-./:;I[]`fijlrt|"), frozenset("%@MWmw…—"), "\u2e80"
SCALES = (1.0, 0.5, 0.2)  # ends of the scale of bars, and these divided by powers of ten


def short(text: object, longest: int = WIDEST) -> str:
    """Put a text on one line of bounded length; what is left out is in the middle.

    >>> short("mean concavity of the worst nuclei", 15)
    'mean co…nuclei'
    """
    line = " ".join(str(text).split())
    if len(line) <= longest:
        return line
    tail = (longest - 1) // 2
    return f"{line[: longest - 1 - tail].rstrip()}…{line[len(line) - tail :].lstrip()}"


def equation(name: object, state: object, longest: int = WIDEST) -> str:
    """Write ``name = state`` on one line; the longer of the two is shortened first, so that both can be read.

    >>> equation("petal width (cm)", "≤ 0.8"), equation("a name of many words", "no", 15)
    ('petal width (cm) ≤ 0.8', 'a nam…ords = no')
    """
    left, right = " ".join(str(name).split()), " ".join(str(state).split())
    sign = " " if right[:2] in ("≤ ", "> ") else " = "
    room = longest - len(sign)
    if len(left) + len(right) > room:
        right = short(right, max(room - len(left), room // 2))
        left = short(left, room - len(right))
    return f"{left}{sign}{right}"


def text_pixels(text: str) -> float:
    """Bound the width of a text of 12 pixels in the sans-serif fonts of browsers, whose letters differ in width.

    >>> text_pixels("ill") < text_pixels("abc") < text_pixels("WWW")
    True
    """
    return sum(
        4.6 if c in NARROW else 12.0 if c in WIDE or c >= CJK else 10.1 if c.isupper() or c in "#+<=>~±≤≥→" else 7.7
        for c in text
    )  # fmt: skip


def bar_scale(largest: float) -> float:
    """Choose the end of a scale for probabilities: 1, or the least of 0.5, 0.2, 0.1, … that none of them exceeds.

    >>> bar_scale(0.7), bar_scale(0.2), bar_scale(0.013)
    (1.0, 0.2, 0.02)
    """
    top, power = 1.0, 1.0
    while power > 1e-9:
        for scale in SCALES:
            if scale * power < largest * (1 - 1e-12):
                return top
            top = round(scale * power, 12)
        power /= 10
    return top


def text_bar(fraction: float, cells: int = CELLS) -> str:
    """Draw a bar of characters, to an eighth of a character; what is positive is never invisible.

    >>> text_bar(0.3, 10), text_bar(1.0, 4), text_bar(1e-6, 4), text_bar(0.0)
    ('███', '████', '▏', '')
    """
    if not fraction > 0:
        return ""
    eighths = max(1, round(min(fraction, 1.0) * cells * 8))
    return ("█" * (eighths // 8) + BLOCKS[eighths % 8]).rstrip()


def shown(
    lines: Sequence[Sequence[str]], most: float = MOST, total: int | None = None
) -> tuple[list[list[str]], str]:  # fmt: skip
    """Return the first lines, cells shortened, and a sentence on the others; there are ``total`` lines."""
    count = len(lines) if total is None else total
    more = count - int(min(most, count))
    kept = lines[: count - more] if more > 1 else lines
    return [[short(cell) for cell in line] for line in kept], f"… and {more:,} more" if more > 1 else ""


def text_table(
    heads: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1, most: float = MOST,
    bars: Sequence[float] | None = None, total: int | None = None,
) -> str:  # fmt: skip
    """Lay out a table as text; the first ``left`` columns are flush left, the others flush right.

    ``bars`` are numbers from 0 to 1, one per line, drawn in a column of their own on a scale that its head names. There
    may be more lines in all, ``total``, than are given.
    """
    kept, rest = shown(lines, most, total)
    cells = [list(map(short, heads)), *kept]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    drawn = [
        "  ".join(text.ljust(width) if k < left else text.rjust(width) for k, (text, width) in enumerate(pairs))
        for pairs in (tuple(zip(line, widths, strict=True)) for line in cells)
    ]
    if bars is not None:
        top = bar_scale(max(bars, default=0.0))
        scale = f"0{f'{top:g}':>{CELLS - 1}}"
        column = [scale, *(text_bar(value / top) for value in bars[: len(kept)])]
        drawn = [f"{line}  {bar}" for line, bar in zip(drawn, column, strict=True)]
    rule = "─" * len(drawn[0])
    return "\n".join([drawn[0].rstrip(), rule, *(line.rstrip() for line in drawn[1:]), *([rest] if rest else [])])


def html_table(
    title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1, most: float = MOST,
    bars: Sequence[float] | None = None, total: int | None = None,
) -> str:  # fmt: skip
    """Lay out a table as HTML, with a caption, and with bars as :func:`text_table` draws them."""
    kept, rest = shown(lines, most, total)

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{"left" if k < left else "right"};padding:2px 8px">{escape(cell)}</{tag}>'
            for k, cell in enumerate(cells)
        )

    top = bar_scale(max(bars or (), default=0.0))
    ends = [""] * len(kept) if bars is None else [_html_bar(value / top) for value in bars[: len(kept)]]
    scale = "" if bars is None else f'<th style="text-align:right;padding:2px 8px">0 to {top:g}</th>'
    body = "".join(f"<tr>{row(line, 'td')}{end}</tr>" for line, end in zip(kept, ends, strict=True))
    note = f"<p>{escape(rest)}</p>" if rest else ""
    caption = f'<caption style="text-align:left">{escape(title)}</caption>' if title else ""
    head = row(list(map(short, heads)), "th") + scale
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _html_bar(fraction: float) -> str:
    width = 100 * min(max(fraction, 0.0), 1.0)
    return (
        '<td style="min-width:9em;text-align:left;padding:2px 8px">'
        f'<div style="background:{BAR};width:{width:.1f}%;height:0.8em"></div></td>'
    )
