import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

import tanbark as tb
from tanbark.estimators.reports import validation

X, Y = load_iris(return_X_y=True, as_frame=True)


def test_relearnt_structures_score_as_scikit_learn_scores_them():
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    found = tb.cross_validate_network(tb.TAN(criterion="bic"), X, Y, cv=5, random_state=3).scores[
        "TAN(criterion='bic')"
    ]
    assert found["accuracy"].tolist() == cross_val_score(tb.TAN(criterion="bic"), X, Y, cv=folds).tolist()
    assert (-found["log_loss"]).tolist() == pytest.approx(
        cross_val_score(tb.TAN(criterion="bic"), X, Y, cv=folds, scoring="neg_log_loss")
    )


def test_a_structure_is_kept_where_that_is_asked(monkeypatch):
    rows = []
    learn = tb.LEARNERS["tan"].learn

    @functools.wraps(learn)
    def spy(counts, **options):
        rows.append(counts.total)
        return learn(counts, **options)

    monkeypatch.setitem(tb.LEARNERS, "tan", type(tb.LEARNERS["tan"])(spy, "", "", 2))
    tb.cross_validate_network(tb.TAN(), X, Y, relearn_structure=False, cv=5)
    assert rows == [150]
    tb.cross_validate_network(tb.TAN(), X, Y, cv=5)
    assert rows[1:] == [120] * 5


def test_several_models_meet_the_same_folds():
    models = {
        "naive": tb.NaiveBayes(),
        "again": tb.NaiveBayes(),
        "aode": tb.AODE(),
        "logistic": LogisticRegression(max_iter=500),
    }
    result = tb.cross_validate_network(models, X, Y, cv=4)
    assert result.scores["naive"]["accuracy"].tolist() == result.scores["again"]["accuracy"].tolist()
    assert list(result.scores) == list(models)
    assert len(result.to_frame()) == 16
    assert str(result).splitlines()[0].split()[0] == "model"
    assert repr(result) == str(result)


@pytest.mark.parametrize(
    "data", [X, pl.from_pandas(X), X.to_numpy(), X.to_numpy().tolist()], ids=["pandas", "polars", "numpy", "lists"]
)
def test_any_table(data):
    result = tb.cross_validate_network(
        [tb.NaiveBayes(), tb.NaiveBayes()], data, Y.tolist(), cv=KFold(3, shuffle=True, random_state=0)
    )
    assert list(result.scores) == ["NaiveBayes() #0", "NaiveBayes() #1"]
    assert result.scores["NaiveBayes() #0"]["accuracy"].mean() > 0.8


@pytest.mark.parametrize("models", [3, [], [1], "TAN"])
def test_what_is_no_model_is_refused(models):
    with pytest.raises(tb.errors.OptionError, match="models must be"):
        tb.cross_validate_network(models, X, Y)


def test_cmi_of_columns():
    a = ["x", "x", "y", "y", None, "x"]
    b = [0, 0, 1, 1, 1, np.nan]
    assert tb.counts.cmi(a, b) == pytest.approx(np.log(2))
    assert tb.counts.cmi(pd.Series(a), pd.Series(b), given=pd.Series(b)) == 0.0
    rng = np.random.default_rng(0)
    x, y, z, w = rng.integers(0, 3, (4, 500))
    joint = z * 3 + w
    for given in ([z, w], np.column_stack([z, w]), pd.DataFrame({"z": z, "w": w}), pl.DataFrame({"z": z, "w": w})):
        assert tb.counts.cmi(x, y, given=given) == pytest.approx(tb.counts.cmi(x, y, given=joint), abs=1e-12)
    with pytest.raises(tb.errors.InputError, match="same length"):
        tb.counts.cmi([1, 2], [1, 2, 3])


@pytest.mark.filterwarnings("ignore::tanbark.errors.UnseenCategoryWarning")
def test_a_frame_of_text_is_read_once_and_gives_the_same_probabilities(monkeypatch):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            f"f{k}": np.array(["x", "y", "z", "rare"], object)[rng.choice(4, 120, p=[0.4, 0.3, 0.29, 0.01])]
            for k in range(4)
        }
    )
    y = np.where(rng.random(120) < 0.2, X["f1"] == "x", X["f0"] == "x")
    found = tb.cross_validate_network([tb.TAN(), tb.AODE()], X, y, cv=4, random_state=0)
    monkeypatch.setattr(validation, "read_once", lambda X: X)
    plain = tb.cross_validate_network([tb.TAN(), tb.AODE()], X, y, cv=4, random_state=0)
    for name, values in plain.probabilities.items():
        assert np.array_equal(found.probabilities[name], values)
