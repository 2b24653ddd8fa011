"""Barriers that follow the ground, walls that are closed, forest that ends at the tree tops."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.rockfall.engine.barriers import (
    build_barriers,
    drape,
    join_walls,
    line_wall,
    mesh_wall,
)
from drystone.rockfall.engine.forest_drag import build_forest, drag_at
from drystone.rockfall.engine.records import HIT, OVERTOPPED, PASSED, POSITION, STOPPED
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Scene, Start, roll
from drystone.rockfall.terrain.materials import build_surface
from drystone.rockfall.terrain.slope import Slope

shapely = pytest.importorskip("shapely", reason="needs the extra drystone[rockfall]")
trimesh = pytest.importorskip("trimesh")


def rough():
    rng = np.random.default_rng(3)
    return Slope.from_grid(100 + rng.uniform(0, 2, (21, 21)), 1.0, origin=(-10.0, -10.0))


def test_panels_stand_on_the_ground_and_join():
    slope = rough()
    lines = [np.array([[-8.0, 0.0], [3.0, 4.0], [8.0, 4.0]]), np.array([[0.0, -5.0], [2.0, -5.0]])]
    barriers = build_barriers(slope, lines, [3.0, 5.0], [1e5, np.inf])
    feet = np.concatenate([barriers.foot_a, barriers.foot_b])
    np.testing.assert_allclose(feet[:, 2], slope.height(feet[:, 0], feet[:, 1]))
    length = np.linalg.norm((barriers.foot_b - barriers.foot_a)[:, :2], axis=1)
    assert (length <= 1.0 + 1e-12).all()
    for k, line in enumerate(lines):
        here = barriers.barrier == k
        plan = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        assert length[here].sum() == pytest.approx(plan)
        np.testing.assert_array_equal(barriers.foot_b[here][:-1], barriers.foot_a[here][1:])
    assert set(barriers.height[barriers.barrier == 1]) == {5.0}
    assert barriers.capacity.tolist() == [1e5, np.inf]


def test_no_barriers():
    barriers = build_barriers(rough(), [], [], [])
    assert barriers.foot_a.shape == (0, 3) and barriers.capacity.shape == (0,)
    assert join_walls([]).triangles.shape == (0, 3)


def test_a_line_over_a_hole_is_named():
    z = np.full((20, 20), 100.0)
    z[10, 10] = np.nan
    slope = Slope.from_grid(z, 1.0, origin=(500.0, 900.0))
    with pytest.raises(InputError, match="leaves the ground at x = 510, y = 910"):
        drape(slope, np.array([[502.0, 910.0], [517.0, 910.0]]) - slope.origin[:2])


def test_walls_are_closed_and_look_outward():
    """Over flat ground, straight: volume = length times thickness times height and depth."""
    slope = Slope.from_grid(np.full((21, 21), 50.0), 1.0, origin=(-10.0, -10.0))
    wall = line_wall(slope, np.array([[-5.0, 1.0], [5.0, 1.0]]), 2.0, 0.5)
    mesh = trimesh.Trimesh(wall.vertices, wall.triangles, process=False)
    assert mesh.is_watertight and mesh.volume == pytest.approx(10 * 0.5 * (2.0 + 1.0))
    assert wall.vertices[:, 2].max() == 52.0


@pytest.mark.parametrize("seed", range(5))
def test_bent_walls_on_rough_ground_are_closed(seed):
    rng = np.random.default_rng(seed)
    line = np.column_stack([np.linspace(-8, 8, 5), rng.uniform(-4, 4, 5)])
    slope = rough()
    walls = join_walls(
        [line_wall(slope, line, 2.0, 0.4), line_wall(slope, line[:2] + [0.0, 5.0], 1.0, 0.2)]
    )
    mesh = trimesh.Trimesh(walls.vertices, walls.triangles, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0
    assert set(walls.barrier.tolist()) == {0, 1}


def test_a_wall_cannot_turn_back():
    line = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 0.0]])
    with pytest.raises(InputError, match="turns back on itself"):
        line_wall(rough(), line, 2.0, 0.5)


def flat():
    return Slope.from_grid(np.zeros((61, 61)), 1.0, origin=(-30.0, -30.0))


def walled(slope, wall, restitution=0.5, friction=0.0):
    """The slope with a wall after a net far away, so that the wall is barrier 1."""
    net = np.array([[-29.0, -29.0], [-28.0, -29.0]])
    first = len(slope.triangles)
    barriers = build_barriers(slope, [net], [1.0], [1e3], [wall], first)
    vertices = np.concatenate([slope.vertices, wall.vertices])
    triangles = np.concatenate([slope.triangles, wall.triangles + len(slope.vertices)])
    surface = build_surface(triangles, [restitution], [friction])
    return Scene.build(vertices, triangles, surface, barriers)


ALONG = np.array([[5.0, -8.0], [5.0, 8.0]])


@pytest.fixture(scope="module")
def wall_scene():
    slope = flat()
    return walled(slope, line_wall(slope, ALONG, 2.0, 0.5))


def outcomes(trajectory):
    assert (trajectory.crossings["barrier"] == 1).all()
    assert trajectory.end["crossings"] == len(trajectory.crossings)
    return trajectory.crossings["outcome"].tolist()


def test_a_wall_is_hit_and_stops(wall_scene):
    """A sphere without friction meets it at 10 m/s, and turns back with half of that."""
    rock = Rock.sphere(1.0)
    start = Start((0, 0, 0.5003), velocity=(10.0, 0, 0))
    moving = roll(rock, start, wall_scene, Options(max_time=1.0))
    assert outcomes(moving) == [HIT]
    hit = moving.crossings[0]
    assert hit["t"] == pytest.approx(0.425, abs=1e-3)  # 5 - 0.25 - 0.5 m
    assert hit["energy"] == pytest.approx(50.0 * rock.mass)
    assert hit["taken"] == pytest.approx(0.75 * 50.0 * rock.mass, rel=1e-6)
    assert hit["v"] == pytest.approx([10.0, 0, 0], abs=1e-6)
    assert hit["height"] == pytest.approx(0.5, abs=2e-3)
    slope = flat()
    rough_floor = walled(slope, line_wall(slope, ALONG, 2.0, 0.5), 0.2, 0.8)
    block = Rock.block(1.0, 1.0, 1.0)
    rests = roll(block, Start((2, 0, 0.501), velocity=(10.0, 0, 0)), rough_floor)
    assert outcomes(rests)[0] == HIT and outcomes(rests)[-1] == STOPPED
    assert rests.crossings[-1]["t"] == rests.end["t"]


def test_who_flies_over_a_wall_has_overtopped_it(wall_scene):
    start = Start((0, 0, 4.0), velocity=(15.0, 0, 0))
    over = roll(Rock.sphere(1.0), start, wall_scene, Options(max_time=1.0))
    assert outcomes(over) == [OVERTOPPED]
    crossing = over.crossings[0]
    assert crossing["x"][0] == pytest.approx(5.0) and crossing["taken"] == 0.0
    assert crossing["height"] == pytest.approx(4.0 - 0.5 * 9.81 / 9.0)
    assert over.arcs["v"][0, 0] == 15.0 == over.arcs["v"][-1, 0]


def test_who_gets_round_a_wall_has_passed_it():
    """A wall at 45 degrees to the fall of a slope: the sphere slides along it and by its end."""
    x = np.arange(-30.0, 31.0)
    slope = Slope.from_grid(np.tile(-0.3 * x, (61, 1)), 1.0, origin=(-30.0, -30.0))
    wall = line_wall(slope, np.array([[4.0, -4.0], [8.0, 0.0]]), 2.0, 0.3)
    start = Start((0.0, -2.0, 0.6), velocity=(3.0, 0, 0))
    by = roll(Rock.sphere(1.0), start, walled(slope, wall, 0.0))
    assert by.end["reason"] == POSITION
    assert outcomes(by)[0] == HIT and outcomes(by)[-1] == PASSED
    assert OVERTOPPED not in outcomes(by) and by.end["x"][0] > 20.0


def test_a_wall_may_be_a_mesh():
    """A block 12 x 1 x 3 m on the ground, given inside out; its line is the long middle."""
    slope = flat()
    box = trimesh.creation.box((1.0, 12.0, 3.0))
    box.apply_translation((6.0, 1.0, 1.0))
    wall = mesh_wall(slope, np.array(box.vertices), box.faces[:, ::-1])
    assert sorted(wall.line[:, 1].tolist()) == pytest.approx([-5.0, 7.0])
    assert wall.line[:, 0] == pytest.approx([6.0, 6.0]) and wall.height == pytest.approx(2.5)
    assert trimesh.Trimesh(wall.vertices, wall.triangles, process=False).volume > 0.0
    start = Start((0, 0, 0.5003), velocity=(10.0, 0, 0))
    hit = roll(Rock.sphere(1.0), start, walled(slope, wall), Options(max_time=1.0))
    assert outcomes(hit) == [HIT]
    assert hit.crossings["x"][0, 0] == pytest.approx(5.0, abs=2e-3)
    with pytest.raises(InputError, match="below the ground"):
        mesh_wall(slope, np.array(box.vertices) - [0, 0, 9.0], box.faces)


@kernel
def ask(x, y, above, forest):
    return drag_at(x, y, above, forest)


def test_forest_brakes_below_its_tops_alone():
    forest = build_forest(
        [shapely.box(0, 0, 10, 10), shapely.box(5, 0, 15, 10)], [200.0, 500.0], [20.0, 8.0],
        [0.0, 1.0],
    )  # fmt: skip
    assert ask(2.0, 5.0, 19.9, forest) == 200.0
    assert ask(2.0, 5.0, 20.1, forest) == 0.0
    assert ask(7.0, 5.0, 3.0, forest) == 500.0  # the zone with the larger priority
    assert ask(20.0, 5.0, 3.0, forest) == 0.0
    assert ask(2.0, 5.0, 1.0, build_forest([], [], [])) == 0.0
