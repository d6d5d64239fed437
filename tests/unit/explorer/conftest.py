"""A real browser for the page: Debian's chromium, driven by Playwright.

On a machine without one the tests are skipped with the reason; where TANBARK_REQUIRE_BROWSER is set, as in CI, they
fail.
"""

import os
import shutil
import time
from pathlib import Path

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
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


class Reader:
    """Somebody who reads a page: opens it, and notes everything that goes wrong."""

    def __init__(self, context, folder):
        self.tab = context.new_page()
        self.folder = folder
        self.wrong, self.asked = [], []
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        self.tab.on("dialog", lambda box: (self.wrong.append(f"dialog {box.message}"), box.dismiss()))
        self.tab.on("request", lambda request: self.asked.append(request.url))

    def open(self, model, *, scenario="", view=None, **options):
        from tanbark.explorer import write_page

        path = write_page(model, self.folder / "page.html", **options)
        self.tab.goto(f"{path.as_uri()}{scenario}")
        self.until("window.tanbark?.opened !== undefined")  # the script is unpacked first
        if view is not None:
            self.tab.locator(f"#tab-{view}").click()
        return self

    def wait(self):
        """Wait until everything that the page computes in pieces is there; a panel that opens begins a moment later."""
        self.tab.evaluate("new Promise((done) => setTimeout(done, 20))")
        return self.until("tanbark.app.work.idle")

    def until(self, condition):
        """Wait until an expression is true; the policy of the page forbids Playwright's own way of waiting."""
        end = time.monotonic() + 30
        while not self.tab.evaluate(condition):
            assert time.monotonic() < end, f"it never happens that {condition}"
            time.sleep(0.01)
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
def read(browser, tmp_path):
    """Open tabs; at the end nothing may have gone wrong and nothing but the file may have been asked for."""
    contexts, readers = [], []

    def make(**options):
        contexts.append(browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | options)))
        readers.append(Reader(contexts[-1], tmp_path))
        return readers[-1]

    yield make
    for context in contexts:
        context.close()
    for reader in readers:
        assert reader.wrong == []
        assert all(address.startswith(("file:", "about:", "data:", "blob:")) for address in reader.asked)
