"""Flight arcs and grounds made by hand, for tests of what is read off them."""

import numpy as np

from drystone.rockfall.engine.records import ARC
from drystone.rockfall.terrain.ground_surface import Ground

G = 9.81


def one_arc(x, v, a=(0.0, 0.0, -G), duration=1.0, t0=0.0, e_spin=(0.0, 0.0)):
    arc = np.zeros(1, ARC)
    arc["t0"], arc["t1"], arc["x"], arc["v"], arc["a"] = t0, t0 + duration, x, v, a
    arc["e_spin"] = e_spin
    return arc


def cut(arcs, pieces):
    """The same motion in more arcs."""
    out = []
    for arc in arcs:
        h = (arc["t1"] - arc["t0"]) / pieces
        for k in range(pieces):
            s, part = k * h, arc.copy()
            part["t0"], part["t1"] = arc["t0"] + s, arc["t0"] + s + h
            part["x"] = arc["x"] + s * (arc["v"] + 0.5 * arc["a"] * s)
            part["v"] = arc["v"] + arc["a"] * s
            first, last = np.sqrt(arc["e_spin"])
            shares = np.array([k, k + 1]) / pieces
            part["e_spin"] = (first + shares * (last - first)) ** 2
            out.append(part)
    return np.array(out, ARC)


def flat_ground(raster, height=0.0, step=None):
    step = step or raster.cell
    shape = (
        int(np.ceil(raster.rows * raster.cell / step)) + 1,
        int(np.ceil(raster.columns * raster.cell / step)) + 1,
    )
    return Ground(raster.x0, raster.y0, step, step, np.full(shape, height))
