"""How far a run is, on stderr: a bar on a terminal, elsewhere a line now and then."""

from time import monotonic

SAY_EVERY = 60.0  # [s] between two lines where there is no terminal


class ProgressBar:
    """`advance(count)` when so many got done, `say(text)` while there is something to wait for."""

    def __init__(self, shown: bool, total: int, before: int = 0, unit: str = "runs"):
        """before   how many were done in an earlier run"""
        self.shown, self.total, self.unit = shown, total, unit
        self.before = self.done = before
        self.begun = self.told = monotonic()
        self.bar = None

    def __enter__(self) -> "ProgressBar":
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.progress import TimeElapsedColumn as TimeSpent
            from rich.progress import TimeRemainingColumn as TimeLeft

            columns = (
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"), TimeSpent(), TimeLeft(),
            )  # fmt: skip
            self.bar = Progress(*columns, console=Console(stderr=True))
            self.bar.__enter__()
            self.task = self.bar.add_task(
                f"Compiling, first {self.unit}", total=self.total, completed=self.before, rate=""
            )
        return self

    def __exit__(self, *error) -> None:
        if self.bar is not None:
            self.bar.__exit__(*error)

    def advance(self, count: int) -> None:
        self.done += count
        if self.bar is None:
            return
        # rich's own speed: over the last half minute, and only of what was done now
        self.bar.update(self.task, advance=count, description="Rolling")
        speed = self.bar.tasks[0].speed
        self.bar.update(self.task, rate=f"{speed:.1f} {self.unit}/s" if speed else "")
        self._line(f"{self.done} of {self.total} {self.unit}")

    def say(self, text: str) -> None:
        """What is waited for, and how long at most."""
        if self.bar is None:
            return
        self.bar.update(self.task, description=text)
        self._line(f"{self.done} of {self.total} {self.unit}: {text}")

    def _line(self, text: str) -> None:
        """For logs: rich draws a bar on terminals alone."""
        now = monotonic()
        if not self.bar.console.is_terminal and now - self.told >= SAY_EVERY:
            self.told = now
            self.bar.console.print(text, markup=False, soft_wrap=True)
