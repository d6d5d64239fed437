"""Sparse candidate search: hill climbing among a few candidate parents, chosen again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.graph import Dag, Network
from tanbark.graph.trees import falling_order, pair_indices
from tanbark.params.dirichlet import Smoothing, family_counts, fit
from tanbark.scores import mutual_information
from tanbark.structure.gains import Gains
from tanbark.structure.hill_climb import MAX_CELLS, Arcs, Walk, blanket, climb, generator, make_rules
from tanbark.structure.history import History, Step
from tanbark.structure.kdb import check_count
from tanbark.structure.result import Learnt
