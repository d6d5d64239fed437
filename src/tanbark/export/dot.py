"""DOT, the format of Graphviz: graphs can be written, not read."""

from __future__ import annotations

from tanbark.graph import Network


def dumps(network: Network) -> str:
    """Write the graph as DOT; the class is a double circle.

    >>> from tanbark.graph import Network
    >>> tables = {"A": [0.5, 0.5], "B": (("A",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> print(dumps(Network.from_tables({"A": "no yes".split(), "B": [0, 1]}, tables)), end="")
    digraph {
      n0 [label="A"];
      n1 [label="B"];
      n0 -> n1;
    }
    """
    lines = ["digraph {"]
    for node, name in enumerate(network.dag.names):
        shape = ", shape=doublecircle" if node == network.target else ""
        lines.append(f"  n{node} [label={_label(name)}{shape}];")
    lines += [f"  n{p} -> n{node};" for node, parents in enumerate(network.dag.parents) for p in parents]
    return "\n".join([*lines, "}"]) + "\n"


def _label(text: str) -> str:
    """Quote a label: Graphviz gives a backslash a meaning in labels, so that it is doubled."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{inner}"'
