"""The solver of a world, chosen when it is made and changed while it runs."""

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import integer, shown
from drystone.model.materials import ARMS
from drystone.solvers.dispatch import is_force_method
from drystone.solvers.options import MOST
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


# A time is a number and one of these.
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
LONGEST_BUDGET = 1e6  # [s]; in ticks of a clock it is still an integer


def budget_settings(budget, solver, stepper: str) -> dict:
    """The settings for `budget`: sweeps of a step, or the time that its solve may take."""
    if budget is None:
        return {}
    if not getattr(solver, "compiled", False) or stepper != "time-stepping":
        raise UnsupportedFeature(
            f"budget is {shown(budget)}, which the solvers auto and nsgs keep with the stepper "
            '"time-stepping"; leave it out.'
        )
    if not isinstance(budget, str):
        return {"budget_sweeps": integer("budget", budget, 1, MOST)}
    number, _, unit = budget.strip().partition(" ")
    try:
        seconds = float(number) * TIME_UNITS[unit.strip()]
    except (ValueError, KeyError):
        seconds = 0.0
    if not 0.0 < seconds <= LONGEST_BUDGET:
        raise InputError(
            f'budget is {shown(budget)}, must be a number of sweeps or a time: "500 us", "2 ms".'
        )
    return {"budget_time": seconds}


def set_solver(world, solver) -> None:
    """Go on with `solver`, if it can do all that is in `world`."""
    from drystone.world.io.serialize import describe_solver

    require_features(features_of(world), solver)
    settings = world._settings
    if settings.budget_sweeps or settings.budget_time:
        budget_settings(settings.budget_sweeps or "1 s", solver, world._stepper)
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
    if any(thing._surface is not None for thing in (*world._fixed, *world._bodies)):
        asked.add("surfaces")
    given = [*world._pairs.values(), *(vars(material) for material in materials)]
    if any(values.get(name) for values in given for name in ARMS):
        asked.add("rolling")
    if world._state is not None and world._build.ellipses is not None:
        asked.add("elliptic")
    return asked
