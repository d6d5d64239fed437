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

SHARED = {"cli": "cli", "export": "postgres", "sql": "postgres"}  # folders whose files share models, and their groups

# Estimators and files whose searches consist of the same kernels. A process compiles a kernel that others call once for
# all of them, and only the outermost ones are read from disk by other processes.
SEARCHES = (
    "GBN", "BAN", "SparseCandidateGBN", "MMHCANB", "MMHCGBN", "BNC2P", "CMDLGBN", "test_registry", "test_anytime",
    "test_ban", "test_cpdag", "test_gains", "test_hill_climb", "test_parent_sets", "test_sparse_candidate",
    "test_bdeu_learners",
)  # fmt: skip

# Groups that take longest, for their work or for the kernels that they compile. They begin first, so that no process is
# left alone with one of them at the end. What only uses kernels that others compile, such as test_interrupts, does not.
LONGEST = ("searches", "postgres", "browser", "test_ensemble", "cli", "Classifier", "NaiveBayes")


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
    """Return the estimator of a contract, the file, or a folder of shared models; or the kernels that several have."""
    found = SHARED.get(item.path.parent.name) or item.path.stem
    if "contract" in item.path.parts:
        words = re.findall(r"[A-Z]\w+", item.name.partition("[")[2])
        found = next((word for word in words if word in tb.__all__), found)
    return "searches" if found in SEARCHES else found


def pytest_collection_finish():
    """Leave what was collected out of garbage collection: a million objects that live as long as the process."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Give all objects back, so that modules which look for leaks at the end find none."""
    gc.unfreeze()
