"""How time is stepped, by name. To add a stepper: write its file, add its line here, run the tests.

A stepper is a module with take_steps(world, count), which makes up to `count` steps and returns the
new state, work and the report of the engine. Most are a Step (driver.py) that overrides the stages
which it does differently.
"""

from importlib import import_module

# name: module. Fetched when it is first used: SciPy's sparse factors take a while to load.
STEPPERS = {
    "time-stepping": "time_stepping",
    "implicit": "implicit",  # linearly implicit in the forces: for stiff springs
    "event": "event",  # steps cut where bodies touch
    "rk4": "rk4",  # Runge-Kutta, for the forces of the penalty method, which chooses it
    "reduced": "reduced",  # of worlds with robots: World.add_robot() chooses it
    "verlet": "verlet",  # half steps around one collision check at the middle
}


def take_steps(world, count: int):
    """Up to `count` steps of `world`: new state, work and the report of the engine."""
    return import_module(f"drystone.steppers.{STEPPERS[world._stepper]}").take_steps(world, count)
