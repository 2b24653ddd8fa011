"""Discs, polygons and segments: mass, contacts against a slow twin, and what is refused."""

import itertools
from math import cos, pi, sin

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull as QuickHull

import drystone as ds
from drystone.errors import DrystoneError, InputError


def turned(points, angle, at):
    """Points (n, 2) turned about y by the right hand (z towards x), then moved."""
    x, z = np.asarray(points, float).T
    c, s = cos(angle), sin(angle)
    return np.column_stack([c * x + s * z, c * z - s * x]) + at


# Mass


def test_disc_and_box_have_the_mass_of_one_metre_of_depth():
    world, stone = ds.World(dim=2), ds.Material(density=2600)
    disc = world.add_body(ds.Disc(0.5), stone)
    box = world.add_body(ds.Polygon.box(2, 1), stone, position=(5, 0))
    assert disc.mass == pytest.approx(2600 * pi * 0.25)
    assert disc.inertia[1, 1] == pytest.approx(0.5 * disc.mass * 0.25)
    assert box.mass == pytest.approx(5200)
    assert box.inertia[1, 1] == pytest.approx(box.mass * 5 / 12)


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_mass_of_polygons_and_segments_against_a_grid(seed):
    """Area, centre and moment as sums over small squares."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (7, 2))
    points = points[QuickHull(points).vertices]
    radius = rng.uniform(0.1, 0.5)
    ends = rng.uniform(-1, 1, (2, 2))
    grid = np.linspace(-1.6, 1.6, 801)
    x, z = (g.ravel() for g in np.meshgrid(grid, grid))
    inside = QuickHull(points).equations @ np.stack([x, z, np.ones_like(x)]) <= 0
    along = ends[1] - ends[0]
    share = np.clip(((x - ends[0, 0]) * along[0] + (z - ends[0, 1]) * along[1])
                    / (along @ along), 0, 1)  # fmt: skip
    near = np.hypot(x - ends[0, 0] - share * along[0], z - ends[0, 1] - share * along[1])
    for shape, cells in (
        (ds.Polygon(points[:: rng.choice([-1, 1])]), inside.all(axis=0)),
        (ds.Segment(ends[0], ends[1], radius), near <= radius),
    ):
        square = (grid[1] - grid[0]) ** 2
        area, centre, moment = shape.mass_properties()
        assume(area > 0.1)
        assert area == pytest.approx(cells.sum() * square, rel=0.03)
        middle = x[cells].mean(), z[cells].mean()
        assert centre[[0, 2]] == pytest.approx(middle, abs=0.02)
        second = ((x[cells] - middle[0]) ** 2 + (z[cells] - middle[1]) ** 2).sum() * square
        assert moment[1, 1] == pytest.approx(second, rel=0.05)


def test_compound_moves_as_one_body():
    world = ds.World(dim=2, gravity=(0, 0))
    disc = ds.Disc(0.5)
    dumbbell = ds.Compound((disc, (-2, 0)), (disc, (2, 0)))
    body = world.add_body(dumbbell, position=(0, 0), spin=1.0)
    one = disc.mass_properties()
    assert body.inertia[1, 1] == pytest.approx(2000 * (one.inertia[1, 1] + 4 * one.volume))
    world.run(1.0)
    assert body.angle == pytest.approx(1.0, abs=1e-9)


# Contacts


def touch(shape_a, place_a, shape_b, place_b):
    """Contacts of two shapes at (x, z, angle), whatever their distance."""
    world = ds.World(dim=2, dt=1.0, gravity=(0, 0), sleeping=False)
    # A kinematic body that could come from far away makes all distances near.
    world.add_fixed(shape_a, position=place_a[:2], angle=place_a[2])
    world.add_body(
        shape_b, position=place_b[:2], angle=place_b[2], velocity=(100, 0), mass=1, inertia=1
    )
    world.step()
    return world.contacts()


def edges(points):
    """Start, unit direction, length and outward normal of the edges of a convex polygon."""
    way = np.roll(points, -1, axis=0) - points
    length = np.hypot(*way.T)
    way = way / length[:, None]
    return points, way, length, np.column_stack([way[:, 1], -way[:, 0]])


def twin_gap(p, q):
    """Distance of two convex polygons; if they overlap, minus the least way that parts them."""
    apart = -np.inf
    for a, b in ((p, q), (q, p)):
        start, _, _, normal = edges(a)
        height = np.einsum("ek,ebk->eb", normal, b[None] - start[:, None])
        apart = max(apart, height.min(axis=1).max())
    if apart <= 0.0:
        return apart
    best = np.inf
    for a, b in ((p, q), (q, p)):
        start, way, length, _ = edges(a)
        for x in b:
            t = np.clip(np.einsum("ek,ek->e", way, x - start), 0, length)
            best = min(best, np.hypot(*(x - start - t[:, None] * way).T).min())
    return best


def random_polygon(rng):
    points = rng.uniform(-1, 1, (6, 2))
    return points[QuickHull(points).vertices]


@given(seed=st.integers(0, 2**31))
@settings(max_examples=150, deadline=None)
def test_polygons_touch_at_their_nearest_points(seed):
    rng = np.random.default_rng(seed)
    p, q = random_polygon(rng), random_polygon(rng)
    here, there = rng.uniform(-1.2, 1.2, 3), rng.uniform(-1.2, 1.2, 3)
    found = touch(ds.Polygon(p), here, ds.Polygon(q), there)
    # The outline that a body has inside is centred; the twin uses world coordinates.
    a, b = turned(p, here[2], here[:2]), turned(q, there[2], there[:2])
    wanted = twin_gap(a, b)
    assert 1 <= len(found.gap) <= 2
    # An edge of A is preferred to a better one of B within these tolerances
    # (collision/narrowphase/collide_2d.py).
    assert found.gap.min() == pytest.approx(wanted, abs=2e-4 + 0.02 * abs(wanted))
    if wanted > 0.05:  # apart: the normal leads from A to B along the nearest points
        support = (b @ found.normal[0, [0, 2]]).min() - (a @ found.normal[0, [0, 2]]).max()
        assert support == pytest.approx(wanted, abs=2e-4 + 0.02 * wanted)


@pytest.mark.slow
@given(seed=st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_discs_and_round_segments_keep_their_radius_from_polygons(seed):
    """Far enough out, a rounding is subtracted from the distance of the core."""
    rng = np.random.default_rng(seed)
    p, r = random_polygon(rng), rng.uniform(0.05, 0.4)
    here, there = rng.uniform(-1, 1, 3), rng.uniform(-2, 2, 3)
    ends = rng.uniform(-1, 1, (2, 2))
    a = turned(p, here[2], here[:2])
    for shape, core in ((ds.Disc(r), np.zeros((1, 2))), (ds.Segment(*ends, r), ends)):
        b = turned(core, there[2], there[:2])
        start, way, length, _ = edges(a)
        distance = twin_gap(a, b) if len(b) > 1 else _from_point(a, b[0])
        if distance <= 0.01:
            continue
        for found in (
            touch(ds.Polygon(p), here, shape, there),
            touch(shape, there, ds.Polygon(p), here),
        ):
            assert found.gap.min() == pytest.approx(distance - r, abs=2e-4 + 0.02 * distance)


def _from_point(polygon, x):
    start, way, length, normal = edges(polygon)
    if (np.einsum("ek,ek->e", normal, x - start) <= 0).all():
        return -1.0
    t = np.clip(np.einsum("ek,ek->e", way, x - start), 0, length)
    return np.hypot(*(x - start - t[:, None] * way).T).min()


def test_plane_touches_the_ends_of_the_edge_that_faces_it():
    found = touch(ds.Plane((1, 0, 1)), (0, 0, 0), ds.Polygon.box(2, 1), (3, 0, 0))
    assert len(found.gap) == 2
    corner = np.array([2.0, -0.5]) @ [1, 1] / np.sqrt(2)
    assert found.gap.min() == pytest.approx(corner)


# What is refused


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda w: ds.World(dim=4), "dim is 4, must be 2 or 3"),
        (lambda w: ds.World(dim=2, gravity=(0, 1, 0)), "gravity is"),
        (lambda w: w.add_body(ds.Sphere(1)), "shape of three dimensions"),
        (lambda w: w.add_fixed(ds.Box(1, 1, 1)), "shape of three dimensions"),
        (lambda w: ds.World().add_body(ds.Disc(1)), "shape of two dimensions"),
        (lambda w: ds.World().add_body(ds.Sphere(1), angle=1), "for World(dim=2)"),
        (lambda w: w.add_fixed(ds.Plane((0, 1, 1))), "x-z plane"),
        (lambda w: w.add_body(ds.Disc(1), position=(0, 1, 0)), "must be (x, z)"),
        (lambda w: w.add_body(ds.Disc(1), position=3), "must be (x, z)"),
        (lambda w: w.add_body(ds.Disc(1), velocity=(1, 2, 3)), "must be (x, z)"),
        (lambda w: w.add_body(ds.Disc(1), spin=(1, 0, 0)), "about y"),
        (lambda w: w.add_body(ds.Disc(1), orientation=(0, 1, 0, 0)), "about y alone"),
        (lambda w: w.add_body(ds.Disc(1), inertia=(1, 1, 1)), "must be a number"),
        (lambda w: w.add_body(ds.Segment((0, 0), (1, 0))), "no volume"),
        (lambda w: w.add_body(ds.Disc(1), ds.Material(friction=(0.1, 0.2))),
         "one direction"),
        (lambda w: ds.Disc(0), "Disc: radius r"),
        (lambda w: ds.Segment((0, 0), (0, 0)), "use a Disc"),
        (lambda w: ds.Segment((0, 0), (1, 0), -1), "radius is -1"),
        (lambda w: ds.Polygon([(0, 0), (1, 0)]), "at least 3"),
        (lambda w: ds.Polygon(map(int, "ab")), "must be a list"),
        (lambda w: ds.Polygon(itertools.count()), "more than 10000 points"),
        (lambda w: ds.Polygon([(0, 0), (2, 0), (1, 0.1), (1, 2)]), "not convex"),
        (lambda w: ds.Polygon([(0, 0), (1, 0), (2, 0)]), "Polygon"),
        (lambda w: ds.Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]), "given twice"),
        (lambda w: ds.Polygon([(0, 0, 0), (1, 0, 0), (0, 0, 1)]), "must have 2"),
        (lambda w: ds.Compound((ds.Disc(1), (0, 0)), (ds.Sphere(1), (0, 0, 0))).parts()
         and w.add_body(ds.Compound((ds.Disc(1), (0, 0)), (ds.Sphere(1), (0, 0, 0)))), "mixes"),
    ],
)  # fmt: skip
def test_one_sentence_for_wrong_input(wrong, says):
    world = ds.World(dim=2)
    with pytest.raises(InputError) as caught:
        wrong(world)
    assert says in str(caught.value) and len(world) == len(world.fixed) == 0


def test_star_goes_round_twice():
    angles = 4 * pi / 5 * np.arange(5)
    with pytest.raises(InputError, match="more than once"):
        ds.Polygon(np.column_stack([np.cos(angles), np.sin(angles)]))


def test_setters_and_joints_keep_the_plane():
    world = ds.World(dim=2)
    a, b = (world.add_body(ds.Disc(0.1), position=(k, 0)) for k in range(2))
    a.position, a.velocity, a.force, a.torque, a.spin = (1, 2), (3, 4), (5, 6), 7, 8
    a.angle = 0.5
    assert a.position.tolist() == [1, 0, 2] and a.velocity.tolist() == [3, 0, 4]
    assert a.force.tolist() == [5, 0, 6] and a.torque.tolist() == [0, 7, 0]
    assert a.spin.tolist() == [0, 8, 0] and a.angle == pytest.approx(0.5)
    a.inertia = 2.5
    assert a.inertia[1, 1] == 2.5
    for setter in ("position", "velocity", "force", "centre"):
        with pytest.raises(InputError):
            setattr(a, setter, (0, 1, 0))
    for joint in (
        lambda: ds.Ball(a, b, (0, 0, 0)),
        lambda: ds.Hinge(a, b, (0, 0), (1, 0, 0)),
        lambda: ds.Hinge(a, b, (0, 1, 0)),
        lambda: ds.Slider(a, b, (0, 1, 0)),
        lambda: ds.Universal(a, b, (0, 0, 0), (1, 0, 0), (0, 0, 1)),
    ):
        with pytest.raises(DrystoneError):
            world.add_joint(joint())
    assert world.joints == ()
    solid = ds.World()
    with pytest.raises(InputError, match="Hinge: axis is None"):
        ds.Hinge(None, solid.add_body(ds.Sphere(1)), (0, 0, 0))
    with pytest.raises(InputError, match="dim=2"):
        _ = solid.bodies[0].angle
