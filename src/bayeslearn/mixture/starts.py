"""Where EM begins: rows are cut into k groups around seeds, and each group is taken for a component.

    k-means++   every further seed is drawn with probability ∝ weight · distance² from the seeds before it
    random      seeds are rows drawn at random

then a few rounds of k-means. Distances are Euclidean over standardised numbers, square roots of counts, and states
(two that differ are √2 apart, in units of the spread of the column); a missing cell is at the centre. Large data are
seeded by a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError
from bayeslearn.families import Categorical, MultivariateParameters, NormalParameters, Poisson
from bayeslearn.families.statistics import ratio
from bayeslearn.mixture.model import Mixture, MixturePrior, priors_of
from bayeslearn.mixture.parts import Part, variances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.mixture.rows import Rows

    Floats = NDArray[np.float64]

#: Rows that seeds are drawn from; more are sampled.
MOST_ROWS = 20_000

#: Rounds of k-means.
ROUNDS = 10


def start(
    parts: tuple[Part, ...], rows: Rows, k: int, prior: MixturePrior, *, how: str, equal: bool, rng: np.random.Generator
) -> Mixture:
    """A mixture whose components are groups of rows; it has `prior`, but its variances begin with a weak one."""
    if len(rows) > MOST_ROWS:
        rows = rows.take(np.sort(rng.choice(len(rows), MOST_ROWS, replace=False)))
    labels = grouped(encoded(parts, rows), np.ones(len(rows)) if rows.weights is None else rows.weights, k, how, rng)
    whole = [part.whole(cells, rows.weights) for part, cells in zip(parts, rows.cells, strict=True)]
    weak = priors_of(parts, tuple(part.weak(w) for part, w in zip(parts, whole, strict=True)), prior.shares, k)
    parameters = tuple(level(part, w, k) for part, w in zip(parts, whole, strict=True))
    blank = Mixture(parts, np.full(k, 1 / k), parameters, weak, equal=equal)
    shares = (labels[:, None] == np.arange(k)) * (1.0 if rows.weights is None else rows.weights[:, None])
    begun = blank.estimate(weak, blank._collected(rows, shares))  # noqa: SLF001 - its own kind
    return Mixture(parts, begun.weights, begun.parameters, prior, equal=equal)


def level(part: Part, whole: Any, k: int) -> Any:
    """Parameters of k components that are all like the whole."""
    if isinstance(part.family, Categorical):
        return np.tile((whole.n + 1) / (whole.n + 1).sum(), (k, 1))
    if isinstance(part.family, Poisson):
        return np.full(k, (whole.total[0] + 0.5) / (whole.n[0] + 1))
    var = variances(whole)
    var = np.where(var > 0, var, 1.0)
    if not part.joint:
        return NormalParameters(np.full(k, whole.mean[0]), np.full(k, var))
    if part.variance is not None:
        return MultivariateParameters(np.tile(whole.mean, (k, 1)), np.full(k, part.variance))
    spread = {
        "full": np.tile(np.diag(var), (k, 1, 1)),
        "tied": np.diag(var),
        "diagonal": np.tile(var, (k, 1)),
        "spherical": np.full(k, var.mean()),
    }[part.family.covariance]
    return MultivariateParameters(np.tile(whole.mean, (k, 1)), spread)


### groups


def encoded(parts: Sequence[Part], rows: Rows) -> Floats:
    """Rows as points, in which every column has a spread of about one."""
    return np.column_stack([points(part, cells) for part, cells in zip(parts, rows.cells, strict=True)])


def points(part: Part, cells: NDArray[Any]) -> Floats:
    """The columns of a part, centred and scaled; missing is 0."""
    if isinstance(part.family, Categorical):
        x = (cells[:, None] == np.arange(part.family.size)).astype(float)
        x[cells < 0] = np.nan
        x = x[:, x.any(axis=0)]
    else:
        x = cells if cells.ndim == 2 else cells[:, None]
        x = np.sqrt(x) if isinstance(part.family, Poisson) else x
    seen = ~np.isnan(x)
    n = seen.sum(axis=0)
    x = np.where(seen, x, 0.0)
    x = np.where(seen, x - ratio(x.sum(axis=0), n), 0.0)
    spread = np.sqrt(ratio((x * x).sum(axis=0), n))
    if isinstance(part.family, Categorical):  # a column of many states is still one column
        return ratio(x, np.full(x.shape, max(np.sqrt((spread**2).sum()), 1e-300)))
    return np.asarray(ratio(x, np.broadcast_to(spread, x.shape)))


def grouped(x: Floats, weights: Floats, k: int, how: str, rng: np.random.Generator) -> NDArray[np.intp]:
    """The group of each point, by k-means."""
    centres = x[seeds(x, weights, k, how, rng)]
    labels = nearest(x, centres)[0]
    for _ in range(ROUNDS):
        n = np.bincount(labels, weights, minlength=k)
        sums = np.stack([np.bincount(labels, weights * column, minlength=k) for column in x.T], axis=1)
        centres = np.where(n[:, None] > 0, ratio(sums, n[:, None]), centres)
        before, labels = labels, nearest(x, centres)[0]
        if (before == labels).all():
            break
    return labels


def seeds(x: Floats, weights: Floats, k: int, how: str, rng: np.random.Generator) -> list[int]:
    """The rows of k seeds, all different."""
    distance = np.ones(len(x))
    found: list[int] = []
    for _ in range(k):
        chance = weights * (distance if how == "k-means++" else distance > 0)
        if not chance.sum() > 0:
            raise DataError(
                f"there are only {len(found)} different rows, fewer than {k} components",
                hint="ask for fewer components", rows=len(found),
            )  # fmt: skip
        found.append(int(rng.choice(len(x), p=chance / chance.sum())))
        new = ((x - x[found[-1]]) ** 2).sum(axis=1)
        distance = new if len(found) == 1 else np.minimum(distance, new)
    return found


def nearest(x: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each point, and the squared distance."""
    square = (centres**2).sum(axis=1) - 2 * x @ centres.T
    labels = square.argmin(axis=1)
    return labels, square[np.arange(len(x)), labels] + (x * x).sum(axis=1)
