"""Data sets as the RAI-ANB paper used them, and its folds."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from tanbark.counts import MemoryCounts
from tanbark.table import CodedTable, Column, Schema
from tanbark.table.coded import code_dtype

CONSTANT_DROPPED = ("image-segmentation", "mushroom")  # without it their columns are one more than the paper prints
LEFT_OUT = {"adult": "fnlwgt"}  # a weight of the census, which is no feature
FEW_VALUES = 4  # numbers with at most as many values stay categories


@lru_cache(maxsize=2)
def read(folder: Path, name: str) -> CodedTable:
    """Read a data set: no rows with gaps, numbers with more than 4 values cut at the median of all rows.

    The states of every column are those of all rows, so that each fold has the same tables.
    """
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    frame = frame[(frame != "").all(axis=1)]
    if name in CONSTANT_DROPPED:
        frame = frame.loc[:, frame.nunique() > 1]
    features = [column for column in frame if column not in ("class", LEFT_OUT.get(name))]
    return code({column: _categories(frame[column]) for column in features}, frame["class"])


def _categories(values: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any() or numbers.nunique() <= FEW_VALUES:
        return values
    return (numbers > numbers.median()).astype(int).astype(str)


def code(features: dict[str, pd.Series], labels: pd.Series) -> CodedTable:
    """Code columns of categories, the class last."""
    codes, columns = [], []
    for name, values in [*features.items(), ("class", labels)]:
        places, levels = pd.factorize(values, sort=True)
        codes.append(places)
        columns.append(Column(name, "category", "text", tuple(map(str, levels))))
    schema = Schema(tuple(columns))
    return CodedTable(schema, np.ascontiguousarray(np.array(codes, code_dtype(schema.cardinalities))))


def rows_of(table: CodedTable, rows: np.ndarray, n_jobs: int | None) -> MemoryCounts:
    """Choose rows of a table; its states stay."""
    return MemoryCounts(CodedTable(table.schema, np.ascontiguousarray(table.codes[:, rows])), n_jobs=n_jobs)


def fold(table: CodedTable, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the training and the test rows of one of ten shuffled folds."""
    splits = list(KFold(10, shuffle=True, random_state=seed).split(np.zeros(table.n_rows)))
    return splits[number]


def paper_tables(folder: Path) -> dict:
    """Read what the paper printed."""
    return json.loads((folder / "tables.json").read_text())


def file_hash(folder: Path, name: str) -> str:
    """Tell one version of a file from another."""
    return hashlib.sha256((folder / f"{name}.csv.gz").read_bytes()).hexdigest()[:16]
