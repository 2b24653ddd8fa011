"""The lumped-mass model against closed forms."""

import numpy as np
import pytest

from drystone.rockfall.engine.lumped_mass import roll_lumped
from drystone.rockfall.engine.records import CONTACT, POSITION, TIME, VELOCITY
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Start
from rock_scenes import GRAVITY, downhill, plane


def point(mass):
    """A rock of that mass: all that the model asks for."""
    return Rock.sphere((mass / Rock.sphere(1.0).mass) ** (1 / 3))


def test_a_point_bounces_with_its_coefficient_and_loses_friction():
    start = Start((0, 0, 5.0), velocity=(6.0, 0, 0))
    hits = roll_lumped([point(100.0)], [start], plane(0, 0.5, 0.2))[0].impacts
    assert hits["t"][0] == pytest.approx(np.sqrt(10.0 / GRAVITY))
    down = np.sqrt(10.0 * GRAVITY)
    assert hits["v_out"][0] == pytest.approx([6.0 - 0.2 * 1.5 * down, 0.0, 0.5 * down])
    assert hits["x"][0] == pytest.approx([6.0 * hits["t"][0], 0.0, 0.0], abs=1e-5)
    assert hits["e_out"][0] < hits["e_in"][0] == pytest.approx(50.0 * (36.0 + down**2))


@pytest.mark.parametrize("slope, mu", [(35, 0.3), (45, 0.6)])
def test_a_point_slides_down_a_plane(slope, mu):
    a, (way, out) = np.radians(slope), downhill(slope)
    start = Start(out * 1e-4)
    path = roll_lumped([point(1.0)], [start], plane(slope, 0.0, mu), Options(max_time=4.0))[0]
    wanted = 8.0 * GRAVITY * (np.sin(a) - mu * np.cos(a))
    assert path.end["reason"] == TIME
    assert (path.end["x"] - start.position) @ way == pytest.approx(wanted, rel=1e-2)
    assert (path.arcs["kind"] == CONTACT).any()


def test_a_point_stops_below_the_friction_angle_and_leaves_above():
    start = Start((0, 0, 2.0))
    assert roll_lumped([point(1.0)], [start], plane(20, 0.3, 0.6))[0].end["reason"] == VELOCITY
    assert (
        roll_lumped([point(1.0)], [start], plane(40, 0.3, 0.3, size=20))[0].end["reason"]
        == POSITION
    )


def test_many_points_are_each_their_own():
    starts = [Start((0, 0, z)) for z in (2.0, 4.0, 8.0)]
    scene = plane(30, 0.4, 0.4)
    together = roll_lumped([point(m) for m in (1.0, 2.0, 3.0)], starts, scene)
    for mass, start, path in zip((1.0, 2.0, 3.0), starts, together, strict=True):
        alone = roll_lumped([point(mass)], [start], scene)[0]
        assert alone.arcs.tobytes() == path.arcs.tobytes()
        assert path.end["mass"] == point(mass).mass
