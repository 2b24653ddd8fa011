"""Compiled code on disk, checked before it is run.

In place of Numba's own cache, whose index two processes can overwrite for each other, which
trusts every byte it finds, and which looks at a kernel's own file alone. Here a version of a
kernel is one file, named by a hash of all that it depends on, complete or not there. It begins
with a checksum of its name and its contents: what was cut, flipped, swapped or written by others
is compiled again.

Code is loaded without Numba's registries of types: they take longer to import than the code of a
step takes to load, and are needed only to compile. What linking would need is parsed only if a
kernel is linked into another.
"""

import hashlib
import logging
import pickle
import re
import sys
from collections import Counter
from functools import cache

import llvmlite
import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from drystone.jit.folders import cache_folder, folders, kernel_digest
from drystone.jit.linking import LateLibrary, libraries, to_prepare

log = logging.getLogger("drystone.jit")

_HEAD = b"drystone kernel 2\n"  # another one when the contents change
_DIGEST_SIZE = 32
_ENVIRONMENT = re.compile(r'@(?:"(_ZN08NumbaEnv[^"]*)"|(_ZN08NumbaEnv[-\w$.]*))')  # in LLVM's text


class DiskCache:
    """What Numba asks for the versions of one kernel; the methods are those of its own cache."""

    def __init__(self, function, options):
        self._function = function
        self._options = repr(sorted(options.items()))
        self._enabled = True
        self._names: dict[tuple, str | None] = {}

    @property
    def cache_path(self):
        return str(cache_folder())

    def enable(self):
        self._enabled = True

    def disable(self):
        self._enabled = False

    def flush(self):
        """Numba calls it to compile anew; a version that is saved replaces its file."""

    def load_overload(self, sig, target_context):
        """The version of these argument types, or None if there is none that is sound."""
        name = self.name_of(getattr(sig, "args", sig))
        payload = None if name is None else _read(name)
        return None if payload is None else _rebuild(target_context, name, payload)

    def save_overload(self, sig, result):
        """Keep a version for the next process; code with addresses of this one is not kept."""
        name = self.name_of(getattr(sig, "args", sig))
        if name is None or result.library.has_dynamic_globals:
            return
        if any(not lifted.can_cache for lifted in result.lifted):
            return
        payload = dumps(_reduce(name, result))
        folders.write(name, _HEAD + _digest(name, payload) + payload)

    def name_of(self, args) -> str | None:
        """Name of the file of this version, made of all that its code depends on."""
        if args not in self._names:
            self._names[args] = self._name(args)
        return self._names[args]

    def _name(self, args) -> str | None:
        function = self._function
        source = _file_digest(function)
        if source is None:
            return None
        code = function.__code__
        try:
            cells = dumps(tuple(cell.cell_contents for cell in function.__closure__ or ()))
        except (
            ValueError,
            TypeError,
            pickle.PicklingError,
        ):  # an empty cell, or a thing of its own
            return None
        kinds = _describe(args)
        key = repr((
            function.__module__, function.__qualname__, code.co_firstlineno, code.co_code,
            function.__defaults__, cells, source, self._options, kinds, target_name(),
        ))  # fmt: skip
        if " at 0x" in key:  # a function among the arguments: it lies elsewhere in the next process
            return None
        digest = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
        short = "".join(letter for letter in function.__qualname__ if letter.isidentifier())
        return f"{short[:60]}-{digest}.kernel"


@cache
def target_name() -> str:
    """What code is compiled for and how: processor, optimisation, versions of what it calls."""
    processor = cpu_target.target_context.codegen().magic_tuple()
    ways = (config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.DEBUGINFO_DEFAULT)
    versions = (sys.version, np.__version__, llvmlite.__version__)
    return repr((processor, int(config.OPT), *map(int, ways), versions))


def _describe(kinds) -> str:
    """These types, with the members of named tuples, which Numba does not spell out."""
    parts = []
    for kind in kinds:
        parts.append(str(kind))
        if isinstance(kind, types.BaseNamedTuple):
            parts.append(f"{kind.fields}[{_describe(kind.types)}]")
        elif isinstance(kind, types.BaseTuple):
            parts.append(f"[{_describe(kind)}]")
    return ", ".join(parts)


def _file_digest(function) -> str | None:
    """Hash of all sources that a kernel may take something from."""
    try:
        return kernel_digest(function.__code__.co_filename)
    except OSError:
        return None  # typed at a prompt


def _digest(name: str, payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST_SIZE, key=name.encode()[-64:]).digest()


def _read(name: str):
    """What was saved under this name, or None if nothing sound was."""
    for path, contents, problem in folders.read(name):
        if contents is not None:
            payload = _checked(name, contents)
            if payload is not None:
                return payload
            problem = "its checksum is wrong"
        log.warning("%s is damaged (%s) and is compiled again.", path, problem)
    for contents in folders.read_others(name):
        payload = _checked(name, contents)
        if payload is not None:
            folders.write(name, contents)
            return payload
    return None


def _checked(name: str, contents: bytes):
    """What the file holds, or None if a byte of it is not as it was written."""
    start = len(_HEAD) + _DIGEST_SIZE
    payload = memoryview(contents)[start:]
    if contents[:start] != _HEAD + _digest(name, payload):
        return None
    return pickle.loads(payload)


def _reduce(name: str, result: CompileResult) -> tuple:
    """A version of a kernel as things that can be pickled."""
    machine = result.library.machine
    code = _machine_code(machine) if machine is not None else result.library.save_as(name)
    environments = _environments_used(machine._final_module) if machine is not None else ()
    description = result.fndesc
    description.typemap = description.calltypes = None  # of no use once it is compiled
    return (
        machine is not None, code, description, result.environment, result.signature,
        result.objectmode, result.lifted, result.reload_init, environments,
    )  # fmt: skip


def _machine_code(library) -> tuple:
    """The code, names that it needs, names that it defines."""
    needed, defined = [], set()
    module = library._final_module
    for kinds in (module.functions, module.global_variables):
        for each in kinds:
            if not each.is_declaration:
                defined.add(each.name)
            elif not each.name.startswith("llvm."):
                needed.append(each.name)
    return library.name, library._get_compiled_object(), needed, defined


def _environments_used(module) -> tuple:
    """The environments (constants that are Python objects) that this code reads.

    Every function that was inlined has one, twenty a stage, and nearly all are declared only. To
    rebuild them imports the modules of those functions, SciPy's matrices among them: a fifth of
    the time in which a program starts.
    """
    names = Counter(quoted or plain for quoted, plain in _ENVIRONMENT.findall(str(module)))
    found = (lookup_environment(name) for name, count in names.items() if count > 1)
    return tuple(env for env in found if env is not None and env.can_cache())


def _rebuild(context, name: str, payload: tuple) -> CompileResult | None:
    """The inverse of `_reduce`, in another process; None where what it calls is gone."""
    runs, code, description, environment, signature, objectmode, lifted, prepare, envs = payload
    for function in prepare:  # starts the threads of parallel kernels, and defines what they call
        function()
    library = _load(context, *code) if runs else _late_library(context.codegen(), name, payload)
    if library is None:
        return None
    library._reload_init = to_prepare(library) | set(prepare)
    result = CompileResult(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, description, environment),
        typing_error=None,
        type_annotation="",
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        fndesc=description,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=prepare,
        referenced_envs=envs,
    )
    for env in envs:
        library.codegen.set_env(env.env_name, env)
    return result


def _late_library(codegen, name: str, payload: tuple | None) -> LateLibrary | None:
    """A library that is only linked into others, and all that it calls; None if a part is gone."""
    if name in libraries:
        return libraries[name]
    if payload is None or payload[0]:
        return None
    _, (bitcode, names, names_called), _, environment, *_ = payload
    called = []
    for each in names_called:
        library = _late_library(codegen, each, None if each in libraries else _read(each))
        if library is None:
            return None
        called.append(library)
    library = LateLibrary.from_disk(codegen, name, bitcode, names, called)
    if library is None:
        return None
    library.environment = environment  # Numba itself holds it only as long as somebody does
    return library


def _define(context, names) -> None:
    """See to it that LLVM knows these names: one that it does not know ends the process."""
    if not all(map(llvm.address_of_symbol, names)):
        rtsys.initialize(context)  # memory: most code that needs more needs just that
    if not all(map(llvm.address_of_symbol, names)):
        context.refresh()  # all that Numba can define, half a second


def _load(context, name: str, code: bytes, needed, defined) -> JITCodeLibrary:
    """Library of this machine code. It cannot be linked into other code: see Kernel."""
    _define(context, needed)
    codegen = context.codegen()
    library = JITCodeLibrary(codegen, name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._finalize_final_module()
    codegen._engine._defined_symbols |= defined
    return library
