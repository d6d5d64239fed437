"""Prediction from file to file, batch by batch."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tanbark.errors import InputError
from tanbark.estimators.encoding import report_unseen
from tanbark.estimators.files.scan import open_rows
from tanbark.estimators.scikit import check_is_fitted
from tanbark.machine import read_ahead, thread_count
from tanbark.table.files.sources import Piece, Source
from tanbark.table.files.writer import NoRowsError, chosen_values, column_values, write_batches
from tanbark.table.raw import RawTable

BATCH_ROWS = 1 << 16


class FilePrediction:
    """What lets a classifier predict from file to file."""

    def predict_file(
        self, rows: Any, out: str | os.PathLike[str], *, proba: bool = False, keep: Sequence[str] = (),
        types: Mapping[str, str] | None = None, client: Any = None,
    ) -> int:  # fmt: skip
        """Predict from file to file, batch by batch; give the number of rows.

        Parameters
        ----------
        rows : path, lazy frame or whatever :func:`tanbark.scan` reads
        out : path
            A Parquet, CSV or Arrow file to write: the column ``predicted``, which appears when it is whole.
        proba : bool, default False
            Whether to write the probability of each class too.
        keep : list of str
            Columns of the rows to write beside the predictions, such as an identifier.
        types : mapping, optional
            Types of columns of CSV files, as in :func:`tanbark.scan`.
        client : dask.distributed.Client or pyspark.sql.SparkSession, optional
            A cluster whose workers predict; ``out`` is then a folder, with a Parquet file for each part of the rows.
            The rows of a Dask or Spark frame are always predicted so.
        """
        check_is_fitted(self)
        return predict_source(self, rows, out, proba=proba, keep=keep, types=types, client=client)


def predict_source(
    model: Any, data: Any, out: str | os.PathLike[str], *, proba: bool, keep: Sequence[str],
    types: Mapping[str, str] | None, client: Any = None, batch_rows: int = BATCH_ROWS,
) -> int:  # fmt: skip
    """Write the prediction of every row of a source to a file, or on a cluster to a folder; give the number of rows."""
    source, cluster = open_rows(data, types=types, client=client)
    columns = wanted_columns(model, source.names, keep)
    if cluster is not None:
        folder = Path(out)
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            msg = f"{folder} is not empty; the parts of a prediction need a folder of their own."
            raise InputError(msg)
        job = _PredictPiece(model, source, tuple(columns), tuple(keep), proba, str(folder.absolute()), batch_rows)
        return int(cluster.reduce(job, operator.add) or 0)
    batches = predicted(model, source, source.pieces(), columns, proba=proba, keep=keep, batch_rows=batch_rows)
    return write_batches(out, batches)


@dataclass(frozen=True, eq=False)
class _PredictPiece:
    """Predict one piece on a worker, and write it to a file of its own; a second run writes the same file again."""

    model: Any
    source: Source
    columns: tuple[str, ...]
    keep: tuple[str, ...]
    proba: bool
    folder: str
    batch_rows: int

    def __call__(self, numbered: tuple[int, Piece]) -> int:
        number, piece = numbered
        batches = predicted(
            self.model, self.source, [piece], list(self.columns), proba=self.proba, keep=self.keep,
            batch_rows=self.batch_rows,
        )  # fmt: skip
        try:
            return write_batches(Path(self.folder) / f"part-{number:06d}.parquet", batches)
        except NoRowsError:
            return 0


def wanted_columns(model: Any, names: tuple[str, ...], keep: Sequence[str]) -> list[str]:
    """List the columns to read: the features, and those that are written beside the predictions."""
    features = [column.name for column in model.encoder_.columns]
    lacking = [name for name in (*features, *keep) if name not in names]
    if lacking:
        msg = f"The rows lack the columns {lacking[:10]}; {type(model).__name__} needs those it was trained on."
        raise InputError(msg)
    return [*features, *(name for name in dict.fromkeys(keep) if name not in features)]


def predicted(
    model: Any, source: Source, pieces: list[Piece], columns: list[str], *, proba: bool, keep: Sequence[str],
    batch_rows: int = BATCH_ROWS,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Predict batch by batch: columns that are kept, the predicted label, and the probability of each class."""
    for piece in pieces:
        batches = source.read(piece, columns, batch_rows)
        for raw in read_ahead(batches) if thread_count(model.n_jobs) > 1 else batches:
            if raw.n_rows:
                yield _predict(model, raw, columns, proba=proba, keep=keep)


def _predict(model: Any, raw: RawTable, columns: list[str], *, proba: bool, keep: Sequence[str]) -> dict[str, Any]:
    features = raw.take(range(len(model.encoder_.columns)))
    encoded = model.encoder_.encode(features, n_jobs=model.n_jobs)
    report_unseen(encoded.unseen, raw.n_rows, model.handle_unknown)
    posterior = model._posterior(model._joint(encoded.codes), logs=False)
    found: dict[str, Any] = {name: column_values(raw, columns.index(name)) for name in dict.fromkeys(keep)}
    found["predicted"] = chosen_values(model.classes_, posterior.argmax(axis=1))
    if proba:
        for code, label in enumerate(model.classes_.tolist()):
            found[f"P({label})"] = np.ascontiguousarray(posterior[:, code])
    return found
