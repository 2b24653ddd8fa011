"""A jointed figure with 54 degrees of freedom: ball, universal and hinge joints with limits.

    6  pelvis in space                    as many as the skeleton of CLINE figure 5.1 has, with
   12  spine of three parts, head         three parts of the spine as there; sizes and masses are
   20  arms of five parts each            those of a person of 1.8 m and 78 kg
   16  legs of four parts each

It faces +x, its left is +y. Arms and legs are straight where they are put; the limits of
shoulders and hips do not depend on where that is.
"""

from math import sqrt

import numpy as np

import drystone as ds

# length, thickness [m], mass [kg] of the parts of a limb, from the trunk outwards
ARM = (
    ("clavicle", 0.14, 0.07, 1.2), ("upper arm", 0.30, 0.09, 2.1), ("forearm", 0.26, 0.075, 1.2),
    ("hand", 0.10, 0.055, 0.3), ("fingers", 0.09, 0.045, 0.15),
)  # fmt: skip
LEG = (
    ("thigh", 0.43, 0.15, 8.0), ("shank", 0.42, 0.11, 3.6),
)  # fmt: skip
# sizes (x, y, z) [m], mass [kg]
PELVIS, LUMBAR, THORAX = (0.2, 0.32, 0.16), (0.17, 0.26, 0.14), (0.18, 0.28, 0.14)
CHEST, HEAD, FOOT, TOES = (0.2, 0.32, 0.18), 0.1, (0.18, 0.09, 0.07), (0.08, 0.09, 0.04)
FRONT, LEFT, UP = np.eye(3)


class Figure:
    """The bodies of a figure by name, in the order in which they hang on each other."""

    def __init__(self, world, skin, position, rotation, friction, damping):
        self.world, self.skin, self.friction = world, skin, friction
        still = damping == 0.0
        self.damper = None if still else ds.Servo(0.0, stiffness=0.0, damping=damping)
        self.dampers = None if still else ds.Servo((0, 0, 0), stiffness=0.0, damping=damping)
        self.position, self.rotation = np.asarray(position, float), np.asarray(rotation, float)
        self.parts, self.carriers = {}, {}

    def point(self, local):
        """A point of the figure's own frame, in the world."""
        return self.position + self.rotation @ np.asarray(local, float)

    def axis(self, local):
        return self.rotation @ np.asarray(local, float)

    def add(self, name, shape, at, mass, along=None):
        """Put a part at the point `at` of the figure's frame; its z axis along `along` if given."""
        axes = self.rotation if along is None else self.rotation @ axes_with_z(along)
        self.parts[name] = self.world.add_body(
            shape, self.skin, position=self.point(at), orientation=quaternion(axes), mass=mass,
            name=name,
        )  # fmt: skip
        return self.parts[name]

    def ball(self, a, b, at, axis, swing, twist, cone=None):
        middle = None if cone is None else self.axis(cone)
        limits = ds.SwingTwist(self.axis(axis), swing, (-twist, twist), middle)
        self._join(ds.Ball, a, b, self.point(at), limits, self.friction, self.dampers)

    def hinge(self, a, b, at, axis, limits):
        resist = self.damper, self.friction
        self._join(ds.Hinge, a, b, self.point(at), self.axis(axis), limits, *resist)

    def universal(self, a, b, at, axes, limits):
        first, second = map(self.axis, axes)
        resist = self.damper, self.damper, self.friction, self.friction
        self._join(ds.Universal, a, b, self.point(at), first, second, *limits, *resist)

    def _join(self, kind, a, b, *arguments):
        joint = kind(self.parts[a], self.parts[b], *arguments)
        self.world.add_joint(joint)
        # Parts next but one overlap where limbs are thick; they never touch each other.
        far = self.carriers.get(a)
        if far is not None:
            self.world.exclude(self.parts[far], self.parts[b])
        for sibling in [name for name, carrier in self.carriers.items() if carrier == a]:
            self.world.exclude(self.parts[sibling], self.parts[b])
        self.carriers[b] = a


def axes_with_z(along):
    """Axes (columns) with z along `along`."""
    z = np.asarray(along, float) / np.linalg.norm(along)
    x = np.cross(LEFT if abs(z[1]) < 0.9 else UP, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def quaternion(axes):
    """(w, x, y, z) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return w, x, y, z


def add_figure(
    world,
    skin,
    position,
    rotation=None,
    arms=(0, 1, 0),
    legs=(0, 0, -1),
    joint_friction=0.0,
    joint_damping=1.0,
) -> dict:
    """Put a figure into `world`; returns its bodies by name.

    position        of the middle of the pelvis [m]
    rotation        3x3, the figure's axes (front, left, up) in the world; None: upright
    arms, legs      directions of the left ones in the figure's axes; the right ones mirror them
    joint_friction  torque that resists every rotation [N m]
    joint_damping   the same for every radian per second [N m s]
    """
    rotation = np.eye(3) if rotation is None else rotation
    figure = Figure(world, skin, position, rotation, joint_friction, joint_damping)
    top = _add_trunk(figure)
    for side, name in ((1, "left"), (-1, "right")):
        mirror = np.array([1.0, side, 1.0])
        _add_arm(figure, name, side, top - 0.05 * UP, _unit(mirror * arms))
        _add_leg(figure, name, side, _unit(mirror * legs))
    return figure.parts


def _unit(v):
    return np.asarray(v) / sqrt(float(np.dot(v, v)))


def _add_trunk(figure):
    """Pelvis, three parts of the spine, head; returns the middle of the chest's upper side."""
    height, below = 0.0, None
    for name, size, mass in (
        ("pelvis", PELVIS, 11.0), ("lumbar", LUMBAR, 8.0), ("thorax", THORAX, 8.0),
        ("chest", CHEST, 11.0),
    ):  # fmt: skip
        if below is not None:
            height += size[2] / 2
        figure.add(name, ds.Box(*size), height * UP, mass)
        if below is not None:
            figure.ball(below, name, (height - size[2] / 2) * UP, UP, 0.35, 0.3)
        height += size[2] / 2
        below = name
    figure.add("head", ds.Sphere(HEAD), (height + 0.06 + HEAD) * UP, 4.6)
    figure.ball("chest", "head", (height + 0.03) * UP, UP, 0.7, 1.0)
    return height * UP


def _add_arm(figure, name, side, collar, along):
    """Clavicle and arm: universal, ball, universal, universal, hinge."""
    start, out = collar + 0.04 * side * LEFT, side * LEFT
    flexing = _unit(np.cross(along, FRONT))  # rotates the arm forward
    carrier = "chest"
    for k, (part, length, thickness, mass) in enumerate(ARM):
        direction = out if k == 0 else along
        part, end = f"{name} {part}", start + length * direction
        shape = ds.Capsule(thickness / 2, length - thickness)
        if part.endswith(("hand", "fingers")):
            shape = ds.Box(0.03, thickness, length - 0.01)
        figure.add(part, shape, (start + end) / 2, mass, direction)
        if k == 0:
            figure.universal(carrier, part, start, (UP, FRONT), ((-0.3, 0.3), (-0.3, 0.3)))
        elif k == 1:
            cone = _unit((0.5, 0.8 * side, 0.2))
            figure.ball(carrier, part, start, along, 1.9, 1.2, cone)
        elif k == 2:
            figure.universal(carrier, part, start, (flexing, along), ((-0.02, 2.4), (-1.2, 1.2)))
        elif k == 3:
            sideways = np.cross(flexing, along)
            limits = ((-1.0, 1.0), (-0.4, 0.4))
            figure.universal(carrier, part, start, (flexing, sideways), limits)
        else:
            figure.hinge(carrier, part, start, flexing, (-0.1, 1.5))
        carrier, start = part, end


def _add_leg(figure, name, side, along):
    """Hip, knee, ankle and toes: ball, hinge, ball, hinge."""
    start = (0.0, 0.1 * side, -0.02)
    bending = _unit(np.cross(along, -FRONT))  # takes the heel back
    carrier = "pelvis"
    for part, length, thickness, mass in LEG:
        part, end = f"{name} {part}", start + length * along
        shape = ds.Capsule(thickness / 2, length - thickness)
        figure.add(part, shape, (start + end) / 2, mass, along)
        if carrier == "pelvis":
            cone = _unit((0.5, 0.15 * side, -1.0))
            figure.ball(carrier, part, start, along, 1.2, 0.8, cone)
        else:
            figure.hinge(carrier, part, start, bending, (-0.02, 2.4))
        carrier, start = part, end
    toe = _unit(FRONT - along * np.dot(FRONT, along))
    foot, toes = f"{name} foot", f"{name} toes"
    axes = np.stack([toe, np.cross(-along, toe), -along], axis=1)
    _add_foot(figure, foot, ds.Box(*FOOT), start + 0.05 * toe + 0.035 * along, axes, 1.0)
    figure.ball(carrier, foot, start, toe, 0.6, 0.3)
    tip = start + 0.14 * toe + 0.05 * along
    _add_foot(figure, toes, ds.Box(*TOES), tip + 0.04 * toe, axes, 0.2)
    figure.hinge(foot, toes, tip, np.cross(toe, along), (-0.3, 1.0))


def _add_foot(figure, name, shape, at, axes, mass):
    axes = figure.rotation @ axes
    figure.parts[name] = figure.world.add_body(
        shape, figure.skin, position=figure.point(at), orientation=quaternion(axes), mass=mass,
        name=name,
    )  # fmt: skip
