"""Eight numbers at a time: vectors of the processor as values in kernels.

Numba leaves vectors to the compiler, which takes none where arrays may overlap or where a loop has
but eight turns. Here they are written out. `Lanes` are eight floats, `Mask` eight truth values.
+ - * / and comparisons with < <= > >= take two Lanes and give all digits that floats would, each
lane by itself, whatever the width of the vectors of the machine. Without compilation they are NumPy
arrays.
"""

import operator

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

WIDTH = 8
_FLOATS, _BITS = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
_INTS = ir.VectorType(ir.IntType(32), WIDTH)


class LanesType(types.Type):
    """Eight floats."""

    def __init__(self):
        super().__init__(name="Lanes")


class MaskType(types.Type):
    """Eight truth values."""

    def __init__(self):
        super().__init__(name="Mask")


LANES, MASK = LanesType(), MaskType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _BITS)


def _define(operation, kind, result, build):
    """Let `operation` of two values of `kind` give a `result`, by the instruction `build` makes."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and all(isinstance(arg, type(kind)) for arg in args):
                return signature(result, kind, kind)
            return None

    infer_global(operation)(Template)

    def lower(context, builder, sig, args):
        return build(builder, *args)

    lower_builtin(operation, type(kind), type(kind))(lower)


_define(operator.add, LANES, LANES, lambda builder, x, y: builder.fadd(x, y))
_define(operator.sub, LANES, LANES, lambda builder, x, y: builder.fsub(x, y))
_define(operator.mul, LANES, LANES, lambda builder, x, y: builder.fmul(x, y))
_define(operator.truediv, LANES, LANES, lambda builder, x, y: builder.fdiv(x, y))
_define(operator.lt, LANES, MASK, lambda builder, x, y: builder.fcmp_ordered("<", x, y))
_define(operator.le, LANES, MASK, lambda builder, x, y: builder.fcmp_ordered("<=", x, y))
_define(operator.gt, LANES, MASK, lambda builder, x, y: builder.fcmp_ordered(">", x, y))
_define(operator.ge, LANES, MASK, lambda builder, x, y: builder.fcmp_ordered(">=", x, y))
_define(operator.and_, MASK, MASK, lambda builder, x, y: builder.and_(x, y))
_define(operator.or_, MASK, MASK, lambda builder, x, y: builder.or_(x, y))


def _data(context, builder, kind, array):
    return context.make_array(kind)(context, builder, array).data


def _vector_at(builder, pointer, at):
    place = builder.gep(pointer, [at])
    return builder.bitcast(place, ir.PointerType(_FLOATS))


def _call(builder, name, args):
    kind = ir.FunctionType(_FLOATS, [_FLOATS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _constant(numbers):
    return ir.Constant(_INTS, numbers)


@intrinsic
def _load(context, array, at):
    def build(context, builder, sig, args):
        pointer = _data(context, builder, sig.args[0], args[0])
        return builder.load(_vector_at(builder, pointer, args[1]), align=8)

    return LANES(array, types.int64), build


@intrinsic
def _store(context, array, at, v):
    def build(context, builder, sig, args):
        pointer = _data(context, builder, sig.args[0], args[0])
        builder.store(args[2], _vector_at(builder, pointer, args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, LANES), build


@intrinsic
def _splat(context, x):
    def build(context, builder, sig, args):
        v = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), args[0], cgutils.int32_t(0))
        return builder.shuffle_vector(v, v, _constant([0] * WIDTH))

    return LANES(types.float64), build


@intrinsic
def _select(context, mask, x, y):
    def build(context, builder, sig, args):
        return builder.select(*args)

    return LANES(MASK, LANES, LANES), build


@intrinsic
def _unless(context, mask):
    def build(context, builder, sig, args):
        return builder.not_(args[0])

    return MASK(MASK), build


@intrinsic
def _root(context, v):
    def build(context, builder, sig, args):
        return _call(builder, "llvm.sqrt.v8f64", args)

    return LANES(LANES), build


@intrinsic
def _size(context, v):
    def build(context, builder, sig, args):
        return _call(builder, "llvm.fabs.v8f64", args)

    return LANES(LANES), build


@intrinsic
def _some(context, mask):
    def build(context, builder, sig, args):
        bits = builder.bitcast(args[0], ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(MASK), build


def _transpose(builder, rows):
    """Eight vectors of eight: rows to columns, in three rounds of exchanges."""
    step = 1
    while step < WIDTH:
        low = [i + (WIDTH - step if i & step else 0) for i in range(WIDTH)]
        high = [i + (WIDTH if i & step else step) for i in range(WIDTH)]
        columns = list(rows)
        for i in range(WIDTH):
            if not i & step:
                pair = rows[i], rows[i + step]
                columns[i] = builder.shuffle_vector(*pair, _constant(low))
                columns[i + step] = builder.shuffle_vector(*pair, _constant(high))
        rows, step = columns, 2 * step
    return rows


def _row_places(context, builder, sig, args):
    """Pointers to the rows of a table of eight columns whose numbers `index` holds from `at` on."""
    table = _data(context, builder, sig.args[0], args[0])
    index, wide = _data(context, builder, sig.args[1], args[1]), ir.IntType(64)
    for lane in range(WIDTH):
        place = builder.add(args[2], ir.Constant(wide, lane))
        number = builder.load(builder.gep(index, [place]))
        start = builder.mul(builder.sext(number, wide), ir.Constant(wide, WIDTH))
        yield number, _vector_at(builder, table, start)


@intrinsic
def _gather(context, table, index, at):
    result = types.UniTuple(LANES, WIDTH)

    def build(context, builder, sig, args):
        rows = [builder.load(p, align=8) for _, p in _row_places(context, builder, sig, args)]
        return context.make_tuple(builder, result, _transpose(builder, rows))

    return result(table, index, types.int64), build


@intrinsic
def _scatter(context, table, index, at, last, columns):
    def build(context, builder, sig, args):
        rows = _transpose(builder, cgutils.unpack_tuple(builder, args[4], WIDTH))
        for row, (number, place) in zip(
            rows, _row_places(context, builder, sig, args), strict=True
        ):
            known = builder.icmp_signed("<", builder.sext(number, ir.IntType(64)), args[3])
            with builder.if_then(known, likely=True):
                builder.store(row, place, align=8)
        return context.get_dummy_value()

    numbers = types.UniTuple(LANES, WIDTH)
    return types.void(table, index, types.int64, types.int64, numbers), build


def _as_numpy():
    """The same for kernels that are not compiled."""

    def take(array, at):
        return array.reshape(-1)[at : at + WIDTH].copy()

    def put(array, at, v):
        array.reshape(-1)[at : at + WIDTH] = v

    def gather(table, index, at):
        return tuple(table[index[at : at + WIDTH]].T.copy())

    def scatter(table, index, at, last, columns):
        for lane, row in enumerate(np.stack(columns, axis=1)):
            if index[at + lane] < last:
                table[index[at + lane]] = row

    return (
        take, put, lambda x: np.full(WIDTH, float(x)), np.where, np.logical_not, np.sqrt, np.abs,
        np.any, gather, scatter,
    )  # fmt: skip


_compiled = (
    _load, _store, _splat, _select, _unless, _root, _size, _some, _gather, _scatter,
)  # fmt: skip
# load(array, at): eight numbers of a vector from `at` on; store(array, at, v); splat(x): x in all
# lanes; select(mask, x, y); unless(mask): its opposite; root(v); size(v): |v|; some(mask): is any
# lane true; gather(table, index, at): the columns of those eight rows of a table of eight columns
# whose numbers stand in `index` from `at` on; scatter(table, index, at, last, columns): write them
# back, but for numbers of `last` and more.
load, store, splat, select, unless, root, size, some, gather, scatter = (
    _as_numpy() if numba.config.DISABLE_JIT else _compiled
)
