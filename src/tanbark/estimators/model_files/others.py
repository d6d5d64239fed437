"""Model files of classifiers that are no single model of a table: texts, and averages of models."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tanbark.estimators.inputs import class_column
from tanbark.estimators.model_files import model_file as files
from tanbark.estimators.models.averaging import ModelAveraging
from tanbark.estimators.models.text import TextNaiveBayes
from tanbark.estimators.scikit import check_is_fitted
from tanbark.params import Laplace
from tanbark.params.network_file import FORMAT, VERSION, read_numbers
from tanbark.table.schema_json import column_document, demand, read_column, read_list


def save_text(model: TextNaiveBayes, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier of texts."""
    check_is_fitted(model)
    dtype = model.classes_.dtype
    options = {name: files._plain(value, f"the option {name}") for name, value in model.get_params(deep=False).items()}
    files._write({
        "format": FORMAT, "version": VERSION, "estimator": type(model).__name__, "options": options,
        "names": model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None,
        "columns": [column_document(class_column(None, model.classes_, ()))],
        "labels": dtype.kind if dtype.kind in files.LABELS else dtype.name,
        "texts": model.class_counts_.tolist(), "counts": model.word_counts_.tolist(),
        **files.scores_document(model),
    }, path)  # fmt: skip


def restore_text(document: dict[str, Any]) -> TextNaiveBayes:
    """Read a classifier of texts back."""
    model = TextNaiveBayes(**files._options(document["options"], TextNaiveBayes))
    model.classes_ = files._labels(read_column(read_list(document["columns"], "columns")[0]), document["labels"])
    texts, rows = read_list(document["texts"], "texts"), read_list(document["counts"], "counts")
    demand(len(texts) == len(rows) == len(model.classes_) > 0, "there is not one line of counts for each class")
    demand(
        len({len(read_list(row, "counts of a class")) for row in rows}) == 1,
        "the counts are of different lengths",
    )
    model.class_counts_ = read_numbers(texts, "texts").astype(np.float64)
    model.word_counts_ = np.stack([read_numbers(row, "words") for row in rows]).astype(np.float64)
    model.n_features_in_, names = model.word_counts_.shape[1], document["names"]
    if names is not None:
        demand(all(isinstance(name, str) for name in read_list(names, "names")), "a name is no string")
        model.feature_names_in_ = np.array(names, object)
    demand(model.n_features_in_ > 0 and model.class_counts_.sum() > 0, "there are no counts")
    Laplace(model.alpha).check()
    model._log_prior(), model._words()
    files.restore_scores(model, document)
    return model


def save_members(model: ModelAveraging, path: str | os.PathLike[str]) -> None:
    """Write a fitted average: its options, and the file of every model in it."""
    check_is_fitted(model)
    options = {n: files._plain(value, f"the option {n}") for n, value in model.get_params(deep=False).items()}
    files._write({
        "format": FORMAT, "version": VERSION, "estimator": type(model).__name__, "options": options,
        "members": [files._to_document(member) for member in model.estimators_], **files.scores_document(model),
    }, path)  # fmt: skip


def restore_members(document: dict[str, Any]) -> ModelAveraging:
    """Read an average back; its models must agree on columns and classes."""
    model = ModelAveraging(**files._options(document["options"], ModelAveraging))
    kind = type(model._model())
    members = [files._from_document(item) for item in read_list(document["members"], "members")]
    demand(len(members) == model.n_estimators, "there are not as many models as n_estimators says")
    for member in members:
        demand(type(member) is kind, f"a model is no {kind.__name__}")
        demand(member.schema_ == members[0].schema_, "the models have different columns")
        demand(member.classes_.tolist() == members[0].classes_.tolist(), "the models have different classes")
    model.estimators_ = members
    model._settle()
    files.restore_scores(model, document)
    model.n_features_in_ = members[0].n_features_in_
    if hasattr(members[0], "feature_names_in_"):
        model.feature_names_in_ = members[0].feature_names_in_
    return model
