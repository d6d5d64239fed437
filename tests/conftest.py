"""What holds for all tests: examples that are the same in every run, and which tests share a process."""

import gc
import re

import pytest
from hypothesis import HealthCheck, settings

import tanbark as tb

# no limits of time: a machine may be busy, and kernels are compiled within the first example
settings.register_profile(
    "tests", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

# Folders whose files share models, and their groups.
SHARED = {"cli": "cli", "export": "postgres", "sql": "postgres"}

# Folders, estimators and files whose searches consist of the same kernels. A process compiles a kernel that others call
# once for all of them; other processes read only the outermost kernels from disk.
SEARCHES = {
    "searches": (
        "greedy", "GBN", "BAN", "SparseCandidateGBN", "MMHCANB", "MMHCGBN", "BNC2P", "CMDLGBN", "test_registry",
        "test_hill_climb", "test_bdeu_learners",
    ),
    "separations": ("constraint", "RAIANB", "RAIGBN", "PCANB", "PCGBN"),
    "exact": ("exact", "ExactANB", "ExactGBN", "KBestANB", "KBestGBN"),
}  # fmt: skip
GROUPS = {name: group for group, names in SEARCHES.items() for name in names}

# Groups that take longest, for their work or for the kernels that they compile. They begin first, so that no process is
# left alone with one of them at the end. What only uses kernels that others compile, such as test_interrupts, does not.
LONGEST = (
    "searches", "postgres", "browser", "test_ensemble", "separations", "exact", "cli", "Classifier", "NaiveBayes",
)  # fmt: skip


def pytest_configure(config):
    """Let groups begin in the order of collection; pytest-xdist begins with those of the most tests, long or short."""
    config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give every test a group, whose tests run in one process: there fixtures are set up once, and kernels compiled."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group_of(item)))
    found = yield
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.get_closest_marker("xdist_group").args[0], len(LONGEST)))
    return found


def group_of(item):
    """Return the group of a folder, of the estimator of a contract, or of a file."""
    folder, found = item.path.parent.name, item.path.stem
    if "contract" in item.path.parts:
        words = re.findall(r"[A-Z]\w+", item.name.partition("[")[2])
        found = next((word for word in words if word in tb.__all__), found)
    return SHARED.get(folder) or GROUPS.get(folder) or GROUPS.get(found, found)


def pytest_collection_finish():
    """Leave what was collected out of garbage collection: a million objects that live as long as the process."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Give all objects back, so that modules which look for leaks at the end find none."""
    gc.unfreeze()
