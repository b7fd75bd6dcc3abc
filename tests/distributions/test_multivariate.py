"""The four kinds of covariance: shapes, what each prior gives, missing cells, and what is refused."""

import pickle

import numpy as np
import pytest

from bayeslearn.distributions import (
    IndependentT,
    MultivariateNormal,
    MultivariateT,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    StudentT,
)
from bayeslearn.errors import EvidenceError, ImproperPriorError, MissingValuesError, ParameterError, ShapeError

RNG = np.random.default_rng(30)
KINDS = ["full", "tied", "diag", "spherical"]


def close(a, b, *, rtol=1e-12, atol=0.0):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("covariance", "shape"), [("full", (3, 2, 2)), ("tied", (2, 2)), ("diag", (3, 2)), ("spherical", (3,))]
)
def test_the_covariance_has_the_shape_of_its_kind(covariance, shape):
    family = MultivariateNormal(2, covariance)
    prior = family.unit_information(0.0, 1.0, equivalent_sample_size=5)
    x = RNG.normal(size=(12, 2))
    posterior = family.fit(x, prior=prior, groups=np.arange(12) % 3)
    for how in ("mean", "mode", "draw"):
        mean, Σ = family.estimate(posterior, how=how, random_state=1)
        assert mean.shape == (3, 2)
        assert Σ.shape == shape
        assert family.log_prob((mean, Σ), x).shape == (12, 3)
        assert family.log_prob((mean, Σ), x, groups=np.arange(12) % 3).shape == (12,)
        assert family.draw((mean, Σ), 4, random_state=1).shape == (4, 3, 2)
    evidence = family.log_evidence(prior, family.collect(x, groups=np.arange(12) % 3))
    assert evidence.shape == (() if covariance == "tied" else (3,))
    predictive = family.predictive(posterior)
    assert isinstance(predictive, MultivariateT if covariance in {"full", "tied"} else IndependentT)
    assert predictive.log_prob(x).shape == (12, 3)
    assert predictive.mean().shape == predictive.interval()[0].shape == (3, 2)
    assert predictive.draw(4, 1).shape == (4, 3, 2)
    assert family.collect([]) == family.zero()
    assert pickle.loads(pickle.dumps(family)) == family


def test_without_a_prior_every_kind_is_maximum_likelihood():
    x, g = RNG.normal(size=(30, 2)), np.arange(30) % 2
    centered = x - np.stack([x[g == k].mean(axis=0) for k in range(2)])[g]
    scatter = [centered[g == k].T @ centered[g == k] for k in range(2)]
    expected = {
        "full": np.stack(scatter) / 15,
        "tied": sum(scatter) / 30,
        "diag": np.stack([np.diagonal(s) for s in scatter]) / 15,
        "spherical": np.stack([np.trace(s) for s in scatter]) / 30,
    }
    for covariance, Σ in expected.items():
        family = MultivariateNormal(2, covariance)
        posterior = family.fit(x, prior=family.none(), groups=g)
        close(family.estimate(posterior).covariance, Σ)


def test_a_flat_density_has_its_mode_at_maximum_likelihood():
    x, g = RNG.normal(size=(30, 2)), np.arange(30) % 3
    flat = {
        "full": NormalInverseWishart.flat(2),
        "tied": NormalInverseWishart.flat(2, sharing=3),
        "diag": NormalInverseGamma.flat(),
        "spherical": NormalInverseGamma.flat(sharing=2),
    }
    for covariance, prior in flat.items():
        family = MultivariateNormal(2, covariance)
        ml = family.estimate(family.fit(x, prior=family.none(), groups=g))
        close(family.estimate(family.fit(x, prior=prior, groups=g), how="mode").covariance, ml.covariance)


def test_the_table_of_the_wishart_module():
    x = RNG.normal(size=(20, 2))
    M = MultivariateNormal(2).collect(x).scatter
    for prior, mean_of, mode_of in (
        (NormalInverseWishart.none(2), 0, 7),
        (NormalInverseWishart.flat(2), -7, 0),
        (NormalInverseWishart.reference(2), -4, 3),
    ):
        posterior = MultivariateNormal(2).fit(x, prior=prior)
        close(posterior.mean().covariance, M / (20 + mean_of))
        close(posterior.mode().covariance, M / (20 + mode_of))


def test_reference_counts_the_means_that_share():
    assert float(MultivariateNormal(3, "full").reference((4,)).nu) == -1
    assert float(MultivariateNormal(3, "tied").reference((4,)).nu) == -4
    assert float(MultivariateNormal(3, "diag").reference((4,)).alpha) == -0.5
    assert float(MultivariateNormal(3, "spherical").reference((4,)).alpha) == -1.5


@pytest.mark.parametrize("covariance", KINDS)
def test_unit_information_takes_any_covariance(covariance):
    family = MultivariateNormal(2, covariance)
    x = RNG.normal(size=(8, 2))
    for Σ in (4.0, [4.0, 4.0], [[4.0, 0.0], [0.0, 4.0]]):
        estimate = family.estimate(family.unit_information([1.0, 2.0], Σ, equivalent_sample_size=3))
        close(estimate.mean, [1.0, 2.0])
        close(np.broadcast_to(np.diagonal(np.atleast_2d(estimate.covariance)), 2)[0], 4.0)
    none = family.unit_information(0.0, 4.0, equivalent_sample_size=0)
    close(
        family.estimate(family.fit(x, prior=none)).covariance,
        family.estimate(family.fit(x, prior=family.none())).covariance,
    )


def test_missing_cells_are_integrated_out_column_by_column():
    x = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, np.nan], [5.0, 8.0]])
    diagonal, spherical = MultivariateNormal(2, "diag"), MultivariateNormal(2, "spherical")
    close(diagonal.collect(x).n, [3.0, 2.0])
    close(diagonal.estimate(diagonal.fit(x, prior=diagonal.none())), ([3.0, 5.0], [8 / 3, 9.0]))
    close(spherical.estimate(spherical.fit(x, prior=spherical.none())).covariance, (8 + 18) / 5)
    log_p = diagonal.log_prob(([0.0, 0.0], [1.0, 4.0]), x)
    close(log_p[1], Normal().log_prob((0.0, 1.0), [3.0])[0])
    close(log_p[2], 0.0)
    t = spherical.predictive(spherical.unit_information(0.0, 1.0, equivalent_sample_size=4))
    close(t.log_prob(x)[1], StudentT(t.dof[0], 0.0, t.scale[0]).log_prob([3.0])[0])
    close(t.log_prob(x)[2], 0.0)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_case_is_counted_whole_or_not_at_all(covariance):
    family = MultivariateNormal(2, covariance)
    whole = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 5.0]])
    assert family.collect(whole) == family.collect(whole[[0, 2]])
    parameters = (np.zeros((1, 2)), np.eye(2)[None] if covariance == "full" else np.eye(2))
    assert family.log_prob(parameters, whole, groups=[0, 0, 0])[1] == 0
    partly = family.log_prob(parameters, [[1.0, 2.0], [np.nan, 3.0]])[1, 0]
    assert partly == pytest.approx(-(np.log(2 * np.pi) + 9) / 2, rel=1e-14)  # what is missing is integrated out
    for ask in (
        family.collect,
        family.predictive(family.unit_information(0.0, 1.0)).log_prob,
    ):
        with pytest.raises(MissingValuesError, match=r'case 1 has some of its cells only.*\n\nhint: .*"diag"'):
            ask([[1.0, 2.0], [np.nan, 3.0]])


def test_multivariate_repr_shows_the_mathematics():
    prior = NormalInverseWishart([0, 1], 1, 5, np.eye(2))
    assert repr(prior) == "NIW(μ=[0, 1], κ=1, ν=5, Ψ=[[1, 0], [0, 1]])"
    assert repr(prior.predictive()) == "t(ν=4, μ=[0, 1], S=[[0.5, 0], [0, 0.5]])"
    assert repr(MultivariateNormal(2)) == "MultivariateNormal(dim=2, covariance='full')"


SINGULAR = [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: MultivariateNormal(0), ParameterError, "`dim` must be at least 1, got 0"),
        (lambda: MultivariateNormal(2, "round"), ParameterError, "unexpected value for `covariance`: 'round'"),
        (lambda: MultivariateNormal(2).collect([[1.0]]), ShapeError, r"shape \(n, 2\), got \(1, 1\)"),
        (lambda: MultivariateNormal(2).collect([1.0, 2.0]), ShapeError, r"shape \(n, 2\), got \(2,\)"),
        (
            lambda: MultivariateNormal(2).fit(np.eye(2), prior=NormalInverseGamma.none()),
            ParameterError,
            "full covariance takes a prior of class NormalInverseWishart, got NIG",
        ),
        (
            lambda: MultivariateNormal(2, "diag").fit(np.eye(2), prior=NormalInverseWishart.none(2)),
            ParameterError,
            "diag covariance takes a prior of class NormalInverseGamma, got NIW",
        ),
        (
            lambda: MultivariateNormal(2).fit(np.eye(2), prior=NormalInverseWishart.none(3)),
            ShapeError,
            r"a prior of shape \(3,\) does not fit parameters of shape \(2,\)",
        ),
        (
            lambda: MultivariateNormal(2, "spherical").fit(np.eye(2), prior=NormalInverseGamma(0, 1, [2, 3], 1)),
            ShapeError,
            r"a prior of shape \(2,\) does not fit parameters of shape \(1,\)",
        ),
        (
            lambda: MultivariateNormal(2).unit_information(0.0, np.eye(3)),
            ShapeError,
            r"expected a covariance of shape \(2, 2\), \(2,\) or \(\), got \(3, 3\)",
        ),
        (lambda: NormalInverseWishart.unit_information(0.0, 1.0), ShapeError, r"a covariance matrix, got shape \(\)"),
        (lambda: NormalInverseWishart(0.0, 1, 5, np.eye(2)), ShapeError, r"got \(\), \(2, 2\)"),
        (lambda: NormalInverseWishart([0, 0], 1, 5, [[1, 2], [0, 1]]), ParameterError, "`psi` must be symmetric"),
        (lambda: NormalInverseWishart([0, 0], -1, 5, np.eye(2)), ParameterError, "`kappa` must be finite and not neg"),
        (lambda: NormalInverseWishart([0, 0], 1, 5, -np.eye(2)), ParameterError, "`diagonal of psi` must be finite"),
        (lambda: NormalInverseWishart([0, np.inf], 1, 5, np.eye(2)), ParameterError, "must be finite"),
        (lambda: NormalInverseWishart([0, 0], [1, 1], [5, 5, 5], np.eye(2)), ShapeError, r"kappa \(2,\), nu \(3,\)"),
        (lambda: NormalInverseWishart.none(0), ParameterError, "`dim` must be at least 1"),
        (lambda: NormalInverseWishart.none(2).mean(), EvidenceError, "the mean is undefined: it is based on no rows"),
        (
            lambda: MultivariateNormal(2).fit(RNG.normal(size=(4, 2)), prior=NormalInverseWishart.reference(2)).mean(),
            EvidenceError,
            "the mean of the covariance is undefined: it is based on too few rows\n\nhint: use the mode",
        ),
        (
            lambda: NormalInverseWishart([0, 0], 1, -9, np.eye(2)).mode(),
            EvidenceError,
            "the mode of the covariance is undefined",
        ),
        (lambda: NormalInverseWishart.none(2).draw(), EvidenceError, "a draw is undefined: it takes more cases than"),
        (lambda: NormalInverseWishart([0, 0], 1, 5, SINGULAR).draw(), EvidenceError, "columns that differ"),
        (lambda: NormalInverseWishart([0, 0], 1, 5, [[1, 2], [2, 1]]).draw(), EvidenceError, "columns that differ"),
        (lambda: NormalInverseWishart.none(2).interval(), EvidenceError, "an interval is undefined"),
        (lambda: NormalInverseWishart.none(2).predictive(), EvidenceError, "a prediction is undefined"),
        (lambda: NormalInverseWishart.none(2).log_normalizer(), ImproperPriorError, "its evidence is undefined"),
        (
            lambda: NormalInverseWishart([0, 0], 1, 5, np.eye(2)).log_pdf(([0, 0], SINGULAR)),
            ParameterError,
            "a density needs covariances that are positive definite",
        ),
        (
            lambda: MultivariateNormal(2).log_prob((np.zeros((2, 2)), [np.eye(2), SINGULAR]), [[0.0, 0.0]]),
            ParameterError,
            r"positive definite \(row 1\)\n\nhint: a covariance of few cases is singular",
        ),
        (
            lambda: MultivariateNormal(2).log_prob(([0.0, 0.0], [1.0, 1.0]), [[0.0, 0.0]]),
            ShapeError,
            r"expected a full covariance of shape \(2, 2\), got \(2,\)",
        ),
        (
            lambda: MultivariateNormal(2).log_prob(([0.0], np.eye(2)), [[0.0, 0.0]]),
            ShapeError,
            r"expected means of shape \(\*rows, 2\), got \(1,\)",
        ),
        (
            lambda: MultivariateNormal(2, "diag").log_prob(([0.0, 0.0], [1.0, 0.0]), [[0.0, 0.0]]),
            ParameterError,
            "finite and above 0, got 0",
        ),
    ],
)
def test_multivariate_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask()
