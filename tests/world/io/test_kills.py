"""kill -9 at random moments: recordings verify, saved worlds are whole, whenever it was.

DRYSTONE_KILLS says how many of each; a few otherwise.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import drystone as ds

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("DRYSTONE_KILLS", "3"))
LIMIT = 280.0  # [s] for a process to come up on a busy machine

# Endless: the kill is the end.
SCRIPTS = {
    "recording": """
        with ds.record(world, path, every=2):
            while True:
                world.run(0.05)
                print("go", flush=True)
                world.bodies[0].velocity = (0.1, 0, 0)
    """,
    "save": """
        while True:
            world.run(STEPS * world.dt)
            world.save(path)
            print("go", flush=True)
    """,
}
STEPS = 3  # between two saves


def scene():
    world = ds.World(dt=0.01, sleeping=False)
    world.add_fixed(ds.Plane())
    for k in range(40):
        world.add_body(ds.Sphere(0.1), position=(0.05 * (k % 3), 0.04 * (k % 2), 0.2 + 0.21 * k))
    return world


def start(kind, path):
    text = SCRIPTS[kind].replace("STEPS", str(STEPS)).replace("\n        ", "\n")
    head = f"import sys\nsys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}\n"
    head += (
        f"import drystone as ds\nfrom test_kills import scene\nworld, path = scene(), {path!r}\n"
    )
    child = subprocess.Popen([sys.executable, "-c", head + text], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"go\n"  # compiled, and loaded
    return child


def kill(child, after):
    time.sleep(after)
    assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait(LIMIT)
    child.stdout.close()


def test_recordings_that_were_killed_verify(tmp_path):
    """Only at the very beginning there is nothing to verify, which is said."""
    rng, verified = np.random.default_rng(9), 0
    for k in range(KILLS):
        path = tmp_path / f"{k}.h5"
        after = rng.uniform(0.0, 2.5)
        kill(start("recording", str(path)), after)
        result = ds.replay(path, verify=True)
        if "holds no steps" in result.complaint:  # killed before the first flush
            assert after < 1.0
            continue
        assert result.verified, (k, after, result.complaint)
        assert "never closed" in result.unchecked
        verified += 1
        print(f"kill {k + 1}: after {after:.2f} s, {result.steps} steps verified")
    assert verified > KILLS / 2


def test_saved_worlds_are_whole_after_a_kill(tmp_path):
    """The file is that of one of the saves, with the bits that the world had then."""
    rng, worlds = np.random.default_rng(10), [scene()]
    hashes = {0: worlds[0].hash()}
    for k in range(KILLS):
        path = tmp_path / f"{k}.h5"
        kill(start("save", str(path)), rng.uniform(0.0, 0.3))
        world = ds.World.load(path)
        assert world.step_count % STEPS == 0
        while worlds[0].step_count < world.step_count:
            worlds[0].run(STEPS * worlds[0].dt)
            hashes[worlds[0].step_count] = worlds[0].hash()
        assert world.hash() == hashes[world.step_count]
        world.step()
        print(f"kill {k + 1}: whole at step {world.step_count - 1}")
    left = [path.name for path in tmp_path.iterdir()]
    assert len([name for name in left if name.endswith(".h5") and name[0] != "."]) == KILLS
