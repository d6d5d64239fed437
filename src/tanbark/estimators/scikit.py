"""The one door to scikit-learn: its base classes and tools, each imported as late as can be.

``import sklearn.base`` takes longer than everything else between a model file and its predictions. The command line,
which shares its process with nobody, does without: after :func:`tanbark.machine.stand_alone` the base classes here are
those of :mod:`tanbark.estimators.stand_ins`, which know no more than the options of an estimator. Everywhere else they
are scikit-learn's, so that estimators work in its pipelines and searches.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from types import MethodType, ModuleType
from typing import Any

from tanbark import machine
from tanbark.errors import InputError


class _Placeholder(ModuleType):
    """Holds the place of a module, and loads it where somebody asks for an attribute."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _import_base() -> ModuleType:
    """Import ``sklearn.base`` without ``scipy.stats``, on which it spends a third of its time for one function.

    That function finds ``scipy.stats`` when it is called, as everybody else does: the placeholder is there during this
    import only.
    """
    held = None
    if "scipy.stats" not in sys.modules:
        sys.modules["scipy.stats"] = held = _Placeholder("scipy.stats")
    try:
        return import_module("sklearn.base")
    finally:
        if held is not None and sys.modules.get("scipy.stats") is held:
            del sys.modules["scipy.stats"]


_base = import_module("tanbark.estimators.stand_ins") if machine.alone else _import_base()
BaseEstimator: Any = _base.BaseEstimator
ClassifierMixin: Any = _base.ClassifierMixin
OneToOneFeatureMixin: Any = _base.OneToOneFeatureMixin
TransformerMixin: Any = _base.TransformerMixin
clone: Any = _base.clone


class available_if:  # noqa: N801  # the name that it has in scikit-learn
    """Make a method an attribute only where ``check(estimator)`` is true; the check may raise an AttributeError."""

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Return the descriptor of a method."""
        return _Available(method, self.check)


class _Available:
    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool]) -> None:
        update_wrapper(self, method)  # type: ignore[arg-type]  # it has the attributes of a function
        self.method, self.check = method, check

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            msg = f"{owner.__name__} has no attribute {self.method.__name__!r} with these options."
            raise AttributeError(msg)
        return MethodType(self.method, instance)


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error where an estimator is not fitted."""
    if hasattr(estimator, "__sklearn_is_fitted__"):
        fitted = estimator.__sklearn_is_fitted__()
    else:
        fitted = any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))
    if not fitted:
        from sklearn.exceptions import NotFittedError

        msg = f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with rows before using it."
        raise NotFittedError(msg)


def is_sparse(X: Any) -> bool:
    """Return whether a table is one of scipy's sparse ones; without importing them, for then it is not."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Check the number and names of columns, or note them; alone, only their number is compared."""
    if machine.alone:
        found = X.shape[1]
        if found != estimator.n_features_in_:
            msg = f"X has {found} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_}."
            raise InputError(msg)
        return X
    from sklearn.utils.validation import validate_data as validate

    return validate(estimator, X, **options)


def check_array(X: Any, **options: Any) -> Any:
    """Bring a table to an array of two dimensions."""
    from sklearn.utils.validation import check_array as check

    return check(X, **options)


def column_or_1d(y: Any, **options: Any) -> Any:
    """Bring labels to an array of one dimension."""
    from sklearn.utils.validation import column_or_1d as check

    return check(y, **options)


def check_random_state(seed: Any) -> Any:
    """Return numpy's RandomState of a seed."""
    from sklearn.utils import check_random_state as check

    return check(seed)
