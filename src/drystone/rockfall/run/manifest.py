"""The manifest of a run: what went in, to the checksum, and with which versions it was computed."""

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from drystone.errors import InputError
from drystone.jit import source_digest
from drystone.rockfall.run.part_files import write_whole
from drystone.rockfall.run.plan import Plan

NAME = "manifest.json"
DECIDING = {  # entries that decide about the results, in the words of the user
    "format": "the format of the parts",
    "study": "the study file",
    "inputs": "an input file",
    "engine": "the engine",
    "code": "the code of Drystone",
    "versions": "the version of a package",
    "python": "the version of Python",
    "machine": "the machine",
}
KINDS = {  # what every manifest has, since the first version
    "format": int, "study": dict, "inputs": dict, "plan": str, "seed": int, "runs": int,
    "chunk": int, "engine": str, "origin_m": list, "versions": dict, "python": str, "machine": str,
    "finished": bool,
}  # fmt: skip
IDLE = (("runs", "workers"), ("output", "folder"))  # of the study file
IDLE_PARTS = ("report", "scenarios")
PACKAGES = ("drystone", "numpy", "numba", "scipy", "rasterio", "pyproj", "pyogrio", "pyarrow")


def make_manifest(study, plan: Plan) -> dict:
    """All of it but `finished`."""
    return {
        "format": plan.layout,
        "study": study.describe(),
        "inputs": {str(path): file_digest(Path(path)) for path in study.input_files()},
        "plan": plan.digest(),
        "seed": plan.seed,
        "runs": plan.count,
        "chunk": plan.chunk,
        "engine": plan.roll,
        "crs": plan.crs,
        "origin_m": list(plan.origin),
        "code": source_digest(),
        "versions": {name: package_version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def file_digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from None


def differences(a: dict, b: dict) -> list[str]:
    """In what two manifests are not of the same runs; empty if their results have the same bits."""
    a, b = _without_idle(a), _without_idle(b)
    told = [words for key, words in DECIDING.items() if a.get(key) != b.get(key)]
    return told or (["the plan"] if a.get("plan") != b.get("plan") else [])


def _without_idle(manifest: dict) -> dict:
    """Without the entries of the study that no result depends on."""
    study = dict(manifest.get("study") or {})
    study = {name: part for name, part in study.items() if name not in IDLE_PARTS}
    for part, key in IDLE:
        if isinstance(study.get(part), dict):
            study[part] = {name: x for name, x in study[part].items() if name != key}
    return manifest | {"study": study}


def read_manifest(folder: Path) -> dict | None:
    """The manifest of a folder of results; None if there is none."""
    path = Path(folder) / NAME
    try:
        if not path.exists():
            return None
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path} cannot be read. Delete the folder, or choose another.") from None
    wrong = [key for key, kind in KINDS.items() if not _is(manifest, key, kind)]
    if wrong:
        raise InputError(
            f"{path} is not the manifest of a run of Drystone ({wrong[0]} is missing or not what "
            "a run writes). Choose another folder, or restore the file."
        )
    return manifest


def _is(manifest, key: str, kind: type) -> bool:
    if not isinstance(manifest, dict):
        return False
    value = manifest.get(key)
    if key == "origin_m":
        return isinstance(value, list) and all(isinstance(x, int | float) for x in value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, kind)


def write_manifest(folder: Path, manifest: dict) -> None:
    write_whole(Path(folder) / NAME, json.dumps(manifest, indent=1).encode())
