"""Checks of a world before it runs: each finding names the thing and the fix."""

from collections.abc import Iterator

import numpy as np

from drystone.constraints import last_step
from drystone.constraints.joint_rows import joint_work_of
from drystone.model import capacity
from drystone.model.arrays import FIXED, KINEMATIC, PLANE
from drystone.model.capacity import for_new_work
from drystone.model.finding import Finding
from drystone.model.materials import ARMS
from drystone.shapes import Mesh
from drystone.steppers.time_stepping import run_steps
from drystone.world.build import material_key
from drystone.world.check import joints, terrain

MASS_RATIO = 1e3  # heavier on lighter needs many sweeps
OVERLAP = 0.01  # of the smaller body's size
SIZES = (1e-3, 1e3)  # [m]; outside of it the unit was probably not the metre
DENSITIES = (10.0, 30e3)  # [kg/m³]; from foam to osmium. Stone in g/cm³ is below
STEPS = (1e-6, 1 / 30)  # [s]
FRICTION = 2.0  # rubber on rock
ARM = 0.3  # of rolling friction, of the radius of the body: a wheel in sand has a tenth
TRAVEL = 0.5  # of its size that a body may move in one step
ROTATION = 1.0  # [rad] in one step
LISTED = 10  # findings of one kind; more are counted


def check_world(world) -> list[Finding]:
    """All findings, the worst first."""
    world._synced()
    found = []
    for check in (
        _settings, _names, _masks, _densities, _pairs, _arms, _surfaces, _sizes, _meshes, _speeds,
        _kinematic, _ground, terrain.buried, _numbers, _quaternions, joints.far_joints,
        joints.degrees, joints.poses, joints.targets, joints.removed,
    ):  # fmt: skip
        found += _shortened(check(world))
    if not any(finding.severity == "error" for finding in found):
        found += _contacts(world)
    order = ("error", "warning", "hint")
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _shortened(findings: Iterator[Finding]) -> list[Finding]:
    findings = list(findings)
    if len(findings) <= LISTED:
        return findings
    last = findings[LISTED - 1]
    more = f"{last.what} ({len(findings) - LISTED} more like this.)"
    return findings[: LISTED - 1] + [last._replace(what=more)]


def _settings(world):
    if not world.gravity.any():
        yield Finding(
            "hint", "gravity", "is zero, nothing falls.", "Set gravity=(0, 0, -9.81) if it should."
        )
    if not STEPS[0] <= world.dt <= STEPS[1]:
        yield Finding(
            "warning",
            "dt",
            f"is {world.dt:g} s, unusual for a step.",
            "Steps of 1/1000 to 1/60 s suit most scenes.",
        )


def _names(world):
    for name, things in world._names.items():
        if len(things) > 1:
            yield Finding(
                "warning",
                name,
                f"is the name of {len(things)} bodies, so world[{name!r}] cannot tell which.",
                "Give each its own name.",
            )


def _quaternions(world):
    """(0, 0, 0, 1) is no rotation where w comes last; here it is half a turn about z."""
    for thing in (*world.bodies, *world.fixed):
        w, x, y, z = thing.orientation
        if max(abs(w), abs(x), abs(y)) < 1e-9 and z > 0.0:
            yield Finding(
                "hint",
                thing.name,
                "has the orientation (0, 0, 0, 1), half a turn about z.",
                "Quaternions are (w, x, y, z); if no rotation was meant give (1, 0, 0, 0).",
            )


def _masks(world):
    for thing in (*world.bodies, *world.fixed):
        for field in ("group", "mask"):
            if getattr(thing, field) == 0:
                yield Finding(
                    "warning",
                    thing.name,
                    f"has {field}=0 and so touches nothing.",
                    f"Leave {field} out, or set the bits of what it should touch.",
                )


def _densities(world):
    seen = set()
    for body in world.bodies:
        density = body.material.density
        if density in seen or DENSITIES[0] <= density <= DENSITIES[1]:
            continue
        seen.add(density)
        guess = f" Stone is 2600, not 2.6; is {1000 * density:g} meant?" if density < 10 else ""
        yield Finding(
            "warning",
            body.name,
            f"has a density of {density:g} kg/m³.",
            f"Densities are in kg/m³.{guess}",
        )


def _pairs(world):
    keys = dict.fromkeys(material_key(thing) for thing in (*world.fixed, *world.bodies))
    materials = [material for material, _ in keys]
    pairing = world._build.model.pairing
    labels = [m.name or f"Material(friction={m.friction})" for m in materials]
    slippery = np.argwhere(np.triu(pairing.friction == 0.0))
    rubbing = np.argwhere(np.triu(pairing.friction > FRICTION))
    bouncy = np.argwhere(np.triu(pairing.restitution == 1.0))
    for i, j in slippery:
        yield Finding(
            "hint",
            f"{labels[i]} on {labels[j]}",
            "have no friction at all.",
            "Set friction, or set_pair(), if they should rub.",
        )
    for i, j in rubbing:
        yield Finding(
            "warning",
            f"{labels[i]} on {labels[j]}",
            f"have a friction of {pairing.friction[i, j]:g}.",
            "Dry materials are between 0.1 and 1.2; is it an angle? Friction is its tangent.",
        )
    for i, j in bouncy:
        yield Finding(
            "hint",
            f"{labels[i]} on {labels[j]}",
            "bounce for ever (restitution 1), a pile of them never comes to rest.",
            "Use a restitution below 1 if it should.",
        )


def _arms(world):
    """Arms of rolling friction beside the bodies that roll: a coefficient was probably meant."""
    for body in world.bodies:
        radius = world._build.model.bodies.radius[body.index]
        for name in ARMS:
            arm = getattr(body.material, name)
            if arm > ARM * radius:
                yield Finding(
                    "warning",
                    body.name,
                    f"has a {name} of {arm:g} m, with a radius of {radius:.3g} m.",
                    "It is an arm in metres; give the coefficient times the radius.",
                )


def _surfaces(world):
    """Belts on which everything slips."""
    pairing = world._build.model.pairing
    for thing in (*world.fixed, *world.bodies):
        row = world._build.surface_row.get(thing._number)
        if row is not None and pairing.surface[row].any() and not pairing.friction[row].any():
            yield Finding(
                "hint",
                thing.name,
                "has a surface that moves, but no friction with anything.",
                "It takes nothing along; give it a material with friction.",
            )


def _sizes(world):
    size = 2.0 * world._build.model.bodies.radius
    for row in np.flatnonzero((size < SIZES[0]) | (size > SIZES[1])):
        yield Finding(
            "warning",
            world.bodies[row].name,
            f"is {size[row]:.3g} m large.",
            "Lengths are in metres; a file in millimetres needs a scale of 0.001.",
        )


def _meshes(world):
    """What was suspicious about meshes when they were made, once for each."""
    seen = set()
    for thing in (*world.bodies, *world.fixed):
        if isinstance(thing.shape, Mesh) and thing.shape not in seen:
            seen.add(thing.shape)
            for finding in thing.shape.findings:
                yield finding._replace(object=f"{thing.name} ({finding.object})")


def _speeds(world):
    twist, radius = world._state.twist, world._build.model.bodies.radius
    travel = np.linalg.norm(twist[:, :3], axis=1) * world.dt
    rotation = np.linalg.norm(twist[:, 3:], axis=1) * world.dt
    blind = world._settings.ccd == 0  # else continuous collision detection stops them
    for row in np.flatnonzero(blind & (travel > TRAVEL * 2.0 * radius)):
        yield Finding(
            "warning",
            world.bodies[row].name,
            f"moves {travel[row]:.3g} m in one step and is {2.0 * radius[row]:.3g} m large: it may "
            f"pass through thin things.",
            f"Use ccd=True, or dt <= {TRAVEL * 2.0 * radius[row] / travel[row] * world.dt:.2g}.",
        )
    for row in np.flatnonzero(rotation > ROTATION):
        dt = ROTATION / rotation[row] * world.dt
        yield Finding(
            "warning",
            world.bodies[row].name,
            f"rotates by {rotation[row]:.3g} rad in one step.",
            f"Use dt <= {dt:.2g}, and check that spin is in rad/s.",
        )


def _kinematic(world):
    kind, state = world._build.model.bodies.kind, world._state
    for row in np.flatnonzero((kind == KINEMATIC) & state.force.any(axis=1)):
        yield Finding(
            "warning",
            world.bodies[row].name,
            "is kinematic, so its force and torque do nothing.",
            "Set its velocity and spin, or make it with kinematic=False.",
        )


def _ground(world):
    held = joints.held_bodies(world)
    free = [body for body in world.bodies if body not in held]
    gravity = world.gravity
    if not free or not gravity.any():
        return
    shapes = world._build.model.shapes
    fixed = shapes.body == FIXED
    if not fixed.any():
        if len(free) == len(world):
            yield Finding(
                "warning",
                "world",
                "has nothing fixed, so everything falls for ever.",
                "Add ground, such as add_fixed(Plane()).",
            )
        return
    if (shapes.kind[fixed] == PLANE).any():
        return  # endless: what is under a plane is in it, and found as an overlap
    up = -gravity / np.linalg.norm(gravity)
    lowest = (shapes.local[fixed, :3] @ up - shapes.radius[fixed]).min()
    height = world._state.position @ up + world._build.model.bodies.radius
    for body in free:
        if height[body.index] < lowest:
            yield Finding(
                "warning",
                body.name,
                "starts below everything that is fixed and will fall for ever.",
                "Move it up, or the ground down.",
            )


def _numbers(world):
    state = world._state
    moving = np.hstack([state.position, state.rotation, state.twist, state.force])
    for row in np.flatnonzero(~np.isfinite(moving).all(axis=1)):
        yield Finding(
            "error",
            world.bodies[row].name,
            "has a position, velocity or force that is not a finite number.",
            "Set it anew before the next step.",
        )


def _contacts(world) -> list[Finding]:
    """From the contacts of a step that is made with copies and thrown away."""
    model = world._build.model
    state = for_new_work(world._state)
    # Which contacts there are is known before the solve, which may take seconds.
    settings = world._settings._replace(max_sweeps=1)
    state, work, report = run_steps(
        model, state, capacity.allocate(model), settings, 1,
        joint_work_of(model.joints, model.bodies),
    )  # fmt: skip
    if report.failed:
        return []
    touching = last_step.contact_arrays(model, state, work)
    return _shortened(_overlaps(world, touching)) + _shortened(_ratios(world, touching))


def _overlaps(world, touching):
    radius = np.append(world._build.model.bodies.radius, np.inf)  # the last one is FIXED
    deepest = {}
    for (a, b), gap in zip(touching.body.tolist(), touching.gap.tolist(), strict=True):
        size = 2.0 * min(radius[a], radius[b])
        if gap < -OVERLAP * size:
            old = deepest.get((a, b), (0.0, size))
            deepest[a, b] = min(old, (gap, size))
    joined = joints.joined_pairs(world)
    for (a, b), (gap, size) in deepest.items():
        name, other = (_name(world, row) for row in ((b, a) if b >= 0 else (a, b)))
        yield Finding(
            "warning",
            name,
            f"overlaps {other} by {-gap:.3g} m, {-100 * gap / size:.2g} % of its size.",
            "A joint holds them together: add it with collide=False."
            if tuple(sorted((a, b))) in joined
            else "Move them apart; they will be pushed out of each other.",
        )


def _ratios(world, touching):
    mass, kind = world._build.mass, world._build.model.bodies.kind
    seen = set()
    for a, b in touching.body.tolist():
        if a < 0 or b < 0 or (a, b) in seen or KINEMATIC in (kind[a], kind[b]):
            continue
        seen.add((a, b))
        heavy, light = (a, b) if mass[a] >= mass[b] else (b, a)
        if mass[heavy] > MASS_RATIO * mass[light]:
            yield _ratio(world, heavy, light, "touches")
    free = np.flatnonzero(kind != KINEMATIC)
    if len(free) and not seen:
        heavy, light = free[np.argmax(mass[free])], free[np.argmin(mass[free])]
        if mass[heavy] > MASS_RATIO * mass[light]:
            yield _ratio(world, heavy, light, "may come to touch")


def _ratio(world, heavy, light, verb):
    mass = world._build.mass
    return Finding(
        "warning",
        world.bodies[heavy].name,
        f"has {mass[heavy] / mass[light]:.3g} times the mass of {world.bodies[light].name}, "
        f"which it {verb}: contacts between them need many sweeps.",
        "Check units and densities; watch info.converged.",
    )


def _name(world, row):
    return world.bodies[row].name if row >= 0 else "the fixed world"
