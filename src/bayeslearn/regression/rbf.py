"""Radial units: functions of the distance to each of n centers.

    K_u(x) = exp(−|x − x_u|² / 2σ_u²)        f(x) = w₀ + Σ_u w_u K_u(x)

Points are standardized, so that the unit of a width is a standard deviation. Centers are

    all         all distinct training rows
    random      some of them, drawn at random
    farthest    some of them, each the farthest from those before it
    evidence    some of them, each the one that explains most of the residuals (orthogonal least squares)
    k-means     the means of k clusters
    em          the means of a mixture of k spherical Gaussians, whose standard deviations are the widths

and a width is the distance to the nearest other centers by default.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import frozen, ratio
from bayeslearn.errors import BayeslearnWarning, CapacityError, DataError, ParameterError, ShapeError, option
from bayeslearn.model_values import ARRAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader

    Floats = NDArray[np.float64]

#: Other centers whose distance makes the width of a unit.
NEAREST = 2

#: Units at most: the output weights are solved for at once.
MOST_UNITS = 3000

WAYS = ("all", "random", "farthest", "evidence", "k-means", "em")


@dataclass(frozen=True, eq=False)
class RBFBasis:
    """Centers (k, d) and widths (k,), in standardized units.

    >>> RBFBasis([[0.0], [1.0]], [1.0, 0.5])([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.1353], [0.6065, 1.0]]
    """

    centers: Floats
    widths: Floats

    def __post_init__(self) -> None:
        centers, widths = validation.float_array("centers", self.centers), validation.float_array("widths", self.widths)
        if centers.ndim != 2 or not len(centers):
            raise ShapeError(f"expected centers of shape (k, d), got {centers.shape}")
        if widths.shape not in {(), (1,), (len(centers),)}:
            raise ShapeError(f"expected a width, or one for each of {len(centers)} centers, got {widths.shape}")
        widths = np.broadcast_to(widths, len(centers))
        if not (np.isfinite(centers).all() and np.isfinite(widths).all() and (widths > 0).all()):
            raise ParameterError("centers must be finite, and widths finite and above 0")
        object.__setattr__(self, "centers", frozen(centers))
        object.__setattr__(self, "widths", frozen(widths))

    @property
    def size(self) -> int:
        """How many units there are."""
        return len(self.centers)

    def __call__(self, x: Any) -> Floats:
        """K_u(x) of every point and unit, (n, k)."""
        points = validation.float_array("x", x)
        if points.ndim != 2 or points.shape[1] != self.centers.shape[1]:
            raise ShapeError(f"expected points of shape (n, {self.centers.shape[1]}), got {points.shape}")
        return np.asarray(np.exp(square_distances(points, self.centers) * (-0.5 / self.widths**2)))

    def same(self, other: RBFBasis) -> bool:
        """Whether both are the same units."""
        return np.array_equal(self.centers, other.centers) and np.array_equal(self.widths, other.widths)

    @classmethod
    def checked(cls, reader: Reader, entry: Any, n_features: int) -> RBFBasis:
        """The units of a model file, over `n_features` features."""
        centers, widths = reader.entries(entry, {"centers": ARRAY, "widths": ARRAY}, "radial units")
        where = reader.numbers(centers, "centers")
        basis = cls(where, reader.numbers(widths, "widths", where.shape[:1]))
        reader.require_units("widths", basis.widths)
        if where.shape[1] != n_features:
            reader.wrong(f"the radial units have {where.shape[1]} coordinates, and there are {n_features} features")
        return basis

    def widened(self, factor: float) -> RBFBasis:
        """The same centers with wider units."""
        return RBFBasis(self.centers, self.widths * factor)


def square_distances(x: Floats, centers: Floats) -> Floats:
    """|x − c|² of every pair."""
    square = (x * x).sum(axis=1)[:, None] + (centers * centers).sum(axis=1) - 2 * x @ centers.T
    return np.maximum(square, 0.0)


### centers


def place(
    x: Floats, k: int, how: str, *, targets: Floats, sample_weight: Floats | None, random_state: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Centers of k units among standardized points, and their widths where the method finds these too."""
    how = validation.choice("centers", how, WAYS)
    if how in {"k-means", "em"}:
        return clustered(x, k, how, sample_weight, random_state)
    distinct = np.unique(x, axis=0) if how == "all" else x
    if how == "all":
        k = len(distinct)
    if k > MOST_UNITS:
        raise CapacityError(
            f"{k} radial units are too many to solve for, {MOST_UNITS} at most",
            hint=f"ask for fewer, or let them be found with {option('centers', 'k-means')}", units=k,
        )  # fmt: skip
    if how == "all":
        return distinct, None
    if how == "random":
        _, first = np.unique(x, axis=0, return_index=True)
        return x[random_state.permutation(first)[:k]], None
    return (farthest(x, k) if how == "farthest" else explaining(x, k, targets, sample_weight, random_state)), None


def farthest(x: Floats, k: int) -> Floats:
    """The point nearest the mean, then always the point farthest from all centers so far."""
    found = [int(((x - x.mean(axis=0)) ** 2).sum(axis=1).argmin())]
    distance = ((x - x[found[0]]) ** 2).sum(axis=1)
    while len(found) < k and distance.max() > 0:
        found.append(int(distance.argmax()))
        distance = np.minimum(distance, ((x - x[found[-1]]) ** 2).sum(axis=1))
    return x[found]


def explaining(
    x: Floats, k: int, targets: Floats, sample_weight: Floats | None, random_state: np.random.Generator
) -> Floats:
    """Examples in the order in which they explain most of what is left of the outputs, some of them as candidates."""
    _, first = np.unique(x, axis=0, return_index=True)
    candidates = x[np.sort(random_state.permutation(first)[:CANDIDATES])]
    w = np.sqrt(np.ones(len(x)) if sample_weight is None else sample_weight / sample_weight.max())[:, None]
    units = RBFBasis(candidates, np.full(len(candidates), typical_width(x)))(x)
    units, left = (w * (block - (w * w * block).sum(axis=0) / (w * w).sum()) for block in (units, targets))
    scale = np.sqrt((left * left).sum(axis=0))
    left = left * ratio(1.0, scale)
    found: list[int] = []
    start = (units * units).sum(axis=0)
    while len(found) < min(k, len(candidates)):
        size = (units * units).sum(axis=0)
        open_ = (size > 1e-10 * start) & (size > 0)
        open_[found] = False
        if not open_.any():
            break
        gain = np.where(open_, ratio(((units.T @ left) ** 2).sum(axis=1), size), -1.0)
        found.append(int(gain.argmax()))
        direction = units[:, found[-1]] / np.sqrt(size[found[-1]])
        units -= direction[:, None] * (direction @ units)
        left -= direction[:, None] * (direction @ left)
    return candidates[found or [0]]  # one that explains nothing, where none does


#: Examples that are looked at as centers by ``evidence``.
CANDIDATES = 500


def typical_width(x: Floats) -> float:
    """Half of how far points are from their mean, on average."""
    return max(float(np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())) / 2, 1e-8)


def clustered(
    x: Floats, k: int, how: str, sample_weight: Floats | None, random_state: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """The means of k clusters, by k-means or by EM; fewer where there are fewer different points."""
    from bayeslearn.mixture.em_fit import grouped  # noqa: PLC0415
    from bayeslearn.mixture.fit import fit_mixture  # noqa: PLC0415 - loaded when units are to be found

    k = min(k, len(np.unique(x, axis=0)))
    if how == "em":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeslearnWarning)
            model = fit_mixture(
                x, k, covariance_type="spherical", sample_weight=sample_weight, n_init=1, random_state=random_state
            )
        means, variances = model.parameters[0]
        return means, np.sqrt(np.broadcast_to(variances, k))
    w = np.ones(len(x)) if sample_weight is None else sample_weight
    labels = grouped(x, w, k, "k-means++", random_state)
    n = np.bincount(labels, w, minlength=k)
    sums = np.stack([np.bincount(labels, w * column, minlength=k) for column in x.T], axis=1)
    return (sums / np.maximum(n, 1e-300)[:, None])[n > 0], None


### widths


def widths_of(x: Floats, centers: Floats, width: Any, own: Floats | None) -> Floats:
    """The width of every unit: given, its own, or the distance to the nearest other centers."""
    if not isinstance(width, str):
        told = validation.float_array("width", width)
        if told.shape not in {(), (len(centers),)} or not (np.isfinite(told) & (told > 0)).all():
            raise ParameterError(f"`width` must be one number above 0, or one for each unit, got {width!r:.60}")
        return np.broadcast_to(told, len(centers))
    if own is not None:
        return np.maximum(own, 1e-3)
    if len(centers) == 1:
        return np.array([2 * typical_width(x)])
    square = square_distances(centers, centers)
    np.fill_diagonal(square, np.inf)
    k = min(NEAREST, len(centers) - 1)
    nearest = np.partition(square, k - 1, axis=1)[:, :k]
    found = np.sqrt(nearest.mean(axis=1))
    floor = max(1e-3 * typical_width(x), 1e-8)
    if not np.isfinite(found).all():
        raise DataError("the centers of the radial units are too far apart", hint="look for odd values in the data")
    return np.maximum(found, floor)
