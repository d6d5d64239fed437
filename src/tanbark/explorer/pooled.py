"""The data of the page of an ensemble: its pooled networks, packed, beside the network to read."""

from __future__ import annotations

from typing import Any

from tanbark.errors import TableTooLargeError
from tanbark.estimators.ensemble.classifier import PooledClassifier
from tanbark.estimators.ensemble.coarsening import merge_to
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import CLASS_PRIOR
from tanbark.explorer.packing import pack, pack_forest, pack_tree
from tanbark.graph import Network
from tanbark.inference import sparse_network

MOST_BYTES = 64_000_000  # of the packed arrays, as text


def pool_data(model: PooledClassifier, reading: Network) -> dict[str, Any]:
    """Describe all that the class posterior is computed from.

    Raises
    ------
    TableTooLargeError
        If the networks would take more than ``MOST_BYTES`` of text.
    """
    pooled, grid = model.model_, model.schema_
    kinds = list({id(member.coarsening): member.coarsening for member in pooled.members}.values())
    members, size = [], 0
    for place, member in enumerate(pooled.members):
        weight = float(pooled.weights[place])
        if weight > 0.0:
            found = {"kind": kinds.index(member.coarsening), "weight": weight, **_structure(member)}
            found["trees"] = [pack_tree(tree) for tree in member.trees]
            members.append(found)
            size += text_size(found)
            _check_size(size, model)
    return {
        "networks": len(pooled.members),
        "log_prior": pack(pooled.log_prior),
        "class_shapes": pack(pooled.class_counts + CLASS_PRIOR) if model.class_prior is None else None,
        **{name: getattr(pooled, name) for name in ("usual_missing", "fade", "temperature", "plain_temperature")},
        "limits": _limits(),
        "grid": [list(column.cuts) if column.kind == "interval" else None for column in grid.features],
        "reading": [pack(lookup[:-1]) for lookup in merge_to(grid, reading.schema).lookups],
        "kinds": [
            {"lookups": [pack(lookup[:-1]) for lookup in kind.lookups], "sizes": list(kind.schema.cardinalities)}
            for kind in kinds
        ],
        "members": members,
        "correction": None if pooled.trees is None else pack_forest(pooled.trees),
        "value_counts": [counts.tolist() for counts in model.value_counts_],
    }


def _structure(member: Member) -> dict[str, Any]:
    return {
        "columns": member.columns.tolist(),
        "order": list(member.order),
        "parents": [list(parents[1:]) for parents in member.parents],
    }


def _limits() -> dict[str, int]:
    """Return how large a sum over missing values may become, as in :mod:`tanbark.inference.sparse_network`."""
    from tanbark.inference.row_factor_kernels import MOST_AXES

    return {
        "entries": sparse_network.MOST_ENTRIES,
        "summed": sparse_network.MOST_SUMMED,
        "workspace": sparse_network.WORKSPACE,
        "axes": MOST_AXES,
    }


def text_size(found: Any) -> int:
    """Return the number of characters of all packed arrays in a document."""
    if isinstance(found, dict):
        return len(found["data"]) if set(found) == {"type", "data"} else sum(map(text_size, found.values()))
    return sum(map(text_size, found)) if isinstance(found, list) else 0


def _check_size(size: int, model: PooledClassifier) -> None:
    if size <= MOST_BYTES:
        return
    readable = hasattr(model, "network_")
    alone = " Or explore network_, the network to read, whose posteriors are its own." if readable else ""
    msg = (
        f"The page would hold more than {MOST_BYTES / 1e6:.0f} MB of networks, too much for a browser to open quickly. "
        f"Use fewer or smaller networks (n_estimators={model.n_estimators} and max_parents={model.max_parents} now)."
        f"{alone}"
    )
    raise TableTooLargeError(msg)
