"""All classifiers by name: those of the registry of structure learners, and those that learn no structure.

Nothing is listed here by hand. A classifier with a learner is known by the learner's name; one without (an average of
models) by its own, with the title and the reference of its docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tanbark.errors import find
from tanbark.estimators.model_files.model_file import classifiers
from tanbark.estimators.models.averaging import ModelAveraging
from tanbark.estimators.models.by_name import BayesNetClassifier
from tanbark.estimators.models.ensemble import Classifier, NetworkEnsemble
from tanbark.structure import LEARNERS
from tanbark.structure.registry import PROVIDED


@dataclass(frozen=True)
class Entry:
    """A classifier and what to say of it.

    Attributes
    ----------
    name : str
        The learner's name, as in ``LEARNERS``, or the class's in small letters.
    estimator : str
        The class in ``tanbark``.
    title, reference : str
    summary : str
        The first sentence of the class's docstring.
    options : tuple of str
        What may be set beside the options that all share.
    wrapper : bool
        Whether the structure is searched by cross-validation, which takes long.
    """

    name: str
    estimator: str
    title: str
    reference: str
    summary: str
    options: tuple[str, ...]
    wrapper: bool = False


def known_classifiers() -> dict[str, type[Any]]:
    """List the classifiers of tables, those that average others included."""
    return {**classifiers(), **{cls.__name__: cls for cls in (ModelAveraging, NetworkEnsemble, Classifier)}}


def catalogue() -> dict[str, Entry]:
    """List every classifier of tables by name, those of the registry first and in its order.

    >>> catalogue()["tan"].estimator, catalogue()["aode"].reference[:32]
    ('TAN', 'Webb, Boughton and Wang (2005), ')
    """
    known = known_classifiers()
    shells, others = _shells(known)
    shared = set(inspect.signature(known["NaiveBayes"]).parameters)
    found = {}
    for name, learner in LEARNERS.items():
        cls = shells.get(name, BayesNetClassifier)
        described = learner.learn if cls is BayesNetClassifier else cls
        found[name] = Entry(
            name, cls.__name__, learner.title, learner.reference, _summary(described), _own_options(described, shared),
            learner.wrapper,
        )  # fmt: skip
    for cls in others:
        name = _dashed(cls.__name__)
        found[name] = Entry(
            name, cls.__name__, _summary(cls).partition(":")[0].rstrip("."), _reference(cls), _summary(cls),
            _own_options(cls, shared),
        )  # fmt: skip
    return found


def make_classifier(name: str, options: Mapping[str, Any] | None = None) -> Any:
    """Make the classifier of a name with some options, or say which names there are.

    >>> make_classifier("tan", {"criterion": "bic"})
    TAN(criterion='bic')
    """
    entry = find("learner", name, catalogue())
    cls, given = known_classifiers()[entry.estimator], dict(options or {})
    known = inspect.signature(cls).parameters
    if cls is BayesNetClassifier:
        own = {option: given.pop(option) for option in list(given) if option not in known}
        made = cls(name, options=own or None, **given)
        made._check_options()
        return made
    for option in given:
        find(f"an option of {name!r}", option, known)
    return cls(**given)


def _shells(known: dict[str, type[Any]]) -> tuple[dict[str, type[Any]], list[type[Any]]]:
    """Return the class of each learner, and the classes that have no learner."""
    shells = {cls._learner_name: cls for cls in known.values() if hasattr(cls, "_learner_name")}
    others = [cls for cls in known.values() if cls is not BayesNetClassifier and cls not in shells.values()]
    return shells, others


def _own_options(maker: Callable[..., Any], shared: set[str]) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(maker).parameters if name not in shared.union(PROVIDED))


def _summary(maker: Callable[..., Any]) -> str:
    return (inspect.getdoc(maker) or "").partition("\n")[0]


def _dashed(name: str) -> str:
    """Write a class name as a learner's: small letters, words joined by a dash.

    >>> _dashed("ModelAveraging"), _dashed("A2DE")
    ('model-averaging', 'a2de')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _reference(cls: type[Any]) -> str:
    """Return the References section of a docstring, on one line."""
    _, _, after = (inspect.getdoc(cls) or "").partition("References\n----------\n")
    return " ".join(after.partition("\n\n")[0].split()) or "none"
