"""The estimators keep scikit-learn's contract, and answer as scikit-learn does where nothing is tied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import DataError, MissingValuesError, ParameterError, UnknownStateError
from bayeslearn.neighbors import NeighborsClassifier, NeighborsRegressor

#: What cannot hold, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_sparse_data": "there is no sparse input",
}
SELECTED = {
    "check_sample_weight_equivalence_on_dense_data": "leave-one-out leaves out a row with all of its weight",
}

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(150, 3)), RNG.normal(size=(60, 3))
LABELS = RNG.integers(0, 3, 150)
VALUES = X[:, 0] + RNG.normal(size=150)


@pytest.mark.thorough
@parametrize_with_checks(
    [NeighborsClassifier(), NeighborsRegressor()],
    expected_failed_checks=lambda each: EXPECTED | (SELECTED if isinstance(each, NeighborsClassifier) else {}),
)
def test_estimators(estimator, check):
    check(estimator)


def inverse_square(d):
    return 1 / d**2


@pytest.mark.parametrize("k", [1, 4, 9, 150])
@pytest.mark.parametrize(("ours", "theirs"), [("uniform", "uniform"), ("inverse_square", inverse_square)])
@pytest.mark.parametrize("index", ["kd_tree", "brute"])
def test_as_scikit_learn(k, ours, theirs, index):
    mine = NeighborsClassifier(k, weights=ours, metric="euclidean", prior=0, algorithm=index).fit(X, LABELS)
    peer = KNeighborsClassifier(k, weights=theirs).fit(X, LABELS)
    p = peer.predict_proba(Q)
    np.testing.assert_allclose(mine.predict_proba(Q), p, rtol=1e-9, atol=1e-12)
    clear = np.sort(p, axis=1)[:, -1] > np.sort(p, axis=1)[:, -2] + 1e-9
    np.testing.assert_array_equal(mine.predict(Q)[clear], peer.predict(Q)[clear])
    np.testing.assert_array_equal(mine.kneighbors(Q)[1], peer.kneighbors(Q)[1])
    number = NeighborsRegressor(k, weights=ours, metric="euclidean", algorithm=index).fit(X, VALUES)
    np.testing.assert_allclose(number.predict(Q), KNeighborsRegressor(k, weights=theirs).fit(X, VALUES).predict(Q))


def test_batches_equal_the_whole_and_states_may_be_new():
    rows = pd.DataFrame({"hue": list("rgbrgb"), "size": [1.0, 2, np.nan, 4, 5, 6]})
    y = np.array(list("aabbab"))
    parts = NeighborsClassifier(2)
    for some in (slice(0, 2), slice(2, 6)):
        parts.partial_fit(rows[some], y[some], classes=["a", "b"])
    whole = NeighborsClassifier(2).fit(rows, y)
    np.testing.assert_allclose(parts.predict_proba(rows), whole.predict_proba(rows), rtol=1e-12)
    assert whole.feature_names_in_.tolist() == ["hue", "size"]


def test_k_and_attributes_by_leave_one_out():
    model = NeighborsClassifier("auto", feature_weights="select", max_neighbors=12).fit(
        np.column_stack([X, LABELS]), LABELS
    )
    assert model.leave_one_out_.error == 0
    assert model.n_neighbors_ <= 12
    assert model.feature_weights_["x3"] == 1
    assert NeighborsRegressor("all", weights="inverse_square").fit(X, VALUES).n_neighbors_ is None


def test_explain():
    told = (
        NeighborsClassifier(2, weights="uniform")
        .fit([[1.0, "a"], [2.0, "b"], [9.0, None]], ["x", "x", "y"])
        .explain([[1.0, "a"]])[0]
    )
    assert [v.row for v in told.contributions] == [0, 1]
    assert told.predicted == "x"
    assert told.probabilities == {"x": 2.5 / 3, "y": 0.5 / 3}
    assert told.contributions[1].cells == {"x0": 2.0, "x1": "b"}
    assert told.summary().splitlines()[4].split() == ["0", "0", "1", "x", "1", "a"]
    number = NeighborsRegressor(1).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 4.0]).explain([[2.0]])[0]
    assert number.predicted == 2
    assert number.interval[0] < 2 < number.interval[1]


@pytest.mark.parametrize("kind", [NeighborsClassifier, NeighborsRegressor])
def test_targets_that_are_missing(kind):
    with pytest.raises(MissingValuesError, match="row 1 has no label"):
        kind(unlabeled="error").fit([[1.0], [2.0]], [1.0, np.nan])
    found = kind(1).fit([[1.0], [2.0], [3.0]], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(found.predict([[1.9], [2.1]]), [1.0, 3.0])
    with pytest.raises(ParameterError, match="unlabeled"):
        kind(unlabeled="em").fit([[1.0]], [1.0])


def test_what_cannot_be_learned():
    with pytest.raises(DataError, match="every sample_weight is zero"):
        NeighborsClassifier().fit(X, LABELS, sample_weight=np.zeros(150))
    with pytest.raises(ParameterError, match="`n_neighbors` is 5, but there are only 2 training rows"):
        NeighborsClassifier(5).fit(X[:2], [0, 1]).predict(X)
    with pytest.raises(UnknownStateError, match="labels 'c' are not among the classes"):
        NeighborsClassifier(1).partial_fit(X[:2], ["a", "b"]).partial_fit(X[:1], ["c"])
    with pytest.raises(ParameterError, match="n_neighbors"):
        NeighborsClassifier("many").fit(X, LABELS)
    with pytest.raises(ParameterError, match="feature_weights"):
        NeighborsClassifier(feature_weights="best").fit(X, LABELS)
