"""Tests run on all cores: the engine is compiled once, before they are handed out.

What waits for ever is ended by faulthandler_timeout (pyproject.toml), which needs no lock of the
interpreter and so ends compiled loops too; a process that ends is started again for the next test.
"""

import os

import pytest
from hypothesis import settings

# The same examples every time; `pytest --hypothesis-profile=default` searches for new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


def pytest_addoption(parser):
    parser.addoption(
        "--strict-data",
        action="store_true",
        help="tests fail, rather than being skipped, where the data of others are missing",
    )


def pytest_configure(config):
    if hasattr(config, "workerinput") or os.environ.get("NUMBA_DISABLE_JIT"):
        return
    # Threads of two processes on two cores: whoever waits must not keep a core busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # Threads of all processes together: as many as there are cores, but two at least in each.
    processes = max(1, config.getoption("numprocesses", 1) or 1)
    os.environ.setdefault("NUMBA_NUM_THREADS", str(max(2, (os.cpu_count() or 2) // processes)))
    from drystone.steppers.precompile import compile_engine

    compile_engine(linked=True, meshed=True, fielded=False, many=True)


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, or one core would wait for the last of them."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skips what cannot be tested without the data of others, in one line that says what."""
    for mark in item.iter_markers("needs_data"):
        path, what = mark.args
        if not path.exists():
            message = f"not tested: {what} ({path} is missing; DRYSTONE_DATA may name the folder)"
            (pytest.fail if item.config.getoption("--strict-data") else pytest.skip)(message)
