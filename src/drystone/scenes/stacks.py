"""Stacks: boxes, pyramid, card house, Jenga, masonry, which should all do nothing at all."""

from math import cos, radians, sin

import drystone as ds
from drystone.scenes.scene import Scene


def fill_box_stack(world, count=10, size=1.0, turn_deg=0.0, friction=0.5, density=1000.0):
    """Equal boxes on top of each other, every other one rotated by `turn_deg` about the vertical.

    What the papers in NEWTON found on it, and what we find from zero impulses. VRIPHYS: Newton
    beats projected Gauss-Seidel, which comes near with enough iterations; here 150 sweeps of pgs
    leave 1e-3 m/s, 3000 still 6e-5. WSCG (9 boxes, turn_deg=57.3, density=10): greedy-staggered
    iterations are 2.7, extreme-staggered ones 1.9 times as fast as plain ones; here 2.6 and 2.1.
    GRAPP: subspace minimisation converges on small stacks; here pgs-sm reaches 1e-9 m/s with 25
    sweeps and 3 reduced solves.
    """
    half = radians(turn_deg) / 2
    wood = ds.Material(density=density, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    for k in range(count):
        world.add_body(
            ds.Box(size, size, size), wood, position=(0, 0, (k + 0.5) * size), name=f"box {k}",
            orientation=(cos(half), 0, 0, sin(half)) if k % 2 else (1, 0, 0, 0),
        )  # fmt: skip


def fill_pyramid(world, rows=20, size=1.0, spacing=1.05, friction=0.5):
    """A wall of boxes, one less in every row, each resting on two.

    The VRIPHYS paper finds that on such a dense structure Newton and projected Gauss-Seidel both
    get stuck. Here 150 sweeps of pgs leave 9e-4 m/s, and pgs-sm gains nothing on its sweeps.
    """
    wood = ds.Material(density=1000, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    for row in range(rows):
        for k in range(rows - row):
            x = (k - (rows - row - 1) / 2) * spacing * size
            position = (x, 0, (row + 0.5) * size)
            world.add_body(ds.Box(size, size, size), wood, position=position, name=f"box {row}.{k}")


def fill_mass_ratio(world, ratio=1000.0, friction=0.5):
    """A heavy box on a light one of 1 kg.

    In the VRIPHYS paper (Fig. 10) 150 iterations of projected Gauss-Seidel fail to carry the heavy
    box, Newton carries it. Here pgs with 150 iterations overlaps by 1 cm within a quarter of a
    second and squeezes the light box out within two, and reports that it did not converge. With
    nsgs it stands with 2e-7 m of overlap over five seconds, with pgs-sm with 1.2e-5 m over ten.
    """
    wood = ds.Material(density=1, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 0.5), mass=1.0, name="light")
    world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 1.5), mass=ratio, name="heavy")


def fill_card_house(
    world, levels=3, lean_deg=20.0, length=0.09, width=0.06, thickness=0.002, friction=0.6,
    density=800.0,
):  # fmt: skip
    """Tents of two leaning cards side by side, a lying card across every two neighbours.

    The WSCG paper's house is levels=5, lean_deg=15, friction=0.4, length=2, width=1,
    thickness=0.1, density=10. There greedy-staggered iterations of projected Gauss-Seidel are 2.0,
    extreme-staggered ones 2.2 times as fast as plain ones; here 2.3 and 2.0. It stands: in five
    seconds of nsgs no card moves by more than 3e-6 m.
    """
    paper = ds.Material(density=density, friction=friction)
    world.add_fixed(ds.Plane(), paper, name="ground")
    a = radians(lean_deg)
    half = (cos(a / 2), 0, sin(a / 2), 0), (cos(a / 2), 0, -sin(a / 2), 0)
    # A leaning card touches its twin with the upper inner edge (x = 0), the ground with the lower.
    reach = (length * sin(a) + thickness * cos(a)) / 2
    rise = (length * cos(a) + thickness * sin(a)) / 2
    # Lying cards meet end to end above a tent, each on one of its two upper edges.
    pitch, height = 1.005 * length, 2 * rise
    for level in range(levels):
        z = level * (height + thickness)
        tents = levels - level
        for k in range(tents):
            x = (k - (tents - 1) / 2) * pitch
            for side, orientation in zip((-1, 1), half, strict=True):
                world.add_body(
                    ds.Box(thickness, width, length), paper, orientation=orientation,
                    position=(x + side * reach, 0, z + rise), name=f"leaning {level}.{k}{side:+d}",
                )  # fmt: skip
        for k in range(tents - 1):
            position = ((k - (tents - 2) / 2) * pitch, 0, z + height + thickness / 2)
            lying = ds.Box(length, width, thickness)
            world.add_body(lying, paper, position=position, name=f"lying {level}.{k}")


def fill_jenga(world, layers=18, friction=0.5):
    """Three blocks a layer, every other layer turned by a right angle."""
    wood = ds.Material(density=600, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    long, wide, high = 0.075, 0.025, 0.015
    for layer in range(layers):
        for k in range(3):
            beside, z = (k - 1) * wide, (layer + 0.5) * high
            turned = layer % 2 == 1
            world.add_body(
                ds.Box(wide, long, high) if turned else ds.Box(long, wide, high), wood,
                position=(beside, 0, z) if turned else (0, beside, z), name=f"block {layer}.{k}",
            )  # fmt: skip


def fill_masonry(world, courses=20, stones=100, length=0.4, depth=0.2, height=0.2, joint_mm=5.0,
                 friction=0.6):  # fmt: skip
    """A wall of equal stones in running bond, `stones` in every other course, half ones at its ends
    in the courses between. Beds are dry, joints between neighbours are open."""
    rock = ds.Material(density=2400, friction=friction)
    world.add_fixed(ds.Plane(), rock, name="ground")
    for course in range(courses):
        if course % 2 == 0:
            joints = [k * length for k in range(stones + 1)]
        else:
            joints = [0.0, *((k + 0.5) * length for k in range(stones)), stones * length]
        for k in range(len(joints) - 1):
            x, wide = (joints[k] + joints[k + 1]) / 2, joints[k + 1] - joints[k]
            world.add_body(
                ds.Box(wide - joint_mm / 1000, depth, height), rock, name=f"stone {course}.{k}",
                position=(x - stones * length / 2, 0, (course + 0.5) * height),
            )  # fmt: skip


SCENES = [
    Scene(
        "box-stack",
        "ten boxes on top of each other",
        fill_box_stack,
        seconds=10.0,
        expect="nothing moves: top drift below 1 mm in a minute, sleeping off",
        source="VRIPHYS 2009 (Silcowitz, Niebe, Erleben), box stack",
        finding="Fischer-Newton is ahead of PGS mainly in the friction; with enough iterations PGS "
        "gets nearly as far (Fig. 8b)",
        ours="nsgs needs 62,000 sweeps from zero for 1e-8 m/s (step 100)",
    ),
    Scene(
        "pyramid",
        "wall of 210 boxes, 20 rows, each box on two others",
        fill_pyramid,
        seconds=2.5,
        expect="nothing moves",
        source="VRIPHYS 2009 (Silcowitz, Niebe, Erleben), pyramid",
        finding="Fischer-Newton takes fewer iterations than PGS, but ends at a poorer local "
        "minimum (Fig. 8c)",
        ours="nsgs needs 92,000 sweeps from zero for 1e-8 m/s (step 100)",
    ),
    Scene(
        "mass-ratio",
        "1000 kg on 1 kg",
        fill_mass_ratio,
        seconds=5.0,
        expect="stands with less than 1 mm of overlap, or says that it did not converge",
        source="VRIPHYS 2009 (Silcowitz, Niebe, Erleben), heavy box on light box",
        finding="Fischer-Newton is better by orders of magnitude (Fig. 8a); PGS with 150 "
        "iterations per frame lets the heavy box sink (Fig. 10)",
        ours="nsgs needs 179,000 sweeps from zero for 1e-8 m/s (step 100)",
    ),
    Scene(
        "card-house",
        "house of cards, three levels",
        fill_card_house,
        seconds=5.0,
        expect="stands while friction exceeds half the tangent of the lean; falls at friction=0.1",
        source="WSCG 2010 (Poulsen, Niebe, Erleben), card house",
    ),
    Scene(
        "jenga",
        "Jenga tower of 18 layers",
        fill_jenga,
        seconds=5.0,
        expect="nothing moves",
    ),
    Scene(
        "masonry",
        "wall of 2000 equal stones in running bond",
        fill_masonry,
        seconds=2.0,
        expect="nothing moves",
    ),
]
