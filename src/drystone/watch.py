"""Run a world in blocks and keep the figures that say whether to trust the run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from drystone import stepping
from drystone.run import BLOCK_SECONDS
from drystone.run import _interrupt_flag as interrupt_flag


def stage_seconds(world) -> dict[str, float]:
    """How long each stage of the steps of `world` took, all of them together [s]."""
    world.state  # noqa: B018  makes the arrays if there are none yet
    return stepping.stage_seconds(world._work)


@dataclass
class Watch:
    """What the steps of a world amounted to, so far."""

    world: object
    steps: int = 0
    timed_steps: int = 0  # those that count for the pace
    seconds: float = 0.0  # that they took, on the clock of the wall
    before: dict = field(default_factory=dict)  # seconds of each stage that do not count
    nonconverged: int = 0  # steps whose solve stopped above the tolerance
    worst_residual: float = 0.0  # [m/s]
    worst_penetration: float = 0.0  # deepest overlap at the start of any step [m]
    sweeps: int = 0
    block_ms: list = field(default_factory=list)  # ms per step of every block
    residuals: list = field(default_factory=list)  # of the last step of every block [m/s]
    contacts: list = field(default_factory=list)  # likewise

    def advance(self, count: int, timed: bool = True):
        """Run `count` steps in one go and take note; untimed ones may compile."""
        start = perf_counter()
        report = self.world._advance(count)
        elapsed = perf_counter() - start
        self.steps += report.done
        if timed:
            self.timed_steps += report.done
            self.seconds += elapsed
            self.block_ms.append(1e3 * elapsed / max(report.done, 1))
        else:
            self.before = stage_seconds(self.world)
        self.nonconverged += report.nonconverged
        self.worst_residual = max(self.worst_residual, report.worst_residual)
        self.worst_penetration = max(self.worst_penetration, report.worst_penetration)
        self.sweeps += report.sweeps
        self.residuals.append(report.info.residual)
        self.contacts.append(report.info.contacts)
        return report

    def run(self, steps: int, show: Callable[["Watch"], None]) -> None:
        """Run `steps` steps, calling `show` several times a second; Ctrl-C stops between blocks."""
        end, block = self.steps + steps, 1
        with interrupt_flag() as interrupted:
            while self.steps < end:
                asked = min(block, end - self.steps)
                report = self.advance(asked)
                if report.done == asked:  # a recording may have cut the block short
                    pace = max(self.block_ms[-1], 1e-6) * 1e-3
                    block = max(1, min(int(BLOCK_SECONDS / pace), 8 * asked))
                show(self)
                if interrupted():
                    raise KeyboardInterrupt

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
