"""Elliptic friction in worlds: whose direction counts, who refuses it, that nothing loses it."""

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.elliptic_friction import _shorten
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import residual
from drystone.model.capacity import new_contact_rows
from drystone.solvers.prox import Prox
from well_posed import two_spheres

GRAINED = ds.Material(friction=(0.6, 0.2), name="grained")
FINE = ds.Material(friction=(0.3, 0.2), friction_direction=(0, 1, 0), name="fine")
PLAIN = ds.Material(friction=0.5, name="plain")


def about_z(angle):
    return cos(angle / 2), 0.0, 0.0, sin(angle / 2)


def two_boxes(lower, upper, ground=PLAIN, turned=(0.2, 0.9), **options):
    """A box on a box on a plane; yaw of the two in `turned`, all sliding."""
    world = ds.World(solver="prox", sleeping=False, **options)
    world.add_fixed(ds.Plane(), ground, orientation=about_z(-0.5))
    for k, material in enumerate((lower, upper)):
        size = 1.0 - 0.4 * k
        world.add_body(
            ds.Box(size, size, 0.2), material, position=(0, 0, 0.1 + 0.2 * k),
            orientation=about_z(turned[k]), velocity=(1 + k, 0.5, 0), spin=(0, 0, 1 - 3 * k),
        )  # fmt: skip
    return world


def yaw_of_tangents(world, other):
    """Angles of tangent 1 between bodies 0 and `other`, modulo half a turn."""
    contacts = world.contacts()
    rows = [{a, b} == {0, other} for a, b in zip(contacts.body_a, contacts.body_b, strict=True)]
    assert any(rows)
    t = contacts.tangent1[rows]
    return np.arctan2(t[:, 1], t[:, 0]) % np.pi


@pytest.mark.parametrize(
    "ground, lower, upper, on_ground, between",
    [
        (PLAIN, GRAINED, PLAIN, 0.2, 0.2),
        (GRAINED, PLAIN, GRAINED, -0.5, 0.9),
        (GRAINED, GRAINED, PLAIN, 0.2, 0.2),  # alike: the body, which is later than the plane
        (PLAIN, GRAINED, GRAINED, 0.2, 0.9),  # alike: the one added later
        (FINE, GRAINED, FINE, 0.2, 0.2),  # 3 to 1 against 1.5 to 1, whoever is A
        (GRAINED, FINE, GRAINED, -0.5, 0.9),
        (PLAIN, FINE, PLAIN, 0.2 + np.pi / 2, 0.2 + np.pi / 2),
    ],
)
def test_whose_direction_counts(ground, lower, upper, on_ground, between):
    world = two_boxes(lower, upper, ground)
    world.step()
    contacts = world.contacts()
    assert len(contacts) >= 8
    assert yaw_of_tangents(world, -1) == pytest.approx(on_ground % np.pi, abs=1e-6)
    assert yaw_of_tangents(world, 1) == pytest.approx(between % np.pi, abs=1e-6)
    t1, t2, n = contacts.tangent1, contacts.tangent2, contacts.normal
    np.testing.assert_allclose(np.cross(n, t1), t2, atol=1e-12)


def test_contacts_and_problem_have_both_coefficients():
    world = two_boxes(GRAINED, PLAIN, ds.Material(friction=0.9))
    world.step()
    contacts, problem = world.contacts(), world.problem()
    ground = contacts.body_a == -1
    assert contacts.friction[ground] == pytest.approx((0.6 * 0.9) ** 0.5)
    assert contacts.friction_2[ground] == pytest.approx((0.2 * 0.9) ** 0.5)
    assert contacts.friction[~ground] == pytest.approx((0.6 * 0.5) ** 0.5)
    assert sorted(problem.friction_2) == sorted(contacts.friction_2)
    assert sorted(problem.friction) == sorted(contacts.friction)
    impulse = world._work.rows.impulse[: problem.contact_count]
    assert world.info.residual == pytest.approx(residual(problem, impulse), abs=1e-12)
    assert world.info.converged and world.info.natural_map < 1e-3


def test_plain_worlds_have_one():
    world = two_boxes(PLAIN, PLAIN)
    world.step()
    assert world.problem().friction_2 is None
    np.testing.assert_array_equal(world.contacts().friction_2, world.contacts().friction)


def test_upright_direction_is_along_no_tangent():
    """Grain that stands on the contact: all tangents are across it, mu_2 in all directions."""
    end = ds.Material(friction=(0.9, 0.3), friction_direction=(0, 0, -2))
    world = ds.World(solver="prox", sleeping=False)
    world.set_pair(end, PLAIN, friction=(0.9, 0.3))
    world.add_fixed(ds.Plane(), PLAIN)
    box = world.add_body(ds.Box(1, 1, 0.1), end, position=(0, 0, 0.05), velocity=(3, 4, 0))
    world.step()
    contacts = world.contacts()
    np.testing.assert_array_equal(contacts.friction, 0.3)
    np.testing.assert_array_equal(contacts.friction_2, 0.3)
    force = contacts.on(box) / (box.mass * 9.81)
    assert force == pytest.approx((-0.18, -0.24, 1.0), rel=1e-3)


def test_direction_is_in_the_axes_of_the_shape():
    """Not in the principal axes, which the arrays inside have: those of this compound are askew."""
    bar = ds.Compound((ds.Box(2, 0.2, 0.1), (0, 0, 0), about_z(0.6)), (ds.Sphere(0.05), (0, 1, 0)))
    world = ds.World(solver="prox", sleeping=False)
    world.add_fixed(ds.Plane(), PLAIN)
    world.add_body(bar, GRAINED, position=(0, 0, 0.05), orientation=about_z(0.3))
    world.step()
    assert yaw_of_tangents(world, -1) == pytest.approx(0.3, abs=1e-6)


def test_other_solvers_refuse_at_once():
    world = ds.World(solver="nsgs")
    world.add_fixed(ds.Plane(), PLAIN)
    for refused in (
        lambda: world.add_fixed(ds.Plane(), GRAINED),
        lambda: world.add_body(ds.Sphere(1), GRAINED),
        lambda: world.set_pair(GRAINED, PLAIN, friction=(0.1, 0.2)),
    ):
        with pytest.raises(ds.UnsupportedFeature, match="nsgs does not support elliptic.*prox"):
            refused()
    world.set_pair(GRAINED, PLAIN, friction=0.3)  # a circle
    assert len(world.fixed) == 1 and len(world.bodies) == 0


def test_a_file_cannot_smuggle_it_in(tmp_path, monkeypatch):
    """The description says prox; a reader for whom that is another solver refuses."""
    two_boxes(GRAINED, PLAIN).save(tmp_path / "a.h5")
    monkeypatch.setattr(Prox, "supports", frozenset())
    with pytest.raises(ds.UnsupportedFeature, match="elliptic"):
        ds.World.load(tmp_path / "a.h5")


def test_a_loaded_world_goes_on_bit_for_bit(tmp_path):
    plain, saved = (two_boxes(GRAINED, FINE) for _ in range(2))
    for world in (plain, saved):
        world.set_pair(GRAINED, FINE, friction=(0.7, 0.1))
        world.run(0.1)
    saved.save(tmp_path / "a.h5")
    loaded = ds.World.load(tmp_path / "a.h5")
    assert [body.material for body in loaded.bodies] == [GRAINED, FINE]
    for world in (plain, loaded):
        world.run(0.1)
    assert loaded.hash() == plain.hash()
    loaded.set_pair(GRAINED, FINE, friction=(0.1, 0.7))
    loaded.step()
    assert 0.7 in loaded.contacts().friction_2


def test_a_recording_replays(tmp_path):
    """Materials and overrides that come in while it runs are in its journal."""
    world = two_boxes(GRAINED, PLAIN)
    with ds.record(world, tmp_path / "a.h5"):
        world.run(0.05)
        world.set_pair(GRAINED, PLAIN, friction=(0.7, 0.1))
        world.add_body(ds.Sphere(0.1), FINE, position=(0.2, 0.1, 0.5), velocity=(1, 0, 0))
        world.run(0.1)
    again = ds.replay(tmp_path / "a.h5")
    assert again and again.verified and again.world.hash() == world.hash()


def test_a_saved_problem_keeps_its_ellipses(tmp_path):
    world = two_boxes(GRAINED, PLAIN)
    world.run(0.05)
    problem = world.problem()
    problem.save(tmp_path / "p.h5")
    loaded = ds.ContactProblem.load(tmp_path / "p.h5")
    np.testing.assert_array_equal(loaded.friction_2, problem.friction_2)
    # How four corners share a weight is not unique: the world's answer must be one of many.
    assert residual(loaded, world._work.rows.impulse[: loaded.contact_count]) <= 1e-5
    assert ds.solve(loaded, solver="prox", tolerance=1e-9)[1].converged
    with pytest.raises(ds.UnsupportedFeature, match="elliptic"):
        ds.solve(loaded, solver="nsgs")


def test_checks_name_elliptic_materials():
    world = two_boxes(ds.Material(friction=(0.0, 5.0)), PLAIN)
    assert any("friction=(0.0, 5.0)" in finding.object for finding in world.check())


@given(st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_shorter_tangents_make_circles_of_ellipses(seed):
    """What the impact stage relies on: a solution for circles is one for the ellipses.

    Its answer in the true axes satisfies the law of the ellipse to 1e-6 m/s; the two laws have
    other measures, and 1e-9 m/s of the one is not 1e-9 m/s of the other.
    """
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.05, 0.4, (2, 2))
    spheres = two_spheres((2.0, 1.0), rng.normal(size=(2, 3)) - (0, 0, 1), np.eye(2, 3), mu[:, 0])
    problem = replace(spheres, friction_2=mu[:, 1])
    larger = mu.max(axis=1)
    share = np.column_stack((np.ones(2), mu / larger[:, None]))
    rows = new_contact_rows(2, 2)._replace(frame=problem.frame.copy(), delassus=problem.blocks())
    _shorten(rows, share, larger)
    np.testing.assert_allclose(np.linalg.norm(rows.frame[:, 6:], axis=1), share[:, 2], rtol=1e-12)
    # ContactProblem takes tangents to be unit vectors, so the matrix is handed over as it is.
    scale = share.ravel()
    matrix = problem.W().multiply(scale[:, None]).multiply(scale).tocsr()
    np.testing.assert_allclose(rows.delassus[:, 5], matrix.diagonal()[2::3], rtol=1e-12)
    circles = MatrixProblem(matrix, problem.q() * share, larger)
    impulse = np.zeros((2, 3))
    info = Prox(tolerance=1e-10, max_iterations=20_000).solve(circles, impulse)
    assert info.converged
    assert residual(problem, impulse * share) < 1e-6
    assert impulse.any() or (problem.q()[:, 0] >= 0).all()
