"""Stand-ins for scikit-learn's base classes, in a process that needs nothing of them but the options of estimators."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, Self


class BaseEstimator:
    """An object whose options are the parameters of its constructor."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name; with ``deep`` also those of parts, as ``part__option``."""
        names = list(inspect.signature(type(self)).parameters)
        found = {name: getattr(self, name) for name in names}
        if deep:
            for name, part in list(found.items()):
                if hasattr(part, "get_params") and not isinstance(part, type):
                    found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set options by name."""
        for name, value in params.items():
            setattr(self, name, value)
        return self


class ClassifierMixin:
    """A classifier."""


class TransformerMixin:
    """A transformer."""


class OneToOneFeatureMixin:
    """A transformer that returns a column for each one."""


def clone(estimator: Any, *, safe: bool = True) -> Any:
    """Return an estimator with the same options, not fitted; other values are copied."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return deepcopy(estimator)
    options = {name: clone(value, safe=False) for name, value in estimator.get_params(deep=False).items()}
    return type(estimator)(**options)
