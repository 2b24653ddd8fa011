"""Decorators of kernels: how they are compiled and where they are cached."""

import hashlib
import os
from pathlib import Path

import numba


def source_digest() -> str:
    """Hash of all files with compiled code in them, and of the compiler's version."""
    folder = Path(__file__).parents[1]  # the whole package
    digest = hashlib.blake2b(digest_size=8)
    digest.update(numba.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source:  # an edit to cli/commands.py should not rebuild the solvers
            digest.update(source)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these sources."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drystone"
    checks = "-checked" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    return root / (source_digest() + checks)


# Numba rebuilds a cached kernel when its own file changes, but not when a kernel or a
# constant it took from another file does: it silently runs the old one. A folder keyed
# on all files with kernels rules that out, at the price of a full rebuild after an edit
# to any of them. The setting is process-wide, so it also moves other packages' caches.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())

# Threads that wait for each other spin before they sleep, by default for a millisecond: where
# another program has the core that costs a hundred times the step. So short a spin costs nothing
# on a machine of our own, in wall-clock time, and 5 times the step on a busy one.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")


def kernel(function=None, **options):
    """Compile `function`. Never pass fastmath=True: it deletes our NaN checks.

    Kernels do not allocate, so Numba need not count references (`_nrt`): counting those of a
    tuple of sixty arrays at every call costs more than most kernels do. A kernel that does
    allocate says so with `_nrt=True`. A kernel whose name starts with `_` is called by other
    kernels alone and gets no entry from Python, which would take as long to compile as the rest.
    """
    options = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False} | options

    def compile_lazily(function):
        inner = function.__name__.startswith("_") and not numba.config.DISABLE_JIT
        entry = {"no_cpython_wrapper": True} if inner else {}
        compiled = numba.njit(**options, **entry)(function)
        return compiled if numba.config.DISABLE_JIT else _without_literals(compiled)

    return compile_lazily(function) if function else compile_lazily


def entry_of(compiled, args):
    """The version of a kernel that takes arguments of the types of these, as Python calls it.

    It does not check its arguments: other types crash it.
    """
    if numba.config.DISABLE_JIT:
        return compiled
    return compiled.overloads[tuple(numba.typeof(arg) for arg in args)].entry_point


def inner_kernel(function=None, **options):
    """A kernel that other kernels alone call, from any file. Calling it from Python crashes."""
    options = options if numba.config.DISABLE_JIT else options | {"no_cpython_wrapper": True}
    return kernel(function, **options)


def inlined(stage):
    """The kernel `stage` as a part of a kernel that calls it, not compiled for itself."""
    return stage if numba.config.DISABLE_JIT else inner_kernel(stage.py_func, inline="always")


def _without_literals(dispatcher):
    """A call with a constant, f(x, 0), else compiles a version of `f` for that very constant."""
    template = dispatcher.get_call_template

    def get_call_template(args, kws):
        plain = tuple(numba.types.unliteral(arg) for arg in args)
        return template(plain, {name: numba.types.unliteral(arg) for name, arg in kws.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher


def parallel_kernel(function):
    """Compile a thin `prange` loop over independent work; its answer has no thread count in it.

    What the loop itself writes must be an array argument: a store to a member of a tuple is
    silently lost (Numba 0.68). Called kernels may write to members of tuples.

    The chunked loop. Every stage that runs over pairs, shapes or contacts has the same three
    kernels; Numba cannot take a kernel as an argument and cache what calls it, so each has its own:

        _CHUNK = 64  # items per task: some 10 us of work or more

        @kernel
        def _work_range(lo, hi, ...):  # scratch arrays are made here, once a task (_nrt=True)
            for k in range(lo, hi):
                ...  # writes row k and no other

        @parallel_kernel
        def _work_parallel(chunks, count, ...):
            for chunk in prange(chunks):
                _work_range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, count), ...)

        @stage
        def do_work(..., count):
            if count <= 2 * _CHUNK:  # starting threads costs more than that
                _work_range(0, count, ...)
            else:
                _work_parallel((count + _CHUNK - 1) // _CHUNK, count, ...)

    Chunks depend on the number of items alone, so that the answer is the same for any number of
    threads. Where neighbouring items cost alike and others far more or less (meshes), task t of n
    takes the items t, t + n, t + 2 n ... instead: `_work_every(task, tasks, count, ...)`.
    """
    return kernel(function, parallel=True, _nrt=True)
