"""The process that runs cases: python -m drystone.bench.fuzz.worker FAMILY SEED FIRST COUNT FOLDER.

Writes a line of JSON before and after every case, for the runner to follow.
"""

import faulthandler
import json
import os
import resource
import shutil
import sys
import threading
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from drystone.bench.fuzz.case import Case, Family, Misbehaviour, Outcome, generator_of
from drystone.errors import DrystoneError

# What a process may allocate [bytes]: above the limits that count as findings, and below what a
# machine with little memory would feel.
MOST_MEMORY = 6 * 2**30


def find_family(name: str) -> Family:
    """Of families.py, or `module:NAME`."""
    if ":" in name:
        module, _, attribute = name.partition(":")
        return getattr(import_module(module), attribute)
    from drystone.bench.fuzz.families import FAMILIES

    return FAMILIES[name]


def work(name: str, seed: int, numbers: range, folder: Path, tell) -> None:
    """Run the cases `numbers` of a family, and tell about each of them."""
    family = find_family(name)
    shared, own = folder / "shared", folder / "case"
    shared.mkdir()
    context = family.prepare(shared)
    tell({"ready": True})
    for number in numbers:
        tell({"begin": number})
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir()
        os.chdir(own)  # what a case writes to a relative path lands there
        case = Case(generator_of(seed, name, number), context, own)
        tell({"end": run_case(family, case, number)._asdict()})


def run_case(family: Family, case: Case, number: int) -> Outcome:
    """What comes of one case, in this process."""
    _forget_peak()
    wall, cpu = perf_counter(), process_time()
    kind, text, place = "result", "", ""
    try:
        family.run(case)
    except Misbehaviour as found:
        kind, text, place = found.kind, str(found), found.kind
    except DrystoneError as error:
        kind = "refused"
        if not str(error).strip():
            kind, text, place = "silence", "an error without a sentence", _place(error)
    except ModuleNotFoundError as error:
        kind = "no package"
        if (error.name or "drystone").startswith("drystone"):
            kind, text, place = "exception", f"no module {error.name}", _place(error)
    except MemoryError as error:
        kind, text, place = "memory", f"MemoryError: {error}", _place(error)
    except Exception as error:
        kind, place = "exception", _place(error)
        text = f"{type(error).__name__}: {_first_line(error)} at {place}"
    # Less of the two: on a machine that does other work a case waits, and threads add up.
    seconds = min(perf_counter() - wall, process_time() - cpu)
    peak = _peak_megabytes()
    if kind in ("result", "refused") and peak > family.megabytes:
        kind, text, place = "memory", f"peak of {peak:.0f} MB", "memory"
    if text:
        text = f"{'; '.join(case.notes)}: {text}"
    return Outcome(number, case.group, kind, text[:2000], place, seconds, peak)


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).splitlines()
    except Exception:
        return "?"
    return lines[0][:200] if lines else ""


def _place(error: BaseException) -> str:
    """The innermost line of the package that the error passed."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        inside = frame.filename.replace(os.sep, "/").rpartition("/drystone/")[2]
        if inside != frame.filename and not inside.startswith(("bench/fuzz", "model/signatures")):
            return f"{inside}:{frame.lineno}"
    return "the call itself"


def _forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _peak_megabytes() -> float:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _end_with_parent() -> None:
    """End this process soon after the one that started it, however that ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(arguments: list[str]) -> None:
    name, seed, first, count, folder = arguments
    faulthandler.enable()
    _end_with_parent()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever a case prints is not for the runner

    def tell(what: dict[str, Any]) -> None:
        channel.write(json.dumps(what) + "\n")

    work(name, int(seed), range(int(first), int(first) + int(count)), Path(folder), tell)


if __name__ == "__main__":
    main(sys.argv[1:])
