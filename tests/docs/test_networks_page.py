"""The page on networks: its examples run."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "networks.md"


@pytest.mark.skipif(not PAGE.exists(), reason="a source package holds no documentation")
def test_the_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 20
    assert failed == 0
