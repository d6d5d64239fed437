"""The figures of the page: mean ranks, log-loss by missing values, learning curves. One SVG each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from benchmarks.studies.accuracy import claims
from tanbark.estimators import Comparison
from tanbark.plot import plot_comparison
from tanbark.plot.canvas import bare

OURS = ("#2f6b3f", "#4c8c5a", "#7fb28a", "#3d7d8c", "#5b84b1", "#2b4f7a", "#88aed0", "#1f9e89")
PEERS = ("#c0504d", "#f4a259", "#8c6d9e", "#b07d4f", "#d98880", "#6e6e6e", "#c9a227", "#a3a3a3")
STYLE = {"svg.hashsalt": "accuracy", "svg.fonttype": "path", "font.size": 9.0}


def save(figure: Figure, path: Path) -> None:
    """Write a figure, the same bytes for the same numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")


def looks(found: dict) -> dict[str, dict[str, Any]]:
    """Choose a line for each method: ours solid in greens and blues, peers dashed in warm colours and greys."""
    out = {}
    for kind, colours, line in (("ours", OURS, "-"), ("peers", PEERS, "--")):
        names = [name for name, about in found["methods"].items() if about["group"] == kind and not about["variant"]]
        for place, name in enumerate(names):
            out[name] = {"color": colours[place % len(colours)], "linestyle": line, "linewidth": 1.5, "marker": "o"}
    for name, about in found["methods"].items():
        if about["variant"] and (plain := out.get(name.partition(" + ")[0])):
            out[name] = {**plain, "linestyle": ":", "marker": "s"}
    return out


def rank_figure(comparison: Comparison, path: Path) -> None:
    """Draw mean ranks with the groups of methods that do not differ."""
    with mpl.rc_context(STYLE):
        half = (len(comparison.names) + 1) // 2
        figure = Figure(figsize=(8.0, 1.0 + 0.28 * half + 0.2 * len(comparison.groups())))
        plot_comparison(comparison, ax=figure.add_subplot())
        save(figure, path)


def missing_figure(found: dict, series: dict[str, dict[str, float]], path: Path) -> None:
    """Draw mean log-loss against the percentage of test values missing at random, and the same not at random.

    ``series`` maps methods to conditions to means.
    """
    places = {"complete": 0, **{name: int(name.split()[0]) for name in found["means"] if name.endswith(" at random")}}
    places = {name: place for name, place in places.items() if "not" not in name}
    other = next(name for name in found["means"] if "not" in name)
    look = looks(found)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 5.2 + 0.19 * len(series)), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=[4.5, 0.5 + 0.19 * len(series)])
        ends = {}
        for method, values in series.items():
            x = [places[name] for name in places if name in values]
            above.plot(x, [values[name] for name in places if name in values], markersize=3, **look[method])
            ends[method] = (x[-1], values[next(name for name in reversed(places) if name in values)])
        direct_labels(above, ends, look)
        above.set(xlabel="test values missing at random, %", ylabel="mean log-loss", xticks=sorted(places.values()))
        dots(below, {m: values[other] for m, values in series.items() if other in values}, look)
        below.set_xlabel(f"mean log-loss, {other}")
        for ax in (above, below):
            bare(ax, "left", "bottom")
            ax.grid(axis="both" if ax is above else "x", color="#e6e6e6", linewidth=0.6)
            ax.set_axisbelow(True)
        save(figure, path)


def direct_labels(ax: Any, ends: dict[str, tuple[float, float]], look: dict) -> None:
    """Write the names beside the ends of lines, moved apart where they would overlap."""
    low, high = ax.get_ylim()
    step, order = (high - low) / 24, sorted(ends, key=lambda name: ends[name][1])
    steps = step * np.arange(len(order))
    heights = isotonic_regression([ends[name][1] for name in order] - steps).x + steps
    for name, height in zip(order, heights, strict=True):
        x = ends[name][0]
        ax.annotate(
            name, (x, ends[name][1]), (x + 2, height), fontsize=7.5, color=look[name]["color"], va="center",
            arrowprops={"arrowstyle": "-", "color": look[name]["color"], "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2},
            annotation_clip=False, parse_math=False,
        )  # fmt: skip


def dots(ax: Any, values: dict[str, float], look: dict) -> None:
    """Draw a dot per method, the best at the top."""
    order = sorted(values, key=lambda name: -values[name])
    for height, name in enumerate(order):
        ax.plot([values[name]], [height], marker="o", markersize=5, color=look[name]["color"])
    ax.set_yticks(range(len(order)), order, fontsize=7.5)


def curve_figure(found: dict, path: Path) -> None:
    """Draw log-loss against training rows, a panel for each data set."""
    look, curves = looks(found), found["curves"]
    columns = min(3, len(curves))
    lines = -(-len(curves) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.1 * columns, 2.6 * lines + 0.8), layout="constrained")
        panels = np.atleast_1d(figure.subplots(lines, columns)).ravel()
        for ax, (name, methods) in zip(panels, curves.items(), strict=False):
            for method, points in methods.items():
                rows, losses, _ = zip(*points, strict=True)
                ax.plot(rows, losses, markersize=2.5, label=method, **look[method])
            ax.set(xscale="log", title=name, xlabel="training rows", ylabel="log-loss")
            ax.title.set_fontsize(9.5)
            ax.grid(color="#e6e6e6", linewidth=0.6)
            ax.tick_params(labelsize=8)
            bare(ax, "left", "bottom")
            clip(ax, methods)
        for ax in panels[len(curves) :]:
            ax.axis("off")
        handles = {text: handle for ax in panels for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
        save(figure, path)


def clip(ax: Any, methods: dict[str, list[list[float]]]) -> None:
    """End the axis above all but the worst tenth of the points, so that one method does not flatten the others."""
    losses = [loss for points in methods.values() for _, loss, _ in points]
    ax.set_ylim(0, 1.05 * float(np.quantile(losses, 0.9)))


def write(found: dict, folder: Path, comparisons: dict[str, Comparison], series: dict) -> None:
    """Write all figures for which there are numbers."""
    for name, comparison in comparisons.items():
        rank_figure(comparison, folder / f"{found['page']}_{name}.svg")
    if series and claims.group(found, narrow=True):
        missing_figure(found, series, folder / f"{found['page']}_missing.svg")
    if found["curves"]:
        curve_figure(found, folder / f"{found['page']}_curves.svg")
