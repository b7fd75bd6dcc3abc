"""Linear regression: by hand, side by side, missing cells, and what is refused."""

import numpy as np
import pytest

from bayeslearn.distributions import LinearGaussian, Normal, NormalInverseGamma, RegressionPrior
from bayeslearn.errors import EvidenceError, ImproperPriorError, MissingValuesError, ParameterError, ShapeError

RNG = np.random.default_rng(30)
X = np.array([0.0, 1.0, 5.0, 6.0])  # mean 3, squared deviations 26


def close(a, b, *, rtol=1e-12, atol=0.0):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def line():
    family = LinearGaussian(1)
    return family, family.cases([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 5.0])  # slope 1.4, intercept 0.9


def test_least_squares_by_hand():
    family, z = line()
    a, b, var = family.estimate(family.fit(z, prior=RegressionPrior.none(1)))
    close((a, b[0], var), (0.9, 1.4, 0.2 / 4))
    mode = family.estimate(family.fit(z, prior=RegressionPrior.reference(1)), how="mode")
    close(mode.var, 0.2 / (2 * (1 + 1 + 1)))  # α' = (4 − 2)/2 = 1, and β/(α + 1 + (d + 1)/2)


def test_a_missing_output_adds_nothing_a_missing_input_is_refused():
    family, z = line()
    hole = np.vstack([z, [9.0, np.nan], [np.nan, np.nan]])
    assert family.collect(hole) == family.collect(z)
    assert family.log_prob((0.0, [1.0], 1.0), hole)[-2:].tolist() == [0.0, 0.0]
    predictive = family.predictive(family.fit(z, prior=RegressionPrior.reference(1)))
    assert predictive.log_prob(hole)[-2:].tolist() == [0.0, 0.0]
    for ask in (family.collect, predictive.log_prob, lambda x: family.log_prob((0.0, [1.0], 1.0), x)):
        with pytest.raises(MissingValuesError, match=r"input \(0, 0\) is missing.*\n\nhint: .*only y may be missing"):
            ask([[np.nan, 1.0]])
    with pytest.raises(MissingValuesError, match="is missing"):
        predictive.at([[np.nan]])


def test_regressions_side_by_side():
    family, z = line()
    groups = np.array([0, 0, 0, 1])
    posterior = family.fit(
        np.vstack([z, z[::-1]]), prior=RegressionPrior.ridge(1, 1.0), groups=np.concatenate([groups, 1 - groups])
    )
    parameters = family.estimate(posterior)
    assert [p.shape for p in parameters] == [(2,), (2, 1), (2,)]
    assert family.log_prob(parameters, z).shape == (4, 2)
    assert family.log_prob(parameters, z, groups=groups).shape == (4,)
    assert family.draw(parameters, z[:, :1], 1).shape == (4, 2)
    predictive = family.predictive(posterior)
    assert predictive.log_prob(z).shape == (4, 2)
    assert predictive.draw(z[:, :1], 1).shape == predictive.mean(z[:, :1]).shape == (4, 2)
    assert [p.shape for p in posterior.interval()[0]] == [(2,), (2, 1), (2,)]
    assert [p.shape for p in posterior.draw(1)] == [(2,), (2, 1), (2,)]


def test_no_input_at_all_is_the_normal_family():
    y = X[:, None]
    family, prior = LinearGaussian(0), RegressionPrior.unit_information(0, mean=1.0, var=2.0, equivalent_sample_size=3)
    same = NormalInverseGamma.unit_information(1.0, 2.0, equivalent_sample_size=3)
    posterior, normal = family.fit(y, prior=prior), Normal().fit(X, prior=same)
    a, b, var = family.estimate(posterior)
    assert b.shape == (0,)
    close((a, var), normal.mean())
    close(family.log_evidence(prior, family.collect(y)), Normal().log_evidence(same, Normal().collect(X)))
    close(family.predictive(posterior).log_prob(y), normal.predictive().log_prob(X))
    low, high = posterior.interval()
    close((low.intercept, high.intercept), (normal.interval()[0].mean, normal.interval()[1].mean))
    assert family.draw((0.0, np.zeros(0), 1.0), np.empty((5, 0)), 1).shape == (5,)


def test_a_prior_given_by_its_parts():
    prior = RegressionPrior.given(
        [2.0, -1.0], [[2.0, 0.5], [0.5, 1.0]], alpha=3, beta=4, intercept=1.0, kappa=2, center=[1, 1]
    )
    a, b, var = prior.mean()
    close((a, *b, var), (1.0, 2.0, -1.0, 2.0))
    text = "NIG(κ=2, center=[1, 1, 2], Λ=[[2, 0.5], [0.5, 1]], α=3)"
    assert repr(prior) == text


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: LinearGaussian(-1), ParameterError, "`dim` must be at least 0, got -1"),
        (lambda: LinearGaussian(1).cases([[1.0]], [1.0, 2.0]), ShapeError, "one y per row of X, got 2 for 1 rows"),
        (lambda: LinearGaussian(1).collect([[1.0]]), ShapeError, r"shape \(n, 2\), got \(1, 1\)"),
        (
            lambda: LinearGaussian(1).log_prob((0.0, [1.0, 2.0], 1.0), [[1.0, 1.0]]),
            ShapeError,
            r"shapes rows, \(\*rows, 1\) and rows, got \(\), \(2,\) and \(\)",
        ),
        (lambda: LinearGaussian(1).log_prob((0.0, [1.0], 0.0), [[1.0, 1.0]]), ParameterError, "above 0, got 0"),
        (
            lambda: LinearGaussian(1).fit([[1.0, 1.0]], prior=RegressionPrior.none(1)).mean(),
            EvidenceError,
            "the inputs do not determine the coefficients: too few cases, a constant column or collinear ones",
        ),
        (
            lambda: LinearGaussian(2).fit(RNG.normal(size=(9, 1)) * [1, 2, 3], prior=RegressionPrior.none(2)).mean(),
            EvidenceError,
            "the inputs do not determine the coefficients.*\n\nhint: .*ridge",
        ),
        (lambda: RegressionPrior.none(1).mean(), EvidenceError, "the mean is undefined: it is based on no rows"),
        (
            lambda: LinearGaussian(1).fit(line()[1], prior=RegressionPrior.reference(1)).mean(),
            EvidenceError,
            "the mean of the variance is undefined: it is based on too few rows",
        ),
        (lambda: RegressionPrior.ridge(1, 1.0).draw(), EvidenceError, "a draw is undefined: it takes more cases than"),
        (
            lambda: LinearGaussian(1).fit([[0, 1], [1, 2], [2, 3]], prior=RegressionPrior.none(1)).interval(),
            EvidenceError,
            "an interval is undefined: .* some noise",
        ),
        (
            lambda: RegressionPrior(1.0, [0.0, 0.0], np.diag([0.0, 1.0]), 2.0).predictive(np.zeros((1, 1))),
            EvidenceError,
            "a prediction is undefined",
        ),
        (
            lambda: LinearGaussian(1).log_evidence(RegressionPrior.ridge(1, 1.0), LinearGaussian(1).zero()),
            ImproperPriorError,
            "its evidence is undefined",
        ),
        (lambda: RegressionPrior.none(1).log_pdf((0.0, [0.0], 1.0)), ImproperPriorError, "its density is undefined"),
        (lambda: RegressionPrior.ridge(1, 0.0), ParameterError, "`precision` must be above 0, got 0"),
        (lambda: RegressionPrior.none(-1), ParameterError, "`dim` must be at least 0"),
        (lambda: RegressionPrior.unit_information(1, var=-1), ParameterError, "`var` must be finite and not negative"),
        (
            lambda: RegressionPrior.unit_information(1, equivalent_sample_size=0),
            ParameterError,
            "`equivalent_sample_size` must be above 0",
        ),
        (
            lambda: RegressionPrior.given([1.0], np.eye(2), alpha=1, beta=1),
            ShapeError,
            r"expected `coef` \(d,\) and `precision` \(d, d\), got \(1,\) and \(2, 2\)",
        ),
        (lambda: RegressionPrior(0.0, 0.0, np.eye(2), 1.0), ShapeError, r"got \(\) and \(2, 2\)"),
        (lambda: RegressionPrior(-1.0, [0.0], [[0.0]], 1.0), ParameterError, "`kappa` must be finite and not negative"),
        (lambda: RegressionPrior(0.0, [np.nan], [[0.0]], 1.0), ParameterError, "must be finite"),
        (
            lambda: RegressionPrior([0.0, 0.0], np.zeros((3, 1)), [[0.0]], 1.0),
            ShapeError,
            r"do not fit each other: kappa \(2,\), center \(3,\)",
        ),
        (
            lambda: LinearGaussian(2).fit(np.eye(3), prior=RegressionPrior.none(1)),
            ShapeError,
            r"a prior of shape \(2,\) does not fit parameters of shape \(3,\)",
        ),
    ],
)
def test_linear_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()
