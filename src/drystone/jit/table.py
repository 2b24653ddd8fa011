"""Tables (structures of arrays): named tuples that kernels take as one pointer.

Numba hands a named tuple over array by array, seven words for each, copies all of it wherever one
member is read, and spells out all members in the name of every kernel that takes it: compiling the
step took most of its time for that. A class marked with @table is still a named tuple in Python. To
a kernel it is the address of a block of words, written once: for an array what Numba keeps of it,
for a number the number, for another table its address. To read a member is to load its words.
"""

import hashlib

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate

_WORD = ir.IntType(64)


class _Table:
    """What a class marked with @table adds to its named tuple."""

    def _pack(self):
        """Type and block of words of this tuple; made once, for it cannot change."""
        packed = self.__dict__.get("packed")
        if packed is None:
            kinds, words = [], []
            for member in self:
                kind, own = _words_of(member)
                kinds.append(kind)
                words.extend(own)
            block = np.array(words, np.uint64)
            packed = TableType(type(self).__name__, self._fields, tuple(kinds)), block
            self.__dict__["packed"] = packed
        return packed

    @property
    def _address(self) -> int:
        return self._pack()[1].ctypes.data

    def __reduce__(self):
        return type(self), tuple(self)


def table(cls):
    """Make the named tuple `cls` one whose instances kernels take as one pointer."""
    return type(cls.__name__, (_Table, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__})


class TableType(types.Type):
    """Numba's type of a table: the names and types of its members."""

    def __init__(self, name, fields, kinds):
        self.fields, self.kinds = fields, kinds
        digest = hashlib.blake2b(repr((fields, kinds)).encode(), digest_size=6).hexdigest()
        super().__init__(f"{name}_{digest}")

    def place_of(self, attr):
        """Type of a member and its first word, or None."""
        place = 0
        for name, kind in zip(self.fields, self.kinds, strict=True):
            if name == attr:
                return kind, place
            place += _size(kind)
        return None


def _size(kind) -> int:
    """Words of a member of this type."""
    if isinstance(kind, types.Array):
        return 3 + 2 * kind.ndim
    return 0 if isinstance(kind, types.NoneType) else 1


def _words_of(member):
    if isinstance(member, np.ndarray):
        words = [member.size, member.itemsize, member.ctypes.data, *member.shape, *member.strides]
        return numba.typeof(member), words
    if isinstance(member, _Table):
        return member._pack()[0], [member._address]
    if member is None:
        return types.none, []
    if isinstance(member, float):
        return types.float64, [int(np.float64(member).view(np.uint64))]
    if isinstance(member, int):
        return types.int64, [int(np.int64(member).view(np.uint64))]
    raise TypeError(f"a table cannot hold {type(member).__name__}")


@typeof_impl.register(_Table)
def _type_of_table(value, context):
    return value._pack()[0]


@register_model(TableType)
class _TableModel(models.OpaqueModel):
    """An address."""


@unbox(TableType)
def _unbox_table(kind, value, c):
    """The address. To ask for it runs Python, where Ctrl-C may be raised."""
    number = c.pyapi.object_getattr_string(value, "_address")
    failed = cgutils.is_null(c.builder, number)
    address = cgutils.alloca_once_value(c.builder, ir.Constant(c.pyapi.voidptr, None))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.pyapi.long_as_voidptr(number), address)
        c.pyapi.decref(number)
    return NativeValue(c.builder.load(address), is_error=failed)


@infer_getattr
class _TableAttribute(AttributeTemplate):
    key = TableType

    def generic_resolve(self, kind, attr):
        found = kind.place_of(attr)
        return found[0] if found else None


@lower_getattr_generic(TableType)
def _load_member(context, builder, kind, value, attr):
    """The words of a member; that they never change lets loops keep them."""
    member, place = kind.place_of(attr)
    if isinstance(member, types.NoneType):
        return context.get_dummy_value()
    block = builder.bitcast(value, _WORD.as_pointer())
    never_changes = builder.module.add_metadata([])

    def load(k, kind=_WORD):
        address = builder.gep(block, [ir.Constant(_WORD, place + k)], inbounds=True)
        loaded = builder.load(builder.bitcast(address, kind.as_pointer()))
        loaded.set_metadata("invariant.load", never_changes)
        return loaded

    if isinstance(member, types.Array):
        array = context.make_array(member)(context, builder)
        n = member.ndim
        array.nitems, array.itemsize, array.data = load(0), load(1), load(2, array.data.type)
        array.shape = _row(builder, [load(3 + k) for k in range(n)])
        array.strides = _row(builder, [load(3 + n + k) for k in range(n)])
        return impl_ret_borrowed(context, builder, member, array._getvalue())
    return load(0, context.get_value_type(member))


def _row(builder, words):
    row = ir.Constant(ir.ArrayType(_WORD, len(words)), None)
    for k, word in enumerate(words):
        row = builder.insert_value(row, word, k)
    return row
