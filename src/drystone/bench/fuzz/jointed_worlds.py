"""Random worlds of joints and contacts: energy does not rise and joints close, or a step says so.

Two to twenty bodies of all mass ratios to 1e4, joints of all kinds (redundant ones too), e = 0, no
motors, steps up to 1/60 s.
"""

from pathlib import Path
from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.case import Case, Family, Misbehaviour

GAIN = 1e-6  # of the energy in play
OPEN, LONG = 0.01, 0.1  # of a link, for so many seconds
SECONDS = 0.8  # of a case


def _unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _any_joint(a, b, point, size, rng):
    """A joint of a random kind; the bodies stand where they stand."""
    axis, kind = _unit(rng), rng.integers(9)
    if kind == 0:
        return ds.Ball(a, b, point)
    if kind == 1:
        return ds.Hinge(a, b, point, axis)
    if kind == 2:
        return ds.Universal(a, b, point, axis, np.cross(axis, _unit(rng)))
    if kind == 3:
        return ds.Distance(a, b, point + 0.3 * size, b.position + 0.1 * size)
    if kind == 4:
        return ds.Fixed(a, b)
    if kind == 5:
        return ds.Rack(a, b, point, axis, _unit(rng), 0.1 * size)
    if kind == 6:
        return ds.Coupling(a, b, point, axis)
    return ds.Slider(a, b, axis) if kind == 7 else ds.Cylindrical(a, b, point, axis)


def _any_shape(size, rng):
    length = size * rng.uniform(0.3, 1.0)
    width, kind = length * rng.uniform(0.05, 0.5), rng.integers(3)
    if kind == 0:
        return ds.Box(length, width, width)
    return ds.Capsule(width / 2, length) if kind == 1 else ds.Sphere(length / 2)


def random_world(rng: np.random.Generator) -> tuple[Any, float]:
    """World and size of its links [m]."""
    stone = ds.Material(density=1000, friction=rng.choice([0, 0.3, 0.8]), restitution=0.0)
    world = ds.World(dt=1 / rng.choice([60, 120, 240, 480]), sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    size, ratio = 10 ** rng.uniform(-1.3, 0), 10 ** rng.uniform(0, 4)
    collide = bool(rng.random() < 0.3)
    for k in range(rng.integers(2, 21)):
        parent = world.bodies[rng.integers(k)] if k and rng.random() < 0.85 else None
        near = np.array([0, 0, 4 * size]) if parent is None else np.array(parent.position)
        at = near + rng.normal(size=3) * size * (2.0 if parent is None else 0.7)
        at[2] = max(at[2], 1.2 * size)
        turn = rng.normal(size=4)
        body = world.add_body(
            _any_shape(size, rng), stone, position=at, orientation=turn / np.linalg.norm(turn),
            mass=200 * size**3 * ratio ** rng.random(),
        )  # fmt: skip
        if parent is None and rng.random() < 0.7:
            continue
        for _ in range(1 + (rng.random() < 0.15)):
            point = 0.5 * (near + at) + rng.normal(size=3) * size * 0.2
            world.add_joint(_any_joint(parent, body, point, size, rng), collide=collide)
    for body in world.bodies:
        if rng.random() < 0.3:
            body.velocity = rng.normal(size=3) * 2 * np.sqrt(9.81 * size)
            body.spin = rng.normal(size=3) * 2 * np.sqrt(9.81 / size)
    return world, size


def watch(world: Any, size: float) -> str:
    """Run a world; what a step has kept to itself, or nothing."""
    world.step()  # makes the velocities fit the joints
    energy = world.energy()
    weight = sum(9.81 * body.mass * body.position[2] for body in world.bodies)
    most, in_play, open_for = energy.total, energy.kinetic + weight, 0.0
    for k in range(round(SECONDS / world.dt)):
        info = world.step()
        now = world.energy().total
        if now > most + GAIN * in_play and info.converged:
            return f"step {k + 2} gained {(now - most) / in_play:.2g} of the energy in play"
        most = max(most, now)
        gap = max(joint.separation for joint in world.joints) if world.joints else 0.0
        is_open = gap > OPEN * 0.3 * size and info.converged
        open_for = open_for + world.dt if is_open else 0.0
        if open_for > LONG:
            return f"a joint is open by {gap:.2g} m in step {k + 2}, links are {size:.2g} m"
    return ""


def run_case(case: Case) -> None:
    """One world."""
    world, size = random_world(case.rng)
    case.group = f"1/{1 / world.dt:.0f} s"
    case.note(f"{len(world)} bodies, {len(world.joints)} joints of {size:.2g} m")
    said = watch(world, size)
    if said:
        raise Misbehaviour("in silence", said)


def prepare(folder: Path) -> None:
    """Nothing is shared; a step, so that no case compiles it."""
    random_world(np.random.default_rng(0))[0].step()


FAMILY = Family(prepare, run_case, batch=50, megabytes=2048.0)
