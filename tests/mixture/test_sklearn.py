"""The estimators keep scikit-learn's contract, and answer as scikit-learn does where it can."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.mixture import GaussianMixture as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import BayeslearnWarning, ConvergenceWarning
from bayeslearn.mixture import GaussianMixture, MixedTypeClusterer, fit_mixture
from tests.contract import check_data_are_left_alone, check_predict_is_pure

#: What cannot hold, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "seeds are rows drawn at random, so a row twice leads elsewhere",
    "check_sample_weight_equivalence_on_sparse_data": "there is no sparse input",
}


@pytest.mark.thorough
@parametrize_with_checks(
    [GaussianMixture(random_state=0), MixedTypeClusterer(2, n_init=1, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED if isinstance(estimator, MixedTypeClusterer) else {},
)
def test_estimators(estimator, check):
    check(estimator)


X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0], [5], [10]], 20, axis=0)


@pytest.mark.parametrize("check", [check_predict_is_pure, check_data_are_left_alone])
@pytest.mark.parametrize(
    "learner", [GaussianMixture(3, random_state=0), MixedTypeClusterer(3, n_init=1, random_state=0)]
)
def test_contract(learner, check):
    check(clone(learner), X, np.zeros(60, int))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_the_same_start_and_iterations_lead_where_scikit_learn_goes(kind):
    start = fit_mixture(X, 3, covariance_type=kind, n_init=1, max_iter=1, tol=1e9)
    mean, Σ = start.parameters[0]
    precision = np.linalg.inv(Σ) if kind in {"full", "tied"} else 1 / Σ
    peer = Peer(
        3, covariance_type=kind, max_iter=7, tol=1e-300, reg_covar=0,
        weights_init=start.weights, means_init=mean, precisions_init=precision,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="did not converge"):
        peer.fit(X)
    model = GaussianMixture(3, covariance_type=kind, prior=None, init=start, max_iter=7, tol=0)
    with pytest.warns(ConvergenceWarning, match="after 7 iterations"):
        model.fit(X)
    np.testing.assert_allclose(model.weights_, peer.weights_, rtol=1e-9)
    np.testing.assert_allclose(model.means_, peer.means_, rtol=1e-9)
    np.testing.assert_allclose(model.covariances_, peer.covariances_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    assert model.bic(X) == pytest.approx(peer.bic(X), rel=1e-9)
    assert model.aic(X) == pytest.approx(peer.aic(X), rel=1e-9)


def test_the_number_is_found_and_batches_follow():
    model = GaussianMixture("auto", random_state=0).fit(X)
    assert len(model.weights_) == 3
    before = model.model_.total_weight
    model.partial_fit(X[:10])
    assert model.model_.total_weight == pytest.approx(before + 10)
    x, labels = model.sample(5)
    assert x.shape == (5, 3)
    assert labels.shape == (5,)


def test_tables_of_words_and_numbers():
    rows = {"hue": ["red", "blue"] * 20, "size": [1.0, 9.0, 1.2, 9.1, 0.8, 8.8, 1.1, 9.4] * 5}
    model = MixedTypeClusterer(random_state=0).fit(rows)
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'hue' \('green'\)"):
        labels = model.predict({"hue": ["red", None, "green"], "size": [None, 9.0, 1.0]})
    assert labels[0] == labels[2] != labels[1]
    assert len(model.report_) == 2
    assert model.selection_.n_components == 2
