"""Small tables of results, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDEST = 40  # characters of a cell
MOST = 20  # lines that a printed table spells out


def short(text: object) -> str:
    """Put a text on one line of bounded length."""
    line = " ".join(str(text).split())
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"


def shown(lines: Sequence[Sequence[str]], most: float = MOST) -> tuple[list[list[str]], str]:
    """Return the first lines, cells shortened, and a sentence on the others."""
    more = len(lines) - int(min(most, len(lines)))
    kept = [[short(cell) for cell in line] for line in (lines[:-more] if more > 1 else lines)]
    return kept, f"… and {more} more" if more > 1 else ""


def text_table(heads: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1, most: float = MOST) -> str:
    """Lay out a table as text; the first ``left`` columns are flush left, the others flush right."""
    kept, rest = shown(lines, most)
    cells = [list(heads), *kept]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    drawn = [
        "  ".join(text.ljust(width) if k < left else text.rjust(width) for k, (text, width) in enumerate(pairs))
        for pairs in (tuple(zip(line, widths, strict=True)) for line in cells)
    ]
    rule = "─" * len(drawn[0])
    return "\n".join([drawn[0].rstrip(), rule, *(line.rstrip() for line in drawn[1:]), *([rest] if rest else [])])


def html_table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Lay out a table as HTML, with a caption."""
    kept, rest = shown(lines)

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{"left" if k < left else "right"}">{escape(cell)}</{tag}>'
            for k, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(line, 'td')}</tr>" for line in kept)
    note = f"<p>{escape(rest)}</p>" if rest else ""
    caption = f'<caption style="text-align:left">{escape(title)}</caption>' if title else ""
    return f"<table>{caption}<thead><tr>{row(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>{note}"
