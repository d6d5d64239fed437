"""One HTML file from a model: the data, the style and the scripts, with a policy that allows nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from tanbark.estimators.models.text import TextNaiveBayes
from tanbark.explorer.data import page_data
from tanbark.explorer.text import text_data
from tanbark.files import write_atomic

SCRIPTS = (
    "shell/registry.js", "inference/evidence.js", "inference/tree.js", "inference/contexts.js", "inference/sparse.js",
    "inference/pool.js", "inference/averages.js", "inference/model.js", "inference/part.js", "inference/queries.js",
    "inference/questions.js", "inference/decide.js", "inference/sampling.js", "inference/drawn.js", "shell/work.js",
    "inference/jobs.js", "inference/rows.js", "inference/scenario.js", "shell/elements.js", "shell/cards.js",
    "shell/notes.js", "shell/tables.js", "shell/answer.js", "shell/case.js", "shell/history.js", "shell/editor.js",
    "shell/sheet.js", "shell/shell.js", "views/ask.js", "views/list.js", "panels/why.js", "panels/whatif.js",
    "panels/typical.js", "graph/colours.js", "graph/viewport.js", "graph/nodes.js", "graph/arcs.js",
    "graph/legend.js", "graph/names.js", "graph/minimap.js", "graph/picture.js", "graph/graph.js", "views/csv.js",
    "views/many.js", "views/rowsview.js", "views/about.js", "panels/tornado.js", "panels/decidepanel.js",
    "views/separation.js", "views/elimination.js", "views/pathdrawing.js", "views/teach.js", "shell/app.js",
    "shell/boot.js",
)  # fmt: skip
TEXT_SCRIPTS = (
    "inference/tree.js", "inference/contexts.js", "inference/model.js", "shell/elements.js", "views/about.js",
    "views/text.js",
)  # fmt: skip
LOADER = "shell/load.js"
STYLES = ("style.css", "graph.css", "panels.css")
FRAME_HEIGHT = 820  # pixels in a notebook


@dataclass(frozen=True)
class Page:
    """A page that shows a model; a notebook shows it in a sandboxed frame.

    Attributes
    ----------
    html : str
        The whole page.
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page atomically and return its path."""
        write_atomic(path, self.html.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self.html)}" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #8886"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({len(self.html) / 1000:.0f} kB)"


def make_page(model: Any, **options: Any) -> Page:
    """Make the page of a network or of a classifier; the options are those of :func:`explore`.

    Examples
    --------
    >>> import tanbark as tb
    >>> page = make_page(tb.NaiveBayes().fit([["a", 1], ["b", 0]], ["yes", "no"]))
    >>> page.html.startswith("<!doctype html>")
    True
    """
    if isinstance(model, TextNaiveBayes):
        return assemble(text_data(model, **options), template="text.html", scripts=TEXT_SCRIPTS)
    return assemble(page_data(model, **options))


def write_page(model: Any, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a network, or of a classifier, and return its path; the options are those of `explore`."""
    return make_page(model, **options).save(path)


def explore(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    about: str | Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    descriptions: Mapping[str, str] | None = None,
    order: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    threshold: float | Mapping[Any, float] | None = None,
    target: str | None = None,
    performance: Any = None,
    X: Any = None,
    y: Any = None,
) -> Page:
    """Make the page, write it if a path is given, and return it.

    Parameters
    ----------
    model : Network or fitted classifier
    path : str or path, optional
        Where the page is written.
    title : str, optional
    about : str or mapping, optional
        What the model is for; or some of purpose, source, date, population, not_for, limits, authors, contact, licence
        and notes, each a text or a list of texts.
    labels : mapping, optional
        What is shown instead of the names of columns and states: a text by column, a mapping from its states to
        texts, or a pair of both.
    units : mapping, optional
        The unit of each column of numbers.
    descriptions : mapping, optional
        A sentence on each column.
    order : list of names, optional
        Columns that come first wherever columns are listed.
    groups : mapping, optional
        The columns of each group, by its title.
    threshold : float or mapping, optional
        The probability from which on a class is decided for, such as ``{"malignant": 0.1}``; of two classes a number is
        for the second.
    target : str, optional
        The variable that is asked for first; by default the class, or the last variable of a network without one.
    performance : CrossValidation, optional
        A result of :func:`tanbark.cross_validate_network`, for the page's account of how good the model is.
    X, y : rows and labels, optional
        Cross-validate the classifier with these, in five folds, instead of ``performance``.
    """
    page = make_page(
        model, title=title, about=about, labels=labels, units=units, descriptions=descriptions, order=order,
        groups=groups, threshold=threshold, target=target, performance=performance, X=X, y=y,
    )  # fmt: skip
    if path is not None:
        page.save(path)
    return page


def assemble(data: dict[str, Any], *, template: str = "template.html", scripts: tuple[str, ...] = SCRIPTS) -> Page:
    """Put data, style and scripts into the template.

    The data are JSON in which no character can end the element that holds it, and are read, never run. The script is
    packed; a few lines unpack and run it. The policy names the hashes of the one style, of those lines and of the
    script, and allows nothing else but a worker and a picture that the page makes itself (the drawing, on its way from
    SVG to PNG): no other script, no address.
    """
    style, script, load = "".join(map(_asset, STYLES)), _script(scripts), _asset(LOADER)
    embedded = _embedded(data)
    policy = (
        f"default-src 'none'; script-src '{_hash(load)}' '{_hash(script)}'; style-src '{_hash(style)}'; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy, quote=True),
        "title": _ascii(html.escape(data["title"])),
        "style": style,
        "id": hashlib.sha256(embedded.encode()).hexdigest()[:8],
        "data": embedded,
        "packed": _packed(script),
        "load": load,
    }
    pieces = _asset(template).split("{{")
    page = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        page += [parts[name], rest]
    return Page("".join(page))


def _embedded(data: dict[str, Any]) -> str:
    """Write JSON in plain ASCII with no character that means something to HTML."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _asset(name: str) -> str:
    return (files("tanbark.explorer") / "assets" / name).read_text(encoding="utf-8")


def _script(scripts: tuple[str, ...]) -> str:
    """Join scripts, as they are written, into one, closed in a function of its own."""
    body = "\n".join(_asset(name) for name in scripts)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


@cache
def _packed(script: str) -> str:
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode("ascii")
