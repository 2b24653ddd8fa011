"""A step with a solver that answers with the velocities of the bodies (ffd), not with impulses.

The stages are those of time_stepping.step_with(). The impulses that are kept for the next step, and
that people read, are the means of what the two sides of a contact came to.
"""

from drystone import timestep
from drystone.constraints.elliptic_friction import contact_ellipses
from drystone.constraints.last_step import last_problem
from drystone.forces.evaluate import Forces
from drystone.steppers import time_stepping


def step(world):
    """One step of `world`: state, work and report."""
    model, settings = world._build.model, world._settings
    forces = Forces(world) if world._forces else None
    state, work = time_stepping.find_contacts(
        model, world._state, world._work, settings, None, forces
    )
    timestep.pose_rows(model, state, settings, work, None)
    with contact_ellipses(model, state, work, world._build.ellipses):
        timestep.start_rows(state, settings, work, None)
    info = solve_rows(world, state, work)
    solved = info.iterations, info.residual, info.solver
    state, work, report = time_stepping.end_step(model, state, work, settings, None, forces, solved)
    return state, work, with_info(report, info)


def solve_rows(world, state, work, bounce=None):
    """Velocities and impulses of the rows of this step; returns what the solver says.

    The solver is one of bodies, or any other in Python, for which `bounce` has no meaning.
    """
    problem = last_problem(world._build.model, state, work, world._build.ellipses)
    count = problem.contact_count
    impulse = work.rows.impulse[:count].copy()
    if hasattr(world._solver, "solve_bodies"):
        twist, info = world._solver.solve_bodies(problem, impulse, bounce)
    else:
        info = world._solver.solve(problem, impulse)
        twist = problem.free + problem.twist_from(impulse)
    if world.dim == 2:
        impulse[:, 2] = 0.0  # rounding would leave the plane
    work.rows.impulse[:count] = impulse
    work.motion.twist[:, :6] = twist
    work.log.measures[:] = (
        info.natural_map, info.fischer, info.minmap, info.complementarity, info.energy_change,
    )  # fmt: skip
    return info


def with_info(report, info):
    """The report of the step with what only the solver knows."""
    kept = report.info._replace(
        work=info.work, seconds=info.seconds, momentum_error=info.momentum_error
    )
    return report._replace(info=kept)
