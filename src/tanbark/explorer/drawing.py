"""The drawing of a network in the page: boxes, arcs, and how strongly each arc binds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanbark.draw.arrange import arrange
from tanbark.draw.layout import Point, name_box, shortened
from tanbark.graph import Network
from tanbark.inference.factors.junction import expected_counts, junction_tree
from tanbark.scores import conditional_mutual_information

MOST_DRAWN = 400  # variables beyond which no graph is drawn
FULL_UP_TO = 14  # variables whose states are shown in the drawing itself
MOST_STATES = 9  # states beyond which a box shows none of them
CARD_WIDTH, CARD_HEAD, CARD_STATE, CARD_FOOT = 176.0, 27.0, 20.0, 5.0
BOX_FOOT = 8.0  # room for the bar of a small box


def drawing(network: Network, names: Sequence[str]) -> dict[str, Any] | None:
    """Describe the drawing, or return None where there are too many variables for one.

    Every box is x, y, width and height. An arc is its parent, its child and the bends between them. ``strengths`` has
    the arcs in the order of the parents of every node.
    """
    if len(names) > MOST_DRAWN:
        return None
    labels = [shortened(name) for name in names]
    full = len(names) <= FULL_UP_TO
    boxes = [_box(label, size, full=full) for label, size in zip(labels, network.schema.cardinalities, strict=True)]
    found = arrange(network.dag, network.target, boxes)
    return {
        "labels": labels,
        "boxes": [[round(side) for side in found.places[node]] for node in range(len(names))],
        "size": [round(side) for side in found.size],
        "full": full,
        "sideways": found.sideways,
        "arcs": [[*arc, *(round(at) for point in route[1:-1] for at in point)] for arc, route in found.routes.items()],
        "hidden": list(found.hidden),
        "tray": found.tray and [round(side) for side in found.tray],
        "lone": list(found.lone),
        "strengths": arc_strengths(network),
    }


def _box(label: str, n_states: int, *, full: bool) -> Point:
    """Return the size of a box: a name over a bar, or over all states."""
    if full and n_states <= MOST_STATES:
        return CARD_WIDTH, CARD_HEAD + CARD_STATE * n_states + CARD_FOOT
    width, height = name_box(label)
    return (CARD_WIDTH if full else width), height + BOX_FOOT


def arc_strengths(network: Network) -> list[list[float]]:
    r"""Return for every node, by parent, the conditional mutual information of the two in bits.

    .. math:: I(X; P \mid \Pi \setminus P)

    with :math:`\Pi` the parents of :math:`X`: what the parent still tells of its child where the child's other parents
    are known. It is computed from the joint distribution of the family, which is exact. Four significant digits.
    """
    n = len(network.dag.names)
    nothing = np.array(network.schema.cardinalities, dtype=np.uint16).reshape(n, 1)  # a code past the states: missing
    families = expected_counts(junction_tree(network), network, nothing).counts
    found = []
    for node, parents in enumerate(network.dag.parents):
        axes = network.axes(node)
        strengths = []
        for parent in parents:
            others = [axis for axis in axes if axis not in (node, parent)]
            order = [axes.index(axis) for axis in (node, parent, *others)]
            table = families[node].transpose(order)
            bits = conditional_mutual_information(table.reshape(*table.shape[:2], -1)) / math.log(2)
            strengths.append(float(f"{bits:.4g}"))
        found.append(strengths)
    return found
