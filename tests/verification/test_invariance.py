"""What must not matter: where the scene is, and how large it is."""

import numpy as np
import pytest

import drystone as ds

solvers = pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v.compiled])

MAP = np.array([2_793_293.0, 1_180_191.0, 0.0])  # Swiss map coordinates [m]


def settling_boxes(origin=(0.0, 0.0, 0.0), scale=1.0, **options):
    """Boxes and a sphere that fall, lean on each other and slide, all lengths times `scale`."""
    rng = np.random.default_rng(5)
    origin = np.asarray(origin)
    world = ds.World(sleeping=False, **options)
    material = ds.Material(friction=0.3)
    world.add_fixed(ds.Plane(), material, position=origin)
    for k in range(6):
        shape = ds.Sphere(0.25 * scale) if k == 5 else ds.Box(*(np.array([0.5, 0.4, 0.3]) * scale))
        at = np.array([0.3125 * k, 0.25 * (k % 2), 0.375 + 0.3125 * k])  # exact on maps as well
        turn = np.array([1.0, 0, 0, 0]) + rng.uniform(-0.1, 0.1, 4)
        world.add_body(
            shape, material, position=origin + scale * at,
            orientation=turn / np.linalg.norm(turn),
            velocity=scale * np.array([1.5, 0.2 * k, 0.0]),
        )  # fmt: skip
    return world


@solvers
def test_map_coordinates_do_not_matter(solver):
    """x(t) - x0 is the same at the origin and at Swiss map coordinates, to 1e-9 m.

    A double there has a spacing of 5e-10 m, which is what reading the position costs; inside,
    positions are relative to a local origin.
    """
    here, there = (settling_boxes(origin, solver=solver) for origin in ((0, 0, 0), MAP))
    for _ in range(8):
        here.run(0.25)
        there.run(0.25)
        np.testing.assert_allclose(there.positions - MAP, here.positions, rtol=0, atol=1e-9)
    assert here.info.contacts > 8


@solvers
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_scale_does_not_matter(scale, solver):
    """Lengths, velocities and gravity times s at the same times: x / s is the same, to 1e-6.

    All tolerances that are speeds scale with s as well; what is left is rounding, which piles
    amplify.
    """
    worlds = [
        settling_boxes(
            scale=s, solver=solver, gravity=(0, 0, -9.81 * s), tolerance=1e-5 * s,
            bounce_speed=1e-2 * s,
        )
        for s in (1.0, scale)
    ]  # fmt: skip
    for world in worlds:
        world.run(2.0)
    one, other = worlds
    assert one.info.contacts > 8
    np.testing.assert_allclose(other.positions / scale, one.positions, rtol=0, atol=1e-6)
    np.testing.assert_allclose(other.velocities / scale, one.velocities, rtol=0, atol=1e-6)


@solvers
def test_unit_of_mass_does_not_matter(solver):
    """All masses times 1000: the same motion, for forces and inertia scale alike; 1e-6 m."""
    worlds = [settling_boxes(solver=solver) for _ in range(2)]
    for body in worlds[1].bodies:
        inertia = np.array(body.inertia)
        body.mass = 1024.0 * body.mass
        body.inertia = 1024.0 * inertia
    for world in worlds:
        world.run(1.0)
    np.testing.assert_allclose(worlds[1].positions, worlds[0].positions, rtol=0, atol=1e-6)
