"""Edits of force elements in a world: add, remove, change; and their energy."""

from drystone.errors import InputError
from drystone.forces import FORCES
from drystone.forces.dispatch import stored_energy
from drystone.forces.evaluate import elements_of
from drystone.forces.force import Element
from drystone.model.checks import shown
from drystone.world import build
from drystone.world.new_bodies import check_owned


def add_force(world, force):
    """Put `force` into `world`; returns it."""
    _check_force(force, "add_force")
    if force._world is not None:
        raise InputError(f"add_force: this {type(force).__name__} is in a world already.")
    for body in force.bodies:
        if body is not None:
            check_owned(world, body, "add_force")
    world._note("add_force", force)
    world._forces.append(force)
    object.__setattr__(force, "_world", world)
    _touch(world)
    return force


def remove_force(world, force) -> None:
    _own_force(world, force, "remove")
    world._note("remove_force", world._forces.index(force))
    world._forces.remove(force)
    object.__setattr__(force, "_world", None)
    _touch(world)


def remove_forces_of(world, body) -> None:
    """Elements go with the bodies that they act on."""
    for force in [force for force in world._forces if body in force.bodies]:
        remove_force(world, force)


def force_changed(world, force) -> None:
    """After force.set(): the table is made anew, and all bodies wake."""
    _own_force(world, force, "force_changed")
    world._note("set_force", [world._forces.index(force), force])
    _touch(world)


def _check_force(force, verb: str) -> None:
    if not isinstance(force, Element):
        *names, last = FORCES
        raise InputError(
            f"{verb}: {shown(force)} is no force; give a {', '.join(names)} or {last}. For a "
            f"constant push set body.force and body.torque."
        )


def _own_force(world, force, verb: str) -> None:
    _check_force(force, verb)
    if not any(force is known for known in world._forces):
        raise InputError(f"{verb}: this {type(force).__name__} is not in this world.")


def _touch(world) -> None:
    # Only the table of the elements is made anew: the arrays of the bodies stay as they are, so
    # that a pointer can be moved in every step.
    world._elements_stale = True
    build.wake_all(world._state)


def potential(world) -> float:
    """Energy that springs and poles hold [J]; functions of the user are not asked."""
    if not world._forces:
        return 0.0
    return stored_energy(elements_of(world), world._state)
