import numpy as np
import pytest

from tanbark.table import CodedTable, Column, Schema, missing_code
from tanbark.table.coded import code_dtype


@pytest.mark.parametrize(
    ("states", "dtype"), [(2, np.uint8), (254, np.uint8), (255, np.uint16), (65534, np.uint16), (65535, np.uint32)]
)
def test_the_smallest_type_leaves_room_for_the_missing_code(states, dtype):
    assert code_dtype((2, states)) is dtype
    assert missing_code(np.zeros((1, 1), dtype)) >= states


def test_too_many_states_raise_an_error():
    with pytest.raises(OverflowError, match="cannot be coded"):
        code_dtype((2**32,))


def test_rows_are_counted_whatever_their_weights():
    schema = Schema((Column("x", levels=("a", "b")),), has_class=False)
    assert CodedTable(schema, np.zeros((1, 3), np.uint8), weights=np.zeros(3)).n_rows == 3
