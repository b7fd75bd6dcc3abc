"""The nearest rows by short numbers: most rows are excluded without an exact distance.

    x = a u,  q = b v,  |u| = |v| = 1        |x − q|²/2 = a²/2 − a b u·v + b²/2
    U = round(M u),  V = round(M v)          |U·V / M² − u·v| ≤ η        M = 32767: they fit 16 bits, and U·V fits 32

    row i is measured where  a²/2 − a (b/M² U·V + b η)  ≤  (D − b²)/2        D: the k-th least square so far

Sixteen rows are multiplied by six queries at a time. The pairs of numbers that one instruction multiplies and adds
stand together: panels are (rows / 16, columns / 2, 16, 2), groups of queries (queries / 6, columns / 2, 6, 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from bayeslearn.kernels._jit import inner, kernel, trailing_zeros
from bayeslearn.kernels.neighbors_brute_force import order, sink, square_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Rows of a panel, and queries of a group: as many sums as there are registers.
PANEL, GROUP = 16, 6

#: What a length of one becomes.
LARGEST = 32767.0

#: Two to the minus 22: how much a threshold grows, so that rounding never lowers it; and what is lost in underflow.
UP, TINY = 2.0**-22, 1e-36


@kernel
def shorten_rows(rows: Floats, lengths: Floats, into: Any) -> None:
    """Rows divided by their lengths, in 16 bits, as panels or groups; rows without a direction are unchanged."""
    wide = into.shape[2]
    for i in range(rows.shape[0]):
        if 0.0 < lengths[i] < np.inf:
            scale = LARGEST / lengths[i]
            for c in range(rows.shape[1]):
                into[i // wide, c // 2, i % wide, c % 2] = np.rint(rows[i, c] * scale)


@kernel
def sift_rows(
    packed: Any, asked: Any, points: Floats, queries: Floats, left: Rows, squares: Floats, rows: Rows
) -> None:
    """The nearest of `points` to each query, in order; −1 comes first where more than `left` rows had to be measured.

    `packed` are the panels, a and a²/2 of their rows; `asked` the groups, (b/M², b η, threshold) and b² of their
    queries, the factor that brings squares to the scale of all these, and how much larger they may be than computed.
    """
    panels, lengths, halves = packed
    groups, limits, norms, factor, wrong = asked
    size, n = panels.shape[1], points.shape[0]
    products, hits = np.empty(GROUP * PANEL, np.int32), np.empty(GROUP, np.uint16)
    squares[:], rows[:] = np.inf, n
    for p in range(panels.shape[0]):
        for g in range(groups.shape[0]):
            multiply(panels, p, groups, g, size, products)
            if not within(products, lengths, halves, p, limits, g, hits):
                continue
            for q in range(g * GROUP, min((g + 1) * GROUP, queries.shape[0])):
                some = np.uint64(hits[q - g * GROUP])
                if some and left[q] >= 0:
                    left[q] -= _measure(points, queries, q, p * PANEL, some, squares[q], rows[q])
                    bound = (squares[q, 0] * factor * (1 + wrong) - norms[q] * (1 - wrong)) / 2 + TINY
                    limits[q, 2] = bound + abs(bound) * UP if left[q] >= 0 else -np.inf
    for q in range(queries.shape[0]):
        order(squares[q], rows[q], rows.shape[1])
        if left[q] < 0:
            rows[q, 0] = -1


@inner
def _measure(points: Floats, queries: Floats, q: int, first: int, some: Any, far: Floats, at: Rows) -> int:
    """Measure some rows of a panel, and keep those that are near; how many there were."""
    count = 0
    while some:
        i = first + trailing_zeros(some)
        some &= some - np.uint64(1)
        if i < points.shape[0]:
            count += 1
            square = square_of(points, i, queries, q)
            if square < far[0] or (square == far[0] and i < at[0]):  # equal only where both are infinite
                sink(far, at, at.shape[0], square, i)
    return count


### sixteen rows by six queries

_SHORT, _INT, _LONG, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_PAIRS = ir.VectorType(_SHORT, 2 * PANEL)
_SUMS = ir.VectorType(_INT, PANEL)
_FLOATS = ir.VectorType(_FLOAT, PANEL)


def _data(context: Any, builder: Any, kind: Any, array: Any, item: Any) -> Any:
    return builder.bitcast(arrayobj.make_array(kind)(context, builder, array).data, item.as_pointer())


def _chosen(builder: Any, vector: Any, places: Any) -> Any:
    """The numbers of a vector that stand in some places."""
    which = ir.Constant(ir.VectorType(_INT, len(places)), list(places))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), which)


def _everywhere(builder: Any, value: Any) -> Any:
    one = ir.Constant(ir.VectorType(value.type, PANEL), ir.Undefined)
    return _chosen(builder, builder.insert_element(one, value, ir.Constant(_INT, 0)), [0] * PANEL)


def _products(context: Any, builder: Any, x: Any, q: Any) -> Any:
    """The sum of two products in each of sixteen places; where there is one instruction for it, by that."""
    if "+avx2" in context.codegen().magic_tuple()[2]:
        kind = ir.FunctionType(ir.VectorType(_INT, 8), [ir.VectorType(_SHORT, 16)] * 2)
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.pmadd.wd")
        low, high = (
            builder.call(multiply_add, [_chosen(builder, v, range(start, start + 16)) for v in (x, q)])
            for start in (0, 16)
        )
        return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(_INT, PANEL), list(range(PANEL))))
    even, odd = (
        builder.mul(*(builder.sext(_chosen(builder, v, range(start, 2 * PANEL, 2)), _SUMS) for v in (x, q)))
        for start in (0, 1)
    )
    return builder.add(even, odd)


@intrinsic
def _multiply(_: Any, panels: Any, p: Any, groups: Any, g: Any, size: Any, into: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def number(i: int) -> Any:
            return ir.Constant(_LONG, i)

        size = args[4]
        x = builder.gep(_data(context, builder, signature.args[0], args[0], _PAIRS), [builder.mul(args[1], size)])
        first = builder.mul(builder.mul(args[3], size), number(GROUP))
        q = builder.gep(_data(context, builder, signature.args[2], args[2], _INT), [first])
        sums = [cgutils.alloca_once(builder, _SUMS) for _ in range(GROUP)]
        for total in sums:
            builder.store(ir.Constant(_SUMS, [0] * PANEL), total)
        with cgutils.for_range(builder, size) as loop:
            pairs = builder.load(builder.gep(x, [loop.index]), align=2)
            for i, total in enumerate(sums):
                place = builder.add(builder.mul(loop.index, number(GROUP)), number(i))
                pair = builder.bitcast(_everywhere(builder, builder.load(builder.gep(q, [place]), align=2)), _PAIRS)
                builder.store(builder.add(builder.load(total), _products(context, builder, pairs, pair)), total)
        out = _data(context, builder, signature.args[5], args[5], _SUMS)
        for i, total in enumerate(sums):
            builder.store(builder.load(total), builder.gep(out, [number(i)]), align=4)
        return context.get_dummy_value()

    return types.void(panels, types.int64, groups, types.int64, types.int64, into), codegen


@intrinsic
def _within(_: Any, products: Any, lengths: Any, halves: Any, p: Any, limits: Any, g: Any, hits: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def loaded(which: int, item: Any, place: Any) -> Any:
            start = _data(context, builder, signature.args[which], args[which], item)
            return builder.load(builder.gep(start, [place]), align=4)

        def plus_times(a: Any, b: Any, c: Any, add: Any) -> Any:
            return add(a, builder.fmul(b, c, flags=("contract",)), flags=("contract",))

        a, half = loaded(1, _FLOATS, args[3]), loaded(2, _FLOATS, args[3])
        first = builder.mul(args[5], ir.Constant(_LONG, 3 * GROUP))
        found = ir.Constant(_SHORT, 0)
        for i in range(GROUP):
            unit, slack, worst = (
                _everywhere(builder, loaded(4, _FLOAT, builder.add(first, ir.Constant(_LONG, 3 * i + j))))
                for j in range(3)
            )
            cosines = builder.sitofp(loaded(0, _SUMS, ir.Constant(_LONG, i)), _FLOATS)
            score = plus_times(half, a, plus_times(slack, cosines, unit, builder.fadd), builder.fsub)
            near = builder.bitcast(builder.fcmp_unordered("<=", score, worst), _SHORT)  # what is no number is measured
            place = builder.gep(_data(context, builder, signature.args[6], args[6], _SHORT), [ir.Constant(_LONG, i)])
            builder.store(near, place)
            found = builder.or_(found, near)
        return builder.icmp_unsigned("!=", found, ir.Constant(_SHORT, 0))

    return types.boolean(products, lengths, halves, types.int64, limits, types.int64, hits), codegen


def plain_multiply(panels: Any, p: int, groups: Any, g: int, size: int, into: Any) -> None:
    """The same without compiling."""
    x, q = (a.astype(np.int32).transpose(1, 0, 2).reshape(-1, 2 * size) for a in (panels[p], groups[g]))
    into[:] = (q @ x.T).ravel()


def plain_within(products: Any, lengths: Any, halves: Any, p: int, limits: Any, g: int, hits: Any) -> bool:
    """The same without compiling."""
    some, (unit, slack, worst) = slice(p * PANEL, (p + 1) * PANEL), limits[g * GROUP : (g + 1) * GROUP].T[:, :, None]
    cosines = products.reshape(GROUP, PANEL).astype(np.float32)
    score = halves[some] - lengths[some] * (slack + cosines * unit)
    hits[:] = ~(score > worst) @ (1 << np.arange(PANEL))
    return bool(hits.any())


#: Write the products U·V of panel p and group g.
multiply: Any = plain_multiply if numba.config.DISABLE_JIT else _multiply

#: Write a bit for each row of panel p that may be within reach of the queries of group g; whether there are any.
within: Any = plain_within if numba.config.DISABLE_JIT else _within
