"""The built site, in a real browser: it needs no network, search finds what people type, copied code runs.

`make docs-test` builds the site and runs these tests with TANBARK_SITE set to its folder; elsewhere they are skipped.
"""

import os
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from unit.explorer.conftest import browser  # noqa: F401

SITE = Path(os.environ.get("TANBARK_SITE", "no-such-folder")).resolve()

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="TANBARK_SITE names no built site: `make docs-test` builds it"
)
PAGES = [
    "index", "start", "quickstart", "explorer", "compared", "guides/plots", "guides/questions", "gallery/index",
    "gallery/clinic", "gallery/d_separation", "accuracy", "mml", "generated/learners", "generated/api/tanbark.TAN",
    "generated/shared",
]  # fmt: skip
FORMULAS = {"guides/questions", "mml"}
TYPED = {
    "missing values": "guides/missing_values", "imbalanced": "guides/imbalanced_classes", "interactive": "explorer",
    "explain": "guides/explanations", "categorical": "guides/columns", "NaN": "guides/missing_values",
    "CPDAG": "networks", "calibration": "guides/calibration", "SQL": "guides/export", "Spark": "big",
    "scorecard": "guides/questions", "TAN": "generated/api/tanbark.TAN",
}  # fmt: skip


class Quiet(SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def tab(browser):  # noqa: F811
    """Open a tab without a network; at the end nothing may have failed, and nothing but the site was asked for."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(90_000)
    page, wrong = context.new_page(), []
    context.route(re.compile(r"^(?!file:|data:|blob:|about:|http://127\.0\.0\.1)"), lambda route: route.abort())
    page.on("request", lambda request: wrong.append(request.url) if _foreign(request.url) else None)
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    yield page
    found = list(wrong)  # closing the tab ends what search still reads for its summaries
    context.close()
    assert found == []


def _foreign(url):
    return not url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_needs_no_network(page, tab):
    tab.goto((SITE / f"{page}.html").as_uri())
    broken = (
        "[...document.images].filter((i) => i.loading !== 'lazy' && !(i.complete && i.naturalWidth)).map((i) => i.src)"
    )
    assert tab.evaluate(broken) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if page in FORMULAS:
        tab.wait_for_selector("mjx-container svg", state="attached")


def test_no_page_is_wider_than_a_telephone(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    for page in PAGES:
        tab.goto((SITE / f"{page}.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, page


@pytest.mark.parametrize("typed", TYPED)
def test_search_finds_the_page_among_the_first_three(typed, tab, address):
    tab.goto(f"{address}/search.html?q={typed}")
    tab.wait_for_function(
        "/finished|found/.test(document.querySelector('#search-results .search-summary')?.innerText ?? '')"
    )
    found = tab.eval_on_selector_all(
        "#search-results ul.search > li > a", "all => all.map((a) => a.getAttribute('href'))"
    )
    first = [re.sub(r"\.html.*", "", unquote(each)) for each in found[:3]]
    assert TYPED[typed] in first, found[:5]


def test_inherited_methods_have_one_place():
    for method in ("predict_set", "ask_next", "predict_file", "partial_fit", "explore", "support"):
        named = re.compile(rf'<dt class="sig[^>]*id="[^"]*\.{method}"')
        pages = [path.name for path in SITE.rglob("*.html") if named.search(path.read_text(encoding="utf-8"))]
        assert "shared.html" in pages, method
        assert len(pages) <= 4, (method, pages)  # and where a class has its own


def test_what_is_copied_is_the_input_alone(tab):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for page in ("quickstart", "guides/questions", "guides/command_line"):
        tab.goto((SITE / f"{page}.html").as_uri())
        blocks = tab.locator("div.highlight:has(.gp)")
        assert blocks.count() > 1
        copied = tab.evaluate("[...document.querySelectorAll('div.highlight:has(.gp) pre')].map(inputOf)")
        for text in copied:
            assert not re.search(r"^(>>>|\.\.\.|\$) ", text, re.MULTILINE)
            if page == "guides/command_line":
                assert all(line.startswith(("tanbark ", "cat ")) for line in text.splitlines())
            else:
                compile(text, page, "exec")
    tab.locator("button.copy").first.click()
    tab.wait_for_function("document.querySelector('button.copy').textContent === 'Copied'")


def test_the_explorer_on_the_first_page_is_live_and_sandboxed(tab):
    tab.goto((SITE / "index.html").as_uri())
    frame = tab.locator("iframe.explorer")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    frame.scroll_into_view_if_needed()
    inside = tab.frame_locator("iframe.explorer")
    inside.locator("#posterior output").first.wait_for(state="attached")
    assert "Breast cancer" in inside.locator("h1").inner_text()


def test_links_lead_somewhere():
    wrong, names = [], {}
    pages = {
        path: path.read_text(encoding="utf-8") for path in SITE.rglob("*.html") if path.name != "explorer-live.html"
    }
    for path, text in pages.items():
        names[path] = set(re.findall(r'\b(?:id|name)="([^"]+)"', text))
    for path, text in pages.items():
        assert not re.search(r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//', text), path
        assert not re.search(r'<link[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="(?:https?:)?//', text), path
        for link in re.findall(r'<a [^>]*href="([^"]+)"', text):
            if re.match(r"https?:|mailto:", link):
                continue
            file, _, place = unquote(link).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            lost = not target.exists() or (place and target in names and place not in names[target])
            if lost:
                wrong.append(f"{path.relative_to(SITE)}: {link}")
    assert wrong == []
