"""A real browser for the page: Debian's chromium, driven by Playwright.

On a machine without one the tests are skipped with the reason; where TANBARK_REQUIRE_BROWSER is set, as in CI, they
fail.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tanbark as tb

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-software-rasterizer",
    "--disable-extensions",
    "--in-process-gpu",
]


def _do_without(reason):
    if os.environ.get("TANBARK_REQUIRE_BROWSER"):
        pytest.fail(f"{reason}, and TANBARK_REQUIRE_BROWSER is set", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def axe():
    """Give the script of axe-core."""
    path = Path(__file__).parents[3] / "build" / "axe" / "package" / "axe.min.js"
    if not path.exists():
        _do_without("there is no axe-core in build/axe: scripts/install_axe.sh puts it there")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _do_without("playwright is not installed: pip install playwright")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        _do_without("there is no chromium on the path: scripts/install_browser.sh installs it on Debian")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


class Tabs:
    """Tabs of one browser that are used again: a new tab costs more than most tests."""

    def __init__(self, browser):
        self.browser, self.free = browser, {}

    def take(self, options):
        free = self.free.get(repr(options), [])
        return free.pop() if free else self.browser.new_context(**options).new_page()

    def give(self, tab, options):
        """Leave the page, so that nothing of it is left, and keep the tab."""
        tab.goto("about:blank")
        if tab.viewport_size != options["viewport"]:
            tab.set_viewport_size(options["viewport"])
        self.free.setdefault(repr(options), []).append(tab)


@pytest.fixture(scope="session")
def tabs(browser):
    return Tabs(browser)


class Reader:
    """Somebody who reads a page: opens it, and notes everything that goes wrong."""

    def __init__(self, tab, folder):
        self.tab, self.folder = tab, folder
        self.wrong, self.asked = [], []
        self.listeners = {
            "pageerror": lambda error: self.wrong.append(str(error)),
            "console": lambda line: self.wrong.append(line.text) if line.type == "error" else None,
            "dialog": lambda box: (self.wrong.append(f"dialog {box.message}"), box.dismiss()),
            "request": lambda request: self.asked.append(request.url),
        }
        for event, listener in self.listeners.items():
            tab.on(event, listener)

    def leave(self):
        for event, listener in self.listeners.items():
            self.tab.remove_listener(event, listener)

    def open(self, model, *, scenario="", view=None, **options):
        from tanbark.explorer import write_page

        return self.go(write_page(model, self.folder / "page.html", **options), scenario, view=view)

    def go(self, path, scenario="", *, view=None):
        """Open a page that is there."""
        self.tab.goto(f"{path.as_uri()}{scenario}")
        self.until("document.getElementById('loading') === null")  # the script is unpacked first
        if view is not None:
            self.tab.locator(f"#tab-{view}").click()
        return self

    def wait(self):
        """Wait until everything that the page computes in pieces is there; a panel that opens begins a moment later."""
        self.tab.evaluate("new Promise((done) => setTimeout(done, 20))")
        return self.until("tanbark.app.work.idle")

    def until(self, condition):
        """Wait until an expression is true; the policy of the page forbids Playwright's own way of waiting."""
        self.tab.evaluate(
            f"""new Promise((done, fail) => {{ const end = performance.now() + 30000; const look = () => {{
            if ({condition}) done();
            else if (performance.now() > end) fail(new Error({json.dumps(f"it never happens that {condition}")}));
            else setTimeout(look, 5); }}; look(); }})"""
        )
        return self

    def posterior(self):
        """Give the class probabilities that the page shows, to the last digit, in the order of the classes."""
        shown = self.tab.evaluate(
            """[...document.querySelectorAll("#posterior .answer-row")].map((row) =>
            [Number(row.dataset.state), Number(row.querySelector("output").dataset.exact)])"""
        )
        return [p for _, p in sorted(shown)]

    def state(self, node, state):
        """Find the button of a state in the list or the drawing."""
        return self.tab.locator(f'[role=tabpanel]:not([hidden]) .card[data-node="{node}"] .pick[data-state="{state}"]')


@pytest.fixture
def read(tabs, tmp_path):
    """Open tabs; at the end nothing may have gone wrong and nothing but the file may have been asked for.

    ``fresh=True`` takes a tab that nobody uses again: for tests that change the tab itself.
    """
    readers = []

    def make(*, fresh=False, **options):
        options = {"viewport": {"width": 1400, "height": 900}} | options
        tab = tabs.browser.new_context(**options).new_page() if fresh else tabs.take(options)
        readers.append((Reader(tab, tmp_path), options, fresh))
        return readers[-1][0]

    yield make
    for reader, options, fresh in readers:
        reader.leave()
        if fresh:
            reader.tab.context.close()
        else:
            tabs.give(reader.tab, options)
    for reader, *_ in readers:
        assert reader.wrong == []
        assert all(address.startswith(("file:", "about:", "data:", "blob:")) for address in reader.asked)


@pytest.fixture(scope="session")
def calculator(browser, tmp_path_factory):
    """Open one page whose functions compute anything that is asked of models given as data."""
    from networks import asia

    return Reader(browser.new_context().new_page(), tmp_path_factory.mktemp("calculator")).open(asia())


@pytest.fixture
def compute(calculator):
    """Evaluate a script in a page that is there; nothing may go wrong meanwhile."""
    yield calculator.tab.evaluate
    assert calculator.wrong == []


# ---------------------------------------------------------------------- models that many tests read


@pytest.fixture(scope="session")
def ward():
    """A classifier of twenty features, numbers and categories, of which some say nothing."""
    rng = np.random.default_rng(2)
    n = 600
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"lab {k}": np.round(rng.normal(10 + (k < 6) * (1 + k / 3) * y, 2), 1) for k in range(10)})
    for k in range(10):
        X[f"sign {k}"] = np.where(rng.random(n) < 0.1 * k / 3, y, rng.integers(0, 2, n))
    return tb.TAN().fit(X, pd.Series(y, name="outcome").map({0: "well", 1: "ill"})), X


@pytest.fixture(scope="session")
def letters():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 26, 2000)
    X = pd.DataFrame({f"x{k}": (y * (k + 3) + rng.integers(0, 6, 2000)) % 7 for k in range(5)})
    return tb.NaiveBayes().fit(X, pd.Series(y, name="letter").map(lambda k: chr(65 + k))), X


@pytest.fixture(scope="session")
def forest():
    """A TAN forest of 24 features, some of them numbers, some without arcs to other features."""
    rng = np.random.default_rng(3)
    n = 600
    y = rng.integers(0, 2, n)
    columns = {}
    for k in range(24):
        if k % 6 == 5:
            x = rng.integers(0, 2, n)
        else:
            before = columns[f"feature {(k - 1) // 2}"] if k and (k - 1) // 2 % 6 != 5 else rng.integers(0, 3, n)
            x = np.where(rng.random(n) < 0.7, np.round(before).astype(int) % 3, rng.integers(0, 3, n))
        x = np.where(rng.random(n) < 0.15, y, x)
        columns[f"feature {k}"] = x + rng.normal(0, 0.1, n) if k % 4 == 0 else x
    X = pd.DataFrame({name: x if x.dtype == float else x.astype(str) for name, x in columns.items()})
    return tb.TAN(criterion="bic").fit(X, pd.Series(y, name="label").map({0: "no", 1: "yes"})), X


@pytest.fixture(scope="session")
def many():
    """Naive Bayes of 70 features."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(
        {f"x{k}": np.where(rng.random(120) < 0.3, y, rng.integers(0, 3, 120)).astype(str) for k in range(70)}
    )
    return tb.NaiveBayes().fit(X, y)


@pytest.fixture(scope="session")
def clinic():
    """A classifier with intervals, categories, numbers that are categories, and truth values."""
    rng = np.random.default_rng(4)
    n = 500
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "age": np.round(rng.normal(50 + 8 * y, 12), 1),
            "town": rng.choice(["Oslo", "Bergen, west", 'the "old" port'], n),
            "visits": rng.integers(1, 5, n) + y,
            "smoker": rng.random(n) < 0.3 + 0.3 * y,
        }
    )
    return tb.TAN().fit(X, pd.Series(y, name="ill").map({0: "no", 1: "yes"})), X


@pytest.fixture
def graph(read):
    """Open the Graph view of a model, without motion."""

    def show(model, **options):
        reader = read(**({"reduced_motion": "reduce"} | options)).open(model)
        reader.tab.locator("#tab-graph").click()
        reader.tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return reader

    return show
