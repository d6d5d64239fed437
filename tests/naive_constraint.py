"""Slow twins of tests of independence and of the searches that rest on them, written from their definitions."""

import itertools
import math

import numpy as np
from scipy import stats


def strata(table, x, y, given):
    """Count (x, y) for every combination of the given columns, the rows with a missing value left out."""
    codes, states = table.codes, table.schema.cardinalities
    columns = [x, y, *given]
    counts = np.zeros([states[c] for c in columns])
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for row in range(table.n_rows):
        cell = tuple(int(codes[c, row]) for c in columns)
        if all(code < states[c] for code, c in zip(cell, columns, strict=True)):
            counts[cell] += weights[row]
    return np.moveaxis(counts.reshape(*counts.shape[:2], -1), 2, 0)


def p_value(counts, power):
    """Add up scipy's statistic and degrees of freedom over the strata, empty rows and columns left out."""
    statistic, degrees = 0.0, 0
    for stratum in counts:
        stratum = stratum[stratum.sum(axis=1) > 0][:, stratum.sum(axis=0) > 0]
        if min(stratum.shape) > 1:
            found = stats.chi2_contingency(stratum, correction=False, lambda_=power)
            statistic, degrees = statistic + found[0], degrees + found[2]
    return stats.chi2.sf(statistic, degrees) if degrees else 1.0


def shrunken_information(counts):
    """Shrink all cells to the uniform distribution, one by one, and take the conditional mutual information."""
    cells, total = counts.size, counts.sum()
    observed = [float(n) / total for n in counts.ravel()]
    weight = (1 - sum(p * p for p in observed)) / ((total - 1) * sum((1 / cells - p) ** 2 for p in observed))
    weight = min(1.0, weight)
    p = np.array([weight / cells + (1 - weight) * q for q in observed]).reshape(counts.shape)
    return sum(
        p[z, x, y] * math.log(p[z, x, y] * p[z].sum() / (p[z, x].sum() * p[z, :, y].sum()))
        for z, x, y in itertools.product(*map(range, p.shape))
    )


def stable_skeleton(n, independent, max_order=99):
    """Delete edges order by order, neighbours held within an order (Colombo and Maathuis 2014, algorithm 4.1)."""
    edges = {frozenset(pair) for pair in itertools.combinations(range(n), 2)}
    for order in range(max_order + 1):
        near = {x: {y for y in range(n) if frozenset((x, y)) in edges} for x in range(n)}
        for edge in list(edges):
            x, y = sorted(edge)
            sets = [*itertools.combinations(near[x] - {y}, order), *itertools.combinations(near[y] - {x}, order)]
            if any(independent(x, y, tuple(sorted(chosen))) for chosen in sets):
                edges.remove(edge)
    return edges


def max_min_candidates(n, support, max_order):
    """Grow and shrink candidates of one target after another (Tsamardinos, Brown and Aliferis 2006)."""

    def most(target, x, members):
        sets = itertools.chain(*(itertools.combinations(members, k) for k in range(max_order + 1)))
        return max(support(target, x, tuple(sorted(chosen))) for chosen in sets)

    found = {}
    for target in range(n):
        members = []
        while True:
            open_ = [x for x in range(n) if x not in (target, *members)]
            ranked = sorted((most(target, x, members), x) for x in open_)
            if not ranked or ranked[0][0] > 0:
                break
            members.append(ranked[0][1])
        for x in list(members):
            if most(target, x, [z for z in members if z != x]) > 0:
                members.remove(x)
        found[target] = members
    return {frozenset((x, y)) for x in found for y in found[x] if x in found[y]}
