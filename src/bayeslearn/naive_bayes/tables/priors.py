"""Priors of the columns: objects of the families, or a rule that waits for the statistics.

    Pooled(m)     every class has seen m cases before that look like the rows of all classes together
    Evidenced()   the m of the highest evidence, of a column: max_m Π_c P(column in class c | Pooled(m))

The m-estimate with p taken from the whole column. It needs no units, so it fits words, numbers and counts alike; and as
it is read off the statistics when they are read, models still add, forget and fade exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.families import (
    Categorical,
    Counts,
    Dirichlet,
    Gamma,
    Moments,
    Normal,
    NormalInverseGamma,
    Poisson,
    Totals,
)
from bayeslearn.families.categorical import DirichletRule
from bayeslearn.families.moments import MEAN_ROUNDING
from bayeslearn.families.statistics import ratio
from bayeslearn.tables.schema import require_known


@dataclass(frozen=True)
class Pooled:
    """`cases` in every class that look like the rows of all classes together.

    >>> Pooled(2).given(Counts([[3, 0], [0, 1]]))
    Dirichlet(α=[[1.4, 0.6], [1.4, 0.6]])
    """

    cases: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", validation.number("cases", self.cases, above=0))

    def given(self, statistics: Any) -> Any:
        """The prior for these statistics of all classes; None for a column of numbers that are all alike."""
        if isinstance(statistics, Counts):
            n = statistics.n.sum(axis=0)
            return Dirichlet(self.cases * (n + 1 / len(n)) / (n.sum() + 1)).of(statistics.n.shape)
        if isinstance(statistics, Totals):
            rate = (statistics.total.sum() + 0.5) / (statistics.n.sum() + 1)
            return Gamma.m_estimate(self.cases, rate).of(statistics.n.shape)
        mean, var = whole(statistics)
        if var <= (MEAN_ROUNDING * mean) ** 2:
            return None
        return NormalInverseGamma.unit_information(mean, var, self.cases).of(statistics.n.shape)


@dataclass(frozen=True)
class Evidenced:
    """Pooled cases, as many as the column itself has the highest evidence for: few where classes differ much.

    >>> apart, alike = Counts([[90, 10], [10, 90]]), Counts([[48, 52], [51, 49]])
    >>> Evidenced().pooled(apart), Evidenced().pooled(alike)
    (Pooled(cases=1.0), Pooled(cases=64.0))
    """

    def given(self, statistics: Any) -> Any:
        """The prior for these statistics of all classes."""
        return self.pooled(statistics).given(statistics)

    def pooled(self, statistics: Any) -> Pooled:
        """The best of :data:`CASES`, the fewest when tied; one case where there is nothing to go by."""
        if Pooled().given(statistics) is None:
            return Pooled()
        likelihood = LIKELIHOODS[type(statistics)](statistics)
        evidence = [float(likelihood.log_evidence(Pooled(m).given(statistics), statistics).sum()) for m in CASES]
        return Pooled(CASES[int(np.argmax(evidence))]) if max(evidence) > min(evidence) else Pooled()


#: How many cases of a prior are tried.
CASES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: The family of statistics.
LIKELIHOODS: dict[type, Callable[[Any], Any]] = {
    Counts: lambda counts: Categorical(counts.n.shape[1]),
    Moments: lambda _: Normal(),
    Totals: lambda _: Poisson(),
}


def whole(moments: Moments) -> tuple[float, float]:
    """The mean and the variance of all classes together."""
    n = float(moments.n.sum())
    mean = float(ratio(moments.n @ moments.mean, n))
    return mean, float(ratio(moments.m2.sum() + moments.n @ (moments.mean - mean) ** 2, n))


#: Priors that wait for the statistics.
Rule = Pooled | Evidenced

ColumnPrior = Dirichlet | DirichletRule | NormalInverseGamma | Gamma | Rule

#: The priors that each family takes.
KINDS: dict[str, tuple[Any, ...]] = {
    "categorical": (Dirichlet, DirichletRule, Pooled, Evidenced),
    "normal": (NormalInverseGamma, Pooled, Evidenced),
    "poisson": (Gamma, Pooled, Evidenced),
}

#: No cases before the data, by family: plain fractions, sample means and variances.
NONE: dict[str, Any] = {
    "categorical": DirichletRule(per_state=0.0),
    "normal": NormalInverseGamma.none(),
    "poisson": Gamma.none(),
}


def prior_of(prior: Any, name: str, family: str) -> ColumnPrior:
    """The prior of one column: its own, one for all of its family, or the default."""
    if isinstance(prior, Mapping):
        return prior_of(prior.get(name), name, family)
    if isinstance(prior, str):
        return named(prior, family)
    if isinstance(prior, KINDS[family]):
        return prior
    if prior is None or isinstance(prior, tuple(kind for kinds in KINDS.values() for kind in kinds)):
        return Pooled()  # none was said, or one for columns of another family
    raise ParameterError(
        f"column {name!r} cannot have the prior {prior!r}",
        hint="priors are objects of the families, Pooled(cases), or names: evidence, pooled:1, laplace, mle, m:2",
    )


def named(text: str, family: str) -> ColumnPrior:
    """A prior by its name: evidence, mle, laplace, jeffreys, m:CASES, pooled:CASES.

    Numbers and counts know evidence, mle and pooled only.

    >>> named("m:2", "categorical"), named("m:2", "normal")
    (Dirichlet(α₀=2 per row), Pooled(cases=2.0))
    """
    name, _, number = text.partition(":")
    try:
        cases = float(number) if number else 1.0
    except ValueError:
        cases = np.nan
    if name == "evidence" and not number:
        return Evidenced()
    if name == "mle" and not number:
        return NONE[family]
    if name in {"laplace", "jeffreys"} and not number:
        return DirichletRule(per_state=1.0 if name == "laplace" else 0.5) if family == "categorical" else Pooled()
    if name == "m" and family == "categorical" and cases == 0:
        return NONE[family]
    if name in {"m", "pooled"} and cases > 0 and np.isfinite(cases):
        return DirichletRule(per_row=cases) if name == "m" and family == "categorical" else Pooled(cases)
    raise ParameterError(
        f"there is no prior {text!r}",
        hint="priors are evidence, mle, laplace, jeffreys, m:CASES and pooled:CASES, for instance m:2",
    )


def class_prior_of(prior: Any) -> Dirichlet | DirichletRule:
    """The prior of the classes, by name or as it is; one case of each when not given."""
    if prior is None:
        return DirichletRule(per_state=1.0)
    if isinstance(prior, str):
        prior = named(prior, "categorical")
    if isinstance(prior, Dirichlet | DirichletRule):
        return prior
    raise ParameterError(f"the classes cannot have the prior {prior!r}", hint="give a Dirichlet, laplace, mle or m:2")


def require_columns(what: str, given: Any, names: list[str]) -> None:
    """A mapping speaks of columns that are there."""
    if isinstance(given, Mapping):
        try:
            require_known(list(given), names)
        except ParameterError as error:
            raise type(error)(f"`{what}`: {error.message}", hint=error.hint, columns=listed(given)) from None
