"""Files with changed bytes: whatever happens to them, readers answer with an error of ours, or with what is there.

Every reader runs on a few hundred mutants in a process of its own, whose memory and processor time are limited.
"""

import gzip
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import tanbark as tb

MEMORY, SECONDS = 3 << 30, 60
RUN = """
import random, resource, sys, warnings
from pathlib import Path
import tanbark as tb
from tanbark.errors import TanbarkError
warnings.simplefilter("ignore")
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def mutate(whole, draw):
    raw = bytearray(whole)
    for _ in range(draw.choice([1, 1, 2, 5])):
        place, action = draw.randrange(len(raw)), draw.randrange(5)
        if action == 0:
            raw[place] = draw.randrange(256)
        elif action == 1:
            raw[place] ^= 1 << draw.randrange(8)
        elif action == 2:
            del raw[place : place + draw.choice([1, 4, 40])]
        elif action == 3:
            raw[place:place] = draw.choice([b"9" * 30, b"-", b"1e308", b"[" * 2000, b"/*", b'"', b"NaN", b"\\xff"])
        else:
            other = draw.randrange(len(raw))
            raw[place : place + 20] = raw[other : other + 20]
    return bytes(raw)


for name in sys.argv[3:]:
    path, draw = Path(name), random.Random(0)
    read = {".json": tb.load, ".counts": tb.counts.load_counts}.get(path.suffix, tb.export.read_network)
    whole = path.read_bytes()
    read(path)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for number in range(120):
        path.write_bytes(mutate(whole, draw))
        try:
            read(path)
        except TanbarkError as error:
            assert str(error)
        except BaseException as error:
            sys.exit(f"{path.name}, mutant {number}: {type(error).__name__}: {error}")
"""
# each of these once took gigabytes or minutes
HOSTILE = {
    "default.bif": "".join(f"variable v{k} {{ type discrete [4] {{ a, b, c, d }}; }}\n" for k in range(14))
    + "".join(
        f"probability (v{k} | {', '.join(f'v{j}' for j in range(14) if j < k)}) {{ default 0.25, 0.25, 0.25, 0.25; }}\n"
        for k in range(1, 14)
    ),
    "comments.bif": "/* " * 20_000,
    "missing.net": "".join(f'node v{k} {{ states = ("a" "b" "c" "d"); }}\n' for k in range(14))
    + f"potential (v13 | {' '.join(f'v{j}' for j in range(13))}) {{ }}\n",
    "nothing.bif": "",
    "nothing.net": "",
    "nothing.uai": "BAYES 0 0",
    "nested.json": "[" * 100_000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of every kind that is read."""
    place = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, (60, 3)), rng.normal(size=60)])
    y = np.array(["no", "yes"], object)[(X[:, 0] > 1).astype(int)]
    model = tb.TAN().fit(X, y)
    model.save(place / "tan.json")
    tb.AODE().fit(X, y).save(place / "aode.json")
    tb.NetworkEnsemble(2).fit(X, y).save(place / "ensemble.json")
    model.counts_.save(place / "tan.counts")
    for ending in ("bif", "xmlbif", "net", "xdsl", "uai", "bif.gz"):
        tb.export.write_network(model.network_, place / f"network.{ending}")
    return place


def run(*paths, memory=MEMORY, seconds=SECONDS):
    command = [sys.executable, "-c", RUN, str(memory), str(seconds), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_mutants_raise_errors_of_ours_only(folder):
    ran = run(*sorted(folder.iterdir()))
    assert ran.returncode == 0, ran.stderr[-2000:]


@pytest.mark.parametrize("name", list(HOSTILE))
def test_small_files_take_little_and_are_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(HOSTILE[name])
    before = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(tb.errors.ModelFileError):
            (tb.load if path.suffix == ".json" else tb.export.read_network)(path)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - before < 5


def test_a_file_that_grows_when_it_is_decompressed_is_refused(tmp_path):
    path = tmp_path / "network.bif.gz"
    path.write_bytes(gzip.compress(b" " * 300_000_000, 9))
    with pytest.raises(tb.errors.ModelFileError, match="decompressed"):
        tb.export.read_network(path)
