"""Waterfall chart of an explanation."""

from __future__ import annotations

import math
from typing import Any

from tanbark.display import equation
from tanbark.draw.waterfall import steps
from tanbark.errors import InputError
from tanbark.estimators.reports.explain import Explanation, RowExplanation
from tanbark.plot.canvas import AGAINST, FOR, MUTED, TOTAL, axes, bare, inner_width, room

CHART, NUMBER = 5.0, 0.6  # inches of the bars with their numbers, and of a number


def plot_explanation(explanation: Any, *, ax: Any = None) -> Any:
    """Draw a row's evidence as a waterfall: the prior, the values by strength, and the log-odds that they add up to.

    Parameters
    ----------
    explanation : RowExplanation, or an Explanation of one row
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.NaiveBayes().fit([["a"], ["b"], ["b"]], ["no", "yes", "yes"])
    >>> ax = tb.plot.plot_explanation(clf.explain([["b"]])[0])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prior', 'x0 = b', 'log-odds']
    """
    if isinstance(explanation, Explanation) and len(explanation) == 1:
        explanation = explanation[0]
    if not isinstance(explanation, RowExplanation):
        msg = f"Pass the explanation of one row, such as clf.explain(X)[0]; got {type(explanation).__name__}."
        raise InputError(msg)
    bars = steps(explanation.ranked(), explanation.log_odds)
    title = f"P({equation(explanation.target, explanation.label, 48)}) = {explanation.probability:.4f}"
    left = room([bar.label for bar in bars])
    chart = max(CHART, room([title], 10)) if ax is None else inner_width(ax)
    ax = axes(ax, left + chart + 0.4, 1.1 + 0.3 * len(bars))
    for place, bar in enumerate(bars):
        colour = TOTAL if bar.total else FOR if bar.nats >= 0 else AGAINST
        ax.barh(place, bar.stop - bar.start, left=bar.start, color=colour, height=0.7)
        right = bar.stop >= bar.start
        text = f"{bar.nats:+.2f}" if math.isfinite(bar.nats) else ("+∞" if bar.nats > 0 else "-∞")
        ax.annotate(
            text, (bar.stop, place), (3 if right else -3, 0), textcoords="offset points", va="center",
            ha="left" if right else "right", fontsize=8, zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )  # fmt: skip
        if place + 1 < len(bars) and not bars[place + 1].total:
            ax.plot([bar.stop, bar.stop], [place - 0.35, place + 1.35], color=MUTED, linewidth=0.7)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.set_yticks(range(len(bars)), [bar.label for bar in bars], fontsize=8, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    low, high = (pick(0.0, *(end for bar in bars for end in (bar.start, bar.stop))) for pick in (min, max))
    inch = ((high - low) or 1.0) / max(chart - 2 * NUMBER, 0.5 * chart)
    ax.set_xlim(low - NUMBER * inch, high + NUMBER * inch)
    ax.set_xlabel("log-odds (nats)", fontsize=9)
    ax.set_title(title, fontsize=10, parse_math=False)
    bare(ax, "bottom")
    return ax
