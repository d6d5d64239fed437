"""Every answer of a network is what the enumeration of its joint gives."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
from strategies import make_network, seeds
from tanbark.errors import ImpossibleEvidenceError
from tanbark.graph import Network
from tanbark.inference.factors import elimination as engine
from tanbark.table import Schema

shapes = {"n_features": st.integers(1, 6), "zeros": st.booleans(), "logs": st.booleans(), "has_class": st.booleans()}
cases = given(seeds, st.fixed_dictionaries(shapes))
few = settings(max_examples=80)


class Case:
    """A random network, evidence, soft evidence and targets, and the joint weighted by them."""

    def __init__(self, seed, *, n_features, zeros, logs=False, has_class=True, soft=0.2):
        self.rng = rng = np.random.default_rng(seed)
        network = make_network(rng, n_features=n_features, zeros=zeros)
        if not has_class:
            parents = [tuple(p for p in ps if p != n_features) for ps in network.dag.parents]
            assume(parents == list(network.dag.parents))  # else the axes of the tables would have another order
            network = Network(Schema(network.schema.columns, has_class=False), network.dag, network.tables)
        self.network = network
        self.names = network.dag.names
        role = rng.choice(["target", "seen", "soft", "rest"], n_features + 1, p=[0.3, 0.35, soft, 0.35 - soft])
        role[rng.integers(n_features + 1)] = "target"
        self.targets = [int(k) for k in rng.permutation(np.flatnonzero(role == "target"))]
        sizes = network.schema.cardinalities
        self.codes = {int(k): int(rng.integers(sizes[k])) for k in np.flatnonzero(role == "seen")}
        self.evidence = {self.names[k]: code for k, code in self.codes.items()}
        self.soft = {self.names[k]: rng.random(sizes[k]) * 3 for k in np.flatnonzero(role == "soft")}
        self.joint = naive.full_joint(network)
        for k in np.flatnonzero(role == "soft"):
            shape = np.ones(n_features + 1, int)
            shape[k] = -1
            self.joint = self.joint * self.soft[self.names[k]].reshape(shape)
        pick = tuple(
            slice(self.codes[k], self.codes[k] + 1) if k in self.codes else slice(None) for k in range(len(sizes))
        )
        self.within = self.joint[pick]
        self.possible = self.within.sum() > 0
        self.logs = logs

    def over(self, columns):
        others = tuple(k for k in range(len(self.names)) if k not in columns)
        kept = sorted(columns)
        return self.within.sum(axis=others).transpose([kept.index(k) for k in columns])

    @property
    def wanted(self):
        return [self.names[k] for k in self.targets]


@pytest.fixture(autouse=True)
def _as_is():
    before = engine.UNDERFLOW
    yield
    engine.UNDERFLOW = before


def make(seed, shape, **options):
    case = Case(seed, **shape, **options)
    engine.UNDERFLOW = 2.0 if shape["logs"] else 1e-200  # 2: everything is run in logarithms
    return case


@cases
@few
def test_posterior(seed, shape):
    case = make(seed, shape)
    if not case.possible:
        with pytest.raises(ImpossibleEvidenceError, match="probability zero"):
            case.network.query(case.wanted, case.evidence, soft=case.soft)
        return
    found = case.network.query(case.wanted, case.evidence, soft=case.soft)
    expected = case.over(case.targets) / case.within.sum()
    assert found.values.shape == expected.shape
    assert found.values == approx(expected, abs=1e-12)


@cases
@few
def test_probability_of_evidence(seed, shape):
    case = make(seed, shape)
    assert case.network.probability_of_evidence(case.evidence, soft=case.soft) == approx(case.within.sum(), rel=1e-10)


@cases
@few
def test_most_probable_explanation(seed, shape):
    case = make(seed, shape)
    assume(case.possible)
    found = case.network.mpe(case.evidence, soft=case.soft)
    assert found.joint == approx(case.within.max(), rel=1e-10)
    assert found.joint <= case.within.sum() * (1 + 1e-12)
    assert found.posterior == approx(case.within.max() / case.within.sum(), rel=1e-10)
    codes = [case.evidence.get(name, found.get(name)) for name in case.names]
    assert case.joint[tuple(codes)] == approx(found.joint, rel=1e-10)


@cases
@few
def test_map_sums_before_it_maximises(seed, shape):
    case = make(seed, shape)
    assume(case.possible)
    found = case.network.map(case.wanted, case.evidence, soft=case.soft)
    marginal = case.over(case.targets)
    assert found.joint == approx(marginal.max(), rel=1e-10)
    assert marginal[tuple(found[name] for name in case.wanted)] == approx(marginal.max(), rel=1e-10)
    assert list(found) == case.wanted


@cases
@few
def test_rows_of_evidence_are_single_queries(seed, shape):
    case = make(seed, shape)
    columns = list(case.codes) or [k for k in range(len(case.names)) if k not in case.targets]
    assume(columns)
    soft = {name: values for name, values in case.soft.items() if case.names.index(name) not in columns}
    sizes = case.network.schema.cardinalities
    rows = pd.DataFrame({case.names[k]: case.rng.integers(0, sizes[k], 30).astype(float) for k in columns})
    rows = rows.mask(case.rng.random(rows.shape) < 0.2)
    probability = case.network.probability_of_evidence(rows, soft=soft)
    rows = rows[probability > 0]
    assume(len(rows))
    found = case.network.query(case.wanted, rows, soft=soft)
    for row, evidence in enumerate(rows.to_dict("records")):
        alone = case.network.query(case.wanted, evidence, soft=soft)
        assert found[row].values == approx(alone.values, abs=1e-12)
        one = case.network.probability_of_evidence(evidence, soft=soft)
        assert probability[probability > 0][row] == approx(one, rel=1e-12)


@cases
@few
def test_pruning_keeps_the_posterior(seed, shape):
    case = make(seed, shape, soft=0.0)
    assume(case.possible)
    small = case.network.prune(case.wanted, case.evidence)
    assert set(small.dag.names) <= set(case.names)
    kept = {name: state for name, state in case.evidence.items() if name in small.dag.names}
    assert small.query(case.wanted, kept).values == approx(
        case.network.query(case.wanted, case.evidence).values, abs=1e-10
    )
    unasked = set(small.dag.names) - set(case.wanted) - set(kept)
    for name in unasked:  # nothing barren is left
        assert small.dag.children[small.dag.index(name)]


@given(seeds, st.integers(1, 5))
@few
def test_d_separation_is_independence_for_every_table(seed, n_features):
    """Random tables have no independence that the graph does not imply, but for a set of measure zero."""
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=n_features)
    joint = naive.full_joint(network)
    n = n_features + 1
    sizes = network.schema.cardinalities
    for x, y in itertools.combinations(range(n), 2):
        given_columns = [k for k in range(n) if k not in (x, y) and rng.random() < 0.4]
        order = [*given_columns, x, y]
        others = tuple(k for k in range(n) if k not in order)
        kept = sorted(order)
        table = joint.sum(axis=others).transpose([kept.index(k) for k in order])
        table = table.reshape(-1, sizes[x], sizes[y])
        product = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
        independent = np.allclose(table * table.sum(axis=(1, 2), keepdims=True), product, atol=1e-12)
        separated = network.d_separated(x, y, given_columns)
        assert separated == network.d_separated(y, x, given_columns)
        assert independent or not separated
        if min(sizes) > 1 and not separated:
            assert not independent


@given(seeds, st.booleans(), st.booleans())
@settings(max_examples=15)
def test_samples_have_the_frequencies_of_the_posterior(seed, zeros, logs):
    case = make(seed, {"n_features": 3, "zeros": zeros, "logs": logs})
    assume(case.possible)
    n = 4000
    drawn = case.network.sample(n, case.evidence, soft=case.soft, random_state=seed)
    assert list(drawn.columns) == list(case.names)
    counts = np.zeros(case.network.schema.cardinalities)
    np.add.at(counts, tuple(drawn[name].to_numpy() for name in case.names), 1)
    expected = np.zeros_like(counts)
    pick = tuple(slice(case.codes[k], case.codes[k] + 1) if k in case.codes else slice(None) for k in range(4))
    expected[pick] = case.within / case.within.sum()
    assert not counts[expected == 0].any()
    spread = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(counts / n - expected) <= 6 * spread + 1e-12).all()


@cases
@few
def test_log_likelihood_is_that_of_the_rows(seed, shape):
    case = make(seed, shape)
    drawn = case.network.sample(20, random_state=seed)
    rows = case.network.log_likelihood(drawn, per_row=True)
    joint = naive.full_joint(case.network)
    assert rows == approx(np.log(joint[tuple(drawn[name].to_numpy() for name in case.names)]), rel=1e-9, abs=1e-9)
    assert case.network.log_likelihood(drawn) == approx(rows.sum())
