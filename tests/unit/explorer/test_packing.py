"""Arrays as text, and that nothing is lost on the way."""

import base64

import numpy as np
import pytest

from tanbark.explorer.packing import pack, pack_families, pack_tree
from tanbark.params.boosting.correction import grow_families
from tanbark.params.hierarchical.context_tree import fit_tree


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), np.dtype(packed["type"]).newbyteorder("<"))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "uint8"),
        ([0, 255], "uint8"),
        ([256.0, 1.0], "uint16"),
        ([70_000], "uint32"),
        ([-1], "float64"),
        ([0.1, 1e300], "float64"),
        ([-np.inf, 0.0], "float64"),
        ([2**40], "float64"),
    ],
)
def test_the_smallest_type_that_holds_the_numbers(values, kind):
    packed = pack(np.array(values))
    assert packed["type"] == kind
    assert unpack(packed).tolist() == values


@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_is_its_counts_and_where_its_contexts_hang(weighted):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (4, 300)).astype(np.uint8)
    weights = rng.random(300) * 3 if weighted else None
    tree, _ = fit_tree(codes, 0, [3, 1, 2], [3, 3, 3, 3], weights)
    packed = pack_tree(tree)
    assert packed["counts"][-1]["type"] == ("float64" if weighted else "uint8")
    children = np.full(len(tree.children), -1)
    children[unpack(packed["places"])] = np.arange(1, len(tree.counts))
    assert np.array_equal(children, tree.children)
    counts = np.zeros_like(tree.counts)
    which = np.repeat(np.arange(len(counts)), unpack(packed["held"]))
    counts[which, unpack(packed["held_states"])] = np.concatenate([unpack(level) for level in packed["counts"]])
    assert np.array_equal(counts, tree.counts)
    assert np.array_equal(unpack(packed["root"]), tree.probabilities[0])
    assert np.array_equal(unpack(packed["concentrations"]), tree.concentrations)


def test_the_contexts_of_a_correction_are_found_again():
    codes = np.random.default_rng(3).integers(0, 3, (3, 50)).astype(np.uint8)
    families, _ = grow_families(codes, [(0, 1), (2,), (1, 0, 2)], [3, 3, 3], 2)
    packed = pack_families(families)
    roots = families.firsts[families.spans[:-1]]
    contexts = np.setdiff1d(np.arange(len(families.sums)), roots)
    children = np.full(packed["n_children"], -1)
    children[unpack(packed["places"])] = contexts
    assert np.array_equal(children, families.children)
