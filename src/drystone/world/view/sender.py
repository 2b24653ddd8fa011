"""Sender: poses to the browser, thirty times a second, from a thread of its own.

A step of a large world may take longer than a frame. What is shown then goes evenly from the pose
before last to the last one, while the next step is computed: compiled steps let other threads run.
So it moves as smoothly at a tenth of real time, where steps are few, as at full speed.
"""

import threading
from collections.abc import Callable
from time import perf_counter, thread_time

import numpy as np

from drystone.world.export.drawing import between
from drystone.world.view.loop import FRAME, Pace

# Poses that come more slowly than this many frames are bridged; faster ones are shown as they are.
BRIDGED = 1.5
LONGEST = 1.0  # [s] a bridge: after a step that compiled something nobody wants to wait so long


class Sender:
    """Calls `send(pose)` while there is something new and somebody looks.

    lock     is held while it sends; hold it to change what it sends to
    frames   sent so far
    seconds  of CPU that this thread spent on them
    """

    def __init__(self, is_watched: Callable[[], bool], send: Callable[[np.ndarray], None]) -> None:
        self.lock = threading.RLock()
        self.frames, self.seconds = 0, 0.0
        self._is_watched, self._send = is_watched, send
        self._from: np.ndarray | None = None  # (n, 7) the pose before last
        self._to: np.ndarray | None = None  # (n, 7) the last one
        self._since, self._span = 0.0, 0.0  # [s] when the last one came, how long the bridge is
        self._news, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="drystone sender", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(30.0)

    def give(self, pose: np.ndarray, smoothly: bool) -> None:
        """The newest pose (n, 7); `smoothly`: it follows from the one before."""
        with self.lock:
            now = perf_counter()
            apart = now - self._since
            bridge = smoothly and self._to is not None and len(self._to) == len(pose)
            # From where it is shown now: a bridge that was cut short makes no jump.
            self._from = self._shown(now)[0] if bridge else None
            self._span = min(apart, LONGEST) if bridge and apart > BRIDGED * FRAME else 0.0
            self._to, self._since = pose, now
        self._news.set()

    def forget(self) -> None:
        """The bodies are others now."""
        with self.lock:
            self._from = self._to = None

    def _shown(self, now: float) -> tuple[np.ndarray, bool]:
        """The pose at that time, and whether it is the last one."""
        assert self._to is not None
        along = (now - self._since) / self._span if self._span > 0.0 else 1.0
        if along >= 1.0 or self._from is None:
            return self._to, True
        return between(self._from, self._to, along), False

    def _run(self) -> None:
        pace = Pace(FRAME)
        while not self._stopped.is_set():
            self._news.wait()
            self._news.clear()
            if not self._is_watched():
                continue
            begun = thread_time()
            with self.lock:
                if self._to is None:
                    continue
                pose, arrived = self._shown(perf_counter())
                self._send(pose)
            self.frames += 1
            self.seconds += thread_time() - begun
            if not arrived:
                self._news.set()
            pace.wait()
