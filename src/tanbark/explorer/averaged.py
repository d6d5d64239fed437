"""The data of the page of an average: super-parent models, or models whose posteriors are averaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tanbark.errors import InputError, TableTooLargeError
from tanbark.estimators.mixture import PosteriorMixture
from tanbark.estimators.models.aode import AveragedClassifier
from tanbark.estimators.network import NetworkClassifier
from tanbark.explorer import pooled
from tanbark.explorer.packing import pack
from tanbark.graph import Network
from tanbark.inference.aode.average import SuperParents
from tanbark.inference.aode.selection import needed_sets

BASE_64 = 4 / 3  # characters for each byte


def averaged_network(model: AveragedClassifier | PosteriorMixture) -> Network:
    """Return the network to read: ``naive_``, or that of the first model."""
    if isinstance(model, AveragedClassifier):
        return model.naive_
    first = model.estimators_[0]
    if isinstance(first, (AveragedClassifier, PosteriorMixture)):
        return averaged_network(first)
    if isinstance(first, NetworkClassifier):
        return first.network_
    msg = f"The page shows averages of networks, and this averages models of the kind {type(first).__name__}."
    raise InputError(msg)


def average_data(model: Any, describe: Callable[[Any], dict[str, Any]]) -> dict[str, Any] | None:
    """Describe what the class posterior of an average is computed from; None where a model is no average.

    ``describe`` returns the data of inference of one of several models.
    """
    if isinstance(model, AveragedClassifier):
        return _super_parents(model)
    if isinstance(model, PosteriorMixture):
        return _members(model, describe)
    return None


def _super_parents(model: AveragedClassifier) -> dict[str, Any]:
    averages = [some for some in model.averages_ if len(some.members)]
    _check_size(sum(8 * some.probabilities.size for some in averages) * BASE_64, model)
    counts = model._kept_counts()
    needed = needed_sets(model.schema_, model._models)
    sets = [tuple(columns) for some in needed for columns in some.tolist() if len(columns) > 1]
    tables = counts.tables(sets)
    _check_size(sum(some.size for some in tables) * BASE_64, model)
    return {
        "kind": "super-parents",
        "networks": sum(len(some.members) for some in averages),
        "rows": float(counts.total),
        "least": float(model.min_rows),
        "sums": model.missing_parent == "sum",
        "averages": [_average(some) for some in averages],
        "counted": [
            {"columns": list(columns[:-1]), "counts": pack(table.sum(axis=-1))}
            for columns, table in zip(sets, tables, strict=True)
        ],
    }


def _average(models: SuperParents) -> dict[str, Any]:
    return {
        "members": [[feature for feature in some if feature >= 0] for some in models.members.tolist()],
        "starts": models.starts.tolist(),
        **{name: pack(getattr(models, name)) for name in ("prior", "counts", "probabilities")},
    }


def _members(model: PosteriorMixture, describe: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    found, size = [], 0.0
    for member in model.estimators_:
        found.append(describe(member))
        one = member.network_ if isinstance(member, NetworkClassifier) else averaged_network(member)
        tables = one.tables
        size += sum(20 * table.size for table in tables) + pooled.text_size(found[-1])
        _check_size(size, model)
    weights = model._weights()
    shown = (weights / weights.sum()).tolist()
    networks = sum(1 if each["average"] is None else each["average"]["networks"] for each in found)
    return {"kind": "members", "networks": networks, "rows": None, "members": found, "weights": shown}


def _check_size(size: float, model: Any) -> None:
    if size <= pooled.MOST_BYTES:
        return
    many = isinstance(model, PosteriorMixture)
    instead = "Use fewer models, or explore one of estimators_." if many else "Lower max_cells, or explore naive_."
    msg = (
        f"The page would hold more than {pooled.MOST_BYTES / 1e6:.0f} MB of CPTs, too much for a browser to open "
        f"quickly. {instead}"
    )
    raise TableTooLargeError(msg)
