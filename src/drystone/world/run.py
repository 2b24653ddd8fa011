"""The run loop: blocks of compiled steps, a progress bar, statistics, and Ctrl-C between steps."""

from collections.abc import Callable
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from warnings import warn

from drystone.errors import InputError, NotConvergedWarning, SimulationError
from drystone.model.checks import flag, function, not_negative
from drystone.model.signatures import level_of_caller
from drystone.steppers import driver
from drystone.steppers.interrupt import interrupt_flag

# A block of steps runs without asking for Ctrl-C; this long is not felt [s].
BLOCK_SECONDS = 0.15
MOST_STEPS = 2**63  # of one run: what the arrays can count


def run_world(world, seconds: float, progress: bool, callback) -> None:
    """Advance `world` by `seconds`, in full steps; what they lack or exceed is kept for the next
    run: a hundred runs of 0.01 s are one of 1 s."""
    seconds, progress = not_negative("seconds", seconds), flag("progress", progress)
    function("callback", callback)
    if not seconds / world.dt < MOST_STEPS:
        raise InputError(f"seconds is {seconds:g}, which is {seconds / world.dt:g} steps.")
    asked = seconds + world._unspent
    count, done = round(asked / world.dt), 0
    world._unspent = 0.0  # of a run that ends early
    # With a callback, or if a bad solve must stop the run, every step is looked at.
    singly = callback is not None or world.on_nonconverged == "raise"
    with _bar(world, count, progress) as show, closing(run_blocks(world, count, singly)) as blocks:
        for report, _ in blocks:
            done += report.done
            show(done, report)
            if callback is not None and callback(world):
                return
    world._unspent = asked - count * world.dt


def run_blocks(world, count: int, singly: bool = False):
    """Advance by `count` steps in blocks; yields the report and wall-clock seconds of each.

    Ctrl-C ends it between two blocks, which take about BLOCK_SECONDS, or in a solver in Python;
    `singly`: one step each.
    """
    done, block = 0, 1
    with interrupt_flag() as interrupted:
        while done < count:
            asked = 1 if singly else min(block, count - done)
            start = perf_counter()
            report = world._advance(asked)
            elapsed = perf_counter() - start
            done += report.done
            if report.done == asked:  # a recording may have cut the block short
                # The first block may contain compiling, so growth is gradual both ways.
                block = max(1, int(asked * min(max(BLOCK_SECONDS / (elapsed + 1e-9), 0.1), 8.0)))
            yield report, elapsed
            if interrupted():
                raise KeyboardInterrupt


def _broken(world) -> str:
    """What it is that is no body: a robot, of which the scratch of the step still knows."""
    if world._robots and world._robot_work is not None:
        from drystone.constraints.reduced.closing import find_broken

        t = find_broken(world._build.model.robots, world._robot_work)
        if t >= 0:
            return world._robots[t].robot.name
    return "a body"


def fail(world, report):
    """Raise what a non-finite number in a step deserves, after saving the last good step."""
    from drystone.world.io.checkpoint import rescue
    from drystone.world.observables import contact_name

    who = world.bodies[report.failed_body].name if report.failed_body >= 0 else _broken(world)
    row = report.failed_contact
    contact = f", {contact_name(world, row)}" if row >= 0 else ", no contact"
    step = world.step_count + 1
    raise SimulationError(
        f"{who}: its motion is no longer a finite number in step {step} "
        f"(t = {step * world.dt:g} s{contact}). The world stands at the last good step, "
        f"{step - 1}. {rescue(world)}"
    )


def complain(world, report):
    """Warn or raise, as the world wants it, about solves that stopped short."""
    from drystone.world.observables import worst_contact
    from drystone.world.unresolved import say_what_is_left

    message = (
        f"the contact solve did not converge in {report.nonconverged} of {report.done} steps "
        f"up to step {world.step_count}: residual {report.worst_residual:.2g} m/s, tolerance "
        f"{world.settings.tolerance:.2g} m/s, in the last step worst at {worst_contact(world)}."
        f"{say_what_is_left(world._info)}"
    )
    if world.joints:
        message += (
            f" Joints were open by up to {report.worst_joint_error:.2g} m, and a step made up to "
            f"{report.worst_energy_made:.2g} J; where nothing touched they lost "
            f"{report.energy_lost:.2g} J in all."
        )
    if world.on_nonconverged == "raise":
        raise SimulationError(f"{message} Allow more sweeps, a larger tolerance or a smaller dt.")
    warn(message, NotConvergedWarning, stacklevel=level_of_caller())


def _bar(world, count, progress):
    return _world_bar(world, count) if progress else nullcontext(lambda done, report: None)


@contextmanager
def _world_bar(world, count):
    from rich.console import Console

    screen = Console(stderr=True)
    made = notebook_bar if screen.is_jupyter else partial(progress_bar, screen)
    with made(count, world.time) as update:
        start = perf_counter()

        def show(done, report):
            pace = 1e3 * (perf_counter() - start) / max(done, 1)
            update(completed=done, time=world.time, contacts=report.contacts, pace=pace)

        yield show


@contextmanager
def notebook_bar(steps: int, time: float = 0.0):
    """progress_bar() in a cell: that of rich needs ipywidgets there, and warns without them."""
    from IPython.display import display

    def shown(completed, time, contacts, pace):
        said = f"t = {time:.3f} s, {completed}/{steps} steps, {contacts} contacts"
        said += f", {pace:.3f} ms/step" if completed else ""
        bar = f'<progress value="{completed}" max="{steps}"></progress>'
        return {"text/plain": said, "text/html": f"{bar} {said}"}

    handle = display(shown(0, time, 0, 0.0), raw=True, display_id=True)
    last = perf_counter()

    def update(completed, time, contacts, pace):
        nonlocal last
        if completed == steps or perf_counter() - last > 0.2:
            last = perf_counter()
            handle.update(shown(completed, time, contacts, pace), raw=True)

    yield update


@contextmanager
def progress_bar(screen, steps: int, time: float = 0.0):
    """A bar of steps; yields update(completed=, time= [s], contacts=, pace= [ms/step])."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("t = {task.fields[time]:.3f} s"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
        TextColumn("{task.fields[contacts]} contacts"),
        TextColumn("{task.fields[pace]:.3f} ms/step"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen) as bar:
        yield partial(bar.update, bar.add_task("", total=steps, time=time, contacts=0, pace=0.0))


def stage_seconds(world) -> dict[str, float]:
    """How long each stage of the steps of `world` took, all of them together [s]."""
    world.state  # noqa: B018  makes the arrays if there are none yet
    return driver.stage_seconds(world._work)


@dataclass
class RunStatistics:
    """What the steps of a world amounted to, so far: whether to trust the run, and its pace."""

    world: object
    steps: int = 0
    timed_steps: int = 0  # those that count for the pace
    seconds: float = 0.0  # wall-clock time of these
    before: dict = field(default_factory=dict)  # seconds of each stage that do not count
    nonconverged: int = 0  # steps whose solve stopped above the tolerance
    worst_residual: float = 0.0  # [m/s]
    worst_penetration: float = 0.0  # deepest overlap at the start of any step [m]
    worst_joint_error: float = 0.0  # largest position error of a joint after any step [m]
    worst_energy_made: float = 0.0  # by any one step, in islands with joints [J]
    energy_lost: float = 0.0  # by all steps, in islands with joints that nothing touched [J]
    sweeps: int = 0
    block_ms: list = field(default_factory=list)  # ms per step of every block
    residuals: list = field(default_factory=list)  # of the last step of every block [m/s]
    contacts: list = field(default_factory=list)  # likewise
    unresolved: int = 0  # pairs of meshes with an overlap without a contact, in all steps together
    given_up: int = 0  # fast pairs whose time of impact was not found, likewise

    def advance(self, count: int, timed: bool = True):
        """Run `count` steps in one go and take note; untimed ones may compile."""
        start = perf_counter()
        report = self.world._advance(count)
        self._note(report, perf_counter() - start, timed)
        if not timed:
            self.before = stage_seconds(self.world)
        return report

    def run(self, steps: int, show: Callable[["RunStatistics"], None]) -> None:
        """Run `steps` steps, calling `show` several times a second; Ctrl-C stops between blocks."""
        with closing(run_blocks(self.world, steps)) as blocks:
            for report, elapsed in blocks:
                self._note(report, elapsed, timed=True)
                show(self)

    def _note(self, report, elapsed: float, timed: bool) -> None:
        self.steps += report.done
        if timed:
            self.timed_steps += report.done
            self.seconds += elapsed
            self.block_ms.append(1e3 * elapsed / max(report.done, 1))
        self.nonconverged += report.nonconverged
        self.worst_residual = max(self.worst_residual, report.worst_residual)
        self.worst_penetration = max(self.worst_penetration, report.worst_penetration)
        self.worst_joint_error = max(self.worst_joint_error, report.worst_joint_error)
        self.worst_energy_made = max(self.worst_energy_made, report.worst_energy_made)
        self.energy_lost += report.energy_lost
        self.sweeps += report.sweeps
        self.unresolved += report.unresolved
        self.given_up += report.given_up
        self.residuals.append(report.info.residual)
        self.contacts.append(report.info.contacts)

    @property
    def stages_ms(self) -> dict[str, float]:
        """Milliseconds of each stage in a step, of those steps that count for the pace."""
        return {
            stage: 1e3 * (seconds - self.before.get(stage, 0.0)) / max(self.timed_steps, 1)
            for stage, seconds in stage_seconds(self.world).items()
        }

    @property
    def ms_per_step(self) -> float:
        return 1e3 * self.seconds / max(self.timed_steps, 1)
