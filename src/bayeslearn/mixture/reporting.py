"""What classes are like: how large, what distinguishes each from the whole table, and which rows are doubtful.

A column distinguishes a class by the divergence of what it shows there from what it shows in all rows, in nats:

    KL(class ‖ all) = Σ_x p(x | class) ln p(x | class) / p(x)

categorical Σ θ ln θ/θ̄,  normal ½ (σ²/σ̄² + (μ − μ̄)²/σ̄² − 1 − ln σ²/σ̄²),  poisson λ ln λ/λ̄ − λ + λ̄.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr, xlogy

from bayeslearn import validation
from bayeslearn.errors import EvidenceError
from bayeslearn.families import Categorical, Poisson
from bayeslearn.families.statistics import ratio
from bayeslearn.mixture.joining import pooled
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.mixture.model import Mixture
    from bayeslearn.mixture.parts import Part

    Floats = NDArray[np.float64]

#: A class whose share in a row is smaller than this, though it is the largest, is doubtful.
SURE = 0.9


@dataclass(frozen=True)
class Difference:
    """How a column looks in a class, how in all rows, and how far apart these are."""

    column: str
    divergence: float
    here: str
    everywhere: str

    def __str__(self) -> str:
        return f"{self.column} {self.here} (all {self.everywhere})"


@dataclass(frozen=True)
class ClassReport:
    """One class: its number, how many cases it has, and what distinguishes it, the most telling column first."""

    number: int
    size: float
    share: float
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Doubt:
    """A row that may belong to two classes."""

    row: int
    best: int
    probability: float
    second: int
    second_probability: float


def describe(model: Mixture) -> list[ClassReport]:
    """A report for every class, from the statistics that the model keeps."""
    if model.statistics is None:
        raise EvidenceError("the mixture has not seen a case, so there is nothing to describe")
    columns = [c for part, θ in zip(model.parts, model.parameters, strict=True) for c in differences(model, part, θ)]
    return [
        ClassReport(
            j, float(model.sizes[j]), float(model.weights[j]),
            tuple(sorted((column[j] for column in columns), key=lambda d: -d.divergence)),
        )
        for j in range(model.k)
    ]  # fmt: skip


def differences(model: Mixture, part: Part, θ: Any) -> Iterator[list[Difference]]:
    """For every column of a part what each class says."""
    assert model.statistics is not None
    whole = pooled(model.statistics[part.name])
    if isinstance(part.family, Categorical):
        yield of_states(part, θ, ratio(whole.n, whole.n.sum())[0])
    elif isinstance(part.family, Poisson):
        yield of_counts(part.name, θ, float(ratio(whole.total, whole.n)[0]))
    else:
        mean, var = θ
        if part.joint:
            var = marginal_variances(part, var, model.k)
        mean, var = np.reshape(mean, (model.k, -1)), np.reshape(var, (model.k, -1))
        square = whole.m2 if hasattr(whole, "m2") else np.diagonal(whole.scatter, axis1=1, axis2=2)
        spread = ratio(square, whole.n if square.ndim == whole.n.ndim else whole.n[:, None])
        for c, column in enumerate(part.columns):
            centre, width = np.ravel(whole.mean)[c], np.ravel(spread)[c]
            yield of_numbers(column.name, mean[:, c], var[:, c], float(centre), float(width))


def marginal_variances(part: Part, Σ: Any, k: int) -> Floats:
    """The variance of each column in each component."""
    d = part.family.dim
    if part.family.covariance in {"full", "tied"}:
        return np.diagonal(np.broadcast_to(Σ, (k, d, d)), axis1=1, axis2=2)
    return np.broadcast_to(Σ if np.ndim(Σ) == 2 else np.reshape(Σ, (k, 1)), (k, d))


def of_states(part: Part, θ: Floats, whole: Floats) -> list[Difference]:
    """The state that speaks most for each class."""
    column = part.columns[0]
    assert isinstance(column, Discrete)
    terms = rel_entr(θ, np.maximum(whole, np.finfo(float).tiny))
    told = []
    for probabilities, term in zip(θ, terms, strict=True):
        most = int(term.argmax())
        here, everywhere = (f"{column.states[most]} {100 * p[most]:.3g} %" for p in (probabilities, whole))
        told.append(Difference(column.name, float(max(term.sum(), 0.0)), here, everywhere))
    return told


def of_counts(name: str, rate: Floats, whole: float) -> list[Difference]:
    """Rates."""
    kl = xlogy(rate, ratio(rate, np.full(rate.shape, whole))) - rate + whole
    return [Difference(name, float(d), f"{r:.4g}", f"{whole:.4g}") for r, d in zip(rate, kl, strict=True)]


def of_numbers(name: str, mean: Floats, var: Floats, centre: float, width: float) -> list[Difference]:
    """Means and standard deviations."""
    wide = width or 1.0
    kl = (var / wide + (mean - centre) ** 2 / wide - 1 - np.log(var / wide)) / 2
    everywhere = f"{centre:.4g} ± {np.sqrt(width):.3g}"
    return [
        Difference(name, float(d), f"{m:.4g} ± {np.sqrt(v):.3g}", everywhere)
        for m, v, d in zip(mean, var, kl, strict=True)
    ]


### doubt


def doubtful(model: Mixture, data: Any, *, below: float = SURE, most: int | None = None) -> list[Doubt]:
    """Rows whose most probable class has a probability below this, the most doubtful first."""
    validation.number("below", below, least=0, most=1)
    shares = model.responsibilities(data)
    if model.k == 1:
        return []
    order = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    top = np.take_along_axis(shares, order, axis=1)
    rows = np.flatnonzero(top[:, 0] < below)
    rows = rows[np.argsort(top[rows, 0], kind="stable")][:most]
    return [
        Doubt(int(i), int(order[i, 0]), float(top[i, 0]), int(order[i, 1]), float(top[i, 1])) for i in rows
    ]  # fmt: skip
