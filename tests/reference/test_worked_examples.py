"""Numbers from the lecture, from independent scripts, and from other programs, recomputed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from pytest import approx

import tanbark as tb
from fixtures_small import L10, TRUE_ARCS, f500
from tanbark.counts import MemoryCounts
from tanbark.estimators.training import encode_training
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.scores import conditional_mutual_information
from tanbark.table import Column, Schema


@pytest.fixture(scope="module")
def synthetic():
    rows = f500()
    return pd.DataFrame(rows[:, 1:], columns=list("ABWVU")), rows[:, 0]


def arcs_between_features(clf):
    return [arc for arc in clf.dag_.arcs() if arc[0] != "class"]


def test_synthetic_rows_are_the_ones_the_numbers_belong_to():
    rows = f500()
    assert ["".join(map(str, row)) for row in rows[:5]] == ["000000", "000001", "110211", "000000", "110211"]
    assert rows.sum(axis=0).tolist() == [177, 229, 177, 475, 235, 263]


class TestLecture:
    """UNSW COMP9418, Bayesian networks as classifiers."""

    X, y = pd.DataFrame(L10[:, 1:], columns=["A1", "A2", "A3", "A4"]), L10[:, 0]

    def test_conditional_mutual_information(self):
        expected = {(0, 1): 0.586707, (2, 3): 0.145552, (0, 3): 0.111572, (1, 3): 0.111572, (0, 2): 0.059247,
                    (1, 2): 0.059247}  # fmt: skip
        for (i, j), value in expected.items():
            counts = np.zeros((2, 2, 2))
            np.add.at(counts, (L10[:, 1 + i], L10[:, 1 + j], L10[:, 0]), 1)
            assert conditional_mutual_information(counts) == approx(value, abs=1e-6)

    def test_tree_with_its_tie_taken_by_the_earlier_pair(self):
        clf = tb.TAN().fit(self.X, self.y)
        assert arcs_between_features(clf) == [("A1", "A2"), ("A4", "A3"), ("A1", "A4")]
        naive = tb.NaiveBayes(parameters=0).fit(self.X, self.y)
        tree = tb.TAN(parameters=0).fit(self.X, self.y)
        gain = tree.log_likelihood(self.X, self.y) - naive.log_likelihood(self.X, self.y)
        assert gain == approx(8.438304, abs=1e-6)

    def test_the_lectures_own_tree_is_as_good(self):
        arcs = [*(("class", a) for a in self.X), ("A1", "A2"), ("A2", "A4"), ("A4", "A3")]
        drawn = tb.FixedStructure(arcs, parameters=0).fit(self.X, self.y)
        ours = tb.TAN(parameters=0).fit(self.X, self.y)
        assert drawn.log_likelihood(self.X, self.y) == approx(ours.log_likelihood(self.X, self.y))

    @pytest.mark.parametrize("score", ["aic", "bic"])
    def test_penalised_forest_has_one_arc(self, score):
        assert arcs_between_features(tb.TAN(criterion=score).fit(self.X, self.y)) == [("A1", "A2")]

    @pytest.mark.parametrize(
        ("parameters", "complete", "gap"),
        [("ml", 0.700935, 0.824176), ("bdeu", 0.687905, 0.806329), ("laplace", 0.657534, 0.761905)],
    )
    def test_naive_bayes_posteriors(self, parameters, complete, gap):
        clf = tb.NaiveBayes(parameters=parameters).fit(self.X, self.y)
        rows = pd.DataFrame([[1, 1, 1, 1], [1, None, 1, 1], [None] * 4], columns=self.X.columns)
        assert clf.predict_proba(rows)[:, 1] == approx([complete, gap, 0.5], abs=1e-6)

    def test_additive_smoothing_of_sixteen_records(self):
        text = "TFT TFT FTF FFT TFF TFT FFF TFT TFT FFT TFT TTT TFT TTT TFT TFT".split()
        joint = [[record] for record in text]
        states = ["".join(state) for state in itertools.product("TF", repeat=3)]
        X = pd.DataFrame({"joint": pd.Categorical([record[0] for record in joint], categories=states)})
        for alpha, common, rare in [(1, 3 / 24, 1 / 24), (1000, 1002 / 8016, 1000 / 8016)]:
            table = tb.NaiveBayes(parameters=alpha).fit(X, np.zeros(16, int)).network_.table("joint")
            assert table[states.index("TTT"), 0] == approx(common)
            assert table[states.index("TTF"), 0] == approx(rare)
        single = pd.DataFrame({"W1": [r[1] for r in text]})
        given_s = tb.NaiveBayes(parameters=0).fit(single, [r[0] for r in text])
        assert given_s.network_.table("W1")[1, 1] == approx(2 / 12)

    def test_spam(self):
        words = "Gary would you like to lose weight while you sleep".split()
        spam = [0.00002, 0.00069, 0.00881, 0.00086, 0.01517, 0.00008, 0.00016, 0.00027, 0.00881, 0.00006]
        ham = [0.00021, 0.00084, 0.00304, 0.00083, 0.01339, 0.00002, 0.00002, 0.00027, 0.00304, 0.00001]
        columns = [Column(f"{k} {w}", "category", "text", ("there", "other")) for k, w in enumerate(words)]
        schema = Schema((*columns, Column("class", "category", "text", ("spam", "ham"))))
        tables = [np.array([[s, h], [1 - s, 1 - h]]) for s, h in zip(spam, ham, strict=True)]
        dag = Dag.augmented(schema.names, [()] * len(words))
        network = Network(schema, dag, (*tables, np.array([0.33333, 0.66666])))
        joint = joint_log_proba(network, np.zeros((len(words), 1), np.uint8))[0]
        assert joint == approx([-76.020044, -80.324685], abs=1e-6)
        assert 1 / (1 + np.exp(joint[1] - joint[0])) == approx(0.986674, abs=1e-6)
        assert 1 / (1 + np.exp(-80.5 + 76.0)) == approx(0.9890, abs=1e-4)  # the slide, from its rounded totals


def five_nodes():
    """The lecture's network A -> B, A -> C, B -> D <- C, C -> E, with B as the class (last column)."""
    names = ("A", "C", "D", "E", "B")
    schema = Schema(tuple(Column(name, "category", "number", (0, 1)) for name in names))
    dag = Dag.from_arcs([("A", "B"), ("A", "C"), ("B", "D"), ("C", "D"), ("C", "E")], names)

    def two(p):
        return np.stack([1 - np.asarray(p), np.asarray(p)], axis=-1)

    d_given_c_b = np.array([[0.01, 0.9], [0.8, 0.95]])  # [C, B]
    tables = (
        two(0.6), two([0.1, 0.8]), np.stack([1 - d_given_c_b, d_given_c_b], axis=1), two([0.0, 0.7]), two([0.75, 0.2]),
    )  # fmt: skip
    return Network(schema, dag, tables)


@pytest.mark.parametrize(
    ("evidence", "without", "with_b"),
    [
        ({"A": 1, "C": 0, "D": 1, "E": 0}, 0.00096, 0.0216),
        ({"D": 1}, 0.317060, 0.384300),
        ({"A": 1, "D": 1}, 0.308160, 0.112800),
        ({"D": 1, "E": 0}, 0.096420, 0.300510),
        ({}, 0.58, 0.42),
    ],
)
def test_five_node_network(evidence, without, with_b):
    network = five_nodes()
    codes = np.array([[evidence.get(name, 255)] for name in network.dag.names[:-1]], np.uint8)
    assert np.exp(joint_log_proba(network, codes)[0]) == approx([without, with_b], abs=1e-6)


class TestSynthetic:
    """Five hundred rows; numbers from independent scripts."""

    gains = {"WV": 120.618292, "AW": 58.232685, "BW": 44.874616, "BV": 16.869543, "AV": 15.146730, "AU": 2.456515,
             "WU": 0.729501, "VU": 0.331199, "BU": 0.225952, "AB": 0.062181}  # fmt: skip

    def test_pair_gains(self, synthetic):
        X, y = synthetic
        clf = tb.TAN()
        counts = MemoryCounts(encode_training(clf, X, y, None))
        found = counts.pair_information().gain
        for k, pair in enumerate(itertools.combinations("ABWVU", 2)):
            assert found[k] == approx(self.gains["".join(pair)], abs=1e-6)

    @pytest.mark.parametrize(
        ("score", "arcs", "gain"),
        [
            ("loglik", {"WV", "AW", "BW", "AU"}, 226.182109),
            ("aic", {"WV", "AW", "BW", "AU"}, 212.182109),
            ("bic", {"WV", "AW", "BW"}, 186.437945),
        ],
    )
    def test_trees(self, synthetic, score, arcs, gain):
        X, y = synthetic
        clf = tb.TAN(criterion=score, parameters=0).fit(X, y)
        found = {"".join(sorted(arc, key="ABWVU".index)) for arc in arcs_between_features(clf)}
        assert found == arcs
        naive = tb.NaiveBayes(parameters=0).fit(X, y)
        measure = {"loglik": "log_likelihood", "aic": "aic", "bic": "bic"}[score]
        assert getattr(clf, measure)(X, y) - getattr(naive, measure)(X, y) == approx(gain, abs=1e-6)
        assert clf.structure_score_ == approx(getattr(clf, measure)(X, y), abs=1e-6)

    def test_tree_log_likelihood(self, synthetic):
        X, y = synthetic
        assert tb.TAN(parameters=0).fit(X, y).log_likelihood(X, y) == approx(-1815.565406, abs=1e-6)

    @pytest.mark.parametrize("root", list("ABWVU"))
    def test_the_root_changes_nothing_with_bdeu(self, synthetic, root):
        X, y = synthetic
        clf = tb.TAN(root=root, parameters="bdeu").fit(X, y)
        assert not [arc for arc in arcs_between_features(clf) if arc[1] == root]
        assert clf.predict_proba(self.row())[0, 1] == approx(0.529666, abs=1e-6)

    @pytest.mark.parametrize(("root", "value"), [("A", 0.532624), ("V", 0.531025)])
    def test_the_root_matters_with_laplace(self, synthetic, root, value):
        X, y = synthetic
        assert tb.TAN(root=root, parameters="laplace").fit(X, y).predict_proba(self.row())[0, 1] == approx(
            value, abs=1e-6
        )

    @staticmethod
    def row(**changes):
        values = {"A": 1, "B": 0, "W": 1, "V": 1, "U": 1} | changes
        return pd.DataFrame({name: [value] for name, value in values.items()}, dtype=float)

    CASES = [
        ("naive", {}, 0.737183, 0.024891), ("naive", {"W": None}, 0.734893, 0.078907),
        ("naive", dict.fromkeys("ABWU"), 0.502123, None),
        ("tan", {}, 0.529666, 0.020008), ("tan", {"W": None}, 0.708168, 0.066652),
        ("tan", dict.fromkeys("AWU"), 0.351093, None), ("tan", dict.fromkeys("ABWU"), 0.502123, None),
        ("tan", dict.fromkeys("ABWVU"), 0.354291, 1.0),
        ("true", {}, 0.407782, None), ("true", {"W": None}, 0.630943, 0.082264),
        ("true", dict.fromkeys("ABWU"), 0.502393, None),
    ]  # fmt: skip

    @pytest.mark.parametrize(("model", "changes", "posterior", "evidence"), CASES)
    def test_posteriors_with_gaps(self, synthetic, model, changes, posterior, evidence):
        X, y = synthetic
        makers = {"naive": tb.NaiveBayes, "tan": tb.TAN, "true": lambda **k: tb.FixedStructure(TRUE_ARCS, **k)}
        clf = makers[model](parameters="bdeu").fit(X, y)
        row = self.row(**changes)
        assert clf.predict_proba(row)[0, 1] == approx(posterior, abs=1e-6)
        if evidence is not None:
            assert np.exp(clf.predict_joint_log_proba(row)).sum() == approx(evidence, abs=1e-6)
