"""Two and three dimensions: what positions, rotations, shapes and joints of a world may be.

Two dimensions are the x-z plane. Inside there are the arrays of three dimensions, with y = 0 and
rotations about y alone, exactly: nothing ever rounds a body out of the plane.
"""

from math import cos, sin
from typing import Any

from drystone.constraints.joints.fill_rows import flat_kind
from drystone.errors import InputError
from drystone.model.checks import integer, number, planar, positive, shown, vector
from drystone.model.materials import is_elliptic
from drystone.shapes import unit_quaternion
from drystone.shapes.two_dimensions.outline import is_flat
from drystone.world.inertial_frame import (
    NO_ROTATION,
    MassFrame,
    check_shape,
    mass_frame,
    mass_of,
    with_inertia,
)


class ThreeDimensions:
    """World(dim=3)."""

    dim = 3
    joint_kind = None  # joints have all their rows
    vector = staticmethod(vector)
    spin = staticmethod(vector)
    mass_frame = staticmethod(mass_frame)
    with_inertia = staticmethod(with_inertia)
    features = ()

    @staticmethod
    def check_friction(friction) -> None:
        """All that materials take."""

    @staticmethod
    def quaternion(name: str, orientation, angle):
        """The quaternion of an orientation."""
        if angle is not None:
            raise InputError(
                f"{name}: angle is {shown(angle)}, which is for World(dim=2); give orientation."
            )
        return unit_quaternion(f"{name}: orientation", from_scipy(name, orientation))

    @staticmethod
    def check_shape(shape, name: str) -> None:
        check_shape(shape, name)
        if is_flat(shape):
            raise InputError(
                f"{name}: {shape!r} is a shape of two dimensions; use World(dim=2), or a Sphere, "
                f"Box or ConvexHull."
            )


class TwoDimensions:
    """World(dim=2): positions (x, z), spins and torques about y."""

    dim = 2
    joint_kind = staticmethod(flat_kind)
    vector = staticmethod(planar)
    features = ("2d",)

    @staticmethod
    def check_friction(friction) -> None:
        if is_elliptic(friction):
            raise InputError(
                f"friction is {friction}: it has one direction in two dimensions; give one number."
            )

    @staticmethod
    def spin(what: str, value) -> tuple[float, float, float]:
        """A number, or (0, w, 0)."""
        if not hasattr(value, "__len__"):
            return 0.0, number(what, value), 0.0
        x, y, z = vector(what, value)
        if x != 0.0 or z != 0.0:
            raise InputError(f"{what} is {(x, y, z)}, must be a number, or (0, w, 0), about y.")
        return x, y, z

    @staticmethod
    def quaternion(name: str, orientation, angle):
        if angle is not None:
            half = 0.5 * number(f"{name}: angle", angle, "rad")
            return cos(half), 0.0, sin(half), 0.0
        q = unit_quaternion(f"{name}: orientation", from_scipy(name, orientation))
        if q[1] != 0.0 or q[3] != 0.0:
            raise InputError(
                f"{name}: orientation is {q}, must be about y alone: (w, 0, y, 0), or give angle."
            )
        return q

    @staticmethod
    def check_shape(shape, name: str) -> None:
        check_shape(shape, name)
        if is_flat(shape) is False:
            raise InputError(
                f"{name}: {shape!r} is a shape of three dimensions; with dim=2 use Disc, Polygon, "
                f"Segment, Plane or a Compound of them."
            )
        for part in shape.parts():
            # A plane is not rotated about y but leans in it: its normal counts.
            leaning = part.rotation[1, 2] if part.geometry is None else part.rotation[[0, 2], 1]
            if part.position[1] != 0.0 or (leaning != 0.0).any():
                raise InputError(f"{name}: {shape!r} must lie in the x-z plane: y = 0 everywhere.")

    @staticmethod
    def mass_frame(shape, material, mass, inertia, centre, name: str) -> MassFrame:
        """Mass, centre and moment about y; the other moments are not used and set to the same."""
        area, middle, unit = shape.mass_properties()
        mass = mass_of(shape, material, mass, area, name)
        offset = tuple(middle.tolist()) if centre is None else planar(f"{name}: centre", centre)
        moment = float(unit[1, 1]) * (mass / area)
        frame = MassFrame(mass, offset, NO_ROTATION, 3 * (moment,))
        return frame if inertia is None else TwoDimensions.with_inertia(frame, inertia, name)

    @staticmethod
    def with_inertia(frame: MassFrame, inertia, name: str) -> MassFrame:
        moment = positive(f"{name}: inertia", inertia, "kg m²")
        return MassFrame(frame.mass, frame.offset, NO_ROTATION, 3 * (moment,))


def from_scipy(name: str, orientation):
    """The quaternion (w, x, y, z) of SciPy's Rotation, which has w last; other values stay."""
    if not hasattr(orientation, "as_quat"):
        return orientation
    q = orientation.as_quat()
    if q.shape != (4,):
        raise InputError(f"{name}: orientation holds {len(q)} rotations, must be one.")
    return q[[3, 0, 1, 2]].tolist()


def space_of(dim) -> Any:
    """What `dim` stands for."""
    if integer("dim", dim) not in (2, 3):
        raise InputError(f"dim is {dim}, must be 2 or 3.")
    return TwoDimensions if dim == 2 else ThreeDimensions
