"""A recorder of structures in place of cross-validation."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts


class Recorder:
    """An evaluator that scores structures by a function, and keeps which were scored since each settled one."""

    best_possible = 1e9
    at_once = 2

    def __init__(self, score):
        self._score, self.settled, self.scored = score, [], []

    def prefetch(self, structures):
        pass

    def settle(self, structure):
        self.settled.append(structure)
        self.scored.append([])

    def score(self, structure):
        self.scored[-1].append(structure)
        return self._score(structure)


@pytest.fixture
def counts():
    """Four features, the third of which has one state."""
    return MemoryCounts(make_table(np.random.default_rng(0), (2, 2, 1, 2, 2), 20))


@pytest.fixture
def recorder():
    return Recorder
