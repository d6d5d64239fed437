"""What a scorer of pooled networks has in place of one network's prediction; :mod:`scorer_template` has the rest."""

import math
from itertools import product

from tanbark.export.scorer_template import COLUMNS, LABELS, TOO_MANY, eliminate, encode, unpack

LOG_PRIOR, USUAL_MISSING, FADE, TEMPERATURE, PLAIN_TEMPERATURE, KINDS, NETWORKS = [], 0.0, 1.0, 1.0, 1.0, [], []
TREES, MOST_ENTRIES = None, 1


# prediction begins
for _network in NETWORKS:
    for _part in _network["trees"]:
        for _key, _value in _part.items():
            _part[_key] = unpack(*_value)
if TREES:
    TREES.update({_key: unpack(*_value) for _key, _value in TREES.items() if isinstance(_value, tuple)})


def predict_proba(row):
    """Return the probability of every label."""
    states = encode(row)
    merged = [{place: kind["lookups"][place][state] for place, state in states.items()} for kind in KINDS]
    plain, change = [0.0] * len(LABELS), [0.0] * len(LABELS)
    for network in NETWORKS:
        known = merged[network["kind"]]
        known = {k: known[place] for k, place in enumerate(network["columns"]) if place in known}
        if network["weight"] > 0.0:
            for label, value in enumerate(log_likelihoods(network, known)):
                plain[label] += network["weight"] * value
    full = 0.0
    if TREES and states:
        add_trees(TREES, states, change)
        full = FADE ** max(len(COLUMNS) - 1 - len(states) - USUAL_MISSING, 0.0)
    scores = [
        prior + (1.0 - full) * PLAIN_TEMPERATURE * value + full * TEMPERATURE * (value + more)
        for prior, value, more in zip(LOG_PRIOR, plain, change)
    ]
    top = max(scores)
    values = [math.exp(score - top) for score in scores]
    total = sum(values)
    return {label: value / total for label, value in zip(LABELS, values)}


def log_likelihoods(network, known):
    """Return log P(observed values | label) for every label; missing values are summed out."""
    parents, needed = network["parents"], set(known)
    for node in reversed(network["order"]):
        if node in needed:
            needed.update(parents[node])
    open_nodes = [f for f in sorted(needed) if f not in known or any(p not in known for p in parents[f])]
    found = []
    for label in range(len(LABELS)):
        score = sum(
            math.log(distribution(network, f, label, known)[known[f]]) for f in sorted(needed) if f not in open_nodes
        )
        if open_nodes:
            factors = [restrict(network, f, label, known) for f in open_nodes]
            score += eliminate(factors, network["sizes"], MOST_ENTRIES // len(LABELS))
        found.append(score)
    return found


def distribution(network, node, label, known):
    """Return the distribution of a node in the longest context that was seen; the label is the first parent."""
    tree, context = network["trees"][node], 0
    for level, size in enumerate(tree["states"]):
        state = label if level == 0 else known[network["parents"][node][level - 1]]
        deeper = tree["children"][tree["starts"][level] + (context - tree["levels"][level]) * size + state]
        if deeper < 0:
            break
        context = deeper
    size = network["sizes"][node]
    return tree["probabilities"][context * size : (context + 1) * size]


def restrict(network, node, label, known):
    """Return a family as a factor over its missing columns: (columns, values by their states)."""
    free = tuple(f for f in [node] + network["parents"][node] if f not in known)
    if math.prod(network["sizes"][f] for f in free) * len(LABELS) > MOST_ENTRIES:
        raise ValueError(TOO_MANY)
    values = {}
    for states in product(*(range(network["sizes"][f]) for f in free)):
        whole = {**known, **dict(zip(free, states))}
        values[states] = distribution(network, node, label, whole)[whole[node]]
    return free, values


def add_trees(trees, states, change):
    """Add the values of all trees; where no missing value was seen in training, both children count by their rows."""
    lowest = len(change) - trees["n_values"]
    for root in trees["roots"]:
        waiting = [(root, 1.0)]
        while waiting:
            node, fraction = waiting.pop()
            while trees["features"][node] >= 0:
                column, threshold, left = trees["features"][node], trees["thresholds"][node], trees["lefts"][node]
                state, missing = states.get(column), trees["missing"][node]
                if state is None and missing == 2:
                    waiting.append((left + 1, fraction * (1.0 - trees["fractions"][node])))
                    fraction *= trees["fractions"][node]
                    node = left
                    continue
                if state is None:
                    goes_left = missing == 0
                elif trees["ordered"][column]:
                    goes_left = state <= threshold
                else:
                    goes_left = trees["masks"][threshold * trees["n_states"] + state]
                node = left if goes_left else left + 1
            for k in range(trees["n_values"]):
                change[lowest + k] += fraction * trees["values"][node * trees["n_values"] + k]
