"""Stages of the step: separately compiled kernels that others call through function pointers.

What a kernel calls is otherwise inlined and optimised once more there, and again in every
kernel above: the narrow phase used to be compiled five times over. The price is some nanoseconds
for every array that is handed over.

A cell of memory under a name that compiled code knows holds the address. It is empty until the
stage is called from Python, which every process does once with nothing in the world
(steppers/precompile.py), since code that is read from disk lies elsewhere each time. A stage has
one signature, or two that differ in whether the joints are there or None: a cell for each.
"""

import ctypes
import inspect

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.extending import _Intrinsic

from drystone.jit import kernel


def stage(function=None, result=None, **options):
    """Compile `function` as kernel() does, for Python and for kernels to call by its address.

    A stage whose result is given, as a type of Numba, is not compiled along with its callers but
    when it is first called from Python: what few worlds need costs the others no time.
    """
    if function is None:
        return lambda function: stage(function, result, **options)
    compiled = kernel(function, **options)
    return compiled if numba.config.DISABLE_JIT else Stage(compiled, result)


class Stage(_Intrinsic):
    """A kernel that can be called from Python, and from kernels through its address."""

    def __init__(self, compiled, result):
        self.compiled, self.py_func, self.result = compiled, compiled.py_func, result
        self.called_with: dict[str, tuple] = {}  # types in kernels, by the name of the cell
        self.cells = {self._cell(nones): ctypes.c_void_p() for nones in range(2)}
        for name, cell in self.cells.items():
            llvmlite.binding.add_symbol(name, ctypes.addressof(cell))

        def call(typing_context, *args):
            return self._call_by_address(args)

        # Numba would hand over *args as one tuple; the names of the arguments prevent that.
        context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        given = inspect.signature(self.py_func).parameters.values()
        call.__signature__ = inspect.Signature([context, *given])
        super().__init__(self.py_func.__name__, call)
        self._register()

    def __call__(self, *args):
        answer = self.compiled(*args)
        self._connect()
        return answer

    def prepare(self, *args) -> None:
        """Compile it for arguments of these types, or load it, without a call."""
        if not numba.config.DISABLE_JIT:
            self.compiled.compile(tuple(map(numba.typeof, args)))
            self._connect()

    def _cell(self, nones: int) -> str:
        """Name of the cell with the address for so many arguments that are None."""
        return f"drystone_{self.py_func.__module__}_{self.py_func.__name__}_{nones}"

    def _connect(self) -> None:
        filled = sum(cell.value is not None for cell in self.cells.values())
        if filled == len(self.compiled.overloads):
            return
        known = dict(self.called_with)
        for types, result in self.compiled.overloads.items():
            name = self._cell(_nones(types))
            if known.setdefault(name, types) != types:
                raise TypeError(f"{name} has signatures {known[name]} and {types}.")
            address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
            self.cells[name].value = address

    def _call_by_address(self, args):
        result, name = self.result, self._cell(_nones(args))
        if result is None:
            self.compiled.compile(args)
            self._connect()
            result = self.compiled.overloads[args].signature.return_type

        def emit(context, builder, signature, values):
            if self.called_with.setdefault(name, args) != args:
                raise TypeError(f"{name} is called with {self.called_with[name]} and with {args}.")
            convention = context.call_conv
            kind = convention.get_function_type(result, args).as_pointer()
            cell = builder.module.globals.get(name)
            if cell is None:
                cell = ir.GlobalVariable(builder.module, kind, name)
            address = builder.load(cell)
            with cgutils.if_unlikely(builder, cgutils.is_null(builder, address)):
                convention.return_user_exc(builder, RuntimeError, (f"{name} is not connected",))
            status, answer = convention.call_function(builder, address, result, args, values)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return answer

        return result(*args), emit


def _nones(types) -> int:
    return sum(isinstance(kind, numba.types.NoneType) for kind in types)
