"""The steps of a search: recorded and reported while it runs, a frame and a plot afterwards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from tanbark.display import short
from tanbark.draw.axes import make_axes, text_width
from tanbark.structure.progress import show
from tanbark.table.frames import make_frame

MOST_NAMED = 60  # steps of a plot that are named
LONGEST = 40  # characters of a move


class Step(NamedTuple):
    """One step of a search: the score after it, the move, the number of candidates tried, and the seconds it took."""

    score: float
    move: str
    candidates: int
    seconds: float


class History(tuple[Step, ...]):
    """The steps of a search in order, the start first.

    >>> history = History([Step(0.7, "start", 1, 0.01), Step(0.75, "A -> B", 10, 0.02)])
    >>> history[-1].move, [step.score for step in history]
    ('A -> B', [0.7, 0.75])
    """

    __slots__ = ()

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with a row for each step: step, score, move, candidates, seconds.

        ``backend`` is "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        data: dict[str, list[Any]] = {"step": list(range(len(self)))}
        for name in ("score", "move", "candidates", "seconds"):
            data[name] = [getattr(step, name) for step in self]
        return make_frame(data, backend)

    def plot(self, ax: Any = None) -> Any:
        """Plot the score after each step, with the moves below; return the matplotlib axes.

        Without ``ax`` a new figure is made, which needs matplotlib.
        """
        return plot_steps([(step.move, step.score) for step in self], "score", ax)


def plot_steps(steps: Sequence[tuple[str, float]], label: str, ax: Any = None) -> Any:
    """Plot the value after each (move, value), with the moves below; return the axes. Of very many, some are named."""
    every = -(-len(steps) // MOST_NAMED)
    named = list(range(0, len(steps), max(every, 1)))
    moves = [f"{short(steps[place][0], LONGEST)}  {place}" for place in named]
    if ax is None:
        below = max((text_width(move, 8) for move in moves), default=0.0) / 72
        size = (max(4.5, 1.2 + 0.2 * len(named)), 3.4 + below)
        ax = make_axes(figsize=size, layout="constrained")
    ax.plot(list(range(len(steps))), [value for _, value in steps], marker="o", markersize=4)
    ax.set_xticks(named, moves, rotation=90, fontsize=8, parse_math=False)
    ax.set_xlabel("step")
    ax.set_ylabel(label)
    return ax


class Trace:
    """The steps of a search in progress, each reported on stderr as it is made.

    With ``verbose`` every step is a line of its own. Otherwise a terminal shows one line that is rewritten, and there
    is no output elsewhere, and none at all where it is not to be ``shown``.
    """

    def __init__(self, *, verbose: bool = False, shown: bool = True) -> None:
        self.steps: list[Step] = []
        self._verbose, self._shown = verbose, shown and (verbose or sys.stderr.isatty())

    def add(self, score: float, move: str, candidates: int, seconds: float) -> None:
        """Append a step and report it."""
        self.steps.append(Step(score, move, candidates, seconds))
        if self._shown:
            line = f"step {len(self.steps) - 1}: {score:.6f}  {move}  ({candidates} candidates, {seconds:.2f} s)"
            show(line, keep=self._verbose)

    def end(self) -> None:
        """Clear the rewritten line."""
        if self._shown and not self._verbose:
            show("", keep=False)
