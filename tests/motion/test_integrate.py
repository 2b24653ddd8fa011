"""Turning bodies: what free rotation conserves, and quaternions against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from drystone.jit.vec import rotate_quaternion
from drystone.motion.integrate import rotate_freely

seeds = st.integers(0, 2**31)


def random_body(rng):
    """Moments that a real body can have (each at most the sum of the others), and a pose."""
    inertia = np.sum(np.diag(rng.uniform(0.1, 5.0, 3)) @ (1 - np.eye(3)), axis=0)
    return inertia, Rotation.random(random_state=rng)


def thin_body(rng):
    """As random_body(), of a box with sides from 1 mm to 1 m: needles, blades and sheets."""
    x, y, z = 10.0 ** rng.uniform(-3, 0, 3)
    return np.array([y * y + z * z, x * x + z * z, x * x + y * y]), Rotation.random(
        random_state=rng
    )


@pytest.mark.parametrize("body", [random_body, thin_body])
@given(seeds, st.floats(0.01, 0.3))
@settings(max_examples=200, deadline=None)
def test_free_turn_conserves_energy_and_momentum(body, seed, angle):
    """w.L and L = R I Rᵀ w are the same after the turn by the mean spin; 1e-12.

    Up to 0.3 rad in a step (70 rad/s at 240 Hz), where the fixed point of a needle runs away.
    """
    rng = np.random.default_rng(seed)
    inertia, pose = body(rng)
    spin = rng.normal(size=3)
    dt = angle / np.linalg.norm(spin)
    before = pose.as_matrix()
    mean, later = rotate_freely(tuple(spin), tuple(inertia), tuple(before.ravel()), dt)
    after = (Rotation.from_rotvec(dt * np.array(mean)) * pose).as_matrix()
    momentum = before @ (inertia * (before.T @ spin))
    turned = after @ (inertia * (after.T @ np.array(later)))
    np.testing.assert_allclose(turned, momentum, atol=1e-12 * np.linalg.norm(momentum))
    assert later @ turned == pytest.approx(spin @ momentum, rel=1e-10)


def euler_spin(spin, inertia, seconds):
    """Spin in world axes by Euler's equations I w' = I w x w and R' = R [w], from R = 1."""

    def rates(_, y):
        w, r = y[:3], y[3:].reshape(3, 3)
        return np.concatenate([np.cross(inertia * w, w) / inertia, np.cross(r, w).ravel()])

    start = np.concatenate([spin, np.eye(3).ravel()])
    end = solve_ivp(rates, (0.0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return end[3:].reshape(3, 3) @ end[:3]


def test_free_turn_is_of_second_order():
    """Against Euler's equations, by a method of order eight to 1e-12, the error falls by four
    when dt is halved."""
    inertia, spin = np.array([1.0, 2.0, 2.5]), np.array([1.0, 2.0, 0.5])
    eye = tuple(np.eye(3).ravel())

    def spin_after(seconds, count):
        w, pose = spin, Rotation.identity()
        for _ in range(count):
            turn = tuple(pose.as_matrix().ravel())
            mean, w = rotate_freely(tuple(w), tuple(inertia), turn, seconds / count)
            pose = Rotation.from_rotvec(seconds / count * np.array(mean)) * pose
        return np.array(w)

    exact = euler_spin(spin, inertia, 1.0)
    errors = [np.linalg.norm(spin_after(1.0, n) - exact) for n in (20, 40)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] < 1e-3 * np.linalg.norm(spin)
    # and it does turn: Euler's torque at the start is I w' = -w x I w
    _, later = rotate_freely(tuple(spin), tuple(inertia), eye, 1e-4)
    rate = (np.array(later) - spin) / 1e-4
    np.testing.assert_allclose(rate, -np.cross(spin, inertia * spin) / inertia, atol=1e-3)


def test_a_ball_keeps_its_spin():
    eye = tuple(np.eye(3).ravel())
    assert rotate_freely((1.0, 2.0, 3.0), (2.0, 2.0, 2.0), eye, 0.1) == ((1, 2, 3), (1, 2, 3))


@given(seeds, st.sampled_from([0.0, 1e-14, 1e-9, 0.01, 1.0, 3.0]))
@settings(max_examples=100, deadline=None)
def test_quaternions_turn_as_those_of_scipy(seed, angle):
    """q' = exp(angle / 2) q, to rounding."""
    rng = np.random.default_rng(seed)
    pose, axis = Rotation.random(random_state=rng), rng.normal(size=3)
    vector = angle * axis / np.linalg.norm(axis)
    x, y, z, w = pose.as_quat()
    turned = rotate_quaternion((w, x, y, z), tuple(vector))
    x, y, z, w = (Rotation.from_rotvec(vector) * pose).as_quat()
    expected = np.array([w, x, y, z])
    expected *= np.sign(expected @ turned)
    np.testing.assert_allclose(turned, expected, atol=1e-12)
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=1e-12)
