"""Folders of compiled code: where they lie, what stands in for them, and which old ones go.

A folder holds the code of exactly one version of the sources. Where it cannot be written, code
goes to a folder of this user's alone among the temporary files; where that cannot be either, it is
not kept. A folder that can only be read still is read. Old versions go when a new one is first
written, but never one that a running process holds.
"""

import atexit
import glob
import hashlib
import logging
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from functools import cache
from pathlib import Path

import numba

try:
    import fcntl
except ImportError:  # Windows: no folder can be known to be unused, so none is removed
    fcntl = None

log = logging.getLogger("drystone.jit")

# Some 25 MB each. As many programs or worktrees can take turns without compiling anew.
KEPT_VERSIONS = 8
KEPT_DAYS = 30.0  # a version that was not used for so long goes in any case
_HOUR = 3600.0

_CHECKED = "-checked"  # ends the names of folders of code with bounds checks
_IN_USE = "in-use"  # held with a shared lock by every process that uses the folder
_IMPORT = re.compile(rb"from drystone\.?([\w.]*) import (\([^)]*\)|[^\n]*)")
_NAME = re.compile(r"\w+")
_CONSTANT = re.compile(rb"\b[A-Z][A-Z0-9_]*\b")
_VERSION_NAME = re.compile(r"[0-9a-f]{16}(-checked)?")
_OURS = re.compile(r".+\.(kernel|part|done)|in-use")
# What versions before this one left: Numba's own files, and marks of the parts.
_OURS_BEFORE = re.compile(r".+\.nb[ic]|(engine|joints|meshes|fields)-[0-9a-f]{16}")


@cache
def source_digest() -> str:
    """Hash of all sources that compiled code is made of, and of the compiler's version."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(numba.__version__.encode())
    for source in compiled_sources(Path(__file__).parents[1]).values():  # of the whole package
        digest.update(source)
    return digest.hexdigest()


def compiled_sources(package: Path) -> dict[Path, bytes]:
    """Files with kernels, and files whose constants these import: both are in compiled code.

    Others are not, so that an edit to cli/commands.py does not rebuild the solvers.
    """
    sources = _sources(package)
    found = {path for path, source in sources.items() if b"kernel" in source}
    ahead = list(found)
    while ahead:
        for place, names in _imports(sources[ahead.pop()]):
            if _CONSTANT.search(names):
                new = {f"{place}.py", f"{place}/__init__.py"} & sources.keys() - found
                found |= new
                ahead.extend(new)
    return {package / path[1:]: source for path, source in sources.items() if path in found}


@cache
def _sources(package: Path) -> dict[str, bytes]:
    """All sources of the package by their paths in it, which begin with a slash.

    Paths are text here: every start asks for the digests of thirty files of six hundred, and to
    compare objects of pathlib took a fifth of it.
    """
    root = str(package)
    paths = glob.glob("**/*.py", root_dir=root, recursive=True)
    sources = {}
    for path in sorted(path.replace(os.sep, "/") for path in paths):
        with open(os.path.join(root, path), "rb") as file:
            sources[f"/{path}"] = file.read()
    return sources


@cache
def _imports(source: bytes) -> list[tuple[str, bytes]]:
    """Of each import of ours: the module, as the path of its file without its end; the names."""
    return [
        ("".join(f"/{part}" for part in module.decode().split(".") if part), names)
        for module, names in _IMPORT.findall(source)
    ]


@cache
def kernel_digest(path: str) -> str:
    """Hash of what the kernels of one file are made of: that file, and all that it imports.

    An edit so rebuilds what may contain it, and no more: what other versions of the sources have
    compiled of the rest is taken over. Of a file that is not ours: all sources, and itself.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=8)
    digest.update(numba.__version__.encode())
    graph, hashes = _import_graph(package)
    start = path.removeprefix(str(package)).replace(os.sep, "/")
    if start not in graph:
        digest.update(source_digest().encode() + Path(path).read_bytes())
        return digest.hexdigest()
    found, ahead = {start}, [start, *(file for file in graph if file.startswith("/jit/"))]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead.extend(new)
    for each in sorted(found):
        digest.update(hashes[each])
    return digest.hexdigest()


@cache
def _import_graph(package: Path) -> tuple[dict[str, set[str]], dict[str, bytes]]:
    """Which files each file of the package imports, and a hash of each."""
    sources = _sources(package)
    graph: dict[str, set[str]] = {}
    for path, source in sources.items():
        files = graph[path] = set()
        for place, names in _imports(source):
            files |= {f"{place}.py", f"{place}/__init__.py"}
            files |= {f"{place}/{name}.py" for name in _NAME.findall(names.decode())}
        files.intersection_update(sources)
    hashes = {
        path: hashlib.blake2b(source, digest_size=16).digest() for path, source in sources.items()
    }
    return graph, hashes


def cache_root() -> Path:
    """Folder of everything that Drystone caches: $DRYSTONE_CACHE, or a folder `drystone` in
    $NUMBA_CACHE_DIR, else in the user's cache folder."""
    if own := os.environ.get("DRYSTONE_CACHE"):
        return Path(own)
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(given or os.path.expanduser("~/.cache")) / "drystone"


def cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these sources."""
    return cache_root() / _version()


def _version() -> str:
    checks = _CHECKED if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    return source_digest() + checks


class Folders:
    """The folders in which code is looked for, and the first of them that can be written."""

    def __init__(self):
        self._given, self._refused = None, {}
        self._locks: dict[Path, int | None] = {}
        self._warned = False

    def read(self, name: str):
        """Path and contents of each file of this name, the best first; unreadable ones: None."""
        for folder in self._all():
            path = folder / name
            try:
                if not stat.S_ISREG(path.stat().st_mode):  # one could wait for a pipe for ever
                    raise OSError("it is not a file")
                contents = path.read_bytes()
            except OSError as error:
                if os.path.lexists(path):  # a folder in its place, no permission, a dead disk
                    yield path, None, error.strerror or str(error)
                continue
            self._hold(folder)
            yield path, contents, ""

    def read_others(self, name: str):
        """Contents of each file of this name that was made from other versions of the sources.

        Names are made of all that the code depends on, so what has this name is this code.
        """
        own = self._all()[0]
        checked = own.name.endswith(_CHECKED)
        for path in sorted(own.parent.glob(f"*/{name}")):
            version = path.parent.name
            alike = _VERSION_NAME.fullmatch(version) and version.endswith(_CHECKED) == checked
            if alike and path.parent != own:
                try:
                    if stat.S_ISREG(path.lstat().st_mode):
                        yield path.read_bytes()
                except OSError:
                    continue  # being removed, or not to be read

    def has(self, name: str) -> bool:
        return any((folder / name).is_file() for folder in self._all())

    def write(self, name: str, contents: bytes) -> Path | None:
        """Keep a file for the next process; the folder, or None where none can be written."""
        for folder in self._all():
            if folder in self._refused:
                continue
            try:
                new = not folder.is_dir()
                folder.mkdir(parents=True, exist_ok=True)
                self._hold(folder)
                _write_whole(folder / name, contents)
            except OSError as error:
                self._refused[folder] = error.strerror or str(error)
                continue
            self._warn(folder)
            if new:
                prune(folder.parent, folder)
            return folder
        self._warn(None)
        return None

    def shared_with(self) -> str | None:
        """What DRYSTONE_CACHE must be for another process to find what this one compiles."""
        folder = self.write("written.done", b"")
        return None if folder is None else str(folder.parent)

    def _all(self) -> list[Path]:
        first = cache_folder()
        if self._given is None or self._given[0] != first:
            self._given, self._refused = [first], {}
            second = _temporary_root()
            if second is not None:
                self._given.append(second / "drystone" / _version())
        return self._given

    def _hold(self, folder: Path) -> None:
        if folder not in self._locks:
            self._locks[folder] = _hold(folder)

    def _warn(self, instead: Path | None) -> None:
        """One sentence a process about a folder that cannot be written."""
        if self._warned or not self._refused:
            return
        self._warned = True
        why = "; ".join(f"{folder} ({reason})" for folder, reason in self._refused.items())
        if instead is not None:
            log.warning(
                "Compiled code cannot be kept in %s; it goes to %s. "
                "DRYSTONE_CACHE may name a folder that can be written.",
                why, instead,
            )  # fmt: skip
        else:
            log.warning(
                "Compiled code cannot be kept anywhere: %s. Every start compiles anew, which takes "
                "minutes; DRYSTONE_CACHE may name a folder that can be written.",
                why,
            )


def _write_whole(path: Path, contents: bytes) -> None:
    """A file that is complete or not there, also if two processes write it at once."""
    part = path.with_name(f"{path.name[:60]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:  # with the permissions that the user wants for new files
            file.write(contents)
        if path.is_dir():  # not ours: it is moved, not removed
            aside = tempfile.mkdtemp(dir=path.parent, prefix="moved-aside-")
            os.rename(path, os.path.join(aside, path.name))
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


@cache
def _temporary_root() -> Path | None:
    """A folder among the temporary files that nobody else can write to: code is run from it."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        path = Path(tempfile.gettempdir()) / f"drystone-{user}"
        if _is_private(path, user):
            return path
        made = Path(tempfile.mkdtemp(prefix="drystone-"))  # the name was taken by somebody else
    except OSError:
        return None
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(made, ignore_errors=True))
    return made


def _is_private(path: Path, user) -> bool:
    """Whether this is a folder, made here if it was not there, that this user alone can write."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    own = not hasattr(os, "getuid") or found.st_uid == user
    return own and stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022


def _hold(folder: Path) -> int | None:
    """A lock that keeps others from removing the folder while this process lives, if possible."""
    if fcntl is None:
        return None
    path = folder / _IN_USE
    for _ in range(100):  # somebody who removes it needs milliseconds
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError:
            try:
                lock = os.open(path, os.O_RDONLY)
            except OSError:
                return None
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if os.fstat(lock).st_ino == os.stat(path).st_ino:
                if time.time() - os.fstat(lock).st_mtime > _HOUR:
                    os.utime(path)  # the time of its last use, by which versions are removed
                return lock
        except OSError:
            pass
        os.close(lock)
        time.sleep(0.01)
    return None


def prune(root: Path, own: Path) -> None:
    """Remove versions of the sources that were not used for long; nothing that is not ours."""
    if fcntl is None:
        return
    try:
        found = [
            path for path in root.iterdir()
            if _VERSION_NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        ]  # fmt: skip
    except OSError:
        return
    now = time.time()
    ages = {path: now - _last_use(path) for path in found}
    newest_first = sorted(found, key=lambda path: ages[path])
    # Versions before this one hold no lock that tells who uses them: they go by age alone.
    locked = [path for path in newest_first if (path / _IN_USE).exists()]
    for path in newest_first:
        many = path in locked[KEPT_VERSIONS:]
        if path != own and (many or ages[path] > KEPT_DAYS * 86400):
            _remove(path, _OURS if path in locked else _OURS_BEFORE)
    _sweep_parts(own, now)


def _last_use(folder: Path) -> float:
    try:
        return (folder / _IN_USE).stat().st_mtime
    except OSError:
        pass
    times = [0.0]
    for path in (folder, *folder.rglob("*")):
        try:
            times.append(path.lstat().st_mtime)
        except OSError:
            return time.time()  # being written, or not to be read: it stays
    return max(times)


def _remove(folder: Path, ours: re.Pattern) -> None:
    """Remove our files from a folder that nobody holds, and the folder if that empties it."""
    lock = None
    try:
        if (folder / _IN_USE).exists():
            lock = os.open(folder / _IN_USE, os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for place, folders, files in os.walk(folder, topdown=False):
            for name in files:
                if ours.fullmatch(name) and name != _IN_USE:
                    os.unlink(os.path.join(place, name))
            for name in folders:
                try:
                    os.rmdir(os.path.join(place, name))
                except OSError:
                    pass  # something in it is not ours
        (folder / _IN_USE).unlink(missing_ok=True)
        folder.rmdir()
    except OSError:
        pass  # held by a running process, not ours, or not to be written: it stays
    finally:
        if lock is not None:
            os.close(lock)


def _sweep_parts(folder: Path, now: float) -> None:
    """Remove what processes that were killed while they wrote have left."""
    for path in folder.glob("*.part"):
        try:
            if now - path.stat().st_mtime > _HOUR:
                path.unlink()
        except OSError:
            pass


folders = Folders()
