"""Checks of options: each raises an ``OptionError`` that names the option, what it may be, and what it was."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from tanbark.errors import OptionError, find
from tanbark.machine import free_memory

GIB = 1 << 30  # bytes


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; booleans and NaN are none.

    >>> is_number(2.5), is_number(True), is_number(float("nan"))
    (True, False, False)
    """
    real = isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))
    return real and not math.isnan(float(value))


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; booleans and floats are none.

    >>> is_whole(np.int8(3)), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def check_count(name: str, value: object, *, least: int = 0) -> int:
    """Return an option that is a whole number of at least ``least``."""
    if not is_whole(value) or value < least:  # type: ignore[operator]  # it is a whole number here
        msg = f"{name} must be a whole number of at least {least}; got {value!r}."
        raise OptionError(msg)
    return int(value)  # type: ignore[call-overload, no-any-return]  # it is a whole number here


def check_at_least(name: str, value: object, least: float, most: float = math.inf) -> float:
    """Return an option that is a number from ``least`` to ``most``.

    >>> check_at_least("tol", 0.01, 0)
    0.01
    """
    if not is_number(value) or not least <= float(value) <= most:  # type: ignore[arg-type]  # it is a number here
        where = f"of at least {least:,g}" if math.isinf(most) else f"from {least:,g} to {most:g}"
        msg = f"{name} must be a number {where}; got {value!r}."
        raise OptionError(msg)
    return float(value)  # type: ignore[arg-type]  # it is a number here


def check_positive(name: str, value: object, *, of: str = "") -> float:
    """Return an option that is a finite number above 0; ``of`` says of what, such as seconds.

    >>> check_positive("sigma", 3)
    3.0
    """
    if not is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]  # it is a number here
        msg = f"{name} must be a number {of + ' ' if of else ''}above 0; got {value!r}."
        raise OptionError(msg)
    return float(value)  # type: ignore[arg-type]  # it is a number here


def check_ess(ess: object) -> float:
    """Return an equivalent sample size; beyond 1e100 the logarithms of gamma functions overflow."""
    if not is_number(ess) or not 0 < float(ess) < 1e100:  # type: ignore[arg-type]  # it is a number here
        msg = f"ess, the equivalent sample size, must be a number above 0; got {ess!r}."
        raise OptionError(msg)
    return float(ess)  # type: ignore[arg-type]  # it is a number here


def check_threshold(name: str, value: object) -> None:
    """Accept None or a number."""
    if value is not None and not is_number(value):
        msg = f"{name} must be None or a number; got {value!r}."
        raise OptionError(msg)


def check_limit(name: str, value: object, of: str) -> None:
    """Accept None, for no limit, or a number above 0 of what ``of`` says."""
    if value is not None and (not is_number(value) or not float(value) > 0):  # type: ignore[arg-type]  # a number here
        msg = f"{name} must be None or a number of {of} above 0; got {value!r}."
        raise OptionError(msg)


def check_fraction(name: str, value: object, *, inside: bool = False) -> float:
    """Return a number from 0 to 1, with ``inside`` one between them.

    >>> check_fraction("level", 0.9, inside=True)
    0.9
    """
    number = float(value) if is_number(value) else math.nan  # type: ignore[arg-type]  # it is a number here
    if not 0.0 <= number <= 1.0 or (inside and number in (0.0, 1.0)):
        where = "between 0 and 1" if inside else "from 0 to 1"
        msg = f"{name} must be a number {where}; got {value!r}."
        raise OptionError(msg)
    return number


def check_flag(name: str, value: object) -> None:
    """Accept True or False."""
    if not isinstance(value, (bool, np.bool_)):
        msg = f"{name} must be True or False; got {value!r}."
        raise OptionError(msg)


@dataclass
class Options:
    """A value that a classifier takes as an option and that has options itself, which scikit-learn reads and sets."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name, as scikit-learn's estimators do."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Set options by name, as scikit-learn's estimators do."""
        for name, value in params.items():
            find(f"an option of {type(self).__name__}", name, self.get_params())
            setattr(self, name, value)
        return self


def allowed_memory(max_memory: float | None) -> float:
    """Return the bytes that a computation may take: ``max_memory``, or half of the free memory.

    >>> allowed_memory(1 << 20)
    1048576.0
    """
    check_limit("max_memory", max_memory, "bytes")
    return free_memory() / 2 if max_memory is None else float(max_memory)
