"""Tornado diagrams of sensitivity, and nomograms of scorecards."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.errors import InputError
from tanbark.estimators.questions.scorecard import FeaturePoints, Scorecard
from tanbark.estimators.questions.sensitivity import Sensitivity
from tanbark.plot.canvas import AGAINST, FOR, MUTED, TOTAL, axes, bare

LONGEST = 44  # characters of a label
APART = 0.045  # labels of a nomogram's line that are nearer, as a fraction of the width, go to another level
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
    ax = axes(ax, 7.0, 1.2 + 0.34 * len(spans))
    for place, span in enumerate(spans):
        low, high = min(span.low, now), max(span.high, now)
        ax.barh(place, now - low, left=low, color=AGAINST, height=0.6)
        ax.barh(place, high - now, left=now, color=FOR, height=0.6)
        for at, state, side in ((span.low, span.low_state, -1), (span.high, span.high_state, 1)):
            if state is not None and span.width > 0.0:
                ax.annotate(
                    _short(state), (at, place), (4 * side, 0), textcoords="offset points", va="center",
                    ha="left" if side > 0 else "right", fontsize=8, parse_math=False,
                )  # fmt: skip
    ax.axvline(now, color=TOTAL, linewidth=1.2)
    labels = [_short(s.feature if s.state is None else f"{s.feature} {_equals(s.state)}") for s in spans]
    ax.set_yticks(range(len(spans)), labels, fontsize=8, parse_math=False)
    ax.invert_yaxis()
    low, high = (pick([now, *(end for s in spans for end in (s.low, s.high))]) for pick in (min, max))
    room = 0.3 * max(high - low, 0.02)
    ax.set_xlim(low - room, high + room)
    ax.set_xticks([tick for tick in ax.get_xticks() if -1e-9 <= tick <= 1 + 1e-9 and low - room < tick < high + room])
    ax.set_xlabel(f"P({sensitivity.target} = {sensitivity.label})", fontsize=9, parse_math=False)
    ax.set_title(sensitivity.title(), fontsize=10, parse_math=False)
    bare(ax, "bottom")
    return ax


def plot_nomogram(card: Any, *, ax: Any = None, most: int = 20) -> Any:
    """Draw a nomogram: a line of points for every feature, and one that turns their sum into a probability.

    Every feature has its states at their points, and where it has a parent, a line for each of the parent's states. The
    points of a row, read off the lines and added to the base points, are found on the last line but one; the last has
    the probability.

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
    ax = axes(ax, 8.0, 1.8 + 0.55 * (len(lines) + 3))
    _scale(ax, 0, [(value, f"{value:g}") for value in _ticks(low, high)], span)
    for place, (_, states, values) in enumerate(lines, start=1):
        _scale(ax, place, sorted(zip(values.tolist(), map(_short, states), strict=True)), span)
    _total(ax, card, len(lines) + 1, (low, span))
    names = ["points", *(line[0] for line in lines), "sum", f"P({card.target} = {card.label})"]
    ax.set_yticks(range(len(names)), [_short(name) for name in names], fontsize=8, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([])
    ax.set_xlim(low - 0.05 * span, high + 0.05 * span)
    ax.set_ylim(len(names) - 0.4, -0.8)
    double = card.factor * float(np.log(2.0))
    ax.set_title(f"{double:g} points double the odds; base points {card.base_points:+.1f}", fontsize=10)
    bare(ax)
    return ax


Line = tuple[str, tuple[Any, ...], Any]


def _lines(item: FeaturePoints) -> list[Line]:
    if item.parent is None:
        return [(item.feature, item.states, item.points)]
    pairs = zip(item.parent_states, item.points, strict=True)
    return [(f"{item.feature} | {item.parent} {_equals(above)}", item.states, points) for above, points in pairs]


def _scale(ax: Any, place: int, marks: list[tuple[float, str]], span: float) -> None:
    """Draw one line with its marks; a label that would overlap the one before goes below the line."""
    values = [value for value, _ in marks]
    ax.plot([min(values), max(values)], [place, place], color=MUTED, linewidth=1.0)
    free = {-1: -np.inf, 1: -np.inf}
    for value, text in marks:
        width = max(APART, 0.013 * len(text)) * span
        side = next((side for side in (-1, 1) if value - width / 2 >= free[side]), 0)
        ax.plot([value, value], [place - 0.1, place + 0.1], color=TOTAL if side else MUTED, linewidth=1.2)
        if side:
            free[side] = value + width / 2
            ax.annotate(
                text, (value, place), (0, -side * 6), textcoords="offset points", ha="center", fontsize=7,
                va="bottom" if side < 0 else "top", parse_math=False,
            )  # fmt: skip


def _total(ax: Any, card: Scorecard, place: int, frame: tuple[float, float]) -> None:
    """Draw the sums that rows may have, stretched to the width, and the probabilities below them."""
    parts: dict[str, list[float]] = {}
    for item in card.features:
        parts.setdefault(item.feature, []).extend(item.points.ravel().tolist())
    least = card.base_points + sum(min(0.0, *values) for values in parts.values())
    most = card.base_points + sum(max(0.0, *values) for values in parts.values())
    low, span = frame
    stretch = span / ((most - least) or 1.0)

    def across(score: float) -> float:
        return low + (score - least) * stretch

    _scale(ax, place, [(across(score), f"{score:g}") for score in _ticks(least, most)], span)
    chances = [(card.offset + card.factor * float(np.log(p / (1.0 - p))), f"{p:g}") for p in CHANCES]
    shown = [(across(score), text) for score, text in chances if least <= score <= most]
    if shown:
        _scale(ax, place + 1, shown, span)


def _ticks(low: float, high: float) -> list[float]:
    """Choose about eight round numbers between two values."""
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-9) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 8)
    return [round(float(k * step), 10) + 0.0 for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _equals(state: Any) -> str:
    text = str(state)
    return text if text[:2] in ("≤ ", "> ") else f"= {text}"


def _short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
