"""Every family once, with a prior, a strategy for one case and a case that is missing. The laws run over this table."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayeslearn.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    FiniteHypotheses,
    FinitePrior,
    Gamma,
    KernelDensity,
    LinearGaussian,
    LogCases,
    LogNormal,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    PointMassCases,
    Poisson,
    RegressionPrior,
    ZeroInflated,
)
from tests.properties import trials

LAWS = trials(25)

reals = st.floats(-100, 100, allow_nan=False).map(lambda v: round(v, 3))
amounts = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
nan = float("nan")


@dataclass(frozen=True)
class Kind:
    """One line of the table."""

    name: str
    family: Any
    prior: Any
    case: Any
    missing: Any
    parameters: Any
    #: Whether evidence and predictions have a closed form, which agree.
    is_conjugate: bool = True

    def __str__(self):
        return self.name

    def cases(self, values):
        """Cases as the family takes them, also when there are none."""
        x = np.asarray(values, dtype=float if isinstance(self.missing, float | tuple) else int)
        return x.reshape(-1, len(self.missing)) if isinstance(self.missing, tuple) else x


def vectors(d):
    return st.tuples(*[reals] * d)


def normal_kind(covariance):
    family = MultivariateNormal(2, covariance)
    prior = family.unit_information([1.0, -1.0], [[4.0, 1.0], [1.0, 9.0]], equivalent_sample_size=6)
    Σ = {"full": [[2.0, 0.5], [0.5, 1.0]], "tied": [[2.0, 0.5], [0.5, 1.0]], "diag": [2.0, 1.0], "spherical": 2.0}
    return Kind(covariance, family, prior, vectors(2), (nan, nan), (np.array([1.0, 3.0]), np.array(Σ[covariance])))


KINDS = [
    Kind("categorical", Categorical(3), Dirichlet([1.0, 2.0, 0.5]), st.integers(0, 2), -1, np.array([0.2, 0.5, 0.3])),
    Kind(
        "kernel density",
        KernelDensity(4),
        Dirichlet([1.0, 2.0, 0.5, 1.0]),
        st.integers(0, 3),
        -1,
        np.array([0.2, 0.4, 0.3, 0.1]),
        is_conjugate=False,
    ),
    Kind(
        "zero inflated",
        ZeroInflated(),
        PointMassCases(3.0, 2.0, 1.0, 4.0),
        reals | st.just(0.0),
        nan,
        (np.array(0.3), np.array(1.0), np.array(4.0)),
        is_conjugate=False,
    ),
    Kind(
        "log normal",
        LogNormal(),
        LogCases(3.0, 2.0, 1.0, 4.0),
        st.just(0.0) | reals.map(abs),
        nan,
        (np.array(0.3), np.array(1.0), np.array(4.0)),
        is_conjugate=False,
    ),
    Kind("bernoulli", Bernoulli(), Beta(2.0, 3.0), st.integers(0, 1), -1, np.array(0.3)),
    Kind(
        "finite",
        FiniteHypotheses(3),
        FinitePrior.given([0.2, 0.3, 0.5]),
        st.tuples(*[st.floats(-3, 0).map(lambda v: round(v, 3))] * 3),
        (0.0, 0.0, 0.0),
        np.array([0.2, 0.3, 0.5]),
    ),
    Kind("poisson", Poisson(), Gamma(6.0, 2.0), st.integers(0, 30), nan, np.array(2.5)),
    Kind(
        "gaussian",
        Normal(),
        NormalInverseGamma(1.0, 2.0, 6.0, 8.0),
        reals,
        nan,
        (np.array(1.0), np.array(4.0)),
    ),
    *(normal_kind(covariance) for covariance in ("full", "tied", "diag", "spherical")),
    Kind(
        "linear",
        LinearGaussian(2),
        RegressionPrior.unit_information(
            2, mean=1.0, var=4.0, x_mean=[0.5, -0.5], x_var=[1.0, 2.0], equivalent_sample_size=8
        ),
        vectors(3),
        (1.0, 2.0, nan),
        (np.array(1.0), np.array([2.0, -1.0]), np.array(0.5)),
    ),
]


def samples(kind, *, min_size=0, max_size=8):
    """Arrays of cases."""
    return st.lists(kind.case, min_size=min_size, max_size=max_size).map(kind.cases)


def weights(n):
    """Row weights for n cases."""
    return st.lists(amounts, min_size=n, max_size=n).map(lambda w: np.array(w, dtype=float))


@st.composite
def weighted(draw, kind, *, min_size=0, max_size=8):
    """Cases and their weights."""
    x = draw(samples(kind, min_size=min_size, max_size=max_size))
    return x, draw(weights(len(x)))


@st.composite
def statistics(draw, kind):
    """Statistics of a few cases."""
    x, w = draw(weighted(kind))
    return kind.family.collect(x, sample_weight=w)


def row(statistic, k):
    """One row of parameters of a statistic."""
    return type(statistic)(*(array[k] for array in statistic.arrays()))


def parts(prior):
    """The arrays of a prior."""
    return [getattr(prior, field.name) for field in fields(prior)]
