"""Inertia of a body: mass, centre and principal axes, from its shape or as given."""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import float_array, positive, shown, vector
from drystone.model.materials import Material
from drystone.shapes import SHAPES, principal_axes, quaternion_from_matrix

NO_ROTATION = (1.0, 0.0, 0.0, 0.0)


class MassFrame:
    """Mass, centre and principal axes of a body, in the frame of its shape."""

    __slots__ = ("mass", "offset", "principal_rotation", "inertia")

    def __init__(self, mass, offset, principal_rotation, inertia):
        self.mass = mass  # [kg]
        self.offset = offset  # centre of mass in the shape's frame [m]
        self.principal_rotation = principal_rotation  # quaternion: principal -> shape's axes
        self.inertia = inertia  # principal moments [kg m²]


def check_shape(shape, name: str) -> None:
    if not isinstance(shape, tuple(SHAPES.values())):
        raise InputError(f"{name}: shape is {shown(shape)}, must be a shape such as Box(1, 1, 1).")


def check_material(material, name: str) -> Material:
    if material is None:
        return Material()
    if not isinstance(material, Material):
        raise InputError(
            f"{name}: material is {shown(material)}, must be a Material such as "
            f"Material(density=700, friction=0.5)."
        )
    return material


def mass_of(shape, material, mass, volume, name: str) -> float:
    """The mass that the user gave, or that of the volume [kg]."""
    if mass is not None:
        fix = "For a body that never moves use add_fixed()."
        return positive(f"{name}: mass", mass, "kg", fix)
    mass = float(volume) * material.density
    if not 0.0 < mass < np.inf:
        raise InputError(
            f"{name}: mass is {mass:g} kg, must be > 0. It comes from {shape!r} at "
            f"{material.density:g} kg/m³."
        )
    return mass


def mass_frame(shape, material, mass, inertia, centre, name: str) -> MassFrame:
    """Mass, centre and principal axes, from the shape where the user gave none."""
    volume, middle, unit = shape.mass_properties()
    mass = mass_of(shape, material, mass, volume, name)
    offset = middle.tolist() if centre is None else vector(f"{name}: centre", centre)
    frame = MassFrame(mass, tuple(offset), NO_ROTATION, None)
    if inertia is None:
        (ix, a, b), (c, iy, d), (e, f, iz) = unit.tolist()
        if a == b == c == d == e == f == 0.0:  # most shapes; the general method takes 50 us
            k = mass / volume
            return MassFrame(mass, frame.offset, NO_ROTATION, (k * ix, k * iy, k * iz))
        inertia = unit * (mass / volume)
    return with_inertia(frame, inertia, name)


def with_inertia(frame: MassFrame, inertia, name: str) -> MassFrame:
    """The same mass and centre with another inertia, three moments or 3x3 [kg m²]."""
    tensor = float_array(f"{name}: inertia", inertia, "3 or 3x3 numbers")
    if tensor.shape == (3,):
        tensor = np.diag(tensor)
    try:
        moments, axes = principal_axes(tensor)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    a, b, c = sorted(moments.tolist())
    if c > (a + b) * (1.0 + 1e-9):  # far above rounding; a thin plate reaches equality
        raise InputError(
            f"{name}: inertia has the principal moments {a:g}, {b:g}, {c:g}; no body has one "
            f"larger than the sum of the other two."
        )
    rotation = tuple(quaternion_from_matrix(axes).tolist())
    return MassFrame(frame.mass, frame.offset, rotation, tuple(moments.tolist()))


def with_mass(frame: MassFrame, mass: float) -> MassFrame:
    """The same distribution of another mass [kg]."""
    share = mass / frame.mass
    inertia = tuple(share * i for i in frame.inertia)
    return MassFrame(mass, frame.offset, frame.principal_rotation, inertia)
