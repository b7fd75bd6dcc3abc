"""The estimator of the room obeys scikit-learn's own contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.learning_theory import KCNFClassifier


@pytest.mark.thorough
@parametrize_with_checks([KCNFClassifier(), KCNFClassifier(k=1)])
def test_sklearn_contract(estimator, check):
    check(estimator)
