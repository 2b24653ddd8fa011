"""Checks of a scene: compiled code takes materials and barriers by number, and trusts them."""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import integer, of_kind, shown
from drystone.rockfall.engine.barriers import Barriers
from drystone.rockfall.engine.forest_drag import Forest
from drystone.rockfall.engine.triangle_grid import Grid
from drystone.rockfall.terrain.materials import Surface


def check_scene(scene) -> None:
    """Raise an InputError unless the parts of a Scene fit each other."""
    grid = of_kind("scene: grid", scene.grid, Grid, "what Scene.build() makes")
    surface = of_kind("scene: surface", scene.surface, Surface, "what build_surface() makes")
    of_kind("scene: forest", scene.forest, Forest, "what build_forest() makes")
    told, there = len(surface.triangle_material), len(grid.triangle)
    if told not in (0, there):
        raise InputError(
            f"scene: the surface has materials of {told} triangles, but there are {there}; build "
            f"it for the triangles of this scene."
        )
    known = len(surface.friction)
    codes = surface.regions.region_code
    if len(codes) and not 0 <= codes.min() <= codes.max() < known:
        raise InputError(f"scene: a region names a material beyond the {known} that there are.")
    _check_barriers(of_kind("scene: barriers", scene.barriers, Barriers, "Barriers"))


def _check_barriers(barriers: Barriers) -> None:
    panels = len(barriers.height) if np.ndim(barriers.height) else 0
    shapes = {"foot_a": (panels, 3), "foot_b": (panels, 3), "height": (panels,),
              "barrier": (panels,)}  # fmt: skip
    shapes |= {"net": (len(barriers.net), 3, 3), "attenuation": (len(barriers.attenuation), 2)}
    for name in ("foot_a", "foot_b", "height", "barrier", "capacity", "wall", "span", "net",
                 "net_barrier", "curve", "attenuation"):  # fmt: skip
        array = getattr(barriers, name)
        whole = name in ("barrier", "wall", "span", "net_barrier", "curve")
        kind = np.int32 if whole else np.float64
        if not isinstance(array, np.ndarray) or array.dtype != kind:
            raise InputError(f"barriers: {name} is {shown(array)}, must hold {kind.__name__}.")
        if array.shape != shapes.get(name, (array.size,)):
            raise InputError(f"barriers: {name} has shape {array.shape}, must be {shapes[name]}.")
        if kind is np.float64 and np.isnan(array).any():
            raise InputError(f"barriers: {name} holds NaN.")
    if panels and barriers.barrier.min() < 0:
        raise InputError("barriers: barrier must hold numbers of 0 and more.")
    if barriers.span[-1] != panels or len(barriers.curve) != len(barriers.capacity) + 1:
        raise InputError("barriers: their straight pieces are unknown; use Scene.build().")
    integer("barriers: wall_first", barriers.wall_first, 0)
