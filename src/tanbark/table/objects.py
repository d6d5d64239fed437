"""The Python objects of a column: what each may be, and which of them are the same."""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import InputError
from tanbark.kernel import for_work
from tanbark.table.schema import Level

FEW_OBJECTS = 1024  # a column with more objects is numbered by their values
MOST_BY_VALUE = 100_000  # objects that are compared by value while Numba would be imported


class _Addresses:
    """The array interface of numpy for where the objects of an array are in memory, as whole numbers."""

    def __init__(self, objects: NDArray[np.object_]) -> None:
        self.objects = objects  # which keeps the memory
        self.__array_interface__ = {
            "version": 3, "typestr": np.dtype(np.intp).str, "shape": objects.shape, "data": (objects.ctypes.data, True),
        }  # fmt: skip


def number_objects(values: NDArray[np.object_]) -> tuple[NDArray[np.integer], list[Any]]:
    """Number the different values of an array of objects by their first occurrence; raise TypeError if one has no hash.

    NaN differs from itself: every NaN object is a value of its own.

    >>> codes, distinct = number_objects(np.array(["no", "yes", "no"], object))
    >>> codes.tolist(), distinct
    ([0, 1, 0], ['no', 'yes'])
    """
    from tanbark.table import kernels

    number = kernels.number_addresses
    if for_work(number, len(values), MOST_BY_VALUE) is not number:
        return number_values(values.tolist())
    # Rows mostly share their objects, and to compare addresses is quicker than to compare values.
    addresses = np.asarray(_Addresses(np.ascontiguousarray(values)))
    codes, first = np.empty(len(values), np.int32), np.empty(FEW_OBJECTS, np.int64)
    n_objects = number(addresses, codes, first)
    if n_objects > FEW_OBJECTS:
        return number_values(values.tolist())
    among, distinct = number_values(values[first[:n_objects]].tolist())
    return (codes if len(distinct) == n_objects else among[codes]), distinct


def number_values(values: list[Any]) -> tuple[NDArray[np.integer], list[Any]]:
    """Number the different values of a list by their first occurrence, as :func:`number_objects` does."""
    place = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(place.__getitem__, values), np.int32, len(values)), list(place)


def as_objects(values: list[Any]) -> NDArray[np.object_]:
    """Return the values as an array of objects, whatever they are."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def plain_value(value: Any) -> Level:
    """Turn numpy scalars and the like into Python's own bool, int, float or str."""
    if type(value) is str:
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return float(value)
    return str(value)


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NA or NaT."""
    if type(value) is str:
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (numbers.Number, np.datetime64, np.timedelta64)) and bool(value != value)


def rank_value(value: Any) -> tuple[Any, ...]:
    """Sort values of different types: numbers and booleans first."""
    return isinstance(value, str), str(type(value)), value


def refuse_type(kind: str, name: str, dtype: str) -> None:
    """Raise an error for a column of dates, times or bytes; ``kind`` is numpy's letter of its type."""
    if kind in "mM":
        msg = (
            f"Column {name!r} holds dates or times ({dtype}); strings, numbers, booleans or categories are needed. "
            "Derive what matters from it, such as the year, the weekday or an age in days."
        )
        raise InputError(msg)
    if kind in "SV":
        msg = f"Column {name!r} holds bytes ({dtype}); strings, numbers, booleans or categories are needed. Decode it."
        raise InputError(msg)


def refuse_value(value: Any, name: str) -> None:
    """Raise an error for a value that is neither a string nor a number nor a boolean."""
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)):
        refuse_type("M", name, type(value).__name__)
    if isinstance(value, bytes):
        refuse_type("S", name, type(value).__name__)
    if not isinstance(value, (str, bool, np.bool_, numbers.Real, decimal.Decimal)):
        msg = (
            f"Column {name!r} holds a {type(value).__name__}: {value!r:.60}. "
            "A column must hold strings, numbers, booleans or categories."
        )
        raise InputError(msg)
