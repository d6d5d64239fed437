"""Corrections to plain lists and back."""

import json
from itertools import islice

import numpy as np
import pytest

from tanbark.errors import ModelFileError
from tanbark.params.boosting.correction import add_corrections, grow_families, run_rounds
from tanbark.params.boosting.correction_file import list_families, read_families

SIZES = (3, 2, 4, 2, 3)


def boosted(families=((0, 1, 2), (1,), (2, 3), (3, 0)), missing=0.1):
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(0, size, 60) for size in SIZES], np.uint8)
    codes[:-1][rng.random((4, 60)) < missing] = 255
    found, contexts = grow_families(codes, families, SIZES, 3)
    list(islice(run_rounds([found], [contexts], codes[-1], np.zeros((60, 3)), penalty=1.0), 3))
    return found, codes


@pytest.mark.parametrize("families", [((0, 1, 2), (1,), (2, 3), (3, 0)), ((2,),), ()])
def test_a_round_trip_brings_every_number_back(families):
    found, codes = boosted(families)
    again = read_families(json.loads(json.dumps(list_families(found))), SIZES, 3)
    for name in found._fields:
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name), err_msg=name)
    both = np.zeros((60, 3)), np.zeros((60, 3))
    add_corrections(found, codes, both[0])
    add_corrections(again, codes, both[1])
    np.testing.assert_array_equal(*both)


def test_a_family_that_was_always_missing_has_a_root_only():
    codes = np.full((5, 4), 255, np.uint8)
    codes[-1] = 0
    found, _ = grow_families(codes, [(0, 1)], SIZES, 3)
    again = read_families(list_families(found), SIZES, 3)
    np.testing.assert_array_equal(again.children, found.children)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("columns", [0, 0, 2]), ("columns", []), ("columns", [4]), ("columns", ["a"]), ("above", [99]), ("states", [3]),
        ("sums", [[1.0, 2.0]]), ("sums", [[1.0, 2.0, "x"]]), ("sums", 3), ("above", [0, 0, 0]),
    ],
)  # fmt: skip
def test_what_does_not_fit_raises(place, value):
    document = list_families(boosted()[0])
    document[0][place] = value
    with pytest.raises(ModelFileError):
        read_families(document, SIZES, 3)


def test_contexts_out_of_order_or_twice_raise():
    for change in (lambda f: f["above"].reverse(), lambda f: f.update(states=[0] * len(f["states"]))):
        document = list_families(boosted()[0])
        change(document[0])
        with pytest.raises(ModelFileError):
            read_families(document, SIZES, 3)
