"""The page as a file: what it holds, what it refuses, and that nothing in it can break out."""

import base64
import gzip
import hashlib
import html
import json
import re
from importlib.resources import files

import numpy as np
import pytest

import tanbark as tb
from networks import asia
from pages import NASTY, nasty_model
from tanbark.explorer import Page, make_page, write_page
from tanbark.explorer.page import LOADER, SCRIPTS, STYLES, TEXT_SCRIPTS, _asset


def parts(page):
    """Take a page apart: script, style, data, policy, and the lines that unpack the script."""
    packed = re.search(r'<script type="text/plain" id="script">([\w+/=]*)</script>', page).group(1)
    load = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    data = re.search(
        r'<script type="application/json" id="model" data-id="[0-9a-f]{8}">(.*?)</script>', page, re.DOTALL
    ).group(1)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page).group(1))
    return gzip.decompress(base64.b64decode(packed)).decode(), style, data, policy, load


def sha(text):
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_the_policy_allows_one_style_and_one_script_alone():
    script, style, _, policy, load = parts(make_page(asia()).html)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'{sha(load)}' '{sha(script)}'",
        "style-src": f"'{sha(style)}'",
        "worker-src": "blob:",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_scripts_use_nothing_that_turns_text_into_code_or_markup():
    for name in (LOADER, *SCRIPTS, *TEXT_SCRIPTS):
        text = (files("tanbark.explorer") / "assets" / name).read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org)", text
        )
        assert "</script" not in text
        assert len(text.splitlines()) < 400, name


@pytest.mark.parametrize("model", [asia, lambda: tb.TextNaiveBayes().fit([[1, 0], [0, 2]], ["a", "b"])])
def test_the_page_is_small_and_holds_its_sources_as_they_are_written(model):
    page = make_page(model()).html
    script, style, data, _, _ = parts(page)
    assert len(page.encode()) - len(data) < 200_000
    assert make_page(model()).html == page
    assert (script + page).count("http") <= 3  # the name of SVG, and two settings of the head
    assert style == "".join(map(_asset, STYLES))
    used = [name for name in {*SCRIPTS, *TEXT_SCRIPTS} if _asset(name) in script]
    assert set(used) in (set(SCRIPTS), set(TEXT_SCRIPTS))


def test_no_two_scripts_declare_the_same_name():
    declared = re.compile(r"^(?:const|let|class|function\*?|async function)\s+([\w$]+)", re.MULTILINE)
    names = [name for script in SCRIPTS for name in declared.findall(_asset(script))]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_names_cannot_break_out_of_the_data():
    page = make_page(nasty_model(), title=NASTY[0]).html
    script, _, data, _, _ = parts(page)
    assert page.count("<script") == 3
    assert "hacked" not in script
    assert not set("<>&") & set(data)
    told = json.loads(data)
    assert [column["name"] for column in told["columns"][:2]] == NASTY[:2]
    assert NASTY[3] in told["columns"][2]["labels"]
    page.encode("utf-8")


def test_the_tables_are_exact():
    clf = tb.TAN().fit(*small_rows())
    data = json.loads(parts(clf.explore().html)[2])
    for node, table in enumerate(clf.network_.tables):
        assert np.array_equal(np.reshape(data["tables"][node], table.shape), table)
        assert np.array_equal(np.reshape(data["counts"][node], table.shape), clf.family_counts_[node])


def small_rows(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.column_stack([rng.normal(y, 1), rng.integers(0, 3, n), rng.integers(0, 2, n) ^ y]), y


def test_explore_writes_a_file_and_gives_the_page(tmp_path):
    clf = tb.NaiveBayes().fit(*small_rows())
    page = clf.explore(tmp_path / "page.html", title="Mine")
    assert isinstance(page, Page)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert "<title>Mine</title>" in page.html
    assert clf.network_.explore().html.startswith("<!doctype html>")
    assert write_page(asia(), tmp_path / "asia.html") == tmp_path / "asia.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asia.html", "page.html"]
    with pytest.raises(FileNotFoundError, match="no directory"):
        clf.explore(tmp_path / "nowhere" / "page.html")


def test_a_notebook_shows_the_page_in_a_closed_frame():
    shown = make_page(asia())._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="')
    assert html.unescape(re.search(r'srcdoc="(.*?)"', shown, re.DOTALL).group(1)) == make_page(asia()).html
    assert repr(make_page(asia())).startswith("Page(")
