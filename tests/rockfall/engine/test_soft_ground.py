"""Rolling resistance, scarring and air: closed forms, and nothing where they are zero."""

import numpy as np
import pytest

from drystone.rockfall.engine.records import VELOCITY
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Scene, Start, roll
from drystone.rockfall.terrain.materials import uniform_surface
from drystone.rockfall.terrain.slope import Slope

G = 9.81
DENSITY = 2670.0


def rolled(surface, speed=5.0, spin=None, options=None, degrees=0.0, size=200.0, radius=0.5):
    """A sphere rolling to the east, without sliding at first."""
    rise = size * np.tan(np.radians(degrees))
    slope = Slope.from_grid([[rise, 0.0], [rise, 0.0]], size)
    x = slope.bounds[0][0] + 20.0
    normal = np.array([np.sin(np.radians(degrees)), 0.0, np.cos(np.radians(degrees))])
    foot = np.array([x, 0.5 * size + slope.bounds[0][1], 0.0])
    foot[2] = float(slope.height(foot[0], foot[1]))
    centre = foot + normal * radius * (1.0 + 4e-4)
    along = np.array([normal[2], 0.0, -normal[0]])
    spin = speed / radius if spin is None else spin
    start = Start(tuple(centre), tuple(speed * along), spin=(0.0, spin, 0.0))
    scene = Scene.build(slope.vertices, slope.triangles, surface)
    return roll(Rock.sphere(2.0 * radius), start, scene, options or Options(angular_drag=0.0))


@pytest.mark.parametrize("resistance", [0.02, 0.1, 0.3])
def test_a_sphere_stops_where_the_closed_form_says(resistance):
    """m a = -F, (2/5) m r² α = F r - c m g r, a = r α: a = -(5/7) c g, so 0.7 v² / (c g)."""
    path = rolled(uniform_surface(0.0, 0.6, rolling=resistance))
    assert path.end["reason"] == VELOCITY
    way = path.end["x"][0] - path.arcs["x"][0, 0]
    assert way == pytest.approx(0.7 * 25.0 / (resistance * G), rel=0.01)


def test_it_rests_on_a_slope_that_is_flat_enough():
    held = rolled(uniform_surface(0.0, 0.8, rolling=0.2), 0.0, degrees=10.0)
    assert held.end["reason"] == VELOCITY and held.end["t"] < 0.5
    gone = rolled(uniform_surface(0.0, 0.8, rolling=0.1), 0.0, degrees=10.0, size=60.0)
    # m a = m g sin - F, (2/5) m r a = F - c m g cos
    slope = np.radians(10.0)
    a = 5.0 / 7.0 * G * (np.sin(slope) - 0.1 * np.cos(slope))
    t = float(gone.end["t"])
    way = np.linalg.norm(gone.end["x"] - gone.arcs["x"][0])
    assert way == pytest.approx(0.5 * a * t**2, rel=0.01)


def test_energy_never_grows_by_it():
    path = rolled(uniform_surface(0.3, 0.5, rolling=0.15), 8.0, spin=-30.0)
    mass = Rock.sphere(1.0).mass
    energy = 0.5 * mass * (path.arcs["v"] ** 2).sum(axis=1) + path.arcs["e_spin"][:, 0]
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()


def test_a_rock_that_slides_in_its_scar():
    """Without friction: v = v0 exp(-c t), so it gets v0 / c far."""
    path = rolled(uniform_surface(0.0, 0.0, scarring=0.5), 5.0, spin=0.0)
    way = path.end["x"][0] - path.arcs["x"][0, 0]
    assert way == pytest.approx(5.0 / 0.5, rel=0.01)


def test_the_scar_ends_after_its_time():
    """A sphere that bounces is slowed for scar_time after each contact, not longer."""
    surface = uniform_surface(1.0, 0.0, scarring=1.0)
    slope = Slope.from_grid(np.zeros((2, 2)), 400.0)
    scene = Scene.build(slope.vertices, slope.triangles, surface)
    start = Start((-150.0, 0.0, 5.0), (10.0, 0.0, 0.0))
    path = roll(Rock.sphere(1.0), start, scene, Options(max_time=2.0, scar_time=0.2))
    after = path.arcs[path.arcs["t0"] > path.impacts["t"][0] + 0.25]
    np.testing.assert_allclose(after["v"][:, 0], 10.0 * np.exp(-0.2), rtol=0.03)


def test_terminal_velocity_in_air():
    rock = Rock.sphere(0.2, density=50.0)
    slope = Slope.from_grid(np.zeros((2, 2)), 400.0)
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.0, 0.5))
    options = Options(air_density=1.2, air_drag=0.5)
    path = roll(rock, Start((0.0, 0.0, 400.0)), scene, options)
    area = np.pi * 0.1**2
    terminal = np.sqrt(2.0 * rock.mass * G / (1.2 * 0.5 * area))
    flying = path.arcs[path.arcs["kind"] == 0]
    assert flying["v"][:, 2].min() == pytest.approx(-terminal, rel=0.01)


def test_orientation_is_kept_with_the_arcs():
    """A block that flies with a spin about a principal axis turns at that rate."""
    slope = Slope.from_grid(np.zeros((2, 2)), 400.0)
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.3, 0.5))
    path = roll(Rock.block(1.0, 0.8, 0.6), Start((0, 0, 20.0), spin=(0.0, 0.0, 1.0)), scene,
                Options(angular_drag=0.0))  # fmt: skip
    np.testing.assert_allclose(path.arcs["q"][0], (1.0, 0.0, 0.0, 0.0))
    t = path.arcs["t0"][1]
    turned = abs(np.cos(0.5 * t) * path.arcs["q"][1][0] + np.sin(0.5 * t) * path.arcs["q"][1][3])
    assert turned == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(np.linalg.norm(path.arcs["q"], axis=1), 1.0)
