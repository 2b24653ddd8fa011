"""New bodies of a world, and whose a body is: every input is checked before anything changes."""

from drystone.errors import InputError
from drystone.model.checks import bits, flag, shown, text
from drystone.world.body import Body, FixedBody, Start
from drystone.world.edits.single_body import honour_material
from drystone.world.inertial_frame import check_material


def make_fixed(world, shape, material, pose, name, group, mask) -> FixedBody:
    """A part of the fixed world, see World.add_fixed()."""
    name, space = _new_name(world, name), world._space
    space.check_shape(shape, name)
    material = check_material(material, name)
    honour_material(world, material)
    group, mask = bits(f"{name}: group", group), bits(f"{name}: mask", mask)
    pose = space.vector(f"{name}: position", pose[0]), space.quaternion(name, *pose[1:])
    return FixedBody(world, world._next_number, name, shape, material, group, mask, pose)


def make_body(
    world,
    shape,
    material,
    pose: tuple,
    motion: tuple,
    weight: tuple,
    name,
    kinematic,
    group,
    mask,
) -> Body:
    """A moving body, see World.add_body().

    pose     position, orientation, angle
    motion   velocity, spin
    weight   mass, inertia, centre; None where the shape tells
    """
    name, space = _new_name(world, name), world._space
    space.check_shape(shape, name)
    material = check_material(material, name)
    honour_material(world, material)
    start = Start(
        space.vector(f"{name}: position", pose[0]),
        space.quaternion(name, *pose[1:]),
        space.vector(f"{name}: velocity", motion[0]),
        space.spin(f"{name}: spin", motion[1]),
    )
    frame = _frame_of(world, shape, material, weight, name)
    group, mask = bits(f"{name}: group", group), bits(f"{name}: mask", mask)
    number, kinematic = world._next_number, flag(f"{name}: kinematic", kinematic)
    return Body(world, number, name, shape, material, kinematic, group, mask, frame, start)


def _new_name(world, name) -> str:
    return f"body-{world._next_number}" if name is None else text("name", name)


def _frame_of(world, shape, material, weight, name):
    mass_frame = world._space.mass_frame
    if any(given is not None for given in weight):
        return mass_frame(shape, material, *weight, name)
    key = shape, material.density  # shapes compare by value where that is cheap
    if key not in world._mass_frames:
        world._mass_frames[key] = mass_frame(shape, material, *weight, name)
    return world._mass_frames[key]


def check_owned(world, body, verb: str) -> None:
    """Raise an InputError unless `body` is one of `world`."""
    if not isinstance(body, Body | FixedBody):
        raise InputError(f"{verb}: {shown(body)} is no body; give what add_body() returned.")
    if body._world is not world:
        gone = "was removed before" if body._world is None else "belongs to another world"
        raise InputError(f"{verb}: {body.name} {gone}.")
