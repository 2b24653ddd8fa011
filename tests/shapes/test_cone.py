"""Cone: mass, support function, contacts against obvious twins, and motions in closed form."""

from math import asin, atan, cos, hypot, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.collision.narrowphase.gjk import separation
from drystone.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Mesh,
    Plane,
    Sphere,
    matrix_from_quaternion,
)
from drystone.shapes.cone import cone_extent
from narrow_twin import bare_shapes, collide, pose_row, random_hull, random_rotation, turn

G = 9.81
R, LENGTH = 0.4, 0.9
FLAT, SHARP = Cone(0.5, 0.1), Cone(0.05, 0.8)
CONES = [Cone(R, LENGTH), FLAT, SHARP]


def points_of(cone, around=512):
    """Apex and rim, in the cone's axes; their hull is the cone but for r (1 - cos(π / around))."""
    angle = 2 * pi * np.arange(around) / around
    rim = np.column_stack([cone.r * np.cos(angle), cone.r * np.sin(angle), np.zeros(around)])
    return np.vstack([(0, 0, cone.length / 2), rim - (0, 0, cone.length / 2)])


def quaternion(rotation):
    """Of a rotation about an axis, as ds takes it."""
    return ds.shapes.quaternion_from_matrix(rotation)


def lowest(cone, body):
    """Height of the lowest point of a body that is a cone."""
    return (points_of(cone) @ matrix_from_quaternion(body.orientation).T + body.position)[
        :, 2
    ].min()


# shape


@pytest.mark.parametrize("cone", CONES, ids=repr)
def test_mass_against_a_sum_over_thin_discs(cone):
    """Gauss-Legendre, exact for the polynomials that a cone's integrands are."""
    z, weight = np.polynomial.legendre.leggauss(8)
    half = cone.length / 2
    z, weight = half * z, half * weight
    r = cone.r * (half - z) / cone.length
    area = pi * r * r
    volume = (weight * area).sum()
    centre = (weight * area * z).sum() / volume
    along = (weight * area * r * r / 2).sum()
    across = (weight * area * (r * r / 4 + (z - centre) ** 2)).sum()
    mass = cone.mass_properties()
    assert mass.volume == pytest.approx(volume, rel=1e-13)
    np.testing.assert_allclose(mass.centre, (0, 0, centre), atol=1e-14)
    np.testing.assert_allclose(mass.inertia, np.diag([across, across, along]), atol=1e-13 * across)


def test_base_is_below_and_apex_above_the_origin():
    """The origin is half way up, the centre of mass a quarter of the length above the base."""
    (surface,) = Cone(R, LENGTH).surfaces()
    z = surface.vertices[:, 2]
    at_apex = surface.vertices[z == z.max()]
    np.testing.assert_allclose(at_apex, np.tile((0, 0, LENGTH / 2), (len(at_apex), 1)), atol=1e-15)
    assert z.min() == -LENGTH / 2
    body = ds.World().add_body(Cone(R, LENGTH), position=(1, 2, 3))
    np.testing.assert_allclose(body.centre, (1, 2, 3 - LENGTH / 4), atol=1e-15)


@pytest.mark.parametrize(
    "sizes, words",
    [
        ((0, 1), "Cone: radius r is 0 m, must be > 0"),
        ((1, -1), "Cone: length is -1 m, must be > 0"),
        ((1, np.nan), "Cone: length is nan, must be a finite number in m"),
        (("wide", 1), "Cone: radius r is 'wide', must be a number in m"),
    ],
)
def test_bad_sizes_are_named(sizes, words):
    with pytest.raises(ds.InputError, match="Cone") as error:
        Cone(*sizes)
    assert words in str(error.value)


@pytest.mark.parametrize("cone", CONES, ids=repr)
def test_support_and_aabb_are_those_of_a_cloud_of_points(cone):
    rng = np.random.default_rng(1)
    tables = bare_shapes(cone, Sphere(0.1))
    cloud = points_of(cone, 20000)
    extent = getattr(cone_extent, "py_func", cone_extent)
    directions = [*rng.normal(size=(40, 3)), (0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0)]
    directions.append(
        (cone.length, 0, cone.r)
    )  # normal of the flank: the apex is as far as the rim
    for d in directions:
        d = np.array(d, float) / np.linalg.norm(d)
        heights = cloud @ d
        rotation = random_rotation(rng)
        pose = np.array([pose_row((0, 0, 0), rotation), pose_row()])
        top = -separation(tables, pose, 0, 1, (0.0, 0.0, 0.0), tuple(rotation @ d))
        assert top == pytest.approx(heights.max(), abs=1e-7 * cone.r)
        low, high = extent(tuple(tables.size[0]), tuple(d))
        assert (low, high) == pytest.approx((heights.min(), heights.max()), abs=1e-7 * cone.r)


# contacts


PARTNERS = {
    "plane": Plane(),
    "sphere": Sphere(0.3),
    "capsule": Capsule(0.2, 0.6),
    "cylinder": Cylinder(0.3, 0.7),
    "cone": Cone(0.35, 0.6),
    "box": Box(0.5, 0.7, 0.3),
    "hull": random_hull(np.random.default_rng(4), 20, 0.4),
}


@pytest.mark.parametrize("cone", CONES, ids=repr)
@pytest.mark.parametrize("name", PARTNERS)
def test_gap_and_normal_are_those_of_a_fine_hull(cone, name):
    """The hull of 100 rim points and the apex, down to overlaps of 1 % of a metre.

    It lies within r (1 - cos(π / 100)) = 5e-4 r of the cone, and the points that stay of a
    manifold may miss its deepest by 5e-5 of its extent.
    """
    rng = np.random.default_rng(5)
    twin = ConvexHull(points_of(cone, 100))
    tables = bare_shapes(cone, twin, PARTNERS[name])
    seen = 0
    for _ in range(120):
        rotation = random_rotation(rng)
        place = rng.normal(size=3) * 0.4
        other = pose_row((0.0, 0.0, 0.0), None if name == "plane" else random_rotation(rng))
        poses = [
            pose_row(place, rotation),
            pose_row(place + rotation @ twin.offset, rotation),
            other,
        ]
        mine, hulls = collide(tables, poses, 2.0, pairs=((0, 2), (1, 2)))
        if hulls.gap.min() < -0.01:
            continue
        seen += 1
        assert mine.gap.min() == pytest.approx(hulls.gap.min(), abs=5e-4 * cone.r + 1e-4)
        if hulls.gap.min() > 0.01:
            n, m = mine.normal[mine.gap.argmin()], hulls.normal[hulls.gap.argmin()]
            assert n @ m > 0.999
    assert seen >= 10


def test_contacts_with_a_mesh_are_those_with_its_twin():
    """A mesh of a box and a Box: the same smallest gap."""
    rng = np.random.default_rng(6)
    sides = (0.5, 0.7, 0.3)
    block = trimesh.creation.box(sides)
    tables = bare_shapes(Cone(R, LENGTH), Box(*sides), Mesh(block.vertices, block.faces))
    seen = 0
    for _ in range(150):
        place = rng.normal(size=3)
        place *= rng.uniform(0.3, 0.8) / np.linalg.norm(place)
        pose, other = pose_row(place, random_rotation(rng)), pose_row((0, 0, 0))
        box, mesh = collide(tables, [pose, other, other], 0.02, pairs=((0, 1), (0, 2)))
        if len(box.gap) == 0 or box.gap.min() < -0.01:
            continue
        seen += 1
        assert mesh.gap.min() == pytest.approx(box.gap.min(), abs=2e-5)
    assert seen >= 5


@pytest.mark.parametrize(
    "other", [Plane(), Box(4, 4, 1), Cylinder(2, 1)], ids=["plane", "box", "cap"]
)
@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-4])
def test_standing_on_its_base_it_has_four_points_of_the_rim(other, gap):
    top = 0.0 if isinstance(other, Plane) else 0.5
    tables = bare_shapes(Cone(R, LENGTH), other)
    for tilt in (0.0, 1e-12):
        pose = pose_row((0.1, 0.2, top + LENGTH / 2 + gap), turn((1, 0, 0), tilt))
        (c,) = collide(tables, [pose, pose_row()], 0.01)
        np.testing.assert_allclose(c.gap, [gap] * 4, atol=1e-9)
        d = c.point[:, :2] - (0.1, 0.2)
        np.testing.assert_allclose(np.hypot(d[:, 0], d[:, 1]), R, atol=1e-9)
        np.testing.assert_allclose(d.mean(axis=0), 0, atol=1e-9)


def lying(angle=0.0):
    """Rotation that lays Cone(R, LENGTH) on its flank, the apex towards x turned by `angle`."""
    half_angle = atan(R / LENGTH)
    return turn((0, 0, 1), angle) @ turn((0, 1, 0), pi / 2 + half_angle)


@pytest.mark.parametrize("other", [Plane(), Box(4, 4, 1)], ids=["plane", "box"])
@pytest.mark.parametrize("roll", [0.0, 0.3, 2.0])
def test_lying_on_its_flank_it_has_apex_and_rim(other, roll):
    top = 0.0 if isinstance(other, Plane) else 0.5
    tables = bare_shapes(Cone(R, LENGTH), other)
    rotation = lying() @ turn((0, 0, 1), roll)
    apex = rotation @ (0, 0, LENGTH / 2)
    place = -apex + (0, 0, top - 1e-6)
    (c,) = collide(tables, [pose_row(place, rotation), pose_row()], 0.01)
    np.testing.assert_allclose(c.gap, [-1e-6] * 2, atol=1e-10)
    np.testing.assert_allclose(sorted(c.point[:, 0]), [-hypot(R, LENGTH), 0], atol=1e-9)
    np.testing.assert_allclose(c.point[:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(abs(c.normal), [[0, 0, 1]] * 2, atol=1e-12)


def test_cones_side_by_side_touch_along_a_line():
    """One upside down beside the other: contacts at both ends of the line that is common."""
    cone = Cone(R, LENGTH)
    half_angle = atan(R / LENGTH)
    apart = R * cos(half_angle) + 1e-4  # of the axes, times the cosine
    tables = bare_shapes(cone, cone)
    other = pose_row((apart / cos(half_angle), 0, 0), turn((1, 0, 0), pi))
    (c,) = collide(tables, [pose_row(), other], 0.01)
    np.testing.assert_allclose(c.gap, [1e-4] * len(c.gap), atol=1e-8)
    assert len(c.gap) == 2 and np.ptp(c.point[:, 2]) == pytest.approx(LENGTH, rel=1e-3)


# motion


STONE = ds.Material(density=2600, friction=tan(radians(25)))


@pytest.mark.parametrize("slope", [20.0, 24.9, 25.1, 30.0])
def test_on_its_base_it_slides_as_coulomb_says(slope):
    """v(t) = max(0, sin a - mu cos a) g t; the scheme is exact for a constant force."""
    a = radians(slope)
    world = ds.World(gravity=(G * sin(a), 0, -G * cos(a)), dt=0.01)
    world.add_fixed(Plane(), STONE)
    body = world.add_body(Cone(0.3, 0.4), STONE, position=(0, 0, 0.2))
    world.run(0.5)
    expected = max(0.0, sin(a) - STONE.friction * cos(a)) * G * 0.5
    assert body.velocity[0] == pytest.approx(expected, abs=2e-4)
    np.testing.assert_allclose(matrix_from_quaternion(body.orientation)[2, 2], 1, atol=1e-9)


def test_pushed_over_it_lies_on_its_flank():
    """The axis falls below the horizontal by the half angle: sin = r / slant."""
    world = ds.World()
    rough = ds.Material(density=1000, friction=0.6)
    world.add_fixed(Plane(), rough)
    tilt = turn((0, 1, 0), 1.3)
    cone = Cone(0.2, 0.8)
    up = -(points_of(cone) @ tilt.T)[:, 2].min()
    body = world.add_body(cone, rough, position=(0, 0, up), orientation=quaternion(tilt))
    world.run(6.0)
    axis = matrix_from_quaternion(body.orientation)[:, 2]
    assert asin(-axis[2]) == pytest.approx(atan(0.2 / 0.8), abs=1e-3)
    assert body.centre[2] == pytest.approx(0.75 * 0.8 * 0.2 / hypot(0.2, 0.8), abs=1e-4)


def test_rolling_on_a_slope_it_swings_about_its_apex():
    """Without slip: w² = 5 g sin b cos a / (h (1 + 5 cos² a)), a the half angle, b the slope.

    From the kinetic energy 3/40 m h² (1 + 5 cos² a) θ'² of a cone that rolls on a plane and the
    height of its centre, 3/4 h cos a from the apex along the line of contact. An amplitude
    of 0.1 rad lengthens the period by 0.06 %.
    """
    slope, half_angle = radians(10), atan(R / LENGTH)
    world = ds.World(gravity=(-G * sin(slope), 0, -G * cos(slope)), dt=1 / 480, sleeping=False)
    rough = ds.Material(density=1000, friction=2.0)
    world.add_fixed(Plane(), rough)
    rotation = lying(0.1)
    body = world.add_body(
        Cone(R, LENGTH), rough, position=-rotation @ (0, 0, LENGTH / 2),
        orientation=quaternion(rotation),
    )  # fmt: skip
    c = cos(half_angle)
    period = 2 * pi / sqrt(5 * G * sin(slope) * c / (LENGTH * (1 + 5 * c * c)))
    sideways, times = [body.centre[1]], [0.0]
    while times[-1] < 0.6 * period:
        world.step()
        sideways.append(body.centre[1])
        times.append(world.time)
    sideways = np.array(sideways)
    k = np.flatnonzero(np.sign(sideways[1:]) != np.sign(sideways[:-1]))[0]
    share = sideways[k] / (sideways[k] - sideways[k + 1])
    crossing = times[k] + share * (times[k + 1] - times[k])
    assert crossing == pytest.approx(period / 4, rel=0.01)
    apex = body.position + matrix_from_quaternion(body.orientation) @ (0, 0, LENGTH / 2)
    assert np.linalg.norm(apex) < 0.02 * LENGTH


def grounds():
    x, y = np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9))
    block = trimesh.creation.box((4, 4, 0.5)).subdivide().subdivide()
    block.apply_translation((0, 0, -0.25))
    return {
        "plane": Plane(),
        "box": ds.Compound((Box(4, 4, 0.5), (0, 0, -0.25))),
        "terrain": ds.Terrain.from_grid(np.zeros_like(x), 0.5, (-2, -2)),
        "mesh": Mesh(block.vertices, block.faces),
    }


@pytest.mark.parametrize("name", ["plane", "box", "terrain", "mesh"])
@pytest.mark.parametrize("cone", CONES, ids=repr)
def test_dropped_it_comes_to_rest_on_the_ground(name, cone):
    world = ds.World()
    rough = ds.Material(density=1000, friction=0.6)
    world.add_fixed(grounds()[name], rough)
    tilt = turn((1, 0.3, 0), 0.7)
    up = 0.1 - (points_of(cone) @ tilt.T)[:, 2].min()
    body = world.add_body(cone, rough, position=(0, 0, up), orientation=quaternion(tilt))
    for _ in range(10):
        world.run(0.2)
        assert lowest(cone, body) > -2e-3 * cone.r - 1e-4
    assert np.linalg.norm(body.velocity) < 0.5 and lowest(cone, body) < 0.01 * cone.length


def test_a_stack_with_a_cone_on_top_stands_and_sleeps():
    world = ds.World()
    rough = ds.Material(density=1000, friction=0.6)
    world.add_fixed(Plane(), rough)
    world.add_body(Cylinder(0.3, 0.4), rough, position=(0, 0, 0.2))
    world.add_body(Box(0.7, 0.7, 0.2), rough, position=(0, 0, 0.5))
    top = world.add_body(Cone(0.3, 0.6), rough, position=(0.02, 0, 0.9))
    world.run(3.0)
    np.testing.assert_allclose(top.position, (0.02, 0, 0.9), atol=1e-3)
    assert top.asleep


def test_a_fast_one_does_not_pass_through_a_plate():
    for tilt in (0.0, 1.0, pi):
        world = ds.World(gravity=(0, 0, 0), dt=0.01)
        world.add_fixed(Box(2, 2, 0.002))
        body = world.add_body(
            Cone(0.05, 0.1), position=(0, 0, 0.5), velocity=(0, 0, -60),
            orientation=quaternion(turn((1, 0, 0), tilt)),
        )  # fmt: skip
        world.run(0.1)
        assert body.position[2] > -0.06


def test_saved_and_recorded_worlds_go_on_bit_for_bit(tmp_path):
    world = ds.World()
    world.add_fixed(Plane())
    for k in range(4):
        tilt = quaternion(turn((1, k, 0), 0.4 * k))
        world.add_body(
            Cone(0.2, 0.1 + 0.2 * k), position=(0, 0.1 * k, 0.5 + 0.6 * k), orientation=tilt
        )
    world.run(0.4)
    world.save(tmp_path / "world.h5")
    again = ds.World.load(tmp_path / "world.h5")
    assert [body.shape for body in again.bodies] == [body.shape for body in world.bodies]
    with ds.record(world, tmp_path / "run.h5"):
        world.run(0.4)
    again.run(0.4)
    assert again.hash() == world.hash()
    assert not world.check()


@pytest.mark.parametrize("seed", range(2))
def test_a_heap_of_mixed_shapes_stays_apart(seed):
    """24 bodies dropped on each other: overlaps stay below 3 % of a size, as without cones."""
    rng = np.random.default_rng(seed)
    world = ds.World()
    world.add_fixed(Plane())
    shapes = [Cone(0.2, 0.4), Cone(0.3, 0.15), Box(0.3, 0.3, 0.3), Cylinder(0.15, 0.4),
              Sphere(0.2), Capsule(0.1, 0.3), random_hull(rng, 16, 0.25)]  # fmt: skip
    for k in range(24):
        place = (*rng.uniform(-0.4, 0.4, size=2), 0.4 + 0.35 * k)
        q = rng.normal(size=4)
        world.add_body(shapes[k % 7], position=place, orientation=q / np.linalg.norm(q))
    for _ in range(10):
        world.run(0.25)
        table = world.contacts()
        assert np.isfinite(world.positions).all()
        assert table.gap.min(initial=0.0) > -0.01
