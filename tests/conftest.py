"""Tests run on two cores: the engine is compiled once, before they are handed out."""

import os
import subprocess
import sys

from hypothesis import settings

# The same examples every time; `pytest --hypothesis-profile=default` searches for new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")

MESH_WORLD = "from drystone.precompile import compile_engine; compile_engine(False, True, False)"


def pytest_configure(config):
    if hasattr(config, "workerinput") or os.environ.get("NUMBA_DISABLE_JIT"):
        return
    # Threads of two processes on two cores: whoever waits must not keep a core busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import drystone as ds

    world = ds.World()
    body = world.add_body(ds.Box(1, 1, 1))
    world.add_joint(ds.Ball(None, body, (0, 0, 1)))
    world.run(world.dt)
    ds.World().run(world.dt)
    # Contacts of meshes go on being compiled while the first tests run.
    subprocess.Popen([sys.executable, "-c", MESH_WORLD], stderr=subprocess.DEVNULL)


def pytest_collection_modifyitems(items):
    """The file that takes longest comes first, or one core would wait for it at the end."""
    items.sort(key=lambda item: "test_determinism" not in item.nodeid)
