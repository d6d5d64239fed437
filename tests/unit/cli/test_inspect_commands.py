"""Explain, show, query, convert, explore and learners."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from command_line import bad, direct, good, run


def test_explain(folder, tmp_path):
    told = json.loads(good("explain", folder / "model.json", folder / "rows.csv", "--row", "17", "--json"))
    clf, frame = direct()
    twin = clf.explain(frame[["word", "caps", "code"]].iloc[17:18])[0]
    assert told[0]["row"] == 17
    assert told[0]["log_odds"] == pytest.approx(twin.log_odds)
    assert sum(part["nats"] for part in told[0]["parts"]) == pytest.approx(twin.log_odds)
    text = good(
        "explain", folder / "model.json", folder / "rows.csv", "--row", "17", "--label", "yes", "--plot",
        tmp_path / "why.pdf",
    )  # fmt: skip
    assert text.startswith("row 17: P(spam = yes)")
    assert (tmp_path / "why.pdf").read_bytes()[:4] == b"%PDF"


def test_show(folder):
    text = good("show", folder / "model.json", "--cpt", "word")
    assert str(direct()[0].network_) in text
    assert "P(word | " in text
    told = json.loads(good("show", folder / "model.json", "--json"))
    assert told["class"] == "spam"
    assert [tuple(arc) for arc in told["arcs"]] == direct()[0].dag_.arcs()


def test_query_and_convert(folder, tmp_path):
    for form in ("bif", "xmlbif", "net", "xdsl", "dot", "svg", "uai"):
        out = tmp_path / f"m.{form}"
        good("convert", folder / "model.json", "--to", form, "--out", out)
        assert out.read_text() == good("convert", folder / "model.json", "--to", form)
    wanted = direct()[0].network_.query("word", {"spam": "yes", "caps": 0.9})
    for model in (folder / "model.json", tmp_path / "m.bif"):
        told = json.loads(good("query", model, "-e", "spam=yes", "-e", "caps=0.9", "--target", "word", "--json"))
        assert told["probabilities"] == pytest.approx(np.asarray(wanted).tolist())
    assert good("query", folder / "model.json").split()[:2] == ["spam", "probability"]
    assert "WITH tb_read" in good("convert", folder / "model.json", "--to", "sql", "--table", "mails")
    assert '"mails"' in good("convert", folder / "model.json", "--to", "sql", "--table", "mails")
    compile(good("convert", folder / "model.json", "--to", "python"), "scorer", "exec")
    good("convert", folder / "model.json", "--to", "onnx", "--out", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == tb.export.to_onnx(direct()[0]).SerializeToString()


def test_explore(folder, tmp_path):
    good("explore", folder / "model.json", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page == good("explore", folder / "model.json", "--out", "-")


def test_a_page_with_a_title_is_shown_in_the_browser(folder, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    out = tmp_path / "a page.html"
    good("explore", folder / "model.json", "--out", out, "--title", "Spam <or> not", "--open")
    assert shown == [out.as_uri()]
    assert "Spam &lt;or&gt; not" in out.read_text(encoding="utf-8")
    assert "name one with --out" in bad("explore", folder / "model.json", "--out", "-", "--open")


def test_soft_evidence_and_the_most_probable_explanation(folder):
    network = direct()[0].network_
    soft = {"word": {"win": 0.9, "dear": 0.2}}
    words = ("query", folder / "model.json", "-e", "caps=0.9", "--soft", "word=win:0.9,dear:0.2")
    told = json.loads(good(*words, "--json"))
    assert told["probabilities"] == pytest.approx(np.asarray(network.query("spam", {"caps": 0.9}, soft=soft)).tolist())
    best = network.mpe({"caps": 0.9}, soft=soft)
    told = json.loads(good(*words, "--mpe", "--json"))
    assert told["states"] == dict(best)
    assert told["posterior"] == pytest.approx(best.posterior)
    text = good(*words, "--mpe", "--target", "code")
    state = network.map(["code"], {"caps": 0.9}, soft=soft)["code"]
    assert text.splitlines()[2].split() == ["code", str(state)]
    assert text.splitlines()[-1].startswith("posterior 0.")
    assert "Did you mean 'word'" in bad("query", folder / "model.json", "--soft", "wort=win:1")
    assert "name=state:likelihood" in bad("query", folder / "model.json", "--soft", "word=win")
    assert "has no state 'lose'" in bad("query", folder / "model.json", "--soft", "word=lose:1")


def test_explore_with_words_from_a_file_and_rows_to_cross_validate(folder, tmp_path):
    words = {"about": {"purpose": "Sorts mail."}, "labels": {"spam": "Junk"}, "threshold": {"yes": 0.9}}
    (tmp_path / "words.json").write_text(json.dumps(words), encoding="utf-8")
    page = good(
        "explore", folder / "model.json", "--out", "-", "--title", "Mail", "--about", tmp_path / "words.json", "--rows",
        folder / "rows.csv",
    )  # fmt: skip
    data = json.loads(
        page.split('<script type="application/json" id="model"')[1].split(">", 1)[1].split("</script>")[0]
    )
    assert data["title"] == "Mail"
    assert data["about"] == {"purpose": "Sorts mail."}
    assert data["columns"][-1]["title"] == "Junk"
    assert data["performance"]["folds"] == 5
    (tmp_path / "words.json").write_text('{"units": {"cap": "%"}}', encoding="utf-8")
    wrong = bad("explore", folder / "model.json", "--out", "-", "--about", tmp_path / "words.json")
    assert "Did you mean 'caps'" in wrong
    assert "cannot be read" in bad("explore", folder / "model.json", "--out", "-", "--about", tmp_path / "no.json")
    rows = (folder / "rows.csv").read_text().replace("spam", "spma", 1)
    (tmp_path / "rows.csv").write_text(rows)
    assert "has no column 'spam'" in bad(
        "explore", folder / "model.json", "--out", "-", "--rows", tmp_path / "rows.csv"
    )
    good("convert", folder / "model.json", "--to", "bif", "--out", tmp_path / "m.bif")
    assert "classifier of tables" in bad("explore", tmp_path / "m.bif", "--out", "-", "--rows", folder / "rows.csv")


def test_learners_lists_all(folder):
    told = json.loads(good("learners", "--json"))
    names = {entry["name"] for entry in told}
    assert set(tb.LEARNERS) <= names
    assert {"aode", "a2de", "model-averaging"} <= names
    assert all(entry["reference"] and entry["title"] and entry["summary"] for entry in told)
    assert all(hasattr(tb, entry["estimator"]) for entry in told)
    text = good("learners")
    assert all(entry["reference"] in text for entry in told)
    assert "Sahami (1996)" in good("learners", "kdb")


def test_a_model_that_is_no_single_network_is_told(folder, tmp_path):
    good("fit", folder / "rows.csv", "--class", "spam", "-l", "aode", "--out", tmp_path / "m.json")
    assert "AODE" in bad("show", tmp_path / "m.json")
    assert good("explore", tmp_path / "m.json", "--out", "-") == tb.load(tmp_path / "m.json").explore().html
    assert "predicts" not in good("predict", tmp_path / "m.json", folder / "rows.csv")
    good("convert", folder / "model.json", "--to", "bif", "--out", tmp_path / "m.bif")
    assert "needs a classifier" in bad("predict", tmp_path / "m.bif", folder / "rows.csv")


def test_what_is_shown_of_a_pooled_classifier_is_its_network_to_read(pooled, folder, tmp_path):
    _, out = pooled
    model = tb.load(out)
    ran = run("show", out)
    assert str(model.network_) in ran.stdout
    assert "one network to read" in ran.stderr
    posterior = json.loads(good("query", out, "-e", "word=win", "--json"))["probabilities"]
    assert posterior == pytest.approx(np.asarray(model.network_.query("spam", {"word": "win"})).tolist())
    good("explore", out, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page == model.explore().html
    assert page != model.network_.explore().html
    assert good("convert", out, "--to", "bif") == tb.export.FORMATS["bif"].dumps(model.network_)
    assert good("explain", out, folder / "rows.csv", "--row", "3").startswith("row 3: P(spam")
    assert good("convert", out, "--to", "python").rstrip() == tb.export.to_python(model).rstrip()


def test_the_default_model_scores_in_a_database(pooled, folder, tmp_path):
    _, out = pooled
    good("convert", out, "--to", "sql", "--table", "mails", "--keep", "id", "--out", tmp_path / "score.sql")
    frame = pd.read_csv(folder / "rows.csv")
    with closing(sqlite3.connect(":memory:")) as connection:
        frame.astype(str).replace("nan", "").to_sql("mails", connection, index=False)  # as .import does
        found = pd.read_sql((tmp_path / "score.sql").read_text(encoding="utf-8"), connection)
    assert found["id"].tolist() == frame["id"].astype(str).tolist()
    model = tb.load(out)
    features = frame[list(model.feature_names_in_)]
    complete = features.notna().all(axis=1)
    wanted = model.predict_proba(features)
    names = [f"P(spam={label})" for label in model.classes_]
    assert found.loc[complete, names].to_numpy(float) == pytest.approx(wanted[complete], abs=1e-9)
    assert found.loc[~complete, names].isna().all(axis=None)
    assert "more than max_size=1,000" in bad("convert", out, "--to", "sql", "--max-size", "1000")
