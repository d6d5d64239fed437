"""R bnclassify 0.4.8: wrapper searches on given folds of the car evaluation table; wrappers.json holds its numbers.

R lists the candidates of tan_hc in one direction only, and those of both in another order, which decides ties.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

import tanbark as tb
from car import car_table
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.structure.wrapper.search import Candidate, ancestors, naive_start, replaced, search

NUMBERS = json.loads((Path(__file__).parent / "wrappers.json").read_text(encoding="utf-8"))
RUNS = sorted(NUMBERS["runs"])
FOLDS = np.array([int(digit) - 1 for digit in NUMBERS["folds"]])


@pytest.fixture(scope="module")
def car():
    table = car_table()
    schema = tb.NaiveBayes().fit(table.drop(columns="class"), table["class"]).schema_
    codes = np.stack([np.unique(table[name], return_inverse=True)[1] for name in schema.names])
    return codes.astype(np.uint8), SimpleNamespace(schema=schema)


def options_of(run):
    return {part.split()[0]: float(part.split()[1]) for part in run.split(", ")}


def evaluator(car, run):
    codes, counts = car
    return FoldEvaluator(codes, counts.schema, FOLDS, alpha=options_of(run)["alpha"])


def learn(car, learner, run, **options):
    return tb.LEARNERS[learner].learn(car[1], evaluate=evaluator(car, run), tol=options_of(run)["tol"], **options)


def families(dag):
    names = dag.names
    return {names[i]: {names[p] for p in parents} for i, parents in enumerate(dag.parents[:-1]) if parents}


def families_of_r(found):
    return {line.split()[0]: set(line.split()[1:]) for line in found["families"]}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("learner", "theirs", "options"),
    [
        ("tan-hcsp", "tan_hcsp", {}),
        ("fssj", "fssj", {}),
        ("bsej", "bsej", {}),
        ("kdb-hc", "kdb", {"max_parents": 2}),
    ],
)
def test_every_step_and_the_final_graph_are_those_of_r(car, run, learner, theirs, options):
    expected = NUMBERS["runs"][run][theirs]
    found = learn(car, learner, run, **options)
    assert [step.score for step in found.history] == approx(expected["scores"], abs=1e-9)
    assert families(found.dag) == families_of_r(expected)


def candidates_of_r(structure):
    """List the arcs of tan_hc as R does: from features with a parent, then others; of both directions the later one."""
    orphans = [f for f, parents in enumerate(structure) if not parents]
    rest = [f for f, parents in enumerate(structure) if parents]
    listed = []
    for x in (*rest, *orphans):
        above = ancestors(structure, x)
        children = [y for y in orphans if y > x] + [y for y in orphans if y < x] if x in orphans else orphans
        listed += [(x, y) for y in children if y not in above]
    for place, (x, y) in enumerate(listed):
        if len(orphans) > 1 and (y, x) not in listed[place:]:
            yield Candidate("", replaced(structure, y, (x,)))


@pytest.mark.parametrize("run", RUNS)
def test_with_its_candidates_tan_hc_takes_the_steps_of_r(car, run):
    expected, counts = NUMBERS["runs"][run]["tan_hc"], car[1]
    tol = options_of(run)["tol"]
    found = search(counts, evaluator(car, run), naive_start(counts), candidates_of_r, tol=tol, verbose=False)
    assert [step.score for step in found.history] == approx(expected["scores"], abs=1e-9)
    assert families(found.dag) == families_of_r(expected)


def test_tan_hc_tries_both_directions_at_each_step(car):
    for run in RUNS:
        theirs, mine = NUMBERS["runs"][run]["tan_hc"]["scores"], learn(car, "tan-hc", run).history
        assert mine[1].candidates == 6 * 5
        assert [step.score for step in mine[:4]] == approx(theirs[:4], abs=1e-9)  # ties part them only after
