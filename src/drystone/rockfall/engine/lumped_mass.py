"""The lumped-mass model, for orientation: a rock as a point with restitution and friction.

The point flies on a parabola until it hits a triangle: the root of a quadratic. There the normal
velocity is reversed and multiplied by R_n, and the tangential one loses mu times the normal
impulse. Slower than the rest speed it slides along the ground with Coulomb friction until it is
thrown off or stops. Shape, size and spin do not exist here; materials, barriers and forest are
those of the rigid rocks, and so are the records.
"""

from collections.abc import Sequence
from math import inf, sqrt

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, cross, dot, load, mad, norm, normalize, scale, sub
from drystone.model.signatures import public
from drystone.rockfall.engine.barrier_crossing import (
    AGAIN,
    barrier_of,
    cross_barriers,
    first_root,
    follow_sides,
    log_hit,
    note_sides,
    panel_outcome,
)
from drystone.rockfall.engine.contacts import is_over
from drystone.rockfall.engine.event_log import (
    DONE,
    FOUND_FULL,
    LOG_FULL,
    collect,
    log_arc,
    log_crossing,
    log_end,
    log_impact,
)
from drystone.rockfall.engine.flight import fall, place_at
from drystone.rockfall.engine.forest_drag import drag_at
from drystone.rockfall.engine.options import Options
from drystone.rockfall.engine.records import (
    BARRIER,
    CONTACT,
    FLIGHT,
    STEPS,
    STOPPED,
    TIME,
    VELOCITY,
    Trajectory,
)
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import (
    Scene,
    Start,
    check_rolling,
    material_rows,
    plane_count,
    spread,
    start_table,
)
from drystone.rockfall.engine.stopping_conditions import NOT_YET, outside
from drystone.rockfall.engine.triangle_grid import find_triangles, ground_below
from drystone.rockfall.engine.wall_outcomes import judge_walls
from drystone.rockfall.terrain.materials import FACE, material_at

# The point is set this high above a triangle that it hit, so that it does not hit it again [m].
ABOVE = 1e-6

NO_SPIN, NO_TURN = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)

# A point that slides over a hollow cuts its corner, and is below the ground for a moment [m].
DEPTH = 1.0


@kernel
def _corners(grid, t):
    """Corners and unit normal of triangle t, the normal upward."""
    a = load(grid.vertex, grid.triangle[t, 0])
    b = load(grid.vertex, grid.triangle[t, 1])
    c = load(grid.vertex, grid.triangle[t, 2])
    return a, b, c, normalize(cross(sub(b, a), sub(c, a)))


@kernel
def _first_impact(grid, x, v, a, h, found):
    """First time within h at which the point comes down on a triangle, and the triangle.

    -1 for no triangle, -2 if there are too many for the scratch.
    """
    end = place_at(x, v, a, h)
    bulge = 0.125 * h * h * norm(a)
    low = (
        min(x[0], end[0]) - bulge, min(x[1], end[1]) - bulge, min(x[2], end[2]) - bulge
    )  # fmt: skip
    high = (
        max(x[0], end[0]) + bulge, max(x[1], end[1]) + bulge, max(x[2], end[2]) + bulge
    )  # fmt: skip
    near = find_triangles(grid, low, high, found)
    best, which = inf, -1 if near >= 0 else -2
    for f in range(near):
        p, q, r, n = _corners(grid, found[f])
        s = first_root(dot(n, sub(x, p)), dot(n, v), dot(n, a), 0.0, min(h, best))
        if s == inf or dot(n, v) + s * dot(n, a) >= 0.0:
            continue
        if is_over(place_at(x, v, a, s), n, p, q, r):
            best, which = s, found[f]
    return best, which


@kernel
def _reflect(v, n, restitution, friction):
    """Velocity after an impact on the plane with normal n."""
    down = -dot(n, v)
    along = mad(v, n, down)
    speed = norm(along)
    kept = max(speed - friction * (1.0 + restitution) * down, 0.0) / speed if speed > 0.0 else 0.0
    return mad(scale(along, kept), n, restitution * down)


@kernel
def _slide(v, n, friction, gravity, h):
    """Velocity after sliding for h seconds on the plane with normal n."""
    v = mad(v, n, -dot(n, v))
    pull = (gravity * n[2] * n[0], gravity * n[2] * n[1], -gravity * (1.0 - n[2] * n[2]))
    free = mad(v, pull, h)
    speed = norm(free)
    loss = friction * gravity * abs(n[2]) * h
    return scale(free, (speed - loss) / speed) if speed > loss else (0.0, 0.0, 0.0)


@kernel
def lump_point(grid, surface, barriers, forest, mass, start, k, values, options, found, side, log):
    """Whole path of point k; DONE, or what has to be larger to do it again."""
    bounce, friction, crossed, crossed_at = values[0], values[1], -1, -1.0
    x = (start[k, 0], start[k, 1], start[k, 2])
    v = (start[k, 7], start[k, 8], start[k, 9])
    arcs, impacts, crossings = log.used[0], log.used[1], log.used[2]
    t, reason, sliding, jumped = 0.0, STEPS, False, True
    note_sides(barriers, x, side)
    for _ in range(options.max_steps):
        below, ground = ground_below(grid, x[0], x[1], x[2] + ABOVE)
        gone = outside(grid, x, below >= 0)
        if gone != NOT_YET or t >= options.max_time:
            reason = gone if gone != NOT_YET else TIME
            break
        h = min(options.dt_flight, options.max_time - t)
        rate = drag_at(x[0], x[1], x[2] - ground, forest) / mass[k]
        a, kind, hit = fall(v, options.gravity, rate, h), FLIGHT, -1
        if sliding:
            _, _, _, n = _corners(grid, below)
            material = material_at(below, FACE, x[0], x[1], surface)
            end = _slide(v, n, friction[material], options.gravity, h)
            if norm(v) <= options.stop_speed and norm(end) <= options.stop_speed:
                reason = VELOCITY
                break
            a, kind, s = scale(sub(end, v), 1.0 / h), CONTACT, h
        else:
            s, hit = _first_impact(grid, x, v, a, h, found)
            if hit == -2:
                return FOUND_FULL
            s = min(s, h)
        spared = crossed if t - crossed_at < AGAIN else -1
        panel, s, height, plane, after = cross_barriers(barriers, side, x, v, a, s, DEPTH, spared)
        follow_sides(barriers, side, x, v, a, s, DEPTH, spared, plane, after)
        if panel >= 0:
            hit = -1
        if s > 0.0 and not log_arc(
            log, arcs, jumped, (t, x, NO_TURN, v, NO_SPIN), t + s, a, NO_SPIN, 0.0, 0.0, kind
        ):
            return LOG_FULL
        x, v, t, jumped = place_at(x, v, a, s), add(v, scale(a, s)), t + s, False
        if sliding:
            below, ground = ground_below(grid, x[0], x[1], np.inf)
            sliding = below >= 0 and x[2] - ground < options.skin
            if sliding:  # follow the ground, which takes what points into it
                _, _, _, n = _corners(grid, below)
                x = (x[0], x[1], ground + ABOVE)
                v = mad(v, n, -min(dot(n, v), 0.0))
                jumped = True
        if hit >= 0:
            p, _, _, n = _corners(grid, hit)
            material = material_at(hit, FACE, x[0], x[1], surface)
            slow = -dot(n, v) <= options.rest_speed
            out = _reflect(v, n, 0.0 if slow else bounce[material], friction[material])
            e_in, e_out = 0.5 * mass[k] * dot(v, v), 0.5 * mass[k] * dot(out, out)
            if not slow and not (
                log_impact(log, t, x, n, v, out, NO_SPIN, NO_SPIN, e_in, e_out, hit, material)
                and log_hit(barriers, hit, t, x, v, NO_SPIN, e_in, e_in - e_out, log)
            ):
                return LOG_FULL
            x, v, sliding, jumped = mad(x, n, ABOVE - dot(n, sub(x, p))), out, slow, True
        if panel >= 0:
            energy, b = 0.5 * mass[k] * dot(v, v), barrier_of(barriers, panel)
            crossed, crossed_at = b, t
            outcome, taken = panel_outcome(barriers, panel, height, energy)
            if not log_crossing(log, t, b, x, v, NO_SPIN, height, energy, taken, outcome):
                return LOG_FULL
            if outcome == STOPPED:
                reason = BARRIER
                break
            if taken > 0.0:
                v, jumped = scale(v, sqrt(1.0 - taken / energy)), True
    log_end(
        log, k, t, x, NO_TURN, reason, mass[k], log.used[0] - arcs,
        log.used[1] - impacts, log.used[2] - crossings,
    )  # fmt: skip
    return DONE


@public
def roll_lumped(
    rocks: Sequence[Rock],
    starts: Sequence[Start],
    scene: Scene,
    options: Options | None = None,
    materials: tuple[np.ndarray, ...] | None = None,
    threads: int | None = None,
) -> list[Trajectory]:
    """Paths of points with the masses of `rocks`, as `roll_many` takes and gives them."""
    options, count = check_rolling(rocks, starts, scene, options, threads)
    mass = np.array([rock.mass for rock in rocks], dtype=np.float64)
    start = start_table(starts)
    values = material_rows(scene.surface, materials, count)
    walled = len(scene.barriers.wall) > 0

    def work(chunk):
        side = np.zeros(plane_count(scene.barriers), np.int64)

        def roll_one(k, capacity, log):
            found = np.empty(capacity, np.int32)
            return lump_point(*scene, mass, start, k, values[k], options, found, side, log)

        rolled = collect(roll_one, *chunk, count)
        return [judge_walls(one, scene.barriers) for one in rolled] if walled else rolled

    return spread(work, count, threads)
