"""Columns and schemas describe themselves."""

import pytest

from tanbark.errors import InputError
from tanbark.table import Column, Schema

SCHEMA = Schema((Column("a", levels=("u", "v")), Column("b", "interval", "number", cuts=(1.0, 2.0)), Column("class")))


def test_states_and_labels():
    assert SCHEMA.cardinalities == (2, 3, 1)
    assert SCHEMA.columns[0].states() == ("u", "v")
    assert SCHEMA.columns[1].states() == ("≤ 1", "1 to 2", "> 2")
    assert SCHEMA.columns[2].states() == ("(never observed)",)
    assert Column("x", "interval", "number").labels() == ["any number"]


def test_close_cut_points_get_enough_digits():
    labels = Column("x", "interval", "number", cuts=(1.00001, 1.00002, 1.00002 + 1e-15)).labels()
    assert len(set(labels)) == 4


def test_columns_are_found_by_name_or_position():
    assert [SCHEMA.index("b"), SCHEMA.index(0), SCHEMA.target] == [1, 0, 2]
    with pytest.raises(InputError, match=r"no column 'clas'. Did you mean 'class'\? The columns are"):
        SCHEMA.index("clas")
    for strange in (True, 3, -1):
        with pytest.raises(InputError, match="no column"):
            SCHEMA.index(strange)


def test_same_names_are_refused():
    with pytest.raises(InputError, match=r"\['a'\] occur more than once"):
        Schema((Column("a"), Column("a")))
