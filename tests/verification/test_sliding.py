"""Dry friction against closed forms: hold, slide, stop, roll."""

from math import atan, cos, radians, sin

import numpy as np
import pytest

import drystone as ds

G = 9.81

solvers = pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v.compiled])


def slope_world(angle, friction, shape, height, **options):
    """A body on a slope that falls towards +x by `angle` [rad], its centre `height` above it."""
    material = ds.Material(friction=friction)
    world = ds.World(sleeping=False, **options)
    normal = np.array([sin(angle), 0.0, cos(angle)])
    world.add_fixed(ds.Plane(normal=normal), material)
    turn = (cos(angle / 2), 0.0, sin(angle / 2), 0.0)
    body = world.add_body(shape, material, position=height * normal, orientation=turn)
    return world, body, np.array([cos(angle), 0.0, -sin(angle)])


@solvers
def test_box_below_the_angle_of_friction_stays(solver):
    """|x(60 s) - x(0)| = 0 for tan(a) < mu.

    1e-6 m in 14 400 steps leaves 7e-11 m a step: less than the solver's tolerance of 1e-5 m/s
    would allow (4e-8 m), so the errors of the steps may not all point downhill.
    """
    mu = 0.5
    world, box, _ = slope_world(0.9 * atan(mu), mu, ds.Box(1, 1, 0.5), 0.25, solver=solver)
    start = box.position
    world.run(60.0)
    assert np.linalg.norm(box.position - start) < 1e-6


@solvers
@pytest.mark.parametrize("mu", [0.2, 0.7])
def test_box_above_the_angle_of_friction_accelerates(solver, mu):
    """v = a t and s = a t² / 2 with a = g (sin alpha - mu cos alpha), within 0.1 %.

    Velocities and mean displacements are exact for a constant acceleration; what is left is the
    first step, in which the contact is not yet known to slide (1/240 of a second's path).
    """
    angle, seconds = 1.1 * atan(mu), 1.0
    world, box, downhill = slope_world(angle, mu, ds.Box(1, 1, 0.1), 0.05, solver=solver)
    start = box.position
    world.run(seconds)
    acceleration = G * (sin(angle) - mu * cos(angle))
    assert box.velocity @ downhill == pytest.approx(acceleration * seconds, rel=1e-3)
    path = (box.position - start) @ downhill
    assert path == pytest.approx(acceleration * seconds**2 / 2, rel=1e-3)
    assert np.linalg.norm(box.spin) < 1e-6  # a flat box does not tip over


def stopping_distance(direction, solver, mu=0.5, speed=5.0):
    material = ds.Material(friction=mu)
    world = ds.World(sleeping=False, solver=solver)
    world.add_fixed(ds.Plane(), material)
    ahead = np.array([cos(direction), sin(direction), 0.0])
    box = world.add_body(
        ds.Box(0.5, 0.5, 0.02), material, position=(0, 0, 0.01), velocity=speed * ahead
    )
    world.run(1.5)
    assert np.linalg.norm(box.velocity) < 1e-5
    aside = np.linalg.norm(box.position[:2] - (box.position @ ahead) * ahead[:2])
    return box.position @ ahead, aside


@solvers
def test_stopping_distance_is_the_same_in_all_directions(solver):
    """s = v² / (2 mu g) within 0.5 %, and within 0.1 % the same for every direction.

    The step in which the box stops moves it by less than mu g dt² = 0.1 mm of 2.5 m. A friction
    pyramid would be off by up to 41 % on the diagonal.
    """
    ways = [stopping_distance(radians(degrees), solver) for degrees in range(0, 91, 15)]
    distances = np.array([s for s, _ in ways])
    assert distances == pytest.approx(25.0 / (2 * 0.5 * G), rel=5e-3)
    assert np.ptp(distances) < 1e-3 * distances.mean()
    assert max(aside for _, aside in ways) < 1e-4


@solvers
def test_sphere_rolls_down_without_sliding(solver):
    """v² = (10/7) g h for a full sphere that rolls: m v²/2 + (2/5) m v²/2 = m g h.

    0.1 %: the step at which it starts to roll is 1/240 of the way in time.
    """
    angle, radius = radians(15), 0.2
    world, ball, downhill = slope_world(angle, 1.0, ds.Sphere(radius), radius, solver=solver)
    start = ball.position[2]
    world.run(1.0)
    speed = ball.velocity @ downhill
    height = start - ball.position[2]
    assert speed**2 == pytest.approx(10 / 7 * G * height, rel=1e-3)
    assert ball.spin[1] * radius == pytest.approx(speed, rel=1e-6)  # no slip
    assert height == pytest.approx(sin(angle) ** 2 * G * 5 / 14, rel=1e-3)


@solvers
def test_cylinder_rolls_evenly(solver):
    """A lying cylinder rolls: z = r, v = w r and the number of contacts do not change in 20 turns.

    1e-6 m: the skin within which contacts count as touching is half of that.
    """
    radius, speed = 0.1, 2.0
    material = ds.Material(friction=0.5)
    world = ds.World(sleeping=False, solver=solver)
    world.add_fixed(ds.Plane(), material)
    bar = world.add_body(
        ds.Cylinder(radius, 0.4), material, position=(0, 0, radius),
        orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0), velocity=(speed, 0, 0),
        spin=(0, speed / radius, 0),
    )  # fmt: skip
    world.step()
    counts, heights, speeds = {world.info.contacts}, [], []
    for _ in range(round(20 * 2 * np.pi * radius / speed / world.dt)):
        world.step()
        counts.add(world.info.contacts)
        heights.append(bar.position[2])
        speeds.append(bar.velocity[0])
    assert len(counts) == 1 and counts.pop() >= 2
    assert np.abs(np.array(heights) - radius).max() < 1e-6
    assert np.abs(np.array(speeds) - speed).max() < 1e-6


def flat_triangles(seed, length, width):
    """A flat strip along x, cut at random into triangles."""
    from scipy.spatial import Delaunay

    rng = np.random.default_rng(seed)
    inside = rng.uniform((-2, -width), (length, width), (600, 2))
    rim = [(x, y) for x in np.linspace(-2, length, 12) for y in (-width, width)]
    points = np.vstack([inside, rim])
    faces = Delaunay(points).simplices.copy()
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    clockwise = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] < 0
    faces[clockwise] = faces[clockwise][:, ::-1]
    return ds.Terrain(np.column_stack([points, np.zeros(len(points))]), faces)


@solvers
def test_flat_terrain_equals_a_plane(solver):
    """v_z = 0 and the same path on a flat strip of random triangles as on a plane.

    Inner edges must not be felt: 1e-6 m/s is a tenth of the solver's tolerance.
    """
    paths = []
    for ground in (ds.Plane(), flat_triangles(4, 24.0, 3.0)):
        material = ds.Material(friction=0.3)
        world = ds.World(sleeping=False, solver=solver)
        world.add_fixed(ground, material)
        box = world.add_body(
            ds.Box(0.6, 0.4, 0.1), material, position=(0, 0, 0.05), velocity=(10.9, 0.5, 0)
        )
        positions, vertical = [], 0.0
        for _ in range(round(3.0 / world.dt)):
            world.step()
            positions.append(box.position)
            vertical = max(vertical, abs(box.velocity[2]))
        assert vertical < 1e-6
        paths.append(np.array(positions))
    plane, terrain = paths
    assert plane[-1, 0] > 19.0
    assert np.abs(plane - terrain).max() < 1e-9


@pytest.mark.parametrize("dt", [1 / 240, 0.01])
@pytest.mark.parametrize("on_plank", [False, True], ids=["plane", "plank"])
def test_a_cylinder_that_rocks_while_it_rolls_rocks_no_more(dt, on_plank):
    """Rocking of 1e-5 rad/s stays as small in 50 revolutions, on the world and on another body."""
    material, radius, speed = ds.Material(density=1000, friction=0.5), 0.1, 2.0
    world = ds.World(dt=dt, sleeping=False)
    world.add_fixed(ds.Plane(), material)
    top = 0.0
    if on_plank:
        world.add_body(ds.Box(40, 2, 1), material, position=(16, 0, 0.5))
        top = 1.0
    bar = world.add_body(
        ds.Cylinder(radius, 0.4), material, position=(0, 0, top + radius),
        orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0), velocity=(speed, 0, 0),
        spin=(1e-5, speed / radius, 0),
    )  # fmt: skip
    for _ in range(round(100 * np.pi * radius / speed / dt)):
        world.step()
        assert abs(bar.spin[0]) + abs(bar.spin[2]) < 2e-5
