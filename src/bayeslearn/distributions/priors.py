"""The one grammar of priors, for every learner and every distribution.

    none          no prior cases: maximum likelihood; so is None
    m:2           2 cases in every row, spread evenly over states; numbers as in pooled:2
    pooled:1      1 case in every row that looks like all data together
    evidence      pooled, with as many cases as the data themselves have the highest evidence for
    laplace, k2   one case in every state        jeffreys   half a case in every state
    bdeu:1        1 case in a table, spread evenly over its rows and states

The last four are of states; numbers take pooled:1 beside them, so that one word serves a table of both. An object that
a distribution takes (a Dirichlet, a normal-inverse-gamma, ...) stands for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.categorical import Categorical, Dirichlet, DirichletRule
from bayeslearn.distributions.finite_hypotheses import FinitePrior
from bayeslearn.distributions.normal import Normal
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.distributions.distribution import Distribution

#: How many cases of a pooled prior are tried.
CASES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

HINT = "priors are none, m:CASES, pooled:CASES, evidence, laplace, k2, jeffreys and bdeu:CASES, for instance m:2"


@dataclass(frozen=True)
class PooledPrior:
    """`cases` in every row that look like all rows together: the m-estimate with p taken from the whole column.

    It needs no units, so it fits words, numbers and counts alike; and as it is read off the statistics when they are
    read, models still add, forget and fade exactly.

    >>> from bayeslearn.distributions import Categorical, Counts
    >>> PooledPrior(2).given(Categorical(2), Counts([[3, 0], [0, 1]]))
    Dirichlet(α=[[1.4, 0.6], [1.4, 0.6]])
    """

    cases: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", validation.number("cases", self.cases, above=0))

    def given(self, distribution: Distribution[Any, Any], statistics: Any) -> Any:
        """The prior for these statistics of all rows; None for cases that are all alike."""
        whole = one_row(statistics)
        if not distribution.varies(whole):
            return None
        return distribution.shaped(distribution.pooled(whole, self.cases), n_rows(statistics))


@dataclass(frozen=True)
class EmpiricalBayesPrior:
    """Pooled cases, as many as the column itself has the highest evidence for: few where rows differ much.

        max_m Π_rows P(data of the row | PooledPrior(m))

    >>> from bayeslearn.distributions import Categorical, Counts
    >>> apart, alike = Counts([[90, 10], [10, 90]]), Counts([[48, 52], [51, 49]])
    >>> EmpiricalBayesPrior().pooled(Categorical(2), apart), EmpiricalBayesPrior().pooled(Categorical(2), alike)
    (PooledPrior(cases=1.0), PooledPrior(cases=64.0))
    """

    def given(self, distribution: Distribution[Any, Any], statistics: Any) -> Any:
        """The prior for these statistics of all rows."""
        return self.pooled(distribution, statistics).given(distribution, statistics)

    def pooled(self, distribution: Distribution[Any, Any], statistics: Any) -> PooledPrior:
        """The best of :data:`CASES`, the fewest when tied; one case where there is nothing to go by."""
        if PooledPrior().given(distribution, statistics) is None:
            return PooledPrior()
        priors = [PooledPrior(m).given(distribution, statistics) for m in CASES]
        evidence = [float(distribution.log_evidence(prior, statistics).sum()) for prior in priors]
        return PooledPrior(CASES[int(np.argmax(evidence))]) if max(evidence) > min(evidence) else PooledPrior()


#: Priors that wait for the statistics.
Rule = PooledPrior | EmpiricalBayesPrior


def parse_prior(given: Any, distribution: Distribution[Any, Any]) -> Any:
    """A prior from a word, from None (no prior cases), or as it is.

    >>> from bayeslearn.distributions import Categorical, Normal
    >>> parse_prior("m:2", Categorical(3)), parse_prior("m:2", Normal())
    (Dirichlet(α₀=2 per row), PooledPrior(cases=2.0))
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
    """How many cases a prior of numbers is worth: a number as it is, or the word of one; 0 is no prior.

    >>> cases_of(None), cases_of("pooled:2"), cases_of(0.5), cases_of("evidence")
    (0.0, 2.0, 0.5, 'evidence')
    """
    if given is not None and not isinstance(given, str):
        return validation.number("prior", given, min_value=0)
    found = parse_prior(given, Normal())
    if isinstance(found, EmpiricalBayesPrior):
        return "evidence"
    return found.cases if isinstance(found, PooledPrior) else 0.0


def uniform_prior(word: str | None, size: int) -> FinitePrior:
    """The prior of hypotheses or experts that a word stands for; the only one is "uniform"."""
    if word is None:
        raise ParameterError("`prior` must not be None: hypotheses and experts need one", hint='prior="uniform"')
    word = validation.choice("prior", word, ["uniform"])
    return FinitePrior.uniform(size)


def dirichlet_prior(given: Any) -> Dirichlet | DirichletRule:
    """The prior of probabilities that do not depend on other rows: of classes, states and tables of a network."""
    found = parse_prior(given, Categorical(1))
    if isinstance(found, Dirichlet | DirichletRule):
        return found
    raise ParameterError(
        f"there is no prior {given!r:.60} of these probabilities",
        hint="take none, m:CASES, laplace, k2, jeffreys, bdeu:CASES or a Dirichlet",
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
    """A number of cases; −1, which no prior has, for anything else."""
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
