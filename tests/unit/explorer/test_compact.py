"""Scripts without spaces and comments are the same scripts."""

import re

import pytest

from tanbark.explorer.compact import compact_script, compact_style
from tanbark.explorer.page import SCRIPTS, STYLES, _asset


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("let a = b / c; // half\nlet d = 1 / 2;", "let a=b/c;let d=1/2;"),
        ('x = y.split(/[", ]+/g), z = "// no comment";', 'x=y.split(/[", ]+/g),z="// no comment";'),
        ("a = b + +c - -d; e = f++ + g", "a=b+ +c- -d;e=f++ +g"),
        ("a = `x ${b ? `y  z` : { c: 1 }.c}  w`\nreturn a", "a=`x ${b ? `y  z` : { c: 1 }.c}  w`\nreturn a"),
        ("do a();\nwhile (b)\n/* next\n line */\nfunction* f() { yield; }", "do a();while(b)\nfunction*f(){yield;}"),
        (
            "const { a } = b;\nclass C extends D {\n  #e = 1;\n  get f() { return this.#e in g; }\n}",
            "const{a}=b;class C extends D{#e=1;get f(){return this.#e in g;}}",
        ),
    ],
)  # fmt: skip
def test_what_separates_nothing_goes(text, short):
    assert compact_script(text) == short
    assert compact_script(short) == short


def test_styles():
    assert compact_style("@media (max-width: 9px) {\n  a b > c:hover, d { width: calc(1px + 2px); }\n}") == (
        "@media (max-width:9px){a b > c:hover, d{width:calc(1px + 2px)}}"
    )


def test_strings_and_words_stay():
    words = re.compile(r"[\w$]+")
    for name in SCRIPTS:
        text = _asset(name)
        bare = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        bare = re.sub(r"(^|[;{},)]) *//.*$", r"\1", bare, flags=re.MULTILINE)
        assert words.findall(compact_script(text)) == words.findall(bare), name
    assert sum(len(compact_style(_asset(name))) for name in STYLES) > 5000
