"""The contexts of a family with hierarchical smoothing, and the order in which its parents form them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.params.hierarchical.context_tree import ContextTree


class HierarchicalFamily(NamedTuple):
    """The contexts of a family with hierarchical smoothing, and the axes of its parents as contexts grow."""

    tree: ContextTree
    order: list[int]


def context_tree(counts: NDArray[Any], axis: int) -> HierarchicalFamily:
    """Return the contexts of a family with at least one parent, and the axes of its parents as contexts grow."""
    return fit_family(counts, axis)[0]


def fit_family(counts: NDArray[Any], axis: int) -> tuple[HierarchicalFamily, Floats]:
    """Return the contexts of a family with at least one parent, and the prior mass of its cells."""
    from tanbark.params.hierarchical import hierarchical_kernels as kernels

    flat, shape = np.asarray(counts, np.float64).ravel(), np.array(counts.shape, np.int64)
    order = kernels.order_parents(flat, shape, axis)
    tree, mass = kernels.fit_family(flat, shape, axis, order)
    return HierarchicalFamily(ContextTree(*tree), order.tolist()), mass.reshape(counts.shape)


def parent_order(counts: NDArray[Any], node: int) -> list[int]:
    """Order the axes of the parents: the class, the only axis after the node, and the rest by falling information."""
    if node < 2:
        return [*range(node + 1, counts.ndim), *range(node)]
    from tanbark.params.hierarchical import hierarchical_kernels as kernels

    flat, shape = np.asarray(counts, np.float64).ravel(), np.array(counts.shape, np.int64)
    order: list[int] = kernels.order_parents(flat, shape, node).tolist()
    return order


def class_information(counts: NDArray[Any], node: int) -> float:
    """Return the mutual information of a node with the class, the last axis of its family."""
    from tanbark.params.hierarchical import hierarchical_kernels as kernels

    flat, shape = np.asarray(counts, np.float64).ravel(), np.array(counts.shape, np.int64)
    return float(kernels.class_gain(flat, shape, node))
