"""The classifiers of the room obey scikit-learn's own contract, and agree with its naive Bayes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import AODEClassifier, NaiveBayesClassifier

#: Folds are drawn by row: the copies of a row may lie in several, a row of weight 2 lies in one.
SHUFFLED = {"check_sample_weight_equivalence_on_dense_data": "calibration is learned over folds of rows"}


@pytest.mark.thorough
@parametrize_with_checks(
    [
        NaiveBayesClassifier(),
        NaiveBayesClassifier(calibrate=True, random_state=0),
        AODEClassifier(),
    ],
    expected_failed_checks=lambda estimator: SHUFFLED if getattr(estimator, "calibrate", False) else {},
)
def test_sklearn_contract(estimator, check):
    check(estimator)


def cases(seed, n=120):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng, y


@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_nb(weighted):
    rng, y = cases(0)
    X = rng.normal(size=(len(y), 4)) * [1, 10, 0.1, 1] + y[:, None] + [0, 0, 1e3, 0]
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    peer = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=w)
    model = NaiveBayesClassifier(distributions="gaussian", prior="none", class_prior="none", calibrate=False).fit(
        X, y, sample_weight=w
    )
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), peer.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("weighted", [False, True])
def test_categorical_nb(alpha, weighted):
    from bayeslearn.distributions.categorical import DirichletRule

    rng, y = cases(1)
    X = (rng.integers(0, 5, (len(y), 4)) + y[:, None]) % 5
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    peer = CategoricalNB(alpha=alpha).fit(X, y, sample_weight=w)
    model = NaiveBayesClassifier(prior=DirichletRule(per_state=alpha), class_prior="none", calibrate=False).fit(
        X, y, sample_weight=w
    )
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_far_from_zero_the_variance_is_still_right():
    rng, y = cases(2)
    X = rng.normal(size=(len(y), 1)) + 1e8 + y[:, None]
    plain = NaiveBayesClassifier(distributions="gaussian", calibrate=False)
    near = plain.fit(X - 1e8, y).predict_proba(X - 1e8)
    np.testing.assert_allclose(plain.fit(X, y).predict_proba(X), near, rtol=1e-5)
