"""Classes of known VC dimension, with points that they shatter.

    thresholds 1        intervals 2         k intervals 2k       rectangles in r dimensions 2r
    half-spaces r + 1   balls r + 1         parities n           conjunctions n (n ≥ 2), monotone ones n
    every function 2^n  sines: infinite, with one parameter

`labelings` returns all labelings of some points as a :class:`ConceptClass`, which computes the dimension on them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.learning_theory.concept_class import ConceptClass
from bayeslearn.learning_theory.hypothesis_counts import whole
from bayeslearn.reports import Report, Reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Points = NDArray[np.float64]
    Labelings = set[tuple[bool, ...]]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The most points whose labelings are enumerated.
MAX_POINTS = 14


@dataclass(frozen=True, repr=False)
class StandardClass(Reported):
    """A class of known VC dimension; :func:`standard_class` makes one."""

    name: str
    dimension: float
    #: Shattered points, as many as the dimension.
    witness: Points
    find: Callable[[Points], Labelings]

    def labelings(self, points: ArrayLike) -> ConceptClass:
        """The class on some points, a row each (or a number each, on the line)."""
        rows = validation.float_array("points", points)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != self.witness.shape[1] or not len(rows):
            raise ParameterError(
                f"{self.name} need points of {self.witness.shape[1]} coordinates, got an array of shape {rows.shape}"
            )
        if len(rows) > MAX_POINTS:
            raise CapacityError(f"the labelings of at most {MAX_POINTS} points can be listed, got {len(rows)}")
        found = sorted(self.find(rows))
        names = ["".join("1" if y else "0" for y in labels) for labels in found]
        return ConceptClass.from_matrix(np.array(found, dtype=bool), hypotheses=names)

    def report(self) -> Report:
        """Return the dimension and the shattered points."""
        size = "infinite" if math.isinf(self.dimension) else f"{self.dimension:g}"
        points = ", ".join("(" + ", ".join(f"{x:g}" for x in row) + ")" for row in self.witness)
        return Report(f"{self.name}: VC dimension {size}; {points} are shattered")

    def to_dict(self) -> dict[str, Any]:
        """Return name, dimension (None if infinite) and shattered points as plain values."""
        dimension = None if math.isinf(self.dimension) else self.dimension
        return {"name": self.name, "vc_dimension": dimension, "shattered": self.witness.tolist()}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the shattered points (:func:`bayeslearn.plots.plot_shattered_points`)."""
        return plots.plot_shattered_points(self, ax=ax)


def standard_class(name: str, n: int | None = None) -> StandardClass:
    """Return a class of known dimension.

    Parameters
    ----------
    name
        thresholds, intervals, rectangles, half-spaces, balls, conjunctions, monotone conjunctions, parities, everything
        or sines.
    n
        The number of coordinates, variables or intervals (points, for sines): 1 for intervals, else 2 by default.

    Examples
    --------
    >>> print(standard_class("half-spaces", 2))
    half-spaces in 2 dimensions: VC dimension 3; (0, 0), (1, 0), (0, 1) are shattered
    >>> standard_class("half-spaces", 2).labelings([[0, 0], [1, 0], [0, 1], [1, 1]]).vc_dimension
    3
    """
    name = validation.choice("name", name, STANDARD)
    return STANDARD[name](whole("n", (1 if name == "intervals" else 2) if n is None else n, least=1))


### on the line


def _thresholds(_: int) -> StandardClass:
    return StandardClass("thresholds", 1, np.zeros((1, 1)), lambda x: _runs(x, 1, open_end=True))


def _intervals(n: int) -> StandardClass:
    name = "intervals" if n == 1 else f"unions of {n} intervals"
    return StandardClass(name, 2 * n, np.arange(2.0 * n)[:, None], lambda x: _runs(x, n))


def _runs(points: Points, most: int, *, open_end: bool = False) -> Labelings:
    """Labels along the line with at most `most` runs of ones; with an open end, ones only at the end."""
    values, place = np.unique(points[:, 0], return_inverse=True)
    found = set()
    for labels in itertools.product((False, True), repeat=len(values)):
        runs = sum(y and not before for before, y in itertools.pairwise((False, *labels)))
        if runs <= most and not (open_end and any(labels) and not labels[-1]):
            found.add(tuple(labels[i] for i in place.ravel()))
    return found


def _sines(n: int) -> StandardClass:
    """sin(ax) > 0 on 2^-1, …, 2^-n: with a = π(1 + Σ 2^i over the points to be left out) any labeling comes about."""
    points = np.ldexp(np.ones((n, 1)), -np.arange(1, n + 1)[:, None])
    return StandardClass("sines", math.inf, points, _by_frequency)


def _by_frequency(points: Points) -> Labelings:
    powers = -np.log2(points[:, 0])
    if not np.array_equal(powers, powers.round()) or powers.min(initial=1) < 1:
        raise ParameterError("sines are followed on points 1/2, 1/4, 1/8, … only")
    found = set()
    for out in itertools.product((False, True), repeat=len(points)):
        a = math.pi * (1 + sum(2 ** int(p) for p, left in zip(powers, out, strict=True) if left))
        found.add(tuple((np.sin(a * points[:, 0]) > 0).tolist()))
    return found


### in space


def _rectangles(r: int) -> StandardClass:
    ends = np.concatenate([np.eye(r), -np.eye(r)])
    return StandardClass(f"rectangles in {r} dimensions", 2 * r, ends, _boxes)


def _boxes(points: Points) -> Labelings:
    """A labeling is a box's if the least box around its ones holds nothing else."""
    found = {(False,) * len(points)}
    for size in range(1, 2 * points.shape[1] + 1):  # a side needs one point
        for corner in itertools.combinations(range(len(points)), min(size, len(points))):
            low, high = points[list(corner)].min(axis=0), points[list(corner)].max(axis=0)
            found.add(tuple(((points >= low) & (points <= high)).all(axis=1).tolist()))
    return found


def _half_spaces(r: int) -> StandardClass:
    simplex = np.concatenate([np.zeros((1, r)), np.eye(r)])
    return StandardClass(f"half-spaces in {r} dimensions", r + 1, simplex, _separable)


def _balls(r: int) -> StandardClass:
    simplex = np.concatenate([np.zeros((1, r)), np.eye(r)])
    return StandardClass(f"balls in {r} dimensions", r + 1, simplex, lambda x: _separable(_lifted(x), ball=True))


def _lifted(points: Points) -> Points:
    """A ball is a half-space over (x, |x|²) that looks down."""
    return np.hstack([points, (points**2).sum(axis=1, keepdims=True)])


def _separable(points: Points, *, ball: bool = False) -> Labelings:
    """Labelings that a hyperplane makes, point by point: one that the first k do not allow is not followed."""
    from scipy.optimize import linprog  # noqa: PLC0415 - loaded when half-spaces are looked at

    rows = np.hstack([points, np.ones((len(points), 1))])
    free: list[tuple[float | None, float | None]] = [(None, None)] * rows.shape[1]
    if ball:
        free[-2] = (None, 0.0)
    found: list[tuple[bool, ...]] = [()]
    for k in range(1, len(rows) + 1):
        longer = [(*labels, y) for labels in found for y in (False, True)]
        signs = [np.where(labels, -1.0, 1.0)[:, None] for labels in longer]
        # w·x ≥ 1 for ones and ≤ −1 for zeros
        fits = [linprog(np.zeros(rows.shape[1]), s * rows[:k], -np.ones(k), bounds=free).status == 0 for s in signs]
        found = [labels for labels, fit in zip(longer, fits, strict=True) if fit]
    return set(found)


### over Boolean variables


def _conjunctions(n: int) -> StandardClass:
    one_out = 1.0 - np.eye(n) if n > 1 else np.array([[0.0], [1.0]])
    return StandardClass(f"conjunctions of {n} literals", 2 if n == 1 else n, one_out, _literals)


def _literals(points: Points) -> Labelings:
    return {(False,) * len(points)} | _products(np.hstack([_bits(points), ~_bits(points)]))


def _monotone(n: int) -> StandardClass:
    return StandardClass(f"monotone conjunctions of {n} variables", n, 1.0 - np.eye(n), lambda x: _products(_bits(x)))


def _products(columns: NDArray[np.bool_]) -> Labelings:
    """The labels of the conjunctions of some columns, one column at a time."""
    found = {(True,) * len(columns)}
    for column in columns.T.tolist():
        found |= {tuple(a and b for a, b in zip(labels, column, strict=True)) for labels in found}
    return found


def _parities(n: int) -> StandardClass:
    return StandardClass(f"parities of {n} variables", n, np.eye(n), _sums)


def _sums(points: Points) -> Labelings:
    found = {(False,) * len(points)}
    for column in _bits(points).T.tolist():
        found |= {tuple(a != b for a, b in zip(labels, column, strict=True)) for labels in found}
    return found


def _everything(n: int) -> StandardClass:
    if 2**n > MAX_POINTS:
        raise CapacityError(f"all functions of {n} variables shatter 2^{n} points: too many to list")
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    return StandardClass(f"every function of {n} variables", 2**n, corners, _anything)


def _anything(points: Points) -> Labelings:
    place = np.unique(_bits(points), axis=0, return_inverse=True)[1].ravel()
    kinds = int(place.max(initial=-1)) + 1
    return {tuple(labels[i] for i in place) for labels in itertools.product((False, True), repeat=kinds)}


def _bits(points: Points) -> NDArray[np.bool_]:
    if not np.isin(points, (0, 1)).all():
        raise ParameterError(f"Boolean variables are 0 or 1, got {points[~np.isin(points, (0, 1))][0]:g}")
    return points == 1


#: How to make each of them, by name.
STANDARD: dict[str, Callable[[int], Any]] = {
    "thresholds": _thresholds,
    "intervals": _intervals,
    "rectangles": _rectangles,
    "half-spaces": _half_spaces,
    "balls": _balls,
    "conjunctions": _conjunctions,
    "monotone conjunctions": _monotone,
    "parities": _parities,
    "everything": _everything,
    "sines": _sines,
}
