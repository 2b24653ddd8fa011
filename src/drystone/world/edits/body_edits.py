"""What a world does to its bodies as a whole: removal, pairs of bodies, pairs of materials."""

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.materials import Material, checked_overrides
from drystone.world import build
from drystone.world.body import Body, FixedBody
from drystone.world.edits import force_edits, joint_edits
from drystone.world.edits.single_body import changed, forget_name, honour, placed_of
from drystone.world.inertial_frame import check_material
from drystone.world.new_bodies import check_owned


def remove_body(world, body: Body | FixedBody) -> None:
    """Take `body` out, with all joints and forces that are fixed to it."""
    check_owned(world, body, "remove")
    if isinstance(body, Body) and placed_of(body) is not None:
        raise UnsupportedFeature(f"{body.name}: a link cannot be taken from its robot.")
    joint_edits.remove_joints_of(world, body)
    force_edits.remove_forces_of(world, body)
    world._note("remove", body.number)
    changed(body)
    (world._fixed if isinstance(body, FixedBody) else world._bodies).remove(body)
    forget_name(body)
    world._excluded = {pair for pair in world._excluded if body.number not in pair}
    body._world = None


def exclude(world, body_a: Body, body_b: Body) -> None:
    """Never let these two bodies touch each other."""
    for body in (body_a, body_b):
        check_owned(world, body, "exclude")
        if isinstance(body, FixedBody):
            raise UnsupportedFeature(
                f"{body.name}: exclude() takes two moving bodies; to let a body pass through "
                f"a fixed thing give them a group and a mask."
            )
    if body_a is body_b:
        raise InputError(f"{body_a.name}: a body cannot be excluded from itself.")
    world._note("exclude", [body_a.number, body_b.number])
    world._excluded.add(tuple(sorted((body_a.number, body_b.number))))
    for body in (body_a, body_b):
        changed(body)


def set_pair(world, material_a: Material, material_b: Material, given: dict) -> None:
    """Override the pair rule where these two materials meet; None is not given."""
    pair = tuple(check_material(m, "set_pair") for m in (material_a, material_b))
    given = {key: value for key, value in given.items() if value is not None}
    given = checked_overrides({pair: given})[pair]
    honour(world, given)
    world._note("set_pair", [*pair, given])
    world._pairs.pop(pair[::-1], None)
    world._pairs[pair] = given
    build.wake_all(world._state)
    if not build.rewrite_pairs(world):
        world._stale = True
