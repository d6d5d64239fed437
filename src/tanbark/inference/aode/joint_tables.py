"""Super-parent models for complete rows: children joined into tables of a few columns, multiplied without logarithms.

Reading a table of two joined children costs as much as reading one child's, so rows without gaps are predicted
several times as fast. Each joined table is scaled to the middle of its range; where even so a product could leave
the range of floats, or the tables would take too much memory, there is no joined form and the way in logarithms
stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.machine import row_blocks, run_threads

if TYPE_CHECKING:
    from tanbark.inference.aode.average import SuperParents


JOINED_STATES = 16  # at most, of a joined table: one model's tables then stay in the nearest cache
MOST_BYTES = 1 << 27
SAFE_RANGE = 300.0  # nats on either side of 1 that a product of probabilities may reach, sums included
WORTH_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Joined:
    """Tables of joined children.

    Parameters
    ----------
    members, strides : (n_features,) arrays
        Every feature's group, and the weight of its code in the group's.
    places : (n_groups,) array
        Where a group's states begin.
    tables : (n_states, n_joined * n_classes) array
        Scaled P(children's values | super-parents' states, class), the classes of each joint value together.
    prior : (n_states, n_classes) array
        P(class, super-parents' states), scaled.
    shift : float
        The logarithm of all scales together.
    """

    members: NDArray[np.int64]
    strides: NDArray[np.int64]
    places: NDArray[np.int64]
    tables: Floats
    prior: Floats
    shift: float


def join(models: SuperParents, sizes: NDArray[np.int64]) -> Joined | None:
    """Join children, or give None where that would be too large or unsafe."""
    n_states, _, n_classes = models.shares.shape
    groups = _group(sizes.tolist(), JOINED_STATES)
    joined = [int(np.prod(sizes[group])) for group in groups]
    most = max(4 * sum(joined), int(_states_of(models).max(initial=0)))
    if most > np.iinfo(np.uint16).max or n_states * sum(joined) * n_classes * 8 > MOST_BYTES:
        return None
    return _join_groups(models, sizes, groups, joined)


def _states_of(models: SuperParents) -> NDArray[np.int64]:
    """Return how many states the super-parents of each model have."""
    return np.diff(models.starts, append=len(models.prior))


def _group(sizes: list[int], most: int) -> list[list[int]]:
    """Put neighbouring features together as long as their joint states are few."""
    groups: list[list[int]] = []
    states = most + 1
    for feature, size in enumerate(sizes):
        if states * size > most:
            groups.append([])
            states = 1
        groups[-1].append(feature)
        states *= size
    return groups


def _join_groups(
    models: SuperParents, sizes: NDArray[np.int64], groups: list[list[int]], joined: list[int]
) -> Joined | None:
    from tanbark.inference.aode import kernels as average_kernels

    n_states, _, n_classes = models.shares.shape
    places = np.cumsum(joined, dtype=np.int64) - np.array(joined, np.int64)
    members, strides = np.zeros(len(sizes), np.int64), np.ones(len(sizes), np.int64)
    for number, group in enumerate(groups):
        members[group] = number
        strides[group] = [math.prod(sizes[group[k + 1 :]].tolist()) for k in range(len(group))]
    tables = np.empty((n_states, int(sum(joined)), n_classes))
    lows, highs = np.full(len(groups), np.inf), np.zeros(len(groups))
    average_kernels.join_shares(models.shares, sizes, members, strides, places, tables, lows, highs)
    with np.errstate(divide="ignore"):
        lows, highs = np.append(np.log(lows), models.prior.min()), np.append(np.log(highs), models.prior.max())
    if not (highs - lows).sum() / 2.0 <= SAFE_RANGE:  # infinite where something is impossible
        return None
    middles = (lows + highs) / 2.0
    tables *= np.repeat(np.exp(-middles[:-1]), joined)[:, None]
    prior = np.exp(models.prior - middles[-1])
    return Joined(members, strides, places, tables.reshape(n_states, -1), prior, float(middles.sum()))


def average_joined(
    joined: Joined,
    models: SuperParents,
    sizes: NDArray[np.int64],
    codes: Codes,
    usable: NDArray[np.bool_],
    threads: int,
) -> tuple[Floats, NDArray[np.bool_]]:  # fmt: skip
    """Average the models' joints for rows without gaps; as ``averaged_log_proba``."""
    from tanbark.inference.aode import kernels as average_kernels

    out = np.zeros((codes.shape[1], joined.prior.shape[1]))
    empty = np.zeros(codes.shape[1], np.bool_)

    def work(low: int, high: int) -> None:
        average_kernels.average_joined(
            codes, sizes, joined.members, joined.strides, joined.places, models.members, models.starts,
            _states_of(models), joined.prior, usable, joined.tables, joined.shift, low, high, out, empty,
        )  # fmt: skip

    run_threads(work, row_blocks(len(out), threads, smallest=1024), threads)
    return out, empty
