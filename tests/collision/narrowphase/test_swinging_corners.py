"""Boxes and hulls that meet with edges or corners: what comes down beside them has contacts too."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.shapes import Box, ConvexHull
from narrow_twin import bare_shapes, collide, pose_row

CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])


def tilted(rng, angle):
    """A rotation matrix by up to `angle` about a level axis, after any about the vertical."""
    about, tilt, along = rng.uniform(0, 2 * np.pi), rng.uniform(0, angle), rng.uniform(0, 2 * np.pi)
    c, s = np.cos(about), np.sin(about)
    axis = np.array([np.cos(along), np.sin(along), 0.0])
    k = np.cross(np.eye(3), axis)
    return (np.eye(3) + np.sin(tilt) * k + (1 - np.cos(tilt)) * k @ k) @ np.array(
        [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    )


@pytest.mark.parametrize("shape", [Box(0.2, 0.2, 0.2), ConvexHull(CUBE)], ids=["box", "hull"])
def test_corners_over_a_face_have_contacts_whatever_meets_first(shape):
    """The corners of the upper cube that are over the face of the lower one and within the margin:
    the lowest of them has a contact, and none is deeper than where the two really meet."""
    rng = np.random.default_rng(3)
    tables, margin, single = bare_shapes(shape, shape), 0.03, 0
    for _ in range(200):
        turn, x, y = tilted(rng, 0.15), *rng.uniform(-0.15, 0.15, 2)
        corner = CUBE @ turn.T + (x, y, 0.0)
        pose = np.array([pose_row((0, 0, 0), np.eye(3)), pose_row((x, y, 0.25), turn)])
        for _ in range(100):  # down until the gap is 1 mm
            (far,) = collide(tables, pose, 0.2)
            pose[1, 2] -= far.gap.min() - 1e-3
        (few,) = collide(tables, pose, 1.1e-3)
        (c,) = collide(tables, pose, margin)
        single += len(few.gap) < len(c.gap)
        assert 1 <= len(c.gap) <= 4
        assert c.gap.min() == pytest.approx(few.gap.min(), abs=2e-5)
        height = corner[:, 2] + pose[1, 2] - 0.1
        over = (np.abs(corner[:, :2]) < 0.099).all(axis=1) & (height < 0.8 * margin)
        for p, h in zip(corner[over], height[over], strict=True):
            if h > height[over].min() + 1e-6 and over.sum() > 2:
                continue  # at most four contacts: the lowest must be among them
            near = np.hypot(*(c.point[:, :2] - p[:2]).T) < 0.06
            assert (c.gap[near] < h + 1e-3).any()
    assert single > 100


def test_boxes_that_land_on_edges_do_not_sink_into_each_other():
    """Cubes of 0.2 m fall on others at 3 m/s, tilted by up to 8 degrees. At steps of 5 ms other
    corners used to sink in by 6 mm."""
    rng = np.random.default_rng(5)
    world = ds.World(dt=1 / 200, sleeping=False)
    for k in range(60):
        x, y = 1.0 * (k % 8), 1.0 * (k // 8)
        world.add_fixed(ds.Box(0.2, 0.2, 0.2), position=(x, y, 0.0))
        dx, dy = rng.uniform(-0.13, 0.13, 2)
        body = world.add_body(
            ds.Box(0.2, 0.2, 0.2),
            position=(x + dx, y + dy, 0.25),
            orientation=Rotation.from_matrix(tilted(rng, 0.14)).as_quat(scalar_first=True),
            velocity=(0, 0, -3),
        )
        assert body.position[2] == 0.25
    deepest = 0.0
    for _ in range(16):
        world.step()
        deepest = max(deepest, world.info.penetration)
    assert deepest < 1e-3
