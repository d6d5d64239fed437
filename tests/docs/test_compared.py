"""The page that compares libraries: every tick of ours works, and what it says of installed peers is so."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import tanbark as tb

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compared.md"
NO = "\N{EN DASH}"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="a source package holds no documentation")


def rows_of(path):
    found = re.findall(r"^\| (\w[^|]*?) \| ([^\n]*) \|$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {label: cells.split(" | ") for label, cells in found if set(cells) & {"✓", NO}}


@pytest.fixture(scope="module")
def clf():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 150)
    X = pd.DataFrame({name: np.where(rng.random(150) < 0.7, y, "no") for name in "abc"})
    return tb.TAN().fit(X, y), X, y


def trees(clf, folder):
    model, _, _ = clf
    return model.network_.is_one_dependence and not model.network_.is_naive


def averages(clf, folder):
    return tb.AODE().fit(*clf[1:]).predict_proba(clf[1][:2]).shape == (2, 2)


def interface(clf, folder):
    from sklearn.model_selection import cross_val_score

    return isinstance(clf[0], BaseEstimator) and len(cross_val_score(tb.NaiveBayes(), *clf[1:], cv=2)) == 2


def missing(clf, folder):
    """Blanking a value is the sum over its states."""
    model, X, _ = clf
    row = X.iloc[[0]]
    states = [model.predict_joint_log_proba(row.assign(b=state)) for state in ("no", "yes")]
    return np.allclose(np.logaddexp(*states), model.predict_joint_log_proba(row.assign(b=None)))


def explained(clf, folder):
    (why,) = clf[0].explain(clf[1][:1])
    return np.isclose(sum(part.nats for part in why.parts), why.log_odds)


def intervals(clf, folder):
    low, high = clf[0].predict_proba_interval(clf[1][:3])
    return bool((low < high).all())


def page(clf, folder):
    text = clf[0].explore(folder / "page.html").html
    return "default-src 'none'" in text.replace("&#x27;", "'") and "http://" not in re.sub(
        r"http://www.w3.org\S*", "", text
    )


def files(clf, folder):
    _, X, y = clf
    X.assign(label=y).to_parquet(folder / "rows.parquet")
    streamed = tb.TAN().fit(tb.scan(folder / "rows.parquet", target="label", max_memory=2**20))
    return np.array_equal(streamed.predict_proba(X), clf[0].predict_proba(X))


def sql(clf, folder):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as connection:
        clf[1].to_sql("rows", connection, index=False)
        found = pd.read_sql(tb.export.to_sql(clf[0], table="rows"), connection)
    return np.allclose(found.iloc[:, :2], clf[0].predict_proba(clf[1]))


def queries(clf, folder):
    network = clf[0].network_
    return np.isclose(network.query("a", {"b": "yes"}).values.sum(), 1) and set(network.mpe({"a": "no"}).states) > {"b"}


def network_files(clf, folder):
    for suffix in ("bif", "xmlbif", "net", "uai"):
        tb.export.write_network(clf[0].network_, folder / f"n.{suffix}")
    read = tb.export.read_network(folder / "n.bif")
    return np.allclose(read.query("a").values, clf[0].network_.query("a").values)


OURS = {
    "learns trees among the features (TAN)": trees,
    "averages one-dependence estimators (AODE)": averages,
    "classifiers with scikit-learn's interface": interface,
    "predicts rows with missing values exactly": missing,
    "explains a prediction by its values": explained,
    "intervals of the probabilities": intervals,
    "an interactive page in one file": page,
    "learns from files larger than memory": files,
    "writes a classifier as SQL": sql,
    "queries of any variable, most probable explanation": queries,
    "reads and writes BIF and other network files": network_files,
}


def test_every_tick_of_ours_has_a_test():
    assert {label for label, cells in rows_of(PAGE).items() if cells[0] == "✓"} == set(OURS)


@pytest.mark.parametrize("label", OURS)
def test_the_tick_is_true(label, clf, tmp_path):
    assert OURS[label](clf, tmp_path)


def test_the_readme_has_the_same_ticks():
    page, readme = rows_of(PAGE), rows_of(ROOT / "README.md")
    assert len(readme) >= 8
    assert any(cells[0] == NO for cells in readme.values())
    for label, cells in readme.items():
        assert page[label] == cells, label


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("pgmpy.estimators", "TreeSearch"),
        ("pgmpy.inference", "VariableElimination CausalInference DBNInference ApproxInference"),
        ("pgmpy.models", "LinearGaussianBayesianNetwork DynamicBayesianNetwork"),
        ("pgmpy.readwrite", "BIFReader BIFWriter"),
        ("pyagrum", "InfluenceDiagram CredalNet LazyPropagation GibbsSampling loadBN saveBN"),
        ("pyagrum.skbn", "BNClassifier"),
        ("sklearn.naive_bayes", "CategoricalNB GaussianNB"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_peer_has_what_the_page_names(module, names):
    found = pytest.importorskip(module)
    assert [name for name in names.split() if not hasattr(found, name)] == []


@pytest.mark.parametrize("name", ["explain", "clg", "causal", "lib.dynamicBN"])
def test_pyagrum_has_its_parts(name):
    package = Path(pytest.importorskip("pyagrum").__file__).parent
    place = package.joinpath(*name.split("."))
    assert place.is_dir() or place.with_suffix(".py").is_file()


@pytest.mark.filterwarnings("ignore")
def test_missing_cells_are_errors_of_the_peers():
    from sklearn.naive_bayes import CategoricalNB

    with pytest.raises(ValueError, match="NaN"):
        CategoricalNB().fit([[0.0], [1.0]], [0, 1]).predict([[np.nan]])
    models = pytest.importorskip("pgmpy.models")
    rows = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10, "y": ["p", "q"] * 20})
    network = models.DiscreteBayesianNetwork([("y", "a"), ("y", "b")])
    network.fit(rows)
    assert "y_p" in network.predict_probability(pd.DataFrame({"a": ["x"]}))  # a column that all rows lack
    with pytest.raises(KeyError, match="unknown"):
        network.predict_probability(pd.DataFrame({"a": ["x", "y"], "b": ["u", None]}))
    assert "y" in network.predict(pd.DataFrame({"a": ["x", "y"], "b": ["u", None]}))  # by the joint state
    skbn = pytest.importorskip("pyagrum.skbn")
    discrete = pytest.importorskip("pyagrum.lib.discreteTypeProcessor").DiscreteTypeProcessor
    classifier = skbn.BNClassifier(learningMethod="TAN", type_processor=discrete())
    assert isinstance(classifier, BaseEstimator)
    classifier.fit(rows[["a", "b"]], rows["y"].to_numpy())
    with pytest.raises(Exception, match=r"unknown|NaN"):
        classifier.predict_proba(pd.DataFrame({"a": ["x"], "b": [np.nan]}))


def test_no_estimator_of_pgmpy_is_a_classifier_of_scikit_learns():
    package = Path(pytest.importorskip("pgmpy").__file__).parent
    named = [path for path in package.rglob("*.py") if "ClassifierMixin" in path.read_text(encoding="utf-8")]
    assert named == []
