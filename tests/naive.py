"""Slow, obvious twins of the fast code, written from the definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np


def table(codes, states, columns, weights=None):
    """Count by walking over the rows; a row with a gap in the set does not count."""
    out = np.zeros([states[c] for c in columns])
    for row in range(codes.shape[1]):
        cell = tuple(int(codes[c, row]) for c in columns)
        if all(code < states[c] for code, c in zip(cell, columns, strict=True)):
            out[cell] += 1 if weights is None else weights[row]
    return out


def log_marginal(counts, alpha):
    """Multiply the predictive probabilities of the rows, one after another."""
    total = 0.0
    for config in counts:
        seen = [0] * len(config)
        for state, n in enumerate(config):
            for _ in range(n):
                total += math.log((seen[state] + alpha) / (sum(seen) + alpha * len(config)))
                seen[state] += 1
    return total


def cmi(counts):
    """I(X; Y | Z) straight from its definition."""
    n = np.asarray(counts, float)
    total, information = n.sum(), 0.0
    for x, y, z in itertools.product(*map(range, n.shape)):
        if n[x, y, z] > 0:
            joint = n[x, y, z] / n[:, :, z].sum()
            left, right = n[x, :, z].sum() / n[:, :, z].sum(), n[:, y, z].sum() / n[:, :, z].sum()
            information += n[x, y, z] / total * math.log(joint / (left * right))
    return information


def best_forest_weight(weights, n):
    """Try every acyclic set of pairs."""
    pairs = list(itertools.combinations(range(n), 2))
    best = 0.0
    for size in range(n):
        for chosen in itertools.combinations(range(len(pairs)), size):
            group = list(range(n))
            acyclic = True
            for k in chosen:
                a, b = group[pairs[k][0]], group[pairs[k][1]]
                acyclic &= a != b
                group = [a if g == b else g for g in group]
            if acyclic:
                best = max(best, sum(weights[k] for k in chosen))
    return best


def joint(network, states):
    """P of one full assignment: the product of the entries of every table."""
    value = 1.0
    for node in range(len(network.dag.names)):
        value *= network.tables[node][tuple(states[axis] for axis in network.axes(node))]
    return value


def class_joint(network, row, missing):
    """P(class, observed) by summing the joint over everything that is missing."""
    sizes = network.schema.cardinalities
    out = np.zeros(sizes[-1])
    for label in range(sizes[-1]):
        ranges = [range(sizes[i]) if row[i] == missing else [row[i]] for i in range(len(row))]
        for states in itertools.product(*ranges):
            out[label] += joint(network, (*states, label))
    return out


def full_joint(network):
    """P of every assignment, with an axis per column."""
    sizes = network.schema.cardinalities
    out = np.empty(sizes)
    for states in itertools.product(*map(range, sizes)):
        out[states] = joint(network, states)
    return out
