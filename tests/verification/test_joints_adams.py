"""Revolute and universal joints against records of MSC ADAMS, the same cases as in Chrono's tests.

A body of 1 kg, its centre 2 m from the joint, is let go from the horizontal; 100 records a second
for 5 s. The pendulum swings in a plane in both cases, so that both records describe one motion,
but they differ by up to 8.4e-4 m. We are 4e-6 m from the first one, so that this is the error of
the second.
"""

import numpy as np
import pytest

import drystone as ds
from shared_data import DATA, needs_data

RECORDED = DATA / "joints"
pytestmark = needs_data(RECORDED, "joints against records of ADAMS")
DT, G, RECORDS = 5e-4, 9.80665, 501
S = np.sqrt(0.5)


def revolute(world):
    """Centre at +x; the body's z axis is that of the hinge, along +y of the world."""
    body = world.add_body(
        ds.Sphere(0.1), position=(2, 0, 0), orientation=(S, -S, 0, 0), mass=1.0,
        inertia=(0.04, 0.1, 0.1),
    )  # fmt: skip
    return body, world.add_joint(ds.Hinge(None, body, (0, 0, 0), (0, 1, 0)))


def universal(world):
    """Centre at +y, on the body's -z axis; the cross turns about x and z of the world."""
    body = world.add_body(
        ds.Sphere(0.1), position=(0, 2, 0), orientation=(S, S, 0, 0), mass=1.0,
        inertia=(0.1, 0.1, 0.04),
    )  # fmt: skip
    return body, world.add_joint(ds.Universal(None, body, (0, 0, 0), (1, 0, 0), (0, 0, 1)))


CASES = {"Revolute": revolute, "Universal": universal}


@pytest.fixture(scope="module", params=CASES)
def run(request):
    """What we and ADAMS have at the times of the records; forces act on the ground."""
    world = ds.World(dt=DT, gravity=(0, 0, -G), sleeping=False)
    body, joint = CASES[request.param](world)
    ours = {name: [] for name in ("Pos", "Vel", "Quat", "Avel", "Rforce", "Rtorque")}
    for k in range(RECORDS):
        at = (body.centre, body.velocity, body.orientation, body.spin)
        load = (-joint.force, -joint.torque) if k else (np.full(3, np.nan),) * 2
        for name, value in zip(ours, (*at, *load), strict=True):
            ours[name].append(value)
        world.run(0.01)
    theirs = {name: record(request.param, name) for name in ours}
    return request.param, {name: np.array(values) for name, values in ours.items()}, theirs


def record(case, name):
    return np.loadtxt(RECORDED / f"{case}_Case01_ADAMS_{name}.txt", skiprows=3)[:RECORDS, 1:]


def rms(ours, theirs):
    return float(np.sqrt(np.nanmean(np.sum((ours - theirs) ** 2, axis=1))))


# Positions as the issue asks [m]; the rest are Chrono's own tolerances for these records: [m/s],
# quaternions, [rad/s]. Forces [N] are ours of the middle of the step before, DT / 2 too early,
# while they change by up to 75 N/s.
@pytest.mark.parametrize(
    ("name", "bound"),
    [("Pos", 1e-3), ("Vel", 2e-3), ("Quat", 1e-3), ("Avel", 2e-2), ("Rforce", 5e-2),
     ("Rtorque", 1e-6)],
)  # fmt: skip
def test_record_is_followed(run, name, bound):
    _, ours, theirs = run
    assert rms(ours[name], theirs[name]) < bound


def test_revolute_is_as_good_as_the_digits_of_the_record(run):
    case, ours, theirs = run
    if case == "Universal":
        pytest.skip("its record is not as good")
    # A second-order step of 5e-4 s; six digits of 2 m.
    assert rms(ours["Pos"], theirs["Pos"]) < 1e-5


def test_records_differ_where_they_should_not():
    """Why the universal joint is not asked for more than 1e-3 m."""
    first, second = record("Revolute", "Pos"), record("Universal", "Pos")
    apart = np.abs(first[:, [0, 2]] - second[:, [1, 2]]).max()
    assert 5e-4 < apart < 1e-3
