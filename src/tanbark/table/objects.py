"""The different Python objects of a column: strings, mostly, of which a column has few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import for_work

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
