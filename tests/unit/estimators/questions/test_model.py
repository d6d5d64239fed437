"""Information by enumeration of the joint distribution; states, cells and likelihoods of pooled networks."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb
from strategies import make_network, make_table, seeds
from tanbark.estimators.questions import model as questions
from tanbark.estimators.questions.asking import ask_next, importances
from tanbark.inference import joint_log_proba, temper


def joint_distribution(network):
    """P(all columns), by multiplying the CPTs for every configuration."""
    sizes = network.schema.cardinalities
    table = np.ones(sizes)
    for states in product(*map(range, sizes)):
        for node, cpt in enumerate(network.tables):
            table[states] *= cpt[tuple(states[axis] for axis in network.axes(node))]
    return table


def mutual_information(table):
    """I(rows; columns) in bits of a joint distribution."""
    outer = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    seen = table > 0
    return float((table[seen] * np.log2(table[seen] / outer[seen])).sum())


def asked_of(network, logits=None):
    joint = partial(joint_log_proba, network)
    return questions.plain_asked(network.schema, logits or joint, (questions.Generative(joint),))


def random_row(rng, asked, network):
    row = asked.nothing()
    for column in range(asked.n_features):
        if rng.random() < 0.4:
            row[column] = rng.integers(network.schema.cardinalities[column])
    return row


@given(seeds, st.integers(1, 4), st.booleans())
@settings(max_examples=40)
def test_the_information_of_a_network_is_the_mutual_information_given_the_evidence(seed, n_features, zeros):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=n_features, zeros=zeros)
    asked = asked_of(network)
    row = random_row(rng, asked, network)
    table = joint_distribution(network)
    slices = tuple(slice(None) if code == 255 else int(code) for code in row)
    given_row = table[slices]
    if given_row.sum() == 0:
        with pytest.raises(tb.errors.ImpossibleEvidenceError, match="impossible under every class"):
            ask_next(asked, row)
        return
    given_row = given_row / given_row.sum()
    free = [column for column in range(n_features) if row[column] == 255]
    found = {question.feature: question for question in ask_next(asked, row)}
    assert list(found) == sorted(found, key=lambda name: -found[name].bits)
    for axis, column in enumerate(free):
        others = tuple(k for k in range(len(free)) if k != axis)
        pair = given_row.sum(axis=others)
        question = found[network.dag.names[column]]
        assert question.bits == pytest.approx(mutual_information(pair), abs=1e-9)
        assert question.probabilities == pytest.approx(pair.sum(axis=1))
        seen = pair.sum(axis=1) > 0
        assert question.posteriors[seen] == pytest.approx(pair[seen] / pair[seen].sum(axis=1, keepdims=True))


def test_a_temperature_changes_the_posteriors_but_not_the_states_of_a_class():
    """The definition, spelt out state by state."""
    rng = np.random.default_rng(5)
    network = make_network(rng, n_features=3, max_states=3, augmented=True)
    prior = network.log_tables[-1]
    asked = asked_of(network, lambda codes: temper(joint_log_proba(network, codes), prior, 0.6))
    row = asked.nothing()
    row[0] = 0
    table = joint_distribution(network)[0]

    def posterior(values):
        likelihood = values / np.exp(prior)
        tempered = np.exp(prior) * likelihood**0.6
        return tempered / tempered.sum()

    def bits(p):
        return -sum(x * np.log2(x) for x in p if x > 0)

    now = posterior(table.sum(axis=(0, 1)))
    for question in ask_next(asked, row):
        pair = table.sum(axis=1) if question.feature == "x1" else table.sum(axis=0)
        chances = (pair / pair.sum(axis=0)) @ now
        after = sum(p * bits(posterior(line)) for p, line in zip(chances, pair, strict=True))
        assert question.bits == pytest.approx(max(0.0, bits(now) - after), abs=1e-12)


def test_pooled_networks_by_the_definition():
    """Every network has its own intervals; those of the first are the states, and cells in their middle are entered."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 3, 300)]).astype(object)
    y = (X[:, 0].astype(float) + (X[:, 2] == 1) + rng.normal(size=300) > 0.4).astype(int)
    clf = tb.NetworkEnsemble(n_estimators=4, random_state=1).fit(X, y)
    pooled, row = clf.model_, [None, X[0, 1], None]
    codes = clf._codes([row])
    now = clf.predict_proba([row])[0]
    found = {question.feature: question for question in clf.ask_next(row)}
    assert set(found) == {"x0", "x2"}
    for column in (0, 2):
        first = pooled.members[0].coarsening
        size, lookup = first.schema.cardinalities[column], first.lookups[column][:-1]
        chances, weight = np.zeros((size, 2)), 0.0
        for member, share in zip(pooled.members, pooled.weights, strict=True):
            if column not in member.columns:
                continue
            own = member.coarsening.lookups[column][:-1]
            cells = np.repeat(codes, len(own), axis=1)
            cells[column] = np.arange(len(own))
            joint = np.exp(member.log_likelihoods(member.coarsening.apply(cells), n_jobs=1))
            for state in range(int(own.max()) + 1):
                inside = np.flatnonzero(own == state)
                for s in range(size):
                    chances[s] += (
                        share
                        * np.mean(lookup[inside] == s)
                        * joint[inside[0]]
                        / sum(joint[np.flatnonzero(own == t)[0]] for t in range(int(own.max()) + 1))
                    )
            weight += share
        question = found[f"x{column}"]
        assert question.probabilities == pytest.approx(chances @ now / weight)
        assert question.probabilities.sum() == pytest.approx(1)
        entered = np.repeat(codes, size, axis=1)
        entered[column] = [(np.flatnonzero(lookup == s)[0] + np.flatnonzero(lookup == s)[-1]) // 2 for s in range(size)]
        assert question.posteriors == pytest.approx(clf._posterior(clf._joint(entered), logs=False))
        fall = questions.entropy(now[None])[0] - question.probabilities @ questions.entropy(question.posteriors)
        assert question.bits == pytest.approx(max(0.0, fall))


def test_batches_of_columns_change_nothing(monkeypatch):
    network = make_network(np.random.default_rng(3), n_features=6, augmented=True)
    asked = asked_of(network)
    whole = importances(asked)
    monkeypatch.setattr(questions, "MOST_CODES", 1)
    assert np.array_equal(importances(asked), whole)


@pytest.mark.parametrize(
    "clf",
    [
        tb.NaiveBayes(parameters=tb.WANBIA()), tb.NaiveBayes(parameters=tb.Discriminative(penalty=1.0, rounds=2)),
        tb.AODE(), tb.A2DE(min_rows=3), tb.ModelAveraging(tb.TAN(), 3, random_state=0), tb.ChowLiuTree(),
        tb.KBestANB(3),
    ],
    ids=repr,
)  # fmt: skip
def test_states_are_a_distribution_and_the_posteriors_are_those_of_predict(clf):
    table = make_table(np.random.default_rng(1), (3, 2, 4, 3, 2), 150)
    X, y = table.codes[:-1].T.astype(float), table.codes[-1].astype(int)
    clf.fit(X, y)
    row = {"x1": 1.0}
    for question in clf.ask_next(row):
        column = clf.schema_.names.index(question.feature)
        rows = np.full((len(question.states), 4), np.nan)
        rows[:, 1], rows[:, column] = 1.0, question.states
        assert question.posteriors == pytest.approx(clf.predict_proba(rows))
        assert question.probabilities.sum() == pytest.approx(1)
        assert question.bits >= 0
