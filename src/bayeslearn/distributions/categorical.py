"""Categorical likelihood with a Dirichlet prior.

    p(x = k) = θ_k          θ ~ Dirichlet(α)          statistics: n_k, the weight seen in each state

A Beta prior is the Dirichlet of two states (:mod:`bayeslearn.distributions.bernoulli`); the m-estimate, Laplace's
rule, BDeu and K2 are choices of α. Leading axes are rows of parameters: a CPT of q parent configurations has shape
(q, size).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.distributions.distribution import Distribution, centered, register
from bayeslearn.distributions.sufficient_statistics import (
    NOTHING,
    Statistics,
    fitted,
    frozen,
    kept,
    paired,
    ratio,
    require,
    shown,
)
from bayeslearn.errors import ImproperPriorError, ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from scipy import special

    from bayeslearn.distributions.sufficient_statistics import Assignment, Shape
else:
    special = lazy_imports.Deferred("scipy.special")  # most questions to networks do not need it

#: Where a probability of 0 would divide.
TINY = np.finfo(float).tiny

### statistics


@dataclass(frozen=True, eq=False)
class Counts(Statistics):
    """The weight seen in each state, shape (*rows, size)."""

    n: NDArray[np.float64]

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Self:
        """No data."""
        return cls(np.zeros(shape))

    @property
    def total(self) -> NDArray[np.float64]:
        """The weight behind each row."""
        return self.n.sum(axis=-1)


### prior


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """A distribution of probability vectors; α counts as cases seen before the data.

    >>> Dirichlet([81, 21]).mean()
    array([0.79411765, 0.20588235])
    """

    alpha: NDArray[np.float64]

    def __post_init__(self) -> None:
        alpha = validation.float_array("alpha", self.alpha)
        if alpha.ndim == 0:
            raise ShapeError("`alpha` needs one entry per state, got a single number")
        object.__setattr__(self, "alpha", frozen(validation.not_negative("alpha", alpha)))

    def __repr__(self) -> str:
        return f"Dirichlet(α={shown(self.alpha)})"

    # -- the usual choices; without `shape` they are rules that wait for one

    @classmethod
    def laplace(cls, shape: Shape = None) -> Dirichlet | DirichletRule:
        """One case in every state before any is seen: α = 1 (Laplace's rule, and the K2 score)."""
        return DirichletRule(per_state=1.0).shaped(shape)

    @classmethod
    def jeffreys(cls, shape: Shape = None) -> Dirichlet | DirichletRule:
        """α = 1/2, the same whatever the parameters are called."""
        return DirichletRule(per_state=0.5).shaped(shape)

    @classmethod
    def none(cls, shape: Shape = None) -> Dirichlet | DirichletRule:
        """No prior cases: α = 0, estimates are plain fractions (maximum likelihood)."""
        return DirichletRule(per_state=0.0).shaped(shape)

    @classmethod
    def m_estimate(cls, m: float, p: ArrayLike | None = None, shape: Shape = None) -> Dirichlet | DirichletRule:
        """`m` cases per row, spread as `p` (evenly when not given): estimates are (n_k + m p_k) / (n + m)."""
        spread = None if p is None else validation.probabilities(p, name="p")
        return DirichletRule(per_row=validation.number("m", m, min_value=0), spread=spread).shaped(shape)

    @classmethod
    def bdeu(cls, equivalent_sample_size: float, shape: Shape = None) -> Dirichlet | DirichletRule:
        """Pseudo-rows that are spread evenly over every row and state: the same score for equivalent networks."""
        n = validation.number("equivalent_sample_size", equivalent_sample_size, above=0)
        return DirichletRule(per_table=n).shaped(shape)

    def of(self, shape: tuple[int, ...]) -> Dirichlet:
        """The same prior for every row of `shape`."""
        return Dirichlet(fitted(self.alpha, shape, event=1))

    # -- what it says

    @property
    def strength(self) -> NDArray[np.float64]:
        """The pseudo-rows of each row: α₀ = Σ α_k."""
        return self.alpha.sum(axis=-1)

    def mean(self, otherwise: ArrayLike | None = None) -> NDArray[np.float64]:
        """α_k / α₀; `otherwise`, where given, in rows without cases."""
        if otherwise is None:
            return self.alpha / self._positive_strength("a mean")[..., None]
        return shares(self.alpha, otherwise)

    def log_cases(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Σ α_k ln θ_k."""
        return special.xlogy(self.alpha, np.asarray(theta)).sum(axis=-1)

    def mode(self) -> NDArray[np.float64]:
        """(α_k − 1) / (α₀ − K), on the border where α_k < 1 allows it."""
        above = np.maximum(self.alpha - 1, 0)
        total = np.asarray(above.sum(axis=-1))
        require(
            total > 0,
            "there is no single most probable value: no entry of α is above 1",
            hint="use the mean, or more prior cases",
        )
        return above / total[..., None]

    def draw(self, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """One probability vector per row: normalized gamma draws, in logs so that a tiny α cannot underflow."""
        self._positive_strength("a draw")
        random_state = validation.generator(random_state)
        with np.errstate(divide="ignore"):
            # Γ(α) is Γ(α + 1) · U^(1/α) in distribution
            log_g = np.log(random_state.standard_gamma(self.alpha + 1))
            log_g = log_g - random_state.standard_exponential(self.alpha.shape) / self.alpha
        return special.softmax(log_g, axis=-1)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of each θ_k, whose marginal is Beta(α_k, α₀ − α_k)."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        rest = self._positive_strength("an interval")[..., None] - self.alpha
        with np.errstate(invalid="ignore"):
            low, high = (special.betaincinv(self.alpha, rest, q) for q in (tail, 1 - tail))
        sure = (self.alpha == 0) | (rest <= 0)  # no weight on one side: θ_k is 0 or 1
        value = (self.alpha > 0).astype(float)
        return np.where(sure, value, low), np.where(sure, value, high)

    def log_pdf(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Log density ln Γ(α₀) − Σ ln Γ(α_k) + Σ (α_k − 1) ln θ_k."""
        self.require_proper()
        power = special.xlogy(self.alpha - 1, validation.probabilities(theta, name="theta"))
        return special.gammaln(self.strength) - special.gammaln(self.alpha).sum(-1) + power.sum(-1)

    def _positive_strength(self, what: str) -> NDArray[np.float64]:
        strength = np.asarray(self.strength)
        require(
            strength > 0,
            f"{what} is undefined: it is based on no rows",
            hint="give a prior with pseudo-counts, for instance laplace()",
        )
        return strength

    def require_proper(self) -> None:
        """Densities and evidence need every α above 0."""
        require(
            (self.alpha > 0).all(axis=-1),
            "a prior with α = 0 is improper: its density and evidence are undefined",
            hint="use laplace(), jeffreys(), m_estimate(...) or bdeu(...)",
            error=ImproperPriorError,
        )


@dataclass(frozen=True, eq=False)
class DirichletRule:
    """A prior without a shape: the same pseudo-counts per state, per row or per CPT.

    >>> Dirichlet.bdeu(10)
    Dirichlet(α₀=10 per table)
    >>> Dirichlet.bdeu(10, shape=2)
    Dirichlet(α=[5, 5])
    """

    per_state: float | None = None
    per_row: float | None = None
    per_table: float | None = None
    spread: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        if self.per_state is not None:
            return f"Dirichlet(α={self.per_state:g} per state)"
        if self.per_table is not None:
            return f"Dirichlet(α₀={self.per_table:g} per table)"
        spread = "" if self.spread is None else f", spread as {shown(self.spread)}"
        return f"Dirichlet(α₀={self.per_row:g} per row{spread})"

    @kept
    def of(self, shape: tuple[int, ...]) -> Dirichlet:
        """The Dirichlet for counts of this shape (*rows, size)."""
        if self.per_state is not None:
            return Dirichlet(np.full(shape, self.per_state))
        if self.per_table is not None:
            return Dirichlet(np.full(shape, self.per_table / max(math.prod(shape), 1)))
        assert self.per_row is not None
        spread = np.full(shape[-1], 1 / shape[-1]) if self.spread is None else self.spread
        return Dirichlet(self.per_row * spread).of(shape)

    def shaped(self, shape: Shape) -> Dirichlet | DirichletRule:
        """The Dirichlet when the shape is known, else the rule itself."""
        if shape is None:
            return self
        return self.of((shape,) if isinstance(shape, int) else tuple(shape))


@dataclass(frozen=True, eq=False)
class TablePrior(Dirichlet):
    """α of every cell of a table, with the rule that they follow, so that a table that gains states keeps its prior."""

    rule: DirichletRule

    @classmethod
    def of_rule(cls, rule: DirichletRule, shape: tuple[int, ...]) -> TablePrior:
        """The α of a table of this shape.

        >>> TablePrior.of_rule(Dirichlet.bdeu(1), (2, 2))
        Dirichlet(α₀=1 per table)
        """
        return cls(rule.of(shape).alpha, rule)

    def __repr__(self) -> str:
        return repr(self.rule)


### likelihood


@register("categorical")
@dataclass(frozen=True)
class Categorical(Distribution[Counts, Dirichlet]):
    """One of `n_states` states, coded 0 … n_states−1; −1 is missing.

    >>> coin = Categorical(2)
    >>> posterior = coin.fit([0, 0, 1], prior=Dirichlet([1, 1]))
    >>> coin.estimate(posterior)
    array([0.6, 0.4])
    """

    n_states: int

    def __post_init__(self) -> None:
        validation.integer("n_states", self.n_states, min_value=1)

    def cells(self, x: ArrayLike) -> NDArray[np.intp]:
        """Codes within −1 … n_states − 1."""
        codes = np.asarray(x)
        if codes.ndim != 1 or (codes.size and not np.issubdtype(codes.dtype, np.integer)):
            raise ShapeError(f"expected a column of whole-number codes, got shape {codes.shape} of {codes.dtype}")
        if codes.size and not (-1 <= codes.min() and codes.max() < self.n_states):
            raise ParameterError(
                f"codes must lie within -1..{self.n_states - 1}, got {codes.min()}..{codes.max()}",
                hint="-1 is missing; Table turns named states into codes",
            )
        return codes.astype(np.intp)

    def gather(self, cells: NDArray[np.intp], to: Assignment) -> Counts:
        """n_k = Σ_i w_i [x_i = k]."""
        if to.sample_weight.ndim == 2:
            one_hot = cells[:, None] == np.arange(self.n_states)
            return Counts(to.sum(one_hot.astype(float)))
        place = cells if to.groups is None else np.where(to.groups >= 0, to.groups * self.n_states + cells, -1)
        seen = (cells >= 0) & (place >= 0)
        n = np.bincount(place[seen], to.sample_weight[seen], minlength=math.prod(to.rows) * self.n_states)
        return Counts(n.reshape(*to.rows, self.n_states).astype(float))

    def zero(self, rows: tuple[int, ...] = ()) -> Counts:
        """No data: n_k = 0."""
        return Counts.zero((*rows, self.n_states))

    def update(self, prior: Dirichlet | DirichletRule, statistics: Counts) -> Dirichlet:
        """α_k + n_k."""
        return Dirichlet(prior.of(statistics.n.shape).alpha + statistics.n)

    def log_evidence(self, prior: Dirichlet | DirichletRule, statistics: Counts) -> NDArray[np.float64]:
        """ln Γ(α₀)/Γ(α₀ + n₀) + Σ_k ln Γ(α_k + n_k)/Γ(α_k), for the cases in the order they came."""
        before = prior.of(statistics.n.shape)
        before.require_proper()
        a, n = before.alpha, statistics.n
        rows = special.gammaln(a.sum(-1)) - special.gammaln(a.sum(-1) + n.sum(-1))
        return rows + (special.gammaln(a + n) - special.gammaln(a)).sum(-1)

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """ln θ_x; 0 where x is missing."""
        with np.errstate(divide="ignore"):
            log_theta = np.log(self._theta(parameters))
        codes = self.cells(x)
        if groups is None:
            picked = np.moveaxis(log_theta[..., codes], -1, 0)
            return np.where((codes >= 0).reshape(-1, *[1] * (picked.ndim - 1)), picked, 0.0)
        cells, rows = paired(codes.astype(float), groups, log_theta, event=1)
        picked = np.take_along_axis(rows, codes[:, None], axis=-1)[:, 0]
        return np.where(np.isnan(cells) | (codes < 0), 0.0, picked)

    def predictive(self, posterior: Dirichlet) -> CategoricalPredictive:
        """p(x = k) = α_k / α₀."""
        return CategoricalPredictive(self, posterior.mean())

    def draw(
        self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Codes by inverting the cumulated probabilities."""
        theta = self._theta(parameters)
        u = validation.generator(random_state).random((n, *theta.shape[:-1], 1))
        return np.minimum((u > np.cumsum(theta, axis=-1)).sum(-1), self.n_states - 1)

    # -- what learners ask

    prior_type: ClassVar[Any] = Dirichlet
    prior_rules: ClassVar[tuple[type, ...]] = (DirichletRule,)

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """One column of states."""
        return len(variables) == 1 and hasattr(variables[0], "states")

    @classmethod
    def over(cls, variables: Sequence[Any]) -> Self:
        """As many states as the variable has."""
        return cls(variables[0].n_states)

    def none(self) -> Dirichlet:
        """α = 0."""
        return Dirichlet(np.zeros(self.n_states))

    def like(self, parameters: ArrayLike, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Dirichlet:  # noqa: ARG002
        """α = m θ."""
        return Dirichlet(sample_size * np.asarray(parameters))

    def smoothed(self, pooled: Counts) -> NDArray[np.float64]:
        """(n_k + 1/K) / (n + 1): one case more, spread evenly."""
        n = pooled.n.reshape(-1, self.n_states).sum(axis=0)
        return (n + 1 / self.n_states) / (n.sum() + 1)

    def log_likelihood(self, statistics: Counts, parameters: ArrayLike) -> NDArray[np.float64]:
        """Σ n_k ln θ_k."""
        return special.xlogy(statistics.n, np.asarray(parameters)).sum(axis=-1)

    def n_parameters(self, rows: int) -> int:
        """All but one probability of each row."""
        return rows * (self.n_states - 1)

    def points(self, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        """A place for each state: two that differ are √2 apart, in units of the spread of the column."""
        x = (cells[:, None] == np.arange(self.n_states)).astype(float)
        x[cells < 0] = np.nan
        x = x[:, x.any(axis=0)]
        n, x = (~np.isnan(x)).sum(axis=0), centered(x)
        spread = np.sqrt(ratio((x * x).sum(axis=0), n))  # a column of many states is still one column
        return ratio(x, np.full(x.shape, max(np.sqrt((spread**2).sum()), 1e-300)))

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:
        """The most probable states."""
        names = range(self.n_states) if variable is None else variable.states
        best = np.argsort(-parameters[row], kind="stable")[:max_states]
        return ", ".join(f"{names[k]} {parameters[row, k]:.3g}" for k in best)

    def contrast(self, parameters: Any, whole: Any, row: int, *, variable: Any = None) -> tuple[str, str]:
        """The state that distinguishes a row most."""
        names = range(self.n_states) if variable is None else variable.states
        most = int(special.rel_entr(parameters[row], np.maximum(whole[0], TINY)).argmax())
        here, everywhere = (f"{names[most]} {100 * p[most]:.3g} %" for p in (parameters[row], whole[0]))
        return here, everywhere

    def divergence(self, parameters: Any, whole: Any) -> NDArray[np.float64]:
        """Σ θ ln θ/θ̄."""
        return np.maximum(special.rel_entr(parameters, np.maximum(whole, TINY)).sum(axis=-1), 0.0)

    def centers(self, parameters: Any) -> None:
        """States have no order."""

    def _theta(self, parameters: ArrayLike) -> NDArray[np.float64]:
        theta = validation.not_negative("theta", validation.float_array("theta", parameters))
        if theta.ndim == 0 or theta.shape[-1] != self.n_states:
            raise ShapeError(f"expected probabilities of shape (*rows, {self.n_states}), got {theta.shape}")
        return theta


@dataclass(frozen=True)
class CategoricalPredictive:
    """One more case: the mean of θ is all that matters."""

    family: Categorical
    theta: NDArray[np.float64]

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """ln E[θ_x]."""
        return self.family.log_prob(self.theta, x)

    def mean(self) -> NDArray[np.float64]:
        """The probability of each state."""
        return self.theta

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """Codes at random."""
        return self.family.draw(self.theta, n, random_state)


def shares(
    counts: ArrayLike,
    otherwise: ArrayLike,
    *,
    total: NDArray[np.float64] | None = None,
    nothing: float = NOTHING,
) -> NDArray[np.float64]:
    """Return rows divided by their sums: the one "row by its sum, or else".

    Parameters
    ----------
    counts
        Weights, rows along the last axis.
    otherwise
        What stands in rows without weight.
    total
        The sum of the row of each cell, where rows of several tables lie one after the other.
    nothing
        A row with no more than this has no weight; 0 where weights below rounding still count.
    """
    counts = np.asarray(counts, dtype=np.float64)
    total = counts.sum(axis=-1, keepdims=True) if total is None else total
    return np.where(total > nothing, ratio(counts, total), otherwise)
