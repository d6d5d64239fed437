"""Naive Bayes for text: as scikit-learn counts, and as a lecture explains."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import tanbark as tb

TEXTS = ["win cash now", "cash prize now now", "see you at noon", "are you there now", "you win", "noon at home"]
LABELS = ["spam", "spam", "ham", "ham", "spam", "ham"]

# A lecture's table: words, P(w | spam), P(w | ham); the prior is 1/3 and 2/3.
LECTURE = [
    ("Gary", 0.00002, 0.00021), ("would", 0.00069, 0.00084), ("you", 0.00881, 0.00304), ("like", 0.00086, 0.00083),
    ("to", 0.01517, 0.01339), ("lose", 0.00008, 0.00002), ("weight", 0.00016, 0.00002), ("while", 0.00027, 0.00027),
    ("you", 0.00881, 0.00304), ("sleep", 0.00006, 0.00001),
]  # fmt: skip


@pytest.mark.parametrize("alpha", [1.0, 0.1, 3])
@pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
@pytest.mark.parametrize("form", [csr_matrix, csr_array, lambda X: X.toarray()])
def test_probabilities_are_scikit_learns(alpha, vectorizer, form):
    X = form(vectorizer.fit_transform(TEXTS))
    weights = np.array([1.0, 2, 0.5, 1, 1, 3])
    for options in ({}, {"sample_weight": weights}):
        ours, theirs = tb.TextNaiveBayes(alpha=alpha).fit(X, LABELS, **options), MultinomialNB(alpha=alpha)
        theirs.fit(X, LABELS, **options)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)
        assert ours.predict_joint_log_proba(X) == pytest.approx(theirs.predict_joint_log_proba(X), abs=1e-10)
        assert ours.word_log_proba_ == pytest.approx(theirs.feature_log_prob_)


def test_a_class_prior_replaces_the_frequencies():
    X = CountVectorizer().fit_transform(TEXTS)
    ours = tb.TextNaiveBayes(class_prior={"ham": 0.9, "spam": 0.1}).fit(X, LABELS)
    theirs = MultinomialNB(class_prior=[0.9, 0.1]).fit(X, LABELS)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)


def test_parts_are_the_whole():
    X = CountVectorizer().fit_transform(TEXTS)
    parts = tb.TextNaiveBayes().partial_fit(X[:2], LABELS[:2], classes=["ham", "spam"])
    parts.partial_fit(X[2:], LABELS[2:])
    assert np.array_equal(parts.predict_proba(X), tb.TextNaiveBayes().fit(X, LABELS).predict_proba(X))
    with pytest.raises(tb.errors.InputError, match="none of the classes"):
        parts.partial_fit(X[:1], ["junk"])


def lecture_model():
    """Counts that give the printed probabilities by maximum likelihood."""
    words = dict.fromkeys(word for word, _, _ in LECTURE)
    table = {word: (spam, ham) for word, spam, ham in LECTURE}
    spam, ham = (np.array([table[word][c] for word in words]) for c in (0, 1))
    X = np.vstack([np.append(spam, 1 - spam.sum()), np.append(ham, 1 - ham.sum())])
    model = tb.TextNaiveBayes(alpha=0, words=[*words, "(other)"])
    return model.fit(X, ["spam", "ham"], sample_weight=[0.33333, 0.66666])


def test_the_lectures_table():
    told = lecture_model().explain_words([word for word, _, _ in LECTURE])
    spam, ham = told.classes.index("spam"), told.classes.index("ham")
    assert told.probabilities[:, [spam, ham]] == pytest.approx(np.array([row[1:] for row in LECTURE]))
    assert told.totals[0, [spam, ham]] == pytest.approx(np.log([1 / 3, 2 / 3]), abs=2e-5)
    assert told.totals[-1, [spam, ham]] == pytest.approx([-76.020044, -80.324685], abs=1e-4)
    assert told.posterior[spam] == pytest.approx(0.986674, abs=1e-6)
    lines = str(told).splitlines()
    assert lines[0].split() == ["word", "P(w|ham)", "P(w|spam)", "total", "ham", "total", "spam"]
    assert lines[2].split() == ["Gary", "0.00021", "0.00002", "-8.9", "-11.9"]
    assert lines[-1] == "P(spam | text) = 0.9867"
    assert repr(told) == str(told)
    assert told.to_frame("pandas")["word"].tolist() == ["(prior)", *(word for word, _, _ in LECTURE)]


@pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
def test_explanations_add_up_to_the_posterior(vectorizer):
    X = vectorizer.fit_transform(TEXTS)
    clf = tb.TextNaiveBayes(words=vectorizer.get_feature_names_out()).fit(X, LABELS)
    for told, proba, joint in zip(clf.explain(X), clf.predict_proba(X), clf.predict_joint_log_proba(X), strict=True):
        assert told.posterior == pytest.approx(proba)
        assert told.totals[-1] == pytest.approx(joint)
    if isinstance(vectorizer, CountVectorizer) and not isinstance(vectorizer, TfidfVectorizer):
        assert clf.explain(X)[1].words == ("cash", "now", "now", "prize")


def test_top_words():
    vectorizer = CountVectorizer()
    clf = make_pipeline(vectorizer, tb.TextNaiveBayes()).fit(TEXTS, LABELS)[-1]
    clf.words = vectorizer.get_feature_names_out()
    assert clf.top_words(1) == {"ham": ["at"], "spam": ["cash"]}
    assert clf.top_words(1, distinctive=False) == {"ham": ["at"], "spam": ["now"]}


def test_impossible_texts_get_the_prior():
    clf = tb.TextNaiveBayes(alpha=0).fit([[1, 0, 1], [0, 1, 1]], [0, 1])
    with pytest.warns(tb.errors.ImpossibleEvidenceWarning):
        assert clf.predict_proba([[1, 1, 0]])[0] == pytest.approx([0.5, 0.5])
    assert clf.predict_proba([[1, 0, 0]])[0].tolist() == [1.0, 0.0]


def test_a_class_without_words_gives_them_all_the_same_chance():
    clf = tb.TextNaiveBayes(alpha=0).fit([[0, 0], [1, 3]], [0, 1])
    assert np.exp(clf.word_log_proba_[0]) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"alpha": -1}, "alpha must be"), ({"words": ["a"]}, "words must name"), ({"class_prior": [1, 1]}, "sum to one")],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.TextNaiveBayes(**options).fit([[1, 0], [0, 1]], [0, 1])


def test_wrong_inputs_are_refused():
    with pytest.raises(ValueError, match="Negative values"):
        tb.TextNaiveBayes().fit([[-1, 0], [0, 1]], [0, 1])
    with pytest.raises(tb.errors.InputError, match="as many"):
        tb.TextNaiveBayes().fit([[1, 0], [0, 1]], [0, 1, 1])
    clf = tb.TextNaiveBayes(words=["cash", "now"]).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(tb.errors.InputError, match="Did you mean 'cash'"):
        clf.explain_words(["cahs"])


@pytest.mark.parametrize("options", [{}, {"alpha": 0.5, "class_prior": {"ham": 0.5, "spam": 0.5}}])
def test_a_model_comes_back_whole(options, tmp_path):
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    clf = tb.TextNaiveBayes(words=vectorizer.get_feature_names_out(), **options).fit(X, LABELS)
    clf.save(tmp_path / "text.json")
    again = tb.load(tmp_path / "text.json")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.classes_.tolist() == ["ham", "spam"]
    assert again.top_words(2) == clf.top_words(2)
    assert again.partial_fit(X, LABELS).class_counts_.sum() == 12


@pytest.mark.parametrize(
    ("old", "new"),
    [('"texts":[3.0,3.0]', '"texts":[3.0]'), ('"texts":[3.0', '"texts":["x"'), ('"labels":"O"', '"labels":"Q"')],
)
def test_a_damaged_file_is_refused(old, new, tmp_path):
    path = tmp_path / "text.json"
    tb.TextNaiveBayes().fit(CountVectorizer().fit_transform(TEXTS), LABELS).save(path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(tb.errors.ModelFileError):
        tb.load(path)


def test_the_example_runs(monkeypatch, capsys):
    script = Path(__file__).parents[3] / "examples" / "spam_filter.py"
    if not script.exists():
        pytest.skip("the examples are not there")
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    told = capsys.readouterr().out
    assert "accuracy 0.9" in told
    assert "P(spam | text)" in told


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_flags_beside_words_are_refused(library):
    frame = pd.DataFrame({"win": [2, 0, 1, 0], "cash": [1, 0, 0, 0], "link": [True, False, True, False]})
    labels = ["spam", "ham", "spam", "ham"]
    mixed = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[library]
    with pytest.raises(tb.errors.InputError, match=r"'link'.* are flags .*NaiveBayes of their own"):
        tb.TextNaiveBayes().fit(mixed, labels)
    for meant in (frame.astype(int), frame > 0):  # all of them counts, or all of them words that occur or not
        assert tb.TextNaiveBayes().fit(meant, labels).word_counts_.shape == (2, 3)


def test_flags_in_an_array_of_objects_are_refused_too():
    with pytest.raises(tb.errors.InputError, match=r"\[1\] are flags"):
        tb.TextNaiveBayes().fit(np.array([[3, True], [1, False]], dtype=object), [0, 1])
    tb.TextNaiveBayes().fit(np.array([[3, 1], [1, 0]], dtype=object), [0, 1])


def test_words_and_flags_are_added_up():
    """P(class) P(words | class) P(flags | class) from two models, less the prior that is in both."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    counts, flags = rng.poisson(1 + y[:, None], (60, 4)), rng.random((60, 2)) < 0.3 + 0.4 * y[:, None]
    words, table = tb.TextNaiveBayes().fit(counts, y), tb.NaiveBayes(parameters="laplace").fit(flags, y)
    total = words.predict_log_proba(counts) + table.predict_log_proba(flags) - np.log(0.5)
    expected = counts @ np.log((words.word_counts_ + 1) / (words.word_counts_ + 1).sum(axis=1, keepdims=True)).T
    for k in range(2):
        expected += np.log((table.family_counts_[k] + 1) / (30 + 2))[flags[:, k].astype(int)]
    assert total[:, 1] - total[:, 0] == pytest.approx(expected[:, 1] - expected[:, 0])
