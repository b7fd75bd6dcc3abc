"""Statistics: what a learner remembers of its data, as values that add.

    collect(a and b) = collect(a) + collect(b)        zero + a = a        (a + b) − b = a        2·a = a + a

Every statistic is a frozen bundle of arrays. Most are amounts that add entry by entry; moments merge by the stable
pairwise formula (:mod:`bayeslearn.distributions.moments`). Leading axes stand for rows of parameters: a
whole CPT is one statistic.

Learners differ in which share of each case goes to which row of parameters, and in nothing else: all to one row (a
single distribution), one row named by a group (a class label, a parent configuration), or a share for each row
(responsibilities, expected counts).

    weights (n,)               one row of parameters,   result shape ()
    weights (n,), groups (n,)  row groups[i],            result shape (k,)
    weights (n, k)             a share for each row,     result shape (k,)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnError, EvidenceError, ParameterError, ShapeError, WeightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray


#: The number of states or the shape of a table of parameters; None where it is not known yet.
Shape = int | tuple[int, ...] | None


@dataclass(frozen=True)
class Assignment:
    """Checked weights; see the module for the three forms. Build with :func:`assign`."""

    sample_weight: NDArray[np.float64]
    groups: NDArray[np.integer[Any]] | None = None
    n_groups: int | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The shape of the rows of parameters, () or (k,)."""
        if self.groups is not None:
            assert self.n_groups is not None
            return (self.n_groups,)
        return self.sample_weight.shape[1:]

    def only(self, present: NDArray[np.bool_]) -> Assignment:
        """The same, with no weight on the cases that are not `present`."""
        mask = present if self.sample_weight.ndim == 1 else present[:, None]
        return Assignment(np.where(mask, self.sample_weight, 0.0), self.groups, self.n_groups)

    def sum(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Σ_i w_i values_i for every row of parameters; trailing axes of `values` are kept."""
        w = self.sample_weight
        if values is None:
            return self._bincount(w) if self.groups is not None else np.asarray(w.sum(axis=0))
        if self.groups is None:
            return np.asarray(np.tensordot(w, values, axes=(0, 0)))
        flat = values.reshape(len(values), math.prod(values.shape[1:]))
        sums = np.stack([self._bincount(w * column) for column in flat.T], axis=-1)
        return sums.reshape(*self.rows, *values.shape[1:])

    def each(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The entry of `rows` of each row of the data: that of its group, or all of them; without a group 0."""
        if self.groups is None:
            return rows
        nobody = np.zeros((1, *rows.shape[1:]))
        return np.concatenate([rows, nobody])[self.groups]  # a group of −1 picks the last, which is nobody's

    def total(self, faced: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ_i w_i v_i for every row of parameters, where v (n,) or (n, k) differs by the row that a case faces."""
        if self.sample_weight.ndim == 1:
            return self.sum(faced)
        return np.einsum("ik,ik->k", self.sample_weight, faced)

    def parts(self) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.intp] | slice]]:
        """One row of parameters at a time: its index, the weights of its cases, and which cases they are."""
        if self.groups is not None:
            order = np.argsort(self.groups, kind="stable")
            edges = np.searchsorted(self.groups[order], np.arange(self.rows[0] + 1))
            for k in range(self.rows[0]):
                cases = order[edges[k] : edges[k + 1]]
                yield (k,), self.sample_weight[cases], cases
        elif self.sample_weight.ndim == 1:
            yield (), self.sample_weight, slice(None)
        else:
            for k in range(self.rows[0]):
                yield (k,), self.sample_weight[:, k], slice(None)

    def _bincount(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        assert self.groups is not None
        seen = self.groups >= 0
        sums = np.bincount(self.groups[seen], w[seen], minlength=self.rows[0])
        return sums.astype(np.float64)  # bincount counts in integers when nothing is left


def assign(
    n: int,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_groups: int | None = None,
) -> Assignment:
    """Check weights and groups for `n` cases; a group of −1 is a case that belongs nowhere."""
    if n_groups is not None:
        validation.integer("n_groups", n_groups, min_value=0)
    if sample_weight is not None and np.ndim(sample_weight) == 2:
        if groups is not None:
            raise ParameterError("give either `groups` or weights with a column per row of parameters, not both")
        return Assignment(_shares(sample_weight, n, n_groups))
    w = validation.weights(sample_weight, n)
    if groups is not None:
        return Assignment(w, *_named(groups, n, n_groups))
    if n_groups is not None:
        raise ParameterError(f"`n_groups` is {n_groups}, but no `groups` are given")
    return Assignment(w)


def _shares(sample_weight: ArrayLike, n: int, k: int | None) -> NDArray[np.float64]:
    w = validation.float_array("sample_weight", sample_weight)
    if len(w) != n or k not in {None, w.shape[1]}:
        raise ShapeError(f"expected sample_weight of shape ({n}, {'k' if k is None else k}), got {w.shape}")
    return validation.not_negative("sample_weight", w, error=WeightError)


def _named(groups: ArrayLike, n: int, k: int | None) -> tuple[NDArray[np.intp], int]:
    g = np.asarray(groups)
    if g.shape != (n,) or (n and not np.issubdtype(g.dtype, np.integer)):
        raise ShapeError(f"expected groups of shape ({n},) and whole numbers, got {g.shape} of {g.dtype}")
    g = g.astype(np.intp)
    k = int(g.max(initial=-1)) + 1 if k is None else k
    if n and not (-1 <= g.min() and g.max() < k):
        raise ParameterError(f"`groups` must lie within -1..{k - 1}, got {g.min()}..{g.max()}")
    return g, k


def paired(
    x: NDArray[np.float64], groups: ArrayLike | None, *parameters: NDArray[np.float64], event: int = 0
) -> tuple[NDArray[np.float64], ...]:
    """Cases and parameters ready to broadcast: every case against every row, or against the row its group names.

    The last `event` axes belong to one case. A case whose group is −1 becomes missing (NaN).
    """
    rows = parameters[0].ndim - event
    if groups is None:
        return (x.reshape(len(x), *[1] * rows, *x.shape[1:]), *parameters)
    if rows != 1:
        raise ShapeError(f"`groups` name one row of parameters each, but the rows have {rows} axes")
    to = assign(len(x), groups=groups, n_groups=len(parameters[0]))
    assert to.groups is not None
    nowhere = (to.groups < 0).reshape(-1, *[1] * (x.ndim - 1))
    return (np.where(nowhere, np.nan, x), *(to.each(p) for p in parameters))


#: Rounding that a subtraction may leave behind, relative to what was there before.
ROUNDING = 1e-9

#: Less weight than this is nothing: a row that rests on it is undetermined.
NOTHING = 1e-10

#: Numbers of a prior that is kept in a shape.
SMALL = 1 << 14


def frozen(values: ArrayLike) -> NDArray[np.float64]:
    """A read-only float array without other owners."""
    return validation.owned(values, np.float64, order="K")


@dataclass(frozen=True, eq=False)
class Statistics:
    """A frozen dataclass of arrays with ``+ - *``; subclasses only name their fields."""

    __array_ufunc__: ClassVar[None] = None  # NumPy numbers leave 2·a to __rmul__

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, frozen(getattr(self, field.name)))

    def arrays(self) -> list[NDArray[np.float64]]:
        """The arrays, in the order of their fields."""
        return [getattr(self, field.name) for field in fields(self)]

    def combined(self, other: Self, operation: Callable[..., Any]) -> Self:
        """A new statistic, entry by entry."""
        pairs = zip(self.arrays(), other.arrays(), strict=True)
        return type(self)(*(validation.lock(operation(a, b)) for a, b in pairs))

    def __add__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return self.combined(other, np.add)

    def __radd__(self, other: int) -> Self:
        # sum() starts from the number 0, the identity of every statistic
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return self.combined(other, remaining)

    def __mul__(self, factor: float) -> Self:
        factor = fading(factor)
        return type(self)(*(validation.lock(factor * a) for a in self.arrays()))

    def __rmul__(self, factor: float) -> Self:
        return self * factor

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.isclose(other, rtol=0, atol=0)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Self, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """Whether both hold the same numbers up to rounding."""
        return all(
            a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol)
            for a, b in zip(self.arrays(), other.arrays(), strict=True)
        )

    def require_same_kind(self, other: object) -> None:
        """Only statistics of one kind and shape add."""
        if type(self) is not type(other):
            raise ParameterError(f"cannot add {type(other).__name__} to {type(self).__name__}")
        mine, theirs = ([a.shape for a in s.arrays()] for s in (self, other))
        if mine != theirs:
            raise ShapeError(f"cannot add statistics of shapes {mine} and {theirs}")


def fading(factor: float) -> float:
    """A factor to scale evidence with: finite and not negative."""
    if not (math.isfinite(factor) and factor >= 0):
        raise EvidenceError(f"evidence can be scaled by a factor that is finite and not negative, got {factor}")
    return float(factor)


def remaining(before: NDArray[np.float64], taken: NDArray[np.float64]) -> NDArray[np.float64]:
    """``before − taken`` for amounts that cannot fall below zero; rounding is cleared, a real deficit is an error."""
    left = before - taken
    slack = ROUNDING * np.maximum(before, taken)
    if (left < -slack).any():
        worst = float(left.min())
        raise EvidenceError(
            f"more evidence removed than had been added: {worst:g} would be left",
            hint="remove only rows that were added, with the same weights",
            left=worst,
        )
    return np.where(left <= slack, 0.0, left)


### helpers that every family uses


def ratio(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """``a / b``, and 0 where b is 0: the share of nothing is nothing."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(over="ignore"):  # a share of next to nothing may be infinite; sums are looked at where they end
        return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0)


def require(
    holds: NDArray[np.bool_] | np.bool_,
    message: str,
    *,
    hint: str,
    error: type[BayeslearnError] = EvidenceError,
) -> None:
    """Raise `error` unless the condition holds in every row; the first row that breaks it is named."""
    holds = np.asarray(holds)
    if not holds.all():
        row = validation.first_position(~holds) if holds.ndim else None
        raise error(message if row is None else f"{message} (row {row})", hint=hint, row=row)


def fitted(
    array: NDArray[np.float64], shape: tuple[int, ...], *, event: int = 0, shares: bool = False
) -> NDArray[np.float64]:
    """A part of a prior, repeated for every row of `shape`; its last `event` axes are one parameter and must agree.

    If it `shares`, an axis that `shape` has once is taken once when all along it are alike.
    """
    wanted = shape[len(shape) - array.ndim :] if shares and array.ndim <= len(shape) else ()
    for axis, length in enumerate(wanted):
        if length == 1 < array.shape[axis] and (array == array.take([0], axis)).all():
            array = array.take([0], axis)
    if array.shape[max(array.ndim - event, 0) :] == shape[len(shape) - event :]:
        with suppress(ValueError):
            return np.broadcast_to(array, shape)
    raise ShapeError(f"a prior of shape {array.shape} does not fit parameters of shape {shape}")


def kept(of: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the last small prior that `of` made: every iteration of EM asks for the same shape."""

    @functools.wraps(of)
    def shaped(self: Any, *shape: Any, **shared: Any) -> Any:
        asked = (shape, shared)
        known = last.get(self)
        if known is None or known[0] != asked:
            known = asked, of(self, *shape, **shared)
            if math.prod(shape[0] if shape else ()) <= SMALL:
                last[self] = known
        return known[1]

    last: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()
    return shaped


def common_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of these broadcast to; the error names them."""
    if len(alike := set(shapes.values())) == 1:
        return alike.pop()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"the parts of the prior do not fit each other: {listed}") from None


def shown(array: NDArray[np.float64]) -> str:
    """Numbers as a reader would write them: 2, 0.25, [1, 1, 2]."""
    text = np.array2string(array, separator=", ", threshold=20, formatter={"float_kind": lambda v: f"{v:.6g}"})
    return text.replace("\n", "")


### many statistics as one


class StatisticsBundle(Mapping[Any, Any]):
    """Named statistics that add entry by entry: what a model of many parts remembers.

    >>> from bayeslearn.distributions import Counts
    >>> day = StatisticsBundle(wind=Counts([2, 1]), rain=Counts([0, 3]))
    >>> (day + day)["wind"]
    Counts(n=array([4., 2.]))
    """

    def __init__(self, parts: Mapping[Any, Any] | None = None, /, **named: Any) -> None:
        self._parts = {**(parts or {}), **named}

    def __getitem__(self, key: Any) -> Any:
        return self._parts[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"StatisticsBundle({self._parts!r})"

    __array_ufunc__: ClassVar[None] = None

    def isclose(self, other: StatisticsBundle, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """Whether both hold the same numbers up to rounding."""
        return self.keys() == other.keys() and all(
            part.isclose(other[key], rtol=rtol, atol=atol) for key, part in self.items()
        )

    def _zipped(self, other: StatisticsBundle, operation: Callable[[Any, Any], Any]) -> StatisticsBundle:
        if not isinstance(other, StatisticsBundle):
            raise ParameterError(f"cannot add {type(other).__name__} to Bundle")
        if self.keys() != other.keys():
            odd = sorted(map(str, self.keys() ^ other.keys()))
            raise ParameterError(f"cannot add bundles of different parts: {', '.join(odd)} in one of them only")
        return StatisticsBundle({key: operation(part, other[key]) for key, part in self.items()})

    def __add__(self, other: StatisticsBundle) -> StatisticsBundle:
        return self._zipped(other, lambda a, b: a + b)

    def __radd__(self, other: int) -> StatisticsBundle:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: StatisticsBundle) -> StatisticsBundle:
        return self._zipped(other, lambda a, b: a - b)

    def __mul__(self, factor: float) -> StatisticsBundle:
        return StatisticsBundle({key: part * factor for key, part in self.items()})

    __rmul__ = __mul__
