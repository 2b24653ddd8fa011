"""Hands in a running world: drag a body by a spring, throw a ball (CLINE 4.7).

Everything is made of forces and bodies that a recording notes, so that a replay is exact.
"""

from itertools import count
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.forces.drag import Drag
from drystone.forces.spring import Spring
from drystone.model.checks import not_negative, positive
from drystone.model.materials import Material
from drystone.model.rotation import matrix_from_quaternion
from drystone.model.signatures import public
from drystone.shapes import Disc, Sphere
from drystone.world.body import Body, FixedBody
from drystone.world.new_bodies import check_owned

# The spring of a drag moves its body at this frequency [rad/s] if it is not told its stiffness:
# within 0.2 s, and a tenth of what a step of 1/240 s can follow.
DRAG_FREQUENCY = 20.0
MOST_TURN = 0.3  # [rad] of that oscillation in a step: beyond 2 it would gain energy


@public
class Dragging:
    """A body that is held by a spring at a point; `World.drag` makes one.

    body     which
    target   where the other end of the spring is [m]; move it with move()
    """

    def __init__(self, body: Body, spring: Spring, drag: Drag) -> None:
        self.body = body
        self._spring, self._drag = spring, drag

    @property
    def target(self) -> np.ndarray:
        return np.array(self._spring.point_a)

    @property
    def point(self) -> np.ndarray:
        """Where the spring holds the body now [m]."""
        anchor = self._spring.attachment.anchors[1]
        return self.body.position + matrix_from_quaternion(self.body.orientation) @ anchor

    @property
    def held(self) -> bool:
        """False after release(), or when the body was removed."""
        return self._spring._world is not None

    def move(self, target: ArrayLike) -> None:
        """Take the end of the spring to `target` [m]; the body follows."""
        world = self._world("move")
        spring = self._spring
        place = world._space.vector("drag: target", target)
        (_, anchor), frames, bases = spring.attachment
        moved = Spring(
            None, self.body, spring.stiffness, spring.damping, place, spring.point_b, 0.0,
            attachment=type(spring.attachment)((place, anchor), frames, bases),
        )  # fmt: skip
        world.remove(spring)
        self._spring = world.add_force(moved)

    def release(self) -> None:
        """Let go of the body."""
        world = self._world("release")
        world.remove(self._spring)
        world.remove(self._drag)

    def _world(self, verb: str) -> Any:
        if not self.held:
            raise InputError(f"{verb}: {self.body.name} is no longer held; call drag() again.")
        return self._spring._world

    def __enter__(self) -> "Dragging":
        return self

    def __exit__(self, *_: object) -> None:
        if self.held:
            self.release()

    def __repr__(self) -> str:
        return f"<Dragging {self.body.name!r} to {tuple(self.target.tolist())}>"


def drag(world, body, point, target, stiffness, damping) -> Dragging:
    """See World.drag()."""
    if isinstance(body, str):
        body = world[body]
    check_owned(world, body, "drag")
    if isinstance(body, FixedBody) or body.kinematic:
        raise InputError(f"drag: {body.name} cannot be pulled, it is fixed or kinematic.")
    space, mass = world._space, body.mass
    point = body.centre if point is None else space.vector("drag: point", point)
    target = point if target is None else space.vector("drag: target", target)
    frequency = min(DRAG_FREQUENCY, MOST_TURN / world.dt)
    if stiffness is None:
        stiffness = mass * frequency**2
    stiffness = positive("drag: stiffness", stiffness, "N/m")
    critical = 2.0 * sqrt(stiffness * mass)  # without oscillation
    damping = critical if damping is None else not_negative("drag: damping", damping)
    # Half of it along the spring, half against all motion: a spring alone lets its body circle.
    # Less against rotation: held at a corner it should turn until it hangs.
    spring = Spring(None, body, stiffness, damping / 2, tuple(target), tuple(point), 0.0)
    slowed = Drag(body, damping / 2, 0.0, damping / 8 * float(np.max(body.inertia)) / mass)
    return Dragging(body, world.add_force(spring), world.add_force(slowed))


def throw(world, origin, direction, speed, shape, material, name) -> Body:
    """See World.throw()."""
    origin = world._space.vector("throw: origin", origin)
    direction = np.array(world._space.vector("throw: direction", direction))
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        raise InputError("throw: direction is zero, must point somewhere.")
    speed = positive("throw: speed", speed, "m/s")
    if shape is None:
        shape = _ball(world)
    if name is None:
        taken = {body.name for body in world.bodies}
        name = next(word for k in count(1) if (word := f"thrown {k}") not in taken)
    return world.add_body(
        shape,
        Material(density=2000, friction=0.5) if material is None else material,
        position=origin,
        velocity=speed / length * direction,
        name=name,
    )


def _ball(world):
    """A ball as large as a body of the world is: the median of their radii, or 0.1 m."""
    radii = [part.radius for body in world.bodies for part in body.shape.parts()]
    radius = float(np.median(radii)) if radii else 0.1
    if world.dim == 2:
        return Disc(radius)
    return Sphere(radius)
