"""Ray casts against dense sampling of what is inside each shape, and against closed forms."""

import numpy as np
import pytest

import drystone as ds

STEPS = 8000  # samples along a ray of FAR metres
FAR = 8.0


def inside_cone(p, r, h):
    return (abs(p[:, 2]) <= h) & (np.hypot(p[:, 0], p[:, 1]) <= r * (h - p[:, 2]) / (2 * h))


def inside_capsule(p, r, h):
    z = np.clip(p[:, 2], -h, h)
    return p[:, 0] ** 2 + p[:, 1] ** 2 + (p[:, 2] - z) ** 2 <= r * r


HULL = np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]], float)
FACES = [(0, 1, 3), (0, 2, 1), (0, 3, 2), (1, 2, 3)]


def inside_hull(p):
    good = np.ones(len(p), bool)
    for f in FACES:
        a, b, c = HULL[list(f)]
        n = np.cross(b - a, c - a)
        n = n if n @ a > 0 else -n
        good &= (p - a) @ n <= 0
    return good


SHAPES = {
    "sphere": (ds.Sphere(0.8), lambda p: (p**2).sum(axis=1) <= 0.64),
    "box": (ds.Box(1.0, 1.6, 2.0), lambda p: (abs(p) <= (0.5, 0.8, 1.0)).all(axis=1)),
    "capsule": (ds.Capsule(0.4, 1.2), lambda p: inside_capsule(p, 0.4, 0.6)),
    "cylinder": (
        ds.Cylinder(0.7, 1.2),
        lambda p: (abs(p[:, 2]) <= 0.6) & (np.hypot(p[:, 0], p[:, 1]) <= 0.7),
    ),
    "cone": (ds.Cone(0.7, 1.4), lambda p: inside_cone(p, 0.7, 0.7)),
    "hull": (ds.ConvexHull(HULL), inside_hull),
    "mesh": (ds.Mesh(HULL, FACES), inside_hull),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_ray_meets_a_shape_where_sampling_first_finds_its_inside(name):
    shape, inside = SHAPES[name]
    rng = np.random.default_rng(7)
    world = ds.World()
    half = rng.normal(size=4)
    body = world.add_body(shape, position=(0.3, -0.2, 0.1), orientation=half / np.linalg.norm(half))
    origins = rng.uniform(-2.5, 2.5, (60, 3))
    directions = rng.normal(size=(60, 3)) * 0.3 - origins
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    hits = world.ray_casts(origins, directions, length=FAR)
    w, x, y, z = body.orientation
    r = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    t = np.linspace(0, FAR, STEPS)
    for o, d, hit, distance in zip(origins, directions, hits.hit, hits.distance, strict=True):
        local = (o + t[:, None] * d - body.position) @ r
        there = inside(local)
        if there.any():  # a corner may be cut between two samples, but not the other way round
            assert hit
            assert distance == pytest.approx(t[there.argmax()], abs=1.01 * FAR / STEPS)
    assert hits.hit.mean() > 0.5
    met = hits.hit & (hits.distance > 0)
    assert (np.einsum("ij,ij->i", hits.normal[met], directions[met]) < 0).all()
    assert np.allclose(np.linalg.norm(hits.normal[met], axis=1), 1.0, rtol=1e-12)


def test_the_nearest_of_many_is_met_and_masks_and_ignore_are_obeyed():
    world = ds.World()
    ground = world.add_fixed(ds.Plane(), group=4)
    low = world.add_body(ds.Sphere(0.5), position=(0, 0, 2), group=1)
    high = world.add_body(ds.Sphere(0.5), position=(0, 0, 4), group=2)
    hit = world.ray_cast((0, 0, 10), (0, 0, -3))
    assert hit.body is high and hit.distance == 5.5
    assert hit.point.tolist() == [0, 0, 4.5] and hit.normal.tolist() == [0, 0, 1]
    assert world.ray_cast((0, 0, 10), (0, 0, -1), ignore=high).body is low
    assert world.ray_cast((0, 0, 10), (0, 0, -1), mask=1).body is low
    assert world.ray_cast((0, 0, 10), (0, 0, -1), mask=4).body is ground
    assert world.ray_cast((0, 0, 10), (0, 0, -1), length=5.4) is None
    assert world.ray_cast((0, 0, 10), (0, 0, 1)) is None
    inner = world.ray_cast((0, 0, 4), (1, 0, 0))
    assert inner.body is high and inner.distance == 0.0
    many = world.ray_casts((0, 0, 10), [(0, 0, -1), (0, 0, 1)])
    assert many.things == [high, None] and many.body.tolist() == [1, -1]
    low.position = (0, 0, 6)
    assert world.ray_cast((0, 0, 10), (0, 0, -1)).body is low


def test_rays_meet_terrain_from_its_front():
    x, y = np.meshgrid(np.arange(9.0), np.arange(9.0), indexing="ij")
    z = 0.1 * x * y
    vertex = np.stack([x, y, z], axis=2).reshape(-1, 3)
    corner = (9 * np.arange(8)[:, None] + np.arange(8)).ravel()
    faces = np.concatenate([
        np.stack([corner, corner + 9, corner + 10], 1),
        np.stack([corner, corner + 10, corner + 1], 1),
    ])  # fmt: skip
    world = ds.World()
    world.add_fixed(ds.Terrain(vertex, faces))
    rng = np.random.default_rng(3)
    for px, py in rng.uniform(0.1, 7.9, (20, 2)):
        i, j, u, v = int(px), int(py), px % 1, py % 1
        c = {(a, b): 0.1 * (i + a) * (j + b) for a in (0, 1) for b in (0, 1)}
        if u >= v:
            height = c[0, 0] + u * (c[1, 0] - c[0, 0]) + v * (c[1, 1] - c[1, 0])
        else:
            height = c[0, 0] + v * (c[0, 1] - c[0, 0]) + u * (c[1, 1] - c[0, 1])
        hit = world.ray_cast((px, py, 20), (0, 0, -1))
        assert hit.distance == pytest.approx(20 - height, rel=1e-12)
        assert world.ray_cast((px, py, -5), (0, 0, 1)) is None
    across = world.ray_cast((-3, 4, 1.0), (1, 0, 0.0))
    assert across.point[0] == pytest.approx(2.5, abs=1e-9)  # z = 0.1 x 4 = 1


def test_wrong_rays_get_a_sentence():
    world = ds.World()
    world.add_body(ds.Sphere(1))
    for call, word in (
        (lambda: world.ray_cast((0, 0, 0), (0, 0, 0)), "point away"),
        (lambda: world.ray_cast((0, 0), (0, 0, 1)), "three numbers"),
        (lambda: world.ray_casts([(0, 0, np.nan)], [(0, 0, 1)]), "finite"),
        (lambda: world.ray_cast((0, 0, 0), (0, 0, 1), length=-1), ">= 0"),
        (lambda: world.ray_casts(np.zeros((2, 3)), np.ones((3, 3))), "2 origins"),
    ):
        with pytest.raises(ds.InputError, match=word):
            call()
    with pytest.raises(ds.UnsupportedFeature, match="three dimensions"):
        ds.World(dim=2).ray_cast((0, 0, 0), (0, 0, 1))
