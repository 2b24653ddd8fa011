"""Barriers that follow the ground, walls that are closed, forest that ends at the tree tops."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.rockfall.barriers import build_barriers, build_walls, drape
from drystone.rockfall.forest import build_forest, drag_at
from drystone.rockfall.slope import Slope

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
    assert build_walls(rough(), [], [], []).triangles.shape == (0, 3)


def test_a_line_over_a_hole_is_named():
    z = np.full((20, 20), 100.0)
    z[10, 10] = np.nan
    slope = Slope.from_grid(z, 1.0, origin=(500.0, 900.0))
    with pytest.raises(InputError, match="leaves the ground at x = 510, y = 910"):
        drape(slope, np.array([[502.0, 910.0], [517.0, 910.0]]) - slope.origin[:2])


def test_walls_are_closed_and_look_outward():
    """Over flat ground, straight: volume = length times thickness times height and depth."""
    slope = Slope.from_grid(np.full((21, 21), 50.0), 1.0, origin=(-10.0, -10.0))
    walls = build_walls(slope, [np.array([[-5.0, 1.0], [5.0, 1.0]])], [2.0], [0.5])
    mesh = trimesh.Trimesh(walls.vertices, walls.triangles, process=False)
    assert mesh.is_watertight and mesh.volume == pytest.approx(10 * 0.5 * (2.0 + 1.0))
    assert walls.vertices[:, 2].max() == 52.0


@pytest.mark.parametrize("seed", range(5))
def test_bent_walls_on_rough_ground_are_closed(seed):
    rng = np.random.default_rng(seed)
    line = np.column_stack([np.linspace(-8, 8, 5), rng.uniform(-4, 4, 5)])
    walls = build_walls(rough(), [line, line[:2] + [0.0, 5.0]], [2.0, 1.0], [0.4, 0.2])
    mesh = trimesh.Trimesh(walls.vertices, walls.triangles, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0
    assert set(walls.barrier.tolist()) == {0, 1}


def test_a_wall_cannot_turn_back():
    line = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 0.0]])
    with pytest.raises(InputError, match="turns back on itself"):
        build_walls(rough(), [line], [2.0], [0.5])


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
