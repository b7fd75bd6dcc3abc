"""Numbers far too large or too small: the right answer where there is one, else an error that names what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import GaussianMixture, HMMEstimator, LocalRegressor, LogisticClassifier, MixedTypeClusterer
from bayeslearn.distributions import Moments, Normal
from bayeslearn.errors import CapacityError, DataError, ParameterError
from bayeslearn.kernels import thread_count
from bayeslearn.regression.logistic_optimizers import solved
from tests.cli.asking import fail

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))

### mixtures


@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
def test_shares_of_far_rows_sum_to_one(covariance):
    rows = np.concatenate([X - 3, X + 3])
    model = GaussianMixture(2, covariance_type=covariance, random_state=0).fit(rows)
    far = np.array([[1e160, 1e160], [-1e160, 0], [1e308, -1e308], [1e10, 0], [0, -1e200]])
    shares = model.predict_proba(far)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(far))


def test_a_far_row_belongs_to_the_component_that_is_widest_in_its_direction():
    wide, tall = RNG.normal(size=(2, 400, 2)) * np.array([[[5.0, 1.0]], [[1.0, 5.0]]])
    model = GaussianMixture(2, random_state=0).fit(np.concatenate([wide, tall + 30]))
    narrow = int(model.predict([[30.0, 30.0]])[0])
    far = model.predict_proba([[1e160, 0.0], [0.0, 1e160]])
    np.testing.assert_array_equal(far.argmax(axis=1), [1 - narrow, narrow])
    near = model.predict_proba([[1e6, 0.0], [0.0, 1e6]])  # where densities still are numbers
    np.testing.assert_allclose(far, near, atol=1e-12)


def test_shares_of_rows_whose_log_densities_are_huge_sum_to_one():
    model = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    np.testing.assert_allclose(model.predict_proba(X * 1e140).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize(
    "learner", [MixedTypeClusterer(2, n_init=1), GaussianMixture(2), GaussianMixture(2, covariance_type="diag")]
)
def test_a_far_row_belongs_to_the_widest_of_very_narrow_components(learner):
    x = np.array([[0.0], [1.0]])
    model = learner.fit(x, sample_weight=np.array([5.6e299, 9.4e299]))
    widest = model.predict(x[[np.argmin([5.6e299, 9.4e299])]])  # the prior is wider beside less weight
    np.testing.assert_array_equal(model.predict_proba([[1e160], [-1e160]])[:, widest], 1)


def test_a_log_likelihood_that_leaves_the_range_of_floats_is_named():
    x = np.array([[1e140, 0.0], [-1e140, 1e-160]])
    with pytest.raises(DataError, match="leave the range of floats"):
        GaussianMixture(2, covariance_type="spherical").fit(x, sample_weight=[1e300, 1e300])


@pytest.mark.parametrize("learner", [GaussianMixture(2), MixedTypeClusterer(2, n_init=1), HMMEstimator()])
@pytest.mark.parametrize("size", [1e200, 1e300])
def test_numbers_too_large_to_be_squared_are_refused(learner, size):
    with pytest.raises(DataError, match="too large to be squared"):
        learner.fit(np.concatenate([X, [[size, 0.0]]]))


def test_moments_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="leave the range of floats"):
        Normal().collect([1e200, -1e200])
    with pytest.raises(DataError, match="leave the range of floats"):
        Moments(1, 1e200, 0.0) + Moments(1, -1e200, 0.0)


### weights


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-200, 1e-100, 1e200, 1e300])
def test_weights_of_any_size_give_the_same_curve(weight):
    y = np.sin(X[:, 0])
    usual = LocalRegressor().fit(X, y).predict(X[:9])
    np.testing.assert_allclose(LocalRegressor().fit(X, y, sample_weight=np.full(100, weight)).predict(X[:9]), usual)


### sigmoid units


def test_a_curvature_that_is_no_number_is_refused():
    for H in (np.full((2, 2), np.nan), np.diag([np.inf, 1.0])):
        with pytest.raises(DataError, match="leave the range of floats"):
            solved(H, np.ones(2))


@pytest.mark.parametrize("method", ["newton", "lbfgs", "gradient"])
def test_weights_too_large_for_a_sigmoid_are_refused_or_learned(method):
    try:
        model = LogisticClassifier(algorithm=method).fit(X, X[:, 0] > 0, sample_weight=np.full(100, 1e307))
    except DataError as error:
        assert "leave the range of floats" in error.message  # noqa: PT017 - either is right
    else:
        assert np.isfinite(model.predict_proba(X)).all()


### whole numbers


@pytest.mark.parametrize("asked", ["100000000000000000000", "²", "٣", "0", "1" * 5_000])
def test_options_that_are_no_whole_number(asked, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1.5,x\n2.5,y\n" * 20)
    for words in (
        ("fit", "neighbors", str(path), "--target", "b", "--n-neighbors", asked),
        ("fit", "mixture", str(path), "--n-components", asked, "-o", str(tmp_path / "m.json")),
    ):
        code, sentence = fail(*words)
        assert code in {1, 2}
        large = asked.isascii() and asked.isdecimal() and asked != "0"
        assert (f"is at most {2**63 - 1}" if large else "is a whole number above 0") in sentence


def test_parameters_beyond_64_bits_are_refused():
    with pytest.raises(ParameterError, match="must be at most"):
        GaussianMixture(10**20).fit(X)
    with pytest.raises(CapacityError, match="components would need"):
        GaussianMixture(2**40).fit(X)
    with pytest.raises(CapacityError, match="states and the transitions between them would need"):
        HMMEstimator(10**6).fit(X)


@pytest.mark.parametrize("value", ["²", "٣", "0", "-1", "1e3", "9" * 30, "9" * 5_000])
def test_threads_that_are_no_number_are_not_used(value, monkeypatch):
    usual = thread_count()
    monkeypatch.setenv("BAYESLEARN_THREADS", value)
    assert thread_count() == usual
