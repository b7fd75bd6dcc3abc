"""The estimator against scikit-learn's own checks, and as users of hmmlearn know it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import HMMEstimator
from bayeslearn.errors import ParameterError, ShapeError

#: What cannot hold, and why.
EXPECTED = {
    "check_methods_sample_order_invariance": "the order of the rows is what a sequence is made of",
    "check_methods_subset_invariance": "a row is judged by its neighbors",
}


@pytest.mark.thorough
@parametrize_with_checks([HMMEstimator(emissions="gaussian", max_iter=5)], expected_failed_checks=lambda _: EXPECTED)
def test_sklearn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


RNG = np.random.default_rng(0)
LENGTHS = [20, 1, 9]
X = np.where(np.arange(30)[:, None] % 10 < 5, 0.0, 6.0) + RNG.normal(0, 1, (30, 2))


def test_lengths_may_come_second():
    one = HMMEstimator(2).fit(X, LENGTHS)
    other = HMMEstimator(2).fit(X, lengths=LENGTHS)
    np.testing.assert_array_equal(one.predict(X, LENGTHS), other.predict(X, lengths=LENGTHS))
    assert one.score(X, LENGTHS) == other.score(X, lengths=LENGTHS)
    assert one.model_.statistics["startprob"].n.sum() == pytest.approx(3)
    with pytest.raises(ShapeError, match="add up to 29"):
        HMMEstimator(2).fit(X, [20, 9])
    with pytest.raises(ParameterError, match="neither lengths"):
        HMMEstimator(2).fit(X, ["a"])


def test_all_methods():
    found = HMMEstimator(2, random_state=1).fit(X, lengths=LENGTHS)
    log_p, states = found.decode(X, lengths=LENGTHS)
    np.testing.assert_array_equal(states, found.predict(X, lengths=LENGTHS))
    proba = found.predict_proba(X, lengths=LENGTHS)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert log_p <= found.score(X, lengths=LENGTHS)
    assert found.converged_
    assert len(found.history_) == found.n_iter_ + 1
    rows, path = found.sample(7, random_state=0)
    assert rows.shape == (7, 2)
    assert set(path.tolist()) <= {0, 1}


def test_batches_go_on():
    learner = clone(HMMEstimator(2)).partial_fit(X[:20])
    before = learner.model_.statistics["startprob"].n.sum()
    learner.partial_fit(X[20:], lengths=[1, 9])
    assert before == pytest.approx(1)
    assert learner.model_.statistics["startprob"].n.sum() == pytest.approx(3)


def test_symbols_and_names():
    words = np.array([["sun"], ["sun"], ["rain"], ["rain"], ["sun"]])
    found = HMMEstimator(["high", "low"]).fit(words)
    assert found.states_.tolist() == ["high", "low"]
    assert set(found.predict(words).tolist()) <= {"high", "low"}
    assert found.sample(3)[0].shape == (3, 1)
