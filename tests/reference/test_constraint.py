"""Skeletons and p-values that another program found on fixed data.

pgmpy 1.1.2: ``PC(frame.astype("category")).estimate(variant="stable", ci_test=..., significance_level=...,
return_type="skeleton")``. Its MMPC is left out: it finds other candidates at every run.
"""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb

SKELETONS = {
    ("g2", 0.05): "ae bc cd cf ef fg",
    ("g2", 0.001): "ae bc cd ef fg",
    ("x2", 0.05): "ae bc cd cf ef fg",
    ("x2", 0.001): "ae bc cd ef fg",
}


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(20), 800

    def copied(source, share, states):
        return np.where(rng.random(n) < share, source, rng.integers(0, states, n))

    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    c = copied((a + b) % 3, 0.75, 3)
    d, e = copied(c, 0.7, 3), copied(a, 0.7, 2)
    f = copied((d + e) % 2, 0.7, 2)
    g = copied(f, 0.6, 2)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "k": rng.integers(0, 2, n)})


@pytest.mark.parametrize(("test", "level"), SKELETONS)
def test_skeletons_of_pc(frame, test, level):
    made = (tb.GTest if test == "g2" else tb.ChiSquareTest)(level)
    clf = tb.PCGBN(test=made).fit(frame.drop(columns="k"), frame["k"])
    assert " ".join(sorted("".join(sorted(arc)) for arc in clf.dag_.arcs())) == SKELETONS[test, level]


def test_a_v_structure_of_pc(frame):
    """At 0.05 pgmpy directs d -> c -> b, e -> f and g -> f, and leaves a - e."""
    arcs = tb.PCGBN().fit(frame.drop(columns="k"), frame["k"]).dag_.arcs()
    assert {("d", "c"), ("c", "b"), ("e", "f"), ("g", "f")} < set(arcs)
