"""What the build runs: the explorer page that the site embeds, and the pictures that the examples of pages draw."""

from __future__ import annotations

import doctest
import io
import os
import re
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import tanbark as tb

COLUMNS = [
    "mean radius", "mean texture", "mean smoothness", "mean concave points", "mean symmetry", "worst area",
    "worst concavity", "texture error",
]  # fmt: skip
PICTURED = ["guides/plots", "gallery/clinic", "gallery/credit_scoring", "gallery/comparing_learners",
            "gallery/d_separation"]  # fmt: skip
DRAWING = re.compile(r"^ax = tb\.plot\.(\w+)\(|^(svg) = ")


def write_all(docs: Path, generated: Path) -> None:
    """Write the embedded page and the pictures of all pages that draw some."""
    (generated / "live").mkdir(parents=True, exist_ok=True)
    small_model().explore(generated / "live" / "explorer-live.html", title="Breast cancer (Wisconsin)")
    folder = generated / "drawn"
    folder.mkdir(exist_ok=True)
    for page in PICTURED:
        draw(docs / f"{page}.md", folder)


def small_model() -> tb.TAN:
    """Fit the network that the landing page shows: a tree over eight columns of scikit-learn's breast-cancer data."""
    data = load_breast_cancer(as_frame=True)
    y = data.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    return tb.TAN(criterion="bic", temperature="auto").fit(data.data[COLUMNS], y)


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the examples of a page, and save what they draw.

    ``ax = tb.plot.plot_cpt(...)`` on the page ``plots`` becomes ``plots_plot_cpt.svg``, ``svg = ...`` becomes
    ``plots_svg.svg``. Examples run in an empty folder; what they print is compared by the tests, not here.
    """
    written: list[Path] = []
    names: dict[str, object] = {"__name__": "__main__"}
    settings = {"svg.hashsalt": page.stem, "figure.max_open_warning": 0, "svg.fonttype": "path"}
    backend = mpl.get_backend()
    plt.switch_backend("Agg")
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch), mpl.rc_context(settings):
        for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
            with redirect_stdout(io.StringIO()):
                exec(compile(example.source, str(page), "single"), names)
            found = DRAWING.match(example.source)
            if found:
                written.append(_save(names, found, folder / f"{page.stem}_{found[1] or found[2]}.svg"))
    plt.close("all")
    plt.switch_backend(backend)
    return written


def _save(names: dict[str, object], found: re.Match[str], path: Path) -> Path:
    fresh = path.with_suffix(".new")
    if found[1]:
        names["ax"].figure.savefig(fresh, format="svg", bbox_inches="tight", metadata={"Date": None})
    else:
        fresh.write_text(str(names["svg"]), encoding="utf-8")
    if path.exists() and path.read_bytes() == fresh.read_bytes():  # an unchanged picture is not copied again
        fresh.unlink()
    else:
        os.replace(fresh, path)
    return path
