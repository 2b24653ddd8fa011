"""Ctrl-C in a step: only a solver in Python may be interrupted, for it works on a copy.

Everything else runs to the end of the step, which `World.run` asks for: an exception amid the
stages would tear the arrays apart. But a solver in Python, of the user's own too, may take minutes.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_pressed: list[bool] = []  # of the run that listens
_solving: list[int] = []  # threads in which a solver works


@contextmanager
def interrupt_flag() -> Iterator[Callable[[], bool]]:
    """While inside, Ctrl-C sets a flag, and is raised in solvers in Python alone."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    _pressed.clear()
    signal.signal(signal.SIGINT, _press)
    try:
        yield lambda: bool(_pressed)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _pressed.clear()


def _press(*_: object) -> None:
    _pressed.append(True)
    if threading.get_ident() in _solving:  # handlers run in the main thread
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Around a solver in Python: Ctrl-C ends it, and with it a step that has changed nothing."""
    thread = threading.get_ident()
    _solving.append(thread)
    try:
        yield
    finally:
        _solving.remove(thread)
