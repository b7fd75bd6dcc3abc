"""The classifier of the room obeys scikit-learn's own contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import BayesianNetworkClassifier


@pytest.mark.thorough
@parametrize_with_checks(
    [
        BayesianNetworkClassifier(),
        BayesianNetworkClassifier(prior="bdeu:1", n_bins=8, target="y"),
        BayesianNetworkClassifier("auto"),
        BayesianNetworkClassifier("tan", criterion="bdeu:1"),
    ],
)
def test_sklearn_contract(estimator, check):
    check(estimator)
