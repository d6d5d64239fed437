"""Slow, obvious twins of the fast code, written from the definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tanbark.errors import InputError
from tanbark.graph import Dag


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


def h(counts, ess):
    """Add up ln(a (a + 1) ... (a + n - 1)) over the cells, a being the prior mass of a cell."""
    a = ess / counts.size
    return sum(math.log(a + k) for n in counts.ravel() for k in range(int(n)))


def log_bayes_factor(table_, x, y, given, ess):
    """Return h(ZX) + h(ZY) - h(Z) - h(ZXY) from the one table of all columns."""
    joint = table(table_.codes, table_.schema.cardinalities, [*given, x, y])
    over_y, over_x = joint.sum(axis=-1), joint.sum(axis=-2)
    return h(over_y, ess) + h(over_x, ess) - h(joint.sum(axis=(-2, -1)), ess) - h(joint, ess)


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


def smoothed(counts, axis, alpha):
    """(N + a) / (sum of N + r a) along an axis; uniform where that is nothing by nothing."""
    raised = np.asarray(counts, float) + alpha
    sums = raised.sum(axis=axis, keepdims=True)
    return np.where(sums > 0, raised / np.where(sums > 0, sums, 1.0), 1.0 / raised.shape[axis])


def averaged_joint(codes, states, row, *, order, m, alpha=1.0, weights=None, missing_parent="sum", parents=None):
    """P(class, observed) by averaging the joints of all models with ``order`` super-parents; None without any.

    ``order`` 0 is naive Bayes. Each model's missing values are summed out by enumeration of the complete rows; or, with
    ``missing_parent="drop"``, models with a missing super-parent are left out. ``parents``: the sets to average.
    """
    target = len(states) - 1
    possible = [[int(row[i])] if row[i] < states[i] else list(range(states[i])) for i in range(target)]
    joints = []
    for own in itertools.combinations(range(target), order) if parents is None else parents:
        rows = table(codes, states, (*own, target), weights)[np.ix_(*(possible[p] for p in own))].sum()
        dropped = missing_parent == "drop" and any(row[p] >= states[p] for p in own)
        if not dropped and (order == 0 or rows >= m):
            joint = _super_parent_joint(codes, states, own, alpha, weights)
            joints.append(sum(joint[complete] for complete in itertools.product(*possible)))
    return np.mean(joints, axis=0) if joints else None


def _super_parent_joint(codes, states, parents, alpha, weights):
    """P(complete row, class) of one model, for all rows at once: an array with an axis per column."""
    target, order = len(states) - 1, len(parents)
    counts = table(codes, states, (*parents, target), weights)
    joint = smoothed(counts.reshape(-1, states[-1]), 0, alpha).reshape(counts.shape) if order else 1.0
    joint = joint * smoothed(table(codes, states, (target,), weights), 0, alpha)
    joint = _spread(joint, (*parents, target), len(states))
    for child in set(range(target)) - set(parents):
        given = smoothed(table(codes, states, (*parents, child, target), weights), order, alpha)
        joint = joint * _spread(given, (*parents, child, target), len(states))
    return np.broadcast_to(joint, states)


def _spread(array, columns, n):
    """Give an array whose axes are columns an axis for each of n columns."""
    order = np.argsort(columns)
    shape = [array.shape[columns.index(c)] if c in columns else 1 for c in range(n)]
    return array.transpose(order).reshape(shape)


def dealt_folds(labels, k):
    """Deal the rows of each class out to the folds in turn."""
    folds, seen = [], {}
    for label in np.asarray(labels).tolist():
        folds.append(seen.get(label, 0) % k)
        seen[label] = seen.get(label, 0) + 1
    return np.array(folds)


def fold_score(table_, folds, structure, *, alpha, scoring):
    """Refit from the rows outside each fold, and predict the fold's rows by summing the whole joint.

    ``structure`` maps the features that are in to the tuples of their feature parents.
    """
    from tanbark.graph import Dag, Network

    schema, codes = table_.schema, table_.codes
    states, target = schema.cardinalities, schema.target
    weights = np.ones(codes.shape[1]) if table_.weights is None else table_.weights
    missing, scores = np.iinfo(codes.dtype).max, []
    for fold in np.unique(folds):
        rest, own = folds != fold, np.flatnonzero(folds == fold)
        parents, tables = [], []
        for feature in range(target):
            above = structure.get(feature)
            parents.append(() if above is None else (*above, target))
            columns = (feature,) if above is None else (*sorted(above), feature, target)
            counts = table(codes[:, rest], states, columns, weights[rest])
            tables.append(smoothed(counts, 0 if above is None else len(above), 1.0 if above is None else alpha))
        prior = smoothed(table(codes[:, rest], states, (target,), weights[rest]), 0, alpha)
        network = Network(schema, Dag(schema.names, (*parents, ())), (*tables, prior))
        right = 0.0
        for row in own:
            joint = class_joint(network, [int(c) for c in codes[:target, row]], missing)
            posterior = joint / joint.sum() if joint.sum() > 0 else prior
            label = int(codes[target, row])
            if scoring == "accuracy":
                right += weights[row] * (label == int(np.flatnonzero(posterior >= posterior.max() * (1 - 1e-9))[0]))
            else:
                right += weights[row] * (math.log(posterior[label]) if posterior[label] > 0 else -math.inf)
        scores.append(right / weights[own].sum())
    return float(np.mean(scores))


def wrapper_search(learner, table_, folds, *, tol, alpha=0.01, scoring="accuracy", k=2):
    """Search as the specification says, each candidate refitted from the rows; give the final structure and scores."""
    features = [i for i in range(table_.schema.target) if table_.schema.cardinalities[i] > 1]
    everything = dict.fromkeys(range(table_.schema.target), ())

    def value(structure):
        return fold_score(table_, folds, structure, alpha=alpha, scoring=scoring)

    current = {} if learner in ("fssj", "selective") else everything
    score = value(current)
    scores = [score]
    perfect = 1.0 if scoring == "accuracy" else 0.0
    while score < perfect - 1.5e-8:
        candidates = _candidates(learner, current, features, value, k)
        values = [value(candidate) for candidate in candidates]
        if not values or max(values) == -math.inf or max(values) - tol < score - 1e-9:
            break
        chosen = next(i for i, v in enumerate(values) if v >= max(values) - 1e-9)
        current, score = candidates[chosen], values[chosen]
        scores.append(score)
    return current, scores


def _leads(structure, x, y):
    """Whether arcs lead from x to y."""
    return any(p == x or _leads(structure, x, p) for p in structure[y])


def _components(structure):
    groups = [{f} for f in sorted(structure)]
    for child, parents in structure.items():
        for parent in parents:
            a = next(g for g in groups if child in g)
            b = next(g for g in groups if parent in g)
            if a is not b:
                groups = [g for g in groups if g is not a and g is not b] + [a | b]
    return sorted((sorted(group) for group in groups), key=lambda group: group[0])


def _candidates(learner, current, features, value, k):
    if learner == "tan-hc":
        return _tree_arcs(current, features)
    if learner == "tan-hcsp":
        return _super_parent_arcs(current, features, value)
    if learner == "kdb-hc":
        return _dependence_arcs(current, features, k)
    absent = [f for f in features if f not in current]
    alone = [{**current, f: ()} for f in absent]
    if learner == "selective":
        return alone
    if learner == "fssj":
        return alone + [{**current, f: tuple(group)} for f in absent for group in _components(current)]
    present = [f for f in features if f in current]
    removed = [{f: tuple(p for p in ps if p != x) for f, ps in current.items() if f != x} for x in present]
    groups = [group for group in _components(current) if group[0] in features]
    pairs = itertools.combinations(groups, 2)
    return removed + [{**current, **{f: tuple(sorted((*current[f], *b))) for f in a}} for a, b in pairs]


def _tree_arcs(current, features):
    found = []
    orphans = [f for f in features if not current[f]]
    for x, y in itertools.product(features, orphans):
        if x == y or _leads(current, y, x) or len(orphans) < 2:
            continue
        found.append({**current, y: (x,)})
    return found


def _super_parent_arcs(current, features, value):
    choices = []
    for x in features:
        children = [y for y in features if y != x and not current[y] and not _leads(current, y, x)]
        if children:
            choices.append((value({**current, **dict.fromkeys(children, (x,))}), x, children))
    if not choices:
        return []
    top = max(choice[0] for choice in choices)
    _, x, children = next(choice for choice in choices if choice[0] == top or choice[0] >= top - 1e-9)
    return [{**current, y: (x,)} for y in children]


def _dependence_arcs(current, features, k):
    found = []
    for x, y in itertools.permutations(features, 2):
        if x in current[y] or len(current[y]) >= k or _leads(current, y, x):
            continue
        found.append({**current, y: tuple(sorted((*current[y], x)))})
    return found


def weighted_objective(network, codes, labels, exponents, *, squared, weights=None):
    """The objective of weighted naive Bayes, row by row; a gap drops out."""
    total = 0.0
    for row in range(codes.shape[1]):
        joint = np.log(network.tables[-1]).copy()
        for i, exponent in enumerate(exponents):
            if codes[i, row] < network.schema.cardinalities[i]:
                joint += exponent * np.log(network.tables[i][codes[i, row]])
        posterior = np.exp(joint - joint.max())
        posterior /= posterior.sum()
        weight = 1.0 if weights is None else weights[row]
        if squared:
            total -= weight * 0.5 * ((posterior - np.eye(len(joint))[labels[row]]) ** 2).sum()
        else:
            total += weight * math.log(posterior[labels[row]])
    return total


def full_joint(network):
    """P of every assignment, with an axis per column."""
    sizes = network.schema.cardinalities
    out = np.empty(sizes)
    for states in itertools.product(*map(range, sizes)):
        out[states] = joint(network, states)
    return out


def conditional_log_likelihood(table_, parents):
    """The CLL of a graph at its maximum-likelihood tables, row by row; a family skips the rows that it has a gap in."""
    codes, states, target = table_.codes, table_.schema.cardinalities, table_.schema.target
    weights = np.ones(codes.shape[1]) if table_.weights is None else table_.weights
    tables = [
        smoothed(table(codes, states, (*above, node), table_.weights), len(above), 0.0)
        for node, above in enumerate(parents)
    ]
    total = 0.0
    for row in range(codes.shape[1]):
        joint = np.ones(states[target])
        for label in range(states[target]):
            values = [*(int(code) for code in codes[:target, row]), label]
            for node, above in enumerate(parents):
                cell = tuple(values[c] for c in (*above, node))
                if all(value < states[c] for value, c in zip(cell, (*above, node), strict=True)):
                    joint[label] *= tables[node][cell]
        total += weights[row] * math.log(joint[int(codes[target, row])] / joint.sum())
    return total


def all_dags(n):
    """List every directed acyclic graph over n nodes."""
    names = tuple("ABCDE"[:n])
    pairs = list(itertools.combinations(range(n), 2))
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = [(a, b) if way == 1 else (b, a) for way, (a, b) in zip(ways, pairs, strict=True) if way]
        try:
            yield Dag(names, tuple(tuple(a for a, b in arcs if b == node) for node in range(n)))
        except InputError:
            continue


def is_acyclic(parents):
    """Whether nodes can be taken away one after another, each without parents left; parents are sets by node."""
    left = set(range(len(parents)))
    while left:
        free = {v for v in left if not parents[v] & left}
        if not free:
            return False
        left -= free
    return True


def parents_of(found, chosen):
    """Gather the parents of every node, as sets, from chosen candidates: one per node."""
    assert sorted(found.child[chosen]) == list(range(found.n_columns))
    return [set(np.flatnonzero(found.member[k]).tolist()) for k in chosen[np.argsort(found.child[chosen])]]


def best_choice(found):
    """Find the highest score of an acyclic choice of candidate sets by going through all choices."""
    lists = [np.flatnonzero(found.child == v) for v in range(found.n_columns)]
    sets = [set(np.flatnonzero(row).tolist()) for row in found.member]
    choices = (c for c in itertools.product(*lists) if is_acyclic([sets[k] for k in c]))
    return max(found.score[list(choice)].sum() for choice in choices)
