"""The network that a scorer is written from."""

from __future__ import annotations

from typing import Any

from tanbark.errors import OptionError
from tanbark.graph import Network


def is_pooled(model: Any) -> bool:
    """Return whether a model pools several networks; it is not loaded to find out."""
    return hasattr(type(model), "networks_")


def scored_network(model: Any, purpose: str) -> Network:
    """Return a network with a class, or that of a classifier whose predictions are those of its network.

    ``purpose`` begins the message of the error for anything else.
    """
    if getattr(getattr(model, "parameters_", None), "corrects", False):
        msg = (
            f"{purpose} by a network alone, and this {type(model).__name__} corrects what its network predicts. Use "
            "Discriminative(normalize=True), or export network_, which predicts without the correction."
        )
        raise OptionError(msg)
    if is_pooled(model):
        msg = (
            f"{purpose} by one network, and this {type(model).__name__} pools many. Use to_python, or a classifier "
            "with one network, such as TAN or KDB; network_ of Classifier can be exported too, but predicts less well."
        )
        raise OptionError(msg)
    network = getattr(model, "network_", model)
    if not isinstance(network, Network) or not network.schema.has_class:
        msg = f"{purpose} for a class; pass a network with a class, or a classifier with one network, such as TAN."
        raise OptionError(msg)
    return network
