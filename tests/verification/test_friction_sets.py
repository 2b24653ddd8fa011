"""The circle, the polygon and the pyramid: how far a box slides, and in which direction."""

import numpy as np
import pytest

import drystone as ds
from polygon_sliding import predicted_stop

G = 9.81
SPEED, FRICTION = 2.0, 0.5


def stop(solver, angle):
    """Where a box comes to rest that starts at `angle` from tangent 1 of its contacts [m]."""
    stone = ds.Material(friction=FRICTION)
    world = ds.World(solver=solver, dt=1 / 480, sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    box = world.add_body(ds.Box(1, 1, 0.1), stone, position=(0, 0, 0.05))
    world.step()
    frame = world.problem().frame[0].reshape(3, 3)
    box.velocity = SPEED * (np.cos(angle) * frame[1] + np.sin(angle) * frame[2])
    start = box.position.copy()
    for _ in range(400):
        world.step()
        if np.linalg.norm(box.velocity) < 1e-4:
            break
    return frame[1:] @ (box.position - start)


@pytest.mark.parametrize("facets", [4, 8])
@pytest.mark.parametrize("angle_deg", [0, 10, 22.5, 35, 45, 80])
def test_polygon_stops_where_its_envelope_says(facets, angle_deg):
    """Friction on a polygon with corners on the circle; within 2 % of v² / (2 mu g)."""
    angle = np.radians(angle_deg)
    expected = predicted_stop(facets, angle, SPEED, FRICTION)
    found = stop(ds.SOLVERS["lemke"](facets=facets), angle)
    np.testing.assert_allclose(found, expected, atol=0.02 * SPEED**2 / (2 * FRICTION * G))


@pytest.mark.parametrize("angle_deg", [0, 10, 22.5, 35, 45, 80])
def test_exact_cone_stops_all_directions_alike(angle_deg):
    """v² / (2 mu g) straight ahead, within 0.5 %."""
    angle = np.radians(angle_deg)
    expected = SPEED**2 / (2 * FRICTION * G) * np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(stop("auto", angle), expected, atol=0.005 * np.hypot(*expected))


def test_pyramid_holds_too_much_along_its_diagonal():
    """Both tangents have their full share: 1 / sqrt(2) of the way at 45 degrees, within 2 %."""
    distance = np.hypot(*stop("pgs", np.pi / 4))
    assert distance == pytest.approx(SPEED**2 / (2 * FRICTION * G) / np.sqrt(2), rel=0.02)
