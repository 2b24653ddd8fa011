"""Worker processes on this machine: each computes one chunk at a time and sends its arrays back.

They are plain subprocesses that talk over their pipes, not those of `multiprocessing`: these
would import the caller's script again, and one killed worker would end them all. Here a chunk
whose worker died is given to another, and only the parent writes files, so that nothing is lost
and nothing counts twice.

Every wait ends. A dead process closes its pipes, so whoever reads or writes there, on either side,
is told; one that is alive but stuck ends the run after LONGEST_CHUNK.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic

from drystone.errors import DrystoneError, SimulationError
from drystone.rockfall.run.plan import LONGEST_CHUNK

# A chunk whose workers died this often is not a worker's mishap (memory, a kill) any more.
ATTEMPTS = 3
KILLED = 10.0  # [s] until a killed process has ended; a disk that hangs may keep it longer
QUIET = 30.0  # [s] without a chunk, until the wait is spoken of
LENGTH = 8  # bytes before each message that say how long it is


def _send(pipe, message) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(content).to_bytes(LENGTH, "little"))
    pipe.write(content)
    pipe.flush()


def _receive(pipe):
    """The next message; EOFError if the other side is gone."""
    size = int.from_bytes(_exactly(pipe, LENGTH), "little")
    return pickle.loads(_exactly(pipe, size))


def _exactly(pipe, size: int) -> bytes:
    content = pipe.read(size)
    if len(content) < size:
        raise EOFError
    return content


class _Worker:
    """One process, driven by one thread."""

    def __init__(self):
        # One thread each: the work is shared by chunks. They find modules where we find them.
        names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = os.environ | {name: "1" for name in names}
        environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drystone.rockfall.run.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            # Ctrl-C goes to the parent alone, which ends its workers itself.
            start_new_session=True,
        )

    def prepare(self, shared: str) -> None:
        _send(self.process.stdin, shared)

    def compute(self, chunk: int):
        _send(self.process.stdin, chunk)
        return _receive(self.process.stdout)

    def stop(self) -> None:
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(KILLED)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                pipe.close()


class _Pool:
    def __init__(self, shared: str, plan, chunks: list[int], count: int):
        self.shared, self.plan = shared, plan
        self.waiting = queue.SimpleQueue()
        for chunk in chunks:
            self.waiting.put((chunk, 1))
        # One more per worker: when the disk is slow, workers wait, and memory is bounded.
        self.done = queue.Queue(maxsize=count)
        self.stopped = threading.Event()
        self.workers = set()
        self.threads = [threading.Thread(target=self._drive, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _drive(self) -> None:
        """Feed one worker until there is nothing left to do."""
        worker = None
        while not self.stopped.is_set():
            try:
                chunk, attempt = self.waiting.get_nowait()
            except queue.Empty:
                break
            try:
                if worker is None:
                    worker = _Worker()
                    self.workers.add(worker)
                    if self.stopped.is_set():  # stop() may not have seen this one
                        break
                    worker.prepare(self.shared)
                answer = worker.compute(chunk)
            except (EOFError, OSError):
                answer = self._lost(worker, chunk, attempt)
                worker = None
            except Exception as error:  # a study that cannot be sent, for one
                self._hand_over((chunk, error))
                break
            if answer is not None:
                self._hand_over(answer)
        if worker is not None:
            worker.stop()

    def _hand_over(self, answer) -> None:
        while not self.stopped.is_set():
            with suppress(queue.Full):
                return self.done.put(answer, timeout=0.2)

    def _lost(self, worker, chunk: int, attempt: int):
        code = None
        if worker is not None:
            worker.stop()
            self.workers.discard(worker)
            code = worker.process.returncode
        if attempt < ATTEMPTS:
            self.waiting.put((chunk, attempt + 1))
            return None
        runs = self.plan.runs(chunk)
        return chunk, SimulationError(
            f"the worker of runs {runs.start} to {runs.stop - 1} died {ATTEMPTS} times (exit code "
            f"{code}); the machine may be out of memory. Use fewer workers, then resume."
        )

    def stop(self) -> None:
        self.stopped.set()
        for worker in list(self.workers):
            worker.stop()
        for thread in self.threads:  # daemons: one that a hung disk holds does not hold us
            thread.join(2.0 * KILLED)


def compute_on_workers(
    shared: str, plan, chunks: list[int], count: int, say: Callable[[str], None]
) -> Iterator[tuple[int, bytes]]:
    """(chunk, content of its part file) of all `chunks`, in the order in which they get done.

    shared   folder with what the workers load (shared_context.py)
    """
    pool = _Pool(shared, plan, chunks, min(count, len(chunks)))
    try:
        for _ in chunks:
            chunk, answer = _next_answer(pool, say)
            if isinstance(answer, Exception):
                raise answer
            yield chunk, answer
    finally:
        pool.stop()


def _next_answer(pool: _Pool, say):
    begun = monotonic()
    while (waited := monotonic() - begun) < LONGEST_CHUNK:
        with suppress(queue.Empty):
            return pool.done.get(timeout=min(QUIET, LONGEST_CHUNK - waited))
        waited = monotonic() - begun
        say(f"No chunk of runs for {waited:.0f} of at most {LONGEST_CHUNK:g} s")
    raise SimulationError(
        f"for {LONGEST_CHUNK:g} s no worker has finished a chunk of runs; one may be stuck. All "
        "chunks done before are kept. See what the processes wait for, then go on with resume "
        "(--resume)."
    )


def serve() -> None:
    """The life of a worker: map the scene, then answer one chunk after the other."""
    from pathlib import Path

    from drystone.rockfall.run.chunk import compute_chunk, load_context
    from drystone.rockfall.run.part_files import pack_part

    # Whatever prints must not write into the answers.
    answers, sys.stdout = os.fdopen(os.dup(1), "wb"), sys.stderr
    os.dup2(2, 1)
    context = None
    try:
        shared = Path(_receive(sys.stdin.buffer))
        while True:
            chunk = _receive(sys.stdin.buffer)
            try:
                context = context or load_context(shared)
                _send(answers, (chunk, pack_part(compute_chunk(context, chunk))))
            except Exception as error:
                _send(answers, (chunk, _portable(error)))
    except (EOFError, BrokenPipeError):  # the parent has no more work, or is gone
        return


def _portable(error: Exception) -> Exception:
    """The error itself if it is meant for the user, else its text and where it comes from."""
    if isinstance(error, DrystoneError):
        with suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return error
    import traceback

    return RuntimeError("".join(traceback.format_exception(error)))


if __name__ == "__main__":
    serve()
