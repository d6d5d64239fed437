"""Tornado diagrams of sensitivity, and nomograms of scorecards."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.display import equation, short
from tanbark.errors import InputError
from tanbark.estimators.questions.scorecard import FeaturePoints, Scorecard
from tanbark.estimators.questions.sensitivity import Sensitivity, Span
from tanbark.plot.canvas import AGAINST, FOR, LONGEST, MUTED, SMALL, TOTAL, axes, bare, inner_width, room

STATE = 24  # characters of a state
TORNADO, NOMOGRAM = 4.0, 7.0  # inches of the bars, and of the lines
TINY = 7.0  # points of the labels of a nomogram
LEVELS = (-1, 1, -2, 2)  # above (negative) or below a line, near to it first
CHANCES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


def plot_sensitivity(sensitivity: Any, *, ax: Any = None, most: int = 15) -> Any:
    """Draw a tornado diagram: for each feature, how low and how high it alone could bring the posterior of a class.

    Parameters
    ----------
    sensitivity : Sensitivity, as from ``clf.sensitivity(row)``
    ax : matplotlib axes, optional
    most : int, default 15
        Features that are drawn, those with the widest spans.

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.NaiveBayes().fit([["a", "u"], ["b", "v"], ["b", "u"]] * 5, ["no", "yes", "yes"] * 5)
    >>> ax = tb.plot.plot_sensitivity(clf.sensitivity({"x0": "b"}))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0 = b', 'x1']
    """
    if not isinstance(sensitivity, Sensitivity):
        msg = f"Pass what clf.sensitivity(row) returns; got {type(sensitivity).__name__}."
        raise InputError(msg)
    spans, now = sensitivity.spans[:most], sensitivity.probability
    labels = [short(s.feature, LONGEST) if s.state is None else equation(s.feature, s.state, LONGEST) for s in spans]
    ends = [end for span in spans if span.width > 0.0 for end in _ends(span)]
    left, right = (room([text for _, text, side in ends if side == which]) + 0.15 for which in (-1, 1))
    target = f"P({equation(sensitivity.target, sensitivity.label, LONGEST)})"
    title = f"{target} = {now:.4f}"
    mine, width = ax is None, left + TORNADO + right
    ax = axes(ax, max(room(labels) + width + 0.3, room([title], 10) + 0.3), 1.2 + 0.34 * max(len(spans), 1))
    for place, span in enumerate(spans):
        low, high = min(span.low, now), max(span.high, now)
        ax.barh(place, now - low, left=low, color=AGAINST, height=0.6)
        ax.barh(place, high - now, left=now, color=FOR, height=0.6)
        for at, text, side in _ends(span) if span.width > 0.0 else ():
            ax.annotate(
                text, (at, place), (4 * side, 0), textcoords="offset points", va="center",
                ha="left" if side > 0 else "right", fontsize=SMALL, parse_math=False,
            )  # fmt: skip
    ax.axvline(now, color=TOTAL, linewidth=1.2)
    ax.set_yticks(range(len(spans)), labels, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    low, high = (pick([now, *(end for s in spans for end in (s.low, s.high))]) for pick in (min, max))
    inch = max(high - low, 0.02) / (TORNADO if mine else max(inner_width(ax) - left - right, 0.2 * inner_width(ax)))
    ax.set_xlim(low - left * inch, high + right * inch)
    ax.set_xticks([tick for tick in ax.get_xticks() if _within(tick, (0.0, 1.0)) and _within(tick, ax.get_xlim())])
    ax.set_xlabel(target, fontsize=9, parse_math=False)
    ax.set_title(title, fontsize=10, parse_math=False)
    bare(ax, "bottom")
    return ax


def _ends(span: Span) -> list[tuple[float, str, int]]:
    """List the ends of a bar that have a state: where, which, and on what side its name goes."""
    both = ((span.low, span.low_state, -1), (span.high, span.high_state, 1))
    return [(at, short(state, STATE), side) for at, state, side in both if state is not None]


def _within(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] - 1e-9 <= value <= ends[1] + 1e-9


def plot_nomogram(card: Any, *, ax: Any = None, most: int = 20) -> Any:
    """Draw a nomogram: a line of points for every feature, and one that turns their sum into a probability.

    Every feature has its states at their points, and where it has a parent, a line for each of the parent's states. The
    points of a row, read off the lines and added to the base points, are found on the last line but one; the last has
    the probability. Where states crowd, their labels go further from the line; grey marks are those that had no room.

    Parameters
    ----------
    card : Scorecard, as from ``clf.scorecard()``
    ax : matplotlib axes, optional
    most : int, default 20
        Lines that are drawn, those of the features with the widest range of points.

    References
    ----------
    Možina, Demšar, Kattan and Zupan (2004), Nomograms for visualization of naive Bayesian classifier.

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.NaiveBayes().fit([["a", "u"], ["b", "v"], ["b", "u"]] * 5, ["no", "yes", "yes"] * 5)
    >>> ax = tb.plot.plot_nomogram(clf.scorecard())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['points', 'x0', 'x1', 'sum', 'P(class = yes)']
    """
    if not isinstance(card, Scorecard):
        msg = f"Pass what clf.scorecard() returns; got {type(card).__name__}."
        raise InputError(msg)
    widest = sorted(card.features, key=lambda item: -float(np.ptp(item.points, axis=-1).max()))
    lines = [line for item in widest for line in _lines(item)][:most]
    points = np.concatenate([np.zeros(1), *(line[2] for line in lines)])
    low, high = float(points.min()), float(points.max())
    span = (high - low) or 1.0
    names = ["points", *(line[0] for line in lines), "sum", f"P({equation(card.target, card.label, LONGEST - 3)})"]
    scales = [
        [(value, f"{value:g}") for value in _ticks(low, high)],
        *(sorted(zip(values.tolist(), (short(s, STATE) for s in states), strict=True)) for _, states, values in lines),
        *_totals(card, low, span),
    ]
    inches = NOMOGRAM if ax is None else inner_width(ax)
    outside = max((room([text], TINY) / 2 for scale in scales for _, text in scale), default=0.0)
    unit = span / max(inches - 2 * outside, 0.3 * inches)
    levels = [_levels(scale, unit) for scale in scales]
    rows = [max((abs(level) for side in levels for level in side if level * sign > 0), default=0) for sign in (-1, 1)]
    ax = axes(ax, room(names) + NOMOGRAM + 0.3, 0.8 + (0.28 + 0.13 * sum(rows)) * len(names))
    for place, (scale, side) in enumerate(zip(scales, levels, strict=True)):
        _draw_scale(ax, place, scale, side)
    ax.set_yticks(range(len(names)), names, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([])
    ax.set_xlim(low - outside * unit, high + outside * unit)
    ax.set_ylim(len(names) - 0.4, -0.8)
    double = card.factor * float(np.log(2.0))
    ax.set_title(f"{double:g} points double the odds; base points {card.base_points:+.1f}", fontsize=10)
    bare(ax)
    return ax


Line = tuple[str, tuple[Any, ...], Any]
Scale = list[tuple[float, str]]


def _lines(item: FeaturePoints) -> list[Line]:
    if item.parent is None:
        return [(short(item.feature, LONGEST), item.states, item.points)]
    above = [equation(item.parent, state, LONGEST // 2) for state in item.parent_states]
    name = short(item.feature, LONGEST - 3 - max(map(len, above), default=0))
    return [(f"{name} | {given}", item.states, points) for given, points in zip(above, item.points, strict=True)]


def _levels(scale: Scale, unit: float) -> list[int]:
    """Choose for every label how far above (-1, -2) or below (1, 2) the line it goes, so that none overlap.

    A label that has no room is left out (0). ``unit`` is an inch in the units of the scale.
    """
    free = dict.fromkeys(LEVELS, -np.inf)
    chosen = []
    for value, text in scale:
        half = (room([text], TINY) / 2 + 0.03) * unit
        level = next((level for level in LEVELS if value - half >= free[level]), 0)
        if level:
            free[level] = value + half
        chosen.append(level)
    return chosen


def _draw_scale(ax: Any, place: int, scale: Scale, levels: list[int]) -> None:
    """Draw one line with its marks and labels."""
    values = [value for value, _ in scale]
    if values:
        ax.plot([min(values), max(values)], [place, place], color=MUTED, linewidth=1.0)
    for (value, text), level in zip(scale, levels, strict=True):
        ax.plot([value, value], [place - 0.1, place + 0.1], color=TOTAL if level else MUTED, linewidth=1.2)
        if level:
            ax.annotate(
                text, (value, place), (0, -np.sign(level) * (5 + 9 * (abs(level) - 1))), textcoords="offset points",
                ha="center", fontsize=TINY, va="bottom" if level < 0 else "top", parse_math=False,
            )  # fmt: skip


def _totals(card: Scorecard, low: float, span: float) -> list[Scale]:
    """Return the sums that rows may have, stretched to the width, and the probabilities that they stand for."""
    parts: dict[str, list[float]] = {}
    for item in card.features:
        parts.setdefault(item.feature, []).extend(item.points.ravel().tolist())
    least = card.base_points + sum(min(0.0, *values) for values in parts.values())
    most = card.base_points + sum(max(0.0, *values) for values in parts.values())
    stretch = span / ((most - least) or 1.0)

    def across(score: float) -> float:
        return low + (score - least) * stretch

    chances = [(card.offset + card.factor * float(np.log(p / (1.0 - p))), f"{p:g}") for p in CHANCES]
    return [
        [(across(score), f"{score:g}") for score in _ticks(least, most)],
        [(across(score), text) for score, text in chances if least <= score <= most],
    ]


def _ticks(low: float, high: float) -> list[float]:
    """Choose about eight round numbers between two values."""
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-9) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 8)
    return [round(float(k * step), 10) + 0.0 for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
