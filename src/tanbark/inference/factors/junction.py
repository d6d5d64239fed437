"""Junction trees: the probability of what is observed, and the posterior of every family, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.counts import MemoryCounts
from tanbark.errors import TableTooLargeError
from tanbark.graph import Network
from tanbark.inference.layout import ends_of, flat_network, lay_out, spread, strides_of
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.table import CodedTable

if TYPE_CHECKING:
    from tanbark.inference.factors.junction_kernels import Tree

MAX_ENTRIES = 1 << 24  # entries of all cliques together
MOST_BLOCKS = 16  # a number that does not depend on threads, so that sums do not either
LEAST_ROWS = 1024


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """The cliques of a network's triangulated moral graph, children before parents, laid out for the kernels.

    ``scopes`` are the columns of each clique, ``parent`` the clique above (-1 for none), ``home`` the clique that holds
    each column's family. ``layout`` has the flat arrays for the kernels.
    """

    scopes: tuple[tuple[int, ...], ...]
    parent: tuple[int, ...]
    home: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    layout: Tree

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the CPTs."""
        return [tuple(self.sizes[c] for c in axes) for axes in self.axes]

    def potentials(self, network: Network) -> Floats:
        """Multiply each clique's CPTs into one potential, all potentials one after another."""
        found = [np.ones([self.sizes[c] for c in scope]) for scope in self.scopes]
        for node, clique in enumerate(self.home):
            scope = self.scopes[clique]
            found[clique] = found[clique] * spread(self.axes[node], network.tables[node], scope)
        return np.concatenate([table.ravel() for table in found])


def junction_tree(network: Network) -> JunctionTree:
    """Build a junction tree by elimination in the best of several greedy orders."""
    dag, sizes = network.dag, network.schema.cardinalities
    axes = tuple(network.axes(node) for node in range(len(sizes)))
    scopes, parent = _cliques(network)
    entries = sum(math.prod(sizes[c] for c in scope) for scope in scopes)
    if entries > MAX_ENTRIES:
        widest = max(scopes, key=lambda scope: math.prod(sizes[c] for c in scope))
        msg = (
            f"Exact inference here needs cliques of {entries:,} entries, the widest over {len(widest)} columns "
            f"({[dag.names[c] for c in widest[:8]]} …), more than {MAX_ENTRIES:,}. Use a structure with fewer parents."
        )
        raise TableTooLargeError(msg)
    home = tuple(next(k for k, scope in enumerate(scopes) if set(columns) <= set(scope)) for columns in axes)
    return JunctionTree(scopes, parent, home, axes, sizes, _lay_out(scopes, parent, home, axes, sizes))


Scopes = tuple[tuple[int, ...], ...]


def _cliques(network: Network) -> tuple[Scopes, tuple[int, ...]]:
    """Eliminate column by column; return the cliques, children first, and the clique above each."""
    from tanbark.inference.factors.order_kernels import best_order

    flat, n = flat_network(network), len(network.dag.names)
    order = best_order(flat.sizes, flat.cpts, np.ones(n, np.bool_), np.zeros(n, np.int8), n)
    where = {int(column): k for k, column in enumerate(order.variables)}
    rest = [order.around[low:high].tolist() for low, high in pairwise(order.bounds)]
    scopes = [{int(column), *around} for column, around in zip(order.variables, rest, strict=True)]
    parent = [min((where[column] for column in around), default=-1) for around in rest]
    return _without_subsets(scopes, parent)


def _without_subsets(scopes: list[set[int]], parent: list[int]) -> tuple[Scopes, tuple[int, ...]]:
    """Merge a clique into the one below where it is a subset of that."""
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


def _lay_out(scopes: Scopes, parent: Sequence[int], home: Sequence[int], axes: Scopes, sizes: Sequence[int]) -> Tree:
    """Flatten the tree: for every clique its columns with their strides in its potential and in its separators."""
    from tanbark.inference.factors.junction_kernels import Tree

    up: list[int] = []
    above: list[int] = []
    above_starts, separators = [], []
    for k, scope in enumerate(scopes):
        over = scopes[parent[k]] if parent[k] >= 0 else ()
        shared = [c for c in scope if c in over]
        steps = strides_of(shared, sizes)
        up += [steps.get(c, 0) for c in scope]
        above_starts.append(len(above))
        above += [steps.get(c, 0) for c in over]
        separators.append(math.prod(sizes[c] for c in shared))
    family = [[strides_of(own, sizes).get(c, 0) for c in scopes[home[node]]] for node, own in enumerate(axes)]
    return Tree(
        lay_out(scopes, sizes, -1, np.zeros(0)),
        np.array(sizes, np.int64),
        np.array(parent, np.int64),
        np.array(up, np.int64),
        np.array(above, np.int64),
        np.array(above_starts, np.int64),
        ends_of(separators),
        np.array(home, np.int64),
        np.array([stride for strides in family for stride in strides], np.int64),
        ends_of([len(strides) for strides in family]),
        ends_of([math.prod(sizes[c] for c in own) for own in axes]),
    )


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
        The class last; a code beyond the states of its column is a missing value.
    weights : (n_rows,) array, optional

    Notes
    -----
    Lauritzen (1995), The EM algorithm for graphical association models with missing data, section 3.
    """
    from tanbark.inference.factors import junction_kernels as kernels

    n_rows = codes.shape[1]
    layout = tree.layout._replace(cliques=tree.layout.cliques._replace(values=tree.potentials(network)))
    mass = np.ones(n_rows) if weights is None else weights
    cells = int(layout.count_starts[-1])

    def work(low: int, high: int) -> tuple[Floats, float, int]:
        out = np.zeros(cells)
        total, impossible = kernels.expect_families(codes, mass, low, high, layout, out)
        return out, total, impossible

    step = max(LEAST_ROWS, -(-n_rows // MOST_BLOCKS))
    threads = thread_count(n_jobs)
    flat, total, impossible = np.zeros(cells), 0.0, 0
    for part, likelihood, none in run_threads(work, blocks(n_rows, step), threads, long=True):
        flat += part
        total += likelihood
        impossible += none
    ends = np.cumsum([math.prod(shape) for shape in tree.shapes])
    counts = [flat[end - math.prod(shape) : end].reshape(shape) for end, shape in zip(ends, tree.shapes, strict=True)]
    return Expected(tuple(counts), total, impossible)


def make_expectation(
    network: Network, tables: Sequence[CodedTable], n_jobs: int | None
) -> Callable[[Network], Expected]:
    """Return the function that maps a network to its expected counts of fixed rows.

    Complete rows are counted once and for all; of the others, equal ones are one row with their weight.
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
    missing = np.iinfo(np.uint32).max
    for x in range(n):
        for state in range(sizes[x]):
            codes = np.full((n, 1), missing, np.uint32)
            codes[x] = state
            posterior = expected_counts(tree, network, codes, n_jobs=1)
            probability = math.exp(posterior.log_likelihood) if not posterior.impossible else 0.0
            for y in range(n):
                axis = tree.axes[y].index(y)
                others = tuple(a for a in range(len(tree.axes[y])) if a != axis)
                found[x][y][state] = probability * posterior.counts[y].sum(axis=others)
    return found
