"""The other engines on the same scenes, and the overlap of all by one yardstick."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from drystone.bench import overlap_measure, peers
from drystone.errors import InputError

FOLDER = Path(peers.__file__).parent
MAX_SECONDS = 300.0  # per scene and engine, then the run is cut short


def has_modules(python: Path, names: list[str]) -> list[str]:
    """Which of the modules `names` the interpreter `python` can find."""
    code = "import sys, importlib.util as u; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
    try:
        run = subprocess.run([python, "-c", code, *names], capture_output=True, text=True)
    except OSError as error:
        raise InputError(f"--peer-python {python}: cannot be run ({error.strerror}).") from None
    return run.stdout.split()


def installed_peers(python: Path) -> list[str]:
    """Names of the peers whose module is there."""
    found = has_modules(python, [module for module, _, _ in peers.PEERS.values()])
    return [name for name, (module, _, _) in peers.PEERS.items() if module in found]


def run_peer(engine, variant, scene_file: Path, pose_file: Path, python: Path) -> list[dict]:
    """Rows of statistics of one engine, one for each phase; one row with `error` if it failed."""
    command = [
        python, FOLDER / f"drive_{engine}.py", scene_file, pose_file,
        "--variant", variant, "--max-seconds", str(MAX_SECONDS),
    ]  # fmt: skip
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        rows.append({"engine": engine, "variant": variant, "phase": "failed", "error": last[:200]})
    return rows


def overlap(scene, scene_file: Path, pose_file: Path, python: Path) -> dict:
    """Overlaps of final poses; empty where Coal would be needed and is missing."""
    if scene.kind in ("sphere", "torus") or len(scene.mass) == 1:
        poses = np.load(pose_file)
        return overlap_measure.measure_overlap(scene._asdict(), poses["pos"], poses["quat"])
    for candidate in dict.fromkeys((Path(sys.executable), python)):
        if has_modules(candidate, ["coal"]):
            command = [candidate, overlap_measure.__file__, scene_file, pose_file]
            run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            return json.loads(run.stdout) if run.returncode == 0 else {}
    return {}
