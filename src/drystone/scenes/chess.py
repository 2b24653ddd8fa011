"""Chess pieces as meshes: chess-drop, a grid of them onto a board; hopper, through a funnel."""

import numpy as np

import drystone as ds
from drystone.scenes.meshes.chess_pieces import PIECES
from drystone.scenes.meshes.shells import funnel
from drystone.scenes.piles import container_walls, grid_positions
from drystone.scenes.scene import Scene

DT = 1 / 210  # [s] FFD Fig. 8
SPACING, STOREY = 0.26, 0.46  # [m] between the axes of standing pieces, and from floor to floor
WOOD = dict(density=700.0)


def piece_shapes() -> list:
    """One mesh of each kind; all pieces of a kind share it."""
    return [ds.Mesh(*make()) for make in PIECES.values()]


def leaning_quaternion(rng, most):
    """Rotated by any angle about the vertical, then leant by at most `most` [rad] to any side."""
    yaw, to, lean = rng.uniform(0, 2 * np.pi, 2).tolist() + [rng.uniform(0, most)]
    c, s = np.cos(lean / 2), np.sin(lean / 2)
    return c * np.cos(yaw / 2), s * np.cos(to), s * np.sin(to), c * np.sin(yaw / 2)


def add_pieces(world, material, rng, count, per_side, lean_deg, bottom):
    """Standing pieces of random kinds in storeys of per_side x per_side, each leaning a little."""
    shapes, names = piece_shapes(), list(PIECES)
    storeys = grid_positions(count, per_side, 1.0, rng, 0.0, bottom=0.0)
    places = storeys * (SPACING, SPACING, STOREY) + (0, 0, bottom)
    kinds = rng.integers(len(shapes), size=count)
    for k, kind in enumerate(kinds):
        world.add_body(
            shapes[kind], material, position=places[k], name=f"{names[kind]} {k}",
            orientation=leaning_quaternion(rng, np.radians(lean_deg)),
        )  # fmt: skip


def fill_chess_drop(
    world, seed=3, count=1000, per_side=10, friction=0.4, restitution=0.0, lean_deg=6.0
):
    """Pieces fall from a grid of 10 x 10 x 10 onto a board with walls.

    FFD, section 9 and Fig. 8 and 9: four shapes of 1916 to 5814 triangles, about 250 of each, 210
    steps per second; a step takes several seconds at the peak, resolving the contacts costs time
    linear in their number. Ours are five shapes of the same sizes.
    """
    rng = np.random.default_rng(seed)
    wood = ds.Material(**WOOD, friction=friction, restitution=restitution)
    world.add_fixed(ds.Plane(), wood, name="board")
    inner = board_half_width(per_side)
    for half, position in container_walls(inner, 2.0 + STOREY * -(-count // per_side**2)):
        world.add_fixed(ds.Box(*(2 * half)), wood, position=position)
    add_pieces(world, wood, rng, count, per_side, lean_deg, bottom=0.05)


def board_half_width(per_side) -> float:
    """From the middle of the board to its walls [m]."""
    return per_side * SPACING / 2 + 0.15


def fill_hopper(world, seed=5, count=2016, per_side=12, friction=0.3, outlet=0.8, lean_deg=6.0):
    """Pieces fall into a funnel, through its outlet and onto a heap below.

    FFD Fig. 5 shows 2016 pieces falling through a hopper and stacking; here 12 x 12 x 14.
    """
    rng = np.random.default_rng(seed)
    wood = ds.Material(**WOOD, friction=friction)
    steel = ds.Material(density=7800, friction=0.2)
    storeys = -(-count // per_side**2)
    top = max(per_side * SPACING / 2 * 2**0.5 + 0.2, outlet + 0.4)
    collar = 0.5 + 0.12 * storeys
    cone = ds.Mesh(*funnel(top, outlet, top - outlet, collar, 0.15))
    height = 0.15 * count**0.5 / 2 + 0.8  # space for the heap below
    world.add_fixed(ds.Plane(), wood, name="ground")
    for half, position in container_walls(top + 0.5, 3.0):
        world.add_fixed(ds.Box(*(2 * half)), wood, position=position)
    world.add_fixed(cone, steel, position=(0, 0, height), name="hopper")
    add_pieces(world, wood, rng, count, per_side, lean_deg, bottom=height + top - outlet + 0.1)


SCENES = [
    Scene(
        "chess-drop",
        "1000 chess pieces, meshes of 1916 to 5814 triangles, fall on a board",
        fill_chess_drop,
        seconds=6.0,
        expect="a heap that comes to rest; no piece outside the walls, none through the board",
        source="FFD Fig. 1ab, 8 and 9 (Kaufman, Edmunds, Pai 2005)",
        finding="several seconds per step at the peak; contact resolution linear in the contacts",
        ranges={"lean_deg": (0, 90)},
        settings={"dt": DT},
        picture_time=0.5,
    ),
    Scene(
        "hopper",
        "2016 chess pieces fall through a funnel",
        fill_hopper,
        seconds=12.0,
        expect="the funnel empties onto a heap",
        source="FFD Fig. 5 (Kaufman, Edmunds, Pai 2005)",
        ranges={"lean_deg": (0, 90)},
        settings={"dt": DT},
        picture_time=2.0,
    ),
]
