"""Nothing passes through anything within a step, however fast it moves or turns."""

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.bench.tunnelling import KINDS, missed

STEEL = ds.Material(density=7800, friction=0.3, restitution=0.3)
SHOTS = 40  # of each kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_shot_misses(kind):
    assert missed(kind, SHOTS, np.random.default_rng(5)) == 0


def test_without_ccd_a_turning_rod_passes_the_post():
    """What the test above tests is not done by the contacts of the start of a step alone."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, ccd=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    world.run(2 / 240)
    free = np.allclose(rod.spin, (0, 0, 700))
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    stopped = []
    for _ in range(3):
        stopped.append(world.step().stopped)
    assert free and sum(stopped) > 0 and not np.allclose(rod.spin, (0, 0, 700))


def test_slow_bodies_are_not_touched_by_it():
    states = []
    for ccd in (True, False):
        world = ds.World(ccd=ccd)
        world.add_fixed(ds.Plane())
        for k in range(4):
            world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.6 + 1.1 * k))
        world.run(1.0)
        states.append(np.concatenate([body.position for body in world.bodies]))
    assert (states[0] == states[1]).all()


def flat_world(**options):
    return ds.World(dim=2, gravity=(0, 0), sleeping=False, **options)


@pytest.mark.parametrize("ccd", [True, False])
def test_no_rod_of_two_dimensions_turns_past_a_post(ccd):
    """Free rods of 1 m at 100 to 800 rad/s, posts of 1 mm: without ccd some pass them."""
    world, rng, rods = flat_world(ccd=ccd), np.random.default_rng(2), []
    for i in range(100):
        at, way = rng.uniform(-3, 3), rng.uniform(0.1, 0.45)
        post = ds.Disc(0.0005) if i % 2 else ds.Polygon.box(0.001, 0.001)
        world.add_fixed(post, STEEL, position=(10 * i + way * np.cos(at), way * np.sin(at)))
        rod = ds.Polygon.box(1, 0.01) if i % 3 else ds.Segment((-0.5, 0), (0.5, 0), radius=0.005)
        rods.append(
            world.add_body(
                rod, STEEL, position=(10 * i, 0), angle=-at - rng.uniform(0.3, 2.8),
                spin=rng.choice([-1, 1]) * rng.uniform(100, 800),
            )
        )  # fmt: skip
    before = np.array([rod.spin[1] for rod in rods])
    world.run(9 * world.dt)  # half a turn of the slowest
    unhit = int(np.isclose([rod.spin[1] for rod in rods], before).sum())
    assert unhit == 0 if ccd else unhit > 0


@pytest.mark.parametrize(
    "wall", [ds.Segment((0, -3), (0, 3)), ds.Polygon.box(0.001, 6)], ids=["line", "plate"]
)
def test_no_bullet_of_two_dimensions_passes_a_wall(wall):
    world, rng = flat_world(), np.random.default_rng(3)
    shapes = [
        ds.Disc(0.005), ds.Polygon([(0, 0), (0.02, 0.001), (0, 0.004)]), ds.Polygon.box(0.01, 0.02),
        ds.Segment((-0.01, 0), (0.01, 0), radius=0.003),
    ]  # fmt: skip
    for i in range(100):
        at, slope = np.array([10.0 * i, rng.uniform(-0.6, 0.6)]), rng.uniform(-0.9, 0.9)
        way = np.array([np.cos(slope), np.sin(slope)])
        world.add_fixed(wall, STEEL, position=(10 * i, 0))
        world.add_body(
            shapes[i % 4], STEEL, position=at - rng.uniform(0.1, 2.2) * way, velocity=300 * way,
            angle=rng.uniform(-3, 3), spin=rng.uniform(-100, 100),
        )  # fmt: skip
    for _ in range(4):
        world.step()
        assert (world.positions[:, 0] < 10 * np.arange(100) + 0.001).all()


def test_what_slides_on_a_line_is_not_held_by_it():
    """A line has no thickness, so each step is looked at; a slide down it is free."""
    world = ds.World(dim=2, sleeping=False)
    world.add_fixed(ds.Segment((0, 0), (10, -10)), ds.Material(friction=0))
    box = world.add_body(
        ds.Polygon.box(0.2, 0.1), ds.Material(friction=0), position=(0.5, -0.5 + 0.05 * 2**0.5),
        angle=np.pi / 4,
    )  # fmt: skip
    world.run(0.5)
    assert np.linalg.norm(box.velocity) == pytest.approx(9.81 * 0.5 / 2**0.5, rel=1e-6)


@pytest.mark.parametrize("speed", [20, 50])
def test_no_box_flies_through_a_mesh(speed):
    plate, rng = trimesh.creation.box((1, 1, 0.1)), np.random.default_rng(7)
    plate = ds.Mesh(plate.vertices, plate.faces)
    for _ in range(40):
        turn = rng.normal(size=4)
        world = ds.World(gravity=(0, 0, 0))
        world.add_fixed(plate)
        box = world.add_body(
            ds.Box(0.1, 0.1, 0.1), position=(0.1, 0.2, rng.uniform(0.15, 0.4)),
            orientation=turn / np.linalg.norm(turn), velocity=(0, 0, -speed),
        )  # fmt: skip
        world.run(6 * world.dt)
        assert box.position[2] > 0.0


@pytest.mark.parametrize("kind", ["torus", "capsule", "hull"])
def test_no_kinematic_door_passes_what_it_meets(kind):
    ring = trimesh.creation.torus(0.0225, 0.006, major_sections=16, minor_sections=8)
    shape, speed = {
        "torus": (ds.Mesh(ring.vertices, ring.faces), 3),
        "capsule": (ds.Capsule(0.009, 0.042), 30),
        "hull": (ds.ConvexHull(ring.vertices), 30),
    }[kind]
    rng = np.random.default_rng(0)
    for _ in range(25):
        world, turn = ds.World(gravity=(0, 0, 0), sleeping=False), rng.normal(size=4)
        door = world.add_body(ds.Box(0.005, 1, 1), kinematic=True, velocity=(speed, 0, 0))
        body = world.add_body(
            shape, position=(rng.uniform(0.06, 0.16), 0, 0), orientation=turn / np.linalg.norm(turn)
        )
        world.run(0.3 / speed + 0.03)
        assert body.centre[0] > door.position[0] - 0.005


@pytest.mark.parametrize("mesh", [True, False])
def test_a_bounce_of_a_body_that_was_stopped_adds_no_energy(mesh):
    """Elastic and without friction, at 20 m/s, in any direction."""
    surface, rng = trimesh.creation.box((0.1, 0.1, 0.05)), np.random.default_rng(3)
    shape = ds.Mesh(surface.vertices, surface.faces) if mesh else ds.ConvexHull(surface.vertices)
    ball = ds.Material(density=1000, friction=0, restitution=1)
    for _ in range(40):
        world, turn = ds.World(gravity=(0, 0, 0), sleeping=False), rng.normal(size=4)
        world.add_fixed(ds.Box(4, 4, 1), ball, position=(0, 0, -0.5))
        world.add_body(
            shape, ball, position=(0, 0, rng.uniform(0.1, 0.2)), velocity=(0, 0, -20),
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
        before = world.energy().kinetic
        for _ in range(8):
            world.step()
            assert world.energy().kinetic < (1 + 1e-9) * before


@pytest.mark.slow
def test_a_stream_that_is_held_up_gains_no_energy():
    """Rings that fall down a shaft so fast that most are stopped on their way, in every step."""
    ring = trimesh.creation.torus(0.05, 0.02, major_sections=12, minor_sections=6)
    mesh, wood = ds.Mesh(ring.vertices, ring.faces), ds.Material(density=700, friction=0.3)
    world = ds.World(dt=1 / 120, solver="ffd", sleeping=False)
    world.add_fixed(ds.Plane(), wood)
    for side in (-0.3, 0.3):
        world.add_fixed(ds.Box(0.1, 1, 20), wood, position=(side, 0, 10))
        world.add_fixed(ds.Box(1, 0.1, 20), wood, position=(0, side, 10))
    rng = np.random.default_rng(1)
    for k in range(54):
        place = 0.16 * np.array([k % 3 - 1, k // 3 % 3 - 1, k // 9]) + (0, 0, 0.3)
        turn = rng.normal(size=4)
        world.add_body(
            mesh, wood, position=place, orientation=turn / np.linalg.norm(turn),
            velocity=(0, 0, -15), spin=rng.normal(0, 10, 3),
        )  # fmt: skip
    stopped, before = 0, np.inf
    for _ in range(45):
        world.step()
        energy = world.energy()
        after = energy.kinetic + energy.potential
        assert after - before < 0.1
        before = after
        stopped += world.info.stopped
    assert stopped > 450


PAST = {"position": (0, 0, 0.2), "velocity": (1e8, 3, 1)}
ROUND = {"position": (0.3, 0, 0), "spin": (1e9, 2e8, -3e8)}


@pytest.mark.parametrize("motion", [PAST, ROUND])
def test_a_step_that_cannot_be_swept_comes_back_and_says_so(motion):
    """Millions of samples would be needed: the pair is held where it was looked at, and named."""
    ring = trimesh.creation.torus(0.1, 0.03, major_sections=16, minor_sections=8)
    mesh = ds.Mesh(ring.vertices, ring.faces)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_body(mesh, name="one")
    other = world.add_body(mesh, name="other", **motion)
    info = world.step()
    assert info.given_up == 1 and not info.converged
    assert set(info.unresolved_pairs[0]) == {"one", "other"}
    assert np.linalg.norm(other.position) < 20.0


def test_a_bound_on_sweeps_is_told_to_who_wants_to_be_told():
    ring = trimesh.creation.torus(0.1, 0.03, major_sections=16, minor_sections=8)
    mesh = ds.Mesh(ring.vertices, ring.faces)
    world = ds.World(gravity=(0, 0, 0), sleeping=False, on_nonconverged="raise")
    world.add_body(mesh, name="one")
    world.add_body(mesh, name="other", **ROUND)
    with pytest.raises(ds.SimulationError, match="It gave up one and other"):
        world.step()


@pytest.mark.parametrize("dim", [3, 2])
@pytest.mark.parametrize("speed", [10.0, 20.0])
def test_what_is_struck_within_a_step_does_not_leave_through_the_floor(dim, speed):
    """A light ball leaves nearly twice as fast as what strikes it, and was not near the floor."""
    hard = ds.Material(density=1000, friction=0, restitution=1.0)
    world = ds.World(dt=1 / 37, dim=dim, sleeping=False, gravity=(0, 0, 0))
    world.add_fixed(ds.Plane(), hard)
    ball, striker = (ds.Disc(0.07), ds.Disc(0.3)) if dim == 2 else (ds.Sphere(0.07), ds.Sphere(0.3))

    def upwards(z):
        return (0, z) if dim == 2 else (0, 0, z)

    ball = world.add_body(ball, hard, position=upwards(0.25))
    world.add_body(striker, hard, position=upwards(0.67), velocity=upwards(-speed))
    for _ in range(20):
        world.step()
        assert ball.centre[2] > 0.05  # a radius of 0.07 m above the floor, less what CCD leaves
