"""Files of rows in the page: the answers, the download, and files that are not what they should be."""

import re

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pages import fit_once, mixed_rows

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def tan():
    X, y = mixed_rows()
    return tb.TAN().fit(X, y), X, y


@pytest.fixture(scope="module")
def classifier():
    return *fit_once(tb.Classifier(4), mixed_rows), mixed_rows()[1]


def drop(reader, content, name="rows.csv", state="done"):
    """Choose a file and wait until it is read."""
    data = content if isinstance(content, bytes) else content.encode()
    reader.tab.locator("#rows-file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})
    reader.tab.wait_for_selector(f"#view-rows[data-state={state}]", timeout=20_000)
    return reader


def answers(reader, folder):
    with reader.tab.expect_download() as download:
        reader.tab.get_by_role("button", name="Download the answers").click()
    download.value.save_as(folder / "answers.csv")
    return pd.read_csv(folder / "answers.csv")


def cell(reader, line, key):
    return reader.tab.locator(f'.line >> nth={line} >> [data-key="{key}"]').inner_text()


@pytest.mark.parametrize("which", ["tan", "classifier"])
def test_the_answers_are_those_of_python(read, request, tmp_path, which):
    clf, X, y = request.getfixturevalue(which)
    reader = drop(read().open(clf, view="rows"), X.assign(kind=y).to_csv(index=False))
    found = answers(reader, tmp_path)
    proba = clf.predict_proba(X)
    assert found[[f"P(kind={label})" for label in clf.classes_]].to_numpy() == pytest.approx(proba, abs=1e-9)
    assert found["kind"].tolist() == clf.predict(X).tolist()
    assert found["support"].to_numpy() == pytest.approx(clf.support(X))
    assert found["row"].tolist() == list(range(1, 401))
    right = 100 * (clf.predict(X) == y).mean()
    told = re.search(r"Of 400 rows with a known kind, (.*) % are predicted right", reader.tab.inner_text("#rows-state"))
    assert float(told.group(1)) == pytest.approx(right, abs=0.051)
    reader.tab.get_by_role("columnheader", name="Probability").get_by_role("button").click()
    order = np.argsort(-proba.max(axis=1), kind="stable")
    assert [int(cell(reader, line, "row")) - 1 for line in range(5)] == order[:5].tolist()
    reader.tab.locator(".line >> nth=3").click()
    assert reader.wait().posterior() == pytest.approx(proba[order[3]], abs=1e-9)
    assert f"row {order[3] + 1} of rows.csv" in reader.tab.inner_text(".toast")
    assert reader.tab.locator(".line.opened").count() == 1


def test_intervals_come_for_visible_rows_and_surprise_for_all(read, tan, tmp_path):
    clf, X, _ = tan
    odd = X.head(30).copy()
    odd.loc[0, "height"], odd.loc[0, "weight"] = 120.0, 160.0
    reader = drop(read().open(clf, view="rows"), odd.to_csv(index=False))
    reader.tab.wait_for_selector('.line:first-child [data-key="interval"]:not(:text("…"))')
    reader.wait()
    low, high = clf.predict_proba_interval(odd, n_draws=600)
    best = clf.predict_proba(odd).argmax(axis=1)
    ends = [float(text) for text in cell(reader, 1, "interval").removesuffix(" %").split(" \N{EN DASH} ")]
    assert ends == pytest.approx([100 * low[1, best[1]], 100 * high[1, best[1]]], abs=6)
    told = answers(reader, tmp_path)["surprise"]
    assert told.between(0, 1).all()


def test_only_the_lines_in_view_are_in_the_page(read, tan):
    clf, X, _ = tan
    reader = drop(read().open(clf, view="rows"), pd.concat([X] * 5).to_csv(index=False))
    assert reader.tab.locator(".line").count() < 60
    assert reader.tab.locator("#rows-table").get_attribute("aria-rowcount") == "2001"
    reader.tab.locator(".lines").evaluate("box => box.scrollTop = box.scrollHeight")
    reader.tab.wait_for_selector('.line[data-row="1999"]')


def test_misspelt_columns_are_named_with_the_nearest_and_can_be_read(read, tan, tmp_path):
    clf, X, _ = tan
    rows = X.rename(columns={"height": "heigth", "town": "TOWN "}).assign(zzz=1).drop(columns="free")
    reader = drop(read().open(clf, view="rows"), rows.to_csv(index=False))
    notes = reader.tab.inner_text("#rows-notes")
    assert 'The column "heigth" is not in the model. Did you mean "height"?' in notes
    assert 'The column "TOWN" is not in the model. Did you mean "town"?' in notes
    assert "Not in the model, and not read: zzz." in notes
    assert "Not in the file, so not known in any row: height, town, free." in notes
    lost = answers(reader, tmp_path)
    reader.tab.get_by_role("button", name="Read it as height").click()
    reader.tab.wait_for_selector("#view-rows[data-state=done]")
    reader.tab.get_by_role("button", name="Read it as town").click()
    reader.tab.wait_for_selector("#view-rows[data-state=done]")
    found = answers(reader, tmp_path)
    proba = clf.predict_proba(X.assign(free=None))
    assert found.filter(like="P(").to_numpy() == pytest.approx(proba, abs=1e-9)
    assert not np.allclose(lost.filter(like="P(").to_numpy(), proba)


WRONG = [
    ("a.xlsx", b"PK\x03\x04rest", "Excel workbook"),
    ("a.parquet", b"PAR1....", "Parquet file"),
    ("a.csv", b"", "is empty"),
    ("a.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    ("a.bin", b"\x01\x00\x02\x00", "not text"),
    ("a.json", b'{"height": 1}', "looks like JSON"),
    ("a.html", b"<!doctype html><p>", "HTML or XML"),
    ("a.csv", b"hight,x\n1,2\n", 'Did you mean "height"'),
    ("a.csv", b"1,2,3\n4,5,6\n", "names no column of the model"),
    ("a.csv", b"height,height\n1,2\n", "twice"),
    ("a.csv", b'height,town\n1,"Oslo\n' + b"2,Paris\n" * 150_000, "quotation mark"),
]


def test_files_of_the_wrong_kind_get_a_sentence_and_what_was_there_stays(read, tan):
    clf, X, _ = tan
    reader = drop(read().open(clf, view="rows"), X.head(20).to_csv(index=False))
    for name, content, message in WRONG:
        drop(reader, content, name)
        assert message in reader.tab.inner_text("#rows-error")
        assert reader.tab.locator(".line").count() == 20


def test_odd_lines_unknown_values_and_other_separators(read, tan, tmp_path):
    clf, *_ = tan
    text = '\ufeffheight;town;weight\r\n170,5;Oslo;70\r\n171.5;"Berlin";?\r\n\r\n172;"Oslo"\r\n173;"Os""lo";NA\r\n'
    reader = drop(read().open(clf, view="rows"), text)
    notes = reader.tab.inner_text("#rows-notes")
    assert 'town has 2 values that the model does not know, such as "Os"lo"' in notes
    assert 'height has 1 values that the model does not know, such as "170,5"' in notes
    assert "1 lines were left out" in notes
    assert "The first is row 3, with 2." in notes
    rows = pd.DataFrame({name: [None] * 3 for name in clf.feature_names_in_})
    rows["height"], rows["town"], rows["weight"] = [None, 171.5, 173.0], ["Oslo", None, None], [70.0, None, None]
    found = answers(reader, tmp_path)
    for column in ("noise", "pair"):
        rows[column] = rows[column].astype(float)
    assert found.filter(like="P(").to_numpy() == pytest.approx(clf.predict_proba(rows), abs=1e-9)


def test_a_large_file_is_read_in_a_worker_to_a_limit_and_can_be_cancelled(read, tan):
    clf, X, _ = tan
    reader = read().open(clf, view="rows")
    block = X.to_csv(index=False, header=False)
    reader.tab.evaluate(
        """([head, block]) => { const view = tanbark.app.shell.views.find(({ id }) => id === "rows").made;
        view.open(new File([head, ...Array(2500).fill(block)], "million.csv")); }""",
        [",".join(X) + "\n", block],
    )
    reader.until("tanbark.app.shell.current().made.many?.size > 0")  # answers come while the file is read
    notes = reader.tab.inner_text("#rows-notes")
    assert re.search(r"The file has about (9\d\d,\d+|1,0\d\d,\d+) rows; the page answers the first 250,000", notes)
    assert "tanbark predict MODEL million.csv" in notes
    assert reader.tab.evaluate("tanbark.app.shell.current().made.work.worker !== null")
    reader.tab.locator("#tab-list").click()  # the page answers meanwhile, and the file is read on
    reader.state(1, 0).click()
    assert reader.tab.locator("#evidence .chip").count() == 1
    reader.tab.locator("#tab-rows").click()
    reader.tab.get_by_role("button", name="Cancel").click()
    assert "Stopped after" in reader.tab.inner_text("#rows-state")
    assert reader.tab.evaluate("tanbark.app.shell.current().made.work === null")
    kept = int(reader.tab.locator("#rows-table").get_attribute("aria-rowcount"))
    assert 1 < kept < 250_000
    reader.tab.evaluate(
        "() => { const { made } = tanbark.app.shell.current(); made.most = 500; made.open(made.many.file); }"
    )
    reader.tab.wait_for_selector("#view-rows[data-state=done]")
    assert "the page answers the first 500" in reader.tab.inner_text("#rows-notes")
    assert reader.tab.locator("#rows-table").get_attribute("aria-rowcount") == "501"


def test_rows_are_answered_without_a_worker_too(read, tan, tmp_path):
    clf, X, _ = tan
    alone = read(fresh=True)
    alone.tab.add_init_script("delete window.Worker")
    found = answers(drop(alone.open(clf, view="rows"), X.to_csv(index=False)), tmp_path)
    assert found.filter(like="P(").to_numpy() == pytest.approx(clf.predict_proba(X), abs=1e-9)
    assert found["surprise"].between(0, 1).all()


def test_a_network_without_a_class_has_no_rows(read):
    from networks import asia

    reader = read().open(asia())
    assert reader.tab.locator("#tab-rows").is_disabled()


def test_numbers_as_people_write_them_are_read_as_python_reads_them(read, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["late", "paid"], 120)
    amount = np.exp(rng.normal(np.where(y == "late", 8, 6), 1.0))
    euro = [f"{each:,.2f} €".translate(str.maketrans(",.", ".,")) for each in amount]
    X = pd.DataFrame({"bill": [f"${each:,.2f}" for each in amount], "euro": euro})
    clf = tb.TAN().fit(X, y)
    found = answers(drop(read().open(clf, view="rows"), X.to_csv(index=False)), tmp_path)
    assert found["P(class=late)"].to_numpy() == pytest.approx(clf.predict_proba(X)[:, 0], abs=1e-9)
