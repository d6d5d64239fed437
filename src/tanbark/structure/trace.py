"""How a search got where it ended: its steps, as a frame and as a picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tanbark.errors import MissingPackageError
from tanbark.table.frames import make_frame


@dataclass(frozen=True)
class Step:
    """One step of a search: the score after it, what it did, how many candidates were tried, and the seconds."""

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
        """Draw the score after each step, with what the step did; give the axes of matplotlib.

        Without ``ax`` a new figure is made, which needs matplotlib.
        """
        if ax is None:
            ax = _pyplot().subplots()[1]
        places, scores = list(range(len(self))), [step.score for step in self]
        ax.plot(places, scores, marker="o")
        for place, step in zip(places, self, strict=True):
            ax.annotate(step.move, (place, step.score), xytext=(4, -10), textcoords="offset points", fontsize="small")
        ax.set_xticks(places)
        ax.set_xlabel("step")
        ax.set_ylabel("score")
        return ax


def report(steps: Sequence[Step], *, verbose: bool) -> None:
    """Tell of the last step: a line each if asked, one line that is rewritten in a terminal, nothing elsewhere."""
    if not verbose and not sys.stderr.isatty():
        return
    step = steps[-1]
    line = f"step {len(steps) - 1}: {step.score:.6f}  {step.move}  ({step.candidates} candidates, {step.seconds:.2f} s)"
    if verbose:
        print(line, file=sys.stderr)
    else:
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def end_report(*, verbose: bool) -> None:
    """Take the rewritten line off the terminal."""
    if sys.stderr.isatty() and not verbose:
        print("\r\033[K", end="", file=sys.stderr)


def _pyplot() -> Any:
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        msg = "A plot needs matplotlib, which is not installed: pip install matplotlib"
        raise MissingPackageError(msg) from error
