"""Machines of meshes held by contacts alone: rack, gears and cam; a pyramid; arms on pins."""

from math import cos, pi, sin

import numpy as np

import drystone as ds
from drystone.scenes.meshes.extrusions import egg, extrude, plate
from drystone.scenes.meshes.gears import gear_outline, rack_lines
from drystone.scenes.meshes.revolutions import revolve
from drystone.scenes.scene import Scene

MODULE, BACKLASH = 0.02, 0.001  # [m]
TEETH = 18, 18, 24  # of the three gears
BORE, PLAY = 0.05, 0.0005  # [m] radius of the holes, and how much thinner the axles are
THICK = 0.06  # [m] of a layer: the cam is in one, the gear that it sits on in another
BACK = 0.06  # [m] of the rack behind its pitch line
CAM, LIFT = 0.11, 0.07  # [m]


def upright(vertices):
    """From the plane of x and y, in which outlines are drawn, to that of x and z."""
    x, y, z = vertices.T
    return np.stack([x, -z, y], axis=1)


def rotated(outline, angle):
    """Points (k, 2) rotated counter-clockwise by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return outline @ np.array([[c, s], [-s, c]])


def upright_mesh(vertices, faces) -> "ds.Mesh":
    return ds.Mesh(upright(vertices), faces)


def fill_mechanism(world, friction=0.1, pebble=True, rack_density=7800.0):
    """A falling rack turns three gears; the last carries a cam that lifts a follower.

    Nothing is held by joints: gears turn on axles that go through their bores, rack and follower
    slide along guides, two plates hold all in a plane. A pebble falls between the last two
    gears, is drawn in and jams the train: the rack stops half-way. Without it the rack falls to
    the ground, and the gears turn as 1 : 1 : 3/4.

    FFD Fig. 1d and 4 show a mechanism of frictional contact, sliding, momentum transfer and
    jamming, without figures.
    """
    steel = ds.Material(density=7800, friction=friction)
    heavy = ds.Material(density=rack_density, friction=friction, name="rack")
    world.add_fixed(ds.Plane(), steel, name="ground")
    centres = gear_centres()
    for k, (x, z) in enumerate(centres):
        _add_gear(world, steel, k, x, z)
    _add_rack(world, heavy, *centres[0])
    _add_follower(world, steel, *centres[2])
    for side in (-1, 1):
        plate_at = (0.0, side * (THICK + PLAY), 0.0)
        facing = (cos(pi / 4), side * cos(pi / 4), 0.0, 0.0)  # takes z to -y or +y
        world.add_fixed(ds.Plane(), steel, position=plate_at, orientation=facing, name="plate")
    if pebble:
        x = (centres[1][0] + centres[2][0] + MODULE / 2 * (TEETH[1] - TEETH[2])) / 2
        at = (x, THICK / 2, centres[1][1] + 0.5)
        world.add_body(ds.Sphere(0.012), steel, position=at, name="pebble")


def gear_centres(height=0.6):
    """x, z of the three axles [m], a little further apart than the pitch radii are long."""
    pitch = [MODULE * z / 2 for z in TEETH]
    x = np.cumsum([0.0, pitch[0] + pitch[1] + PLAY, pitch[1] + pitch[2] + PLAY])
    return [(float(v), height) for v in x]


def gear_phases():
    """Angles by which the outlines are rotated so that gaps face teeth [rad]."""
    first = 0.0  # a tooth at +x
    second = pi + pi / TEETH[1]  # a gap at -x; and what that leaves at +x
    facing = (-second / (2 * pi / TEETH[1])) % 1.0  # where in its pitch the second is at +x
    third = pi + (0.5 + facing) * 2 * pi / TEETH[2]
    return first, second, third


def _add_gear(world, material, k, x, z):
    outline = rotated(gear_outline(TEETH[k], MODULE, BACKLASH), gear_phases()[k])
    if k < 2:
        shape = upright_mesh(*plate(outline, BORE, 2 * THICK))
    else:  # half as thick, to leave a gap for the cam, whose nose is up
        gear = upright_mesh(*plate(outline, BORE, THICK))
        cam = upright_mesh(*plate(rotated(egg(CAM, LIFT), pi / 2), BORE, THICK))
        shape = ds.Compound((gear, (0, THICK / 2, 0)), (cam, (0, -THICK / 2, 0)))
    world.add_body(shape, material, position=(x, 0, z), name=f"gear {k}")
    axle = ds.Cylinder(BORE - PLAY, 3 * THICK)
    lying = (cos(pi / 4), cos(pi / 4), 0, 0)
    world.add_fixed(axle, material, position=(x, 0, z), orientation=lying, name=f"axle {k}")


def _add_rack(world, material, x, z):
    """To the left of the first gear, teeth to the right, its lower end level with the axle."""
    teeth = 14
    line, back = rack_lines(teeth, MODULE, BACKLASH, BACK)
    vertices, faces = extrude(line, back, 2 * THICK, closed=False)
    vertices = np.stack([-vertices[:, 1], vertices[:, 0], vertices[:, 2]], axis=1)
    pitch = x - MODULE * TEETH[0] / 2 - PLAY
    # The first gear has a tooth at -x if it has an even number: it meets the gap before tooth 2.
    low = z - 1.5 * pi * MODULE
    world.add_body(upright_mesh(vertices, faces), material, position=(pitch, 0, low), name="rack")
    guide = ds.Box(0.1, 3 * THICK, 2.0)
    world.add_fixed(guide, material, position=(pitch - BACK - PLAY - 0.05, 0, 1.0), name="guide")


def _add_follower(world, material, x, z):
    """A rod on the cam, in the layer before the gears, between two guides."""
    width, length = 0.06, 0.5
    bottom = z + CAM + LIFT
    y = -THICK / 2
    world.add_body(
        ds.Box(width, THICK - PLAY, length), material, position=(x, y, bottom + length / 2),
        name="follower",
    )  # fmt: skip
    for side in (-1, 1):
        at = (x + side * (width / 2 + PLAY + 0.05), y, bottom + 0.3)
        world.add_fixed(ds.Box(0.1, THICK, 0.3), material, position=at, name="guide")


def fill_gears(world, rows=4, teeth=18, friction=0.5, thickness=0.08):
    """Gears lying flat in a square pyramid, each on four others.

    NEWTON's GRAPP paper (Fig. 2f and 2g) has a small and a medium pyramid of gears: subspace
    minimisation converges on the small one, on the larger one it does as plain PGS does.
    """
    iron = ds.Material(density=7200, friction=friction)
    world.add_fixed(ds.Plane(), iron, name="ground")
    shape = ds.Mesh(*plate(gear_outline(teeth, MODULE), 0.4 * MODULE * teeth / 2, thickness))
    spacing = MODULE * (teeth + 3)
    for row in range(rows):
        side = rows - row
        for i in range(side):
            for j in range(side):
                x, y = ((n - (side - 1) / 2) * spacing for n in (i, j))
                position = (x, y, (row + 0.5) * thickness)
                world.add_body(shape, iron, position=position, name=f"gear {row}.{i}.{j}")


ARM, ARM_WIDTH, ARM_THICK = 0.5, 0.12, 0.04  # [m] length from pin to pin, half width, thickness
PIN, PIN_PLAY = 0.05, 0.0005  # [m] radius of a pin, and how much wider its bore is


def arm_outline(sections=32):
    """A bar from the pin at the origin to one at -z, that is -y here, at the angles of a bore."""
    far = ARM + ARM_WIDTH
    w = ARM_WIDTH
    corners = np.arctan2([-far, -far, w, w], [-w, w, w, -w])
    even = 2 * pi * np.arange(sections) / sections - pi
    angle = np.unique(np.round(np.concatenate([even, corners]), 12))
    c, s = np.cos(angle), np.sin(angle)
    up = np.where(s > 0.0, ARM_WIDTH, far) / np.maximum(np.abs(s), 1e-12)
    return np.minimum(up, ARM_WIDTH / np.maximum(np.abs(c), 1e-12))[:, None] * np.stack([c, s], 1)


def pin_mesh(sections=32) -> "ds.Mesh":
    """A pin along y with a flange at either end, between which an arm has its play."""
    half, flange = ARM_THICK / 2 + PIN_PLAY, 1.6 * PIN
    end = half + 0.3 * ARM_THICK
    profile = [(flange, -end), (flange, -half), (PIN, -half), (PIN, half), (flange, half)]
    return upright_mesh(*revolve([*profile, (flange, end)], sections))


def fill_pinned_pendulum(world, angle_deg=60.0, friction=0.0, sections=32):
    """A double pendulum: two arms with a bore each, on pins that are 0.5 mm thinner all around.

    The first hangs on a fixed pin and carries the pin of the second. Both are let go at
    `angle_deg` from the vertical.
    """
    steel = ds.Material(density=7800, friction=friction)
    arm = upright_mesh(*plate(arm_outline(sections), PIN + PIN_PLAY, ARM_THICK))
    pin, lean = pin_mesh(sections), pi / 180 * angle_deg
    turned = (cos(lean / 2), 0.0, -sin(lean / 2), 0.0)
    along = np.array([sin(lean), 0.0, -cos(lean)])
    world.add_fixed(pin, steel, position=(0.0, 0.0, 0.0), orientation=turned, name="pin")
    beside = ARM_THICK * 1.3 + PIN_PLAY  # of the second arm and its pin, in y
    first = ds.Compound((arm, (0.0, 0.0, 0.0)), (pin, (0.0, beside, -ARM)))
    # Each arm hangs: the upper side of its bore lies on the pin.
    world.add_body(first, steel, position=PIN_PLAY * along, orientation=turned, name="first arm")
    place = (ARM + 2 * PIN_PLAY) * along + (0.0, beside, 0.0)
    world.add_body(arm, steel, position=place, orientation=turned, name="second arm")


SCENES = [
    Scene(
        "pinned-pendulum",
        "double pendulum of two arms on pins, held by contacts alone",
        fill_pinned_pendulum,
        seconds=4.0,
        ranges={"sections": (8, None)},
        expect="it swings on, no arm leaves its pin, no energy is gained",
        source="after rigid-ipc (Ferguson et al. 2021), arms on pins",
        picture_time=0.3,
        view=(0.0, -1.0, 0.15),
    ),
    Scene(
        "mechanism",
        "rack, gears, cam and follower, held by contacts alone; a pebble jams them",
        fill_mechanism,
        seconds=3.0,
        expect="the rack falls and turns the gears, until the pebble jams them",
        source="FFD Fig. 1d and 4 (Kaufman, Edmunds, Pai 2005)",
        finding="frictional contact, sliding, momentum transfer and jamming; no figures given",
        settings={"dt": 1 / 1000},
        picture_time=0.3,
        view=(0.0, -1.0, 0.15),
    ),
    Scene(
        "gears",
        "pyramid of 30 gears, each on four others",
        fill_gears,
        seconds=2.0,
        ranges={"teeth": (4, None)},
        expect="nothing moves",
        source="GRAPP 2010 (Silcowitz, Niebe, Erleben), gears, Fig. 2f and 2g",
        finding="PGS-SM converges on the small pyramid; on larger ones it does as PGS does",
    ),
]
