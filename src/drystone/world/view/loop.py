"""The loop of a viewer: one thread that owns the world, and a queue of what visitors want.

The browser's messages come in threads of the server; they only put functions into the queue. The
loop does them between two steps, so that a step is never disturbed, and a recording notes them.
"""

import threading
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter, sleep, thread_time

from drystone.errors import DrystoneError

FRAME = 1 / 36  # [s] between two frames that are sent: 30 a second reach a busy machine
MOST = 0.75  # share of that which may be spent on steps, so that commands are heard


class Pace:
    """Beats of a clock: what comes late is not made up for, but a late one delays no other."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._due = seconds, perf_counter()

    def wait(self) -> None:
        """Sleep until the next beat."""
        now = perf_counter()
        self._due += self._seconds
        if self._due > now:
            sleep(self._due - now)
        elif now - self._due > self._seconds:
            self._due = now


class Loop:
    """Calls `advance(seconds)` while playing, `show()` while somebody looks."""

    def __init__(
        self,
        advance: Callable[[float, float], None],
        show: Callable[[], None],
        is_watched: Callable[[], bool],
        complain: Callable[[str], None],
    ) -> None:
        self._advance, self._show, self._is_watched = advance, show, is_watched
        self._complain = complain
        self.playing, self.speed = False, 1.0
        self.frames = 0  # shown so far
        self.view_seconds = 0.0  # of CPU that this thread spent on showing
        self.step_seconds = 0.0  # and on steps
        self._queue: SimpleQueue = SimpleQueue()
        self._stopped = threading.Event()
        self._changed = True
        self._thread = threading.Thread(target=self._run, name="drystone viewer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join(30.0)

    def ask(self, command: Callable[[], object]) -> None:
        """Do `command` between two steps."""
        self._queue.put(command)

    def call(self, command: Callable[[], object], seconds: float = 900.0) -> object:
        """Do `command` between two steps, and wait for what it returns; a step may compile."""
        done, answer, raised = threading.Event(), [], []

        def do():
            try:
                answer.append(command())
            except Exception as error:  # it belongs to who asked
                raised.append(error)
            finally:
                done.set()

        self.ask(do)
        if not done.wait(seconds):
            raise DrystoneError(f"the viewer did not answer in {seconds:g} s; does it still run?")
        if raised:
            raise raised[0]
        return answer[0]

    def _run(self) -> None:
        before, pace = perf_counter(), Pace(FRAME)
        while not self._stopped.is_set():
            self._take_commands()
            start, begun = perf_counter(), thread_time()
            if self.playing:
                if not self._guarded(partial(self._advance, start - before, MOST * FRAME)):
                    self.playing = False
                self._changed = True
            before, stepped = start, thread_time()
            self.step_seconds += stepped - begun
            if self._changed and self._is_watched():
                self._guarded(self._show)
                self.frames += 1
                self._changed = False
            self.view_seconds += thread_time() - stepped
            pace.wait()

    def _take_commands(self) -> None:
        while True:
            try:
                command = self._queue.get_nowait()
            except Empty:
                return
            self._guarded(command)
            self._changed = True

    def _guarded(self, command) -> bool:
        """Whatever a visitor asked for, or a step that fails: it is said, and the loop goes on."""
        try:
            command()
            return True
        except DrystoneError as error:
            self._complain(str(error))
        except Exception as error:
            self._complain(f"{type(error).__name__}: {error}")
        return False
