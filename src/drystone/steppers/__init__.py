"""How time is stepped, by name.

time-stepping   forces at the start of the step (timestep.py), the default
implicit        linearly implicit in the forces (implicit.py): for stiff springs
event           steps cut where bodies touch (event.py)
verlet          half steps around one collision check at the middle (verlet.py)
"""

from drystone.errors import InputError
from drystone.forces.evaluate import Forces, elements_of, has_functions
from drystone.model.checks import choice, positive
from drystone.steppers import time_stepping

STEPPERS = ("time-stepping", "implicit", "event", "verlet")
PLANNED_STEPPERS = ("rk4",)

DRIFTS = ("default", "none", "baumgarte", "post")  # as settings.drift counts them

# Of an error, in a step, where Baumgarte's constant is not given: 200 1/s at a step of 1 ms, the
# best of CLINE 5.2.1. More than 1 would overshoot.
BAUMGARTE_SHARE = 0.2


def drift_settings(settings, drift, baumgarte):
    """`settings` with the choice of what is done about drift."""
    number = DRIFTS.index(choice("drift", drift, DRIFTS))
    if drift != "baumgarte":
        if baumgarte is not None:
            raise InputError(f"baumgarte is {baumgarte!r}, but drift is {drift!r}; leave it out.")
        # Post-stabilization takes all of an overlap away at once (CLINE 3.7), ours half of it.
        whole = {"push_out": 1.0} if drift == "post" else {}
        return settings._replace(drift=number, **whole)
    if baumgarte is None:
        baumgarte = BAUMGARTE_SHARE / settings.dt
    return settings._replace(drift=number, baumgarte=positive("baumgarte", baumgarte, "1/s"))


def take_steps(world, count: int):
    """Up to `count` steps of `world`: new state, work and the report of the engine."""
    if world._stepper == "implicit":
        from drystone.steppers.implicit import step  # SciPy's sparse factors take a while to load

        return step(world)
    if world._stepper == "event":
        from drystone.steppers.event import step

        return step(world)
    if world._stepper == "verlet":
        from drystone.steppers.verlet import step

        return step(world)
    if hasattr(world._solver, "solve_bodies"):
        from drystone.steppers.body_velocities import step

        return step(world)
    built, elements = world._build, elements_of(world) if world._forces else None
    if world._solver.compiled and not has_functions(world):
        return time_stepping.run_steps(
            built.model, world._state, world._work, world._settings, count, world._linkage,
            elements, world._loop,
        )  # fmt: skip
    forces = Forces(world) if world._forces else None
    return time_stepping.step_with(
        built.model, world._state, world._work, world._settings, world._solver, built.ellipses,
        world._linkage, forces,
    )  # fmt: skip
