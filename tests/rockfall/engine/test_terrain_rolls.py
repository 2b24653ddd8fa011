"""Rocks on a real elevation model: nothing penetrates, nothing tunnels, everything ends."""

import numpy as np
import pytest

from drystone.rockfall.engine.records import FAILED, LEFT, POSITION, REASONS, VELOCITY
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Scene, Start, roll_many
from drystone.rockfall.terrain.materials import uniform_surface
from drystone.rockfall.terrain.slope import Slope
from rock_scenes import matrix
from shared_data import DATA, needs_data

TERRAIN = DATA / "terrain" / "avaKot.asc"

pytestmark = [pytest.mark.slow, needs_data(TERRAIN, "rocks that roll on an elevation model")]


@pytest.fixture(scope="module")
def slope():
    return Slope.from_file(TERRAIN, crs="local")


@pytest.fixture(scope="module")
def rolled(slope):
    """60 rocks of four shapes from steep places of the inner part."""
    rng = np.random.default_rng(11)
    corner = slope.vertices[slope.triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    middle = corner.mean(axis=1)
    span = np.ptp(slope.vertices[:, :2], axis=0)
    inner = (np.abs(middle[:, :2] - slope.vertices[:, :2].min(axis=0) - span / 2) < 0.3 * span).all(
        axis=1
    )
    source = rng.choice(np.flatnonzero((normal[:, 2] < np.cos(np.radians(42))) & inner), 60)
    shapes = [
        Rock.block(1.0, 0.8, 0.6), Rock.hull(rng.normal(size=(60, 3)) * [0.5, 0.4, 0.3]),
        Rock.sphere(1.0), Rock.platy(1.2),
    ]  # fmt: skip
    rocks = [shapes[i % 4].scaled(rng.uniform(0.6, 2.0)) for i in range(60)]
    starts = [
        Start(middle[s] + normal[s] * 1.01 * r.radius, orientation=rng.normal(size=4))
        for s, r in zip(source, rocks, strict=True)
    ]
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.35, 0.6))
    return rocks, roll_many(rocks, starts, scene, threads=1)


def test_every_rock_ends_for_a_reason(rolled):
    _, trajectories = rolled
    reasons = [t.end["reason"] for t in trajectories]
    assert FAILED not in reasons
    assert {LEFT, POSITION, VELOCITY} & set(reasons), [REASONS[r] for r in reasons]


def test_no_corner_is_below_the_ground_at_the_end(slope, rolled):
    for rock, trajectory in zip(*rolled, strict=True):
        end = trajectory.end
        if end["reason"] in (LEFT, POSITION):
            continue
        low = rock.vertices @ matrix(end["q"]).T + end["x"]
        ground = slope.height(low[:, 0], low[:, 1])
        depth = ground - low[:, 2] + rock.rounding
        # A sphere's one corner is its centre: the surface is steeper than the vertical distance.
        if rock.rounding == 0.0:
            assert np.nanmax(depth) < 1e-3 * 2.0 * rock.radius


def test_no_centre_is_ever_below_the_ground(slope, rolled):
    """The centre of mass of a rock that tunnelled would be."""
    for rock, trajectory in zip(*rolled, strict=True):
        arcs = trajectory.arcs
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            s = (share * (arcs["t1"] - arcs["t0"]))[:, None]
            x = arcs["x"] + arcs["v"] * s + 0.5 * arcs["a"] * s * s
            room = x[:, 2] - slope.height(x[:, 0], x[:, 1])
            assert np.nanmin(room) > 0.0, rock


def test_impacts_lie_on_the_ground_and_never_add_energy(slope, rolled):
    for rock, trajectory in zip(*rolled, strict=True):
        hits = trajectory.impacts
        ground = slope.height(hits["x"][:, 0], hits["x"][:, 1])
        tall = (hits["x"][:, 2] - ground) * hits["normal"][:, 2]
        assert np.nanmax(np.abs(tall), initial=0.0) < 3e-3 * rock.radius
        assert (hits["e_out"] <= hits["e_in"] * (1 + 1e-12)).all()
        assert np.abs(np.linalg.norm(hits["normal"], axis=1) - 1).max(initial=0.0) < 1e-12
