"""Random worlds: ground, bodies of all shapes, joints, forces, and settings at their edges."""

from contextlib import suppress
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np

import drystone as ds
from drystone.errors import DrystoneError, UnsupportedFeature

HALF = 150.0  # of every ground [m]: nothing leaves it in the seconds that a case runs
MOST_BODIES = 30


@dataclass
class Made:
    """A world, and what is known of it."""

    world: Any
    ground: str
    notes: list[str]
    guarded: list = field(default_factory=list)  # bodies that the ground must hold

    def height(self, x: float, y: float) -> float:
        """Of the ground [m]; what stands on it is not counted."""
        return _waves(x, y) if self.ground == "terrain" else 0.0


def _waves(x: Any, y: Any) -> Any:
    return 0.4 * np.sin(0.9 * x) * np.cos(0.7 * y)


def make_world(rng: np.random.Generator) -> Made:
    """A world that is new, and could run."""
    settings = draw_settings(rng)
    try:
        world = ds.World(**settings)
    except UnsupportedFeature:  # not every solver does two dimensions
        settings["solver"] = "auto"
        world = ds.World(**settings)
    odd = {key: value for key, value in settings.items() if key != "dt"}
    made = Made(world, "plane", [f"dt=1/{1 / settings['dt']:.0f}", str(odd)])
    _add_ground(rng, made)
    count = int(rng.integers(1, MOST_BODIES + 1))
    for _ in range(count):
        _add_body(rng, made)
    _add_joints(rng, made)
    _add_forces(rng, made)
    made.notes.append(f"{len(world)} bodies on {made.ground}, {len(world.joints)} joints, "
                      f"{len(world.forces)} forces")  # fmt: skip
    return made


def draw_settings(rng: np.random.Generator) -> dict[str, Any]:
    """Settings of a world: mostly the usual ones."""

    def sometimes(share: float, value: Any, usual: Any) -> Any:
        return value if rng.random() < share else usual

    names = [name for name in ds.SOLVERS if name != "auto"]
    settings = {
        "dt": float(np.exp(rng.uniform(np.log(1e-3), np.log(1 / 30)))),
        "dim": sometimes(0.15, 2, 3),
        "solver": sometimes(0.3, str(rng.choice(names)), "auto"),
        "stepper": sometimes(0.2, str(rng.choice(["implicit", "event", "verlet"])), None),
        "drift": sometimes(0.2, str(rng.choice(["none", "baumgarte", "post"])), None),
        "sleeping": sometimes(0.5, False, None),
        "ccd": sometimes(0.1, False, None),
        "tolerance": sometimes(0.2, float(10 ** rng.uniform(-12, 0)), None),
        "skin": sometimes(0.1, float(rng.choice([0.0, 1e-6, 0.1])), None),
        "bounce_speed": sometimes(0.1, float(rng.choice([0.0, 5.0])), None),
        "gravity": sometimes(0.1, (0.0, 0.0, float(rng.choice([0.0, -1.6, -100.0]))), None),
    }
    return {key: value for key, value in settings.items() if value is not None}


def _add_ground(rng: np.random.Generator, made: Made) -> None:
    world, wood = made.world, draw_material(rng, made.world)
    flat = world.dim == 2
    made.ground = "plane" if flat else str(rng.choice(["plane", "terrain", "box", "mesh"]))
    if made.ground == "plane":
        world.add_fixed(ds.Plane(), wood)
    elif made.ground == "terrain":
        axis = np.arange(-HALF, HALF + 0.1, 1.0)
        heights = _waves(axis[None, :], axis[:, None])
        made.height = _interpolated(axis, heights)  # type: ignore[method-assign]
        world.add_fixed(ds.Terrain.from_grid(heights, 1.0, (-HALF, -HALF)), wood)
    else:
        slab = ds.Box(2 * HALF, 2 * HALF, 2.0) if made.ground == "box" else slab_mesh()
        world.add_fixed(slab, wood, position=(0, 0, -1.0))


def _interpolated(axis: np.ndarray, heights: np.ndarray) -> Any:
    """Height of the triangles of the grid: each cell is cut from south-west to north-east."""

    def height(x: float, y: float) -> float:
        u, w = x - axis[0], y - axis[0]
        c = int(np.clip(u, 0, len(axis) - 2))
        r = int(np.clip(w, 0, len(axis) - 2))
        p, q = u - c, w - r
        sw, se, nw, ne = heights[r : r + 2, c : c + 2].ravel()
        return sw + p * (se - sw) + q * (ne - se) if p >= q else sw + q * (nw - sw) + p * (ne - nw)

    return height


def slab_mesh() -> ds.Mesh:
    """A slab of 2 m thickness as a mesh of twelve triangles."""
    corner = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
    faces = [
        (0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
        (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5),
    ]  # fmt: skip
    return ds.Mesh(corner * (HALF, HALF, 1.0), faces)


def draw_material(rng: np.random.Generator, world: Any) -> ds.Material:
    friction: Any = float(rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]))
    if rng.random() < 0.03 and world.dim == 3 and type(world.solver).__name__ == "Prox":
        friction = (0.2, 0.8)
    bounces = rng.random() < 0.3
    arms = {}
    can_roll = (
        "rolling" in getattr(world.solver, "supports", ()) and world.stepper == "time-stepping"
    )
    if rng.random() < 0.15 and can_roll:
        arms = {"rolling_friction": float(10 ** rng.uniform(-4, -1)),
                "spinning_friction": float(10 ** rng.uniform(-4, -1))}  # fmt: skip
    return ds.Material(
        density=float(10 ** rng.uniform(1.5, 4)), friction=friction,
        restitution=float(rng.choice([0.2, 0.8, 1.0])) if bounces else 0.0, **arms,
    )  # fmt: skip


def draw_shape(rng: np.random.Generator, flat: bool) -> Any:
    size = float(10 ** rng.uniform(-1.2, 0.0))
    a, b, c = (size * rng.uniform(0.3, 1.0, 3)).tolist()
    if flat:
        made = {
            "disc": lambda: ds.Disc(a),
            "box": lambda: ds.Polygon.box(a, b),
            "segment": lambda: ds.Segment((-a, 0), (a, 0.1 * b), 0.2 * c),
            "polygon": lambda: ds.Polygon([(-a, -b), (a, -b), (0.3 * a, c)]),
        }
    else:
        made = {
            "sphere": lambda: ds.Sphere(a),
            "box": lambda: ds.Box(a, b, c),
            "capsule": lambda: ds.Capsule(0.4 * a, b),
            "cylinder": lambda: ds.Cylinder(a, b),
            "cone": lambda: ds.Cone(a, b),
            "hull": lambda: ds.ConvexHull(size * rng.normal(size=(int(rng.integers(4, 20)), 3))),
            "compound": lambda: ds.Compound(
                (ds.Box(a, 0.3 * b, 0.3 * c), (0, 0, 0)), (ds.Sphere(0.3 * a), (0.5 * a, 0, 0))
            ),
            "mesh": lambda: star_mesh(rng, size, "triangles"),
            "field": lambda: star_mesh(rng, size, "field"),
        }
    return made[str(rng.choice(list(made)))]()


def star_mesh(rng: np.random.Generator, size: float, generator: str) -> ds.Mesh:
    """A closed surface about the origin, not convex: two poles and rings of random radius."""
    around, rings = 7, 4
    angle = np.linspace(0, 2 * pi, around, endpoint=False)
    rows = [(0.0, 0.0, -size)]
    for k in range(rings):
        polar = pi * (k + 1) / (rings + 1)
        r = size * rng.uniform(0.5, 1.0, around)
        rows += np.stack(
            (r * np.sin(polar) * np.cos(angle), r * np.sin(polar) * np.sin(angle),
             -r * np.cos(polar)), axis=1).tolist()  # fmt: skip
    rows.append((0.0, 0.0, size))
    top = len(rows) - 1
    faces = []
    for i in range(around):
        j = (i + 1) % around
        faces.append((0, 1 + j, 1 + i))
        for k in range(rings - 1):
            low, high = 1 + k * around, 1 + (k + 1) * around
            faces += [(low + i, low + j, high + j), (low + i, high + j, high + i)]
        last = 1 + (rings - 1) * around
        faces.append((last + i, last + j, top))
    return ds.Mesh(np.array(rows), faces, generator=generator)


def _add_body(rng: np.random.Generator, made: Made) -> None:
    world, flat = made.world, made.world.dim == 2
    shape = draw_shape(rng, flat)
    reach = max(part.radius + float(np.linalg.norm(part.position)) for part in shape.parts())
    x, y, lift = rng.uniform(-2, 2), 0.0 if flat else rng.uniform(-2, 2), rng.uniform(0, 3)
    z = 0.9 + reach + lift if made.ground == "terrain" else reach + lift
    fast = rng.random() < 0.2
    velocity = rng.normal(size=3) * (8.0 if fast else 0.5)
    spin = rng.normal(size=3) * (20.0 if fast else 0.5)
    kinematic = rng.random() < 0.03
    where: dict[str, Any] = {
        "position": (x, z) if flat else (x, y, z),
        "velocity": velocity[[0, 2]] if flat else velocity,
        "spin": float(spin[1]) if flat else spin,
        "kinematic": kinematic,
    }
    if flat:
        where["angle"] = float(rng.uniform(-pi, pi))
    else:
        quaternion = rng.normal(size=4)
        where["orientation"] = quaternion / np.linalg.norm(quaternion)
    try:
        body = world.add_body(shape, draw_material(rng, world), **where)
    except UnsupportedFeature:  # a solver without restitution or rolling friction
        body = world.add_body(shape, **where)
    if rng.random() < 0.05:
        with suppress(UnsupportedFeature):
            body.surface_velocity = (float(rng.normal()), 0.0, 0.0)
    if not kinematic:
        made.guarded.append(body)


def _add_joints(rng: np.random.Generator, made: Made) -> None:
    world = made.world
    if rng.random() < 0.5 or len(world) < 2:
        return
    bodies = [body for body in world.bodies if not body.kinematic]
    for _ in range(int(rng.integers(1, len(world) + 1))):
        if len(bodies) < 2:
            return
        a, b = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        try:
            world.add_joint(draw_joint(rng, a, b), collide=bool(rng.random() < 0.3))
        except DrystoneError:  # not with this solver, or not in two dimensions
            continue


def draw_joint(rng: np.random.Generator, a: Any, b: Any) -> Any:
    point, axis = 0.5 * (a.centre + b.centre), rng.normal(size=3)
    other = np.cross(axis, rng.normal(size=3))
    flat = a.centre[1] == b.centre[1] == 0.0
    if flat:
        axis = np.array([0.0, 1.0, 0.0])
    free: dict[str, Any] = {}
    if rng.random() < 0.3:
        free["limits"] = (-float(rng.uniform(0, 1)), float(rng.uniform(0, 1)))
    if rng.random() < 0.2:
        free["motor"] = ds.Motor(float(rng.normal() * 5), max_torque=float(rng.uniform(0, 50)))
    if rng.random() < 0.2:
        free["friction"] = float(rng.uniform(0, 5))
    kinds = (
        lambda: ds.Ball(a, b, point),
        lambda: ds.Hinge(a, b, point, None if flat else axis, **free),
        lambda: ds.Fixed(a, b),
        lambda: ds.Distance(a, b, a.centre, b.centre),
        lambda: ds.SpringDamper(a, b, a.centre, b.centre, float(10 ** rng.uniform(0, 5)), 1.0),
        lambda: ds.Slider(a, b, (1, 0, 0) if flat else axis),
        lambda: ds.Universal(a, b, point, axis, other),
        lambda: ds.Cylindrical(a, b, point, axis),
        lambda: ds.Planar(a, axis, b),
        lambda: ds.Gear(a, b, a.centre, axis, b.centre, other, float(rng.choice([-2.0, 0.5]))),
        lambda: ds.Rack(a, b, point, axis, other, 0.1),
        lambda: ds.Coupling(a, b, point, axis, **free),
    )
    return kinds[rng.integers(len(kinds))]()


def _add_forces(rng: np.random.Generator, made: Made) -> None:
    world, bodies = made.world, made.world.bodies
    if rng.random() < 0.7:
        return
    body = bodies[rng.integers(len(bodies))]
    other = bodies[rng.integers(len(bodies))]
    kinds = [lambda: ds.Drag(body, linear=float(rng.uniform(0, 10))),
             lambda: ds.Attractor((0, 0, 2), float(rng.uniform(0, 50)), core=0.2)]  # fmt: skip
    if other is not body:
        kinds += [lambda: ds.Spring(body, other, float(10 ** rng.uniform(0, 5))),
                  lambda: ds.Damper(body, other, float(10 ** rng.uniform(0, 2)))]  # fmt: skip
    for _ in range(int(rng.integers(1, 4))):
        try:
            world.add_force(kinds[rng.integers(len(kinds))]())
        except DrystoneError:
            continue
