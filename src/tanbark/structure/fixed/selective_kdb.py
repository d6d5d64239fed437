"""Selective k-dependence classifier: the number of parents and of features with the smallest leave-one-out loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tanbark.arrays import TIE, Floats
from tanbark.checks import check_flag
from tanbark.counts import CountEngine
from tanbark.errors import ReducedModelWarning, find, warn
from tanbark.graph import Dag
from tanbark.structure.fixed.kdb import ordered_parents
from tanbark.structure.progress import Progress
from tanbark.structure.result import Learnt
from tanbark.table import Schema
from tanbark.table.frames import make_frame

CRITERIA = dict.fromkeys(("log_loss", "rmse"))
MOST_CELLS = 1 << 23  # of the CPTs of all features and orders together
MOST_ENTRIES = 1 << 25  # left-out logarithms that are held at once (8 bytes each)


class Losses(NamedTuple):
    """Leave-one-out losses per row, each of shape (temperatures, max_parents + 1, n_features + 1)."""

    log_loss: Floats
    rmse: Floats


class NestedEvaluator(Protocol):
    """What measures all nested models of a k-dependence classifier at once."""

    def __call__(
        self, order: Sequence[int], parents: Sequence[tuple[int, ...]], max_parents: int,
        advance: Callable[[float], None],
    ) -> Losses:  # fmt: skip
        """Return the losses of the models with the first k parents of the first n features, for all k and n."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The nested models that were compared, and the one that was chosen.

    Parameters
    ----------
    features : tuple of str
        All features, by falling mutual information with the class; the first ``n_features`` are in the model.
    criterion : str
    n_parents, n_features : int
        Feature parents of each feature, at most, and features of the chosen model.
    log_loss, rmse : (max_parents + 1, number of features + 1) arrays
        Leave-one-out losses by k and number of features: nats per row, and the root mean square of one minus the
        probability of the right class. Where the temperature is fitted, at the best of a few temperatures.
    """

    features: tuple[str, ...]
    criterion: str
    n_parents: int
    n_features: int
    log_loss: Floats
    rmse: Floats

    @property
    def chosen(self) -> tuple[str, ...]:
        """The features of the chosen model."""
        return self.features[: self.n_features]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with a row for each model: parents, features, the feature added last, and both losses.

        ``backend`` is "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        k, n = (places.ravel().tolist() for places in np.indices(self.log_loss.shape))
        data = {
            "n_parents": k, "n_features": n, "added": ["", *self.features] * len(self.log_loss),
            "log_loss": self.log_loss.ravel().tolist(), "rmse": self.rmse.ravel().tolist(),
        }  # fmt: skip
        return make_frame(data, backend)

    def __repr__(self) -> str:
        losses = self.rmse if self.criterion == "rmse" else self.log_loss
        most, n = (size - 1 for size in losses.shape)
        return (
            f"<Selection: {self.n_features} of {n} features, k = {self.n_parents} of {most}; leave-one-out "
            f"{self.criterion} {losses[self.n_parents, self.n_features]:.4f}, of the whole {losses[most, n]:.4f}>"
        )


def learn(
    counts: CountEngine, *, evaluate: NestedEvaluator, max_parents: int = 3, criterion: str = "log_loss",
    max_cells: int | None = None, verbose: bool = False,
) -> Learnt:  # fmt: skip
    """Make a k-dependence classifier of the highest order, and keep the best of the models that it contains.

    Parameters
    ----------
    counts : CountEngine
    evaluate : NestedEvaluator
    max_parents : int
        The highest k that is tried.
    criterion : {"log_loss", "rmse"}
    max_cells : int, optional
        The largest CPT of a feature; its weakest parents are not tried beyond that, with a warning. The same goes for
        the largest CPTs where all orders together would have more than 2**23 cells.
    verbose : bool

    Notes
    -----
    With k = 0 to ``max_parents`` and n = 0 to all features, model (k, n) has the first n features in the order of kDB,
    each with its k best parents. All are scored in one pass over the rows, each row without its own count; ties within
    1e-9 go to fewer features, then to fewer parents. Martínez, Webb, Chen and Zaidi (2016), Scalable learning of
    Bayesian network classifiers, section 4.
    """
    find("criterion", criterion, CRITERIA)
    check_flag("verbose", verbose)
    progress = Progress("SelectiveKDB", shown=bool(verbose))
    schema = counts.schema
    order, parents = ordered_parents(counts, max_parents=max_parents)
    parents = _tried(schema, parents, counts.total, max_cells)
    highest = max(map(len, parents), default=0)
    progress.say(f"ordered {len(order)} features; scoring {(highest + 1) * len(order) + 1} nested models")
    progress.start()
    losses = evaluate(order, parents, highest, progress.advance)
    best = (losses.rmse if criterion == "rmse" else losses.log_loss).min(axis=0).T  # by features, then parents
    n_features, n_parents = divmod(int(np.flatnonzero(best <= best.min() + TIE)[0]), highest + 1)
    found = Selection(
        tuple(schema.names[feature] for feature in order), criterion, n_parents, n_features,
        losses.log_loss.min(axis=0), losses.rmse.min(axis=0),
    )  # fmt: skip
    progress.say(repr(found).strip("<>"))
    kept = set(order[:n_features])
    families = [(*found[:n_parents], schema.target) if x in kept else () for x, found in enumerate(parents)]
    return Learnt(Dag(schema.names, (*families, ())), report=found)


def _tried(
    schema: Schema, parents: Sequence[tuple[int, ...]], total: float, max_cells: int | None
) -> list[tuple[int, ...]]:
    """Leave out the last parents of the largest families until all orders together fit in memory; warn of it."""
    states, n_classes = schema.cardinalities, schema.cardinalities[-1]
    sizes = [[math.prod(states[c] for c in (x, -1, *found[:k])) for k in range(len(found) + 1)]
             for x, found in enumerate(parents)]  # fmt: skip
    limit, kept = max(max(cells) for cells in sizes), [list(cells) for cells in sizes]
    limit = limit if max_cells is None else min(limit, max_cells)
    while True:
        kept = [[cells[0], *(size for size in cells[1:] if size <= limit)] for cells in sizes]
        held = [size for cells in kept for size in cells]
        if limit < 2 or (
            sum(held) <= MOST_CELLS and n_classes * sum(min(size, total) for size in held) <= MOST_ENTRIES
        ):
            break
        limit //= 2
    if kept != sizes:
        few = sum(len(now) < len(before) for now, before in zip(kept, sizes, strict=True))
        msg = (
            f"SelectiveKDB tries fewer than max_parents parents for {few:,} of {len(sizes):,} features, so that no CPT "
            f"has more than {limit:,} cells and all fit in memory. To try more, give columns fewer states or drop some."
        )
        warn(msg, ReducedModelWarning)
    return [found[: len(cells) - 1] for found, cells in zip(parents, kept, strict=True)]
