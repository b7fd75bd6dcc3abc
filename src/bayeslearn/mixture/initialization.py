"""Where EM begins: rows are cut into k groups around seeds, and each group is taken for a component.

    k-means++   every further seed is drawn with probability ∝ weight · distance² from the seeds before it
    random      seeds are rows drawn at random

then a few rounds of k-means. Distances are Euclidean over standardized numbers, square roots of counts, and states
(two that differ are √2 apart, in units of the spread of the column); a missing cell is at the center. Large data are
seeded by a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import DataError
from bayeslearn.mixture.model import MixtureModel, MixturePrior, priors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.components.rows import Rows

    Floats = NDArray[np.float64]

#: Rows that seeds are drawn from; more are sampled.
MOST_ROWS = 20_000

#: How the weak prior sees a component beside the whole: its spread, and the cases that its center counts for.
NARROW, ANYWHERE = 0.1, 0.01

#: Rounds of k-means.
ROUNDS = 10


def start(
    parts: tuple[Component, ...], rows: Rows, k: int, prior: MixturePrior, *, how: str, equal: bool,
    random_state: np.random.Generator,
) -> MixtureModel:  # fmt: skip
    """A mixture whose components are groups of rows; it has `prior`, but its variances begin with a weak one."""
    if len(rows) > MOST_ROWS:
        rows = rows.take(np.sort(random_state.choice(len(rows), MOST_ROWS, replace=False)))
    labels = grouped(
        encoded(parts, rows),
        np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight,
        k,
        how,
        random_state,
    )
    seen = [whole(part, cells, rows.sample_weight) for part, cells in zip(parts, rows.cells, strict=True)]
    weak = priors_of(parts, tuple(weak_prior(part, w) for part, w in zip(parts, seen, strict=True)), prior.shares, k)
    parameters = tuple(alike(part, w, k) for part, w in zip(parts, seen, strict=True))
    blank = MixtureModel(parts, np.full(k, 1 / k), parameters, weak, equal_weights=equal)
    shares = (labels[:, None] == np.arange(k)) * (1.0 if rows.sample_weight is None else rows.sample_weight[:, None])
    begun = blank.estimate(weak, blank.collect(rows, shares))
    return MixtureModel(parts, begun.weights, begun.parameters, prior, equal_weights=equal)


def whole(part: Component, cells: NDArray[Any], sample_weight: Floats | None) -> Any:
    """The statistics of all cases together, as of one component; of numbers column by column."""
    part.distribution.require_range(cells, part.name)
    shares = np.ones((len(cells), 1)) if sample_weight is None else sample_weight[:, None]
    return part.distribution.marginal().collect(cells, sample_weight=shares)


def weak_prior(part: Component, whole: Any, cases: float = 1.0) -> Any:
    """The prior of `cases` that look like all of the data (`whole`: its statistics, as of one component).

    The variances of a component are taken for a tenth of those of the whole, and its center counts for a hundredth
    of a case, so that it may lie anywhere. Nothing here depends on how many components there are.
    """
    return part.distribution.pooled(whole, cases, center=ANYWHERE, spread=NARROW)


def alike(part: Component, whole: Any, k: int) -> Any:
    """Parameters of k components that are all like the whole."""
    return part.distribution.estimate(part.distribution.shaped(part.distribution.pooled(whole), k))


### groups


def encoded(parts: Sequence[Component], rows: Rows) -> Floats:
    """Rows as points, in which every column has a spread of about one."""
    return np.column_stack([part.distribution.points(cells) for part, cells in zip(parts, rows.cells, strict=True)])


def grouped(x: Floats, sample_weight: Floats, k: int, how: str, random_state: np.random.Generator) -> NDArray[np.intp]:
    """The group of each point, by k-means."""
    centers = x[seeds(x, sample_weight, k, how, random_state)]
    labels = nearest(x, centers)[0]
    for _ in range(ROUNDS):
        n = np.bincount(labels, sample_weight, minlength=k)
        sums = np.stack([np.bincount(labels, sample_weight * column, minlength=k) for column in x.T], axis=1)
        centers = np.where(n[:, None] > 0, ratio(sums, n[:, None]), centers)
        before, labels = labels, nearest(x, centers)[0]
        if (before == labels).all():
            break
    return labels


def seeds(x: Floats, sample_weight: Floats, k: int, how: str, random_state: np.random.Generator) -> list[int]:
    """The rows of k seeds, all different."""
    distance = np.ones(len(x))
    found: list[int] = []
    for _ in range(k):
        chance = sample_weight * (distance if how == "k-means++" else distance > 0)
        if not chance.sum() > 0:
            raise DataError(
                f"there are only {len(found)} different rows, fewer than {k} components",
                hint="ask for fewer components", rows=len(found),
            )  # fmt: skip
        found.append(int(random_state.choice(len(x), p=chance / chance.sum())))
        new = ((x - x[found[-1]]) ** 2).sum(axis=1)
        distance = new if len(found) == 1 else np.minimum(distance, new)
    return found


def nearest(x: Floats, centers: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest center of each point, and the squared distance."""
    square = (centers**2).sum(axis=1) - 2 * x @ centers.T
    labels = square.argmin(axis=1)
    return labels, square[np.arange(len(x)), labels] + (x * x).sum(axis=1)
