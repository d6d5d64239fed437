"""The options of all estimators: those that many share, and constructors and docstrings made from them.

An estimator is a dataclass: its options are fields, and its constructor only stores them, as scikit-learn wants it.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from tanbark.estimators.option_texts import ATTRIBUTES, OPTIONS
from tanbark.structure import LEARNERS

Class = TypeVar("Class", bound=type)

MAX_CELLS = 1 << 24


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class TableOptions:
    """The options of every classifier of tables."""

    parameters: Any = None
    class_prior: Any = None
    discretize: Any = "mdlp"
    categorical_features: Any = "auto"
    suspicious: str = "drop"
    handle_unknown: str = "marginalize"
    max_cells: int = MAX_CELLS
    n_jobs: int | None = None


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class NetworkOptions(TableOptions):
    """The options of every classifier with one network."""

    missing: str = "available-case"
    temperature: Any = None


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class FoldOptions:
    """The options of learners that search by cross-validated score."""

    cv: Any = 10
    tol: float = 0.01
    scoring: str = "accuracy"
    alpha: float = 0.01
    random_state: Any = None
    verbose: bool = False


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class ClimbOptions:
    """The options of hill climbing."""

    criterion: str = "bic"
    ess: float = 1.0
    max_parents: int | None = None
    required: Any = ()
    forbidden: Any = ()
    start: Any = None
    space: str = "orders"
    patience: int | None = None
    time_limit: float | None = None
    tabu: int = 10
    tabu_length: int = 10
    restarts: int = 0
    perturbation: int = 8
    random_state: Any = None
    verbose: bool = False


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class SeparationOptions:
    """The options of recursive autonomy identification."""

    test: Any = None
    ess: float = 1.0
    max_order: int | None = None
    start_order: int = 0
    strict: bool = False


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class PCOptions:
    """The options of the PC algorithm."""

    test: Any = None
    max_order: int | None = None
    ess: float = 1.0


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class MaxMinOptions:
    """The options of max-min hill climbing."""

    test: Any = None
    max_order: int | None = 3
    criterion: str = "bdeu"
    ess: float = 1.0
    max_parents: int | None = None
    space: str = "dags"
    tabu: int = 10
    tabu_length: int = 10
    verbose: bool = False


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class ExactOptions:
    """The options of exact search."""

    ess: float = 1.0
    max_parents: int | None = None
    method: str = "auto"
    max_memory: float | None = None
    time_limit: float | None = 600.0
    verbose: bool = False


@dataclass(eq=False, repr=False, match_args=False, kw_only=True)
class RankedOptions:
    """The options of averages over the K best graphs."""

    k: int = 10
    ess: float = 1.0
    max_parents: int | None = None
    distinct: str = "classes"
    method: str = "auto"
    max_memory: float | None = None
    verbose: bool = False


WIDTH = 112


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(cls: Class) -> Class:
    """Make a dataclass of an estimator and complete its docstring.

    The constructor takes the class's own options before those that all share. The docstring gets the options that it
    does not describe itself, and the attributes that estimators share.
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
    given = inspect.signature(made.__init__)
    shared = {option.name for option in fields(NetworkOptions)}
    made.__init__.__signature__ = given.replace(
        parameters=sorted(given.parameters.values(), key=lambda option: (option.kind, option.name in shared))
    )
    text = _indented(cls.__doc__ or "")
    for mark, common in ATTRIBUTES.items():
        text = text.replace(mark, common)
    described = set(re.findall(r"^    (\w+) : ", text.partition("    Attributes\n")[0], re.MULTILINE))
    entries = [
        _entry(cls, name, parameter.default)
        for name, parameter in inspect.signature(cls).parameters.items()
        if name not in described
    ]
    cls.__doc__ = text.replace("    {options}", "\n".join(entries))
    return cls


def _indented(text: str) -> str:
    """Return a docstring as it stands in the file; Python 3.13 and later take its indentation away.

    >>> _indented("Title.\\n\\nParameters") == _indented("Title.\\n\\n    Parameters") == "Title.\\n\\n    Parameters"
    True
    """
    first, mark, rest = inspect.cleandoc(text).partition("\n")
    return first + mark + textwrap.indent(rest, "    ")


def _entry(cls: type[Any], name: str, default: Any) -> str:
    """Write an option as numpydoc has it, with the default of the constructor."""
    kind, meaning = OPTIONS[name]
    meaning = meaning.replace("{smoothing}", _smoothing(cls)).replace("{test}", _test(cls))
    lines = textwrap.wrap(meaning, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"    {name} : {kind}{_default(default)}", *(f"        {line}" for line in lines)])


def _smoothing(cls: type[Any]) -> str:
    """Return the smoothing that a classifier has by default, as the registry knows it."""
    name = getattr(cls, "_learner_name", None)
    return "of the learner" if name is None else f'"{LEARNERS[name].smoothing}"'


def _test(cls: type[Any]) -> str:
    """Return what no test means: the test that a learner was published with."""
    by_factor = str(getattr(cls, "_learner_name", "")).startswith("rai")
    return "None is the Bayes factor with ``ess``." if by_factor else "None is ``GTest(0.05)``."


def _default(value: Any) -> str:
    if value is None or value == ():
        return ", optional"
    if isinstance(value, str):
        return f', default "{value}"'
    power = isinstance(value, int) and value > 1 << 16 and value & (value - 1) == 0
    return f", default 2**{value.bit_length() - 1}" if power else f", default {value!r}"


class Use(NamedTuple):
    """An option of one estimator, as its docstring describes it."""

    estimator: str
    default: Any
    kind: str
    meaning: str


def described(classes: Iterable[type[Any]]) -> dict[str, list[Use]]:
    """Collect the options of estimators from their constructors and docstrings, by name."""
    found: dict[str, list[Use]] = {}
    for cls in classes:
        parameters = inspect.signature(cls).parameters
        section = (inspect.getdoc(cls) or "").partition("Parameters\n----------\n")[2]
        for entry in re.split(r"\n(?=\S)", section.partition("\n\n")[0]):
            head, _, body = entry.partition("\n")
            name, _, kind = head.partition(" : ")
            if name in parameters:
                kind = re.sub(r"(, optional)?(, default .*)?$", "", kind)
                use = Use(cls.__name__, parameters[name].default, kind, " ".join(body.split()))
                found.setdefault(name, []).append(use)
    return dict(sorted(found.items()))
