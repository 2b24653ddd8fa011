"""Every named scene builds, runs and does what it says; small variants, so that it is quick."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.scenes import SCENES, find_scene
from drystone.scenes.piles import grid_positions, random_quaternion
from drystone.scenes.tray import LETTERS, solid_boxes
from drystone.scenes.walls import course_joints, lay_courses, stone_corners

SMALL = {
    "wall": {"length": 1.5, "courses": 4},
    "pyramid": {"rows": 5},
    "dominoes": {"count": 8},
    "jenga": {"layers": 6},
    "masonry": {"courses": 6, "stones": 6},
    "sphere-pile": {"count": 27, "per_side": 3},
    "box-pile": {"count": 27, "per_side": 3},
    "hull-pile": {"count": 27, "per_side": 3},
    "diku": {"count": 27},
    "chess-drop": {"count": 8, "per_side": 2},
    "hopper": {"count": 8, "per_side": 2},
    "helmets": {"count": 8, "per_side": 2, "rings": 12, "sections": 20},
    "bunny-bowl": {"count": 4},
    "torus-pile": {"count": 18, "per_side": 3},
    "torus-chain": {"count": 4},
    "chain-net": {"rows": 2},
    "wrecking-ball": {"count": 3},
    "loop": {"turn_deg": 2.0},
    "gears": {"rows": 2},
    "mechanism": {"pebble": False},
    "mixed-pile": {"bodies": 6},
}
OVERLAPPING = ("block-penetrating",)
NAMES_OF_ISSUE = (
    "wall box-stack pyramid mass-ratio sphere-pile box-pile hull-pile slope billiards dominoes "
    "arch newton-cradle diku card-house incline"
).split()
JOINTED = (
    "chain pushed-rectangle snake snake-loaded four-bar jansen-linkage ragdoll-stairs pain agony "
    "slider-crank rope-bridge vehicle"
).split()


@pytest.mark.parametrize("name", SCENES)
def test_scene_runs(name):
    """Finite, solved and without deep overlap over the first steps, from exact contact on.

    The first step has no warm start and may stop short of the tolerance; 1 mm/s is still a
    fortieth of what gravity adds in a step. What moves is solved to the tolerance that the step
    states, which follows its motion.
    """
    world = SCENES[name].build(**SMALL.get(name, {}))
    radius = min(part.radius for body in world.bodies for part in body.shape.parts())
    compliant = world.solver.law == "compliant"  # overlaps are what makes its forces
    for _ in range(20):
        info = world.step()
        limit = 0.1 if compliant else max(1e-3, min(info.tolerance, 0.02))
        assert info.residual < limit
        if name not in OVERLAPPING:
            assert info.penetration < (5e-3 if compliant else 1e-3 * radius)
    assert np.isfinite(world.positions).all() and np.isfinite(world.velocities).all()


@pytest.mark.parametrize("name", SCENES)
def test_scene_starts_without_overlap(name):
    """The first step sees the bodies as placed: nothing overlaps by more than rounding."""
    if name in OVERLAPPING:
        pytest.skip("it is about a body that overlaps at the start")
    world = SCENES[name].build(**SMALL.get(name, {}))
    assert world.step().penetration < 1e-7


def test_all_promised_scenes_are_there():
    assert {*NAMES_OF_ISSUE, *JOINTED} <= set(SCENES)


def test_unknown_names_get_a_guess():
    with pytest.raises(InputError, match="Did you mean 'wall'"):
        find_scene("wal")
    with pytest.raises(InputError, match="Did you mean 'count'"):
        SCENES["box-stack"].build(cuont=3)


def test_options_and_settings_reach_the_world():
    world = SCENES["box-stack"].build(count=3, dt=0.01, sleeping=False)
    assert len(world) == 3 and world.dt == 0.01


def test_option_texts_are_read_as_the_kind_of_their_default():
    scene = SCENES["wall"]
    assert scene.read_option("courses", "5") == 5
    assert scene.read_option("ball", "no") is False
    with pytest.raises(InputError, match="courses is 'many'"):
        scene.read_option("courses", "many")


WRONG = {
    bool: ("maybe", None, 2),
    int: (-1, 2.5, "many", None, True),
    float: (np.inf, np.nan, "much", None),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_option_is_checked(name):
    for option, default in SCENES[name].options.items():
        for value in WRONG[type(default)]:
            with pytest.raises(InputError, match=f"{name}: {option} is"):
                SCENES[name].build(**{option: value})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("loop", {"rise_deg": 0}),
        ("loop", {"turn_deg": 0}),
        ("loop", {"loop": 0}),
        ("hopper", {"per_side": 0}),
        ("helmets", {"per_side": 0}),
        ("gears", {"teeth": 0}),
        ("gears", {"teeth": 1}),
        ("gears", {"rows": 0}),
        ("chess-drop", {"lean_deg": -1}),
        ("slider-crank", {"rod": 0.01}),
        ("rope-bridge", {"slack": 0.5}),
    ],
)
def test_options_out_of_range_are_named(name, options):
    with pytest.raises(InputError, match=f"{name}.* {next(iter(options))}"):
        SCENES[name].build(**options)


def test_a_scene_may_do_without_its_extras():
    """No bumps under the car, no crates over the bridge, no ball of the cradle in motion."""
    flat, bumpy = (SCENES["vehicle"].build(bumps=bumps) for bumps in (0, 8))
    assert len(bumpy.fixed) == len(flat.fixed) + 8
    empty, loaded = (SCENES["rope-bridge"].build(crates=crates) for crates in (0, 3))
    assert len(loaded) == len(empty) + 3
    still, thrown = (SCENES["newton-cradle"].build(moving=moving) for moving in (0, 1))
    assert not still.velocities.any() and thrown.velocities.any()


def test_equal_seeds_make_equal_walls():
    first, second, other = (SCENES["wall"].build(seed=s, **SMALL["wall"]) for s in (1, 1, 2))
    assert np.array_equal(first.positions, second.positions)
    assert not np.array_equal(first.positions[:5], other.positions[:5])


def test_wall_has_some_200_stones():
    counts = [len(lay_courses(np.random.default_rng(s), 6.0, 8, 0.5, 0.05)[0]) for s in range(5)]
    assert all(170 <= n <= 240 for n in counts)


@pytest.mark.parametrize("seed", range(5))
def test_stones_stay_within_their_boxes_and_have_flat_beds(seed):
    size = (0.3, 0.4, 0.2)
    corners = stone_corners(np.random.default_rng(seed), size)
    assert (np.abs(corners) <= np.array(size) / 2 + 1e-14).all()
    for bed in (-0.1, 0.1):
        assert (corners[:, 2] == bed).sum() == 8


@pytest.mark.parametrize("seed", range(5))
def test_joints_are_bonded(seed):
    """No joint stands above a joint of the course below, as a mason would have it."""
    rng = np.random.default_rng(seed)
    below = course_joints(rng, 6.0, np.array([-1.0]))[1:-1]
    above = course_joints(rng, 6.0, below)[1:-1]
    assert np.abs(above[:, None] - below).min() > 0.06


def test_ball_strikes_the_wall_when_it_should():
    """Free flight of 2 s ends within one step of the front face."""
    world = SCENES["wall"].build(length=1.5, courses=4)
    world.run(2.0 - 2 * world.dt)
    ball = world["ball"]
    assert ball.velocity[1] == pytest.approx(10.0)
    world.run(0.1)
    assert ball.velocity[1] < 9.9


def test_newton_cradle_sends_one_ball_out():
    """Equal elastic balls in a row swap velocities pair by pair: only the last one leaves."""
    world = SCENES["newton-cradle"].build()
    world.run(0.5)
    speeds = world.velocities[:, 0]
    assert speeds == pytest.approx([0, 0, 0, 0, 1], abs=1e-3)


@pytest.mark.parametrize(("thickness_percent", "stands"), [(12.0, True), (9.0, False)])
def test_arch_stands_or_falls_with_its_thickness(thickness_percent, stands):
    """The line of thrust fits into a semicircular arch thicker than 10.75 % of its mean radius."""
    world = SCENES["arch"].build(thickness_percent=thickness_percent, sleeping=False)
    crown = world["voussoir 12"]
    before = crown.position[2]
    world.run(1.5)
    dropped = before - crown.position[2]
    assert dropped < 1e-3 if stands else dropped > 0.2


def test_letters_and_the_boxes_around_them_make_the_tray():
    """Every cell is either letter or in one box, and none in two."""
    covered = np.zeros((len(LETTERS), len(LETTERS[0])), dtype=int)
    for (top, bottom), (left, right) in solid_boxes():
        covered[top:bottom, left:right] += 1
    assert (covered == np.array([[cell == "." for cell in line] for line in LETTERS])).all()


@pytest.mark.parametrize(("ratio", "stands"), [(0.9, True), (1.1, False)])
def test_friction_holds_the_incline_up_to_its_angle(ratio, stands):
    """Above the friction angle boxes slide by (sin a - mu cos a) g t^2 / 2, 0.2 m in 1 s."""
    world = SCENES["incline"].build(ratio=ratio, sleeping=False)
    start = world.positions
    world.run(1.0)
    moved = np.linalg.norm(world.positions - start, axis=1)
    assert moved.max() < 1e-5 if stands else moved.min() > 0.2


def test_grid_fills_layers():
    rng = np.random.default_rng(0)
    grid = grid_positions(18, 3, 0.5, rng, 0.0)
    assert np.allclose(grid[:9, 2], 0.2) and np.allclose(grid[9:, 2], 0.7)
    assert np.allclose(grid[:9].mean(axis=0)[:2], 0.0)


@pytest.mark.parametrize("name", JOINTED)
def test_joints_of_scenes_stay_closed(name):
    """From rest over the first steps; bodies that strike each other come later."""
    world = SCENES[name].build()
    assert max(joint.separation for joint in world.joints) < 1e-12
    for _ in range(40):
        world.step()
        assert max(joint.separation for joint in world.joints) < 1e-6


def test_figure_has_54_degrees_of_freedom():
    world = SCENES["ragdoll-stairs"].build()
    held = sum(joint._held_rows for joint in world.joints)
    assert 6 * len(world) - held == 54
    kinds = {type(joint).__name__ for joint in world.joints}
    assert kinds == {"Ball", "Hinge", "Universal"}
    assert sum(body.mass for body in world.bodies) == pytest.approx(78, abs=1)


@pytest.mark.parametrize("name", ["snake", "snake-loaded"])
def test_arched_snake_stands(name):
    """Its hinges give by three degrees each; with the load on it the crown is still up."""
    world = SCENES[name].build(sleeping=False)
    crown = max(body.position[2] for body in world.bodies if body.name != "load")
    world.run(2.0)
    after = max(body.position[2] for body in world.bodies if body.name != "load")
    assert after > 0.7 * crown
    assert all(abs(joint.angle) < np.radians(3.0) + 1e-6 for joint in world.joints)


def test_vehicle_reaches_its_speed_on_its_wheels():
    world = SCENES["vehicle"].build()
    world.run(5.0)
    body = world["body"]
    assert body.velocity[0] == pytest.approx(5.0, abs=0.1)
    assert body.position[2] == pytest.approx(0.6, abs=0.02)


def test_rope_bridge_carries_its_crates():
    world = SCENES["rope-bridge"].build()
    world.run(4.0)
    lowest = min(world[f"plank {k}"].position[2] for k in range(20))
    assert -2.5 < lowest < -1.0
    assert all(world[f"crate {k}"].position[2] > lowest for k in range(3))


def test_random_quaternion_keeps_its_bound():
    rng = np.random.default_rng(0)
    for _ in range(50):
        w = random_quaternion(rng, 0.1)[0]
        assert 2 * np.arccos(w) <= 0.1 + 1e-12
