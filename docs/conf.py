"""The documentation: `make docs` builds it; warnings are errors."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

import tanbark  # noqa: E402

project = "Tanbark"
author = copyright = "The Tanbark developers"
version = release = tanbark.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "numbers"]
html_title = project
html_theme = "pydata_sphinx_theme"
html_sidebars = {page: [] for page in ("quickstart", "architecture", "generated/gallery")}
html_theme_options = {"show_prev_next": False, "navbar_end": ["theme-switcher"]}
html_show_sourcelink = False
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
suppress_warnings = ["myst.xref_missing"]  # pages of studies name files that are not part of the site

generate.write_all(HERE / "generated")


def skip(app, what, name, member, skipped, options):
    """Leave out the methods by which scikit-learn routes metadata; it makes one for every method with an option."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app):
    """Tell Sphinx what to leave out."""
    app.connect("autodoc-skip-member", skip)
