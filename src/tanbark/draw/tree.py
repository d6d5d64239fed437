"""Tidy drawings of trees: parents centred over their children, equal subtrees drawn alike, narrow.

The subtrees of a node are laid out first and then pushed together, as far as their contours allow, once from the first
to the last and once from the last to the first. The mean of the two keeps every distance that both keep, and leaves
small subtrees in the middle between large ones.

References
----------
Reingold and Tilford (1981), Tidier drawings of trees, sections II and III. Kennedy (1996), Functional pearl: drawing
trees, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

Contour = list[tuple[float, float]]  # the first and the last edge on every level, from the root of a subtree down


def tidy_tree(
    children: Sequence[Sequence[int]], root: int, breadths: Sequence[float], *, gap: float
) -> tuple[dict[int, float], list[list[int]]]:
    """Place the nodes of a tree across its levels.

    Parameters
    ----------
    children : sequence of sequences of int
        The children of every node, in the order in which they are drawn.
    root : int
    breadths : sequence of float
        The size of every box across the direction in which the tree grows.
    gap : float
        The least distance between boxes of a level.

    Returns
    -------
    places : dict of node to float
        The centre of every box, from 0 at the first edge of the whole tree.
    levels : list of lists of int
        The nodes by depth, each level in the order of its places.

    Examples
    --------
    >>> places, levels = tidy_tree([[1, 2], [], []], 0, [10.0, 10.0, 10.0], gap=2.0)
    >>> places[0], places[1], places[2], levels
    (11.0, 5.0, 17.0, [[0], [1, 2]])
    """
    levels = [[root]]
    while levels[-1]:
        levels.append([child for node in levels[-1] for child in children[node]])
    levels.pop()
    shifts = {root: 0.0}
    contours: dict[int, Contour] = {}
    for node in (node for level in reversed(levels) for node in level):
        contour: Contour = [(-breadths[node] / 2, breadths[node] / 2)]
        if children[node]:
            parts = [contours.pop(child) for child in children[node]]
            found = _side_by_side(parts, gap)
            middle = (found[0] + found[-1]) / 2
            placed = [place - middle for place in found]
            shifts.update(zip(children[node], placed, strict=True))
            contour += _union(parts, placed)
        contours[node] = contour
    places = {root: -min(low for low, _ in contours[root])}
    for level in levels:
        for node in level:
            places.update({child: places[node] + shifts[child] for child in children[node]})
    return places, levels


def _side_by_side(contours: Sequence[Contour], gap: float) -> list[float]:
    """Return where the roots of subtrees stand beside one another, the first at 0."""
    forward = _packed(contours, gap)
    mirrored = [[(-high, -low) for low, high in contour] for contour in reversed(contours)]
    backward = [forward[-1] - place for place in reversed(_packed(mirrored, gap))]
    return [(one + other) / 2 for one, other in zip(forward, backward, strict=True)]


def _packed(contours: Sequence[Contour], gap: float) -> list[float]:
    """Push every subtree as far as those before it allow."""
    places = [0.0]
    edge = [high for _, high in contours[0]]
    for contour in contours[1:]:
        place = max(high + gap - low for high, (low, _) in zip(edge, contour, strict=False))
        places.append(place)
        edge = [place + high for _, high in contour] + edge[len(contour) :]
    return places


def _union(contours: Sequence[Contour], places: Sequence[float]) -> Contour:
    """Return the contour of subtrees that stand at their places."""
    found: Contour = []
    for contour, place in zip(contours, places, strict=True):
        moved = [(low + place, high + place) for low, high in contour]
        both = [(one[0], other[1]) for one, other in zip(found, moved, strict=False)]
        found = both + (found[len(moved) :] or moved[len(found) :])
    return found
