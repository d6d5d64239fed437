"""Graphs: directed acyclic graphs, spanning trees, and the network that is left when the data are gone."""

from tanbark.graph.dag import Dag
from tanbark.graph.drawing import draw
from tanbark.graph.network import Network
from tanbark.graph.trees import direct_forest, maximum_spanning_forest

__all__ = ["Dag", "Network", "direct_forest", "draw", "maximum_spanning_forest"]
