"""Evidence in names and states becomes columns and codes."""

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from networks import asia
from tanbark.errors import InputError
from tanbark.graph import Dag, Network
from tanbark.inference.evidence import column_index, is_batch, read_evidence, read_rows, read_soft, target_indices
from tanbark.table import Column, Schema


def test_soft_evidence_by_name_and_by_order():
    network = asia()
    by_order = network.query("lung", soft={"xray": [0.8, 0.1]})
    by_name = network.query("lung", soft={"xray": {"no": 10, "yes": 80}})
    assert by_order.values == approx(by_name.values)
    certain = network.query("lung", soft={"xray": [1, 0]})
    assert certain.values == approx(network.query("lung", {"xray": "yes"}).values)
    assert network.probability_of_evidence(soft={"xray": [0.5, 0.5]}) == approx(0.5)


def test_numbers_fall_into_intervals():
    columns = (
        Column("age", "interval", "number", cuts=(18.0, 65.0)),
        Column("ill", "category", "boolean", (False, True)),
    )
    tables = (np.array([0.2, 0.5, 0.3]), np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]]))
    network = Network(Schema(columns, has_class=False), Dag(("age", "ill"), ((), (0,))), tables)
    assert network.query("ill", {"age": 18})[True] == approx(0.1)
    assert network.query("ill", {"age": 18.5})[True] == approx(0.2)
    assert network.query("ill", {"age": "> 65"})[True] == approx(0.6)
    frame = pd.DataFrame({"age": [3.0, 99.0, np.nan]})
    assert network.query("ill", frame).values[:, 1] == approx([0.1, 0.6, 0.3])


def test_names_and_numbers_find_columns():
    network = asia()
    assert column_index(network, "smoke") == column_index(network, np.int64(2)) == 2
    assert target_indices(network, ["dysp", 0]) == (7, 0)
    for wrong in ("smok", 8, -1, True, 2.0):
        with pytest.raises(InputError, match="no variable"):
            column_index(network, wrong)


def test_missing_values_are_not_evidence():
    assert read_evidence(asia(), {"smoke": "no", "dysp": None, "xray": float("nan")}) == {2: 1}
    assert read_evidence(asia(), None) == {}


def test_likelihoods_are_scaled():
    found, scale = read_soft(asia(), {"xray": [0.2, 0.4]}, ())
    assert found[6].tolist() == [0.5, 1.0]
    assert scale == approx(np.log(0.4))


def test_rows_of_a_frame():
    frame = pd.DataFrame({"dysp": ["no", None], "asia": ["yes", "no"]})
    columns, codes, missing = read_rows(asia(), frame)
    assert columns == (7, 0)
    assert codes[:, 1].tolist() == [0, 1]
    assert missing.tolist() == [[False, False], [True, False]]
    assert is_batch(frame)
    assert not is_batch({"dysp": "no"})
