"""BIF: blocks of plain rows are read at once, with the same result as token by token."""

import random

import numpy as np
import pytest

from networks import asia, five_nodes
from tanbark.errors import TanbarkError
from tanbark.export import bif


def read(text):
    try:
        network = bif.loads(text)
    except TanbarkError as error:
        return str(error)
    return network.dag, [table.tolist() for table in network.tables]


def mutate(text, draw):
    place, action = draw.randrange(len(text)), draw.randrange(4)
    if action == 0:
        piece = draw.choice([",", ";", "(", ")", "}", " ", "0", "table", "default", "-", "nan", '"', "\n", "[", "|"])
        return text[:place] + piece + text[place:]
    if action == 1:
        return text[:place] + text[place + draw.choice([1, 2, 9]) :]
    other = draw.randrange(len(text))
    return text[:place] + text[other : other + draw.choice([1, 5, 30])] + text[place + action :]


@pytest.mark.parametrize("make", [asia, five_nodes])
def test_blocks_read_at_once_are_read_as_token_by_token(monkeypatch, make):
    whole, draw = bif.dumps(make()), random.Random(0)
    texts = [whole, *(mutate(whole, draw) for _ in range(300))]
    at_once = [read(text) for text in texts]
    assert sum(isinstance(found, tuple) for found in at_once) > 20
    monkeypatch.setattr(bif, "_plain_entries", lambda *_: False)
    assert [read(text) for text in texts] == at_once


def test_rows_of_a_block_may_come_in_any_order():
    names = "".join(f"variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}\n" for name in "AB")
    rows = "probability ( A ) { table 0.25, 0.75; }\nprobability ( B | A ) { (yes) 1, 0; (no) 0.5, 0.5; }\n"
    network = bif.loads(names + rows)
    assert np.array_equal(network.tables[1], [[0.5, 0.5], [1, 0]])
