"""The one grammar of priors, for every learner and every distribution.

    none          maximum likelihood, as None
    m:2           equivalent sample size 2 in every row, spread evenly over states; for numbers the same as pooled:2
    pooled:1      equivalent sample size 1 in every row, distributed as all data together
    evidence      pooled, with the equivalent sample size of the highest marginal likelihood
    laplace, k2   pseudo-count 1 for every state        jeffreys   pseudo-count 1/2 for every state
    bdeu:1        equivalent sample size 1 for a CPT, spread evenly over its rows and states

The last four are for states; numeric columns take pooled:1 with them, so that one name serves a table of both. Objects
(a Dirichlet, a normal-inverse-gamma, ...) are accepted where the distribution takes them.

A prior may be statistics of pseudo-rows.

    posterior = prior + statistics        parameters = argmax_θ ln P(posterior | θ)

Statistics and priors are of one class, and literally add. Estimates maximize the likelihood of the data and of the
pseudo-rows, which EM increases. There is no closed form of the evidence: it is approximated as by BIC,

    ln P(D) ≈ ln P(after | θ_after) − ln P(before | θ_before) − d/2 ln (n_after / n_before)

with d the numbers that can be chosen, and predictions are made with the estimate itself.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.categorical import Categorical, Dirichlet, DirichletRule
from bayeslearn.distributions.distribution import Distribution, by_name, first_of
from bayeslearn.distributions.normal import Normal
from bayeslearn.distributions.sufficient_statistics import NOTHING, Statistics, remaining
from bayeslearn.errors import EvidenceError, ImproperPriorError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.finite_hypotheses import FinitePrior

    Floats = NDArray[np.float64]


#: The equivalent sample sizes that an empirical Bayes prior compares.
SAMPLE_SIZES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

HINT = "priors are none, m:SIZE, pooled:SIZE, evidence, laplace, k2, jeffreys and bdeu:SIZE, for instance m:2"


@dataclass(frozen=True)
class PooledPrior:
    """The m-estimate whose distribution p is that of the whole column, with m = `equivalent_sample_size` in every row.

    It has no units and fits categorical, numeric and count columns alike. It is computed from the statistics, so that
    models with it still merge, subtract and discount exactly.

    >>> from bayeslearn.distributions import Categorical, Counts
    >>> PooledPrior(2).given(Categorical(2), Counts([[3, 0], [0, 1]]))
    Dirichlet(α=[[1.4, 0.6], [1.4, 0.6]])
    """

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        size = validation.number("equivalent_sample_size", self.equivalent_sample_size, above=0)
        object.__setattr__(self, "equivalent_sample_size", size)

    def given(self, distribution: Distribution[Any, Any], statistics: Any) -> Any:
        """The prior for these statistics of all rows; None where all values are equal."""
        whole = one_row(statistics)
        if not distribution.varies(whole):
            return None
        return distribution.shaped(distribution.pooled(whole, self.equivalent_sample_size), n_rows(statistics))


@dataclass(frozen=True)
class EmpiricalBayesPrior:
    """A pooled prior with the equivalent sample size of the highest marginal likelihood: small where rows differ much.

        max_m Π_rows P(data of the row | PooledPrior(m))

    >>> from bayeslearn.distributions import Categorical, Counts
    >>> apart, alike = Counts([[90, 10], [10, 90]]), Counts([[48, 52], [51, 49]])
    >>> EmpiricalBayesPrior().pooled(Categorical(2), apart), EmpiricalBayesPrior().pooled(Categorical(2), alike)
    (PooledPrior(equivalent_sample_size=1.0), PooledPrior(equivalent_sample_size=64.0))
    """

    def given(self, distribution: Distribution[Any, Any], statistics: Any) -> Any:
        """The prior for these statistics of all rows."""
        return self.pooled(distribution, statistics).given(distribution, statistics)

    def pooled(self, distribution: Distribution[Any, Any], statistics: Any) -> PooledPrior:
        """The best of :data:`SAMPLE_SIZES`, the smallest when tied; 1 where no statistics distinguish them."""
        if PooledPrior().given(distribution, statistics) is None:
            return PooledPrior()
        priors = [PooledPrior(m).given(distribution, statistics) for m in SAMPLE_SIZES]
        evidence = [float(distribution.log_evidence(prior, statistics).sum()) for prior in priors]
        return PooledPrior(SAMPLE_SIZES[int(np.argmax(evidence))]) if max(evidence) > min(evidence) else PooledPrior()


#: Priors that wait for the statistics.
Rule = PooledPrior | EmpiricalBayesPrior


def parse_prior(given: Any, distribution: Distribution[Any, Any]) -> Any:
    """A prior from its name, from None (maximum likelihood), or the object itself.

    >>> from bayeslearn.distributions import Categorical, Normal
    >>> parse_prior("m:2", Categorical(3)), parse_prior("m:2", Normal())
    (Dirichlet(α₀=2 per row), PooledPrior(equivalent_sample_size=2.0))
    """
    if given is None:
        return parse_prior("none", distribution)
    if isinstance(given, (*distribution.prior_types, PooledPrior, EmpiricalBayesPrior)):
        return given
    if not isinstance(given, str):
        raise ParameterError(f"{given!r:.80} is no prior of a {distribution.name} distribution", hint=HINT)
    word, colon, text = given.strip().lower().partition(":")
    number = number_of(text) if colon else None
    rule = of_states(word, number)
    if rule is not None and distribution.takes(rule):
        return rule
    if rule is not None:
        nothing = word == "none" or (word == "m" and number == 0)
        return distribution.none() if nothing else PooledPrior(number if word == "m" and number else 1.0)
    if word == "pooled" and (number is None or number > 0):
        return PooledPrior(1.0 if number is None else number)
    if word == "evidence" and number is None:
        return EmpiricalBayesPrior()
    raise ParameterError(f"there is no prior {given!r:.60}", hint=HINT)


def cases_of(given: Any) -> float | Literal["evidence"]:
    """The equivalent sample size of a prior of numbers: a number, or the name of a prior; 0 for none.

    >>> cases_of(None), cases_of("pooled:2"), cases_of(0.5), cases_of("evidence")
    (0.0, 2.0, 0.5, 'evidence')
    """
    if given is not None and not isinstance(given, str):
        return validation.number("prior", given, min_value=0)
    found = parse_prior(given, Normal())
    if isinstance(found, EmpiricalBayesPrior):
        return "evidence"
    return found.equivalent_sample_size if isinstance(found, PooledPrior) else 0.0


def uniform_prior(word: str | None, size: int) -> FinitePrior:
    """The prior of hypotheses or experts that a word stands for; the only one is "uniform"."""
    if word is None:
        raise ParameterError("`prior` must not be None: hypotheses and experts need one", hint='prior="uniform"')
    word = validation.choice("prior", word, ["uniform"])
    from bayeslearn.distributions.finite_hypotheses import FinitePrior  # noqa: PLC0415 - few ask for it

    return FinitePrior.uniform(size)


def dirichlet_prior(given: Any) -> Dirichlet | DirichletRule:
    """The prior of probabilities that do not depend on other rows: of classes, states and tables of a network."""
    found = parse_prior(given, Categorical(1))
    if isinstance(found, Dirichlet | DirichletRule):
        return found
    raise ParameterError(
        f"there is no prior {given!r:.60} of these probabilities",
        hint="take none, m:SIZE, laplace, k2, jeffreys, bdeu:SIZE or a Dirichlet",
    )


def of_states(word: str, number: float | None) -> DirichletRule | None:
    """The prior of states that a word stands for, if it is one of these."""
    per_state = {"none": 0.0, "laplace": 1.0, "k2": 1.0, "jeffreys": 0.5}
    if word in per_state and number is None:
        return DirichletRule(per_state=per_state[word])
    if word == "m" and (number is None or number >= 0):
        return DirichletRule(per_row=1.0 if number is None else number)
    if word == "bdeu" and (number is None or number > 0):
        return DirichletRule(per_table=1.0 if number is None else number)
    return None


def number_of(text: str) -> float:
    """An equivalent sample size; −1, which no prior has, for anything else."""
    try:
        number = float(text)
    except ValueError:
        return -1.0
    return number if math.isfinite(number) else -1.0


def one_row(statistics: Any) -> Any:
    """The statistics of all rows together, as of one."""
    arrays, kind = statistics.arrays(), type(statistics)
    return reduce(add, (kind(*(a[j : j + 1] for a in arrays)) for j in range(len(arrays[0]))))


def n_rows(statistics: Any) -> int:
    """How many rows statistics have."""
    return len(statistics.arrays()[0])


@dataclass(frozen=True, eq=False)
class PriorCases(Statistics):
    """Statistics of cases, seen or before the data; the first field is how many."""

    #: The name of the distribution of the cases.
    likelihood: ClassVar[str]

    n: Floats

    @classmethod
    def none(cls) -> Self:
        """No case at all."""
        return by_name(cls.likelihood)().zero()

    def of(self, shape: tuple[int, ...]) -> Self:
        """The same cases in every row."""
        rows = self.n.ndim
        return type(self)(*(np.broadcast_to(a, (*shape, *a.shape[rows:])) for a in self.arrays()))

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        pairs = zip(self.arrays()[1:], other.arrays()[1:], strict=True)
        return type(self)(remaining(self.n, other.n), *(a - b for a, b in pairs))  # sums may be below 0

    def mean(self, otherwise: Any = None) -> Any:
        """The most likely parameters; `otherwise` in rows without cases."""
        empty = self.n <= NOTHING
        if not empty.any():
            return by_name(self.likelihood)().most_likely(self)
        if otherwise is None:
            raise EvidenceError(
                "an estimate is undefined: it is based on no rows", hint="give a prior, for instance pooled:1"
            )
        some = by_name(self.likelihood)().like(otherwise, 1.0)
        filled = type(self)(*(
            np.where(empty.reshape(empty.shape + (1,) * (a.ndim - empty.ndim)), b, a)
            for a, b in zip(self.arrays(), some.of(self.n.shape).arrays(), strict=True)
        ))  # fmt: skip
        found, kept = by_name(self.likelihood)().most_likely(filled), otherwise
        return type(found)(*(np.where(empty, b, a) for a, b in zip(found, kept, strict=True)))

    mode = mean

    def log_cases(self, parameters: Any) -> Floats:
        """The log likelihood of the cases."""
        return by_name(self.likelihood)().log_likelihood(self, parameters)

    def draw(self, random_state: np.random.Generator | int | None = None) -> Any:  # noqa: ARG002 - as of other priors
        """There is no distribution to draw from."""
        raise ParameterError(f"parameters of a {self.likelihood} distribution cannot be drawn, only estimated")

    def interval(self, level: float = 0.95) -> Any:  # noqa: ARG002 - as of other priors
        """There are no credible bounds."""
        raise ParameterError(f"parameters of a {self.likelihood} distribution have no credible bounds")


class CasesDistribution(Distribution[Any, Any]):
    """A distribution of numbers whose prior is cases."""

    n_free: ClassVar[int] = 2

    @abstractmethod
    def most_likely(self, statistics: Any) -> Any:
        """The parameters under which statistics are most likely; every row has some."""

    @abstractmethod
    def log_likelihood(self, statistics: Any, parameters: Any) -> Floats:
        """ln P of the cases behind statistics, one number per row."""

    def update(self, prior: Any, statistics: Any) -> Any:
        """Cases before the data and seen ones."""
        return prior.of(statistics.n.shape) + statistics

    def log_evidence(self, prior: Any, statistics: Any) -> Floats:
        """As by BIC; see the module."""
        before, after = prior.of(statistics.n.shape), self.update(prior, statistics)
        if (before.n <= NOTHING).any():
            raise ImproperPriorError("a prior without cases has no evidence", hint="take pooled:1")
        value = [self.log_likelihood(cases, self.most_likely(cases)) for cases in (after, before)]
        return value[0] - value[1] - self.n_free / 2 * np.log(after.n / before.n)

    def predictive(self, posterior: Any) -> Plugged:
        """The distribution with its estimate."""
        return Plugged(self, posterior.mean())

    def zero(self, rows: tuple[int, ...] = ()) -> Any:
        """No data."""
        return self.prior_type(*(np.zeros(rows) for _ in fields(self.prior_type)))


@dataclass(frozen=True)
class Plugged:
    """A prediction that takes estimated parameters for the true ones."""

    distribution: Any
    parameters: Any

    def log_prob(self, x: ArrayLike) -> Floats:
        """Log probability of each case."""
        return self.distribution.log_prob(self.parameters, x)

    def mean(self) -> Floats:
        """The center of each row."""
        return self.distribution.centers(self.parameters)

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """Cases at random."""
        return self.distribution.draw(self.parameters, n, random_state)


def rows_of(parameters: Any) -> tuple[int, ...]:
    """The shape of the rows of parameters."""
    return np.shape(first_of(parameters))
