"""Slow, obvious message lengths: exact fractions for codes that tell row by row, complex steps for curvature."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.special import polygamma


def log_fraction(value):
    return math.log(value.numerator) - math.log(value.denominator)


def multistate(values, states):
    """Tell a column value by value; the probability of all of it."""
    chance, seen = Fraction(1), [1] * states
    for value in values:
        chance *= Fraction(seen[value], sum(seen))
        seen[value] += 1
    return chance


def cpt(columns, labels, n_classes):
    """Tell the class value by value, with what came before in the same configuration."""
    total = 0.0
    configs = list(zip(*columns, strict=True)) if len(columns) else [()] * len(labels)
    for config in set(configs):
        told = [int(y) for y, c in zip(labels, configs, strict=True) if c == config]
        total -= log_fraction(multistate(told, n_classes))
    return total


def nb_joint(columns, states, labels, n_classes, chosen):
    total = -log_fraction(multistate([int(y) for y in labels], n_classes))
    for j, (column, r) in enumerate(zip(columns, states, strict=True)):
        groups = range(n_classes) if j in chosen else [None]
        for group in groups:
            told = [int(x) for x, y in zip(column, labels, strict=True) if group is None or y == group]
            total -= log_fraction(multistate(told, r))
    return total


def polytree(columns, states, labels, n_classes, parents, spouses):
    """Probability of the class column, row by row, with class parents and for each child its spouses."""
    chance = Fraction(1)
    columns, labels = [[int(x) for x in column] for column in columns], [int(y) for y in labels]
    for i, label in enumerate(labels):
        weights = []
        for y in range(n_classes):
            same = [k for k in range(i) if all(columns[p][k] == columns[p][i] for p in parents)]
            weight = Fraction(sum(labels[k] == y for k in same) + 1, len(same) + n_classes)
            for child, others in spouses.items():
                like = [
                    k for k in range(i) if labels[k] == y and all(columns[s][k] == columns[s][i] for s in others)
                ]  # fmt: skip
                hits = sum(columns[child][k] == columns[child][i] for k in like)
                weight *= Fraction(hits + 1, len(like) + states[child])
            weights.append(weight)
        chance *= weights[label] / sum(weights)
    return chance


def nb_adaptive(columns, states, labels, n_classes):
    return -log_fraction(polytree(columns, states, labels, n_classes, [], dict.fromkeys(range(len(states)), ())))


def nb_adaptive_floats(columns, states, labels, n_classes):
    """The same with running counts, for many rows."""
    classes, seen, total = [1.0] * n_classes, [[[1.0] * r for _ in range(n_classes)] for r in states], 0.0
    for i, label in enumerate(labels):
        chances = []
        for y in range(n_classes):
            tables = (table[y] for table in seen)
            factors = (row[column[i]] / sum(row) for row, column in zip(tables, columns, strict=True))
            chances.append(classes[y] * math.prod(factors))
        total -= math.log(chances[label] / sum(chances))
        classes[label] += 1
        for table, column in zip(seen, columns, strict=True):
            table[label][column[i]] += 1
    return total


def mbp(columns, states, labels, n_classes):
    """Average over every way to make each feature a parent, a child, or a spouse of one child."""
    m, chances = len(states), []
    for roles in itertools.product(["parent", "child", *range(m)], repeat=m):
        if any(isinstance(role, int) and (role == j or roles[role] != "child") for j, role in enumerate(roles)):
            continue
        parents = [j for j, role in enumerate(roles) if role == "parent"]
        spouses = {
            c: tuple(j for j, role in enumerate(roles) if role == c) for c in range(m) if roles[c] == "child"
        }  # fmt: skip
        chances.append(polytree(columns, states, labels, n_classes, parents, spouses))
    return -log_fraction(sum(chances) / len(chances)), [-log_fraction(chance) for chance in chances]


def basis(r, rng):
    """Any orthonormal contrasts of r states."""
    square = np.column_stack([np.ones(r), rng.normal(size=(r, max(r - 1, 0)))])
    return np.linalg.qr(square)[0][:, 1:]


def logit(columns, states, labels, n_classes, *, sigma=None, curved=True, seed=0):
    """Newton from zero with the Hessian by complex steps of a gradient that walks over the rows."""
    rng = np.random.default_rng(seed)
    bases = [basis(r, rng) for r in states]
    of_class = basis(n_classes, rng)
    rows = [
        np.concatenate([[1.0], *(b[int(c[i])] for b, c in zip(bases, columns, strict=True))])
        for i in range(len(labels))
    ]
    p, free = 1 + sum(r - 1 for r in states), n_classes - 1
    if sigma is not None:
        spread = np.full(p, float(sigma) ** 2)
    else:
        spread = np.full(p, float(polygamma(1, 1.0)))
        spread[0] += sum(float(polygamma(1, 1.0)) / r - float(polygamma(1, r)) for r in states)

    def softmax(theta, row):
        logits = of_class @ (theta.reshape(p, free).T @ row)
        weights = np.exp(logits - logits.real.max())
        return weights / weights.sum()

    def gradient(theta, prior=True):
        total = (theta.reshape(p, free) / spread[:, None]) if prior else np.zeros((p, free), theta.dtype)
        for row, label in zip(rows, labels, strict=True):
            excess = softmax(theta, row) - (np.arange(n_classes) == label)
            total = total + np.outer(row, of_class.T @ excess)
        return total.ravel()

    def hessian(theta, prior=True):
        steps = np.eye(p * free) * 1e-30j
        return np.array([gradient(theta + step, prior).imag / 1e-30 for step in steps])

    theta = np.zeros(p * free)
    for _ in range(30 if len(labels) < 200 else 9):
        theta = theta - np.linalg.solve(hessian(theta), gradient(theta))
    nll = -sum(math.log(softmax(theta, row)[label].real) for row, label in zip(rows, labels, strict=True))
    prior = 0.5 * float((theta.reshape(p, free) ** 2 / spread[:, None]).sum())
    prior += 0.5 * free * float(np.log(2 * math.pi * spread).sum())
    return nll, prior, 0.5 * float(np.linalg.slogdet(hessian(theta, curved))[1]), p * free


def note_nb(columns, labels, smoothing=1.0):
    """The note's formulas, row by row and entry by entry."""
    m, n = len(columns), len(labels)
    classes = [sum(y == k for y in labels) for k in (0, 1)]
    q = [(classes[k] + smoothing) / (n + 2 * smoothing) for k in (0, 1)]
    table = [
        [
            [(sum(x == v and y == k for x, y in zip(c, labels, strict=True)) + smoothing) / (classes[k] + 2 * smoothing)
             for v in (0, 1)]
            for k in (0, 1)
        ]
        for c in columns
    ]  # fmt: skip
    matrix, nll = np.zeros((1 + 2 * m, 1 + 2 * m)), 0.0
    for i in range(n):
        observed = [table[j][k][columns[j][i]] for j in range(m) for k in (0, 1)]
        pi = [math.prod(table[j][k][columns[j][i]] for j in range(m)) for k in (0, 1)]
        px = q[0] * pi[0] + q[1] * pi[1]
        nll -= math.log(q[labels[i]] * pi[labels[i]] / px)
        mm = pi[0] * pi[1] / px**2
        matrix[0, 0] += pi[0] / (q[0] * px) + pi[1] / (q[1] * px) - ((pi[0] - pi[1]) / px) ** 2
        for a, pa in enumerate(observed):
            matrix[0, a + 1] += (-1 if a % 2 == 0 else 1) * mm / pa
            matrix[a + 1, a + 1] += q[0] * q[1] * mm / pa**2
            for b in range(a + 1, 2 * m):
                matrix[a + 1, b + 1] -= q[0] * q[1] * mm / (pa * observed[b])
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    log_prior = sum(map(math.log, q)) + sum(math.log(v) for t in table for k in t for v in k)
    return nll, log_prior, matrix


def zero_sum_logit(columns, states, labels, n_classes, sigma=3.0):
    """Neil's length: coefficients that sum to zero over states and classes, the last ones left unsaid.

    Coordinates are not orthonormal, so the prior's density has Jacobian terms.
    """
    first = {r: np.vstack([np.eye(r - 1), -np.ones((1, r - 1))]) for r in {*states, n_classes}}
    free, p = n_classes - 1, 1 + sum(r - 1 for r in states)
    parts = [np.ones((len(labels), 1)), *(first[r][list(c)] for r, c in zip(states, columns, strict=True))]
    design, one_hot = np.hstack(parts), np.eye(n_classes)[list(labels)]
    blocks = [np.ones((1, 1)), *(first[r].T @ first[r] for r in states)]
    metric = np.zeros((p, p))
    place = 0
    for block in blocks:
        metric[place : place + len(block), place : place + len(block)] = block
        place += len(block)
    bend = np.kron(metric, first[n_classes].T @ first[n_classes]) / sigma**2
    at = np.zeros(p * free)
    for _ in range(60):
        logits = design @ at.reshape(p, free) @ first[n_classes].T
        chance = np.exp(logits - logits.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        slope = (design.T @ (chance - one_hot) @ first[n_classes]).ravel() + bend @ at
        fisher = np.zeros((p * free,) * 2)
        for row, q in zip(design, chance, strict=True):
            middle = first[n_classes].T @ (np.diag(q) - np.outer(q, q)) @ first[n_classes]
            fisher += np.kron(np.outer(row, row), middle)
        at = at - np.linalg.solve(fisher + bend, slope)
    nll = -math.fsum(np.log(chance[range(len(labels)), list(labels)]))
    d = len(at)
    prior = 0.5 * at @ bend @ at + 0.5 * d * math.log(2 * math.pi * sigma**2)
    prior -= 0.5 * p * math.log(n_classes) + 0.5 * free * sum(map(math.log, states))
    return nll + prior + 0.5 * np.linalg.slogdet(fisher)[1], d


def note_logit(columns, labels, sigma=3.0):
    """The parts of the note's logistic score: reweighted least squares, second states as 0/1 columns."""
    design = np.column_stack([np.ones(len(labels)), *columns])
    beta = np.zeros(design.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-design @ beta))
        fisher = (design.T * (p * (1 - p))) @ design
        beta = beta + np.linalg.solve(fisher, design.T @ (labels - p))
    nll = -math.fsum(np.log(np.where(np.asarray(labels) == 1, p, 1 - p)))
    d, m = len(beta), len(columns)
    scale = d * math.log(sigma * math.sqrt(2 * math.pi)) - 0.5 * math.log(2) * (1 + m) - 0.5 * m * math.log(2)
    return nll, beta, np.linalg.eigvalsh(fisher), scale
