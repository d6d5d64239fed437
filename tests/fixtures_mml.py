"""Small tables with known message lengths, and the run of a note of June 2017, recovered from what it printed."""

from __future__ import annotations

import numpy as np


def _digits(text):
    return np.array([int(digit) for digit in text])


F16 = (
    np.array([_digits("1010011001010110"), _digits("0100111010100111"), _digits("2021002101022010")]),
    (2, 2, 3), _digits("1011001001010100"), 2,
)  # fmt: skip
F12 = (np.array([_digits("011010011100"), _digits("021021121020")]), (2, 3), _digits("012012012010"), 3)

NAMES = ("cpt none", "cpt all", "cpt observed", "nb_adaptive", "mbp", "nb_joint", "nb_logit", "logit", "logit plain")
_LENGTHS_16 = """
 | 12.178085 12.354570 12.354570 12.178085 12.178085 55.863628 12.469309 13.280921 13.273918
1 | 9.806095 10.159066 10.159066 10.060541 9.925247 53.479216 10.466951 11.410803 11.375839
2 | 11.010068 11.363038 11.363038 11.273443 11.133110 54.695611 11.768302 13.015538 12.988489
3 | 10.827746 11.357202 11.357202 11.193855 10.994139 54.426278 11.892833 13.546432 13.477632
1 2 | 9.287301 9.993242 9.993242 8.735312 9.103301 52.311199 9.501351 9.980560 9.827444
1 3 | 9.469623 10.528534 10.528534 9.341565 9.606636 52.041867 10.792856 12.745883 12.624543
2 3 | 10.892285 11.951196 11.774711 12.134861 11.663000 53.258262 12.327533 14.725433 14.588377
1 2 3 | 9.534161 11.651984 10.946043 9.772174 9.968782 50.873850 10.589955 12.365434 12.073209
"""
_LENGTHS_12 = """
 | 14.740769 15.093739 15.093739 14.740769 14.740769 39.098343 15.285082 16.833836 16.805315
1 | 14.159951 14.865892 14.865892 14.679508 14.386360 38.586518 15.573245 18.049437 17.943195
2 | 9.510445 10.569356 10.569356 10.173085 9.787854 33.799026 10.601268 9.585276 8.637515
1 2 | 11.079061 13.196883 13.196883 9.993705 10.215321 33.287201 11.157943 10.547218 9.299415
"""


def _read(text, data):
    for line in text.strip("\n").splitlines():
        chosen, lengths = line.split("|")
        features = tuple(int(part) - 1 for part in chosen.split())
        yield data, features, dict(zip(NAMES, map(float, lengths.split()), strict=True))


LENGTHS = [*_read(_LENGTHS_16, F16), *_read(_LENGTHS_12, F12)]

# The note: cells are x1 x2 x3 = 000, 001, …, 111; class A (0) and B (1).
NOTE_CONFIGS = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
_CELLS, _CLASS_B = np.array([62, 48, 58, 32, 277, 207, 174, 142]), np.array([13, 7, 37, 16, 21, 10, 59, 24])
NOTE_COUNTS = np.stack([_CELLS - _CLASS_B, _CLASS_B], axis=1)
NOTE_ROWS = np.repeat(np.tile(NOTE_CONFIGS, (2, 1)), NOTE_COUNTS.T.ravel(), axis=0).T
NOTE_LABELS = np.repeat([0, 1], NOTE_COUNTS.sum(axis=0))


def cells(columns, chosen, labels, n_classes):
    """Bring rows together: different configurations, and the classes that came with each."""
    part = columns[list(chosen)].T if len(chosen) else np.zeros((len(labels), 0), int)
    configs, place = np.unique(part, axis=0, return_inverse=True)
    counts = np.zeros((len(configs), n_classes))
    np.add.at(counts, (place.ravel(), labels), 1)
    return configs, counts
