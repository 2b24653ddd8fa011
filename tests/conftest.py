"""Tests run on two cores: the engine is compiled once, before they are handed out."""

import os
import subprocess
import sys

from hypothesis import settings

# The same examples every time; `pytest --hypothesis-profile=default` searches for new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")

REST = "from drystone.precompile import compile_engine; compile_engine(True, True, False)"

# Files whose worlds have joints or meshes, or that run whatever there is.
LATE = (
    "joint", "mesh", "condense", "eliminate", "elements", "steppers", "scenes", "docs", "examples",
    "two_dimensions", "flat", "fast_bodies", "field", "narrow",
)  # fmt: skip


def pytest_configure(config):
    if hasattr(config, "workerinput") or os.environ.get("NUMBA_DISABLE_JIT"):
        return
    # Threads of two processes on two cores: whoever waits must not keep a core busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import drystone as ds

    ds.World().run(1 / 240)
    # Joints and meshes go on being compiled while the first tests run.
    subprocess.Popen([sys.executable, "-c", REST], stderr=subprocess.DEVNULL)


def pytest_collection_modifyitems(items):
    """What needs the kernels that are still being compiled comes last."""
    items.sort(key=lambda item: any(word in item.nodeid.split("::")[0] for word in LATE))
