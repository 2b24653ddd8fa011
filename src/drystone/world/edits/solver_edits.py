"""The solver of a world, chosen when it is made and changed while it runs."""

from drystone.model.materials import ARMS
from drystone.solvers.supported_features import require_features
from drystone.world import build
from drystone.world.edits import joint_edits


def settings_of(solver) -> dict:
    """The settings that the compiled step takes from `solver`."""
    return {
        "tolerance": solver.tolerance,
        "max_sweeps": getattr(solver, "max_sweeps", 0),
        "newton": getattr(solver, "newton", 0),
    }


def set_solver(world, solver) -> None:
    """Go on with `solver`, if it can do all that is in `world`."""
    from drystone.world.io.serialize import describe_solver

    require_features(features_of(world), solver)
    if world._recorder is not None:  # one that cannot be recorded is refused here
        world._note("solver", describe_solver(solver))
    world._solver = solver
    world._settings = world._settings._replace(**settings_of(solver))
    build.wake_all(world._state)


def features_of(world) -> set[str]:
    """What a solver must be able to do for `world` as it is."""
    asked = set(world._space.features)
    for joint in world._joints:
        asked |= set(joint_edits.features_of(joint))
    materials = {thing._material for thing in (*world._fixed, *world._bodies)}
    if any(material.restitution for material in materials):
        asked.add("restitution")
    if any(thing._surface is not None for thing in (*world._fixed, *world._bodies)):
        asked.add("surfaces")
    given = [*world._pairs.values(), *(vars(material) for material in materials)]
    if any(values.get(name) for values in given for name in ARMS):
        asked.add("rolling")
    if world._state is not None and world._build.ellipses is not None:
        asked.add("elliptic")
    return asked
