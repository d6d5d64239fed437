"""Names that are loaded when they are first asked for."""

import ast
from pathlib import Path

import pytest

import tanbark.estimators
import tanbark.public


@pytest.mark.parametrize(
    ("module", "package"), [(tanbark.estimators, "tanbark.estimators"), (tanbark.public, "tanbark")]
)
def test_type_checkers_see_the_names_that_there_are(module, package):
    tree = ast.parse(Path(module.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    listed = {(line.module, alias.name) for line in block.body for alias in line.names}
    places = {(f"{package}.{part}", name) for part, names in module.PLACES.items() for name in names.split()}
    assert listed == places
    assert sorted(name for _, name in places) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_a_name_that_is_none_raises_the_usual_error():
    with pytest.raises(AttributeError, match=r"module 'tanbark\.estimators' has no attribute 'TAM'"):
        _ = tanbark.estimators.TAM
