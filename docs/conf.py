"""The documentation: `make docs` builds it; warnings are errors. The built site needs no network."""

import re
import sys
from pathlib import Path

from sphinx.addnodes import index

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
import live  # noqa: E402

import tanbark  # noqa: E402

project = "Tanbark"
author = copyright = "The Tanbark developers"
version = release = tanbark.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_static", "_templates", "numbers"]
html_title = project
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_extra_path = ["generated/live"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_sidebars = {page: [] for page in ("index", "studies", "changelog", "architecture")}
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_show_sourcelink = html_copy_source = False
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
suppress_warnings = ["myst.xref_missing"]  # pages of studies name files that are not part of the site

generate.write_all(HERE / "generated")
live.write_all(HERE, HERE / "generated")


def skip(app, what, name, member, skipped, options):
    """Leave out the methods by which scikit-learn routes metadata; it makes one for every method with an option."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def trim(app, page, source):
    """Leave out the empty line that ends the examples of a page for doctest."""
    source[0] = re.sub(r"(?s)(```python\n>>> .*?)\n\n```", r"\1\n```", source[0])


def lead_to_the_page(app, doctree):
    """Let the words that a page is found by lead to its beginning, not to the empty place where they are listed."""
    for node in doctree.findall(index):
        node["entries"] = [
            (kind, words, "" if place.startswith("index-") else place, main, key)
            for kind, words, place, main, key in node["entries"]
        ]


def setup(app):
    """Tell Sphinx what to leave out."""
    app.connect("autodoc-skip-member", skip)
    app.connect("source-read", trim)
    app.connect("doctree-read", lead_to_the_page)
