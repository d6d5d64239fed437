"""The queries that a network answers: posteriors, most probable states, likelihoods, divergences and samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tanbark.graph.results import Assignment, Cost, Posterior, Posteriors

if TYPE_CHECKING:
    from tanbark.graph.network import Network

Evidence = Mapping[str, Any] | None
Targets = str | int | Sequence[str | int]


class Queries:
    """What lets a network answer queries; the work is done in ``inference``, which is imported with the first one."""

    def _network(self) -> Network:
        """Return the network that is asked."""
        raise AssertionError("a network answers for itself")

    @overload
    def query(
        self, targets: Targets, evidence: Evidence = None, *, soft: Evidence = None, max_entries: int | None = None,
        max_memory: float | None = None, method: str = "exact", n_samples: int = 100_000, random_state: Any = 0,
    ) -> Posterior: ...  # fmt: skip
    @overload
    def query(
        self, targets: Targets, evidence: Any, *, soft: Evidence = None, max_entries: int | None = None,
        max_memory: float | None = None, method: str = "exact", n_samples: int = 100_000, random_state: Any = 0,
    ) -> Posteriors: ...  # fmt: skip
    def query(
        self, targets: Targets, evidence: Any = None, *, soft: Evidence = None, max_entries: int | None = None,
        max_memory: float | None = None, method: str = "exact", n_samples: int = 100_000, random_state: Any = 0,
    ) -> Posterior | Posteriors:  # fmt: skip
        """Return the joint posterior of some variables.

        Parameters
        ----------
        targets : name, or list of names
        evidence : dict of name to state, or a frame
            A frame is one query per row, all at once; a missing value in it is not observed.
        soft : dict of name to likelihoods, optional
            Virtual evidence: for every state, in order or by name, how likely the observation is under it.
        max_entries : int, optional
            Raise an error where a factor would be larger than this; see :meth:`query_cost`. Without it, where all
            factors together have more than 2**36 entries, which take minutes.
        max_memory : float, optional
            Bytes that the query may take, by default half of the free memory. One that needs more is divided over the
            states of some variables, at a cost in time; one that cannot be divided so raises an error.
        method : {"exact", "auto", "likelihood-weighting", "gibbs", "loopy"}, default "exact"
            "auto" is exact where no factor is too large, and otherwise samples, or propagates where samples are worth
            little. The posterior's ``method`` is the one that was used. Its ``errors`` are standard errors of samples;
            of "loopy" propagation, how far it moves when a loop is cut: an indication, 0 on trees, where it is exact.
        n_samples : int, default 100,000
            Samples of the methods that draw.
        random_state : int or Generator, default 0

        Returns
        -------
        Posterior, or Posteriors for a frame

        Evidence of probability zero is an :class:`~tanbark.errors.ImpossibleEvidenceError`.
        """
        from tanbark.inference import queries

        return queries.query(
            self._network(), targets, evidence, soft=soft, limits=queries.Limits(max_entries, max_memory),
            method=method, n_samples=n_samples, random_state=random_state,
        )  # fmt: skip

    def query_cost(self, targets: Targets, evidence: Iterable[str] = (), *, soft: Iterable[str] = ()) -> Cost:
        """Return the cost of a query, without running it; only the names in the evidence matter."""
        from tanbark.inference import queries

        return queries.query_cost(self._network(), targets, evidence, soft)

    def mpe(
        self, evidence: Evidence = None, *, soft: Evidence = None, max_entries: int | None = None,
        max_memory: float | None = None,
    ) -> Assignment:  # fmt: skip
        """Find the most probable explanation: the states of all other variables that are jointly most probable.

        Among equally probable ones, each variable takes the lowest state that the variables eliminated after it leave.
        """
        from tanbark.inference import queries

        return queries.mpe(self._network(), evidence, soft=soft, limits=queries.Limits(max_entries, max_memory))

    def map(
        self, targets: Targets, evidence: Evidence = None, *, soft: Evidence = None, max_entries: int | None = None,
        max_memory: float | None = None,
    ) -> Assignment:  # fmt: skip
        """Find the jointly most probable states of some variables, all others summed out.

        These are not the states of :meth:`mpe`, nor the most probable state of each alone.
        """
        from tanbark.inference import queries

        limits = queries.Limits(max_entries, max_memory)
        return queries.map_states(self._network(), targets, evidence, soft=soft, limits=limits)

    def probability_of_evidence(
        self, evidence: Any = None, *, soft: Evidence = None, log: bool = False, max_entries: int | None = None,
        max_memory: float | None = None,
    ) -> Any:  # fmt: skip
        """Return P(evidence), or its logarithm; an array for a frame of evidence. Impossible evidence has zero.

        ``max_entries`` and ``max_memory`` are those of :meth:`query`.
        """
        from tanbark.inference import queries

        limits = queries.Limits(max_entries, max_memory)
        return queries.probability_of_evidence(self._network(), evidence, soft=soft, log=log, limits=limits)

    def log_likelihood(
        self, data: Any, *, per_row: bool = False, max_entries: int | None = None, max_memory: float | None = None
    ) -> Any:
        """Return the log-likelihood of a frame, in nats, missing values and columns summed out; or that of every row.

        ``max_entries`` and ``max_memory`` are those of :meth:`query`.
        """
        from tanbark.inference import queries

        limits = queries.Limits(max_entries, max_memory)
        rows = queries.probability_of_evidence(self._network(), data, soft=None, log=True, limits=limits)
        return rows if per_row else float(np.sum(rows))

    def mutual_information(
        self, x: Targets, y: Targets, given: Targets = (), *, unit: str = "nats", max_entries: int | None = None
    ) -> float:
        """Return the mutual information I(x; y | given) of variables in the network, exactly; in "nats" or "bits".

        >>> import tanbark as tb
        >>> tables = {"A": [0.5, 0.5], "B": (("A",), [[1, 0], [0, 1]])}
        >>> tb.Network.from_tables(dict.fromkeys("AB", (0, 1)), tables).mutual_information("A", "B", unit="bits")
        1.0
        """
        from tanbark.inference import divergence

        return divergence.mutual_information(self._network(), x, y, given, unit=unit, max_entries=max_entries)

    def kl_divergence(self, other: Network, *, unit: str = "nats", max_entries: int | None = None) -> float:
        """Return the Kullback-Leibler divergence of this network from another over the same columns, exactly.

        It is the sum over families of the expected logarithms of the CPTs, in "nats" or "bits"; infinite where
        ``other`` excludes what is possible here.
        """
        from tanbark.inference import divergence

        return divergence.kl_divergence(self._network(), other, unit=unit, max_entries=max_entries)

    def sample(
        self, n: int, evidence: Evidence = None, *, soft: Evidence = None, random_state: Any = None,
        backend: str | None = None, max_entries: int | None = None, max_memory: float | None = None,
    ) -> Any:  # fmt: skip
        """Draw rows from the network, or exactly from its posterior given evidence, as a frame.

        ``random_state`` is a seed or a ``numpy.random.Generator``; the same seed gives the same rows.
        ``max_entries`` and ``max_memory`` are those of :meth:`query`, but draws with evidence are not divided.
        """
        from tanbark.inference import queries, sampling

        limits = queries.Limits(max_entries, max_memory)
        return sampling.sample(
            self._network(), n, evidence, soft=soft, random_state=random_state, backend=backend, limits=limits
        )  # fmt: skip
