"""Decorators of kernels: how they are compiled and where they are cached."""

import functools
import importlib
import os
import pickle
import threading

import numba

from drystone.jit.disk_cache import DiskCache
from drystone.jit.linking import KernelCompiler
from drystone.jit.versions import check_versions

check_versions()

# Threads that wait for each other spin before they sleep, by default for a millisecond: where
# another program has the core that costs a hundred times the step. So short a spin costs nothing
# on a machine of our own, in wall-clock time, and 5 times the step on a busy one.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")


# What is not set a kernel takes from the one that calls it first, which another process may not
# have: its code would depend on the order in which kernels are compiled.
OPTIONS = {
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
    "fastmath": False,
    "forceinline": False,
    "no_cfunc_wrapper": True,
}


def kernel(function=None, **options):
    """Compile `function`. Never pass fastmath=True: it deletes our NaN checks.

    Kernels do not allocate, so Numba need not count references (`_nrt`): counting those of a
    tuple of sixty arrays at every call costs more than most kernels do. A kernel that does
    allocate says so with `_nrt=True`. A kernel whose name starts with `_` is called by other
    kernels alone and gets no entry from Python, which would take as long to compile as the rest.
    """
    options = OPTIONS | options

    def compile_lazily(function):
        if numba.config.DISABLE_JIT:  # to step through kernels in a debugger
            return function
        inner = function.__name__.startswith("_")
        entry = {"no_cpython_wrapper": True} if inner else {}
        return Kernel(function, options | entry)

    return compile_lazily(function) if function else compile_lazily


class Kernel:
    """A function that is compiled when it is first called, or called in another kernel.

    Numba's dispatcher takes 0.3 ms to make and there are a thousand kernels, of which a program
    whose stages lie compiled on disk needs thirty. So it is made when somebody asks for it:
    Numba does by `_numba_type_`, when it compiles a kernel that calls this one.
    """

    __numba__ = "py_func"  # where Numba looks for the function
    _making = threading.RLock()

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.py_func, self._options, self._made = function, options, {}

    @property
    def dispatcher(self):
        """What Python calls."""
        return self._dispatcher(self._options)

    def _dispatcher(self, options):
        inner = "no_cpython_wrapper" in options
        if inner not in self._made:
            with self._making:
                if inner not in self._made:
                    self._made[inner] = self._make(options)
        return self._made[inner]

    def _make(self, options):
        cache = DiskCache(self.py_func, options)
        compiler = functools.partial(KernelCompiler, cache)
        dispatcher = numba.njit(pipeline_class=compiler, **options)(self.py_func)
        dispatcher._cache = cache
        return _without_literals(dispatcher)

    @property
    def _numba_type_(self):
        """What kernels call: without an entry from Python, and never machine code of its own."""
        return self._dispatcher(self._options | {"no_cpython_wrapper": True})._numba_type_

    def __call__(self, *args, **kwargs):
        return self.dispatcher(*args, **kwargs)

    def __getattr__(self, name):  # overloads, compile, targetoptions ...
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self):
        if "<locals>" in self.__qualname__:
            raise pickle.PicklingError(f"{self.__qualname__} is not to be found by its name")
        return _kernel_named, (self.__module__, self.__qualname__)


def _kernel_named(module: str, name: str):
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def entry_of(compiled, args):
    """The version of a kernel that takes arguments of the types of these, as Python calls it.

    It does not check its arguments: other types crash it.
    """
    if numba.config.DISABLE_JIT:
        return compiled
    return compiled.overloads[tuple(numba.typeof(arg) for arg in args)].entry_point


def inner_kernel(function=None, **options):
    """A kernel that other kernels alone call, from any file. Calling it from Python crashes."""
    return kernel(function, **(options | {"no_cpython_wrapper": True}))


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
