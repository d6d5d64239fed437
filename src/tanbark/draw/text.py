"""Networks as text."""

from __future__ import annotations

from textwrap import fill

from tanbark.graph.dag import Dag

WIDTH = 100


def draw(dag: Dag, target: int = -1) -> str:
    """Draw a graph as text: as a tree where every feature has at most one feature parent, else as a list.

    >>> names = ("A", "B", "W", "class")
    >>> print(draw(Dag(names, ((3,), (2, 3), (0, 3), ())), 3))
    class ─▶ every feature
    A
    └─ W
       └─ B
    """
    features = [node for node in range(len(dag.names)) if node != target]
    inner = {node: [p for p in dag.parents[node] if p != target] for node in features}
    augmented = target >= 0 and not dag.parents[target] and all(target in dag.parents[node] for node in features)
    if not augmented or any(len(parents) > 1 for parents in inner.values()):
        return "\n".join(_family_line(dag, node) for node in dag.order)
    name = dag.names[target]
    if not any(inner.values()):
        listed = ", ".join(dag.names[node] for node in features) or "(no features)"
        return fill(
            f"{name} ─▶ {listed}", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    lines = [f"{name} ─▶ every feature"]
    for node in features:
        if not inner[node]:
            lines += [dag.names[node], *_branches(dag, node, target)]
    return "\n".join(lines)


def _family_line(dag: Dag, node: int) -> str:
    parents = ", ".join(dag.names[p] for p in dag.parents[node])
    return f"{dag.names[node]} ◀─ {parents}" if parents else dag.names[node]


def _branches(dag: Dag, root: int, target: int) -> list[str]:
    """Draw the children of a node below it, depth first, without recursion (a tree may be a long chain)."""
    lines = []
    stack = [(child, "") for child in reversed([c for c in dag.children[root] if c != target])]
    last = {root: max((c for c in dag.children[root] if c != target), default=-1)}
    while stack:
        node, indent = stack.pop()
        parent = next(p for p in dag.parents[node] if p != target)
        ends = node == last[parent]
        lines.append(f"{indent}{'└─ ' if ends else '├─ '}{dag.names[node]}")
        children = [c for c in dag.children[node] if c != target]
        last[node] = max(children, default=-1)
        stack += [(child, indent + ("   " if ends else "│  ")) for child in reversed(children)]
    return lines
