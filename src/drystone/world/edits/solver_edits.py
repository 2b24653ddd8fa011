"""The solver of a world, chosen when it is made and changed while it runs."""

from drystone.errors import UnsupportedFeature
from drystone.solvers.dispatch import is_force_method
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


def stepper_of(solver, stepper: str) -> str:
    """The stepper that goes with `solver`; UnsupportedFeature if the one asked for does not."""
    if is_force_method(solver):
        if stepper not in ("time-stepping", "rk4"):  # the first is what World has if none is given
            raise UnsupportedFeature(
                f"solver {solver.name!r} gives forces, which stepper {stepper!r} does not "
                f"integrate; use stepper 'rk4'."
            )
        return "rk4"
    if stepper == "rk4":
        raise UnsupportedFeature(
            "stepper 'rk4' integrates contact forces, which solver 'penalty' gives; this solver "
            "gives impulses. Use solver='penalty', or stepper 'time-stepping'."
        )
    return stepper


def _change_stepper(world, solver) -> None:
    """Between impulses and forces. What pairs remember for the one means nothing to the other."""
    if is_force_method(solver) == is_force_method(world._solver):
        return
    if is_force_method(solver):
        if world._stepper not in ("time-stepping", "reduced"):
            stepper_of(solver, world._stepper)
        world._stepper = "rk4"
    else:
        world._stepper = "reduced" if world._robots else "time-stepping"
    if world._state is not None:
        world._state.pair_axis[:] = 0.0


def set_solver(world, solver) -> None:
    """Go on with `solver`, if it can do all that is in `world`."""
    from drystone.world.io.serialize import describe_solver

    require_features(features_of(world), solver)
    _change_stepper(world, solver)
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
    if world._state is not None and world._build.ellipses is not None:
        asked.add("elliptic")
    return asked
