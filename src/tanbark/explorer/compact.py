"""Scripts and styles without comments and spaces; names stay as they are, so that the page can be read."""

from __future__ import annotations

import re
from functools import cache

TOKENS = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[\w$#]+)
    |(?P<space>\s+)
    |(?P<mark>=>|&&|\|\||\?\?|\+\+|--|.)""",
    re.VERBOSE | re.DOTALL,
)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
BEFORE_REGEX = frozenset("( , = : [ ! & | ? { } ; && || ?? => return".split())
OPENS = frozenset("{ ( [ , ; : ? = && || ?? =>".split())  # after these a line may go on
CLOSES = frozenset("} ) ] , ; : ?".split())
GLUES = frozenset("+ - ++ --".split())  # two of them may not touch


@cache
def compact_script(text: str) -> str:
    """Leave out comments, indentation, and spaces and line ends that separate nothing.

    >>> compact_script("if (a  ===  b) { c = `x ${ d }`; } /* no */")
    'if(a===b){c=`x ${ d }`;}'
    """
    found: list[str] = []
    last, gap, place = "", "", 0
    while place < len(text):
        token, kind, place = _next(text, place, last)
        if kind in ("comment", "space"):
            gap = "\n" if "\n" in token or gap == "\n" else " "
            continue
        found.append(_needed(last, gap, token) + token)
        last, gap = token, ""
    return "".join(found)


def _next(text: str, place: int, last: str) -> tuple[str, str, int]:
    if text[place] == "`":
        end = _template_end(text, place + 1)
        return text[place:end], "text", end
    if text[place] == "/" and text[place + 1] not in "*/" and (last in BEFORE_REGEX or not last):
        regex = REGEX.match(text, place)
        if regex is not None:
            return regex[0], "text", regex.end()
    match = TOKENS.match(text, place)
    assert match is not None
    return match[0], match.lastgroup or "", match.end()


def _template_end(text: str, place: int) -> int:
    """Find the end of a template literal; what stands in its braces may hold others."""
    while text[place] != "`":
        if text[place] == "\\":
            place += 2
        elif text.startswith("${", place):
            place, depth = place + 2, 1
            while depth:
                token, _, place = _next(text, place, "(")
                depth += (token == "{") - (token == "}")
        else:
            place += 1
    return place + 1


def _needed(last: str, gap: str, token: str) -> str:
    if not gap or not last:
        return ""
    if gap == "\n":
        return "" if last in OPENS or token in CLOSES else "\n"
    wordy = (last[-1].isalnum() or last[-1] in "_$") and (token[0].isalnum() or token[0] in "_$#")
    return " " if wordy or (last in GLUES and token in GLUES) else ""


@cache
def compact_style(text: str) -> str:
    """Leave out comments, line ends, and spaces around braces and after colons and semicolons.

    >>> compact_style("a > b { color: red; }  /* no */")
    'a > b{color:red}'
    """
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    return re.sub(r";}", "}", re.sub(r"\s*([{};])\s*|(?<=[\w-]):\s+", lambda m: m[1] or ":", text)).strip()
