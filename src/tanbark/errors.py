"""Every exception and warning of Tanbark.

::

    TanbarkError
    ├── InputError (ValueError)         the table, the labels or the weights are not usable
    │   ├── TableTooLargeError          a family needs more cells than max_cells
    │   └── ImpossibleEvidenceError     the model gives the evidence probability zero
    ├── OptionError (ValueError)        an option has a value that it cannot have
    ├── ModelFileError (ValueError)     a model file is damaged, foreign or too new
    ├── ClusterError (RuntimeError)     workers or the scheduler of a cluster are lost
    └── MissingPackageError (ImportError)  an extra is needed and not installed

    TanbarkWarning (UserWarning)
    ├── UnseenCategoryWarning           categories met at prediction that training never saw
    ├── EmptyColumnWarning              a column without a single value
    ├── SuspiciousColumnWarning         columns that identify rows, hold free text, or determine the class
    ├── NotConvergedWarning             an optimisation that stopped at its limit
    ├── NothingSelectedWarning          a selection of features that is empty
    ├── NotProvedWarning                an exact search that ended before it had proved its answer the best
    ├── NaiveStructureWarning           a penalty that left out every arc between features that depend on each other
    ├── ReducedModelWarning             a model from which parts were left out to stay within max_cells
    ├── KernelCacheWarning              compiled kernels that cannot be kept, so that every process compiles them
    └── ImpossibleEvidenceWarning       rows to which the model gives probability zero
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class TanbarkError(Exception):
    """Base of every error that Tanbark raises on purpose."""


class InputError(TanbarkError, ValueError):
    """The table, the labels or the weights are not usable as they came."""


class TableTooLargeError(InputError):
    """A family would need a table with more cells than ``max_cells``."""


class ImpossibleEvidenceError(InputError):
    """The model gives the evidence probability zero, so that nothing follows from it."""


class OptionError(TanbarkError, ValueError):
    """An option has a value that it cannot have."""


class ModelFileError(TanbarkError, ValueError):
    """A model file is damaged, foreign, or written by a newer version."""


class ClusterError(TanbarkError, RuntimeError):
    """A cluster lost its scheduler, or workers again and again, so that a count could not be finished."""


class MissingPackageError(TanbarkError, ImportError):
    """A feature needs an optional package that is not installed."""


class TanbarkWarning(UserWarning):
    """Base of every warning that Tanbark gives."""


class UnseenCategoryWarning(TanbarkWarning):
    """Rows held categories that training never saw; they are treated as missing."""


class EmptyColumnWarning(TanbarkWarning):
    """A column has no value at all, so it tells nothing about the class."""


class SuspiciousColumnWarning(TanbarkWarning):
    """Columns identify rows or hold free text, and were left out; or they determine the class, and were kept."""


class NotConvergedWarning(TanbarkWarning):
    """An optimisation stopped at its limit of iterations, short of its tolerance."""


class NothingSelectedWarning(TanbarkWarning):
    """No feature helps, so that nothing is left of the table."""


class NotProvedWarning(TanbarkWarning):
    """An exact search ended before it had proved that no better network exists."""


class ReducedModelWarning(TanbarkWarning):
    """Parts of a model were left out, because with them it would need more than ``max_cells`` cells."""


class LongFitWarning(TanbarkWarning):
    """A learner is about to begin that takes long with so many columns or classes."""


class NaiveStructureWarning(TanbarkWarning):
    """A penalty left out every arc between features, although some of them depend on each other given the class."""


class KernelCacheWarning(TanbarkWarning):
    """Compiled kernels cannot be kept, so that every process compiles those it needs."""


class ImpossibleEvidenceWarning(TanbarkWarning):
    """The model gives a row probability zero under every class."""


def warn(message: str, category: type[TanbarkWarning]) -> None:
    """Warn at the line of the user's code, however deep in Tanbark the reason was found."""
    home = str(Path(__file__).parent)
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(home):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nearest(name: object, known: Mapping[str, object] | list[str] | tuple[str, ...]) -> str:
    """Offer the known name nearest to a wrong one, as the end of a sentence.

    >>> nearest("tam", ["tan", "naive"])
    " Did you mean 'tan'?"
    """
    near = get_close_matches(str(name), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def listed(names: Sequence[str], most: int = 20) -> str:
    """Write names as a list, those beyond ``most`` as their number.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=1)
    ("['a', 'b', 'c']", "['a'] and 2 more")
    """
    more = len(names) - most
    return f"{list(names[:most])}{f' and {more} more' if more > 0 else ''}"


def find(what: str, name: str, registry: Mapping[str, T]) -> T:
    """Look a name up, or raise an error that offers the nearest one.

    >>> find("learner", "tan", {"tan": 1})
    1
    """
    if isinstance(name, str) and name in registry:
        return registry[name]
    msg = f"{what} must be one of {sorted(registry)}; got {name!r}.{nearest(name, registry)}"
    raise OptionError(msg)
