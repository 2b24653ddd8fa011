"""Inverse dynamics against closed forms, and its two ways against each other."""

import numpy as np
import pytest

import drystone as ds
from drystone.world.character import quaternions
from drystone.world.character.clips.walking import walk_on_the_spot
from drystone.world.character.ground_forces import project
from drystone.world.character.stances import find_humps

G = 9.81


def chain(count, length=0.7, mass=1.3):
    """Rods that hang on each other below a root that stays."""
    across = mass * length**2 / 12
    bones = [ds.Bone("root", 5.0, inertia=(1, 1, 1))]
    for k in range(count):
        at = (0, 0, 0) if k == 0 else (0, 0, -length)
        bones.append(
            ds.Bone(
                f"rod{k}", mass, (0, 0, -length / 2), (across, across, 1e-3), bones[-1].name, at
            )
        )
    return ds.Figure(bones, "chain")


def clip_of(figure, angles, rate=500.0):
    """Rods that turn about y by `angles` (n, rods) in the world; positive swings them to -x."""
    n, count = angles.shape
    rotations = np.zeros((n, count + 1, 4))
    rotations[:, 0, 0] = 1.0
    own = np.diff(angles, axis=1, prepend=0.0)
    rotations[:, 1:] = quaternions.about(1, own)
    offsets = [bone.offset for bone in figure.bones]
    parents = figure.parents.tolist()
    return ds.Clip(figure.names, parents, offsets, np.zeros((n, 3)), rotations, 1 / rate)


def test_a_driven_pendulum():
    """tau = (m l² / 3) a'' + m g (l / 2) sin a, for a = 0.8 sin 3t of a rod."""
    m, length, t = 1.3, 0.7, np.arange(1001) / 500
    figure = chain(1)
    angle, second = 0.8 * np.sin(3 * t), -7.2 * np.sin(3 * t)
    found = ds.inverse_dynamics(figure, clip_of(figure, angle[:, None]), 500.0, ground=False)
    wanted = m * length**2 / 3 * second + m * G * length / 2 * np.sin(angle)
    inner = slice(20, -20)  # splines are less exact at their ends
    np.testing.assert_allclose(found.torque[inner, 0, 1], wanted[inner], atol=1e-8)
    assert np.abs(found.torque[..., (0, 2)]).max() < 1e-8
    up = found.joint_force[inner, 0, 2]
    z2 = length / 2 * (np.sin(angle) * second + np.cos(angle) * (2.4 * np.cos(3 * t)) ** 2)
    np.testing.assert_allclose(up, (m * (G + z2))[inner], atol=1e-8)


def test_a_driven_double_pendulum():
    """Lagrange's equations of two rods, with a, b their angles in the world:

    tau_b = I_b b'' + m l²/2 (a'' cos(a - b) - a'² sin(a - b)) + m g l/2 sin b
    tau_a - tau_b = I_a a'' + m l²/2 (b'' cos(a - b) + b'² sin(a - b)) + 3/2 m g l sin a
    """
    m, length, t = 1.3, 0.7, np.arange(1001) / 500
    a, a1, a2 = 0.8 * np.sin(3 * t), 2.4 * np.cos(3 * t), -7.2 * np.sin(3 * t)
    b, b1, b2 = 0.5 * np.cos(4 * t), -2 * np.sin(4 * t), -8 * np.cos(4 * t)
    figure = chain(2)
    found = ds.inverse_dynamics(figure, clip_of(figure, np.stack((a, b), 1)), 500.0, ground=False)
    ml2, mgl, c, s = m * length**2, m * G * length, np.cos(a - b), np.sin(a - b)
    lower = ml2 / 3 * b2 + ml2 / 2 * (a2 * c - a1**2 * s) + mgl / 2 * np.sin(b)
    upper = lower + (ml2 / 3 + ml2) * a2 + ml2 / 2 * (b2 * c + b1**2 * s) + 1.5 * mgl * np.sin(a)
    inner = slice(20, -20)
    np.testing.assert_allclose(found.torque[inner, 1, 1], lower[inner], atol=1e-8)
    np.testing.assert_allclose(found.torque[inner, 0, 1], upper[inner], atol=1e-8)


def test_a_falling_figure_needs_no_torque(walk):
    """Its joints turn as Runge-Kutta turns them without torques: so none are found."""
    figure = ds.Figure.from_clip(walk)
    robot = figure.robot()
    rng = np.random.default_rng(7)
    q, qd = robot.zero(), rng.normal(size=robot.nv)
    rows, dt = [], 1e-3
    for _ in range(301):
        rows.append(q.copy())
        q, qd = robot.integrate(q, qd, dt / 4, 4)
    rows = np.array(rows)
    rotations = np.stack(
        [rows[:, 3:7]] + [rows[:, robot.index(name)] for name in figure.joints], axis=1
    )
    offsets = [bone.offset for bone in figure.bones]
    clip = ds.Clip(figure.names, figure.parents.tolist(), offsets, rows[:, :3], rotations, dt)
    found = ds.inverse_dynamics(figure, clip, 1000.0, ground=False)
    inner = slice(20, -20)
    # Second derivatives of numbers that are rounded at 1e-16 are exact to 1e-10 / kg m².
    assert np.abs(found.torque[inner]).max() < 1e-8 * 75 * G
    assert np.abs(found.root_force[inner]).max() < 1e-8 * 75 * G


def test_two_ways_agree(walk):
    figure = ds.Figure.from_clip(walk)
    a = ds.inverse_dynamics(figure, walk, 60.0)
    b = ds.inverse_dynamics(figure, walk, 60.0, method="newton-euler")
    np.testing.assert_allclose(a.torque, b.torque, atol=1e-8)
    np.testing.assert_allclose(a.root_force, b.root_force, atol=1e-8)
    assert np.abs(a.torque).max() > 1.0


@pytest.mark.slow
def test_two_ways_agree_on_captured_clips(captured):
    clip = captured.smoothed()
    figure = ds.Figure.from_clip(clip)
    assert figure.degrees_of_freedom == 54
    a = ds.inverse_dynamics(figure, clip, 60.0)
    b = ds.inverse_dynamics(figure, clip, 60.0, method="newton-euler")
    np.testing.assert_allclose(a.torque, b.torque, atol=1e-8)
    np.testing.assert_allclose(a.root_force, b.root_force, atol=1e-8)


@pytest.mark.slow
def test_walking_pushes_the_ground_as_the_textbook_says(captured):
    """The mean is the weight; a full stance has two humps, a valley below the weight between."""
    if captured.name != "02_01":
        pytest.skip("is no walk")
    clip = captured.smoothed()
    found = ds.inverse_dynamics(ds.Figure.from_clip(clip), clip)
    up = found.ground_force[..., 2]
    assert up.sum(axis=1).mean() == pytest.approx(found.weight, rel=0.05)
    stances = 0
    for foot in up.T / found.weight:
        edges = np.flatnonzero(np.diff((foot > 0.05).astype(int)))
        starts = [k for k in edges if foot[k + 1] > 0.05]
        for k in starts:
            ends = [e for e in edges if e > k]
            if not ends or ends[0] - k < 100:
                continue
            stance = foot[k : ends[0]]
            third = len(stance) // 3
            early, valley, late = (
                stance[:third].max(),
                stance[third:-third].min(),
                stance[-third:].max(),
            )
            assert early > 1.0 and late > 1.0 and valley < min(early, late, 1.0) - 0.05
            stances += 1
    assert stances >= 2


def test_humps_are_peaks_that_stand_out_from_both_valleys():
    x = np.linspace(0.0, 1.0, 101)
    two = np.exp(-(((x - 0.25) / 0.12) ** 2)) + 0.9 * np.exp(-(((x - 0.75) / 0.12) ** 2))
    assert find_humps(two, 0.05) == [25, 75]
    assert find_humps(two + 0.02 * np.sin(60 * x), 0.05) in ([24, 74], [24, 75], [25, 74], [25, 75])
    assert find_humps(x, 0.05) == [] and len(find_humps(np.sin(np.pi * x), 0.05)) == 1


def test_stances_are_whole_and_end_where_the_foot_is_unloaded():
    walk = walk_on_the_spot(4.0)
    found = ds.inverse_dynamics(ds.Figure.from_clip(walk), walk, 120.0)
    stances = found.stances()
    assert len(stances) >= 2 and {s.foot for s in stances} <= set(found.feet)
    for stance in stances:
        assert 0.3 < stance.end - stance.start < 1.5
        assert stance.curve[0] < 0.5 and stance.curve[-1] < 0.5 and stance.curve.max() > 0.6
    assert [s.start for s in stances] == sorted(s.start for s in stances)


def test_forces_of_the_ground_are_in_their_cones(walk):
    figure = ds.Figure.from_clip(walk)
    found = ds.inverse_dynamics(figure, walk, 60.0, friction=0.3)
    up = found.ground_force[..., 2]
    across = np.linalg.norm(found.ground_force[..., :2], axis=-1)
    assert (across <= 0.3 * up + 1e-9).all() and up.max() > 100


def test_a_figure_that_stands_needs_nothing_else(walk):
    """Weight on the feet, and no residual force."""
    pose = walk.rotations * 0
    pose[..., 0] = 1.0
    at = np.tile((0.0, 0.0, 0.9), (len(walk), 1))
    still = ds.Clip(walk.names, walk.parents, walk.offsets, at, pose, walk.dt, walk.ends)
    found = ds.inverse_dynamics(ds.Figure.from_clip(still), still, 30.0)
    assert found.ground_force[..., 2].sum(axis=1) == pytest.approx(found.weight, rel=2e-3)
    assert np.linalg.norm(found.root_force[:, :3], axis=1).max() < 2e-3 * found.weight


def test_the_projection_is_that_of_an_optimiser():
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    for _ in range(10):
        p, mu = rng.normal(size=3), rng.uniform(0.2, 1.2)
        inside = {"type": "ineq", "fun": lambda x, mu=mu: mu * x[2] - np.hypot(x[0], x[1])}
        start = [0.1 * mu, 0.0, 1.0]
        best = minimize(lambda x, p=p: sum((x - p) ** 2), start, constraints=inside, tol=1e-12).x
        found = project(p[None], np.ones((1, 1), bool), mu)[0]
        np.testing.assert_allclose(found, best, atol=3e-4)


def test_torques_are_kept_in_a_file(tmp_path, walk):
    found = ds.inverse_dynamics(ds.Figure.from_clip(walk), walk, 60.0)
    found.save(tmp_path / "torques.h5")
    again = ds.Torques.load(tmp_path / "torques.h5")
    for name in ("torque", "root_force", "ground_force", "times", "centre_of_pressure"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert again.names == found.names and again.feet == found.feet
    (tmp_path / "torques.h5").write_bytes(b"no HDF5")
    with pytest.raises(ds.InputError):
        ds.Torques.load(tmp_path / "torques.h5")
