from tanbark.export import dot
from tanbark.graph import Network


def test_the_class_is_a_double_circle_and_labels_are_quoted():
    name = 'a "b"\\\nc'
    tables = {name: [0.5, 0.5], "class": ((name,), [[0.1, 0.9], [0.5, 0.5]])}
    text = dot.dumps(Network.from_tables({name: (0, 1), "class": (0, 1)}, tables, target="class"))
    assert 'n0 [label="a \\"b\\"\\\\\\nc"];' in text
    assert 'n1 [label="class", shape=doublecircle];' in text
    assert "n0 -> n1;" in text
