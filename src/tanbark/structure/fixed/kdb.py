"""k-dependence Bayesian classifier: each feature has the class and its k best earlier features as parents."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_count, check_threshold
from tanbark.counts import CountEngine
from tanbark.counts.information import mutual_informations
from tanbark.errors import ReducedModelWarning, warn
from tanbark.graph import Dag
from tanbark.graph.spanning import falling_order, pair_indices
from tanbark.structure.result import Learnt
from tanbark.table import Schema

LISTED = 5  # features that a warning names


def learn(
    counts: CountEngine, *, max_parents: int = 2, min_cmi: float | None = None, max_cells: int | None = None
) -> Learnt:
    """Order the features by mutual information with the class; the best earlier features become parents of each.

    Parameters
    ----------
    counts : CountEngine
    max_parents : int
        Feature parents of each feature beside the class, as far as there are earlier ones; 0 is naive Bayes.
    min_cmi : float, optional
        Parents whose conditional mutual information (nats per row) is not above this are left out.
    max_cells : int, optional
        Where the CPT of a feature would need more cells, its weakest parents are left out until it fits, with a
        warning; the class always stays.

    Notes
    -----
    The order is by falling I(X; C), parents by falling I(X; Y | C); ties within 1e-9 go to the earlier column.
    Columns with one state neither have nor are feature parents. Sahami (1996), Learning limited dependence Bayesian
    classifiers, section 3.
    """
    _, parents = ordered_parents(counts, max_parents=max_parents, min_cmi=min_cmi, max_cells=max_cells)
    return Learnt(Dag.augmented(counts.schema.names, parents))


def ordered_parents(
    counts: CountEngine, *, max_parents: int, min_cmi: float | None = None, max_cells: int | None = None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the features by falling I(X; C), and the feature parents of each by falling I(X; Y | C)."""
    check_count("max_parents", max_parents)
    check_threshold("min_cmi", min_cmi)
    schema = counts.schema
    n, target = len(schema.features), schema.target
    dependence = pair_matrix(counts, n)
    order = feature_order(mutual_informations(counts.tables([(i, target) for i in range(n)])))
    varied = [size > 1 for size in schema.cardinalities[:n]]
    parents: list[tuple[int, ...]] = [()] * n
    earlier: list[int] = []
    for feature in order:
        if not varied[feature]:
            continue
        candidates = [c for c in sorted(earlier) if min_cmi is None or dependence[feature, c] > min_cmi]
        best = feature_order(dependence[feature, candidates])[:max_parents]
        parents[feature] = tuple(candidates[place] for place in best)
        earlier.append(feature)
    if max_cells is not None:
        parents = _within(schema, parents, max_cells)
    return order, parents


def _within(schema: Schema, parents: list[tuple[int, ...]], max_cells: int) -> list[tuple[int, ...]]:
    """Leave out the last parents of each feature until its CPT takes at most ``max_cells`` cells; warn of them."""
    states = schema.cardinalities
    kept: list[tuple[int, ...]] = []
    dropped: dict[int, Sequence[int]] = {}
    for feature, found in enumerate(parents):
        if math.prod(states[c] for c in (feature, schema.target, *found)) <= max_cells:
            kept.append(found)
            continue
        cells = [math.prod(states[c] for c in (feature, schema.target, *found[:n])) for n in range(len(found) + 1)]
        n_kept = max((n for n, size in enumerate(cells) if size <= max_cells), default=0)
        kept.append(found[:n_kept])
        if n_kept < len(found):
            dropped[feature] = found[n_kept:]
    if dropped:
        names = schema.names
        told = [f"{names[x]!r} loses {', '.join(repr(names[p]) for p in lost)}" for x, lost in dropped.items()]
        more = f"; and {len(told) - LISTED:,} more" if len(told) > LISTED else ""
        msg = (
            f"KDB leaves out the weakest parents of {len(dropped):,} features to stay within max_cells={max_cells:,}: "
            f"{'; '.join(told[:LISTED])}{more}. To keep more, raise max_cells or give columns fewer states."
        )
        warn(msg, ReducedModelWarning)
    return kept


def feature_order(values: NDArray[np.float64]) -> list[int]:
    """List positions by falling value; ties within 1e-9 go to the earlier."""
    return [int(place) for place in falling_order(values)]


def pair_matrix(counts: CountEngine, n: int) -> NDArray[np.float64]:
    """Return I(Xi; Xj | C) in nats per row for all pairs, as a symmetric matrix."""
    pairs = counts.pair_information()
    matrix = np.zeros((n, n))
    matrix[pair_indices(n)] = pairs.gain / np.maximum(pairs.rows, 1e-300)
    return matrix + matrix.T
