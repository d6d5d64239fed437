"""The K best graphs by BDeu: exactly, by dynamic programming over all subsets of columns, or by local search."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.checks import GIB, allowed_memory, check_count, check_ess
from tanbark.counts import CountEngine
from tanbark.errors import TableTooLargeError, find
from tanbark.graph import Dag
from tanbark.graph.class_size import class_size
from tanbark.graph.pdag import PartialGraph
from tanbark.machine import run_threads, thread_count
from tanbark.structure.exact.subset_scores import CompleteRows, subset_scores
from tanbark.structure.progress import Progress
from tanbark.structure.rules import MAX_CELLS

METHODS = ("auto", "dp", "local")
DISTINCT = ("classes", "dags")
MOST_WORK = 1 << 26  # k n 2^n up to which "auto" is dynamic programming: some ten seconds
LARGEST = 30  # columns whose sets are numbered by 32 bits
LONG_SEARCH = 16  # columns from which on progress is shown on a terminal

Parents = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RankedGraphs:
    """Graphs by falling score, and what their posterior probabilities are computed from.

    Parameters
    ----------
    dags : tuple of Dag
        No two of them alike: equivalent, where equivalence classes were asked for, or equal.
    scores : tuple of float
        Their BDeu scores, in nats.
    sizes : tuple of int
        The number of DAGs that each stands for: the graphs of its kind that are equivalent to it, or 1.
    method : str
        "dp" where no graph of the kind that is not listed has a higher score; "local" where that is not known.
    n_searched : int
        Columns that the search was over.
    """

    dags: tuple[Dag, ...]
    scores: tuple[float, ...]
    sizes: tuple[int, ...]
    method: str
    n_searched: int

    @property
    def proved(self) -> bool:
        """Whether the graphs are proved the K best."""
        return self.method == "dp"


@dataclass(frozen=True)
class Wanted:
    """What is asked for: how many graphs, of which kind and by which search."""

    k: int
    ess: float
    max_parents: int | None
    distinct: str
    method: str
    max_memory: float | None
    verbose: bool
    max_cells: int

    def __post_init__(self) -> None:
        check_count("k", self.k, least=1)
        check_ess(self.ess)
        if self.max_parents is not None:
            check_count("max_parents", self.max_parents)
        find("distinct", self.distinct, dict.fromkeys(DISTINCT))
        find("method", self.method, dict.fromkeys(METHODS))


def learn_augmented(
    counts: CountEngine, *, k: int = 10, ess: float = 1.0, max_parents: int | None = None, distinct: str = "classes",
    method: str = "auto", max_memory: float | None = None, verbose: bool = False, max_cells: int = MAX_CELLS,
) -> RankedGraphs:  # fmt: skip
    """Find the K augmented naive Bayes graphs of highest BDeu score.

    Parameters
    ----------
    counts : CountEngine
    k : int
        How many; fewer are returned where there are fewer.
    ess : float
        Equivalent sample size.
    max_parents : int, optional
        The most feature parents of a feature.
    distinct : {"classes", "dags"}
        Whether no two graphs are equivalent, or only no two equal.
    method : {"auto", "dp", "local"}
        Dynamic programming, which is exact, or the best graphs that a local search meets.
    max_memory : float, optional
        Bytes that dynamic programming may take; by default half of the free memory.
    verbose : bool

    Notes
    -----
    Columns with one state take no part, and rows with missing values are left out. Tian, He and Ram (2010), Bayesian
    model averaging using the k-best Bayesian network structures; Chen and Tian (2014), Finding the k-best equivalence
    classes of Bayesian network structures for model averaging. Equal scores at the last place are settled by the order
    of the columns.
    """
    wanted = Wanted(k, ess, max_parents, distinct, method, max_memory, verbose, max_cells)
    return _learn(counts, wanted, given_class=True)


def learn_general(
    counts: CountEngine, *, k: int = 10, ess: float = 1.0, max_parents: int | None = None, distinct: str = "classes",
    method: str = "auto", max_memory: float | None = None, verbose: bool = False, max_cells: int = MAX_CELLS,
) -> RankedGraphs:  # fmt: skip
    """Find the K graphs over the features and the class of highest BDeu score; options as in ``learn_augmented``."""
    wanted = Wanted(k, ess, max_parents, distinct, method, max_memory, verbose, max_cells)
    return _learn(counts, wanted, given_class=False)


def _learn(counts: CountEngine, wanted: Wanted, *, given_class: bool) -> RankedGraphs:
    schema = counts.schema
    n_columns = len(schema.names)
    searched = [i for i, states in enumerate(schema.cardinalities) if states > 1]
    searched = [i for i in searched if not (given_class and i == schema.target)]
    rows = CompleteRows.of(counts)
    method = _method(wanted, len(searched))
    if method == "dp":
        found = _by_subsets(rows, tuple(searched), schema.target if given_class else None, wanted, counts.n_jobs)
    else:
        from tanbark.structure.ranked.local import search

        found = search(rows, schema, searched, wanted, given_class=given_class, n_jobs=counts.n_jobs)
    prior = 0.0
    if given_class:
        alone = subset_scores(rows, (schema.target,), given=None, ess=float(wanted.ess), n_jobs=1)
        prior = float(alone[1] - alone[0])
    inner = [Dag(schema.names, parents) for parents, _ in found]
    if wanted.distinct == "classes":
        inner = [_representative(dag) for dag in inner]
    dags = [Dag.augmented(schema.names, dag.parents[: n_columns - 1]) for dag in inner] if given_class else inner
    sizes = [class_size(dag) if wanted.distinct == "classes" else 1 for dag in inner]
    scores = tuple(score + prior for _, score in found)
    return RankedGraphs(tuple(dags), scores, tuple(sizes), method, len(searched))


def _representative(dag: Dag) -> Dag:
    """Return the graph that stands for an equivalence class, the same for each of its members."""
    graph = PartialGraph(len(dag.names))
    graph.adjacent = dag.cpdag().adjacency()
    return Dag(dag.names, graph.extension()[0])


def _method(wanted: Wanted, n: int) -> str:
    """Choose the search, and raise an error where dynamic programming would take too much."""
    needed, allowed = needed_memory(n, wanted.k), allowed_memory(wanted.max_memory)
    fits = needed <= allowed and n <= LARGEST
    if wanted.method == "auto":
        return "dp" if fits and (wanted.k * n << n) <= MOST_WORK else "local"
    if wanted.method == "dp" and not fits:
        msg = (
            f"Dynamic programming for the {wanted.k} best graphs over {n} columns takes {needed / GIB:,.2f} GiB, above "
            f"the {allowed / GIB:,.2f} GiB that it may take (max_memory; at most {LARGEST} columns). Use "
            "method='local', drop columns, or lower k."
        )
        raise TableTooLargeError(msg)
    return wanted.method


def needed_memory(n: int, k: int) -> int:
    """Return the bytes that dynamic programming takes: h, the best families, and the best graphs of every set.

    >>> needed_memory(16, 10) >> 20
    36
    """
    return (8 << n) + n * k * (4 << max(n - 1, 0)) + k * (25 << n)


def _by_subsets(
    rows: CompleteRows, columns: tuple[int, ...], given: int | None, wanted: Wanted, n_jobs: int | None
) -> list[tuple[Parents, float]]:
    """Find the parents of all columns in each of the best graphs, and the scores, by dynamic programming."""
    from tanbark.structure.ranked import kernels

    n, n_columns = len(columns), len(rows.cardinalities)
    if n == 0:
        return [(((),) * n_columns, 0.0)]
    shown = wanted.verbose or (sys.stderr.isatty() and n >= LONG_SEARCH)
    progress = Progress("K best graphs", shown=shown)
    progress.say(f"{1 << n:,} sets of {n} columns, {needed_memory(n, wanted.k) / GIB:.2f} GiB")
    progress.start()
    h = subset_scores(rows, columns, given=given, ess=float(wanted.ess), n_jobs=n_jobs, advance=progress.advance)
    k = _most_graphs(n, int(wanted.k))
    most = n if wanted.max_parents is None else int(wanted.max_parents)
    families = np.empty((n, 1 << (n - 1), min(k, 1 << (n - 1))), np.int32)
    calls = [(h, node, n, most, families[node]) for node in range(n)]
    run_threads(kernels.list_families, calls, thread_count(n_jobs), long=True)
    size = (1 << n, k)
    lists = kernels.Lists(
        np.empty(size), np.zeros(size, np.uint64), np.zeros(size, np.int8), np.zeros(size, np.int32),
        np.zeros(size, np.int32), np.zeros(1 << n, np.int32),
    )  # fmt: skip
    run_threads(kernels.list_graphs, [(h, families, n, wanted.distinct == "classes", lists)], 1, long=True)
    whole = (1 << n) - 1
    found = []
    for place in range(int(lists.lengths[whole])):
        masks = np.zeros(n, np.int64)
        kernels.trace(lists, whole, place, masks)
        parents: list[tuple[int, ...]] = [()] * n_columns
        for column, mask in zip(columns, masks.tolist(), strict=True):
            parents[column] = tuple(other for bit, other in enumerate(columns) if mask >> bit & 1)
        found.append((tuple(parents), float(lists.scores[whole, place])))
    progress.say(f"{len(found)} graphs, the best with a score of {found[0][1]:.6f}")
    return found


def _most_graphs(n: int, k: int) -> int:
    """Return k, or fewer where n nodes have fewer DAGs (Robinson 1973)."""
    graphs = [1]
    for m in range(1, n + 1):
        total = sum((-1) ** (j + 1) * math.comb(m, j) * 2 ** (j * (m - j)) * graphs[m - j] for j in range(1, m + 1))
        graphs.append(total)
        if total >= k:
            return k
    return graphs[n]


def posterior_weights(found: RankedGraphs) -> Floats:
    r"""Return the posterior probabilities of graphs among those listed, the prior being the same for every DAG.

    .. math:: w_k \propto n_k e^{s_k}

    with the number :math:`n_k` of DAGs that a graph stands for and its score :math:`s_k`.
    """
    logs = np.array(found.scores) + np.array([math.log(size) for size in found.sizes])
    weights: Any = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
