"""The compiled loops over graphs: union-find, the orientation of edges, and connected groups.

A partially directed graph is a square array of bits: ``adjacent[a, b]`` for a -> b, both ways for an undirected edge.
Most loops are quadratic in the number of nodes; the rules of orientation look at triples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel, tiered


@kernel
def find_root(root: Array, node: int) -> int:
    """Find the representative of a node's set in a union-find forest, halving the path to it."""
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


@kernel
def join_roots(root: Array, a: int, b: int) -> bool:
    """Unite the sets of two nodes under their lower representative; return whether they were different."""
    a, b = find_root(root, a), find_root(root, b)
    root[max(a, b)] = min(a, b)
    return a != b


@tiered(lambda first, second, order, n: 8 * order.size)
def join_pairs(first: Array, second: Array, order: Array, n: int) -> Array:
    """Take pairs in order, except those that close a cycle; return the positions of the taken ones (Kruskal)."""
    root = np.arange(n)
    taken = np.empty(max(n - 1, 0), np.int64)
    found = 0
    for position in range(len(order)):
        if found == n - 1:
            break
        pair = order[position]
        if join_roots(root, first[pair], second[pair]):
            taken[found] = pair
            found += 1
    return taken[:found]


@kernel
def _in_separator(node: int, a: int, b: int, separators: Any) -> int:
    """Return whether a node is in the separating set of a pair: 1 yes, 0 no, -1 where no set is known."""
    where, pool = separators
    at = where[a, b]
    if at < 0:
        return -1
    for place in range(at + 1, at + 1 + pool[at]):
        if pool[place] == node:
            return 1
    return 0


@kernel
def _leads(start: int, goal: int, adjacent: Array, seen: Array, stack: Array) -> bool:
    """Return whether a directed path leads from one node to another."""
    n = len(adjacent)
    seen[:] = False
    stack[0], size = start, 1
    seen[start] = True
    while size:
        size -= 1
        node = stack[size]
        for other in range(n):
            if adjacent[node, other] and not adjacent[other, node] and not seen[other]:
                if other == goal:
                    return True
                seen[other] = True
                stack[size] = other
                size += 1
    return False


@kernel
def orient_colliders(adjacent: Array, nodes: Array, separators: Any, ambiguous: Array) -> None:
    """Direct the edges of x - z - y into z where z did not separate x and y.

    All such arrows are collected first and then drawn in order; a pair that is wanted both ways is marked as
    ambiguous, and an arrow that would close a cycle is not drawn.
    """
    n = len(adjacent)
    # wanted[x, z]: the arrow x -> z of some v-structure x -> z <- y; conflicts show only when all are known
    wanted = np.zeros((n, n), np.bool_)
    around = np.empty(n, np.int64)
    for z in nodes:
        size, loose = 0, False
        for x in range(n):
            if adjacent[x, z]:
                around[size] = x
                size += 1
                loose = loose or adjacent[z, x]
        if not loose:
            continue
        for i in range(size):
            x = around[i]
            for j in range(i + 1, size):
                y = around[j]
                open_x, open_y = adjacent[z, x] and not wanted[x, z], adjacent[z, y] and not wanted[y, z]
                if not (open_x or open_y) or adjacent[x, y] or adjacent[y, x]:
                    continue
                if _in_separator(z, x, y, separators) == 0:
                    wanted[x, z] = wanted[x, z] or adjacent[z, x]
                    wanted[y, z] = wanted[y, z] or adjacent[z, y]
    seen, stack = np.empty(n, np.bool_), np.empty(n, np.int64)
    for a in range(n):
        for b in range(n):
            if wanted[a, b]:
                if wanted[b, a]:
                    ambiguous[a, b] = True
                elif not _leads(b, a, adjacent, seen, stack):
                    adjacent[b, a] = False


@kernel
def _must_point(a: int, b: int, adjacent: Array, guarded: bool, separators: Any) -> bool:
    """Return whether one of Meek's rules 1 to 3 orients a - b as a -> b; guarded, a must have separated the pair."""
    n = len(adjacent)
    for c in range(n):
        if not adjacent[c, a] and not adjacent[a, c]:
            continue
        into_a, out_of_a = adjacent[c, a] and not adjacent[a, c], adjacent[a, c] and not adjacent[c, a]
        linked = adjacent[c, b] or adjacent[b, c]
        # rule 1: c -> a - b with c and b apart, or a - b would make a v-structure
        if into_a and c != b and not linked and (not guarded or _in_separator(a, c, b, separators) == 1):
            return True
        into_b = adjacent[c, b] and not adjacent[b, c]
        # rule 2: a -> c -> b, or b -> a would close a cycle
        if out_of_a and into_b:
            return True
        # rule 3: a - c -> b and a - d -> b with c and d apart: b -> a would force c -> a <- d, a new v-structure
        if into_b and not into_a and not out_of_a:
            for d in range(c + 1, n):
                open_d = adjacent[a, d] and adjacent[d, a] and adjacent[d, b] and not adjacent[b, d]
                apart = open_d and not adjacent[c, d] and not adjacent[d, c]
                if apart and (not guarded or _in_separator(a, c, d, separators) == 1):
                    return True
    return False


@kernel
def orient_by_rules(
    adjacent: Array, nodes: Array, inside: Array, guard: int, separators: Any, ambiguous: Array
) -> None:
    """Direct undirected edges between ``nodes`` by Meek's rules until nothing changes; never close a cycle.

    ``guard`` 0 trusts every unshielded triple, 1 only those whose middle separated its ends, 2 the same for edges that
    are marked as ambiguous.
    """
    n = len(adjacent)
    seen, stack = np.empty(n, np.bool_), np.empty(n, np.int64)
    pointed = np.zeros(n, np.bool_)  # whether an arrow leads into a node: every rule for a - b needs one into a or b
    for a in range(n):
        for b in range(n):
            pointed[b] |= adjacent[a, b] and not adjacent[b, a]
    changed = True
    while changed:
        changed = False
        for a in nodes:
            for b in range(n):
                if not inside[b] or not adjacent[a, b] or not adjacent[b, a]:
                    continue
                if pointed[a] or pointed[b]:
                    guarded = guard == 1 or (guard == 2 and (ambiguous[a, b] or ambiguous[b, a]))
                    if _must_point(a, b, adjacent, guarded, separators) and not _leads(b, a, adjacent, seen, stack):
                        adjacent[b, a] = False
                        pointed[b], changed = True, True


@kernel
def list_neighbours(adjacent: Array) -> tuple[Array, Array]:
    """List the nodes that an edge of any kind joins to each node; those of v are ``near[v, : degree[v]]``."""
    n = len(adjacent)
    near, degree = np.empty((n, n), np.int64), np.zeros(n, np.int64)
    for v in range(n):
        for u in range(v + 1, n):
            if adjacent[u, v] or adjacent[v, u]:
                near[v, degree[v]], near[u, degree[u]] = u, v
                degree[v] += 1
                degree[u] += 1
    return near, degree


@kernel
def _cost_of_sink(adjacent: Array, near: Array, left: Array, v: int) -> tuple[int, int]:
    """Count what making v a sink would break: arrows out of it, and new unshielded pairs of its neighbours."""
    out, bad = 0, 0
    for u in near:
        if not left[u]:
            continue
        out += adjacent[v, u] and not adjacent[u, v]
        if adjacent[u, v] and adjacent[v, u]:
            for w in near:
                bad += left[w] and w != u and not (adjacent[u, w] or adjacent[w, u])
    return out, bad


@kernel
def extend(adjacent: Array, near: Array, degree: Array, late: int = -1, after: int = -1) -> int:
    """Direct all edges so that no cycle is left, one sink after another; return how often a rule was broken.

    The sink is the node with the fewest arrows out, then the fewest unshielded pairs, then the lowest index. The
    neighbours are those of :func:`list_neighbours`. ``late`` is taken out when no other node can be without
    breaking a rule, so that as little as possible leads into it, and ``after``, if it can be, right after it.
    """
    n = len(adjacent)
    # Dor and Tarsi: a sink whose undirected neighbours see all its neighbours can be taken out; costs are kept until a
    # neighbour goes.
    left = np.ones(n, np.bool_)
    cost, stale = np.zeros((n, 2), np.int64), np.ones(n, np.bool_)
    broken, before = 0, -1
    for _ in range(n):
        best = -1
        for number in range(-1, n):
            v = after if number < 0 else number
            if v < 0 or not left[v] or (number < 0 and (before < 0 or before != late)):
                continue
            if stale[v]:
                cost[v, 0], cost[v, 1] = _cost_of_sink(adjacent, near[v, : degree[v]], left, v)
                stale[v] = False
            if number < 0 and (cost[v, 0] > 0 or cost[v, 1] > 0):
                continue
            dearer = best >= 0 and (cost[v, 0], cost[v, 1]) > (cost[best, 0], cost[best, 1])
            alike = best >= 0 and cost[v, 0] == cost[best, 0] and cost[v, 1] == cost[best, 1]
            if not dearer and (not alike or best == late):
                best = v
            if best != late and cost[best, 0] == 0 and cost[best, 1] == 0:
                break
        broken += cost[best, 0] > 0 or cost[best, 1] > 0
        left[best], before = False, best
        for u in near[best, : degree[best]]:
            if left[u]:
                adjacent[u, best], adjacent[best, u] = True, False
                stale[u] = True
    return broken


@kernel
def strong_groups(adjacent: Array, nodes: Array) -> tuple[Array, Array]:
    """Number the strongly connected groups among ``nodes``, and mark the groups that an edge leads away from.

    Tarjan's algorithm without recursion; the numbers are by position in ``nodes``.
    """
    # index: order of discovery; low: the lowest index that is reached; waiting: nodes whose group is still open.
    n = len(nodes)
    index, low = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    group, left = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    path, place = np.empty(n, np.int64), np.zeros(n, np.int64)
    waiting, n_waiting, counter, n_groups = np.empty(n, np.int64), 0, 0, 0
    for start in range(n):
        if index[start] >= 0:
            continue
        path[0], depth = start, 1
        while depth:
            v = path[depth - 1]
            if index[v] < 0:
                index[v] = low[v] = counter
                counter += 1
                waiting[n_waiting] = v
                n_waiting += 1
            deeper = False
            while place[v] < n and not deeper:
                w = place[v]
                if adjacent[nodes[v], nodes[w]]:
                    if index[w] < 0:
                        path[depth] = w
                        depth += 1
                        deeper = True
                        break
                    if group[w] < 0:
                        low[v] = min(low[v], low[w])
                    else:
                        left[v] = True
                place[v] += 1
            if deeper:
                continue
            depth -= 1
            if low[v] == index[v]:
                w = -1
                while w != v:
                    n_waiting -= 1
                    w = waiting[n_waiting]
                    group[w] = n_groups
                n_groups += 1
    leads = np.zeros(n_groups, np.bool_)
    for v in range(n):
        leads[group[v]] |= left[v]
    return group, leads


@kernel
def loose_groups(adjacent: Array, nodes: Array) -> Array:
    """Number the groups among ``nodes`` that edges of any kind connect, by their first members."""
    n = len(nodes)
    group, stack = np.full(n, -1, np.int64), np.empty(n, np.int64)
    n_groups = 0
    for start in range(n):
        if group[start] >= 0:
            continue
        group[start], stack[0], size = n_groups, start, 1
        while size:
            size -= 1
            v = stack[size]
            for w in range(n):
                if group[w] < 0 and (adjacent[nodes[v], nodes[w]] or adjacent[nodes[w], nodes[v]]):
                    group[w], stack[size] = n_groups, w
                    size += 1
        n_groups += 1
    return group
