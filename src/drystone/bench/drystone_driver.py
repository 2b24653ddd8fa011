"""Drystone on one standard scene: phases timed apart, compilation not timed."""

from time import perf_counter

import numpy as np

import drystone as ds
from drystone.bench.chain import hinge_links
from drystone.bench.standard_scenes import DENSITY, FRICTION, StandardScene
from drystone.world.run import RunStatistics, stage_seconds

STANDING = ("S1", "S2", "S3", "S8")  # scenes in which nothing should move
FALLEN = 0.25  # [m] change of height from which a body counts as fallen


def build_world(scene: StandardScene, sleeping: bool = False, solver="auto") -> ds.World:
    """The scene as a world, bodies in the order of its arrays."""
    stone = ds.Material(density=DENSITY, friction=FRICTION)
    world = ds.World(dt=scene.dt, sleeping=sleeping, solver=solver)
    if not scene.chain:
        world.add_fixed(ds.Plane(), stone, name="ground")
    for half, position in scene.walls:
        world.add_fixed(ds.Box(*(2 * half)), stone, position=position)
    shapes = {}
    for b in range(len(scene.mass)):
        key = b if scene.kind == "hull" else tuple(scene.size[b])
        if key not in shapes:
            shapes[key] = _shape(scene, b)
        world.add_body(
            shapes[key], stone, position=scene.position[b], orientation=scene.orientation[b],
            mass=scene.mass[b], mask=0 if scene.chain else -1,
        )  # fmt: skip
    if scene.chain:
        hinge_links(world, scene)
    return world


def _shape(scene, b):
    if scene.kind == "sphere":
        return ds.Sphere(scene.size[b, 0])
    if scene.kind == "box":
        return ds.Box(*(2 * scene.size[b]))
    if scene.kind == "torus":
        return ds.Mesh(*scene.hull(b))
    return ds.ConvexHull(scene.hull(b)[0])


def compile_engine(joints: bool = False, solver="auto") -> None:
    """Run worlds so small that all the time goes into compiling or loading.

    joints    also the version of the step for worlds with joints, which takes as long again
    """
    for jointed in (False, True) if joints else (False,):
        # Not every solver knows joints.
        world = ds.World(sleeping=False, solver="auto" if jointed else solver)
        world.add_fixed(ds.Plane())
        box = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5))
        if jointed:
            world.add_joint(ds.Ball(None, box, (0, 0, 0.5)))
        world.run(3 * world.dt)


def drive(scene: StandardScene, sleeping: bool = False, solver="auto"):
    """Rows of statistics, one for each phase, and the final poses."""
    world = build_world(scene, sleeping, solver)
    rows = list(_drive_phases(world, scene))
    if scene.name == "S1":
        rows.append(rows[-1] | {"phase": "step()"} | _time_step_calls(scene, sleeping, solver))
    return rows, poses_of(world)


def _drive_phases(world, scene):
    block = 100 if len(scene.mass) < 100 else 10  # a call of run() takes as long as a small step
    world.copy().step()  # builds the arrays, and compiles what this world needs
    for phase, first, end in scene.phases():
        statistics = RunStatistics(world, before=stage_seconds(world))
        while statistics.steps < end - first:
            statistics.advance(min(block, end - first - statistics.steps))
        yield {"engine": "drystone", "variant": "default", "scene": scene.name, "phase": phase,
               "bodies": len(world), **_figures(statistics)}  # fmt: skip


def _figures(statistics) -> dict:
    world, ms = statistics.world, np.array(statistics.block_ms)
    return {
        "steps": statistics.steps,
        "ms_mean": statistics.ms_per_step,
        "ms_median": float(np.median(ms)),
        "ms_p95": float(np.percentile(ms, 95)),
        "contacts": float(np.mean(statistics.contacts)),
        "penetration_mm": 1e3 * statistics.worst_penetration,
        "residual_worst": statistics.worst_residual,
        "residual_mean": float(np.mean(statistics.residuals)),
        "converged": 1.0 - statistics.nonconverged / statistics.steps,
        "sweeps": statistics.sweeps / statistics.steps,
        "kinetic_energy": world.energy().kinetic,
        "stages_ms": statistics.stages_ms,
    }


def _time_step_calls(scene, sleeping, solver) -> dict:
    """Milliseconds of single calls of world.step()."""
    world = build_world(scene, sleeping, solver)
    world.step()
    seconds = np.empty(scene.steps)
    for k in range(scene.steps):
        start = perf_counter()
        world.step()
        seconds[k] = perf_counter() - start
    ms = 1e3 * seconds
    return {
        "ms_mean": float(ms.mean()),
        "ms_median": float(np.median(ms)),
        "ms_p95": float(np.percentile(ms, 95)),
        "stages_ms": {},
    }


def poses_of(world) -> dict:
    """Final poses under the names that the yardstick and the peers use."""
    return {
        "pos": world.positions,
        "quat": world.orientations,
        "vel": world.velocities,
        "omega": world.spins,
        "steps": world.step_count,
    }


def standing(scene, poses) -> dict:
    """How far the top body moved, and whether everything still stands."""
    if scene.name not in STANDING:
        return {}
    top = int(np.argmax(scene.position[:, 2]))
    moved = poses["pos"] - scene.position
    return {
        "drift_mm": 1e3 * float(np.hypot(*moved[top, :2])),
        "sink_mm": -1e3 * float(moved[top, 2]),
        "stands": bool(np.abs(moved[:, 2]).max() < FALLEN),
    }
