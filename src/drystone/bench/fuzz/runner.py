"""Run cases in processes: limits of time, crashes, what is repeated, and the count of it all."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from time import monotonic

import drystone
from drystone.bench.fuzz.case import Outcome
from drystone.bench.fuzz.worker import find_family
from drystone.errors import InputError

LIMIT = 10.0  # of a case [s]
# When a process is ended [s]: the first time a case may have to compile what it needs, so one that
# is slow, or takes much memory, is run again, alone.
FIRST_PATIENCE, PATIENCE = 300.0, 60.0
START_PATIENCE = 900.0  # of what a family prepares: on an empty cache it compiles


def fuzz(
    families: list[str],
    seed: int,
    cases: int | None = None,
    seconds: float | None = None,
    case: int | None = None,
    jobs: int = 1,
) -> Iterator[tuple[str, Outcome]]:
    """Family and outcome of `cases` cases of every family, or of so many as fit in `seconds`.

    case  one alone, by its number
    jobs  batches that run at the same time; which cases there are does not depend on it
    """
    end = None if seconds is None or case is not None else monotonic() + seconds
    first, upto = (0, cases or sys.maxsize) if case is None else (case, case + 1)
    batches = _batches(families, first, upto, jobs)
    if jobs > 1:
        yield from _side_by_side(batches, seed, end, jobs)
        return
    for name, number, count in batches:
        if end is not None and monotonic() >= end:
            return
        for outcome in run_batch(name, seed, number, count, end):
            yield name, outcome


def _batches(
    families: list[str], first: int, upto: int, jobs: int
) -> Iterator[tuple[str, int, int]]:
    """Family, first case and count of the batches, families in turn."""
    done = dict.fromkeys(families, first)
    size = {name: _batch_size(find_family(name).batch, upto - first, jobs) for name in families}
    while pending := [name for name in families if done[name] < upto]:
        for name in pending:
            count = min(size[name], upto - done[name])
            yield name, done[name], count
            done[name] += count


def _batch_size(most: int, cases: int, jobs: int) -> int:
    """As many as `most` that share `cases` evenly: each process has to be prepared."""
    share = -(-cases // jobs)
    return -(-share // -(-share // most))


def _side_by_side(
    batches: Iterator[tuple[str, int, int]], seed: int, end: float | None, jobs: int
) -> Iterator[tuple[str, Outcome]]:
    """The same with `jobs` batches at a time, each followed by a thread."""
    told: Queue[tuple[str, Outcome] | Exception | None] = Queue()
    lock = Lock()

    def follow() -> None:
        try:
            while end is None or monotonic() < end:
                with lock:
                    name, number, count = next(batches, ("", 0, 0))
                if not count:
                    break
                for outcome in run_batch(name, seed, number, count, end):
                    told.put((name, outcome))
            told.put(None)
        except Exception as error:
            told.put(error)

    # Their processes end by themselves when this one has ended, so that nobody waits for them.
    for _ in range(jobs):
        Thread(target=follow, daemon=True).start()
    while jobs:
        one = told.get()
        if one is None:
            jobs -= 1
        elif isinstance(one, Exception):
            raise one
        else:
            yield one


def run_batch(
    name: str, seed: int, first: int, count: int, end: float | None = None
) -> Iterator[Outcome]:
    """Outcomes of cases first ... first + count - 1; after a crash or a hang it goes on.

    end  when to stop, by monotonic(), between two cases
    """
    number = first
    while number < first + count:
        left = first + count - number
        with closing(_one_process(name, seed, number, left, FIRST_PATIENCE)) as outcomes:
            for outcome in outcomes:
                large = outcome.kind == "memory"
                if large or outcome.kind == "hang" or outcome.seconds > LIMIT:
                    outcome = run_alone(name, seed, outcome.number)
                yield outcome
                number = outcome.number + 1
                if end is not None and monotonic() >= end:
                    return
                if large:  # one that has compiled much keeps its memory: a new one goes on
                    break


def run_alone(name: str, seed: int, number: int) -> Outcome:
    """A case in a process of its own; a finding if it takes longer than the limit."""
    (outcome,) = _one_process(name, seed, number, 1, PATIENCE)
    if outcome.seconds > LIMIT and not outcome.is_finding:
        text = f"took {outcome.seconds:.0f} s {outcome.text}"
        return outcome._replace(kind="hang", text=text, place="hang")
    return outcome


def _one_process(
    name: str, seed: int, first: int, count: int, patience: float
) -> Generator[Outcome, None, None]:
    """Outcomes of one process; if it ended before its time the last one says why."""
    with tempfile.TemporaryDirectory(prefix="drystone-fuzz-") as folder:
        errors = Path(folder) / "stderr.txt"
        with errors.open("wb") as stderr:
            process = _start(name, seed, first, count, Path(folder), stderr)
        number, group, ready = first, "", False
        try:
            for line in _lines(process, START_PATIENCE, patience):
                told, ready = json.loads(line), True
                if "begin" in told:
                    number = told["begin"]
                elif "end" in told:
                    outcome = Outcome(**told["end"])
                    group, number = outcome.group, number + 1
                    yield outcome
            if not ready:
                words = errors.read_text(errors="replace").strip().splitlines()[-1:]
                raise InputError(f"the family {name} cannot be prepared: {' '.join(words)}")
            if number < first + count:
                yield Outcome(number, group, "crash", _last_words(process, errors), "crash")
        except TimeoutError:
            yield Outcome(number, group, "hang", f"no end after {patience:g} s", "hang", patience)
        finally:
            _end(process)


def _start(name, seed, first, count, folder, stderr) -> subprocess.Popen:
    root = str(Path(drystone.__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "drystone.bench.fuzz.worker", name]
    return subprocess.Popen(
        [*command, str(seed), str(first), str(count), str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
        env=os.environ | {"PYTHONPATH": path, "MPLBACKEND": "agg"}, start_new_session=True,
    )  # fmt: skip


def _lines(process: subprocess.Popen, first: float, others: float) -> Iterator[bytes]:
    """Lines as they come; TimeoutError if the first, or another, takes longer [s]."""
    pipe, rest, patience = process.stdout.fileno(), b"", first
    while True:
        if not select.select([pipe], [], [], patience)[0]:
            raise TimeoutError
        patience = others
        chunk = os.read(pipe, 65536)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _last_words(process: subprocess.Popen, errors: Path) -> str:
    code = process.wait(timeout=PATIENCE)
    reason = signal.Signals(-code).name if code < 0 else f"exit {code}"
    words = errors.read_text(errors="replace").splitlines()
    return f"{reason}: {' / '.join(words[:12])}"


def _end(process: subprocess.Popen) -> None:
    """End the process and what it has started, which are a group of their own."""
    process.stdout.close()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait(timeout=PATIENCE)


class Tally:
    """Counts of outcomes, and findings that were told already."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Counter] = {}
        self.seen: Counter = Counter()

    def add(self, family: str, outcome: Outcome) -> bool:
        """Count it; whether it is a finding of a kind that was not there before."""
        row = self.rows.setdefault((family, outcome.group), Counter())
        row["finding" if outcome.is_finding else outcome.kind] += 1
        row["cases"] += 1
        if not outcome.is_finding:
            return False
        self.seen[outcome.kind, outcome.place] += 1
        return self.seen[outcome.kind, outcome.place] == 1

    @property
    def findings(self) -> int:
        return sum(row["finding"] for row in self.rows.values())

    def table(self) -> list[str]:
        """Lines: family, group, cases, results, refused, findings; and the sum of each family."""
        head = f"{'family':10} {'of':28} {'cases':>7} {'results':>8} {'refused':>8} {'findings':>8}"
        lines = [f"{head}  no package"]
        for family in dict.fromkeys(name for name, _ in self.rows):
            rows = {group: row for (name, group), row in self.rows.items() if name == family}
            for group, row in sorted(rows.items()):
                lines.append(_table_line(family, group, row))
            if len(rows) > 1:
                lines.append(_table_line(family, "all", sum(rows.values(), Counter())))
        return lines


def _table_line(family: str, group: str, row: Counter) -> str:
    return (
        f"{family:10} {group:28} {row['cases']:7} {row['result']:8} {row['refused']:8} "
        f"{row['finding']:8} {row['no package']:11}"
    )
