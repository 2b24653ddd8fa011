"""Editors and type checkers see what is there: jedi completes, mypy --strict knows the types."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import drystone as ds

SOURCE = Path(ds.__file__).parents[1]

PROGRAM = """
import drystone as ds
import numpy as np

wood = ds.Material(density=700, friction=0.5, restitution=0.1)
steel = ds.Material(density=7800, friction=0.3)
world = ds.World(dt=1 / 240, gravity=(0, 0, -9.81))
ground = world.add_fixed(ds.Plane(), wood)
crate = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 0.5), name="crate")
lid = world.add_body(ds.Box(1, 1, 0.1), wood, position=(0, 0, 1.05), name="lid")
hinge = world.add_joint(ds.Hinge(crate, lid, point=(0, 0.5, 1), axis=(1, 0, 0)))
spring = world.add_force(ds.Spring(crate, lid, stiffness=100, damping=1))
ball = world.throw((0, -3, 1), (0, 1, 0.2), speed=8, shape=ds.Sphere(0.1), material=steel)


def heaviest(of: ds.World) -> ds.Body:
    return max(of, key=lambda body: body.mass)


def speed(body: ds.Body) -> float:
    return float(np.linalg.norm(body.velocity))


info = world.step()
print(info.converged, info.residual, info.iterations)
held = world.drag(crate, target=(1, 0, 1))
world.run(0.5, progress=False)
held.release()
pole = world.attract((0, 0, 3), strength=100.0)
pole.set(position=(0, 1, 3))
world.remove(pole)
table = world.contacts()
total: float = float(table.force[:, 2].sum())
energy: float = world.energy().total
angle: float = hinge.angle
print(speed(heaviest(world)), total, energy, angle, ds.__version__, len(table))
for finding in world.check():
    print(finding.severity, finding.what)
reveal_type(crate.position)
reveal_type(world.contacts().force)
reveal_type(world.add_joint(ds.Ball(crate, None, point=(0, 0, 0))))
"""


def test_jedi_completes_names_and_knows_types():
    jedi = pytest.importorskip("jedi")
    start = "import drystone as ds\nworld = ds.World()\nbody = world.add_body(ds.Box(1, 1, 1))\n"

    def completions(line):
        found = jedi.Script(start + line, project=jedi.Project(SOURCE)).complete()
        return {name.name for name in found}

    assert "World" in completions("ds.Wo")
    assert {"add_body", "add_fixed", "add_joint", "add_force"} <= completions("world.add_")
    assert {"drag", "throw", "view", "picture", "contacts"} <= completions("world.")
    assert {"position", "velocity", "mass"} <= completions("body.")

    def types(line):
        script = jedi.Script(start + line, project=jedi.Project(SOURCE))
        last = start.count("\n") + 1
        return {name.name for name in script.infer(last, len(line))}

    assert types("body.position") == {"ndarray"}
    assert types("world.contacts().force") == {"ndarray"}


@pytest.mark.slow
def test_mypy_strict_accepts_a_program_of_forty_lines(tmp_path):
    (tmp_path / "user.py").write_text(PROGRAM)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
         "--cache-dir", str(tmp_path / "cache"), "user.py"],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": str(SOURCE)}, capture_output=True, text=True,
        timeout=500,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout
    assert found.stdout.count("numpy.ndarray") == 2 and "Ball" in found.stdout


def test_every_public_name_is_there_and_a_misspelt_one_is_guessed():
    for name in ds.__all__:
        assert getattr(ds, name) is not None
    assert ds.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="Did you mean 'World'"):
        ds.Wolrd  # noqa: B018


@pytest.mark.parametrize("command", ("--version", "--help", "scenes", "solvers"))
def test_scenes_and_solvers_are_listed_without_numba(command):
    code = (
        "import sys\nfrom drystone.cli import app\n"
        f"try: app([{command!r}])\nexcept SystemExit as end: assert not end.code\n"
        "assert 'numba' not in sys.modules, 'numba'"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
