"""A step with a solver that answers with the velocities of the bodies (ffd), not with impulses.

The impulses that go to the contact cache, and that users read, are the means of what the two sides
of a contact came to.
"""

from drystone.constraints.last_step import last_problem
from drystone.steppers.driver import Step
from drystone.steppers.interrupt import interruptible


class BodyVelocityStep(Step):
    """A step whose solver has solve_bodies()."""

    def __init__(self, solver, *arrays, **options):
        super().__init__(*arrays, **options)
        self.by = solver

    def solve(self):
        self.info = solve_rows(self, self.by)
        self.solved(self.info.iterations, self.info.residual, self.info.solver)

    def run(self):
        state, work, report = super().run()
        return state, work, with_info(report, self.info)


def solve_rows(step: Step, solver, bounce=None):
    """Velocities and impulses of the rows of this step; returns what the solver says.

    The solver is one of bodies, or any other in Python, for which `bounce` has no meaning.
    """
    work = step.work
    problem = last_problem(step.model, step.state, work, step.ellipses)
    count = problem.contact_count
    impulse = work.rows.impulse[:count].copy()
    with interruptible():
        if hasattr(solver, "solve_bodies"):
            twist, info = solver.solve_bodies(problem, impulse, bounce)
        else:
            info = solver.solve(problem, impulse)
    if not hasattr(solver, "solve_bodies"):
        twist = problem.free + problem.twist_from(impulse)
    if step.model.outlines is not None:
        impulse[:, 2] = 0.0  # rounding would leave the plane
    work.rows.impulse[:count] = impulse
    work.motion.twist[:, :6] = twist
    work.log.measures[:] = (
        info.natural_map, info.fischer, info.minmap, info.complementarity, info.energy_change,
    )  # fmt: skip
    return info


def with_info(report, info):
    """The report of the step with what only the solver knows."""
    known = report.info._replace(
        work=info.work, seconds=info.seconds, momentum_error=info.momentum_error
    )
    return report._replace(info=known)
