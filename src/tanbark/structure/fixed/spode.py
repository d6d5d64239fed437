"""Super-parent one-dependence estimator: one feature is a parent of all the others."""

from __future__ import annotations

import numpy as np

from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.scores import mutual_information
from tanbark.structure.fixed.kdb import feature_order
from tanbark.structure.result import Learnt
from tanbark.structure.rules import find_column


def learn(counts: CountEngine, *, superparent: str | int | None = None) -> Learnt:
    """Make one feature a parent of all others, besides the class.

    By default it is the feature of highest mutual information with the class; ties go to the earlier column. Keogh and
    Pazzani (1999), Learning augmented Bayesian classifiers.
    """
    schema = counts.schema
    n, target = len(schema.features), schema.target
    if superparent is None:
        tables = counts.tables([(i, target) for i in range(n)])
        chosen = feature_order(np.array([mutual_information(table) for table in tables]))[0]
    else:
        chosen = find_column("superparent", superparent, schema.names[:n])
    return Learnt(Dag.augmented(schema.names, [() if i == chosen else (chosen,) for i in range(n)]))
