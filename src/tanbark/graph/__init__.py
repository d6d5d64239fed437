"""Graphs: directed acyclic graphs, spanning trees, and the network that is left when the data are gone."""

from tanbark.graph.cpdag import Cpdag
from tanbark.graph.dag import Dag
from tanbark.graph.network import Network
from tanbark.graph.results import Assignment, Cost, Posterior, Posteriors
from tanbark.graph.spanning import direct_forest, maximum_spanning_forest

__all__ = [
    "Assignment",
    "Cost",
    "Cpdag",
    "Dag",
    "Network",
    "Posterior",
    "Posteriors",
    "direct_forest",
    "maximum_spanning_forest",
]
