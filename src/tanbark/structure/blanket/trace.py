"""How a search by message length went: every candidate's length, what was taken, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tanbark.structure.trace import plot_steps
from tanbark.table.frames import make_frame


@dataclass(frozen=True)
class TraceStep:
    """One step of the search.

    Parameters
    ----------
    action : {"start", "add", "drop", "stop"}
    feature : str or None
        What was added or dropped.
    length : float
        The message length after the step, in nits.
    chosen : tuple of str
        The features that are in after the step, in the order in which they came.
    tried : tuple of (str, float)
        Every candidate, ``"+ name"`` or ``"- name"``, with the message length it leads to.
    reason : str
        Why the search stopped, in the last step.
    """

    action: str
    feature: str | None
    length: float
    chosen: tuple[str, ...]
    tried: tuple[tuple[str, float], ...] = ()
    reason: str = ""

    @property
    def score(self) -> float:
        """Minus the message length, so that higher is better."""
        return -self.length

    @property
    def move(self) -> str:
        """What the step did, in a word or two."""
        return self.action if self.feature is None else f"{'+' if self.action == 'add' else '-'} {self.feature}"


class BlanketTrace(tuple[TraceStep, ...]):
    """The steps of a search by message length, the start first and the stop last.

    >>> trace = BlanketTrace([
    ...     TraceStep("start", None, 12.5, ()),
    ...     TraceStep("add", "X1", 10.25, ("X1",), (("+ X1", 10.25), ("+ X2", 11.0))),
    ...     TraceStep("stop", None, 10.25, ("X1",), (("+ X2", 10.5),), "no candidate shortens the message"),
    ... ])
    >>> print(trace)
    start {}                  12.5000
        + X1                  10.2500  <- taken
        + X2                  11.0000
    add X1 {X1}               10.2500
        + X2                  10.5000
    stop {X1}                 10.2500  no candidate shortens the message
    """

    __slots__ = ()

    @property
    def reason(self) -> str:
        """Why the search stopped."""
        return self[-1].reason

    def __str__(self) -> str:
        lines: list[tuple[str, float, str]] = []
        for step in self:
            lines += [(f"    {name}", length, _mark(step, name)) for name, length in step.tried]
            head = step.action if step.feature is None else f"{step.action} {step.feature}"
            lines.append((f"{head} {{{', '.join(step.chosen)}}}", step.length, step.reason))
        width = min(60, max(20, *(len(text) for text, _, _ in lines)) + 1)
        return "\n".join(f"{text:<{width}}{length:>12.4f}  {note}".rstrip() for text, length, note in lines)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with a row for each candidate of each step: step, candidate, length, change, taken.

        ``change`` is against the length before the step, and negative where the candidate shortens the message. Steps
        without candidates have a row of their own. ``backend`` is "pandas", "polars" or "pyarrow"; by default the first
        of them that is installed.
        """
        data: dict[str, list[Any]] = {"step": [], "candidate": [], "length": [], "change": [], "taken": []}
        before = self[0].length if self else 0.0
        for place, step in enumerate(self):
            for name, length in step.tried or ((step.move, step.length),):
                row = (place, name, length, length - before, not step.tried or bool(_mark(step, name)))
                for column, value in zip(data.values(), row, strict=True):
                    column.append(value)
            before = step.length
        return make_frame(data, backend)

    def plot(self, ax: Any = None) -> Any:
        """Plot the message length after each step, with the moves below; return the matplotlib axes.

        Without ``ax`` a new figure is made, which needs matplotlib.
        """
        steps = [(step.move, step.length) for step in self if step.action != "stop"]
        return plot_steps(steps, "message length (nits)", ax)


def _mark(step: TraceStep, name: str) -> str:
    return "<- taken" if step.feature is not None and name == step.move else ""
