"""Super-parent models for complete rows: children joined into factors of a few columns, multiplied without logarithms.

Reading a factor of two joined children costs as much as reading one child's CPT, so complete rows are predicted several
times as fast. Each joined factor is scaled to the middle of its range; where even so a product could leave the range of
floats, or the factors would take too much memory, there is no joined form and the computation stays in logarithms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tanbark.arrays import Bools, Codes, Floats, Integers
from tanbark.machine import row_blocks, run_threads

if TYPE_CHECKING:
    from tanbark.inference.aode.average import SuperParents

JOINED_STATES = 16  # at most, of a joined factor: one model's factors then stay in the nearest cache
MOST_BYTES = 1 << 27
SAFE_RANGE = 300.0  # nats on either side of 1 that a product of probabilities may reach, sums included
WORTH_ROWS = 1024


class Models(NamedTuple):
    """Super-parent models of features with ``n_states``.

    Model k has the super-parents ``members[k]`` (-1 where there is but one), whose ``n_joint[k]`` joint states begin at
    ``starts[k]`` among those of all models; ``prior`` is P(class, joint state), and ``usable`` marks the joint states
    that were seen often enough.
    """

    n_states: Integers
    members: Integers
    starts: Integers
    n_joint: Integers
    prior: Floats
    usable: Bools


class Joined(NamedTuple):
    """Children joined into groups: each feature's group and the stride of its code in the group's joint value.

    The joint values of a group begin at ``places``; ``entries[state]`` holds those of all groups one after another, the
    classes of each together. These and ``prior``, P(class, joint state), are scaled; ``shift`` is the logarithm of the
    scales.
    """

    group: Integers
    strides: Integers
    places: Integers
    entries: Floats
    prior: Floats
    shift: float


def join(models: SuperParents, sizes: Integers) -> Joined | None:
    """Join children, or return None where that would be too large or unsafe."""
    n_states, _, n_classes = models.probabilities.shape
    groups = _group(sizes.tolist(), JOINED_STATES)
    joined = [int(np.prod(sizes[group])) for group in groups]
    most = max(4 * sum(joined), int(models.n_joint.max(initial=0)))
    if most > np.iinfo(np.uint16).max or n_states * sum(joined) * n_classes * 8 > MOST_BYTES:
        return None
    return _join_groups(models, sizes, groups, joined)


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


def _join_groups(models: SuperParents, sizes: Integers, groups: list[list[int]], joined: list[int]) -> Joined | None:
    from tanbark.inference.aode import kernels as average_kernels

    n_states, _, n_classes = models.probabilities.shape
    places = np.cumsum(joined, dtype=np.int64) - np.array(joined, np.int64)
    members, strides = np.zeros(len(sizes), np.int64), np.ones(len(sizes), np.int64)
    for number, group in enumerate(groups):
        members[group] = number
        strides[group] = [math.prod(sizes[group[k + 1 :]].tolist()) for k in range(len(group))]
    entries = np.empty((n_states, int(sum(joined)), n_classes))
    lows, highs = np.full(len(groups), np.inf), np.zeros(len(groups))
    average_kernels.join_probabilities(models.probabilities, sizes, members, strides, places, entries, lows, highs)
    with np.errstate(divide="ignore"):
        lows, highs = np.append(np.log(lows), models.prior.min()), np.append(np.log(highs), models.prior.max())
    if not (highs - lows).sum() / 2.0 <= SAFE_RANGE:  # infinite where something is impossible
        return None
    middles = (lows + highs) / 2.0
    entries *= np.repeat(np.exp(-middles[:-1]), joined)[:, None]
    prior = np.exp(models.prior - middles[-1])
    return Joined(members, strides, places, entries.reshape(n_states, -1), prior, float(middles.sum()))


def average_joined(joined: Joined, models: Models, codes: Codes, threads: int) -> tuple[Floats, Bools]:
    """Average the models' joints for complete rows; as ``averaged_log_proba``."""
    from tanbark.inference.aode import kernels as average_kernels

    out = np.zeros((codes.shape[1], joined.prior.shape[1]))
    empty = np.zeros(codes.shape[1], np.bool_)
    scaled = models._replace(prior=joined.prior)

    def work(low: int, high: int) -> None:
        average_kernels.average_joined(codes, scaled, joined, low, high, out, empty)

    run_threads(work, row_blocks(len(out), threads, smallest=1024), threads, long=True)
    return out, empty
