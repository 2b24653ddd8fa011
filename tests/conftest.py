"""Tests run on two cores: the engine is compiled once, before they are handed out."""

import os

from hypothesis import settings

# The same examples every time; `pytest --hypothesis-profile=default` searches for new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


def pytest_configure(config):
    if hasattr(config, "workerinput") or os.environ.get("NUMBA_DISABLE_JIT"):
        return
    # Threads of two processes on two cores: whoever waits must not keep a core busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from drystone.steppers.precompile import compile_engine

    compile_engine(linked=True, meshed=True, fielded=False)


def pytest_collection_modifyitems(items):
    """The file that takes longest comes first, or one core would wait for it at the end."""
    items.sort(key=lambda item: "test_determinism" not in item.nodeid)
