"""What a scorer is written from: a network and its correction, or pooled networks."""

from __future__ import annotations

from typing import Any

from tanbark.errors import OptionError
from tanbark.graph import Network
from tanbark.table import Schema


def is_pooled(model: Any) -> bool:
    """Return whether a model pools several networks; it is not loaded to find out."""
    return hasattr(type(model), "networks_")


def pooled_model(model: Any) -> tuple[Any, Schema]:
    """Return the pooled networks of a fitted ensemble, and its columns."""
    if not hasattr(model, "model_"):
        msg = f"This {type(model).__name__} is not fitted yet. Call fit first."
        raise OptionError(msg)
    return model.model_, model.schema_


def correction_of(model: Any) -> Any:
    """Return the boosted correction of a classifier with one network, or None."""
    parameters: Any = getattr(model, "parameters_", None)
    return parameters.correction_ if getattr(parameters, "corrects", False) else None


def scored_network(model: Any, purpose: str) -> Network:
    """Return a network with a class, or that of a classifier with one network.

    ``purpose`` begins the message of the error for anything else.
    """
    network = getattr(model, "network_", model)
    if not isinstance(network, Network) or not network.schema.has_class:
        msg = f"{purpose} for a class; pass a network with a class, or a classifier with one network, such as TAN."
        raise OptionError(msg)
    transformer = getattr(getattr(model, "encoder_", None), "transformer", None)
    if transformer is not None:
        msg = (
            f"{purpose} from raw values, but this model's intervals are those of {type(transformer).__name__}, which "
            "cannot be exported. Fit with a named way such as discretize='mdlp', or export network_ and transform rows."
        )
        raise OptionError(msg)
    return network
