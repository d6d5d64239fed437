"""Junction trees: the probability of what is observed, and the posterior of every family, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.counts import MemoryCounts
from tanbark.errors import TableTooLargeError
from tanbark.graph import Dag, Network
from tanbark.inference.layout import _spread
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.table import CodedTable

MAX_ENTRIES = 1 << 24  # entries of all cliques together
MOST_BLOCKS = 16  # a number that does not depend on threads, so that sums do not either
LEAST_ROWS = 1024


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """The cliques of a network's triangulated moral graph, children before parents, laid out for the kernels.

    ``scopes`` are the columns of each clique, ``parent`` the clique above (-1 for none), ``home`` the clique that holds
    each column's family. ``layout`` has the flat arrays that :func:`kernels.expect_families` takes.
    """

    scopes: tuple[tuple[int, ...], ...]
    parent: tuple[int, ...]
    home: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    layout: tuple[Any, ...]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the families' tables."""
        return [tuple(self.sizes[c] for c in axes) for axes in self.axes]

    def potentials(self, network: Network) -> Floats:
        """Multiply each clique's families into one table, all tables one after another."""
        tables = [np.ones([self.sizes[c] for c in scope]) for scope in self.scopes]
        for node, clique in enumerate(self.home):
            scope = self.scopes[clique]
            tables[clique] = tables[clique] * _spread(self.axes[node], network.tables[node], scope)
        return np.concatenate([table.ravel() for table in tables])


def junction_tree(network: Network) -> JunctionTree:
    """Build a junction tree by min-fill elimination; ties go to the smaller clique, then to the lower column."""
    dag, sizes = network.dag, network.schema.cardinalities
    axes = tuple(network.axes(node) for node in range(len(sizes)))
    scopes, parent = _cliques(dag, sizes)
    entries = sum(math.prod(sizes[c] for c in scope) for scope in scopes)
    if entries > MAX_ENTRIES:
        widest = max(scopes, key=lambda scope: math.prod(sizes[c] for c in scope))
        msg = (
            f"Exact inference here needs tables of {entries:,} entries, the widest over {len(widest)} columns "
            f"({[dag.names[c] for c in widest[:8]]} …), more than {MAX_ENTRIES:,}. Use a structure with fewer parents."
        )
        raise TableTooLargeError(msg)
    home = tuple(next(k for k, scope in enumerate(scopes) if set(columns) <= set(scope)) for columns in axes)
    return JunctionTree(scopes, parent, home, axes, sizes, _lay_out(scopes, parent, home, axes, sizes))


def _cliques(dag: Dag, sizes: Sequence[int]) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Eliminate column by column; give the cliques, children first, and the clique above each."""
    neighbours: dict[int, set[int]] = {node: set() for node in range(len(sizes))}
    for node, parents in enumerate(dag.parents):
        for a in (node, *parents):
            neighbours[a] |= {node, *parents} - {a}
    scopes: list[set[int]] = []
    where: dict[int, int] = {}
    while neighbours:
        best = _next_column(neighbours, sizes)
        around = neighbours.pop(best)
        for column in around:
            neighbours[column] |= around - {column}
            neighbours[column].discard(best)
        where[best] = len(scopes)
        scopes.append({best, *around})
    heads = {place: column for column, place in where.items()}
    parent = [min((where[c] for c in scope - {heads[k]}), default=-1) for k, scope in enumerate(scopes)]
    return _without_subsets(scopes, parent)


def _next_column(neighbours: dict[int, set[int]], sizes: Sequence[int]) -> int:
    """Find the column whose neighbours lack fewest links; ties go to the smaller clique, then to the lower column."""
    best: tuple[float, int, int] = (math.inf, 0, -1)
    for column, around in neighbours.items():
        fill = _fill(neighbours, around, best[0])
        if fill <= best[0]:
            best = min(best, (fill, math.prod(sizes[k] for k in around), column))
    return best[2]


def _fill(neighbours: dict[int, set[int]], around: set[int], limit: float) -> float:
    """Count the links that are not there between columns; beyond the limit it does not matter how many."""
    ends = 0
    for column in around:
        ends += len(around - neighbours[column]) - 1
        if ends > 2 * limit:
            return math.inf
    return ends / 2


def _without_subsets(scopes: list[set[int]], parent: list[int]) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Let a clique take the place of the one above where that is part of it."""
    into = list(range(len(scopes)))
    above = list(parent)
    for k in range(len(scopes)):
        while above[k] >= 0 and into[above[k]] == above[k] and scopes[above[k]] <= scopes[k]:
            swallowed = above[k]
            into[swallowed] = k
            above[k] = above[swallowed]

    def holder(k: int) -> int:
        while k >= 0 and into[k] != k:
            k = into[k]
        return k

    left = [k for k in range(len(scopes)) if into[k] == k]
    up = {k: holder(above[k]) for k in left}
    order: list[int] = []
    waiting = [k for k in left if up[k] < 0]
    while waiting:  # parents first, then turned round
        k = waiting.pop(0)
        order.append(k)
        waiting += [c for c in left if up[c] == k]
    order.reverse()
    place = {k: position for position, k in enumerate(order)}
    return tuple(tuple(sorted(scopes[k])) for k in order), tuple(place.get(up[k], -1) for k in order)


def _strides(scope: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    found, stride = {}, 1
    for column in reversed(scope):
        found[column] = stride
        stride *= sizes[column]
    return found


def _lay_out(
    scopes: Sequence[tuple[int, ...]], parent: Sequence[int], home: Sequence[int], axes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
) -> tuple[Any, ...]:  # fmt: skip
    """Flatten the tree: for every clique its columns with their strides in its own table and in its separator's."""
    columns: list[int] = []
    own: list[int] = []
    up: list[int] = []
    above: list[int] = []
    family: list[int] = []
    above_starts, family_starts, separators = [], [], []
    for k, scope in enumerate(scopes):
        over = scopes[parent[k]] if parent[k] >= 0 else ()
        shared = [c for c in scope if c in over]
        steps, inner = _strides(shared, sizes), _strides(scope, sizes)
        columns += list(scope)
        own += [inner[c] for c in scope]
        up += [steps.get(c, 0) for c in scope]
        above_starts.append(len(above))
        above += [steps.get(c, 0) for c in over]
        separators.append(math.prod(sizes[c] for c in shared))
    for node, columns_of in enumerate(axes):
        steps = _strides(columns_of, sizes)
        family_starts.append(len(family))
        family += [steps.get(c, 0) for c in scopes[home[node]]]
    tables = [math.prod(sizes[c] for c in scope) for scope in scopes]
    counts = [math.prod(sizes[c] for c in columns_of) for columns_of in axes]
    parts = (
        columns, own, up, _starts([len(scope) for scope in scopes]), _starts(tables), above, above_starts,
        _starts(separators), list(parent), list(home), family, family_starts, _starts(counts), list(sizes),
    )  # fmt: skip
    return (*(np.array(part, np.int64) for part in parts), max(tables))


def _starts(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(lengths).tolist()]


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts of every family, the log-probability of what was observed, and how many rows are impossible."""

    counts: tuple[Floats, ...]
    log_likelihood: float
    impossible: int


def expected_counts(
    tree: JunctionTree, network: Network, codes: Codes, weights: Floats | None = None, *, n_jobs: int | None = None
) -> Expected:
    """Sum P(family | observed) over rows, for every family; rows that the network rules out count nothing.

    Parameters
    ----------
    tree : JunctionTree of the network's graph
    network : Network
    codes : (n_columns, n_rows) array
        The class last; a code beyond the states of its column is a gap.
    weights : (n_rows,) array, optional

    Notes
    -----
    Lauritzen (1995), The EM algorithm for graphical association models with missing data, section 3.
    """
    from tanbark.inference import junction_kernels as kernels

    n_rows = codes.shape[1]
    potential = tree.potentials(network)
    shares = np.ones(n_rows) if weights is None else weights
    cells = int(tree.layout[12][-1])

    def work(low: int, high: int) -> tuple[Floats, float, int]:
        out = np.zeros(cells)
        total, impossible = kernels.expect_families(codes, shares, low, high, potential, *tree.layout, out)
        return out, total, impossible

    step = max(LEAST_ROWS, -(-n_rows // MOST_BLOCKS))
    threads = thread_count(n_jobs)
    flat, total, impossible = np.zeros(cells), 0.0, 0
    for part, likelihood, none in run_threads(work, blocks(n_rows, step), threads):
        flat += part
        total += likelihood
        impossible += none
    ends = np.cumsum([math.prod(shape) for shape in tree.shapes])
    counts = [flat[end - math.prod(shape) : end].reshape(shape) for end, shape in zip(ends, tree.shapes, strict=True)]
    return Expected(tuple(counts), total, impossible)


def make_expectation(
    network: Network, tables: Sequence[CodedTable], n_jobs: int | None
) -> Callable[[Network], Expected]:
    """Make the function that gives a network's expected counts of fixed rows.

    Rows without gaps are counted once and for all; of the others, equal ones are one row with their weight.
    """
    tree = junction_tree(network)
    rows = [_distinct(table) for table in tables]
    codes = np.concatenate([found for found, _ in rows], axis=1)
    weights = np.concatenate([weight for _, weight in rows])
    whole = (codes < np.array(tree.sizes)[:, None]).all(axis=0)
    schema = network.schema
    counted = MemoryCounts(CodedTable(schema, np.ascontiguousarray(codes[:, whole]), weights[whole])).tables(tree.axes)
    codes, weights = np.ascontiguousarray(codes[:, ~whole]), weights[~whole]

    def expect(current: Network) -> Expected:
        found = expected_counts(tree, current, codes, weights, n_jobs=n_jobs)
        likelihood = found.log_likelihood
        for table, logs in zip(counted, current.log_tables, strict=True):
            seen = table > 0
            likelihood += float((table[seen] * logs[seen]).sum())
        sums = tuple(a + b for a, b in zip(counted, found.counts, strict=True))
        return Expected(sums, likelihood, found.impossible + int(likelihood == -np.inf))

    return expect


def _distinct(table: CodedTable) -> tuple[Codes, Floats]:
    """Return the different rows of a table, in a fixed order, with the weight of each."""
    codes, place = np.unique(table.codes, axis=1, return_inverse=True)
    return codes, np.bincount(place.ravel(), weights=table.weights, minlength=codes.shape[1]).astype(np.float64)


def pair_marginals(network: Network) -> list[list[Floats]]:
    """Return P(X, Y) of every two columns: ``found[x][y]`` has the states of x along its first axis.

    One propagation for every state of every column. A column with itself is left empty.
    """
    tree, sizes = junction_tree(network), network.schema.cardinalities
    n = len(sizes)
    found = [[np.zeros((sizes[x], sizes[y])) for y in range(n)] for x in range(n)]
    gap = np.iinfo(np.uint32).max
    for x in range(n):
        for state in range(sizes[x]):
            codes = np.full((n, 1), gap, np.uint32)
            codes[x] = state
            posterior = expected_counts(tree, network, codes, n_jobs=1)
            probability = math.exp(posterior.log_likelihood) if not posterior.impossible else 0.0
            for y in range(n):
                axis = tree.axes[y].index(y)
                others = tuple(a for a in range(len(tree.axes[y])) if a != axis)
                found[x][y][state] = probability * posterior.counts[y].sum(axis=others)
    return found
