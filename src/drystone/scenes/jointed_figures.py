"""Jointed figures in trouble: ragdoll-stairs, pain and agony, and figures that a ball hits."""

from math import cos, pi, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.meshes.human_figure import add_figure
from drystone.scenes.scene import Scene

LIGHTEST = 0.15  # mass of the fingers [kg]
FLOOR = 2  # group of the floor: a root that follows carries the figure, its feet touch nothing


def fill_ragdoll_stairs(
    world,
    steps=12,
    rise=0.17,
    going=0.28,
    width=3.0,
    lean_deg=20.0,
    speed=1.5,
    joint_friction=0.0,
    joint_damping=0.5,
):
    """A limp figure at the head of a flight of stairs, leaning forward and moving at `speed`."""
    wood = ds.Material(density=700, friction=0.5, name="stairs")
    skin = ds.Material(density=1000, friction=0.6)
    for k in range(steps):
        height = rise * (steps - k)
        world.add_fixed(
            ds.Box(going, width, height), wood, position=((k + 0.5) * going, 0, height / 2)
        )
    landing = rise * (steps + 1)
    world.add_fixed(ds.Box(2.0, width, landing), wood, position=(-1.0, 0, landing / 2))
    world.add_fixed(ds.Plane(), wood, name="ground")
    a = radians(lean_deg)
    rotation = np.array([[cos(a), 0, sin(a)], [0, 1, 0], [-sin(a), 0, cos(a)]])
    parts = add_figure(
        world,
        skin,
        (-0.1, 0, landing + 1.05),
        rotation,
        arms=(0.3, 0.5, -1),
        joint_friction=joint_friction,
        joint_damping=joint_damping,
    )
    for part in parts.values():
        part.velocity = (speed, 0, 0)


def fill_pain(
    world, load_ratio=1000.0, ball=False, joint_friction=0.3, joint_damping=5.0, grip=20.0
):
    """A figure hung by its hands and feet from four pillars, with a load on its belly.

    load_ratio       mass of the load, in masses of the figure's lightest part
    grip             torque with which pillars hold hands and feet [N m]
    joint_friction   dry, in every joint [N m]: with dampers alone it swings for minutes
    ball             the load is a ball, as in OpenTissue; else a box, as in the thesis
    """
    skin = ds.Material(density=1000, friction=0.8)
    lying = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]).T  # face up, head towards -x
    parts = add_figure(
        world, skin, (0, 0, 1.5), lying, arms=(0.8, 1, 0.3), legs=(0.8, 0.4, -1),
        joint_friction=joint_friction, joint_damping=joint_damping,
    )  # fmt: skip
    world.add_fixed(ds.Plane(), skin, name="ground")
    for name in ("left fingers", "right fingers", "left foot", "right foot"):
        part = parts[name]
        tip = _tip(part, 0.04 if "fingers" in name else -0.035)  # finger tips, soles
        world.add_joint(ds.Ball(None, part, tip, friction=grip))
        world.add_fixed(
            ds.Box(0.08, 0.08, float(tip[2])), skin, position=(tip[0], tip[1], tip[2] / 2), mask=0
        )
    _load(world, load_ratio * LIGHTEST, ball, parts)


def _tip(part, distance):
    """The point so far [m] from the middle of a part along its own z axis."""
    w, x, y, z = part.orientation
    up = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    return part.position + distance * up


def _load(world, mass, ball, parts):
    iron = ds.Material(density=7800, friction=0.8, name="iron")
    x, _, z = parts["thorax"].position
    top = z + 0.1
    if ball:
        radius = (mass / (7800 * 4 / 3 * pi)) ** (1 / 3)
        shape, height = ds.Sphere(radius), radius
    else:
        side = (mass / (7800 * 0.3)) ** (1 / 3)
        shape, height = ds.Box(side, side, 0.3 * side), 0.15 * side
    world.add_body(shape, iron, position=(x, 0, top + height + 0.01), mass=mass, name="load")


def fill_agony(world, load_ratio=1000.0, joint_friction=0.3, joint_damping=5.0, grip=20.0):
    """A figure that hangs from a beam by its hands, with a heavy ball tied to its feet.

    grip             torque with which a hand holds the beam, and a tie the foot [N m]
    joint_friction   dry, in every joint [N m]: with dampers alone the load swings for minutes
    """
    skin = ds.Material(density=1000, friction=0.6)
    parts = add_figure(
        world, skin, (0, 0, 2.2), arms=(0, 0.1, 1),
        joint_friction=joint_friction, joint_damping=joint_damping,
    )  # fmt: skip
    tips = [_tip(parts[f"{side} fingers"], 0.04) for side in ("left", "right")]
    for side, tip in zip(("left", "right"), tips, strict=True):
        world.add_joint(ds.Ball(None, parts[f"{side} fingers"], tip, friction=grip))
    beam = np.mean(tips, axis=0) + (0, 0, 0.06)
    world.add_fixed(ds.Box(0.1, 1.5, 0.1), skin, position=beam, mask=0, name="beam")
    mass = load_ratio * LIGHTEST
    radius = (mass / (7800 * 4 / 3 * pi)) ** (1 / 3)
    iron = ds.Material(density=7800, friction=0.6, name="iron")
    feet = [parts[f"{side} foot"] for side in ("left", "right")]
    soles = [_tip(foot, -0.035) * (0, 1, 1) for foot in feet]  # below the hands
    position = np.mean(soles, axis=0) - (0, 0, radius)
    load = world.add_body(ds.Sphere(radius), iron, position=position, mass=mass, name="load")
    for foot, sole in zip(feet, soles, strict=True):
        world.add_joint(ds.Ball(foot, load, sole, friction=grip))


def fill_arm_ball(world, ball_mass=2.0, ball_speed=8.0, frequency=14.0, blow=0.6):
    """An arm that swings as one of a walker does; a ball meets the forearm after `blow` seconds.

    frequency   of the muscles as springs [rad/s]
    """
    from drystone.world.character.clips.walking import walk_on_the_spot  # SciPy: a list can wait

    clip = walk_on_the_spot(3.0).branch("right_shoulder")
    # From its right and a little from ahead.
    way = (-1.0, -0.35, 0.0)
    _fill_ball(world, clip, "right_elbow", ball_mass, ball_speed, way, frequency, blow)


def fill_body_ball(world, ball_mass=3.0, ball_speed=8.0, frequency=14.0, blow=0.6):
    """A figure that walks on the spot; a ball meets its forearm after `blow` seconds.

    Of a ball of 1 kg the upper arm, 0.14 m from its shoulder, takes 8 N s and gives way by 5
    degrees, the chest by 1: the forearm and the head are what a light ball moves.
    """
    from drystone.world.character.clips.walking import walk_on_the_spot  # SciPy: a list can wait

    # From its right and more from ahead: from the right alone 5 kg press the arm against the
    # trunk, and behind it.
    way = (-0.5, -1.0, 0.0)
    clip = walk_on_the_spot(3.0)
    _fill_ball(world, clip, "right_elbow", ball_mass, ball_speed, way, frequency, blow)


def _fill_ball(world, clip, bone, mass, speed, way, frequency, blow):
    figure = ds.Figure.from_clip(clip)
    ground = min(figure.ground, -0.5) if not figure.feet else figure.ground
    world.add_fixed(ds.Plane(), position=(0, 0, ground), name="floor", group=FLOOR)
    character = world.add_character(
        figure, clip, gains=ds.Gains(frequency=frequency), mask=~FLOOR, name="figure"
    )
    character.throw(bone, mass, speed, distance=speed * blow, direction=way)


SCENES = [
    Scene(
        "ragdoll-stairs",
        "a limp figure with 54 degrees of freedom falls down a flight of stairs",
        fill_ragdoll_stairs,
        seconds=4.0,
        expect="it tumbles down, its joints stay closed and within their limits, and it lies still",
        picture_time=1.2,
    ),
    Scene(
        "pain",
        "a figure hung by hands and feet from four pillars, with a heavy load on its belly",
        fill_pain,
        seconds=10.0,
        expect="it sags and comes to rest",
        source="NEWTON 6.1, after a demo of OpenTissue",
        finding="writhes for ever with projected Gauss-Seidel; with Fischer-Newton it rests until "
        "the load lies on it, then all falls through the floor",
    ),
    Scene(
        "agony",
        "a figure hung by its hands from a beam, with a heavy ball tied to its feet",
        fill_agony,
        seconds=10.0,
        expect="it hangs and comes to rest",
        source="NEWTON 6.1, after a demo of OpenTissue",
        finding="writhes for ever with projected Gauss-Seidel",
    ),
    Scene(
        name="arm-ball",
        summary="A swinging arm is hit by a ball and goes on as before",
        fill=fill_arm_ball,
        seconds=3.0,
        expect="the ball pushes the forearm off by more than 10 degrees; muscles bring the arm "
        "back to its clip within a second",
        source="CLINE 5.1.2, figure 5.2",
        finding="the arm reacts, then returns to the path of the motion capture",
        ranges={
            "ball_mass": (0.01, 100.0),
            "ball_speed": (0.5, 40.0),
            "frequency": (0.1, 200.0),
            "blow": (0.05, 2.5),
        },
        settings={"sleeping": False},
        picture_time=0.55,
    ),
    Scene(
        name="body-ball",
        summary="A walking figure is hit by a ball and goes on as before",
        fill=fill_body_ball,
        seconds=3.0,
        expect="the arm that is hit gives way by more than 10 degrees and is back within a second",
        source="CLINE 5.1.2, figure 5.3, with a ball that hits the body twice",
        finding="the body reacts, then restores to the original motion, at an interactive rate",
        ranges={
            "ball_mass": (0.01, 100.0),
            "ball_speed": (0.5, 40.0),
            "frequency": (0.1, 200.0),
            "blow": (0.05, 2.5),
        },
        settings={"sleeping": False},
        picture_time=0.55,
    ),
]
