"""Networks by hand: what is right is taken, and what is wrong is named."""

import numpy as np
import pytest

import tanbark as tb

STATES = {"rain": [False, True], "wet": ["no", "yes"], "cold": [0, 1]}
TABLES = {
    "rain": [0.8, 0.2],
    "wet": (("rain", "cold"), [[[0.9, 0.1], [0.8, 0.2]], [[0.2, 0.8], [0.1, 0.9]]]),
    "cold": ((), [0.5, 0.5]),
}


def build(states=STATES, tables=TABLES, **options):
    return tb.Network.from_tables(states, tables, **options)


def test_axes_run_over_the_parents_as_given():
    turned = build(tables={**TABLES, "wet": (("cold", "rain"), np.swapaxes(TABLES["wet"][1], 0, 1))})
    one = {"rain": True, "cold": 0}
    assert build().query("wet", one)["yes"] == pytest.approx(0.8)
    assert turned.query("wet", one)["yes"] == pytest.approx(0.8)
    assert build().schema.target == -1
    assert not build().is_augmented_naive
    assert "class" not in repr(build())


def test_the_class_becomes_the_last_column():
    network = build(target="rain")
    assert network.dag.names == ("wet", "cold", "rain")
    assert network.query("wet", {"rain": True, "cold": 0})["yes"] == pytest.approx(0.8)
    assert network.markov_blanket() == ["wet", "cold"]


@pytest.mark.parametrize(
    ("states", "tables", "message"),
    [
        (STATES, {**TABLES, "rain": (("wet",), [[0.5, 0.5]] * 2)}, "form a cycle"),
        (STATES, {**TABLES, "cold": [0.5, 0.4]}, "'cold' must sum to 1; they sum to 0.9"),
        (STATES, {**TABLES, "wet": (("rain",), [[0.5, 0.5], [0.5, 0.6]])}, "they sum to 1.1 where rain=True"),
        (STATES, {**TABLES, "wet": (("rain",), [0.5, 0.5])}, r"shape \(2, 2\), over 'rain' .* got \(2,\)"),
        (STATES, {**TABLES, "wet": (("rainy",), [[0.5, 0.5]] * 2)}, "parent 'rainy', .* Did you mean 'rain'"),
        (STATES, {**TABLES, "wet": (("rain", "rain"), np.full((2, 2, 2), 0.5))}, "'rain' more than once"),
        (STATES, {**TABLES, "wet": ("rain", [[0.5, 0.5]] * 2)}, "must be a tuple of names"),
        (STATES, {**TABLES, "wett": [0.5, 0.5]}, "CPT for 'wett', which has no states. Did you mean 'wet'"),
        (STATES, {"rain": [0.8, 0.2], "cold": [0.5, 0.5]}, "no CPT for 'wet'"),
        (STATES, {**TABLES, "cold": [1.5, -0.5]}, "must hold probabilities"),
        (STATES, {**TABLES, "cold": [np.nan, 1]}, "must hold probabilities"),
        (STATES, {**TABLES, "cold": ["a", "b"]}, "no array of numbers"),
        ({**STATES, "cold": [0, 0]}, TABLES, "must be different; 0 occurs"),
        ({**STATES, "cold": []}, TABLES, "has no states"),
        ({**STATES, "cold": "no"}, TABLES, "must be a list"),
        ({**STATES, "cold": [None, 1]}, TABLES, "states are strings, finite numbers or booleans"),
            ({**STATES, "cold": [float("inf"), 1]}, TABLES, "states are strings, finite numbers or booleans"),
        ({**STATES, 3: [0, 1]}, {**TABLES, 3: [0.5, 0.5]}, "must be a string"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(states, tables, message):
    with pytest.raises(tb.errors.InputError, match=message):
        build(states, tables)


def test_a_class_that_is_no_variable():
    with pytest.raises(tb.errors.InputError, match=r"got 'rainy'\. Did you mean 'rain'"):
        build(target="rainy")


def test_a_network_without_a_class_has_no_default_blanket():
    with pytest.raises(tb.errors.InputError, match="no class"):
        build().markov_blanket()
    assert build().markov_blanket("rain") == ["wet", "cold"]
    assert "wet ◀─ rain, cold" in str(build())
    assert list(build().table_frame("cold").columns) == ["cold=0", "cold=1"]


def test_arguments_are_not_kept():
    table = np.array([0.5, 0.5])
    network = build(tables={**TABLES, "cold": table})
    table[:] = 0
    assert network.table("cold").tolist() == [0.5, 0.5]
