"""Eight numbers that move together: one instruction works on all of them.

A row of an array (n, LANES) is read, computed and written as one vector. The compiler does not find this alone: it
cannot know that the arrays of a loop do not overlap. Without compiling, a vector is a small NumPy array.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np import arrayobj

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers in a vector: two registers of four doubles, or one of eight.
LANES = 8

#: Below this e^x is taken for zero.
LEAST_LOG = -700.0

#: ln 2 in two parts: k times the first is exact for every k of 11 bits, and the second is what it lacks.
LN_2, LN_2_REST = 0.6931471805598903, 5.497923018708371e-14

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Where row i of an array begins."""
    data = arrayobj.make_array(kind)(context, builder, array).data
    first = builder.gep(data, [builder.mul(i, ir.Constant(i.type, LANES))])
    return builder.bitcast(first, _VECTOR.as_pointer())


@intrinsic
def _row(_: Any, array: Any, i: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *args), align=8)

    return _LANES(array, types.int64), codegen


@intrinsic
def _put(_: Any, array: Any, i: Any, value: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, signature.args[0], *args[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _LANES), codegen


@intrinsic
def _times(_: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return _LANES(_LANES, _LANES), codegen


@intrinsic
def _plus(_: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return _LANES(_LANES, _LANES), codegen


@intrinsic
def _over(_: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fdiv(*args)

    return _LANES(_LANES, _LANES), codegen


@intrinsic
def _larger(_: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return _LANES(_LANES, _LANES), codegen


@intrinsic
def _all(_: Any, x: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        zero = ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], zero)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), everywhere)

    return _LANES(types.float64), codegen


def _fenced(builder: Any, x: Any) -> Any:
    """The value unchanged: fast mathematics would join the two parts of ln 2, and lose its digits."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    fence = cgutils.get_or_insert_function(builder.module, kind, f"llvm.arithmetic.fence.v{LANES}f64")
    return builder.call(fence, [x])


@intrinsic
def _exponential(_: Any, x: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def everywhere(value: float) -> Any:
        return ir.Constant(_VECTOR, [value] * LANES)

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        far = builder.fcmp_ordered("<", args[0], everywhere(LEAST_LOG))
        near = builder.select(far, everywhere(0.0), args[0])
        halves = builder.fadd(builder.fmul(near, everywhere(1 / math.log(2))), everywhere(-0.5))
        nearest = builder.fptosi(halves, ir.VectorType(ir.IntType(32), LANES))  # cut towards zero, so rounded
        k = builder.sitofp(nearest, _VECTOR)
        r = builder.fsub(near, builder.fmul(k, everywhere(LN_2)))
        r = builder.fsub(_fenced(builder, r), builder.fmul(k, everywhere(LN_2_REST)))
        series = everywhere(1 / math.factorial(12))
        for power in range(11, -1, -1):
            series = builder.fadd(builder.fmul(series, r), everywhere(1 / math.factorial(power)))
        words = ir.VectorType(ir.IntType(64), LANES)
        exponent = builder.add(builder.sext(nearest, words), ir.Constant(words, [1023] * LANES))
        two_to_k = builder.bitcast(builder.shl(exponent, ir.Constant(words, [52] * LANES)), _VECTOR)
        return builder.select(far, everywhere(0.0), builder.fmul(series, two_to_k))

    return _LANES(_LANES), codegen


def _plain_exponential(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x < LEAST_LOG, 0.0, np.exp(np.maximum(x, LEAST_LOG)))


def _plain_row(array: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    return array[i].copy()


def _plain_put(array: NDArray[np.float64], i: int, value: NDArray[np.float64]) -> None:
    array[i] = value


def _plain_all(x: float) -> NDArray[np.float64]:
    return np.full(LANES, x)


_plain = numba.config.DISABLE_JIT

#: Row i of an array, as a vector.
row: Any = _plain_row if _plain else _row

#: Write a vector into row i of an array.
put: Any = _plain_put if _plain else _put

times: Any = np.multiply if _plain else _times

plus: Any = np.add if _plain else _plus

over: Any = np.divide if _plain else _over

#: The larger of each two numbers.
larger: Any = np.maximum if _plain else _larger

#: e^x for x ≤ 0: 2ᵏ eʳ with |r| ≤ ½ ln 2, and eʳ by its series; 0 where x is below LEAST_LOG.
exponential: Any = _plain_exponential if _plain else _exponential

#: The vector whose numbers are all x.
all_lanes: Any = _plain_all if _plain else _all
