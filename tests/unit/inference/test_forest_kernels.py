"""The upward pass over trees: against enumeration, and with messages that need rescaling."""

import numpy as np
from hypothesis import given, settings
from pytest import approx

import naive
from strategies import make_network, seeds
from tanbark.inference import forest_kernels, layout


@given(seeds)
@settings(max_examples=40)
def test_the_pass_is_the_sum_over_all_missing_values(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=6, max_parents=1, augmented=True)
    codes = np.stack([rng.integers(0, r, 8) for r in network.schema.cardinalities[:-1]]).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.5] = 255
    out = np.tile(np.log(network.tables[-1]), (8, 1))
    forest_kernels.add_forest(codes, layout.forest(network), 0, 8, out)
    assert out == approx(np.log([naive.class_joint(network, row, 255) for row in codes.T]), abs=1e-10)


def test_small_messages_are_rescaled():
    """A missing root with three hundred observed children of probability 1e-3."""
    n, tiny = 301, np.full((2, 2, 1), 1e-3)
    tiny[:, 1] = 0.999
    tables = [np.full((2, 1), 0.5), *[tiny] * (n - 1)]
    families = [(0, ()), *((child, (0,)) for child in range(1, n))]
    scopes, sizes = [(*above, child, n) for child, above in families], (2,) * n + (1,)
    logs = layout.flatten([layout.pad(np.log(table)) for table in tables])
    entries = layout.lay_out(scopes, (3,) * n + (1,), n, logs)
    forest = layout.lay_out_forest(families, sizes, tables, entries)
    codes = np.zeros((n, 1), np.uint8)
    codes[0] = 255
    out = np.zeros((1, 1))
    forest_kernels.add_forest(codes, forest, 0, 1, out)
    assert out[0, 0] == approx((n - 1) * np.log(1e-3), rel=1e-12)
