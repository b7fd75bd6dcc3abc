"""Counts of several kinds together: words of a document, goals of teams, species in a sample.

    p(x | n) = n!/Π x_j! Π θ_j^x_j        θ ~ Dirichlet(α), conjugate: α + Σx

The total number is independent of θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import validation
from bayeslearn.distributions.categorical import Dirichlet, DirichletRule
from bayeslearn.distributions.distribution import Distribution, register, standardized
from bayeslearn.distributions.poisson import count_cells
from bayeslearn.distributions.priors import Plugged
from bayeslearn.distributions.sufficient_statistics import Statistics, paired
from bayeslearn.errors import DataError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KindTotals(Statistics):
    """Σx of every kind, and ln n!/Π x_j! of all cases."""

    n: Floats
    logs: Floats


@register("multinomial")
@dataclass(frozen=True)
class Multinomial(Distribution[KindTotals, Dirichlet]):
    """Vectors of counts; a case with a missing count is missing.

    >>> Multinomial(2).fit([[3, 1], [2, 0]], prior=Dirichlet([1, 1]))
    Dirichlet(α=[6, 2])
    """

    dim: int = 2

    prior_type: ClassVar[Any] = Dirichlet
    prior_rules: ClassVar[tuple[type, ...]] = (DirichletRule,)
    points_of_columns: ClassVar[bool] = True

    @property
    def n_columns(self) -> int:
        """How many kinds there are."""
        return self.dim

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """Two or more columns of numbers."""
        return len(variables) > 1 and not any(hasattr(v, "states") for v in variables)

    @classmethod
    def over(cls, variables: Sequence[Any]) -> Self:
        """A kind for each column."""
        return cls(len(variables))

    def none(self) -> Dirichlet:
        """No case."""
        return Dirichlet(np.zeros(self.dim))

    def cells(self, x: ArrayLike) -> Floats:
        """Whole numbers, not negative, (cases, kinds)."""
        array = np.asarray(x, dtype=float)
        if array.ndim != 2 or array.shape[1] != self.dim:
            raise ShapeError(f"expected counts of {self.dim} kinds, got an array of shape {array.shape}")
        counts = count_cells(array.ravel()).reshape(array.shape)
        gone = np.isnan(counts).sum(axis=1)
        partly = (gone > 0) & (gone < self.dim)
        if partly.any():
            raise DataError(
                f"case {validation.first_position(partly)} has some of its counts only, and these are seen jointly",
                hint="make all of them missing, or none",
            )
        return counts

    def gather(self, cells: Floats, to: Assignment) -> KindTotals:
        """Σ w x, and Σ w ln n!/Π x!."""
        seen = ~np.isnan(cells.sum(axis=1))
        x = np.where(seen[:, None], cells, 0.0)
        return KindTotals(to.only(seen).sum(x), to.only(seen).sum(ways(x)))

    def zero(self, rows: tuple[int, ...] = ()) -> KindTotals:
        """No data."""
        return KindTotals(np.zeros((*rows, self.dim)), np.zeros(rows))

    def update(self, prior: Any, statistics: KindTotals) -> Dirichlet:
        """α + Σx."""
        return Dirichlet(prior.of(statistics.n.shape).alpha + statistics.n)

    def log_evidence(self, prior: Any, statistics: KindTotals) -> Floats:
        """ln B(α + Σx) − ln B(α) + Σ ln n!/Π x!."""
        before, after = prior.of(statistics.n.shape).alpha, self.update(prior, statistics).alpha
        log_b = [gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1)) for a in (after, before)]
        return np.asarray(log_b[0] - log_b[1] + statistics.logs)

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """ln n!/Π x! + Σ x ln θ; 0 where the case is missing."""
        x, θ = paired(self.cells(x), groups, np.asarray(parameters, dtype=float), event=1)
        return np.where(np.isnan(x).any(axis=-1), 0.0, ways(x) + xlogy(x, θ).sum(axis=-1))

    def log_likelihood(self, statistics: KindTotals, parameters: ArrayLike) -> Floats:
        """Σ Σx_j ln θ_j + Σ ln n!/Π x!."""
        return np.asarray(xlogy(statistics.n, np.asarray(parameters)).sum(axis=-1) + statistics.logs)

    def predictive(self, posterior: Dirichlet) -> Plugged:
        """With the posterior mean."""
        return Plugged(self, posterior.mean())

    def draw(
        self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Counts of ten, at random."""
        θ = np.asarray(parameters, dtype=float)
        return validation.generator(random_state).multinomial(10, θ, (n, *θ.shape[:-1]))

    def like(self, parameters: ArrayLike, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Dirichlet:  # noqa: ARG002
        """m counts that are shared out as θ."""
        return Dirichlet(sample_size * np.asarray(parameters, dtype=float))

    def smoothed(self, pooled: KindTotals) -> Floats:
        """Shares of all rows, with half a count of every kind."""
        total = pooled.n.reshape(-1, self.dim).sum(axis=0) + 0.5
        return total / total.sum()

    def n_parameters(self, rows: int) -> int:
        """One less than there are kinds."""
        return rows * (self.dim - 1)

    def log_prior(self, prior: Any, parameters: Any) -> float:
        """Σ α ln θ."""
        return float(np.sum(prior.of(np.shape(parameters)).log_cases(parameters)))

    def centers(self, parameters: Any) -> None:
        """Shares have no order."""

    def points(self, cells: Floats) -> Floats:
        """Square roots of shares."""
        x = np.nan_to_num(cells)
        return standardized(np.sqrt(x / np.maximum(x.sum(axis=1, keepdims=True), 1.0)))

    def divergence(self, parameters: Any, whole: Any) -> Floats:
        """Σ θ ln θ/θ̄ of one count."""
        θ, mean = np.asarray(parameters), np.maximum(np.broadcast_to(whole, np.shape(parameters)), 1e-300)
        return np.asarray((xlogy(θ, θ) - xlogy(θ, mean)).sum(axis=-1))

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The largest shares, by the positions of their kinds."""
        θ = np.asarray(parameters)[row]
        return ", ".join(f"{j}: {θ[j]:.3g}" for j in np.argsort(-θ)[:max_states])


def ways(x: Floats) -> Floats:
    """ln n!/Π x_j! of every case."""
    return gammaln(x.sum(axis=-1) + 1) - gammaln(x + 1).sum(axis=-1)
