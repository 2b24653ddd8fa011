"""Check for bodies that start under a terrain: it carries from its front alone."""

import numpy as np

from drystone.model.arrays import FIXED, PLANE, TERRAIN
from drystone.model.finding import Finding
from drystone.world.check.joints import held_bodies


def buried(world):
    """Bodies with the back of a terrain right above them and nothing fixed below."""
    shapes, gravity = world._build.model.shapes, world.gravity
    terrains = np.flatnonzero(shapes.kind == TERRAIN)
    held = held_bodies(world)
    free = np.array([body.index for body in world.bodies if body not in held], int)
    fixed_kinds = shapes.kind[shapes.body == FIXED]
    if not gravity.any() or not len(terrains) or not len(free) or (fixed_kinds == PLANE).any():
        return
    up = -gravity / np.linalg.norm(gravity)
    axes = np.linalg.svd(up[None])[2][1:]  # (2, 3) across gravity
    centre, radius = world._state.position[free], world._build.model.bodies.radius[free]
    above = np.full(len(free), np.inf)  # how high the nearest surface over each is [m]
    back, floor = np.zeros(len(free), bool), _over_solids(shapes, centre, up, axes)
    for s in terrains:
        rise, facing_up = _crossings(shapes, s, centre, up, axes)
        for k, (heights, front) in enumerate(zip(rise, facing_up, strict=True)):
            floor[k] |= bool((front & (heights <= 0.0)).any())
            over = heights > 0.0
            if over.any() and heights[over].min() < above[k]:
                above[k] = heights[over].min()
                back[k] = front[over][np.argmin(heights[over])]
    for k in np.flatnonzero(back & ~floor & (above > radius)):
        yield Finding(
            "warning",
            world.bodies[free[k]].name,
            f"starts {above[k]:.3g} m under a terrain, which carries from above only: it will fall "
            f"for ever.",
            "Move it up.",
        )


def _crossings(shapes, s, centre, up, axes):
    """For each point: heights over it of the triangles on its plumb line; which face upwards."""
    vertex_first, triangle_first, count = shapes.terrain[shapes.table[s], :3]
    triangle = shapes.triangle[triangle_first : triangle_first + count]
    pose = shapes.local[s]
    corner = shapes.terrain_vertex[vertex_first + triangle] @ pose[3:].reshape(3, 3).T + pose[:3]
    flat, height = corner @ axes.T, corner @ up  # (m, 3, 2), (m, 3)
    low, high = flat.min(axis=1), flat.max(axis=1)
    order = np.argsort(low[:, 0])
    starts, widest = low[order, 0], (high[:, 0] - low[:, 0]).max()
    rises, facings = [], []
    for point in centre:
        at = axes @ point
        near = order[
            np.searchsorted(starts, at[0] - widest) : np.searchsorted(starts, at[0], "right")
        ]
        near = near[((low[near] <= at) & (at <= high[near])).all(axis=1)]
        a, b, c = (flat[near, k] - at for k in range(3))
        weight = np.stack([_cross_2d(b, c), _cross_2d(c, a), _cross_2d(a, b)], axis=1)
        area = weight.sum(axis=1)
        inside = (weight * np.sign(area)[:, None] >= 0.0).all(axis=1) & (area != 0.0)
        weight, area, near = weight[inside], area[inside], near[inside]
        rises.append((weight * height[near]).sum(axis=1) / area - up @ point)
        facings.append(area * np.sign(np.cross(axes[0], axes[1]) @ up) > 0.0)
    return rises, facings


def _cross_2d(a, b):
    """Twice the area that two vectors of a plane span."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _over_solids(shapes, centre, up, axes):
    """(n,) whether something fixed that is no terrain may lie under each point."""
    rows = np.flatnonzero((shapes.body == FIXED) & (shapes.kind != TERRAIN))
    found = np.zeros(len(centre), bool)
    for s in rows:
        offset = centre - shapes.local[s, :3]
        across = np.linalg.norm(offset @ axes.T, axis=1)
        found |= (across < shapes.radius[s]) & (offset @ up > 0.0)
    return found
