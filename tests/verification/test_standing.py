"""Bodies at rest: stacks that stand, weights that are carried, forces that balance."""

import numpy as np
import pytest

import drystone as ds

G = 9.81

solvers = pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v.compiled])


def stack(masses, side=1.0, **options):
    material = ds.Material(friction=0.5)
    world = ds.World(sleeping=False, **options)
    world.add_fixed(ds.Plane(), material)
    for k, mass in enumerate(masses):
        world.add_body(
            ds.Box(side, side, side), material, position=(0, 0, (k + 0.5) * side), mass=mass
        )
    return world


@solvers
@pytest.mark.parametrize("mass", [1.0, 1000.0])
@pytest.mark.slow
def test_stack_of_ten_boxes_stands(mass, solver):
    """x(60 s) = x(0) within 1 mm at the top, and no motion: kinetic energy < 1e-8 J after 5 s.

    1 kg at 1e-4 m/s has 5e-9 J; with 1000 kg (density 1000) 4e-6 m/s are allowed.
    """
    world = stack([mass] * 10, solver=solver)
    start = world.positions
    kinetic = []

    def watch(world):
        if world.time > 5.0:
            kinetic.append(world.energy().kinetic)

    world.run(60.0, callback=watch)
    assert np.linalg.norm(world.positions - start, axis=1).max() < 1e-3
    assert max(kinetic) < 1e-8


@solvers
def test_heavy_box_stands_on_a_light_one(solver):
    """1000 kg on 1 kg: overlap below 1e-3 of the side, or the step admits that it fell short."""
    world = stack([1.0, 1000.0], solver=solver)
    good = True
    for _ in range(480):
        info = world.step()
        good = good and (info.penetration < 1e-3 or not info.converged)
    assert good
    assert world.bodies[1].position[2] == pytest.approx(1.5, abs=2e-3)


@solvers
def test_contact_forces_carry_the_weight(solver):
    """Sum of the contact forces = m g for every body, and between two bodies action = reaction.

    1e-6 of the weight of the heaviest: the solver's tolerance of 1e-5 m/s would be 2.4e-4 of what
    gravity adds in a step, but a body at rest to the last bit is in balance.
    """
    masses = [3.0, 2.0, 1.0]
    world = stack(masses, solver=solver)
    world.run(2.0)
    table = world.contacts()
    for body, mass in zip(world.bodies, masses, strict=True):
        np.testing.assert_allclose(table.on(body), (0, 0, mass * G), atol=1e-6 * 6 * G)
    low, middle, high = world.bodies
    np.testing.assert_allclose(table.between(None, low), (0, 0, 6 * G), atol=1e-6 * 6 * G)
    np.testing.assert_allclose(table.between(middle, high), -table.between(high, middle), atol=0)
    np.testing.assert_allclose(table.between(middle, high), (0, 0, G), atol=1e-6 * 6 * G)


@solvers
def test_pushed_body_is_held_by_friction(solver):
    """Friction force = -push for a push below mu m g; 1e-6 of the weight."""
    world = stack([10.0], solver=solver)
    box = world.bodies[0]
    box.force = (0.6 * 0.5 * 10.0 * G, 0.0, 0.0)
    world.run(2.0)
    np.testing.assert_allclose(
        world.contacts().on(box), (-box.force[0], 0, 10.0 * G), atol=1e-6 * 10 * G
    )
    assert np.abs(box.position - (0, 0, 0.5)).max() < 1e-6


def loaded_stack(light, solver):
    """Boxes of 1 kg with one of a tonne on top."""
    stone = ds.Material(friction=0.5)
    world = ds.World(solver=solver, sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    for k in range(light + 1):
        mass = 1.0 if k < light else 1000.0
        world.add_body(ds.Box(1, 1, 1), stone, position=(0, 0, 0.5 + k), mass=mass)
    return world


@pytest.mark.parametrize("light", [1, 9])
def test_a_tonne_on_light_boxes_stands_under_auto(light):
    """10 s: every step converges, no overlap above 1e-4 of a side, nothing moves by that much."""
    world = loaded_stack(light, "auto")
    start = world.positions
    deepest = 0.0
    for _ in range(2400):
        info = world.step()
        assert info.converged
        deepest = max(deepest, info.penetration)
    assert deepest < 1e-4
    assert np.abs(world.positions - start).max() < 1e-4


def test_projected_gauss_seidel_sinks_under_a_tonne_and_says_so():
    """NEWTON, VRIPHYS paper, Fig. 10: 150 iterations do not carry the heavy box.

    It sinks ten times as deep as the same stack may with `auto`; no deeper, because overlaps are
    pushed out.
    """
    world = loaded_stack(1, ds.SOLVERS["pgs"](max_iterations=150))
    infos = [world.step() for _ in range(60)]
    assert max(info.penetration for info in infos) > 1e-3
    assert sum(info.converged for info in infos) < 10
