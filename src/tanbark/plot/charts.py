"""Charts of comparisons of models and of calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.display import BAR, short
from tanbark.errors import InputError
from tanbark.estimators.inputs import label_codes
from tanbark.estimators.reports.comparison import Comparison
from tanbark.estimators.reports.measures import Calibration, calibration
from tanbark.plot.canvas import MUTED, SMALL, axes, bare, inner_width, room

MODEL = 40  # characters of a model's name
LINE = 4.5  # inches of the line of ranks
SQUARE = 3.6  # inches of the unit square
FLOOR = -0.26  # where the bars of the rows stand
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def plot_comparison(comparison: Comparison, *, ax: Any = None) -> Any:
    """Draw mean ranks on a line, the best on the left; thick bars join models that do not differ.

    The bars are those of ``comparison.groups()``: no two models under a bar differ by its test, all pairs adjusted
    together by Hommel's method. The line above is Nemenyi's critical difference of ranks, for scores of independent
    data sets. The title names the metric and which values of it are better. Where the comparison has a control, models
    that differ from it at ``comparison.significance`` have a star.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib axes, optional

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Section 3.2.

    Examples
    --------
    >>> import tanbark as tb
    >>> result = tb.compare_scores({"a": [0.9, 0.8, 0.9], "b": [0.7, 0.7, 0.8], "c": [0.6, 0.7, 0.8]})
    >>> ax = tb.plot.plot_comparison(result)
    >>> ax.get_title()
    'mean ranks by score (higher is better)'
    """
    if not isinstance(comparison, Comparison) or len(comparison.names) < 2:
        msg = "plot_comparison needs a comparison of at least two models, as compare_scores returns it."
        raise InputError(msg)
    order = np.argsort(comparison.ranks, kind="stable")
    ranks, names = comparison.ranks[order], [short(comparison.names[k], MODEL) for k in order]
    k, groups = len(names), comparison.groups()
    half = (k + 1) // 2
    depth = 0.55 + 0.22 * len(groups)
    title = f"mean ranks by {short(comparison.title(), 60)}"
    if comparison.control is not None:
        found = zip(names, comparison.p_values[order], strict=True)
        names = [f"{name}*" if p <= comparison.significance else name for name, p in found]
        title += f"; * differs from {short(comparison.control, MODEL)}"
    left, right = room([f"{name}  00.00 " for name in names[:half]], 9), room([f" 00.00  {n}" for n in names[half:]], 9)
    ax = axes(ax, max(left + LINE + right + 0.2, room([title], 10) + 0.4), 1.4 + 0.28 * half + 0.2 * len(groups))
    _rank_axis(ax, k)
    margin = 0.06 * (k - 1)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_left = place < half
        height = depth + 0.42 * (place if on_left else k - 1 - place)
        edge = 1 - margin if on_left else k + margin
        ax.plot([rank, rank, edge], [0, height, height], color=MUTED, linewidth=0.9)
        text = f"{name}  {rank:.2f} " if on_left else f" {rank:.2f}  {name}"
        ax.text(edge, height, text, ha="right" if on_left else "left", va="center", fontsize=9, parse_math=False)
    place_of = dict(zip((comparison.names[k] for k in order), ranks, strict=True))
    for level, group in enumerate(groups):
        low, high = place_of[group[0]], place_of[group[-1]]
        reach = 0.012 * (k - 1)
        ax.hlines(0.22 + 0.2 * level, low - reach, high + reach, color="#222222", linewidth=3.5)
    _critical_difference(ax, comparison, 1.0)
    ax.set_ylim(depth + 0.42 * (half - 1) + 0.3, -1.0)
    ax.set_xlim(1 - margin, k + margin)
    ax.axis("off")
    ax.set_title(title, fontsize=10, parse_math=False)
    return ax


def _rank_axis(ax: Any, k: int) -> None:
    """Draw the line of ranks, with as many numbers as can be told apart."""
    ax.hlines(0, 1, k, color="#222222", linewidth=1.2)
    every = -(-k // 20)
    for tick in range(1, k + 1):
        labelled = (tick - 1) % every == 0
        ax.vlines(tick, -0.1 if labelled else -0.05, 0, color="#222222", linewidth=1.0)
        if labelled:
            ax.text(tick, -0.18, str(tick), ha="center", va="bottom", fontsize=8)


def _critical_difference(ax: Any, comparison: Comparison, lowest: float) -> None:
    width = comparison.critical_difference
    if comparison.test == "resampled-t" or not width < len(comparison.names) - 1:
        return
    ax.hlines(-0.62, lowest, lowest + width, color=MUTED, linewidth=1.5)
    ax.vlines([lowest, lowest + width], -0.68, -0.56, color=MUTED, linewidth=1.5)
    ax.text(lowest + width / 2, -0.7, f"CD = {width:.2f}", ha="center", va="bottom", fontsize=8, color=MUTED)


def plot_calibration(
    y: Any, proba: Any, *, classes: Any, label: Any = None, bins: int = 10, min_rows: int = 20, ax: Any = None
) -> Any:
    """Draw a reliability diagram: observed frequencies against predicted probabilities.

    Bins of equal width that have few rows are joined with their neighbours. The vertical lines are Wilson's 95 %
    intervals, the bars below are as wide as the bins, and their numbers are the rows. The calibration error of the
    title is that of all ``bins`` bins, as ``tanbark evaluate`` reports it.

    Parameters
    ----------
    y : labels
    proba : array of shape (n_rows, n_classes)
        Result of ``predict_proba`` for rows outside the training set.
    classes : array
        The labels of the columns, such as ``clf.classes_``.
    label : optional
        The class whose probabilities are shown; by default each row's predicted class.
    bins : int, default 10
    min_rows : int, default 20
        Rows that each bin has at least, where there are as many.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> import tanbark as tb
    >>> ax = tb.plot.plot_calibration([0, 1, 1], np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]), classes=[0, 1])
    >>> ax.get_xlabel()
    'predicted probability'
    """
    known, posteriors = np.asarray(classes), np.asarray(proba, float)
    labels = np.asarray(y)
    label_codes(labels, known)
    if posteriors.shape != (len(labels), len(known)):
        wanted = (len(labels), len(known))
        msg = f"proba must have a row per label and a column per class, {wanted}; got {posteriors.shape}."
        raise InputError(msg)
    if label is not None and label not in known:
        msg = f"label must be one of the classes {known.tolist()!r:.200}; got {label!r}."
        raise InputError(msg)
    there = ~np.isnan(posteriors).any(axis=1)
    rows = (labels[there], posteriors[there], known)
    found = calibration(*rows, label=label, bins=bins, min_rows=min_rows)
    error = calibration(*rows, label=label, bins=bins).error
    what = "predicted class" if label is None else f"class {short(label, 24)}"
    mine = ax is None
    ax = axes(ax, SQUARE + 1.0, SQUARE * 1.26 + 0.9)
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
    low, high = found.intervals()
    ax.vlines(found.predicted, low, high, color=BAR, linewidth=1.4, alpha=0.7, zorder=2)
    ax.plot(found.predicted, found.observed, color=BAR, linewidth=1.0, zorder=2)
    ax.scatter(found.predicted, found.observed, s=34, color=BAR, edgecolor="white", zorder=3)
    _draw_rows(ax, found, SQUARE if mine else inner_width(ax))
    ax.set(
        xlim=(-0.02, 1.02), ylim=(-0.28, 1.03), xlabel="predicted probability", ylabel="observed frequency",
        aspect="equal", xticks=TICKS, yticks=TICKS,
    )  # fmt: skip
    ax.set_title(f"{what}\ncalibration error {error:.3f}", fontsize=10, parse_math=False)
    bare(ax, "left", "bottom")
    ax.spines["left"].set_bounds(0, 1)
    return ax


def _draw_rows(ax: Any, found: Calibration, inches: float) -> None:
    """Draw the numbers of rows as a histogram below the diagram."""
    most = max(int(found.rows.max(initial=0)), 1)
    for (low, high), rows in zip(found.edges, found.rows, strict=True):
        height = 0.1 * int(rows) / most
        ax.bar((low + high) / 2, height, high - low, bottom=FLOOR, color="#d5dde6", edgecolor="white", linewidth=0.8)
        text, wide = f"{rows:,}", (high - low) / 1.04 * inches - 0.03
        upright = room([text], 7) > wide
        if wide > 0.12 or not upright:
            ax.text(
                (low + high) / 2, FLOOR + (0.005 if upright else height + 0.008), text, fontsize=7, ha="center",
                va="bottom", color="#444444", rotation=90 if upright else 0,
            )  # fmt: skip
    ax.annotate(
        "rows", (0, FLOOR + 0.05), (-6, 0), textcoords="offset points", ha="right", va="center", fontsize=SMALL,
        color="#444444", annotation_clip=False,
    )  # fmt: skip
