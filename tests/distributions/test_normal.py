"""The normal family: what each prior gives, shared variances, and what is refused."""

import numpy as np
import pytest

from bayeslearn.distributions import Normal, NormalInverseGamma, StudentT
from bayeslearn.errors import DataError, EvidenceError, ImproperPriorError, ParameterError, ShapeError

X = np.array([0.0, 1.0, 5.0, 6.0])  # mean 3, squared deviations 26


def close(a, b, *, rtol=1e-12, atol=0.0):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("prior", "mean_of", "mode_of"),
    [
        (NormalInverseGamma.none(), 0, 5),
        (NormalInverseGamma.flat(), -5, 0),
        (NormalInverseGamma.reference(), -3, 2),
    ],
)
def test_what_the_improper_priors_give(prior, mean_of, mode_of):
    """The table of the module: M / (n + …)."""
    x = np.tile(X, 2)  # 8 cases, M = 52
    posterior = Normal().fit(x, prior=prior)
    close(posterior.mean(), (3.0, 52 / (8 + mean_of)))
    close(posterior.mode(), (3.0, 52 / (8 + mode_of)))


def test_unit_information_is_the_m_estimate():
    posterior = Normal().fit(X, prior=NormalInverseGamma.unit_information(mean=3, var=2, equivalent_sample_size=4))
    close(posterior.mean(), (3.0, (26 + 4 * 2) / (4 + 4)))
    none = NormalInverseGamma.unit_information(mean=3, var=2, equivalent_sample_size=0)
    close(Normal().fit(X, prior=none).mean(), (3.0, 26 / 4))


def test_normal_repr_shows_the_mathematics():
    assert repr(NormalInverseGamma(0, 1, 2, 0.5)) == "NIG(μ=0, κ=1, α=2, β=0.5)"
    assert repr(StudentT(3, 0, 1)) == "t(ν=3, μ=0, s=1)"


def test_normal_rows():
    posterior = Normal().fit(X, prior=NormalInverseGamma.none(), groups=[0, 0, 1, 1], n_groups=2)
    close(posterior.mean(), ([0.5, 5.5], [0.25, 0.25]))
    proper = Normal().fit(X, prior=NormalInverseGamma(0, 1, 2, 1), groups=[0, 0, 1, 1], n_groups=3)
    predictive = Normal().predictive(proper)
    assert predictive.log_prob(X).shape == (4, 3)
    assert predictive.draw(5, 1).shape == (5, 3)
    assert predictive.interval()[0].shape == (3,)
    assert Normal().draw(proper.mean(), 5, 1).shape == (5, 3)


def test_a_variance_may_be_shared():
    shared = NormalInverseGamma(np.zeros(3), 2.0, [4.0], [6.0])
    assert shared.sharing == 3
    close(shared.mean().var, [2.0])
    close(shared.mode().var, [6.0 / (4 + 1 + 1.5)])
    assert shared.draw(1).mean.shape == (3,)
    assert shared.log_pdf((np.zeros(3), [2.0])).shape == (1,)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: NormalInverseGamma(0, -1, 1, 1), ParameterError, "`kappa` must be finite and not negative, got -1.0"),
        (lambda: NormalInverseGamma(0, 1, 1, -1), ParameterError, "`beta` must be finite and not negative, got -1.0"),
        (lambda: NormalInverseGamma(np.nan, 1, 1, 1), ParameterError, "`mu` must be finite, got nan"),
        (lambda: NormalInverseGamma([0, 1], [1, 1, 1], 1, 1), ShapeError, r"do not fit each other: mu \(2,\), kappa"),
        (lambda: NormalInverseGamma.unit_information(0, -1), ParameterError, "`var` must be finite and not negative"),
        (
            lambda: NormalInverseGamma.unit_information(0, 1, -1),
            ParameterError,
            "`equivalent_sample_size` must be at least 0, got -1",
        ),
        (lambda: NormalInverseGamma.none().mean(), EvidenceError, "the mean is undefined: it is based on no rows"),
        (lambda: NormalInverseGamma.none().mode(), EvidenceError, "the mode is undefined: it is based on no rows"),
        (lambda: NormalInverseGamma.none().draw(), EvidenceError, "a draw is undefined: κ, α and β must be above 0"),
        (lambda: NormalInverseGamma.none().interval(), EvidenceError, "an interval is undefined"),
        (lambda: NormalInverseGamma.none().predictive(), EvidenceError, "a prediction is undefined"),
        (lambda: NormalInverseGamma.none().log_pdf((0, 1)), ImproperPriorError, "must be above 0"),
        (lambda: NormalInverseGamma(0, 1, 2, 1).log_pdf((0, 0)), ParameterError, "finite and above 0, got 0"),
        (
            lambda: Normal().log_evidence(NormalInverseGamma.reference(), Normal().collect(X)),
            ImproperPriorError,
            "its evidence is undefined",
        ),
        (
            lambda: Normal().fit(X[:3], prior=NormalInverseGamma.reference()).mean(),
            EvidenceError,
            "the mean of the variance is undefined: it is based on too few rows\n\nhint: use the mode",
        ),
        (
            lambda: NormalInverseGamma(0, 1, -3, 0).mode(),
            EvidenceError,
            "the mode of the variance is undefined: it is based on too few rows",
        ),
        (
            lambda: Normal().fit([2.0, 2.0], prior=NormalInverseGamma.none()).predictive(),
            EvidenceError,
            "enough cases that are not all alike",
        ),
        (
            lambda: Normal().fit(X, prior=NormalInverseGamma.none(), groups=[0, 0, 0, 0], n_groups=2).mean(),
            EvidenceError,
            r"it is based on no rows \(row 1\)",
        ),
        (
            lambda: Normal().predictive(Normal().fit(X[:2], prior=NormalInverseGamma.reference())).mean(),
            EvidenceError,
            "at most one degree of freedom",
        ),
        (lambda: Normal().collect([1.0, -np.inf]), DataError, "cells must be finite, got -inf at 1"),
        (lambda: Normal().collect([[1.0]]), ShapeError, r"expected cases of shape \(n,\), got \(1, 1\)"),
        (lambda: Normal().collect(1.0), ShapeError, r"expected cases of shape \(n,\), got \(\)"),
        (lambda: Normal().log_prob((0.0, 0.0), X), ParameterError, "above 0, got 0\n\nhint: cases that are all alike"),
        (lambda: Normal().log_prob(([0.0, 1.0], [1.0, np.nan]), X), ParameterError, r"above 0.*\(row 1\)"),
    ],
)
def test_normal_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


def test_cases_all_alike_have_variance_zero():
    close(Normal().fit([2.0, 2.0], prior=NormalInverseGamma.none()).mean(), (2.0, 0.0))
