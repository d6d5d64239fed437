"""Charts of comparisons of models and of calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.errors import InputError
from tanbark.estimators.inputs import label_codes
from tanbark.estimators.reports.comparison import Comparison
from tanbark.estimators.reports.measures import calibration
from tanbark.plot.canvas import MUTED, axes, bare


def plot_comparison(comparison: Comparison, *, ax: Any = None) -> Any:
    """Draw mean ranks on a line, the best on the left; thick bars join models that do not differ.

    The bars are those of ``comparison.groups()``: no two models under a bar differ by its test, all pairs adjusted
    together by Hommel's method. The line above is Nemenyi's critical difference of ranks, for scores of independent
    data sets.

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
    """
    if not isinstance(comparison, Comparison) or len(comparison.names) < 2:
        msg = "plot_comparison needs a comparison of at least two models, as compare_scores returns it."
        raise InputError(msg)
    order = np.argsort(comparison.ranks, kind="stable")
    names = [comparison.names[k] for k in order]
    ranks = comparison.ranks[order]
    k, groups = len(names), comparison.groups()
    half = (k + 1) // 2
    depth = 0.55 + 0.22 * len(groups)
    ax = axes(ax, 7.5, 1.0 + 0.28 * half + 0.2 * len(groups))
    lowest, highest = 1.0, float(k)
    ax.hlines(0, lowest, highest, color="#222222", linewidth=1.2)
    for tick in range(1, k + 1):
        ax.vlines(tick, -0.1, 0, color="#222222", linewidth=1.0)
        ax.text(tick, -0.18, str(tick), ha="center", va="bottom", fontsize=8)
    margin = 0.06 * (highest - lowest)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_left = place < half
        height = depth + 0.42 * (place if on_left else k - 1 - place)
        edge = lowest - margin if on_left else highest + margin
        ax.plot([rank, rank, edge], [0, height, height], color=MUTED, linewidth=0.9)
        text = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        ax.text(
            edge, height, f"{text} " if on_left else f" {text}", ha="right" if on_left else "left", va="center",
            fontsize=9, parse_math=False,
        )  # fmt: skip
    place_of = dict(zip(names, ranks, strict=True))
    for level, group in enumerate(groups):
        low, high = place_of[group[0]], place_of[group[-1]]
        ax.hlines(0.22 + 0.2 * level, low - 0.03, high + 0.03, color="#222222", linewidth=3.5)
    _critical_difference(ax, comparison, lowest)
    ax.set_ylim(depth + 0.42 * (half - 1) + 0.3, -1.0)
    ax.axis("off")
    return ax


def _critical_difference(ax: Any, comparison: Comparison, lowest: float) -> None:
    width = comparison.critical_difference
    if comparison.test != "wilcoxon" or not width < len(comparison.names) - 1:
        return
    ax.hlines(-0.62, lowest, lowest + width, color=MUTED, linewidth=1.5)
    ax.vlines([lowest, lowest + width], -0.68, -0.56, color=MUTED, linewidth=1.5)
    ax.text(lowest + width / 2, -0.7, f"CD = {width:.2f}", ha="center", va="bottom", fontsize=8, color=MUTED)


def plot_calibration(y: Any, proba: Any, *, classes: Any, label: Any = None, bins: int = 10, ax: Any = None) -> Any:
    """Draw a reliability diagram: observed frequencies against predicted probabilities.

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
    there = ~np.isnan(posteriors).any(axis=1)
    found = calibration(labels[there], posteriors[there], known, label=label, bins=bins)
    ax = axes(ax, 4.4, 4.2)
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
    sizes = 20 + 180 * found.rows / max(int(found.rows.max()), 1)
    ax.plot(found.predicted, found.observed, color="#5b84b1", linewidth=1.4, zorder=2)
    ax.scatter(found.predicted, found.observed, s=sizes, color="#5b84b1", edgecolor="white", zorder=3)
    ax.set(
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        xlabel="predicted probability",
        ylabel="observed frequency",
        aspect="equal",
    )
    what = "predicted class" if label is None else f"class {label}"
    ax.set_title(f"{what}: calibration error {found.error:.3f}", fontsize=10)
    bare(ax, "left", "bottom")
    return ax
