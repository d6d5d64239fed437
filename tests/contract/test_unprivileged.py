"""A user without rights on a read-only installation, without a home: as in containers, and on clusters.

Root runs these tests as another user for real; they are skipped for other users, who cannot become one.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import tanbark as tb

CODE = """
import os, sys, warnings
import numpy as np, tanbark as tb
from tanbark import kernel
kernel.interprets = False  # so few rows would not need a compiler
warnings.simplefilter("error")
warnings.simplefilter("always", tb.errors.KernelCacheWarning)
assert os.getuid() != 0 and not os.access(os.path.dirname(tb.__file__), os.W_OK)
rows = np.arange(60).reshape(20, 3) % 4.0
print(tb.NaiveBayes(parameters="laplace").fit(rows, np.arange(20) % 2).predict_proba(rows).tolist())
"""


def find_python(who):
    """Return an interpreter of this version that the user may run; that of the tests may be in root's home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            if subprocess.run([found, "-c", ""], check=False, cwd="/", capture_output=True, **who).returncode == 0:
                return found
        except OSError:
            continue
    return None


@pytest.fixture(scope="module")
def place():
    """A folder with a read-only copy of the package and one for temporary files."""
    folder = Path(tempfile.mkdtemp(prefix="tb-nobody-", dir="/tmp"))
    folder.chmod(0o755)
    package = folder / "installed" / "tanbark"
    shutil.copytree(Path(tb.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for each in (folder / "installed").rglob("*"):
        each.chmod(0o555 if each.is_dir() else 0o444)
    (folder / "temporary").mkdir()
    (folder / "temporary").chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def run(place, temporary):
    if not hasattr(os, "getuid") or os.getuid() != 0:
        pytest.skip("only root can run something as another user")
    nobody = pwd.getpwnam("nobody")
    who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    python = find_python(who)
    if python is None:
        pytest.skip("no interpreter of this version is open to other users")
    packages = os.pathsep.join([str(place / "installed"), str(Path(np.__file__).parents[1])])
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": packages, "HOME": "/nonexistent", "TMPDIR": str(temporary)}
    ran = subprocess.run([python, "-c", CODE], capture_output=True, text=True, check=False, cwd="/", env=env, **who)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran


def expected():
    rows = np.arange(60).reshape(20, 3) % 4.0
    return f"{tb.NaiveBayes(parameters='laplace').fit(rows, np.arange(20) % 2).predict_proba(rows).tolist()}\n"


def test_a_fit_by_nobody_without_a_home_on_a_read_only_installation(place):
    before = sorted((place / "installed").rglob("*"))
    first = run(place, place / "temporary")
    assert first.stdout == expected()
    assert "compiling" in first.stderr
    (own,) = (place / "temporary").iterdir()
    assert own.stat().st_uid == pwd.getpwnam("nobody").pw_uid
    again = run(place, place / "temporary")  # from the kernels that the first kept
    assert again.stdout == expected()
    assert "compiling" not in again.stderr
    assert sorted((place / "installed").rglob("*")) == before
