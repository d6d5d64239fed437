"""Expectation maximisation: CPTs that maximise the likelihood of rows with missing values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.graph import Network
from tanbark.params.smoothing import Smoothing

Tables = tuple[NDArray[Any], ...]

SLACK = 1e-9


class Expectation(Protocol):
    """What the E step returns: expected counts of every family, and the log-likelihood of what was observed."""

    @property
    def counts(self) -> Tables:
        """Expected counts."""

    @property
    def log_likelihood(self) -> float:
        """Total over the rows, in nats."""


@dataclass(frozen=True, eq=False)
class Maximised:
    """The expected counts of the last CPTs, and the steps of the iteration."""

    counts: Tables
    network: Network
    log_likelihoods: tuple[float, ...]
    objectives: tuple[float, ...]
    converged: bool


def log_prior(network: Network, smoothing: Smoothing, fixed: Sequence[int] = ()) -> float:
    r"""Sum :math:`a_{ijk} \ln \theta_{ijk}`, what the prior adds to the objective; ``fixed`` CPTs add nothing."""
    total = 0.0
    for node, table in enumerate(network.tables):
        mass = smoothing.mass_at(table, network.axes(node), node, network.schema)
        if np.any(mass > 0) and node not in fixed:
            wide = np.broadcast_to(mass, table.shape)
            total += float((wide[wide > 0] * np.log(table[wide > 0])).sum())
    return total


def maximise(
    start: Network, expect: Callable[[Network], Expectation], update: Callable[[Tables], Network],
    prior: Callable[[Network], float], *, tol: float, max_iter: int, report: Callable[[int, float], None] | None = None,
) -> Maximised:  # fmt: skip
    r"""Alternate expected counts and estimates until no probability moves by ``tol``.

    .. math:: \theta_{ijk} = \frac{E_{ijk} + a_{ijk}}{\sum_k E_{ijk} + a_{ijk}}, \qquad
              \sum_t \ln P(o_t) + \sum_{ijk} a_{ijk} \ln \theta_{ijk} \text{ never falls}

    Dempster, Laird and Rubin (1977), section 3; the prior is a Dirichlet(a + 1), whose mode this is.
    """
    network, likelihoods, objectives = start, [], []
    for step in range(1, max_iter + 1):
        found = expect(network)
        likelihoods.append(found.log_likelihood)
        objectives.append(found.log_likelihood + prior(network))
        if step > 1:
            fallen = objectives[-2] - objectives[-1]
            assert fallen <= SLACK * max(1.0, abs(objectives[-1])), f"the objective of EM fell by {fallen}"
        if report is not None:
            report(step, found.log_likelihood)
        better = update(found.counts)
        moved = max(float(np.abs(a - b).max()) for a, b in zip(network.tables, better.tables, strict=True))
        network = better
        if moved < tol:
            break
    return Maximised(found.counts, network, tuple(likelihoods), tuple(objectives), moved < tol)
