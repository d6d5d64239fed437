"""The coded table: every value a small integer, every column contiguous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes
from tanbark.table.schema import Schema


def code_dtype(cardinalities: tuple[int, ...]) -> type[np.unsignedinteger]:
    """Choose the smallest unsigned type that holds every code and, on top, the missing one.

    >>> code_dtype((2, 254)).__name__, code_dtype((2, 255)).__name__
    ('uint8', 'uint16')
    """
    largest = max(cardinalities, default=1)
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest < np.iinfo(dtype).max:
            return dtype
    msg = f"a column with {largest:,} states cannot be coded"
    raise OverflowError(msg)


def missing_code(codes: Codes) -> int:
    """Return the code that stands for a missing value: the top of the type."""
    return int(np.iinfo(codes.dtype).max)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Rows as codes.

    Parameters
    ----------
    schema : Schema
    codes : (n_columns, n_rows) array of uint8, uint16 or uint32
        One contiguous row of the array per column, the class last.
    weights : (n_rows,) float64 array, optional
        None means that every row counts once.
    kept : bool array, optional
        One value per row that was given: whether it is among these. None means that all are.
    unlabelled : CodedTable, optional
        Further rows, whose class is missing.
    """

    schema: Schema
    codes: Codes
    weights: NDArray[np.float64] | None = None
    kept: NDArray[np.bool_] | None = None
    unlabelled: CodedTable | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return int(self.codes.shape[1])
