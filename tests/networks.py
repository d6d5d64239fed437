"""Networks that several tests use."""

import numpy as np

import tanbark as tb


def five_nodes():
    """The lecture's network A -> B, A -> C, B -> D <- C, C -> E, without a class."""
    return tb.Network.from_tables(
        dict.fromkeys("ABCDE", (0, 1)),
        {
            "A": [0.4, 0.6],
            "B": (("A",), [[0.25, 0.75], [0.8, 0.2]]),
            "C": (("A",), [[0.9, 0.1], [0.2, 0.8]]),
            "D": (("B", "C"), [[[0.99, 0.01], [0.2, 0.8]], [[0.1, 0.9], [0.05, 0.95]]]),
            "E": (("C",), [[1.0, 0.0], [0.3, 0.7]]),
        },
    )


def asia():
    """Lauritzen and Spiegelhalter's chest clinic (1988, section 2)."""
    yes_no = ("yes", "no")

    def rows(*yes):
        return [[p, 1 - p] for p in yes]

    return tb.Network.from_tables(
        dict.fromkeys(("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"), yes_no),
        {
            "asia": [0.01, 0.99],
            "tub": (("asia",), rows(0.05, 0.01)),
            "smoke": [0.5, 0.5],
            "lung": (("smoke",), rows(0.1, 0.01)),
            "bronc": (("smoke",), rows(0.6, 0.3)),
            "either": (("lung", "tub"), [rows(1.0, 1.0), rows(1.0, 0.0)]),
            "xray": (("either",), rows(0.98, 0.05)),
            "dysp": (("bronc", "either"), [rows(0.9, 0.8), rows(0.7, 0.1)]),
        },
    )


def alarm_sized(seed, *, n=37, max_parents=4, max_states=4):
    """A random network of ALARM's size: 37 variables with 2 to 4 states, about 46 arcs, some zeros."""
    rng = np.random.default_rng(seed)
    states, tables = {}, {}
    for node in range(n):
        name = f"v{node}"
        states[name] = [f"s{k}" for k in range(int(rng.integers(2, max_states + 1)))]
        near = range(max(0, node - 8), node)
        size = min(len(near), int(rng.choice([0, 1, 2, max_parents], p=[0.2, 0.45, 0.3, 0.05])))
        parents = tuple(f"v{p}" for p in sorted(rng.choice(near, size, replace=False))) if size else ()
        table = rng.dirichlet(np.ones(len(states[name])), [len(states[p]) for p in parents])
        table[rng.random(table.shape) < 0.03] = 0.0
        table /= table.sum(axis=-1, keepdims=True)
        tables[name] = (parents, np.nan_to_num(table, nan=1 / len(states[name])))
    return tb.Network.from_tables(states, tables)


def grid(side, n_states, seed=0):
    """A grid: every variable has the one above and the one on its left as parents; wide for its size."""
    rng = np.random.default_rng(seed)
    names = [f"v{row}{column}" for row in range(side) for column in range(side)]
    tables = {}
    for node, name in enumerate(names):
        parents = [names[node - side]] if node >= side else []
        parents += [names[node - 1]] if node % side else []
        tables[name] = tuple(parents), rng.dirichlet(np.ones(n_states), [n_states] * len(parents) or None)
    return tb.Network.from_tables(dict.fromkeys(names, range(n_states)), tables)
