"""Bernoulli likelihood with a Beta prior: the categorical family seen through its two states.

    p(x = 1) = p          p ~ Beta(a, b)  ⟺  (1 − p, p) ~ Dirichlet(b, a)          statistics: the counts of 0 and 1

Nothing is computed here: codes, counts, evidence and quantiles are those of :mod:`.categorical`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.categorical import Categorical, Counts, Dirichlet
from bayeslearn.distributions.distribution import Family
from bayeslearn.distributions.sufficient_statistics import common_shape, fitted, frozen, shown
from bayeslearn.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.categorical import CategoricalPredictive
    from bayeslearn.distributions.sufficient_statistics import Assignment

### prior


@dataclass(frozen=True, eq=False)
class Beta:
    """A distribution of a probability; a and b count as successes and failures seen before the data.

    >>> thumb_tack = Bernoulli().fit([1] * 80 + [0] * 20, prior=Beta(1, 1))
    >>> thumb_tack
    Beta(a=81, b=21)
    >>> thumb_tack.mean()                                          # 81/102
    array(0.79411765)
    """

    a: NDArray[np.float64]
    b: NDArray[np.float64]

    def __post_init__(self) -> None:
        a, b = (
            validation.not_negative(name, validation.float_array(name, v)) for name, v in (("a", self.a), ("b", self.b))
        )
        shape = common_shape(a=a.shape, b=b.shape)
        object.__setattr__(self, "a", frozen(np.broadcast_to(a, shape)))
        object.__setattr__(self, "b", frozen(np.broadcast_to(b, shape)))

    def __repr__(self) -> str:
        return f"Beta(a={shown(self.a)}, b={shown(self.b)})"

    # -- the usual choices

    @classmethod
    def laplace(cls) -> Beta:
        """One success and one failure before any is seen: every p equally probable."""
        return cls._of_dirichlet(Dirichlet(np.ones(2)))

    uniform = laplace

    @classmethod
    def jeffreys(cls) -> Beta:
        """Half a success and half a failure, the same whatever the parameter is called."""
        return cls._of_dirichlet(Dirichlet(np.full(2, 0.5)))

    @classmethod
    def none(cls) -> Beta:
        """No prior cases (Haldane's prior): the mean is the plain fraction, which is maximum likelihood."""
        return cls._of_dirichlet(Dirichlet(np.zeros(2)))

    haldane = none

    @classmethod
    def m_estimate(cls, m: float, p: ArrayLike = 0.5) -> Beta:
        """`m` cases of mean `p`: estimates are (n₁ + m p) / (n + m)."""
        success = _probability("p", p)
        return cls(validation.number("m", m, min_value=0) * success, m * (1 - success))

    def of(self, shape: tuple[int, ...]) -> Beta:
        """The same prior for every row."""
        return Beta(*(fitted(v, shape) for v in (self.a, self.b)))

    # -- what it says, read off the Dirichlet of two states

    @property
    def dirichlet(self) -> Dirichlet:
        """The same distribution over (1 − p, p)."""
        return Dirichlet(np.stack([self.b, self.a], axis=-1))

    @classmethod
    def _of_dirichlet(cls, dirichlet: Dirichlet) -> Beta:
        return cls(dirichlet.alpha[..., 1], dirichlet.alpha[..., 0])

    @property
    def strength(self) -> NDArray[np.float64]:
        """The pseudo-rows of each row: a + b."""
        return self.dirichlet.strength

    def mean(self) -> NDArray[np.float64]:
        """a / (a + b)."""
        return np.asarray(self.dirichlet.mean()[..., 1])

    def mode(self) -> NDArray[np.float64]:
        """(a − 1) / (a + b − 2), on the border where a or b is below 1."""
        return np.asarray(self.dirichlet.mode()[..., 1])

    def draw(self, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """One probability per row."""
        return np.asarray(self.dirichlet.draw(random_state)[..., 1])

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of p."""
        low, high = self.dirichlet.interval(level)
        return np.asarray(low[..., 1]), np.asarray(high[..., 1])

    def log_pdf(self, p: ArrayLike) -> NDArray[np.float64]:
        """Log density (a − 1) ln p + (b − 1) ln(1 − p) − ln B(a, b)."""
        return np.asarray(self.dirichlet.log_pdf(_two_states(p)))


### likelihood


@dataclass(frozen=True)
class Bernoulli(Family[Counts, Beta]):
    """Yes or no: 1, 0, True or False; −1, NaN and None are missing.

    >>> coin = Bernoulli()
    >>> coin.estimate(coin.fit([True, True, False], prior=Beta.none()))
    array(0.66666667)
    """

    def cells(self, x: ArrayLike) -> NDArray[np.intp]:
        """Codes 0 and 1 from numbers or truth values; −1 where missing."""
        return _STATES.cells(_codes(x))

    def gather(self, cells: NDArray[np.intp], to: Assignment) -> Counts:
        """The weight of the failures and of the successes, shape (*rows, 2)."""
        return _STATES.gather(cells, to)

    def zero(self, rows: tuple[int, ...] = ()) -> Counts:
        """No data."""
        return _STATES.zero(rows)

    def update(self, prior: Beta, statistics: Counts) -> Beta:
        """a + n₁, b + n₀."""
        return Beta._of_dirichlet(_STATES.update(self._rows(prior, statistics), statistics))  # noqa: SLF001 - same file

    def log_evidence(self, prior: Beta, statistics: Counts) -> NDArray[np.float64]:
        """ln B(a + n₁, b + n₀) / B(a, b), for the cases in the order they came."""
        return _STATES.log_evidence(self._rows(prior, statistics), statistics)

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """ln p or ln(1 − p); 0 where x is missing."""
        return _STATES.log_prob(_two_states(parameters), _codes(x), groups=groups)

    def predictive(self, posterior: Beta) -> BernoulliPredictive:
        """p(x = 1) = a / (a + b)."""
        return BernoulliPredictive(_STATES.predictive(posterior.dirichlet))

    def draw(
        self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """0 and 1 at random."""
        return _STATES.draw(_two_states(parameters), n, random_state)

    @staticmethod
    def _rows(prior: Beta, statistics: Counts) -> Dirichlet:
        return prior.of(statistics.n.shape[:-1]).dirichlet


@dataclass(frozen=True)
class BernoulliPredictive:
    """One more case."""

    states: CategoricalPredictive

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """ln E[p] or ln E[1 − p]."""
        return self.states.log_prob(_codes(x))

    def mean(self) -> NDArray[np.float64]:
        """The probability of a success."""
        return np.asarray(self.states.mean()[..., 1])

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """0 and 1 at random."""
        return self.states.draw(n, random_state)


_STATES = Categorical(2)


def _codes(x: ArrayLike) -> NDArray[np.intp]:
    """0, 1, and −1 for missing."""
    cells = validation.float_array("x", x)
    codes = np.where(np.isnan(cells), -1.0, cells)
    odd = ~np.isin(codes, [-1, 0, 1])
    if odd.any():
        raise DataError(
            f"expected 0, 1, True or False, got {codes[odd][0]:g} at position {validation.first_position(odd)}",
            hint="-1 and NaN are missing",
        )
    return codes.astype(np.intp)


def _probability(name: str, p: ArrayLike) -> NDArray[np.float64]:
    return validation.probabilities(_two_states(p), name=name)[..., 1]


def _two_states(p: ArrayLike) -> NDArray[np.float64]:
    success = validation.float_array("p", p)
    return np.stack([1 - success, success], axis=-1)
