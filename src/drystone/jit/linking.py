"""Code of kernels, linked late: what a kernel calls is optimised once, in the code that is run.

Numba optimises each kernel and makes machine code of it before it links it into those that call
it, which are then optimised with all that they contain: a leaf ten levels down eleven times, and
ten of the eleven are never run. Here a kernel stays as Numba wrote it until its address is asked
for. Only then are all kernels that it calls, directly or not, linked into one module, each once,
and optimised: LLVM takes two fifths of the time, and the files two fifths of the space.
"""

import gc
from contextlib import contextmanager

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

_ENVIRONMENT = (
    "_ZN08NumbaEnv"  # begins the names of environments: constants that are Python objects
)

libraries: dict[str, "LateLibrary"] = {}  # of this process, by their names on disk


class LateLibrary(JITCodeLibrary):
    """Code as Numba wrote it, and the libraries that it calls; machine code only if it is run.

    `name_on_disk` is the file that holds it, where it is a kernel that has one (jit/disk_cache.py).
    """

    def __init__(self, codegen, name):
        super().__init__(codegen, name)
        self._reload_init = set()
        self._own_names, self._machine, self.name_on_disk = (), None, None

    @property
    def codegen(self):
        return _Codegen(self)

    @property
    def machine(self) -> JITCodeLibrary | None:
        """The library of its machine code, if it has been asked for."""
        return self._machine

    def finalize(self):
        self._raise_if_finalized()
        self._linking_libraries = list(dict.fromkeys(self._linking_libraries))
        for library in self._linking_libraries:
            self._reload_init |= to_prepare(library)
            self._dynamic_globals.extend(library._dynamic_globals)
        self._finalize_dynamic_globals()
        self._own_names = _share(self._final_module)
        self._finalized = True

    def _get_module_for_linking(self):
        """For libraries of Numba's own: this code and all that it calls."""
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = self._with(self.called())
        return self._shared_module

    def _with(self, libraries):
        """A new module: the code of this library and of these."""
        module = self._final_module.clone()
        for library in libraries:
            module.link_in(_own_module(library), preserve=True)
        return module

    def called(self, beyond=lambda library: True) -> list:
        """All libraries that this one calls, directly or not, but what those call that are not
        `beyond`.

        Each comes after all that call it: LLVM links in only what has been asked for by then.
        """
        seen, order = set(), []

        def visit(library):
            if library in seen:
                return
            seen.add(library)
            if isinstance(library, LateLibrary) and (library is self or beyond(library)):
                for each in reversed(library._linking_libraries):
                    visit(each)
            order.append(library)

        visit(self)
        return order[-2::-1]

    def save_as(self, name_on_disk: str) -> tuple:
        """What another process needs to link this code: it, its names, the files of what it calls.

        What has no file, functions of Numba, is part of it, out of the reach of others: there the
        same name may be another function.
        """
        self._ensure_finalized()
        self.name_on_disk, libraries[name_on_disk] = name_on_disk, self
        called = self.called(beyond=lambda library: library.name_on_disk is None)
        kept = [each for each in called if getattr(each, "name_on_disk", None)]
        module = self._with([each for each in called if each not in kept])
        for function in module.functions:
            if function.linkage.name == "linkonce_odr" and function.name not in self._own_names:
                function.linkage = "internal"
        return module.as_bitcode(), self._own_names, [each.name_on_disk for each in kept]

    @classmethod
    def from_disk(cls, codegen, name_on_disk: str, bitcode: bytes, names, called):
        """The inverse of `save_as`, given the libraries that it calls; None if these are others."""
        library = cls(codegen, name_on_disk)
        library._final_module = llvm.parse_bitcode(bitcode)
        if not _missing(library._final_module) <= {
            name for each in called for name in each._own_names
        }:
            return None
        library._own_names, library._linking_libraries = names, called
        library._finalized = True
        library.name_on_disk, libraries[name_on_disk] = name_on_disk, library
        return library

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        if name not in self._own_names:
            return 0
        if self._machine is None:
            self._machine = self._compile()
        return self._machine.get_pointer_to_function(name)

    def _compile(self) -> JITCodeLibrary:
        """Machine code of this library, linked with all that it calls."""
        codegen = self._codegen
        machine = JITCodeLibrary(codegen, self.name)
        machine.enable_object_caching()
        machine._final_module = self._with(self.called())
        for name in self._own_names:
            machine._final_module.get_function(name).linkage = "external"
        machine._optimize_final_module()
        machine._final_module.verify()
        missing = _missing(machine._final_module)
        assert not missing, f"{self.name} calls what is not linked: {missing}"  # it would call 0
        machine._finalize_final_module()
        for variable in machine._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT) and not variable.is_declaration:
                environment = lookup_environment(variable.name)
                if environment is not None:
                    codegen.set_env(variable.name, environment)
        return machine


class _Codegen:
    """What Numba asks the code generator of a library for: all as it is, but environments later."""

    def __init__(self, library):
        self._library = library

    def set_env(self, name, environment):
        """The code that reads an environment is given it when it is compiled."""

    def __getattr__(self, name):
        return getattr(self._library._codegen, name)


def to_prepare(library) -> set:
    """What must have run in a process before this code does; Numba 0.62 does not keep it yet."""
    return getattr(library, "_reload_init", set())


def _own_module(library):
    library._ensure_finalized()
    if isinstance(library, LateLibrary):
        return library._final_module
    return library._get_module_for_linking()


def _missing(module) -> set[str]:
    """Compiled functions that this code calls and does not hold."""
    return {
        function.name
        for function in module.functions
        if function.is_declaration and function.name.startswith("_ZN")
    }


def _share(module) -> tuple[str, ...]:
    """Let functions of `module` be linked into several others; their names."""
    names = tuple(
        function.name
        for function in module.functions
        if not function.is_declaration and function.linkage.name in ("external", "linkonce_odr")
    )
    for name in names:
        module.get_function(name).linkage = "linkonce_odr"
    return names


@contextmanager
def without_collections():
    """Numba makes objects by the million, few of them in cycles that would fill the memory before
    a stage is done: to look for such cycles took a seventh of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class KernelCompiler(Compiler):
    """Numba's compiler, with libraries that are linked late."""

    def __init__(self, cache, typingctx, targetctx, library, args, *more):
        super().__init__(typingctx, targetctx, library, args, *more)
        self._name_on_disk = cache.name_of(args)

    def compile_extra(self, func):
        codegen = self.state.targetctx.codegen()
        before = codegen._library_class
        codegen._library_class = LateLibrary
        try:
            with without_collections():
                return super().compile_extra(func)
        finally:
            codegen._library_class = before

    def _compile_bytecode(self):
        """Under names that are the same in every process: kernels are linked by them.

        Numba counts what a process compiles, and makes names of the count.
        """
        if self._name_on_disk is not None:
            identity = self.state.func_id
            identity.unique_id = self._name_on_disk.rpartition("-")[2].partition(".")[0]
            identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        return super()._compile_bytecode()
