"""One HTML file from a model: the data, the style and the scripts, with a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from tanbark.explorer.data import page_data
from tanbark.files import write_atomic

SCRIPTS = (
    "registry.js", "evidence.js", "tree.js", "contexts.js", "sparse.js", "pool.js", "model.js", "part.js", "queries.js",
    "sampling.js", "work.js", "jobs.js", "rows.js", "scenario.js", "elements.js", "cards.js", "notes.js", "tables.js",
    "answer.js", "case.js", "history.js", "editor.js", "sheet.js", "shell.js",
    "ask.js", "list.js", "why.js", "whatif.js", "typical.js",
    "graph.js",
    "app.js", "boot.js",
)  # fmt: skip
STYLES = ("style.css", "graph.css")
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
            f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.html)}" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #8886"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({len(self.html) / 1000:.0f} kB)"


def make_page(model: Any, *, title: str | None = None) -> Page:
    """Make the page of a network, or of a classifier with one or with several pooled.

    Examples
    --------
    >>> import tanbark as tb
    >>> page = make_page(tb.NaiveBayes().fit([["a", 1], ["b", 0]], ["yes", "no"]))
    >>> page.html.startswith("<!doctype html>")
    True
    """
    return assemble(page_data(model, title=title))


def write_page(model: Any, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a network, or of a classifier, and return its path."""
    return make_page(model, title=title).save(path)


def explore(model: Any, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Page:
    """Make the page, write it if a path is given, and return it."""
    page = make_page(model, title=title)
    if path is not None:
        page.save(path)
    return page


def assemble(data: dict[str, Any]) -> Page:
    """Put data, style and scripts into the template.

    The data are JSON in which no character can end the element that holds it, and are read, never run. The policy
    names the hashes of the one style and the one script, and allows nothing else but a worker that the page makes itself:
    no other script, no address.
    """
    style, script = "".join(map(_asset, STYLES)), _script()
    embedded = _embedded(data)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy, quote=True),
        "title": _ascii(html.escape(data["title"])),
        "style": style,
        "id": hashlib.sha256(embedded.encode()).hexdigest()[:8],
        "data": embedded,
        "script": script,
    }
    text = _asset("template.html")
    pieces = text.split("{{")
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


def _script() -> str:
    """Join the scripts into one, closed in a function of its own."""
    body = "\n".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'
