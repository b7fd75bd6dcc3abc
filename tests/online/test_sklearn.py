"""The estimator of the room obeys scikit-learn's own contract."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import ParameterError, UnknownStateError, WeightError
from bayeslearn.online import WeightedMajorityClassifier

X = np.random.default_rng(0).normal(size=(90, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")


@pytest.mark.thorough
@parametrize_with_checks(
    [WeightedMajorityClassifier([GaussianNB(), BernoulliNB()])],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": "cv is a number of folds"},
)
def test_sklearn_contract(estimator, check):
    check(estimator)


def test_mistakes_are_those_of_rows_not_learned_from():
    vote = WeightedMajorityClassifier([("memory", Memory()), ("nb", GaussianNB())]).fit(X, Y)
    assert vote.learner_.statistics.error[0] > 0.3  # what it has by heart is of no use
    assert vote.learner_.best == "nb"
    assert vote.score(X, Y) > 0.9


class Memory(BernoulliNB):
    """Knows its own rows, and says the same of all others."""

    def fit(self, X, y):
        super().fit(X, y)
        self.rows_ = {row.tobytes(): label for row, label in zip(np.asarray(X), y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.rows_.get(row.tobytes(), "up") for row in np.asarray(X)])


def test_frozen_ones_and_functions_only_advise():
    fixed = [FrozenEstimator(GaussianNB().fit(X, Y)), ("first", lambda x: "up" if x[0] > 0 else "down")]
    whole = WeightedMajorityClassifier(fixed).fit(X, Y)
    parts = WeightedMajorityClassifier(fixed)
    for i in range(0, 90, 30):
        parts.partial_fit(X[i : i + 30], Y[i : i + 30], classes=["down", "up"])
    assert parts.learner_.statistics == whole.learner_.statistics
    assert parts.predict_proba(X) == pytest.approx(whole.predict_proba(X))
    np.testing.assert_array_equal(whole.predict(X), whole.classes_[whole.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize("teach", [True, False])
def test_asked_first_then_told(teach):
    vote = WeightedMajorityClassifier([GaussianNB(), BernoulliNB()], teach=teach)
    for i in range(0, 90, 30):
        vote.partial_fit(X[i : i + 30], Y[i : i + 30])
    assert vote.learner_.statistics.n_predictions.tolist() == [60, 60]  # of the first batch nobody knew anything
    by_hand = GaussianNB()
    for i in range(0, 90 if teach else 30, 30):
        by_hand.partial_fit(X[i : i + 30], Y[i : i + 30], ["down", "up"])
    assert vote.estimators_[0].theta_ == pytest.approx(by_hand.theta_)


def test_bad_input():
    with pytest.raises(ParameterError, match="has no `partial_fit`"):
        WeightedMajorityClassifier([LogisticRegression()]).partial_fit(X, Y)
    with pytest.raises(ParameterError, match="must be a list of classifiers"):
        WeightedMajorityClassifier([]).fit(X, Y)
    with pytest.raises(ParameterError, match="`beta` must be"):
        WeightedMajorityClassifier([GaussianNB()], beta=2).fit(X, Y)
    with pytest.raises(ParameterError, match="`cv` must be"):
        WeightedMajorityClassifier([GaussianNB()], cv=1).fit(X, Y)
    with pytest.raises(UnknownStateError, match="labels 'left' are not among"):
        WeightedMajorityClassifier([GaussianNB()]).fit(X, Y).partial_fit(X[:1], ["left"])


def test_weights_are_rounds():
    weights = np.arange(90) % 3
    weighted = WeightedMajorityClassifier([GaussianNB()]).fit(X, Y, sample_weight=weights)
    assert weighted.learner_.statistics.rounds == weights.sum()
    with pytest.raises(WeightError, match="must be whole numbers"):
        WeightedMajorityClassifier([GaussianNB()]).fit(X, Y, sample_weight=np.full(90, 0.5))
