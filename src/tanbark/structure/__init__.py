"""Structure learners: each maps an engine of counts to a graph."""

from tanbark.structure.registry import LEARNERS, Learner
from tanbark.structure.result import Learnt

__all__ = ["LEARNERS", "Learner", "Learnt"]
