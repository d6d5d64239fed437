"""From raw features to codes: the schema that training learns and prediction follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.errors import InputError, OptionError, UnseenCategoryWarning, warn
from tanbark.estimators.parts.discretizers import Discretizer, find_cutter
from tanbark.estimators.scikit import clone, is_sparse
from tanbark.machine import thread_count
from tanbark.table import Column, Encoded, RawTable, encode, learn_schema
from tanbark.table.discretize import CUTTERS
from tanbark.table.encode import check_type, refuse_infinity
from tanbark.table.learn_schema import Cut, extend_columns, is_category, look_at
from tanbark.table.raw import NumberBlock
from tanbark.table.small_numbers import SmallNumbers


@dataclass(frozen=True, eq=False)
class Encoder:
    """The features' columns and, where the user brought one, the fitted transformer of the continuous ones.

    ``left_out`` are the positions of columns that training had and left out; ``columns`` does not list them.
    """

    columns: tuple[Column, ...]
    transformer: Any = None
    transformed: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()

    @property
    def places(self) -> list[int]:
        """Positions of the columns among all that training had."""
        return [place for place in range(len(self.columns) + len(self.left_out)) if place not in self.left_out]

    def encode(
        self, table: RawTable, *, n_jobs: int | None, extra_states: int = 0, small: SmallNumbers | None = None
    ) -> Encoded:
        """Code a table that has these columns; ``small`` is what a scan of it left, see :func:`encode`."""
        if self.transformer is not None:
            table = _replace_columns(table, self.transformed, _transform(self.transformer, table, self.transformed))
            small = None
        return encode(table, self.columns, extra_states=extra_states, n_jobs=n_jobs, small=small)

    def extended(self, table: RawTable) -> Encoder:
        """Append the categories of a further table."""
        if self.transformer is not None:
            table = _replace_columns(table, self.transformed, _transform(self.transformer, table, self.transformed))
        return replace(self, columns=extend_columns(self.columns, table))


def learn_encoder(
    table: RawTable, labels: NDArray[np.int64], weights: Floats | None, n_classes: int, *, discretize: Any,
    categorical: NDArray[np.bool_] | None, n_jobs: int | None, occurring: NDArray[np.uint64] | None = None,
) -> Encoder:  # fmt: skip
    """Learn categories and cut points from training rows; see ``learn_schema`` for the numbers ``occurring``."""
    if isinstance(discretize, (str, Discretizer)):
        cutter, few = find_cutter(discretize)

        def cut(values: Floats, observed: NDArray[np.bool_]) -> Floats:
            part = None if weights is None else weights[observed]
            return cutter(values, labels[observed], n_classes, part)

        return Encoder(learn_schema(table, cut, categorical=categorical, n_jobs=n_jobs, occurring=occurring, few=few))
    if not hasattr(discretize, "fit") or not hasattr(discretize, "transform"):
        msg = f"discretize must be one of {sorted(CUTTERS)} or a transformer; got {discretize!r}."
        raise OptionError(msg)
    return _learn_with_transformer(table, labels, weights, discretize, categorical, n_jobs)


def _learn_with_transformer(
    table: RawTable, labels: NDArray[np.int64], weights: Floats | None, discretize: Any,
    categorical: NDArray[np.bool_] | None, n_jobs: int | None,
) -> Encoder:  # fmt: skip
    continuous = _continuous(table, categorical, n_jobs)
    if not continuous:
        return Encoder(learn_schema(table, _no_cuts(), categorical=categorical, n_jobs=n_jobs))
    numbers = _matrix(table, continuous)
    complete = ~np.isnan(numbers).any(axis=1)
    if not complete.any():
        msg = "discretize is a transformer, but no row has a value in each continuous column to fit it on."
        raise InputError(msg)
    from sklearn.utils.validation import has_fit_parameter

    weighted = weights is not None and has_fit_parameter(discretize, "sample_weight")
    options = {"sample_weight": weights[complete]} if weights is not None and weighted else {}
    transformer = clone(discretize).fit(numbers[complete], labels[complete], **options)
    table = _replace_columns(table, continuous, _transform(transformer, table, continuous))
    mask = np.zeros(table.n_columns, bool) if categorical is None else categorical.copy()
    mask[list(continuous)] = True
    if categorical is None:
        others = _categories(table, n_jobs)
        mask[list(others)] = True
    return Encoder(learn_schema(table, _no_cuts(), categorical=mask, n_jobs=n_jobs), transformer, continuous)


def _no_cuts() -> Cut:
    return lambda values, observed: np.zeros(0)


def _continuous(table: RawTable, categorical: NDArray[np.bool_] | None, n_jobs: int | None) -> tuple[int, ...]:
    found = []
    for block in table.blocks:
        for column, look in zip(block.columns, look_at(block, table, thread_count(n_jobs)), strict=True):
            if not is_category(look, None if categorical is None else bool(categorical[column])):
                found.append(column)
    return tuple(sorted(found))


def _categories(table: RawTable, n_jobs: int | None) -> set[int]:
    return set(range(table.n_columns)) - set(_continuous(table, None, n_jobs))


def _matrix(table: RawTable, columns: tuple[int, ...]) -> Floats:
    """Return the columns that a transformer sees as floats, or say which of them holds something else."""
    where = {c: block.values[:, place] for block in table.blocks for place, c in enumerate(block.columns)}
    for item in table.coded:
        if item.column in columns:
            column = Column(table.name(item.column), "interval", "number")
            check_type(column, item.values, observed=partial(getattr, item, "observed"))
            where[item.column] = item.numbers() if item.observed else np.full(table.n_rows, np.nan)
    numbers = np.column_stack([where[c].astype(np.float64) for c in columns])
    infinite = np.isinf(numbers).any(axis=0)
    if infinite.any():
        refuse_infinity(table.name(columns[int(infinite.argmax())]))
    return numbers


def _transform(transformer: Any, table: RawTable, columns: tuple[int, ...]) -> Floats:
    """Apply a user's transformer; missing values are filled in for it and restored after it."""
    numbers = _matrix(table, columns)
    missing = np.isnan(numbers)
    filled = np.where(missing, 0.0, numbers)
    for column in np.flatnonzero(missing.any(axis=0)):
        observed = numbers[~missing[:, column], column]
        filled[missing[:, column], column] = observed[0] if len(observed) else 0.0
    states = transformer.transform(filled)
    if is_sparse(states) or np.shape(states) != numbers.shape:
        msg = (
            f"The transformer given as discretize must return one column of states for each of the {len(columns)} "
            f"continuous columns; got shape {np.shape(states)}. With KBinsDiscretizer use encode='ordinal'."
        )
        raise OptionError(msg)
    try:
        return np.where(missing, np.nan, np.asarray(states, dtype=np.float64))
    except ValueError:
        msg = f"The transformer given as discretize must return numbers, one per interval; got {states!r:.60}."
        raise OptionError(msg) from None


def _replace_columns(table: RawTable, columns: tuple[int, ...], values: Floats) -> RawTable:
    kept = table.take([c for c in range(table.n_columns) if c not in columns])
    back = [c for c in range(table.n_columns) if c not in columns]
    blocks = [replace(block, columns=tuple(back[c] for c in block.columns)) for block in kept.blocks]
    coded = [replace(item, column=back[item.column]) for item in kept.coded]
    return replace(table, blocks=(*blocks, NumberBlock(columns, values)), coded=tuple(coded))


def report_unseen(unseen: dict[str, int], n_rows: int, how: str) -> None:
    """Warn of values that training never saw, or raise an error."""
    if not unseen:
        return
    listed = ", ".join(f"{name!r}: {count}" for name, count in list(unseen.items())[:5])
    total = sum(unseen.values())
    if how == "error":
        msg = (
            f"X holds {total} values that training never saw ({listed}). Correct them, train with them, or use "
            "handle_unknown='marginalize' to treat them as missing."
        )
        raise InputError(msg)
    what = "1 value in" if total == 1 else f"{total} values in"
    msg = f"{what} {n_rows} rows never seen in training: treated as missing ({listed})."
    warn(msg, UnseenCategoryWarning)
