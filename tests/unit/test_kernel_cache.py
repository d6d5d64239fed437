"""Kernels are found, or compiled again, wherever the library is installed and whoever runs it."""

import errno
import os
import subprocess
import sys
import textwrap
from importlib import util
from pathlib import Path

import pytest
from numba.core import caching

from tanbark import kernel_cache
from tanbark.errors import KernelCacheWarning

SOURCE = "from tanbark.kernel import kernel\n@kernel\ndef double(x):\n    return 2 * x\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that imports a module with a kernel, anew each time as another process would."""
    monkeypatch.setattr(kernel_cache, "_announced", True)
    monkeypatch.setattr(kernel_cache, "_warned", False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would take that of a file of the same date and size
    (tmp_path / "package").mkdir()
    path = tmp_path / "package" / "doubling.py"
    path.write_text(SOURCE)

    def load():
        spec = util.spec_from_file_location("doubling", path)
        found = util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found.double

    return load


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def forbid(monkeypatch, *allowed):
    """Let Numba write to these folders only, as on a read-only installation without a home."""
    ensure = caching._CacheLocator.ensure_cache_path

    def checked(self):
        if not any(Path(self.get_cache_path()).is_relative_to(each) for each in allowed):
            raise PermissionError(errno.EACCES, "Permission denied")
        ensure(self)

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", checked)


def hits(kernel):
    assert kernel(4) == 8
    return sum(kernel.stats.cache_hits.values())


def test_kernels_are_kept_beside_their_module(module):
    assert hits(module()) == 0
    assert hits(module()) == 1


def test_a_module_that_changed_is_compiled_again_whatever_its_date_and_size(module, tmp_path):
    path = tmp_path / "package" / "doubling.py"
    hits(module())
    before = path.stat()
    path.write_text(SOURCE.replace("2 * x", "3 * x"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    kernel_cache.fingerprint.cache_clear()
    assert module()(4) == 12


def test_kernels_depend_on_the_kernels_and_constants_that_they_use(tmp_path, monkeypatch):
    package = tmp_path / "tanbark"
    package.mkdir()
    files = {
        "upper_kernels": "from tanbark.lower_kernels import (\n    one,\n    two,\n)\n",
        "lower_kernels": "from tanbark import constants\n",
        "constants": "from tanbark.unrelated import words\nTIE = 1\n",
        "unrelated": "words = 1\n",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.setattr(kernel_cache, "__file__", str(package / "kernel_cache.py"))

    def digest():
        kernel_cache.fingerprint.cache_clear()
        return kernel_cache.fingerprint(str(package / "upper_kernels.py"))

    before = digest()
    for name, counts in {"upper_kernels": True, "lower_kernels": True, "constants": True, "unrelated": False}.items():
        (package / f"{name}.py").write_text(files[name] + "# changed\n")
        assert (digest() != before) is counts
        (package / f"{name}.py").write_text(files[name])
        assert digest() == before


def test_without_a_writable_place_they_go_to_a_temporary_folder_of_the_user(module, temporary, monkeypatch):
    forbid(monkeypatch, temporary)
    assert hits(module()) == 0
    assert hits(module()) == 1
    (own,) = temporary.iterdir()
    assert own.stat().st_mode & 0o777 == 0o700


def test_code_in_a_temporary_folder_that_others_may_write_to_is_never_run(module, temporary, monkeypatch):
    forbid(monkeypatch, temporary)
    own = temporary / f"tanbark-kernels-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    with pytest.warns(KernelCacheWarning, match="NUMBA_CACHE_DIR"):
        assert hits(module()) == 0
    assert list(own.iterdir()) == []


def test_kernels_that_a_read_only_installation_holds_are_read(module, temporary, monkeypatch):
    assert hits(module()) == 0
    forbid(monkeypatch)
    assert hits(module()) == 1


def test_where_nothing_can_be_kept_kernels_run_all_the_same_and_one_warning_says_so(module, monkeypatch):
    forbid(monkeypatch)
    monkeypatch.setattr(kernel_cache, "_own_folder", lambda: None)
    with pytest.warns(KernelCacheWarning) as caught:
        assert hits(module()) == hits(module()) == 0
    assert len(caught) == 1


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04damaged", None])
def test_a_damaged_entry_is_compiled_and_kept_again(module, ending, content):
    kernel = module()
    hits(kernel)
    (entry,) = Path(kernel._cache.cache_path).glob(f"doubling.*.{ending}")
    entry.write_bytes(entry.read_bytes()[:-40] if content is None else content)
    assert hits(module()) == 0
    assert hits(module()) == 1


def test_a_full_disk_costs_the_entry_only(module, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    with pytest.warns(KernelCacheWarning, match="No space left"):
        assert hits(module()) == 0


def test_kernels_run_in_python_without_numbas_compiler():
    code = """
        import numpy as np, tanbark as tb
        rows = np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
        labels = (rows[:, 0] + rows[:, 1] > 2).astype(int)
        rows[::7, 3] = np.nan
        for model in (tb.NaiveBayes(), tb.TAN(), tb.AODE(), tb.GBN(), tb.Classifier(2)):
            print(repr(model.fit(rows, labels).predict_proba(rows).round(9).tolist()))
    """
    found = [
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True,
                       env={**os.environ, **extra}).stdout
        for extra in ({"NUMBA_DISABLE_JIT": "1"}, {})
    ]  # fmt: skip
    assert found[0] == found[1]
